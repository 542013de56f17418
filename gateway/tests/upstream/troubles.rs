//! A backend that is slow, absent, or wrong.

use crate::backend::{self, Backend, Talk};
use crate::fetch::{Ask, Fetched, fetch};
use crate::{Proxy, through};
use gateway::UpstreamLimits;
use std::time::Duration;

const INTERNAL_ERROR: u64 = 0x102;

/// What a client gets, and the reported troubles.
fn told(talk: Talk, limits: &UpstreamLimits) -> (Fetched, String) {
    let backend = Backend::start(talk);
    let proxy = Proxy::start(backend.address, limits, Vec::new());
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    (got, proxy.told())
}

/// Keeps the connection open and answers nothing.
fn silence(stream: &mut std::net::TcpStream) {
    std::io::copy(stream, &mut std::io::sink()).ok();
}

/// Row of docs/serve-backend.md, the backend | the client gets: cannot be reached, is not trusted, or does not send HTTP | 502.
#[test]
fn an_unreachable_backend_is_a_502() {
    let proxy = Proxy::start(backend::nobody(), &UpstreamLimits::default(), Vec::new());
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.finished), (502, true));
    assert!(proxy.told().contains("GET /a: cannot be reached"), "{}", proxy.told());
}

/// Row of docs/serve-backend.md, the backend | the client gets: does not connect within 5 s, or does not answer within 20 s |
/// 504.
#[test]
fn a_backend_that_does_not_answer_in_time_is_a_504() {
    let limits = UpstreamLimits { answer: Duration::from_millis(50), ..UpstreamLimits::default() };
    let (got, told) = told(|_, stream| silence(stream), &limits);
    assert_eq!((got.status, got.finished), (504, true));
    assert!(told.contains("GET /a: too slow"), "{told}");
}

/// RFC 9114, 4.5. Server: no response has status 101; from a backend it is a 502.
#[test]
fn anything_but_a_response_is_a_502() {
    let answers: [Talk; 7] = [
        |_, stream| backend::hang_up(stream),
        |_, stream| {
            backend::say(stream, "complete nonsense\r\n\r\n");
            backend::hang_up(stream);
        },
        |_, stream| {
            backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Len");
            backend::hang_up(stream);
        },
        |_, stream| {
            backend::say(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            );
        },
        |_, stream| backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"),
        |_, stream| backend::say(stream, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        |_, stream| {
            backend::say_bytes(stream, b"HTTP/1.1 200 OK\r\nA\0B: 1\r\nContent-Length: 0\r\n\r\n");
        },
    ];
    for (place, talk) in answers.into_iter().enumerate() {
        let (got, told) = told(talk, &UpstreamLimits::default());
        assert_eq!((got.status, got.finished), (502, true), "answer {place}");
        assert!(told.contains("GET /a: not a proper response"), "answer {place}: {told}");
    }
}

/// Row of docs/serve-backend.md, the backend | the client gets: sends a head of more than 64 KiB or 1000 fields, more than 16
/// interim responses, or an unknown transfer coding | 502.
#[test]
fn endless_heads_are_cut_off() {
    let lines: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\n");
        while std::io::Write::write_all(stream, b"X-More: and more\r\n").is_ok() {}
    };
    let line: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nX-Long: ");
        while std::io::Write::write_all(stream, &[b'a'; 1000]).is_ok() {}
    };
    for talk in [lines, line] {
        let (got, told) = told(talk, &UpstreamLimits::default());
        assert_eq!((got.status, got.finished), (502, true));
        assert!(told.contains("not a proper response"), "{told}");
    }
}

/// A response whose head has as many fields as its path states.
fn many_fields(head: &str, stream: &mut std::net::TcpStream) {
    let count = head.split(['/', ' ']).nth(2).and_then(|it| it.parse().ok()).unwrap_or(1);
    let fields = "X-More: 1\r\n".repeat(count - 1);
    backend::say(stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{fields}\r\n"));
}

#[test]
fn a_head_has_at_most_1000_fields() {
    for (path, status) in [("/120", 200), ("/1000", 200), ("/1001", 502), ("/1100", 502)] {
        let got = through(many_fields, Ask::get(path));
        assert_eq!((got.status, got.finished), (status, true), "{path}");
    }
}

/// A response whose fields have as many bytes as its path states.
fn long_field(head: &str, stream: &mut std::net::TcpStream) {
    let count = head.split(['/', ' ']).nth(2).and_then(|it| it.parse().ok()).unwrap_or(100);
    let length = "Content-Length: 0\r\n";
    let value = "a".repeat(count - length.len() - "X-Long: \r\n".len());
    backend::say(stream, &format!("HTTP/1.1 200 OK\r\n{length}X-Long: {value}\r\n\r\n"));
}

#[test]
fn a_head_has_at_most_64_kib() {
    for (path, status) in [("/60000", 200), ("/65537", 502), ("/100000", 502)] {
        let got = through(long_field, Ask::get(path));
        assert_eq!((got.status, got.finished), (status, true), "{path}");
    }
}

#[test]
fn endless_interim_responses_are_a_502() {
    let talk: Talk = |_, stream| {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";
        while std::io::Write::write_all(stream, hints.as_bytes()).is_ok() {}
    };
    let (got, told) = told(talk, &UpstreamLimits::default());
    assert_eq!((got.status, got.finished), (502, true));
    assert!(told.contains("more than 16 interim responses"), "{told}");
}

/// Row of docs/serve-backend.md, the backend | the client gets: disconnects, makes no progress for 25 s (neither reading the
/// request nor sending), or sends fewer bytes than announced or more than 16 KiB of trailers | the bytes that arrived, and then
/// a reset stream, `H3_INTERNAL_ERROR`.
/// RFC 9114, 4.1.2. Server: a backend's response with other content than announced never ends cleanly.
#[test]
fn a_response_that_breaks_off_never_ends_cleanly() {
    let answers: [Talk; 3] = [
        |_, stream| {
            backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
            backend::hang_up(stream);
        },
        |_, stream| {
            backend::say(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            );
            backend::hang_up(stream);
        },
        |_, stream| {
            backend::say(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
            );
        },
    ];
    for (place, talk) in answers.into_iter().enumerate() {
        let (got, told) = told(talk, &UpstreamLimits::default());
        assert_eq!((got.finished, got.reset), (false, Some(INTERNAL_ERROR)), "answer {place}");
        assert!(told.contains("GET /a: not a proper response"), "answer {place}: {told}");
    }
}

#[test]
fn a_stalled_response_is_aborted() {
    let short = Duration::from_millis(50);
    let limits = UpstreamLimits { answer: short, idle: short, ..UpstreamLimits::default() };
    let (got, told) = told(
        |_, stream| {
            backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
            silence(stream);
        },
        &limits,
    );
    assert_eq!((got.finished, got.reset), (false, Some(INTERNAL_ERROR)));
    assert!(told.contains("too slow"), "{told}");
}

#[test]
fn endless_trailers_are_cut_off() {
    let talk: Talk = |_, stream| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n";
        backend::say(stream, head);
        let trailers = b"X-More: and more\r\n".repeat(100);
        while std::io::Write::write_all(stream, &trailers).is_ok() {}
    };
    let (got, told) = told(talk, &UpstreamLimits::default());
    assert_eq!((got.finished, got.reset), (false, Some(INTERNAL_ERROR)));
    assert!(told.contains("not a proper response"), "{told}");
}

#[test]
fn an_unknown_transfer_coding_is_a_502() {
    let talk: Talk = |_, stream| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n";
        backend::say(stream, &format!("{head}2\r\nab\r\n0\r\n\r\n"));
    };
    let (got, told) = told(talk, &UpstreamLimits::default());
    assert_eq!((got.status, got.finished), (502, true));
    assert!(told.contains("a transfer coding other than chunked"), "{told}");
}

/// Row of docs/serve-backend.md, the backend | the client gets: sends more bytes than announced | the announced bytes.
/// RFC 9114, 4.1.2. Server: a backend's response with other content than announced never ends cleanly.
#[test]
fn more_than_the_announced_length_is_not_passed_on() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and much more");
    };
    let got = through(talk, Ask::get("/"));
    assert_eq!((got.body.as_slice(), got.finished), (&b"hello"[..], true));
}

/// Row of docs/serve-backend.md, the backend | the client gets: has no free slot within 4 s, or too many requests wait | 503,
/// `Retry-After: 1`.
#[test]
fn requests_beyond_the_queue_are_a_503() {
    let backend = Backend::start(|_, stream| silence(stream));
    let limits = UpstreamLimits {
        requests: 1,
        waiting: 1,
        answer: Duration::from_millis(200),
        ..UpstreamLimits::default()
    };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let asks = vec![Ask::get("/a"); 12];
    let mut statuses: Vec<u16> =
        fetch(proxy.address, &asks, 0).iter().map(|it| it.status).collect();
    statuses.sort_unstable();
    // Whether the worker took the first before the second came is chance.
    assert!(statuses[..10].iter().all(|it| *it == 503), "{statuses:?}");
    assert_eq!(statuses[11], 504);
}

#[test]
fn cookies_as_large_as_the_server_takes_reach_the_backend() {
    let talk: Talk = |head, stream| {
        let cookie = head.lines().find_map(|it| it.strip_prefix("cookie: ")).unwrap_or_default();
        backend::respond(stream, cookie.len().to_string().as_bytes());
    };
    let got = through(talk, Ask::get("/").with("cookie", &"a=b; ".repeat(13_000)));
    assert_eq!((got.status, got.body.as_slice()), (200, &b"65000"[..]));
}

#[test]
fn a_method_that_is_not_passed_on_is_a_501() {
    let talk: Talk = |_, stream| backend::respond(stream, b"");
    assert_eq!(through(talk, Ask { method: "TRACE", ..Ask::get("/") }).status, 501);
}

/// Answers the first request on a connection and closes it at the second.
fn once(head: &str, stream: &mut std::net::TcpStream) {
    thread_local! {
        static ANSWERED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }
    if head.starts_with("POST") {
        backend::body(head, stream);
    }
    if ANSWERED.replace(true) {
        backend::hang_up(stream);
    } else {
        backend::respond(stream, b"here");
    }
}

#[test]
fn a_get_is_repeated_after_a_kept_connection_turns_out_to_be_closed_and_a_post_is_not() {
    let backend = Backend::start(once);
    let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), Vec::new());
    let post = Ask { method: "POST", body: b"x".to_vec(), ..Ask::get("/a") };
    let asks = [Ask::get("/a"), Ask::get("/a"), post];
    let status = |ask: &Ask| fetch(proxy.address, std::slice::from_ref(ask), 0)[0].status;
    assert_eq!(asks.each_ref().map(status), [200, 200, 502]);
    assert_eq!(backend.connections(), 2);
}
