//! Trailer fields that pass through the gateway, and the handshake of a WebSocket with a backend. Input: the first 16 bytes are
//! the key of the handshake; the rest are lines, each with a name, a colon and a value.

use gateway::upstream::readers::{
    Handshake, WEBSOCKET, accept, from_http3, has_member, of_request, of_response, to_http3,
};
use http3::Header;
use hyper::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE,
};

/// Plays one input.
///
/// # Panics
///
/// Panics if forbidden trailer fields pass, or fields change in transit; or if a tunnel opens or fails to open against the rules.
pub fn play(data: &[u8]) {
    let (start, lines) = data.split_at(data.len().min(16));
    let mut key = [0; 16];
    key[..start.len()].copy_from_slice(start);
    let fields = from_http3(&headers(lines));
    trail(&fields);
    shake_hands(key, &fields);
    let answer = accept(&String::from_utf8_lossy(lines));
    assert_eq!(answer.len(), 28, "a SHA-1 in base64");
}

fn headers(lines: &[u8]) -> Vec<Header> {
    let header = |line: &[u8]| {
        let colon = line.iter().position(|it| *it == b':')?;
        Some(Header::new(&line[..colon], line[colon + 1..].trim_ascii()))
    };
    lines.split(|it| *it == b'\n').filter_map(header).collect()
}

/// Fields that must not follow a body, one for each reason (RFC 9110, 6.5.1).
const NEVER: [&str; 6] =
    ["content-length", "transfer-encoding", "host", "authorization", "cache-control", "connection"];

fn trail(fields: &HeaderMap) {
    let (asked, answered) = (of_request(fields), of_response(fields));
    assert_eq!(asked.is_some(), answered.is_some(), "the limit is the same");
    for kept in asked.iter().chain(&answered) {
        for (name, value) in kept {
            assert!(!NEVER.contains(&name.as_str()), "{name}");
            assert!(fields.get_all(name).iter().any(|it| it == value), "{name} is another");
        }
        assert_eq!(&from_http3(&to_http3(kept).collect::<Vec<_>>()), kept);
    }
    // A second gateway passes on the same.
    assert_eq!(asked.as_ref().and_then(of_request), asked);
    assert_eq!(answered.as_ref().and_then(of_response), answered);
}

fn shake_hands(key: [u8; 16], fields: &HeaderMap) {
    let handshake = Handshake::with(key);
    let mut asked = HeaderMap::new();
    handshake.ask(&mut asked);
    let key = asked[SEC_WEBSOCKET_KEY].to_str().expect("base64");
    let answered = |answer: String| {
        let mut fields = fields.clone();
        let answer = HeaderValue::from_str(&answer).expect("base64");
        fields.insert(SEC_WEBSOCKET_ACCEPT, answer);
        fields
    };
    let right = answered(accept(key));
    let switches =
        has_member(fields, &UPGRADE, WEBSOCKET) && has_member(fields, &CONNECTION, "upgrade");
    assert_eq!(handshake.check(&right).is_ok(), switches);
    assert!(handshake.check(&answered(accept(""))).is_err(), "an answer to another key");
    if handshake.check(fields).is_ok() {
        assert_eq!(fields.get(SEC_WEBSOCKET_ACCEPT), right.get(SEC_WEBSOCKET_ACCEPT));
    }
}
