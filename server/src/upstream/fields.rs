//! Header fields on their way through a gateway (RFC 9110, 7.6; RFC 9114, 4.2).

use super::exchange::Outbound;
use crate::site::{Field, Request};
use std::borrow::Cow;
use std::net::IpAddr;

/// Fields that concern one connection only.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Fields in which a gateway names its client. This server is the first gateway, so clients must not send them.
const CLAIMS: [&str; 5] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/// The request for the backend. It keeps the host that the client asked for.
pub(super) fn outbound(request: &Request, client: Option<IpAddr>) -> Outbound {
    let has_body = !matches!(request.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS")
        && request.field("content-length") != Some("0");
    let passes = |name: &str| {
        let own = matches!(name, "host" | "cookie" | "expect" | "content-length" | "via");
        !own && !HOP_BY_HOP.contains(&name) && !CLAIMS.contains(&name)
    };
    let mut fields: Vec<(String, String)> = vec![("host".into(), request.authority.clone())];
    fields.extend(request.fields.iter().filter(|(name, _)| passes(name)).cloned());
    // HTTP/1.1 has one cookie field (RFC 9114, 4.2.1).
    fields.extend(request.cookies().map(|it| ("cookie".to_owned(), it)));
    let length = request.field("content-length").filter(|_| has_body);
    fields.extend(length.map(|it| ("content-length".to_owned(), it.to_owned())));
    // RFC 8470, 5.1: the backend may want to be asked again when the handshake is complete.
    if request.early && request.field("early-data").is_none() {
        fields.push(("early-data".into(), "1".into()));
    }
    fields.push(("via".into(), via("3", request.field("via"))));
    fields.push(("forwarded".into(), forwarded(&request.authority, client)));
    Outbound { method: request.method.clone(), path: request.path.clone(), fields, has_body }
}

/// The fields of a backend's response that the client gets; `length` is the length of the body, if it is known.
pub(super) fn inbound(fields: &[(&str, &[u8])], length: Option<u64>) -> Vec<Field> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let values = |name: &'static str| {
        fields.iter().filter(move |(it, _)| *it == name).map(move |(_, value)| text(value))
    };
    let connection = values("connection").collect::<Vec<_>>().join(",").to_ascii_lowercase();
    let passes = |name: &str| {
        let own = matches!(name, "content-length" | "via" | "server" | "alt-svc");
        let named = connection.split(',').any(|it| it.trim() == name);
        !own && !named && !HOP_BY_HOP.contains(&name)
    };
    let mut passed: Vec<Field> = fields
        .iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (Cow::Owned((*name).to_owned()), text(value)))
        .collect();
    passed.extend(length.map(|it| ("content-length".into(), it.to_string())));
    let before = values("via").collect::<Vec<_>>().join(", ");
    passed.push(("via".into(), via("1.1", Some(before.as_str()).filter(|it| !it.is_empty()))));
    passed
}

fn via(version: &str, before: Option<&str>) -> String {
    let own = format!("{version} utmost");
    before.map_or_else(|| own.clone(), |it| format!("{it}, {own}"))
}

/// The `Forwarded` field: the client, the host and the protocol (RFC 7239).
fn forwarded(authority: &str, client: Option<IpAddr>) -> String {
    let host = authority.replace(['"', '\\'], "");
    let from = match client {
        Some(IpAddr::V4(address)) => format!("for={address};"),
        Some(IpAddr::V6(address)) => format!("for=\"[{address}]\";"),
        None => String::new(),
    };
    format!("{from}host=\"{host}\";proto=https")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http3::Header;
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

    fn text(fields: impl IntoIterator<Item = (impl AsRef<str>, String)>) -> String {
        let lines = fields.into_iter().map(|(name, value)| format!("{}: {value}", name.as_ref()));
        lines.collect::<Vec<_>>().join("\n")
    }

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
        let outbound = outbound(&request(&fields), Some(client));
        assert_eq!((outbound.path.as_str(), outbound.has_body), ("/a?b", true));
        let expected = "host: site.example\naccept: */*\nif-none-match: \"1\"\ncookie: a=1; b=2\n\
                        content-length: 3\nvia: 3 utmost\n\
                        forwarded: for=\"[::1]\";host=\"site.example\";proto=https";
        assert_eq!(text(outbound.fields), expected);
    }

    #[test]
    fn the_backend_learns_of_a_possible_replay_8470_5_1() {
        let said = |request: &Request| {
            let fields = outbound(request, None).fields;
            fields.into_iter().filter(|(name, _)| name == "early-data").count()
        };
        let plain = request(&[]);
        assert_eq!(said(&plain), 0);
        assert_eq!(said(&plain.not_proven_fresh(true)), 1);
        assert_eq!(said(&request(&[("early-data", "1")]).not_proven_fresh(false)), 1);
    }

    #[test]
    fn a_response_loses_what_its_connection_field_names() {
        let fields: [(&str, &[u8]); 7] = [
            ("connection", b"Close, X-Secret"),
            ("x-secret", b"1"),
            ("transfer-encoding", b"chunked"),
            ("content-length", b"99"),
            ("server", b"backend"),
            ("via", b"1.0 other"),
            ("link", b"</a.css>; rel=preload"),
        ];
        let passed = inbound(&fields, Some(5));
        let expected = "link: </a.css>; rel=preload\ncontent-length: 5\nvia: 1.0 other, 1.1 utmost";
        assert_eq!(text(passed), expected);
    }
}
