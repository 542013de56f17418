//! The backend as a site.

use super::address::Address;
use super::backend::Backend;
use super::connections::StartError;
use super::fields::{BackendRequest, outbound};
use super::handshake::WEBSOCKET;
use super::reports::Report;
use crate::limits::UpstreamLimits;
use crate::site::types;
use percent_encoding::percent_decode_str;
use schedulers::Resource;
use server::site::{BackendFailure, Body, Exchange, Later, Request, Response, Site};
use std::sync::Arc;

/// A site whose responses come from a backend.
pub struct UpstreamSite {
    backend: Backend,
    upload_bytes: u64,
    takes_websockets: bool,
}

impl UpstreamSite {
    /// Connects to the backend at `address`; `report` gets a line about each failure.
    pub fn start(
        address: &Address,
        limits: &UpstreamLimits,
        report: Report,
    ) -> Result<Self, StartError> {
        let backend = Backend::start(address, limits, report)?;
        let takes_websockets = address.takes_websockets();
        Ok(Self { backend, upload_bytes: limits.upload_bytes, takes_websockets })
    }
}

impl Site for UpstreamSite {
    fn respond(&self, request: &Request) -> Response {
        let asked = request.upgrade.as_deref().filter(|_| self.takes_websockets);
        let is_tunnel = asked.is_some_and(|it| it.eq_ignore_ascii_case(WEBSOCKET));
        // Also rejects protocols other than WebSocket (RFC 9220, 3).
        if matches!(request.method.as_str(), "CONNECT" | "TRACE") && !is_tunnel {
            return Response::empty(501);
        }
        // Appended to the backend's address, any other path could name another host.
        if !request.path.starts_with('/') || has_dot_segments(&request.path) {
            return Response::empty(400);
        }
        let outbound = outbound(request, is_tunnel);
        if outbound.length > Some(self.upload_bytes) {
            return BackendFailure::ClientLarge.response();
        }
        let exchange = Exchange::new(is_tunnel, self.upload_bytes);
        if !self.backend.take(BackendRequest { request: outbound, exchange: Arc::clone(&exchange) })
        {
            return BackendFailure::Busy.response();
        }
        let resource = Resource { kind: types::expected(request), ..Resource::default() };
        let later = Later::new(exchange);
        if request.pushed {
            later.end_upload();
        }
        let body = Body::Later(later.into());
        Response { body, resource, ..Response::empty(200) }
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// Whether a path still has dot segments ([`Request::path`]): a backend that resolves them would leave its route. Some
/// backends first remove parameters from a segment (`..;a=b`), or end it at a control character.
fn has_dot_segments(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|segment| {
        let name = segment.split(|it: char| it == ';' || it.is_control()).next();
        matches!(name, Some("." | ".."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_lead_to_another_host() {
        let address = "http://127.0.0.1:1".parse().expect("an address");
        let limits = UpstreamLimits::default();
        let site = UpstreamSite::start(&address, &limits, std::sync::Arc::new(|_| {}));
        let site = site.expect("a thread");
        for (path, awaited) in [
            ("@other.example/", false),
            (":80@other.example/", false),
            ("*", false),
            ("//a", true),
            ("/api/../secret.txt", true),
            ("/api/%2e%2E/x", true),
            ("/../secret.txt", false),
            ("/api/%2e%2E/../x", false),
            ("/api/..%5cx", false),
            ("/api/./x", true),
            ("/api/..;/x", false),
            ("/api/%2e%2e;a=b/x", false),
            ("/api/..%00/x", false),
            ("/api/a;b=../x", true),
            ("/a..b/c.d?x=../..", true),
        ] {
            let response = site.respond(&Request::get("a", path));
            assert_eq!(response.is_awaited(), awaited, "{path}");
        }
    }
}
