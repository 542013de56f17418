//! Converts HTTP/1 and HTTP/2 requests to the site's form, under the same rules as HTTP/3 requests.

use super::tunnel::is_wanted;
use crate::upstream::{WEBSOCKET, has_member};
use h2::ext::Protocol as Extended;
use http3::malformed_request;
use hyper::header::{HOST, HeaderMap, HeaderValue, TE, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Uri, Version};
use server::limits::HEAD_FIELDS;
use server::site::fields::{Line, kept, to_http3};
use server::site::trailers::is_hop_by_hop;
use server::site::{Protocol, Request};
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// The request with this head, or the status that answers an invalid one. `local` is the address where it arrived; `websockets`:
/// clients may request them.
pub(super) fn request(
    mut head: Parts,
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
    let is_websocket = websockets && is_wanted(&head);
    head.uri = with_path(head.uri);
    let wrong = wrong_status(&head.headers, protocol);
    // An HTTP/1.0 client need not name the host: it means the server that it is connected to.
    let is_hostless = protocol == Protocol::Http10 && !head.headers.contains_key(HOST);
    let local = is_hostless.then(|| SocketAddr::new(local.ip(), local.port()).to_string());
    let is_host_said = protocol != Protocol::Http2 && head.uri.authority().is_some();
    let fields = regular(std::mem::take(&mut head.headers), is_host_said);
    let pseudo = pseudo(&head, local.as_deref());
    let headers: Vec<Line<'_>> = pseudo.iter().copied().chain(to_http3(&fields)).collect();
    let is_malformed = malformed_request(&headers, websockets).is_some();
    let mut request = Request {
        protocol,
        client: Some(client),
        asked_at: Some(now),
        ..Request::of(&pseudo, fields)
    };
    if is_websocket {
        request.upgrade = Some(WEBSOCKET.to_owned());
    }
    (request.not_proven_fresh(false), wrong.or(is_malformed.then_some(400)))
}

/// A target in absolute form may have a query without a path, which stands for `/` (RFC 9110, 4.2.3).
fn with_path(target: Uri) -> Uri {
    let Some(query) = target.path_and_query().filter(|it| it.as_str().starts_with('?')) else {
        return target;
    };
    // Its text begins with the missing `/`.
    let path = query.to_string().parse().ok();
    let mut parts = target.into_parts();
    parts.path_and_query = path;
    Uri::from_parts(parts).unwrap_or_default()
}

/// The status that answers a head with features that HTTP/3 lacks.
fn wrong_status(fields: &HeaderMap, protocol: Protocol) -> Option<u16> {
    if has_too_many_fields(fields) {
        Some(431)
    } else if has_unknown_coding(fields) {
        Some(501)
    } else {
        has_wrong_hosts(fields, protocol).then_some(400)
    }
}

pub(super) fn has_too_many_fields(fields: &HeaderMap) -> bool {
    fields.len() > HEAD_FIELDS
}

/// Whether the body has a transfer coding that the library does not remove, so that it would be passed on encoded (RFC 9112, 6.1).
fn has_unknown_coding(fields: &HeaderMap) -> bool {
    let mut codings = fields.get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(b"chunked");
    codings.next().is_some_and(|it| !is_chunked(it) || codings.next().is_some())
}

/// Whether an HTTP/1.1 request does not have exactly one `Host` field (RFC 9112, 3.2).
fn has_wrong_hosts(fields: &HeaderMap, protocol: Protocol) -> bool {
    protocol == Protocol::Http11 && fields.get_all(HOST).iter().count() != 1
}

/// The pseudo-header fields in the form of HTTP/3. `local`: the default host.
fn pseudo<'a>(head: &'a Parts, local: Option<&'a str>) -> Vec<Line<'a>> {
    let mut fields = vec![(":method", head.method.as_str())];
    let extended = head.extensions.get::<Extended>();
    fields.extend(extended.map(|it| (":protocol", it.as_str())));
    if head.method != "CONNECT" || extended.is_some() {
        fields.push((":scheme", head.uri.scheme_str().unwrap_or("https")));
        fields.push((":path", head.uri.path_and_query().map_or("", |it| it.as_str())));
    }
    let authority = head.uri.authority().map_or(local, |it| Some(it.as_str()));
    fields.extend(authority.map(|it| (":authority", it)));
    fields.into_iter().map(|(name, value)| (name, value.as_bytes())).collect()
}

/// The fields without connection-specific ones. `is_host_said`: the request target names the host instead of the field (RFC 9112,
/// 3.2.2).
fn regular(mut fields: HeaderMap, is_host_said: bool) -> HeaderMap {
    let is_hop_by_hop = is_hop_by_hop(&fields);
    let is_passed = |name: &str| !is_hop_by_hop(name) && (!is_host_said || name != HOST);
    // The only value of `te` in HTTP/3 (RFC 9110, 10.1.4).
    let takes_trailers = has_member(&fields, &TE, "trailers");
    if !fields.keys().all(|it| is_passed(it.as_str())) {
        fields = kept(&fields, is_passed).collect();
    }
    if takes_trailers {
        fields.append(TE, HeaderValue::from_static("trailers"));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::site::fields::fields;

    fn asked(version: Version, uri: &str, fields: &[(&str, &str)]) -> (Request, Option<u16>) {
        let mut request = hyper::Request::builder().version(version).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        request_of(head)
    }

    fn request_of(head: Parts) -> (Request, Option<u16>) {
        let local = ([192, 0, 2, 2], 443).into();
        request(head, [192, 0, 2, 1].into(), local, super::super::activity::now(), true)
    }

    #[test]
    fn a_target_in_absolute_form_needs_no_path_9112_3_2_2() {
        let target = |uri| {
            let (request, status) = asked(Version::HTTP_11, uri, &[("host", "a.test")]);
            (request.path, status)
        };
        assert_eq!(target("https://a.test?x=1"), ("/?x=1".to_owned(), None));
        assert_eq!(target("https://a.test"), ("/".to_owned(), None));
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
        let sent = [
            ("host", "a.test"),
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
        ];
        let (request, status) = asked(Version::HTTP_11, "/", &sent);
        assert_eq!((status, request.upgrade.as_deref()), (None, None));
        assert_eq!(request.fields, fields([("host", "a.test")]));
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
