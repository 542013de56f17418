//! WebSockets that attackers open, and the answers of the backend behind the server, without sockets and clocks.

use super::over_tcp::{
    Asked, END_HEADERS, HEADERS, HTTP_1, HTTP_2, Repeating, frame, preface, text,
};
use crate::limits::{GARBAGE_BYTES, GARBAGE_EACH};
use boring::base64::encode_block;
use boring::sha::sha1;

/// A backend's treatment of a WebSocket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Talk {
    /// It opens it, and stays silent.
    #[default]
    Idle,
    /// It opens it, and sends garbage.
    Garbage,
    /// It never answers.
    Silence,
}

/// A backend's next step after it has sent bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It accepts the next request.
    Next,
    /// It reads to the end.
    Read,
    /// It also sends garbage repeatedly.
    Babble,
}

/// The file that a backend has.
const FILE_BYTES: usize = 10_000;

/// A backend's answer to the request with this head, its next step, and whether the request was for a WebSocket.
pub(crate) fn reply(head: &str, talk: Talk) -> (Vec<u8>, Then, bool) {
    // A server that does not forward WebSockets may pass on the key, but not the upgrade.
    let switches = field(head, "upgrade").is_some_and(|it| it.eq_ignore_ascii_case("websocket"));
    if let Some(key) = field(head, "sec-websocket-key").filter(|_| switches) {
        return match talk {
            Talk::Silence => (Vec::new(), Then::Read, true),
            Talk::Idle => (switching(key), Then::Read, true),
            Talk::Garbage => (switching(key), Then::Babble, true),
        };
    }
    // An upload is answered before its end, and is the last request.
    let then = if head.starts_with("GET ") { Then::Next } else { Then::Read };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {FILE_BYTES}\r\n\r\n");
    ([head.into_bytes(), vec![b'x'; FILE_BYTES]].concat(), then, false)
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|it| it.split_once(':'));
    fields.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The answer that opens a WebSocket (RFC 6455, 1.3). It is implemented again here, because a server must not be tested with its
/// own handshake.
fn switching(key: &str) -> Vec<u8> {
    let known = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = encode_block(&sha1(known.as_bytes()));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// Bytes that are not a frame: their reserved bits and type are unknown, and their length is invalid (RFC 6455, 5.2).
pub(crate) fn garbage() -> Vec<u8> {
    vec![0xff; GARBAGE_BYTES]
}

/// The single WebSocket of an HTTP/1.1 connection. It sends garbage if it `babbles`.
pub(crate) fn over_http_1(asked: Asked<'_>, babbles: bool) -> Repeating {
    let Asked { authority, path } = asked;
    let first = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let again = if babbles { garbage() } else { Vec::new() };
    tunnels(HTTP_1, first.into_bytes(), again)
}

/// This number of WebSockets on one HTTP/2 connection (RFC 8441, 4).
pub(crate) fn over_http_2(asked: Asked<'_>, count: u32, babbles: bool) -> Repeating {
    let connect = [
        text(&[0x02], "CONNECT"),
        text(&[&[0x00, 9][..], b":protocol"].concat(), "websocket"),
        vec![0x87],
        text(&[0x01], asked.authority),
        text(&[0x04], asked.path),
    ];
    let connect = connect.concat();
    let streams = (0..count).map(|it| 2 * it + 1);
    let requests = streams.clone().map(|it| frame(HEADERS, END_HEADERS, it, &connect));
    let first = [preface(), requests.collect::<Vec<_>>().concat()].concat();
    let again = if babbles {
        streams.map(|it| frame(DATA, 0, it, &garbage())).collect::<Vec<_>>().concat()
    } else {
        Vec::new()
    };
    tunnels(HTTP_2, first, again)
}

fn tunnels(protocol: &'static [u8], first: Vec<u8>, again: Vec<u8>) -> Repeating {
    let (next, every) = (GARBAGE_EACH, GARBAGE_EACH);
    Repeating { protocol: Some(protocol), first, again, next, every }
}

/// A frame type (RFC 9113, 6.1).
const DATA: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::over_tcp::TcpScript as _;
    use std::time::Duration;

    const ASKED: Asked<'_> = Asked { authority: "a", path: "/" };

    #[test]
    fn a_backend_answers_the_key_of_rfc_6455_and_files_otherwise() {
        let key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let asked = &*format!("GET / HTTP/1.1\r\nUpgrade: websocket\r\n{key}\r\n");
        let (said, then, is_tunnel) = reply(asked, Talk::Garbage);
        let said = String::from_utf8(said).expect("text");
        assert!(said.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert_eq!((then, is_tunnel), (Then::Babble, true));
        assert_eq!(reply(asked, Talk::Silence), (Vec::new(), Then::Read, true));
        let without_switch = format!("GET / HTTP/1.1\r\n{key}\r\n");
        let (said, then, is_tunnel) = reply(&without_switch, Talk::Silence);
        assert!(said.starts_with(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nxx"));
        assert_eq!((then, is_tunnel), (Then::Next, false));
    }

    #[test]
    fn tunnels_of_http_2_are_extended_connects_and_their_garbage_is_data() {
        let mut script = over_http_2(ASKED, 2, true);
        let first = script.next(Duration::ZERO);
        let head = b"\x02\x07CONNECT\x00\x09:protocol\x09websocket\x87\x01\x01a\x04\x01/";
        let asked = |stream: u8| [&[0, 0, 37, 1, 4, 0, 0, 0, stream][..], head].concat();
        assert!(first.ends_with(&[asked(1), asked(3)].concat()), "{first:?}");
        assert_eq!(script.next(GARBAGE_EACH / 2), b"");
        let said = script.next(GARBAGE_EACH);
        assert_eq!(said.len(), 2 * (9 + GARBAGE_BYTES));
        assert_eq!(said[..9], [0, 4, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(script.next(GARBAGE_EACH), b"");
    }
}
