//! Which fields a gateway forwards (RFC 9110, 7.6.1), and which of them may be trailers (RFC 9110, 6.5).
//!
//! A trailer field is forwarded unless its meaning needs it before the content: a recipient that merged it into the head would then
//! act on a field that must not be there.

use super::fields::{joined, kept};
use crate::limits::TRAILER_BYTES;
use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue};

/// Fields that concern one connection only (RFC 9110, 7.6.1).
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Whether a field concerns one connection only, by its name or because `Connection` among these fields names it (RFC 9110, 7.6.1).
pub fn is_hop_by_hop(fields: &HeaderMap) -> impl Fn(&str) -> bool + use<> {
    let named = joined(fields, CONNECTION, b",").unwrap_or_default().to_ascii_lowercase();
    let named = String::from_utf8_lossy(&named).into_owned();
    move |name| HOP_BY_HOP.contains(&name) || named.split(',').any(|it| it.trim() == name)
}

/// Fields that this server makes itself.
const OWN: [&str; 5] = ["host", "cookie", "expect", "content-length", "via"];

/// Whether a gateway names its client in this field. This server is the first gateway, so clients must not send it.
/// `Proxy` would become the setting `HTTP_PROXY` of a CGI program.
fn is_claim(name: &str) -> bool {
    matches!(name, "forwarded" | "x-real-ip" | "proxy") || name.starts_with("x-forwarded-")
}

/// Whether a backend gets a client's field with this name. Many backends cannot distinguish `_` from `-` in a name, so `X_Real_IP`
/// would pass for `X-Real-IP`.
pub fn passes(name: &str) -> bool {
    !OWN.contains(&name) && !HOP_BY_HOP.contains(&name) && !is_claim(name) && !name.contains('_')
}

/// Fields about framing, routing, authentication, and the use of a message, which must not be trailers (RFC 9110, 6.5.1).
const NEVER: [&str; 23] = [
    "age",
    "alt-svc",
    "authorization",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "expect",
    "expires",
    "host",
    "location",
    "max-forwards",
    "pragma",
    "range",
    "retry-after",
    "set-cookie",
    "trailer",
    "vary",
    "via",
    "www-authenticate",
];

/// The bytes that each field counts besides its name and value, as for heads (RFC 9114, 4.2.2).
const FIELD_OVERHEAD_BYTES: usize = 32;

/// The trailer fields of a request that the backend gets. `None`: they are too large.
pub fn of_request(fields: &HeaderMap) -> Option<HeaderMap> {
    checked(fields, passes)
}

/// The trailer fields of a response that the client gets. `None`: they are too large.
pub fn of_response(fields: &HeaderMap) -> Option<HeaderMap> {
    checked(fields, |_| true)
}

fn checked(fields: &HeaderMap, passes: impl Fn(&str) -> bool) -> Option<HeaderMap> {
    let bytes = |(name, value): (&HeaderName, &HeaderValue)| {
        name.as_str().len() + value.len() + FIELD_OVERHEAD_BYTES
    };
    if fields.iter().map(bytes).sum::<usize>() > TRAILER_BYTES {
        return None;
    }
    let may_trail = |name: &str| {
        !NEVER.contains(&name) && !HOP_BY_HOP.contains(&name) && !name.starts_with("if-")
    };
    Some(kept(fields, |name| may_trail(name) && passes(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::fields::fields;

    fn names(kept: Option<&HeaderMap>) -> Vec<String> {
        kept.into_iter().flat_map(HeaderMap::keys).map(ToString::to_string).collect()
    }

    /// RFC 9114, 4.1. Client: sends trailers, or gets them from a backend. Server: they go on behind the body, without fields
    /// that do not trail (RFC 9110, 6.5.1).
    #[test]
    fn a_field_whose_meaning_needs_it_in_the_head_does_not_trail_9110_6_5_1() {
        let all = fields([
            ("grpc-status", "0"),
            ("content-length", "5"),
            ("transfer-encoding", "chunked"),
            ("connection", "close"),
            ("te", "trailers"),
            ("trailer", "x"),
            ("host", "a"),
            ("authorization", "b"),
            ("set-cookie", "c=1"),
            ("if-match", "\"1\""),
            ("etag", "\"1\""),
            ("server-timing", "db"),
        ]);
        assert_eq!(names(of_response(&all).as_ref()), ["grpc-status", "etag", "server-timing"]);
    }

    #[test]
    fn a_client_cannot_claim_in_trailers_what_it_cannot_claim_in_a_head() {
        let all = fields([("x-forwarded-for", "10.0.0.1"), ("x_own", "1"), ("x-own", "2")]);
        assert_eq!(names(of_request(&all).as_ref()), ["x-own"]);
        assert_eq!(names(of_response(&all).as_ref()), ["x-forwarded-for", "x_own", "x-own"]);
    }

    #[test]
    fn more_than_16_kib_are_refused() {
        let with = |bytes| of_response(&fields([("x", "a".repeat(bytes))]));
        assert_eq!(names(with(TRAILER_BYTES - 33).as_ref()), ["x"]);
        assert_eq!(with(TRAILER_BYTES - 32), None);
    }
}
