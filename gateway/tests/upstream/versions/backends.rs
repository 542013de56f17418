//! Backends behind HTTP/2 and HTTP/1.1.

use super::clients::{converse_2, fetch_1, fetch_2};
use super::{Serving, bytes};
use crate::backend::{self, Backend, Talk};
use crate::fetch::{Ask, converse};
use gateway::UpstreamLimits;
use gateway::upstream::UpstreamSite;
use std::io::{BufReader, Read, Write};

pub(super) fn before(talk: Talk) -> Serving {
    before_within(talk, &UpstreamLimits::default())
}

pub(super) fn before_within(talk: Talk, limits: &UpstreamLimits) -> Serving {
    let address = format!("http://{}", Backend::start(talk).address).parse().expect("an address");
    let report = std::sync::Arc::new(|_: &str| {});
    let site = UpstreamSite::start(&address, limits, report);
    Serving::start(site.expect("a thread"))
}

#[test]
fn a_backend_learns_by_which_version_its_client_came() {
    let server = before(|head, stream| backend::respond(stream, head.as_bytes()));
    let ask = Ask::get("/a?b").with("accept", "*/*").with("x-forwarded-for", "10.0.0.1");
    for (got, version) in server.ask(&ask).into_iter().zip(["3", "2", "1.1"]) {
        let said = String::from_utf8(got.body).expect("text");
        let mut lines: Vec<&str> = said.trim_end().lines().collect();
        lines[1..].sort_unstable();
        let expected = format!(
            "GET /a?b HTTP/1.1\naccept: */*\nforwarded: for=127.0.0.1;host=\"site.example\";proto=https\n\
             host: site.example\nvia: {version} utmost\nx-forwarded-for: 127.0.0.1\n\
             x-forwarded-host: site.example\nx-forwarded-proto: https"
        );
        assert_eq!(lines.join("\n"), expected);
    }
}

#[test]
fn a_backends_response_with_a_length_is_complete_in_the_log_of_every_version() {
    let server = before(|_, stream| backend::respond(stream, b"abc"));
    for got in server.ask(&Ask::get("/")) {
        assert_eq!(got.body, b"abc");
    }
    let answered = server.events.answered();
    let log: Vec<_> = answered.iter().map(|it| (it.bytes, it.is_complete)).collect();
    assert_eq!(log, [(3, true); 3]);
}

#[test]
fn an_upload_larger_than_every_buffer_arrives_whole() {
    let server = before(crate::sums);
    let body = bytes(3_000_000);
    let sum: u64 = body.iter().map(|it| u64::from(*it)).sum();
    let ask = Ask { method: "POST", body, ..Ask::get("/") };
    for got in server.ask(&ask) {
        assert_eq!(got.status, 200);
        assert_eq!(String::from_utf8_lossy(&got.body), format!("3000000 {sum}"));
    }
}

/// Answers at once, and echoes the chunks of the request's body as they arrive.
fn take_turns(_: &str, stream: &mut std::net::TcpStream) {
    backend::say(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        backend::say_bytes(stream, &buffer[..count]);
        if buffer[..count].ends_with(b"0\r\n\r\n") {
            return;
        }
    }
}

/// As in a call of gRPC whose two sides take turns.
#[test]
fn a_client_that_waits_for_an_answer_before_it_sends_more_gets_it() {
    let server = before(take_turns);
    let ask = Ask { method: "POST", ends: false, ..Ask::get("/") };
    let said = [&b"one"[..], b"two", b"three"];
    for got in [converse(server.address, &ask, &said), converse_2(server.address, &ask, &said)] {
        assert_eq!(
            (got.status, got.body.as_slice(), got.finished),
            (200, &b"onetwothree"[..], true)
        );
    }
}

#[test]
fn an_upload_that_is_too_large_is_refused_before_its_body_if_it_says_so() {
    let limits = UpstreamLimits { upload_bytes: 1000, ..UpstreamLimits::default() };
    let server = before_within(crate::sums, &limits);
    let post = Ask { method: "POST", ..Ask::get("/") };
    // Nothing of the body comes.
    let announced = Ask { ends: false, ..post.clone().with("content-length", "1001") };
    let with = |bytes| Ask { body: bytes, ..post.clone() };
    for got in server.ask(&announced) {
        assert_eq!((got.status, got.body.len()), (413, 0));
    }
    for got in server.ask(&with(vec![1; 1000])) {
        assert_eq!((got.status, got.body.as_slice()), (200, &b"1000 1000"[..]));
    }
    // Over HTTP/2 and HTTP/3 it does not say its length.
    let [third, second, _] = server.ask(&with(vec![1; 1001]));
    assert_eq!([third.status, second.status], [413, 413]);
}

#[test]
fn a_malformed_body_is_refused_at_once() {
    let server = before(crate::sums);
    let mut stream = super::clients::secure(server.address);
    let chunked =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n";
    stream.write_all(chunked.as_bytes()).expect("sent");
    let mut stream = BufReader::new(stream);
    assert_eq!(super::clients::response(&mut stream, "POST").status, 400);
    assert_eq!(super::clients::rest(&mut stream), b"");
}

#[test]
fn a_transfer_coding_that_would_be_passed_on_is_refused() {
    let server = before(crate::sums);
    let ask = Ask { method: "POST", body: b"1\r\na\r\n0\r\n\r\n".to_vec(), ..Ask::get("/") };
    let coded = |coding| fetch_1(server.address, &ask.clone().with("transfer-encoding", coding));
    assert_eq!(coded("chunked").body, b"1 97");
    assert_eq!(coded("gzip, chunked").status, 501);
}

#[test]
fn a_body_without_a_length_arrives_whole_and_a_part_does_not_look_like_it() {
    let talk: Talk = |head, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for piece in 0..100_u8 {
            backend::say(stream, "3e8\r\n");
            backend::say_bytes(stream, &[piece; 1000]);
            backend::say(stream, "\r\n");
        }
        if head.starts_with("GET /broken") {
            return backend::hang_up(stream);
        }
        backend::say(stream, "0\r\n\r\n");
    };
    let server = before(talk);
    let expected: Vec<u8> = (0..100_u8).flat_map(|it| [it; 1000]).collect();
    for got in server.ask(&Ask::get("/")) {
        assert!(got.finished && got.body == expected, "{} bytes", got.body.len());
    }
    for got in server.ask(&Ask::get("/broken")) {
        assert!(!got.finished && got.status == 200, "{} bytes", got.body.len());
    }
}

#[test]
fn early_hints_go_on_over_http_2_and_stop_before_http_1() {
    let talk: Talk = |_, stream| {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\n\r\n";
        backend::say(stream, hints);
        backend::respond(stream, b"hello");
    };
    let server = before(talk);
    let ask = Ask::get("/").with("sec-fetch-mode", "navigate").with("sec-fetch-dest", "document");
    let [third, second, first] = server.ask(&ask);
    assert_eq!(second.hints, ["</a.css>; rel=preload; as=style"]);
    assert_eq!(third.hints, second.hints);
    assert_eq!((first.status, first.body.as_slice()), (200, &b"hello"[..]));
}

/// Searches of some programs, such as Elasticsearch, are such requests.
#[test]
fn the_body_of_any_method_is_passed_on_and_a_backend_that_may_not_have_read_it_gets_no_more() {
    let backend = Backend::start(|head, stream| {
        let body = backend::body(head, stream);
        let text = format!("{} {}", head.split(' ').next().unwrap_or_default(), body.len());
        backend::respond(stream, text.as_bytes());
    });
    let address = format!("http://{}", backend.address).parse().expect("an address");
    let limits = UpstreamLimits::default();
    let site = UpstreamSite::start(&address, &limits, std::sync::Arc::new(|_: &str| {}));
    let server = Serving::start(site.expect("a thread"));
    for method in ["DELETE", "OPTIONS", "GET"] {
        let ask = Ask { method, body: vec![7; 100_000], ..Ask::get("/") };
        for got in server.ask(&ask) {
            assert_eq!(String::from_utf8_lossy(&got.body), format!("{method} 100000"));
        }
    }
    // Three requests in turn of two methods, and then one connection for each.
    assert_eq!(backend.connections(), 1 + 2);
    let chunked = Ask { body: b"3\r\nabc\r\n0\r\n\r\n".to_vec(), ..Ask::get("/") };
    let got = fetch_1(server.address, &chunked.with("transfer-encoding", "chunked"));
    assert_eq!(String::from_utf8_lossy(&got.body), "GET 3");
}

#[test]
fn a_backend_may_send_a_hundred_and_twenty_fields() {
    let server = before(|_, stream| {
        let fields = (0..120).map(|it| format!("x-{it}: {it}\r\n")).collect::<Vec<_>>().concat();
        backend::say(stream, &format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n"));
    });
    for got in server.ask(&Ask::get("/")) {
        assert_eq!((got.status, got.field("x-119")), (200, Some("119")));
    }
}

#[test]
fn what_came_before_a_backend_breaks_off_arrives_before_the_reset() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello");
        backend::hang_up(stream);
    };
    let server = before(talk);
    let got = server.ask(&Ask::get("/"));
    let got =
        got.map(|it| (it.status, String::from_utf8_lossy(&it.body).into_owned(), it.finished));
    assert_eq!(got, [(); 3].map(|()| (200, "hello".to_owned(), false)));
}

#[test]
fn a_backend_gets_a_path_without_dot_segments_and_otherwise_as_it_was_sent() {
    let server = before(|head, stream| {
        backend::respond(stream, head.split(' ').nth(1).unwrap_or_default().as_bytes());
    });
    for (path, expected) in [
        ("//a.txt", "//a.txt"),
        ("/sub/../a.txt?x", "/a.txt?x"),
        ("/./a%2fb", "/a/b"),
        ("/%2e%2e/a", "400"),
        ("/caf\u{e9}?{\u{e9}}", "/caf\u{e9}?{\u{e9}}"),
    ] {
        for got in server.ask(&Ask::get(path)) {
            let said = match got.status {
                200 => String::from_utf8(got.body).expect("text"),
                status => status.to_string(),
            };
            assert_eq!(said, expected, "{path}");
        }
    }
}

#[test]
fn errors_of_a_backend_are_the_same_in_all_versions() {
    let server = before(|_, stream| backend::hang_up(stream));
    for got in server.ask(&Ask::get("/")) {
        assert_eq!((got.status, got.body.len(), got.finished), (502, 0, true));
    }
    for got in server.ask(&Ask { method: "TRACE", ..Ask::get("/") }) {
        assert_eq!(got.status, 501);
    }
}

#[test]
fn a_request_that_is_taken_back_is_no_trouble_for_the_next() {
    let talk: Talk = |head, stream| {
        if head.starts_with("GET /never") {
            // Ends when the server closes.
            return drop(backend::body("content-length: 1", stream));
        }
        backend::respond(stream, b"hello");
    };
    let server = before(talk);
    let got = super::clients::over_2(server.address, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        for _ in 0..50 {
            let head = super::clients::head_2(&Ask::get("/never"));
            let (response, mut stream) = sender.send_request(head, true).expect("sent");
            stream.send_reset(h2::Reason::CANCEL);
            drop(response);
            sender = sender.ready().await.expect("ready");
        }
        let (response, _) =
            sender.send_request(super::clients::head_2(&Ask::get("/")), true).expect("sent");
        response.await.map(|it| it.status().as_u16())
    });
    assert_eq!(got.expect("a response"), 200);
    assert_eq!(fetch_1(server.address, &Ask::get("/")).body, b"hello");
    assert_eq!(fetch_2(server.address, &[Ask::get("/")])[0].body, b"hello");
}
