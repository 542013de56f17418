//! Trailer fields on their way through the server, in all versions of HTTP.

use super::backends::before;
use super::bytes;
use super::clients::fetch_1;
use crate::backend::{self, Talk};
use crate::fetch::{Ask, Fetched};

/// A response with trailer fields that must not be forwarded.
const TRAILED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\n\
                       X-Sum: 7\r\nContent-Length: 99\r\nConnection: close\r\n\r\n";

fn trailers(got: &Fetched) -> String {
    let lines = got.trailers.iter().map(|(name, value)| format!("{name}: {value}"));
    lines.collect::<Vec<_>>().join(", ")
}

#[test]
fn trailers_of_a_response_reach_every_client_that_takes_them() {
    let server = before(|_, stream| backend::say(stream, TRAILED));
    for got in server.ask(&Ask::get("/").with("te", "trailers")) {
        assert_eq!((got.status, got.body.as_slice(), got.finished), (200, &b"hello"[..], true));
        assert_eq!((got.field("trailer"), trailers(&got).as_str()), (Some("X-Sum"), "x-sum: 7"));
    }
}

#[test]
fn a_client_of_http_1_that_does_not_ask_for_trailers_gets_none_9110_6_5_1() {
    let server = before(|_, stream| backend::say(stream, TRAILED));
    let [third, second, first] = server.ask(&Ask::get("/"));
    assert_eq!([trailers(&third), trailers(&second)], ["x-sum: 7", "x-sum: 7"]);
    assert_eq!((trailers(&first).as_str(), first.finished), ("", true));
}

#[test]
fn a_response_without_a_body_has_no_trailers() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTrailer: X-Sum\r\n\r\n");
    };
    let server = before(talk);
    let ask = Ask { method: "HEAD", ..Ask::get("/").with("te", "trailers") };
    for got in server.ask(&ask) {
        assert_eq!((got.status, got.finished, trailers(&got).as_str()), (200, true, ""));
    }
}

/// Answers with the length of a request's body, and its trailers.
fn told(head: &str, stream: &mut std::net::TcpStream) {
    let (body, trailers) = backend::body_and_trailers(head, stream);
    backend::respond(stream, format!("{} {trailers}", body.len()).as_bytes());
}

/// The chunks of a body of HTTP/1.1, with these lines behind them.
fn chunked(body: &[u8], trailers: &str) -> Vec<u8> {
    let size = format!("{:x}\r\n", body.len());
    [size.as_bytes(), body, b"\r\n0\r\n", trailers.as_bytes(), b"\r\n"].concat()
}

#[test]
fn trailers_of_a_request_reach_the_backend_whether_it_is_here_wholly_or_not() {
    let server = before(told);
    for count in [5, 200_000] {
        let body = bytes(count);
        let post = Ask { method: "POST", ..Ask::get("/").with("trailer", "x-sum") };
        let fields = ["x-sum", "x-forwarded-for", "content-type"].map(|it| (it, "7".to_owned()));
        let said = "x-sum: 7\r\nx-forwarded-for: 7\r\ncontent-type: 7\r\n";
        let old = Ask { body: chunked(&body, said), ..post.clone() };
        let [third, second, _] = server.ask(&Ask { body, trailers: fields.to_vec(), ..post });
        let first = fetch_1(server.address, &old.with("transfer-encoding", "chunked"));
        for got in [third, second, first] {
            assert_eq!(got.status, 200);
            assert_eq!(String::from_utf8_lossy(&got.body), format!("{count} x-sum: 7"));
        }
    }
}

#[test]
fn trailers_of_a_request_that_are_too_large_are_refused() {
    let server = before(told);
    let post = Ask { method: "POST", ..Ask::get("/") };
    let large = "a".repeat(17_000);
    let old = chunked(b"hello", &format!("x: {large}\r\n"));
    let old = Ask { body: old, ..post.clone() }.with("transfer-encoding", "chunked");
    let new = Ask { body: b"hello".to_vec(), trailers: vec![("x", large)], ..post };
    let [third, second, _] = server.ask(&new);
    let first = fetch_1(server.address, &old);
    assert_eq!([third.status, second.status, first.status], [413, 413, 400]);
}
