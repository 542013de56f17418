//! The versions of HTTP over which a page can be loaded.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

schedulers::named! {
    /// A version of HTTP, and with it the transport.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    pub enum HttpVersion {
        /// HTTP/1.1 over TLS and TCP: six connections for each host of the page, as browsers have.
        #[serde(rename = "1.1")]
        Http1 = "1.1",
        /// HTTP/2 over TLS and TCP: one connection.
        #[serde(rename = "2")]
        Http2 = "2",
        /// HTTP/3 over QUIC: one connection.
        #[default]
        #[serde(rename = "3")]
        Http3 = "3",
    }
}

impl HttpVersion {
    /// Whether the system's TCP carries it.
    pub fn is_over_tcp(self) -> bool {
        self != Self::Http3
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for HttpVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text)
            .ok_or_else(|| format!("`{text}` is not a version of HTTP; use 1.1, 2 or 3"))
    }
}
