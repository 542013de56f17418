//! Real loopback sockets: our server in front of a small backend, and small clients of all versions of HTTP.

mod attacks;
mod backend;
mod early_data;
mod fetch;
mod pushes;
mod secure;
mod troubles;
mod versions;

use backend::{Backend, Talk};
use fetch::{Ask, Fetched, fetch};
use gateway::UpstreamLimits;
use gateway::site::{Rule, RuledSite};
use gateway::upstream::{Address, Report, UpstreamSite};
use schedulers::find_scheme;
use server::event_loop::{EventLoop, Stop};
use server::{Identity, Limits, Options, Server};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Our server in front of a backend; it stops when dropped.
struct Proxy {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    /// The reported troubles.
    told: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(backend: SocketAddr, limits: &UpstreamLimits, rules: Vec<Rule>) -> Self {
        let address = format!("http://{backend}").parse().expect("an address");
        Self::of(&address, limits, rules)
    }

    fn of(backend: &Address, limits: &UpstreamLimits, rules: Vec<Rule>) -> Self {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let tell = Arc::clone(&told);
        let report: Report = Arc::new(move |line| tell.lock().expect("whole").push(line.into()));
        let site = UpstreamSite::start(backend, limits, report).expect("a thread");
        let site = RuledSite::new(site, rules);
        let mut event_loop =
            EventLoop::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let address = event_loop.local_addr().expect("bound");
        let limits = Limits { drain: Duration::ZERO, ..Limits::default() };
        let options = Options {
            limits,
            early_data: true,
            websockets: backend.takes_websockets(),
            ..Options::new(find_scheme("rfc9218").expect("known"))
        };
        let identity = Identity::self_signed().expect("a certificate");
        let mut server = Server::new(address, &identity, site, options).expect("a server");
        let stop = event_loop.stopper();
        let thread = std::thread::spawn(move || {
            event_loop.run(&mut server).expect("no socket error");
        });
        Self { address, stop, thread: Some(thread), told }
    }

    fn told(&self) -> String {
        self.told.lock().expect("whole").join("\n")
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

/// What a client gets for one request through the proxy.
fn through(talk: Talk, ask: Ask) -> Fetched {
    let backend = Backend::start(talk);
    let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), Vec::new());
    fetch(proxy.address, &[ask], 0).remove(0)
}

#[test]
fn a_response_passes_without_its_hop_by_hop_fields() {
    let talk: Talk = |_, stream| {
        backend::say(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nETag: \"1\"\r\nConnection: keep-alive, x-hop\r\n\
             X-Hop: 1\r\nKeep-Alive: timeout=5\r\nServer: other\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nhello",
        );
    };
    let got = through(talk, Ask::get("/"));
    assert_eq!((got.status, got.body.as_slice(), got.finished), (200, &b"hello"[..], true));
    let expected = "content-length: 5\ncontent-type: text/plain\netag: \"1\"\nserver: utmost\nset-cookie: a=1\nset-cookie: b=2\n\
                    via: 1.1 utmost";
    assert_eq!(got.fields(), expected);
}

#[test]
fn the_operators_fields_replace_those_of_the_backend_and_are_on_errors_too() {
    let headers = server::site::fields::fields([("x-mine", "2"), ("set-cookie", "b=2")]);
    let rule = Rule { path: "/*".to_owned(), headers: Some(headers), ..Rule::default() };
    let backend = Backend::start(|head, stream| {
        if head.starts_with("GET /broken") {
            return backend::hang_up(stream);
        }
        backend::say(
            stream,
            "HTTP/1.1 200 OK\r\nX-Mine: 1\r\nSet-Cookie: a=1\r\nContent-Length: 1\r\n\r\nx",
        );
    });
    let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), vec![rule]);
    let got = fetch(proxy.address, &[Ask::get("/"), Ask::get("/broken")], 0);
    let expected = "content-length: 1\nserver: utmost\nset-cookie: a=1\nset-cookie: b=2\nvia: 1.1 utmost\nx-mine: 2";
    assert_eq!((got[0].status, got[0].fields().as_str()), (200, expected));
    assert_eq!((got[1].status, got[1].field("x-mine")), (502, Some("2")));
}

#[test]
fn a_request_reaches_the_backend_with_the_host_that_was_asked_for() {
    let talk: Talk = |head, stream| {
        let lines: Vec<String> =
            head.lines().filter(|it| !it.is_empty()).map(str::to_owned).collect();
        backend::respond(stream, lines.join("\n").as_bytes());
    };
    let ask = Ask::get("/a?b=c").with("cookie", "x=1").with("accept", "*/*").with("te", "trailers");
    let got = through(talk, ask);
    let mut lines: Vec<String> =
        String::from_utf8_lossy(&got.body).lines().map(str::to_owned).collect();
    lines[1..].sort();
    let expected = "GET /a?b=c HTTP/1.1\naccept: */*\nconnection: te\ncookie: x=1\nforwarded: for=127.0.0.1;host=\"site.example\";proto=https\n\
                    host: site.example\nte: trailers\nvia: 3 utmost\nx-forwarded-for: 127.0.0.1\nx-forwarded-host: site.example\n\
                    x-forwarded-proto: https";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn a_body_without_a_length_arrives_whole() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for piece in 0..100_u8 {
            let bytes = [piece; 1000];
            backend::say(stream, "3e8\r\n");
            backend::say_bytes(stream, &bytes);
            backend::say(stream, "\r\n");
        }
        backend::say(stream, "0\r\n\r\n");
    };
    let got = through(talk, Ask::get("/"));
    let expected: Vec<u8> = (0..100_u8).flat_map(|it| [it; 1000]).collect();
    assert!(got.finished && got.body == expected, "{} bytes", got.body.len());
    assert_eq!(got.field("content-length"), None);
}

#[test]
fn a_head_request_and_a_304_have_no_body_but_its_length() {
    let talk: Talk = |head, stream| {
        let status =
            if head.contains("if-none-match: \"1\"") { "304 Not Modified" } else { "200 OK" };
        backend::say(
            stream,
            &format!("HTTP/1.1 {status}\r\nContent-Length: 5000\r\nETag: \"1\"\r\n\r\n"),
        );
    };
    let head = through(talk, Ask { method: "HEAD", ..Ask::get("/") });
    assert_eq!((head.status, head.body.len(), head.finished), (200, 0, true));
    assert_eq!(head.field("content-length"), Some("5000"));
    let fresh = through(talk, Ask::get("/").with("if-none-match", "\"1\""));
    assert_eq!((fresh.status, fresh.body.len(), fresh.finished), (304, 0, true));
    assert_eq!(fresh.field("etag"), Some("\"1\""));
}

#[test]
fn a_redirect_is_the_clients_to_follow() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n");
    };
    let got = through(talk, Ask::get("/a"));
    assert_eq!((got.status, got.field("location")), (302, Some("/b")));
}

/// Answers with the size of the request's body and a sum of its bytes.
fn sums(head: &str, stream: &mut std::net::TcpStream) {
    let body = backend::body(head, stream);
    let sum: u64 = body.iter().map(|it| u64::from(*it)).sum();
    backend::respond(stream, format!("{} {sum}", body.len()).as_bytes());
}

#[test]
fn an_upload_larger_than_every_buffer_arrives_whole() {
    let body: Vec<u8> = (0..3_000_000_u32).map(|it| it.to_le_bytes()[0]).collect();
    let sum: u64 = body.iter().map(|it| u64::from(*it)).sum();
    let expected = format!("3000000 {sum}");
    for length in [None, Some("3000000")] {
        let mut ask = Ask { method: "POST", body: body.clone(), ..Ask::get("/") };
        ask = length.into_iter().fold(ask, |ask, it| ask.with("content-length", it));
        let got = through(sums, ask);
        assert_eq!(
            (got.status, String::from_utf8_lossy(&got.body).as_ref()),
            (200, expected.as_str())
        );
    }
}

#[test]
fn a_download_larger_than_every_buffer_makes_the_backend_wait() {
    // The client has one window until it reads; the backend writes as fast as it can.
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n");
        (0..200).for_each(|it| backend::say_bytes(stream, &vec![it; 100_000]));
    };
    let got = through(talk, Ask::get("/"));
    assert_eq!((got.body.len(), got.finished), (20_000_000, true));
    assert!(
        got.body.chunks(100_000).zip(0..200_u8).all(|(piece, it)| piece.iter().all(|b| *b == it))
    );
}

#[test]
fn many_requests_share_few_places_and_kept_connections() {
    let backend = Backend::start(|head, stream| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        backend::respond(stream, path.as_bytes());
    });
    let limits = UpstreamLimits { requests: 3, ..UpstreamLimits::default() };
    let proxy = Proxy::start(backend.address, &limits, Vec::new());
    let paths: Vec<String> = (0..100).map(|it| format!("/{it}")).collect();
    let asks: Vec<Ask> = paths.iter().map(|it| Ask::get(it)).collect();
    let got = fetch(proxy.address, &asks, 0);
    let bodies: Vec<String> =
        got.iter().map(|it| String::from_utf8_lossy(&it.body).into_owned()).collect();
    assert_eq!(bodies, paths);
    assert!(backend.connections() <= 3, "{}", backend.connections());
    assert_eq!(proxy.told(), "");
}
