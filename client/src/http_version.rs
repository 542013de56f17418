//! The versions of HTTP over which a page can be loaded.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A version of HTTP, and with it the transport.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum HttpVersion {
    /// HTTP/1.1 over TLS and TCP: six connections for each host of the page, as browsers have.
    #[serde(rename = "1.1")]
    Http1,
    /// HTTP/2 over TLS and TCP: one connection.
    #[serde(rename = "2")]
    Http2,
    /// HTTP/3 over QUIC: one connection.
    #[default]
    #[serde(rename = "3")]
    Http3,
}

impl HttpVersion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Http1, Self::Http2, Self::Http3];

    /// Its number, as in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http1 => "1.1",
            Self::Http2 => "2",
            Self::Http3 => "3",
        }
    }

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
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a version of HTTP; use 1.1, 2 or 3"))
    }
}
