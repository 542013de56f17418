//! The backend as a site.

use super::backend::Backend;
use super::exchange::{Exchange, Later, Trouble};
use super::fields::outbound;
use super::memory::Memory;
use super::troubles::Report;
use crate::limits::UpstreamLimits;
use crate::site::{Ahead, Body, Foreseen, Request, Response, Site};
use percent_encoding::percent_decode_str;
use push::link;
use schedulers::{Kind, Resource};
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// Where a backend is: `http://HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `HOST[:PORT]`.
    authority: String,
}

/// Text that is no backend's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// TLS to the backend.
    #[error(
        "upstream `{0}`: backends are asked over http:// only; put it on this machine or in a trusted network"
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
    memory: Mutex<Memory>,
}

impl UpstreamSite {
    /// The backend at `address`; `report` is told what goes wrong with it.
    pub fn start(
        address: &Address,
        limits: UpstreamLimits,
        report: Report,
    ) -> std::io::Result<Self> {
        let backend = Backend::start(address, &limits, report)?;
        Ok(Self { backend, limits, memory: Mutex::default() })
    }
}

impl Site for UpstreamSite {
    fn respond(&self, request: &Request) -> Response {
        if matches!(request.method.as_str(), "CONNECT" | "TRACE") {
            return Response::error(501);
        }
        // Behind the backend's address anything else could be another host's.
        if !request.path.starts_with('/') || has_dot_segments(&request.path) {
            return Response::error(400);
        }
        let outbound = outbound(request, request.client);
        let exchange = Exchange::new(outbound, self.limits.idle);
        if !self.backend.take(&exchange) {
            let headers = vec![("retry-after".into(), "1".to_owned())];
            return Response { headers, ..Response::error(Trouble::Busy.status()) };
        }
        let resource = Resource { kind: expected_kind(request), ..Resource::default() };
        let body = Body::Later(Later::new(exchange).into());
        Response { body, resource, ..Response::error(200) }
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).note(request, &response);
        response
    }

    fn hinted(&self, request: &Request, links: &[String]) -> Ahead {
        let destination = request.field("sec-fetch-mode");
        let navigates =
            destination.map_or(expected_kind(request) == Kind::Html, |it| it == "navigate");
        let hints = links.iter().filter(|it| navigates && link::is_hint(it));
        Ahead { hints: hints.cloned().collect(), ..Ahead::default() }
    }

    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).recall(request)
    }
}

/// What a response will be, as far as its request tells: the scheduler is told before the backend answers.
fn expected_kind(request: &Request) -> Kind {
    match request.field("sec-fetch-dest") {
        Some("document" | "iframe" | "frame") => return Kind::Html,
        Some("style") => return Kind::Css,
        Some("script") => return Kind::Js,
        Some("font") => return Kind::Font,
        Some("image") => return Kind::Image,
        Some("audio" | "video" | "track") => return Kind::Media,
        _ => {}
    }
    let path = request.path.split('?').next().unwrap_or_default();
    match mime_guess::from_path(path).first() {
        Some(mime) => Kind::of_mime(mime.essence_str()),
        None if request.method == "GET" => Kind::Html,
        None => Kind::Xhr,
    }
}

/// Segments of dots, also percent-encoded: a backend that resolves them would leave the paths of its route.
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
            ("https://a", "upstream `https://a`: backends are asked over http:// only"),
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
            let fields = [(":method", "GET"), (":path", path)];
            let header =
                |(name, value): (&str, &str)| http3::Header::new(name.as_bytes(), value.as_bytes());
            let response = site.respond(&Request::from_headers(&fields.map(header)));
            assert_eq!(response.is_awaited(), awaited, "{path}");
        }
    }

    #[test]
    fn a_request_tells_what_its_response_will_be() {
        let kind = |path: &str, destination: &str| {
            let fields = [(":method", "GET"), (":path", path), ("sec-fetch-dest", destination)];
            let header =
                |(name, value): (&str, &str)| http3::Header::new(name.as_bytes(), value.as_bytes());
            expected_kind(&Request::from_headers(&fields.map(header)))
        };
        assert_eq!(kind("/a.css?1", ""), Kind::Css);
        assert_eq!(kind("/a.php", "script"), Kind::Js);
        assert_eq!(kind("/shop/", ""), Kind::Html);
    }
}
