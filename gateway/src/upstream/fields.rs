//! Header fields that pass through a gateway (RFC 9110, 7.6; RFC 9114, 4.2).

use super::upload::Upload;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, COOKIE, FORWARDED, HOST, HeaderMap, HeaderName, HeaderValue, TE,
    TRAILER, TRANSFER_ENCODING, VIA,
};
use hyper::{Uri, Version};
use server::account::Held;
use server::client::Client;
use server::site::fields::{add, joined, kept, list};
use server::site::trailers::{is_hop_by_hop, passes};
use server::site::{BackendFailure, Exchange, Request};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The request in the form for the backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outbound {
    pub(super) method: String,
    /// The requested host, perhaps with a port.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
    /// All fields but `host` and `content-length`.
    pub(super) fields: HeaderMap,
    /// It opens a WebSocket.
    pub(super) is_tunnel: bool,
    /// The length of the body, if the client states it.
    pub(super) length: Option<u64>,
    /// The client whose share of the slots it uses.
    pub(super) client: Client,
    /// The shared memory that the fields use.
    pub(super) held: Held,
}

/// A request for the backend, and the exchange with its body and its response.
pub(super) struct BackendRequest {
    pub(super) request: Outbound,
    pub(super) exchange: Arc<Exchange>,
}

/// The request in the form for the backend. It keeps the host that the client requested. `is_tunnel`: it opens a
/// WebSocket.
pub(super) fn outbound(request: &Request, is_tunnel: bool) -> Outbound {
    let client = request.client;
    // This server performs the handshake with each end.
    let is_shaking = |name: &str| is_tunnel && name == "sec-websocket-key";
    let passes = |name: &str| passes(name) && !is_shaking(name);
    let mut fields: HeaderMap = kept(&request.fields, passes).collect();
    // HTTP/1.1 has one cookie field (RFC 9114, 4.2.1).
    let cookies = joined(&request.fields, COOKIE, b"; ").filter(|it| !it.is_empty());
    add(&mut fields, cookies.map(|it| (COOKIE, it)));
    // This server can pass on everything that the client accepts (RFC 9110, 10.1.4).
    if request.field("te") == Some("trailers") && !is_tunnel {
        fields.append(TE, HeaderValue::from_static("trailers"));
    }
    let named = HeaderName::from_static;
    // RFC 8470, 5.1: the backend may want the request repeated after the handshake.
    if request.early && request.field("early-data").is_none() {
        fields.append(named("early-data"), HeaderValue::from_static("1"));
    }
    let via = via(request.protocol.version(), request.list("via").as_deref());
    add(&mut fields, [(VIA, via), (FORWARDED, forwarded(&request.authority, client))]);
    add(&mut fields, client.map(|it| (named("x-forwarded-for"), it.to_string())));
    add(&mut fields, [(named("x-forwarded-host"), request.authority.as_str())]);
    fields.append(named("x-forwarded-proto"), HeaderValue::from_static("https"));
    Outbound {
        // Over HTTP/1.1, a GET requests another protocol (RFC 6455, 4.1).
        method: if is_tunnel { "GET".to_owned() } else { request.method.clone() },
        authority: request.authority.clone(),
        path: request.path.clone(),
        fields,
        is_tunnel,
        length: request.field("content-length").and_then(|it| it.parse().ok()),
        // Senders of early data have not proven an address, so all of them share one client's slots.
        client: Client::at(client.filter(|_| !request.early)),
        held: request.held.clone(),
    }
}

/// The request in the HTTP library's form. If the body `is_whole`, its length is known. A client may pause for `idle`.
pub(super) fn request(
    backend_request: &BackendRequest,
    is_http2: bool,
    is_whole: bool,
    idle: Duration,
) -> Result<hyper::Request<Upload>, BackendFailure> {
    let BackendRequest { request: asked, exchange } = backend_request;
    let trailers = exchange.trailer_names().join(", ");
    let may_trail = !trailers.is_empty() || (!is_whole && asked.fields.contains_key(TRAILER));
    let length = match is_whole {
        // The client's value belongs to the other protocol.
        _ if asked.is_tunnel => Some(0),
        // Over HTTP/1.1, trailers follow chunks only (RFC 9112, 7.1.2).
        _ if may_trail => None,
        true => Some(exchange.upload_bytes() as u64),
        false => asked.length,
    };
    let uri = Uri::builder().path_and_query(asked.path.as_str());
    // HTTP/2 has a pseudo-header field in place of the host (RFC 9113, 8.3.1).
    let uri = if is_http2 { uri.scheme("https").authority(asked.authority.as_str()) } else { uri };
    let unsayable = |it: &dyn std::error::Error| BackendFailure::Unsayable(it.to_string());
    let uri = uri.build().map_err(|it| unsayable(&it))?;
    let mut request = hyper::Request::builder().method(asked.method.as_str()).uri(uri);
    if !is_http2 {
        request = request.header(HOST, asked.authority.as_str());
    }
    if !is_http2 && asked.fields.contains_key(TE) {
        request = request.header(CONNECTION, "te");
    }
    if !trailers.is_empty() {
        request = request.header(TRAILER, &trailers);
    }
    // An invalid request has no fields; the body reports the mistake.
    if let Some(fields) = request.headers_mut() {
        fields.extend(kept(&asked.fields, |it| it != TRAILER || trailers.is_empty()));
    }
    // A request of these methods states its length even if it is 0 (RFC 9110, 8.6).
    let states_length = matches!(asked.method.as_str(), "POST" | "PUT" | "PATCH");
    if let Some(length) = length.filter(|it| *it > 0 || states_length) {
        request = request.header(CONTENT_LENGTH, length);
    }
    // The library assumes that these methods have no body, unless the head states otherwise.
    if !is_http2 && length.is_none() && matches!(asked.method.as_str(), "GET" | "HEAD") {
        request = request.header(TRANSFER_ENCODING, "chunked");
    }
    request.body(Upload::new(exchange, length, idle)).map_err(|it| unsayable(&it))
}

/// The fields of a backend's response for the client; `length` is the length of the body, if known.
pub(super) fn inbound(fields: &HeaderMap, version: Version, length: Option<u64>) -> HeaderMap {
    let is_own = |name: &str| matches!(name, "content-length" | "via" | "server" | "alt-svc");
    let is_hop_by_hop = is_hop_by_hop(fields);
    let passes = |name: &str| !is_own(name) && !is_hop_by_hop(name);
    let mut passed: HeaderMap = kept(fields, passes).collect();
    passed.extend(length.map(|it| (CONTENT_LENGTH, it.into())));
    // RFC 9110, 7.6.3.
    let protocol = match version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        _ => "1.1",
    };
    let before = list(fields, "via").filter(|it| !it.is_empty());
    add(&mut passed, [(VIA, via(protocol, before.as_deref()))]);
    passed
}

fn via(version: &str, before: Option<&str>) -> String {
    let own = format!("{version} utmost");
    before.map_or_else(|| own.clone(), |it| format!("{it}, {own}"))
}

/// The `Forwarded` field: the client, the host and the protocol (RFC 7239).
fn forwarded(authority: &str, client: Option<IpAddr>) -> String {
    let from = match client {
        Some(IpAddr::V4(address)) => format!("for={address};"),
        Some(IpAddr::V6(address)) => format!("for=\"[{address}]\";"),
        None => String::new(),
    };
    format!("{from}host=\"{authority}\";proto=https")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http3::Header;
    use server::site::fields::fields;
    use std::net::Ipv6Addr;

    fn request(fields: &[(&str, &str)]) -> Request {
        let pseudo = [(":method", "POST"), (":authority", "site.example"), (":path", "/a?b")];
        let headers: Vec<Header> = pseudo
            .iter()
            .chain(fields)
            .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
            .collect();
        Request::from_headers(&headers)
    }

    fn text(fields: &HeaderMap) -> String {
        let text = |it: &HeaderValue| it.to_str().expect("text").to_owned();
        let lines = fields.iter().map(|(name, value)| format!("{name}: {}", text(value)));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// RFC 9114, 4.2.1. Client: sends `cookie` in several lines. Server: joins them with `; ` for a backend of HTTP/1.1.
    #[test]
    fn a_request_loses_what_is_of_its_connection_and_what_its_client_cannot_know() {
        let fields = [
            ("te", "trailers"),
            ("cookie", "a=1"),
            ("accept", "*/*"),
            ("cookie", "b=2"),
            ("x-forwarded-for", "10.0.0.1"),
            ("if-none-match", "\"1\""),
            ("content-length", "3"),
            ("expect", "100-continue"),
        ];
        let client = IpAddr::V6(Ipv6Addr::LOCALHOST);
        let request = Request { client: Some(client), ..request(&fields) };
        let outbound = outbound(&request, false);
        assert_eq!((outbound.authority.as_str(), outbound.path.as_str()), ("site.example", "/a?b"));
        assert_eq!(outbound.length, Some(3));
        let expected = "accept: */*\nif-none-match: \"1\"\ncookie: a=1; b=2\nte: trailers\nvia: 3 utmost\n\
                        forwarded: for=\"[::1]\";host=\"site.example\";proto=https\nx-forwarded-for: ::1\n\
                        x-forwarded-host: site.example\nx-forwarded-proto: https";
        assert_eq!(text(&outbound.fields), expected);
    }

    #[test]
    fn a_field_that_a_backend_could_take_for_another_is_dropped() {
        let fields = [
            "x_forwarded_for",
            "content_length",
            "transfer_encoding",
            "x_real-ip",
            "x-forwarded-port",
            "proxy",
            "x-own",
        ];
        let outbound = outbound(&request(&fields.map(|it| (it, "1"))), false);
        let expected = "x-own: 1\nvia: 3 utmost\nforwarded: host=\"site.example\";proto=https\n\
                        x-forwarded-host: site.example\nx-forwarded-proto: https";
        assert_eq!(text(&outbound.fields), expected);
    }

    #[test]
    fn fields_that_are_not_utf_8_go_on_as_they_came() {
        let came = [
            (&b":method"[..], &b"GET"[..]),
            (b"cookie", b"a=1"),
            (b"x-latin", b"caf\xe9"),
            (b"cookie", b"b=\xe9"),
            (b"x_latin", b"\xe9"),
        ];
        let headers = came.map(|(name, value)| Header::new(name, value));
        let outbound = outbound(&Request::from_headers(&headers), false);
        let said = kept(&outbound.fields, |it| it.starts_with("x-latin") || it == "cookie");
        let expected = fields([("x-latin", &b"caf\xe9"[..]), ("cookie", b"a=1; b=\xe9")]);
        assert_eq!(said.collect::<HeaderMap>(), expected);
    }

    #[test]
    fn gateways_before_are_named_from_all_lines() {
        let outbound = outbound(&request(&[("via", "1.1 a"), ("via", "2 b")]), false);
        assert_eq!(outbound.fields[VIA], "1.1 a, 2 b, 3 utmost");
        assert_eq!(outbound.fields.get_all(VIA).iter().count(), 1);
    }

    #[test]
    fn a_websocket_is_asked_for_by_a_get_with_a_key_of_ours() {
        let fields =
            [("sec-websocket-key", "theirs"), ("sec-websocket-version", "13"), ("te", "trailers")];
        let plain = outbound(&request(&fields), false);
        assert_eq!(plain.method, "POST");
        assert_eq!(plain.fields["sec-websocket-key"], "theirs");
        let tunnel = outbound(&request(&fields), true);
        assert_eq!(tunnel.method, "GET");
        assert_eq!(tunnel.fields["sec-websocket-version"], "13");
        assert!(tunnel.fields.keys().all(|it| it != "te" && it != "sec-websocket-key"));
    }

    #[test]
    fn the_backend_learns_of_a_possible_replay_8470_5_1() {
        let said = |request: &Request| {
            outbound(request, false).fields.get_all("early-data").iter().count()
        };
        let plain = request(&[]);
        assert_eq!(said(&plain), 0);
        assert_eq!(said(&plain.not_proven_fresh(true)), 1);
        assert_eq!(said(&request(&[("early-data", "1")]).not_proven_fresh(false)), 1);
    }

    #[test]
    fn early_requests_of_all_clients_share_the_places_of_one() {
        let from = |address: &str, is_early| {
            let client = address.parse().ok();
            outbound(&Request { client, ..request(&[]) }.not_proven_fresh(is_early), false).client
        };
        assert_eq!(from("192.0.2.1", true), from("192.0.2.2", true));
        assert_ne!(from("192.0.2.1", false), from("192.0.2.2", false));
        assert_ne!(from("192.0.2.1", false), from("192.0.2.1", true));
    }

    /// RFC 9114, 4.2. Server: removes such fields from a backend's response.
    #[test]
    fn a_response_loses_what_its_connection_field_names() {
        let came = fields([
            ("x-latin", &b"caf\xe9"[..]),
            ("connection", b"Close, X-Secret"),
            ("x-secret", b"1"),
            ("transfer-encoding", b"chunked"),
            ("content-length", b"99"),
            ("server", b"backend"),
            ("via", b"1.0 other"),
            ("link", b"</a.css>; rel=preload"),
        ]);
        let expected = fields([
            ("x-latin", &b"caf\xe9"[..]),
            ("link", b"</a.css>; rel=preload"),
            ("content-length", b"5"),
            ("via", b"1.0 other, 1.1 utmost"),
        ]);
        let passed = inbound(&came, Version::HTTP_11, Some(5));
        assert!(passed.iter().eq(&expected), "{passed:?}");
    }
}
