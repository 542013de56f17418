//! Where a backend is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a backend: `http://HOST[:PORT]` or `https://HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    authority: String,
    is_secure: bool,
    pub(super) ca: Option<PathBuf>,
    takes_websockets: bool,
    pub(super) is_compressed: bool,
}

/// Text that is not a backend's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("upstream `{0}`: expected http://HOST:PORT or https://HOST:PORT, without a path")]
pub struct AddressError(String);

impl Address {
    /// The same, with a file (PEM) of the backend's certificate authorities, in place of the system's.
    #[must_use]
    pub fn trusting(self, ca: Option<PathBuf>) -> Self {
        Self { ca, ..self }
    }

    /// The same, for a backend that supports WebSockets or does not.
    #[must_use]
    pub fn taking_websockets(self, takes_websockets: bool) -> Self {
        Self { takes_websockets, ..self }
    }

    /// Whether the backend gets WebSockets.
    pub fn takes_websockets(&self) -> bool {
        self.takes_websockets
    }

    /// The same, with or without compression of its texts.
    #[must_use]
    pub fn compressed(self, is_compressed: bool) -> Self {
        Self { is_compressed, ..self }
    }

    /// Whether connections use TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// The name or the IP address of the host; an IPv6 address without brackets.
    pub(super) fn host(&self) -> &str {
        let host = http3::host(&self.authority);
        host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host)
    }

    pub(super) fn port(&self) -> u16 {
        let port = self.authority[http3::host(&self.authority).len()..].trim_start_matches(':');
        port.parse().unwrap_or(if self.is_secure { 443 } else { 80 })
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (is_secure, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://"))
        {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(AddressError(text.to_owned())),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if !http3::is_authority(authority) {
            return Err(AddressError(text.to_owned()));
        }
        let authority = authority.to_owned();
        Ok(Self { authority, is_secure, ca: None, takes_websockets: false, is_compressed: false })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_port() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080 is port 8080 of 127.0.0.1"),
            ("http://localhost/", "http://localhost is port 80 of localhost"),
            ("http://[::1]:81", "http://[::1]:81 is port 81 of ::1"),
            ("https://a.test", "https://a.test is port 443 of a.test"),
            ("https://[::1]", "https://[::1] is port 443 of ::1"),
            ("127.0.0.1:8080", "upstream `127.0.0.1:8080`: expected http://HOST:PORT or"),
            ("ftp://a", "upstream `ftp://a`: expected"),
            ("http://", "upstream `http://`: expected"),
            ("http://a/b", "upstream `http://a/b`: expected"),
            ("http://a?b", "upstream `http://a?b`: expected"),
            ("http://user:word@a", "upstream `http://user:word@a`: expected"),
        ] {
            let said = match text.parse::<Address>() {
                Ok(address) => {
                    format!("{address} is port {} of {}", address.port(), address.host())
                }
                Err(error) => error.to_string(),
            };
            assert!(said.starts_with(expected), "{said}");
        }
    }
}
