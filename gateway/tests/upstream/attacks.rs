//! Clients that try to take the backend from others, or to deceive it.

use crate::backend::{self, Backend};
use crate::fetch::{Ask, fetch, hold, hold_from};
use crate::{Proxy, sums, through};
use gateway::UpstreamLimits;
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(50);
const MESSAGE_ERROR: u64 = 0x10e;

/// Limits that give nobody up.
fn patient() -> UpstreamLimits {
    UpstreamLimits {
        queue: NEVER,
        answer: NEVER,
        idle: NEVER,
        unread: NEVER,
        ..UpstreamLimits::default()
    }
}

/// More than all buffers for `/large`, nothing for `/silent`, otherwise a word.
fn talk(head: &str, stream: &mut TcpStream) {
    if head.starts_with("GET /large") {
        backend::respond(stream, &vec![7; 20_000_000]);
    } else if head.starts_with("GET /silent") {
        std::io::copy(stream, &mut std::io::sink()).ok();
    } else {
        backend::respond(stream, b"here");
    }
}

fn unread(path: &str) -> Ask {
    Ask { reads: false, ..Ask::get(path) }
}

/// A request whose body has begun and does not end.
fn unfinished(body_bytes: usize) -> Ask {
    Ask { method: "POST", body: vec![7; body_bytes], ends: false, ..Ask::get("/") }
}

#[test]
fn uploads_that_do_not_go_on_have_places_of_their_own() {
    let backend = Backend::start(|head, stream| {
        if head.starts_with("POST") {
            backend::body(head, stream);
        }
        backend::respond(stream, b"here");
    });
    // None of them steps aside after a second.
    let limits = UpstreamLimits { slow: 0, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let slow = Ask { reads: false, ..unfinished(1000) };
    let _attacker = hold(proxy.address, &vec![slow; 64]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
    // Half of 64 places, and one for the request.
    assert!(backend.connections() <= 33, "{}", backend.connections());
}

#[test]
fn uploads_that_stop_after_64_kib_take_at_most_half_of_the_backend() {
    let backend = Backend::start(|head, stream| {
        if head.starts_with("POST") {
            backend::body(head, stream);
        }
        backend::respond(stream, b"here");
    });
    let proxy = Proxy::start(backend.address, &patient(), Vec::new());
    // Eleven fill the window of the attacker's connection.
    let slow = Ask { reads: false, ..unfinished(80_000) };
    let limits = UpstreamLimits { requests: 8, ..patient() };
    let narrow = Proxy::start(backend.address, &limits, Vec::new());
    for proxy in [proxy, narrow] {
        let _attacker = hold(proxy.address, &vec![slow.clone(); 11]);
        let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
        assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
    }
}

/// An endless event stream, a late answer, or a word.
fn slow_talk(head: &str, stream: &mut TcpStream) {
    if head.starts_with("GET /events") {
        backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
        backend::say(stream, "Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n");
        return talk("GET /silent", stream);
    }
    talk(head, stream);
}

#[test]
fn event_streams_long_polls_and_slow_readers_of_40_clients_leave_a_visitor_a_place() {
    for path in ["/events", "/silent", "/large"] {
        let backend = Backend::start(slow_talk);
        let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), Vec::new());
        let from = |it| hold_from([127, 0, 1, it], proxy.address, &[unread(path), unread(path)]);
        let guests: Vec<_> = (1..=40).map(from).collect();
        let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
        assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]), "{path}");
        drop(guests);
    }
}

/// Three hundred and twenty streams: five times as many as there are places.
#[test]
fn event_streams_of_40_clients_all_begin_and_leave_a_visitor_a_place() {
    let backend = Backend::start(slow_talk);
    let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), Vec::new());
    let from = |it| hold_from([127, 0, 1, it], proxy.address, &vec![unread("/events"); 8]);
    let guests: Vec<_> = (1..=40).map(from).collect();
    for visit in 0.. {
        let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
        assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
        if backend.connections() > 320 {
            break;
        }
        assert!(visit < 1000, "{} streams have begun", backend.connections());
    }
    drop(guests);
}

/// Six clients have all four places for long, and nothing steps aside.
#[test]
fn a_visitor_goes_before_slow_responses_that_have_all_places() {
    for path in ["/events", "/silent", "/large"] {
        let backend = Backend::start(slow_talk);
        let limits = UpstreamLimits { requests: 4, slow: 0, ..UpstreamLimits::default() };
        let proxy = Proxy::start(backend.address, &limits, Vec::new());
        let from = |it| hold_from([127, 0, 1, it], proxy.address, &[unread(path), unread(path)]);
        let guests: Vec<_> = (1..=6).map(from).collect();
        let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
        assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]), "{path}");
        drop(guests);
    }
}

#[test]
fn slow_responses_beyond_their_places_keep_those_that_they_have() {
    let backend = Backend::start(slow_talk);
    let limits = UpstreamLimits { requests: 4, slow: 4, ..UpstreamLimits::default() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    // Of either kind, one client has half: two that wait, and two that go on.
    let _guest = hold(proxy.address, &vec![unread("/events"); 20]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
    assert!(backend.connections() <= 5, "{}", backend.connections());
}

#[test]
fn responses_that_are_not_read_take_at_most_half_of_the_backend() {
    let backend = Backend::start(talk);
    let proxy = Proxy::start(backend.address, &patient(), Vec::new());
    let _attacker = hold(proxy.address, &vec![unread("/large"); 64]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
}

#[test]
fn a_client_that_does_not_read_gives_its_place_back() {
    let backend = Backend::start(talk);
    let limits = UpstreamLimits { requests: 1, unread: SHORT, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let _attacker = hold(proxy.address, &[unread("/large")]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
}

#[test]
fn a_client_that_goes_away_gives_its_place_back() {
    let backend = Backend::start(talk);
    let limits = UpstreamLimits { requests: 1, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let mut attacker = hold(proxy.address, &[unread("/silent")]);
    attacker.leave();
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
    assert_eq!(proxy.told(), "");
}

#[test]
fn a_request_that_waits_too_long_for_its_turn_is_a_503() {
    let backend = Backend::start(talk);
    let limits = UpstreamLimits { requests: 1, queue: SHORT, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let _first = hold(proxy.address, &[unread("/silent")]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.field("retry-after"), got.finished), (503, Some("1"), true));
    assert!(proxy.told().contains("GET /a: too many requests in progress"), "{}", proxy.told());
}

#[test]
fn an_upload_that_stops_is_a_408() {
    let backend = Backend::start(|head, stream| drop(backend::body(head, stream)));
    let limits = UpstreamLimits { idle: SHORT, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    for body_bytes in [1000, 100_000] {
        let got = fetch(proxy.address, &[unfinished(body_bytes)], 0).remove(0);
        assert_eq!((got.status, got.finished), (408, true), "{body_bytes}");
    }
    assert_eq!(proxy.told(), "");
}

#[test]
fn a_call_in_which_neither_end_sends_anything_ends() {
    let backend = Backend::start(|_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        std::io::copy(stream, &mut std::io::sink()).ok();
    });
    let limits = UpstreamLimits { idle: SHORT, ..patient() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let got = fetch(proxy.address, &[unfinished(1000)], 0).remove(0);
    let cancelled = http3::Code::RequestCancelled.value();
    assert_eq!((got.status, got.finished, got.reset), (200, false, Some(cancelled)));
    assert_eq!(proxy.told(), "");
}

/// The lines of the request that the backend gets, sorted.
fn seen(ask: Ask) -> String {
    let got = through(
        |head, stream| {
            let mut lines: Vec<&str> = head.lines().filter(|it| !it.is_empty()).collect();
            lines.sort_unstable();
            backend::respond(stream, lines.join("\n").as_bytes());
        },
        ask,
    );
    format!("{} {}", got.status, String::from_utf8_lossy(&got.body))
}

/// RFC 9114, 4.1.2. Client: sends a malformed request for a backend. Server: the backend does not see it.
#[test]
fn a_field_that_could_pass_for_another_does_not_reach_the_backend() {
    let names = ["x_forwarded_for", "content_length", "transfer_encoding", "x-forwarded-for"];
    let ask = names.iter().fold(Ask::get("/"), |ask, name| ask.with(name, "10.0.0.1"));
    let seen = seen(ask);
    assert!(!seen.contains('_') && !seen.contains("10.0.0.1"), "{seen}");
    assert!(seen.contains("x-forwarded-for: 127.0.0.1\n"), "{seen}");
}

#[test]
fn a_host_field_reaches_the_backend_as_the_host() {
    let ask = Ask { authority: None, ..Ask::get("/") }.with("host", "other.example");
    let seen = seen(ask);
    assert!(seen.contains("\nhost: other.example\n"), "{seen}");
    assert!(seen.contains(";host=\"other.example\";"), "{seen}");
}

/// RFC 9114, 4.1.2. Client: sends a malformed request for a backend. Server: the backend does not see it.
#[test]
fn a_malformed_authority_does_not_reach_the_backend() {
    for authority in ["user@site.example", "site.example/x", "a b", "a\"b", ""] {
        let ask = Ask { authority: Some(authority), ..Ask::get("/") };
        let got = through(|_, stream| backend::respond(stream, b""), ask);
        assert_eq!(got.reset, Some(MESSAGE_ERROR), "{authority}");
    }
}

#[test]
fn the_body_of_a_delete_arrives() {
    for method in ["DELETE", "OPTIONS", "POST"] {
        for length in [None, Some("3")] {
            let ask = Ask { method, body: b"abc".to_vec(), ..Ask::get("/") };
            let got = through(
                sums,
                length.into_iter().fold(ask, |ask, it| ask.with("content-length", it)),
            );
            assert_eq!(String::from_utf8_lossy(&got.body), "3 294", "{method} {length:?}");
        }
    }
    for (method, expected) in [("DELETE", false), ("GET", false), ("POST", true)] {
        let seen = seen(Ask { method, ..Ask::get("/") });
        assert_eq!(seen.contains("content-length: 0"), expected, "{seen}");
        assert!(!seen.contains("transfer-encoding"), "{seen}");
    }
}
