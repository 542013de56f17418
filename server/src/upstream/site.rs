//! The backend as a site.

use super::backend::Backend;
use super::exchange::{Exchange, Later, Trouble};
use super::fields::outbound;
use super::troubles::Report;
use crate::limits::UpstreamLimits;
use crate::site::{Body, Request, Response, Site};
use percent_encoding::percent_decode_str;
use schedulers::Resource;
use std::fmt;
use std::str::FromStr;

/// Where a backend is: `http://HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    authority: String,
}

/// Text that is not a backend's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The backend wants TLS.
    #[error(
        "upstream `{0}`: backends are reached over http:// only; put it on this machine or in a trusted network"
    )]
    Tls(String),
    /// Anything else.
    #[error("upstream `{0}`: expected http://HOST:PORT, without a path")]
    Malformed(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.starts_with("https://") {
            return Err(AddressError::Tls(text.to_owned()));
        }
        let authority = text.strip_prefix("http://").map(|it| it.strip_suffix('/').unwrap_or(it));
        let authority: Option<ureq::http::uri::Authority> =
            authority.and_then(|it| it.parse().ok());
        match authority.filter(|it| !it.host().is_empty() && !it.as_str().contains('@')) {
            Some(authority) => Ok(Self { authority: authority.to_string() }),
            None => Err(AddressError::Malformed(text.to_owned())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}", self.authority)
    }
}

/// A site whose responses a backend makes.
pub struct UpstreamSite {
    backend: Backend,
    limits: UpstreamLimits,
}

impl UpstreamSite {
    /// Connects to the backend at `address`; `report` gets a line about each trouble with it.
    pub fn start(
        address: &Address,
        limits: UpstreamLimits,
        report: Report,
    ) -> std::io::Result<Self> {
        let backend = Backend::start(address, &limits, report)?;
        Ok(Self { backend, limits })
    }
}

impl Site for UpstreamSite {
    fn respond(&self, request: &Request) -> Response {
        if matches!(request.method.as_str(), "CONNECT" | "TRACE") {
            return Response::empty(501);
        }
        // Appended to the backend's address, anything else could name another host.
        if !request.path.starts_with('/') || has_dot_segments(&request.path) {
            return Response::empty(400);
        }
        let outbound = outbound(request, request.client);
        let exchange = Exchange::new(outbound, self.limits.idle);
        if !self.backend.take(&exchange) {
            let headers = vec![("retry-after".into(), "1".to_owned())];
            return Response { headers, ..Response::empty(Trouble::Busy.status()) };
        }
        let resource = Resource { kind: request.expected_kind(), ..Resource::default() };
        let body = Body::Later(Later::new(exchange).into());
        Response { body, resource, ..Response::empty(200) }
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// Whether a path has dot segments, percent-encoded or not: a backend that resolves them would leave its route.
fn has_dot_segments(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|it| it == "." || it == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost/", "http://localhost"),
            ("http://[::1]:80", "http://[::1]:80"),
            ("https://a", "upstream `https://a`: backends are reached over http:// only"),
            ("127.0.0.1:8080", "upstream `127.0.0.1:8080`: expected http://HOST:PORT"),
            ("http://", "upstream `http://`: expected"),
            ("http://a/b", "upstream `http://a/b`: expected"),
            ("http://a?b", "upstream `http://a?b`: expected"),
            ("http://user:word@a", "upstream `http://user:word@a`: expected"),
        ] {
            let said = match text.parse::<Address>() {
                Ok(address) => address.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn a_path_does_not_lead_to_another_host() {
        let address = "http://127.0.0.1:1".parse().expect("an address");
        let limits = UpstreamLimits { requests: 1, ..UpstreamLimits::default() };
        let site = UpstreamSite::start(&address, limits, std::sync::Arc::new(|_| {}));
        let site = site.expect("a thread");
        for (path, awaited) in [
            ("@other.example/", false),
            (":80@other.example/", false),
            ("*", false),
            ("//a", true),
            ("/api/../secret.txt", false),
            ("/api/%2e%2E/x", false),
            ("/api/..%5cx", false),
            ("/api/./x", false),
            ("/a..b/c.d?x=../..", true),
        ] {
            let response = site.respond(&Request::get("a", path));
            assert_eq!(response.is_awaited(), awaited, "{path}");
        }
    }
}
