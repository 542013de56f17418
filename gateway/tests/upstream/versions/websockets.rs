//! WebSockets through all versions of HTTP: RFC 6455, RFC 8441, RFC 9220.

use super::Serving;
use super::clients::{converse_1, converse_2, fetch_1, over_2};
use crate::backend::{self, Backend, Talk};
use crate::fetch::{Ask, Fetched, converse, fetch};
use gateway::UpstreamLimits;
use gateway::site::RuledSite;
use gateway::upstream::{Address, UpstreamSite};
use schedulers::find_scheme;
use server::{Event, Identity, Limits, Options};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

/// A server before this backend, with or without WebSockets.
fn before(talk: Talk, limits: &UpstreamLimits, websockets: bool) -> Serving {
    serving(RuledSite::of(backend_site(talk, limits, websockets)), websockets)
}

pub(super) fn backend_site(talk: Talk, limits: &UpstreamLimits, websockets: bool) -> UpstreamSite {
    let address = format!("http://{}", Backend::start(talk).address).parse::<Address>();
    let address = address.expect("an address").taking_websockets(websockets);
    let report = std::sync::Arc::new(|_: &str| {});
    UpstreamSite::start(&address, limits, report).expect("a thread")
}

pub(super) fn serving(site: RuledSite, websockets: bool) -> Serving {
    let limits = Limits { drain: Duration::from_secs(5), ..Limits::default() };
    let scheme = find_scheme("rfc9218").expect("known");
    let options = Options { limits, websockets, ..Options::new(scheme) };
    Serving::with(&Identity::self_signed().expect("a certificate"), site, options)
}

fn taking(talk: Talk) -> Serving {
    before(talk, &UpstreamLimits::default(), true)
}

pub(crate) fn chat() -> Ask {
    let ask = Ask::tunnel("/chat?a", "websocket").with("sec-websocket-version", "13");
    ask.with("sec-websocket-protocol", "a, b")
}

/// What clients of the three versions get that open a WebSocket and send this, HTTP/3 first.
fn all(server: &Serving, said: &[&[u8]]) -> [Fetched; 3] {
    let ask = chat();
    let address = server.address;
    [
        converse(address, &ask, said),
        converse_2(address, &ask, said),
        converse_1(address, &ask, said),
    ]
}

/// Switches according to RFC 6455, to the second protocol, and returns the request.
pub(super) fn switch(head: &str, stream: &mut TcpStream) {
    backend::say(stream, &switching(head).expect("a key"));
}

/// The head of the response that switches; `None` if it was not requested.
pub(crate) fn switching(head: &str) -> Option<String> {
    let key = head.lines().find_map(|it| it.strip_prefix("sec-websocket-key: "))?;
    let known = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = boring::base64::encode_block(&boring::sha::sha1(known.as_bytes()));
    let protocol = head.lines().find_map(|it| it.strip_prefix("sec-websocket-protocol: a, "));
    let protocol = protocol.expect("two protocols");
    let line = head.lines().next().unwrap_or_default();
    Some(format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Line: {line}\r\n\
         Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n"
    ))
}

/// A backend that echoes everything to the end.
fn echo(head: &str, stream: &mut TcpStream) {
    switch(head, stream);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        backend::say_bytes(stream, &buffer[..count]);
    }
    backend::hang_up(stream);
}

/// RFC 8441, 5. Client: opens a WebSocket. Server: status 200 and the bytes of both ends, as over HTTP/1.1.
#[test]
fn what_either_end_says_reaches_the_other_at_once_over_every_version() {
    let server = taking(echo);
    let large = super::bytes(300_000);
    let got = all(&server, &[b"hello", b"again", &large]);
    let expected = [&b"helloagain"[..], &large].concat();
    for (got, status) in got.iter().zip([200, 200, 101]) {
        assert_eq!((got.status, got.body.len(), got.finished), (status, expected.len(), true));
        assert!(got.body == expected);
        assert_eq!(got.field("sec-websocket-protocol"), Some("b"));
        assert_eq!(got.field("x-line"), Some("GET /chat?a HTTP/1.1"));
        assert_eq!((got.field("content-length"), got.field("via")), (None, Some("1.1 utmost")));
    }
    assert_eq!(got[0].field("sec-websocket-accept"), None);
    assert_eq!(server.events.count(|it| matches!(it, Event::TunnelOpened)), 3);
    let answered = server.events.answered();
    let mut log: Vec<_> = answered
        .iter()
        .map(|it| (it.protocol.name(), it.method.as_str(), it.status, it.bytes, it.is_tunnel))
        .collect();
    log.sort_unstable();
    let bytes = expected.len() as u64;
    let line = |protocol, method, status| (protocol, method, status, bytes, true);
    let expected = [
        line("HTTP/1.1", "GET", 101),
        line("HTTP/2", "CONNECT", 200),
        line("HTTP/3", "CONNECT", 200),
    ];
    assert_eq!(log, expected);
}

/// Row of docs/serve-backend.md, event | the client gets: the backend refuses, for example with 403 | its answer.
#[test]
fn a_backend_that_refuses_answers_as_usual() {
    let talk: Talk = |_, stream| {
        backend::say(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    };
    let server = taking(talk);
    for got in all(&server, &[]) {
        assert_eq!((got.status, got.body.as_slice()), (403, &b"no"[..]));
    }
    assert_eq!(server.events.count(|it| matches!(it, Event::TunnelOpened)), 0);
}

/// Row of docs/serve-backend.md, event | the client gets: the backend answers 2xx instead of 101, or without the right
/// `Sec-WebSocket-Accept` | 502.
/// RFC 8441, 5. Server: asks the backend with a key of its own, and checks the answer (RFC 6455, 4.1).
#[test]
fn a_backend_that_does_not_know_the_key_or_does_not_switch_is_a_502() {
    let unknowing: Talk = |_, stream| {
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        backend::say(stream, head);
    };
    let plain: Talk = |_, stream| backend::respond(stream, b"hello");
    for talk in [unknowing, plain] {
        for got in all(&taking(talk), &[]) {
            assert_eq!((got.status, got.body.len()), (502, 0));
        }
    }
}

/// Row of docs/serve-backend.md, event | the client gets: an extended CONNECT for a protocol other than `websocket`, or to a
/// backend without `websockets` | 501.
/// RFC 9220, 3. Client: asks for another protocol than `websocket`. Server: status 501.
#[test]
fn another_protocol_than_websocket_is_not_implemented_9220_3() {
    let server = taking(echo);
    let ask = Ask::tunnel("/", "webtransport");
    assert_eq!(converse(server.address, &ask, &[]).status, 501);
    assert_eq!(converse_2(server.address, &ask, &[]).status, 501);
}

/// RFC 9220, 3. Server: sends `SETTINGS_ENABLE_CONNECT_PROTOCOL` with 1 or not at all.
#[test]
fn without_the_setting_nothing_is_offered_and_an_upgrade_is_a_plain_request() {
    let talk: Talk = |head, stream| backend::respond(stream, head.as_bytes());
    let server = before(talk, &UpstreamLimits::default(), false);
    let third = fetch(server.address, &[Ask::tunnel("/", "websocket")], 0).remove(0);
    assert_eq!((third.status, third.reset), (0, Some(http3::Code::Message.value())));
    let ask = Ask::get("/").with("connection", "upgrade").with("upgrade", "websocket");
    let first = fetch_1(server.address, &ask.with("sec-websocket-key", "x"));
    let head = String::from_utf8_lossy(&first.body).into_owned();
    assert!(first.status == 200 && !head.contains("upgrade"), "{head}");
    let is_offered = over_2(server.address, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        let (response, _) =
            sender.send_request(super::clients::head_2(&Ask::get("/")), true).expect("sent");
        response.await.expect("an answer, after the settings");
        sender.is_extended_connect_protocol_enabled()
    });
    assert!(!is_offered);
}

/// RFC 9110, 7.8: a server may ignore `Upgrade`.
#[test]
fn an_upgrade_to_a_backend_without_websockets_is_a_plain_request_9110_7_8() {
    let talk: Talk = |head, stream| backend::respond(stream, head.as_bytes());
    let site = RuledSite::of(backend_site(talk, &UpstreamLimits::default(), false));
    let server = serving(site, true);
    let ask = Ask::get("/").with("connection", "upgrade").with("upgrade", "websocket");
    let got = fetch_1(server.address, &ask.with("sec-websocket-key", "x"));
    let head = String::from_utf8_lossy(&got.body).into_owned();
    assert!(got.status == 200 && !head.contains("upgrade"), "{} {head}", got.status);
}

/// Row of docs/serve-backend.md, event | the client gets: nothing moves for 60 s (`upstream.tunnel_idle_s`) | the end of the
/// stream.
#[test]
fn a_silent_websocket_ends() {
    let limits =
        UpstreamLimits { tunnel_idle: Duration::from_millis(300), ..UpstreamLimits::default() };
    let server = before(echo, &limits, true);
    for got in all(&server, &[]) {
        assert!(matches!(got.status, 200 | 101) && got.finished && got.body.is_empty());
    }
}

/// Row of docs/serve-backend.md, event | the client gets: 256 WebSockets are open (`upstream.tunnels`); a client has at most
/// half of what the others leave | 503, `Retry-After: 1`.
#[test]
fn one_client_has_half_of_the_websockets_and_further_ones_get_503() {
    let limits = UpstreamLimits {
        tunnels: 2,
        queue: Duration::from_millis(200),
        tunnel_idle: Duration::from_secs(2),
        ..UpstreamLimits::default()
    };
    let server = before(echo, &limits, true);
    let ask = chat();
    let got = fetch(server.address, &[ask.clone(), ask], 0);
    let mut statuses = [got[0].status, got[1].status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503]);
}

/// Row of docs/serve-backend.md, event | the client gets: the server ends | a reset stream, `H3_REQUEST_CANCELLED`; over
/// HTTP/1.1 the end of the connection.
#[test]
fn a_server_that_ends_closes_its_websockets() {
    let server = taking(echo);
    let (address, events) = (server.address, std::sync::Arc::clone(&server.events));
    let ask = chat();
    let clients = [converse, converse_2, converse_1].map(|converse| {
        let ask = ask.clone();
        std::thread::spawn(move || converse(address, &ask, &[]))
    });
    while events.count(|it| matches!(it, Event::TunnelOpened)) < 3 {
        assert!(clients.iter().all(|it| !it.is_finished()), "a client gave up");
        std::thread::yield_now();
    }
    server.stop.stop();
    assert_eq!(server.ended(), 0);
    let got = clients.map(|it| it.join().expect("no panic"));
    assert_eq!([got[0].status, got[1].status, got[2].status], [200, 200, 101]);
    assert_eq!(got[0].reset, Some(http3::Code::RequestCancelled.value()));
    assert_eq!(got[1].reset, Some(u64::from(u32::from(h2::Reason::CANCEL))));
}
