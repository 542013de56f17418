//! A backend that sends whatever a test requires, right or wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers one request; the first argument is its head.
pub(crate) type Talk = fn(&str, &mut TcpStream);

/// Listens until the test ends.
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Backend {
    pub(crate) fn start(talk: Talk) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || serve(stream, talk));
            }
        });
        Self { address, connections }
    }

    /// How many connections it got.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// An address at which no server listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port")
}

fn serve(mut stream: TcpStream, talk: Talk) {
    while let Some(head) = head(&stream) {
        talk(&head, &mut stream);
    }
}

/// Reads byte by byte, so that a body stays unread.
fn head(stream: &TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    let mut stream = stream;
    while stream.read_exact(&mut byte).is_ok() {
        head.extend(byte);
        if head.ends_with(b"\r\n\r\n") {
            return String::from_utf8(head).ok();
        }
    }
    None
}

/// Reads the body of the request with this head.
pub(crate) fn body(head: &str, stream: &TcpStream) -> Vec<u8> {
    body_and_trailers(head, stream).0
}

/// The same, with the lines after it.
pub(crate) fn body_and_trailers(head: &str, stream: &TcpStream) -> (Vec<u8>, String) {
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
    let mut reader = BufReader::new(stream);
    let mut body = Vec::new();
    if let Some(length) = length.and_then(|it| it.parse().ok()) {
        reader.take(length).read_to_end(&mut body).expect("whole");
        return (body, String::new());
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a chunk's size");
        let bytes = u64::from_str_radix(line.trim(), 16).expect("hexadecimal");
        if bytes == 0 {
            let lines = reader.lines().map_while(Result::ok).take_while(|it| !it.is_empty());
            return (body, lines.collect::<Vec<_>>().join("\n"));
        }
        reader.by_ref().take(bytes).read_to_end(&mut body).expect("whole");
        reader.read_line(&mut line).expect("a line's end");
    }
}

/// A response of known length.
pub(crate) fn respond(stream: &mut TcpStream, body: &[u8]) {
    say(stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()));
    say_bytes(stream, body);
}

pub(crate) fn say(stream: &mut TcpStream, text: &str) {
    say_bytes(stream, text.as_bytes());
}

/// Writes as much as the other side takes.
pub(crate) fn say_bytes(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).ok();
}

/// Ends the connection, with the request's body unread or not.
pub(crate) fn hang_up(stream: &TcpStream) {
    stream.shutdown(std::net::Shutdown::Both).ok();
}
