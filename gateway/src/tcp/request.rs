//! Requests of HTTP/1 and HTTP/2 as a site sees them, under the same rules as those of HTTP/3.

use super::tunnel::is_wanted;
use crate::upstream::{WEBSOCKET, has_member};
use h2::ext::Protocol as Extended;
use http3::{Header, malformed_request};
use hyper::Version;
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderValue, TE, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use server::limits::HEAD_FIELDS;
use server::site::trailers::HOP_BY_HOP;
use server::site::{Protocol, Request};
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// The request of a head, and the status that answers it if it is not a proper one. `local` is where it came; `websockets`: clients
/// may ask for them.
pub(super) fn request(
    head: &Parts,
    client: IpAddr,
    local: SocketAddr,
    now: Instant,
    websockets: bool,
) -> (Request, Option<u16>) {
    let protocol = match head.version {
        Version::HTTP_2 => Protocol::Http2,
        Version::HTTP_11 => Protocol::Http11,
        _ => Protocol::Http10,
    };
    let headers = headers(head, protocol, local);
    let status = if has_too_many_fields(&head.headers) {
        Some(431)
    } else if has_unknown_coding(&head.headers) {
        Some(501)
    } else if has_wrong_hosts(&head.headers, protocol)
        || malformed_request(&headers, websockets).is_some()
    {
        Some(400)
    } else {
        None
    };
    let mut request = Request {
        protocol,
        client: Some(client),
        asked_at: Some(now),
        ..Request::from_headers(&headers)
    };
    if websockets && is_wanted(head) {
        request.upgrade = Some(WEBSOCKET.to_owned());
    }
    (request.not_proven_fresh(false), status)
}

/// Whether a head is refused for the number of its fields.
pub(super) fn has_too_many_fields(fields: &HeaderMap) -> bool {
    fields.len() > HEAD_FIELDS
}

/// Whether the body comes in a transfer coding that the library does not take off, so that it would be passed on in it (RFC
/// 9112, 6.1).
fn has_unknown_coding(fields: &HeaderMap) -> bool {
    let mut codings = fields.get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(b"chunked");
    codings.next().is_some_and(|it| !is_chunked(it) || codings.next().is_some())
}

/// Whether a request of HTTP/1.1 does not have exactly one `Host` field (RFC 9112, 3.2).
fn has_wrong_hosts(fields: &HeaderMap, protocol: Protocol) -> bool {
    protocol == Protocol::Http11 && fields.get_all(HOST).iter().count() != 1
}

/// The fields as HTTP/3 has them, pseudo-header fields first, without those of the connection.
fn headers(head: &Parts, protocol: Protocol, local: SocketAddr) -> Vec<Header> {
    let field = |name: &str, value: &str| Header::new(name.as_bytes(), value.as_bytes());
    let mut headers = vec![field(":method", head.method.as_str())];
    let extended = head.extensions.get::<Extended>();
    headers.extend(extended.map(|it| field(":protocol", it.as_str())));
    if head.method != "CONNECT" || extended.is_some() {
        headers.push(field(":scheme", head.uri.scheme_str().unwrap_or("https")));
        headers.push(field(":path", head.uri.path_and_query().map_or("", |it| it.as_str())));
    }
    headers.extend(head.uri.authority().map(|it| field(":authority", it.as_str())));
    // A client of HTTP/1.0 need not say the host: it asks whom it has connected to.
    if protocol == Protocol::Http10
        && head.uri.authority().is_none()
        && !head.headers.contains_key(HOST)
    {
        headers.push(field(":authority", &SocketAddr::new(local.ip(), local.port()).to_string()));
    }
    // The target of a request says the host in place of the field (RFC 9112, 3.2.2).
    let is_host_said = protocol != Protocol::Http2 && head.uri.authority().is_some();
    let named = head.headers.get_all(CONNECTION).iter();
    let named: Vec<String> = named
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .map(|it| it.trim().to_ascii_lowercase())
        .collect();
    let is_hop_by_hop =
        |name: &str| HOP_BY_HOP.contains(&name) || named.iter().any(|it| it == name);
    let passed = head
        .headers
        .iter()
        .filter(|(name, _)| !is_hop_by_hop(name.as_str()) && (!is_host_said || **name != HOST));
    headers.extend(
        passed.map(|(name, value)| Header::new(name.as_str().as_bytes(), value.as_bytes())),
    );
    // The only thing that HTTP/3's `te` says (RFC 9110, 10.1.4).
    let takes_trailers = has_member(&head.headers, &TE, "trailers");
    headers.extend(takes_trailers.then(|| field("te", "trailers")));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(version: Version, uri: &str, fields: &[(&str, &str)]) -> (Request, Option<u16>) {
        let mut request = hyper::Request::builder().version(version).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        request_of(&head)
    }

    fn request_of(head: &Parts) -> (Request, Option<u16>) {
        let local = ([192, 0, 2, 2], 443).into();
        request(head, [192, 0, 2, 1].into(), local, super::super::activity::now(), true)
    }

    #[test]
    fn a_request_is_the_same_by_both_versions_but_for_its_protocol() {
        let fields = [("host", "a.test"), ("accept", "*/*")];
        let (old, _) = asked(Version::HTTP_11, "/x?y", &fields);
        let (new, status) = asked(Version::HTTP_2, "https://a.test/x?y", &fields);
        assert_eq!((old.protocol, new.protocol), (Protocol::Http11, Protocol::Http2));
        assert_eq!(status, None);
        let same = |it: Request| (it.method, it.scheme, it.authority, it.path, it.fields);
        assert_eq!(same(old), same(new));
    }

    #[test]
    fn fields_of_the_connection_do_not_reach_the_site() {
        let fields = [
            ("host", "a.test"),
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
        ];
        let (request, status) = asked(Version::HTTP_11, "/", &fields);
        assert_eq!((status, request.upgrade.as_deref()), (None, None));
        assert_eq!(request.fields, [("host".to_owned(), "a.test".to_owned())]);
    }

    #[test]
    fn a_client_says_by_each_version_that_it_takes_trailers() {
        let te = |version, said: &str| {
            let fields = [("host", "a.test"), ("connection", "te"), ("te", said)];
            asked(version, "https://a.test/", &fields).0.field("te").map(str::to_owned)
        };
        for version in [Version::HTTP_11, Version::HTTP_2] {
            assert_eq!(te(version, "trailers").as_deref(), Some("trailers"));
            assert_eq!(te(version, "gzip, Trailers").as_deref(), Some("trailers"));
            assert_eq!(te(version, "gzip"), None);
        }
    }

    #[test]
    fn a_client_of_http_1_0_without_a_host_asks_whom_it_has_connected_to() {
        let (request, status) = asked(Version::HTTP_10, "/x", &[]);
        assert_eq!((status, request.authority.as_str()), (None, "192.0.2.2:443"));
    }

    #[test]
    fn improper_requests_get_400_and_those_with_too_many_fields_431() {
        let one = Version::HTTP_11;
        for (version, uri, hosts, expected) in [
            (one, "/", &[][..], Some(400)),
            (one, "/", &["a.test", "a.test"], Some(400)),
            (one, "/", &["a.test/x"], Some(400)),
            (one, "/", &["me@a.test"], Some(400)),
            (one, "*", &["a.test"], Some(400)),
            (one, "https://b.test/x", &["a.test"], None),
            (Version::HTTP_2, "https://b.test/x", &["a.test"], Some(400)),
            (Version::HTTP_2, "https://b.test/x", &[], None),
            (Version::HTTP_2, "https://b.test/x", &["b.test"], None),
            (Version::HTTP_2, "https://b.test/x", &["b.test", "b.test"], Some(400)),
            (Version::HTTP_10, "/", &["a.test"], None),
            (Version::HTTP_10, "/", &["a.test", "a.test"], Some(400)),
        ] {
            let fields: Vec<(&str, &str)> = hosts.iter().map(|it| ("host", *it)).collect();
            let (request, status) = asked(version, uri, &fields);
            assert_eq!(status, expected, "{version:?} {uri} {hosts:?}");
            if uri.starts_with("https") {
                assert_eq!(request.authority, "b.test");
            }
        }
        for (codings, expected) in [
            (&["Chunked"][..], None),
            (&["gzip, chunked"], Some(501)),
            (&["gzip", "chunked"], Some(501)),
            (&["chunked", "chunked"], Some(501)),
        ] {
            let codings = codings.iter().map(|it| ("transfer-encoding", *it));
            let fields: Vec<_> = [("host", "a.test")].into_iter().chain(codings).collect();
            assert_eq!(asked(one, "/", &fields).1, expected, "{fields:?}");
        }
        let many = vec![("x", "1"); HEAD_FIELDS];
        let fields = [&[("host", "a.test")][..], &many].concat();
        assert_eq!(asked(one, "/", &fields).1, Some(431));
        assert_eq!(asked(one, "/", &fields[..HEAD_FIELDS]).1, None);
    }
}
