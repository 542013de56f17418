//! Backends over TLS, by HTTP/2 and HTTP/1.1.

use crate::Proxy;
use crate::fetch::{Ask, Fetched, converse, fetch, hold};
use crate::versions::websockets::{chat, switching};
use boring::asn1::Asn1Time;
use boring::bn::{BigNum, MsbOption};
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::ssl::{AlpnError, SslAcceptor, SslMethod, select_next_proto};
use boring::x509::extension::SubjectAlternativeName;
use boring::x509::{X509, X509NameBuilder};
use gateway::UpstreamLimits;
use gateway::upstream::Address;
use h2::RecvStream;
use h2::server::SendResponse;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::NamedTempFile;

/// A backend with a certificate for 127.0.0.1 that no CA of the system issued.
struct Secure {
    address: SocketAddr,
    certificate: NamedTempFile,
    connections: Arc<AtomicUsize>,
}

impl Secure {
    /// Uses the protocol that its clients offer among `protocols`.
    fn start(protocols: &'static [u8]) -> Self {
        let (acceptor, certificate) = identity(protocols);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("bound");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                while let Ok((stream, _)) = listener.accept().await {
                    let acceptor = acceptor.clone();
                    let count = Arc::clone(&count);
                    tokio::spawn(async move {
                        let Ok(stream) = tokio_boring::accept(&acceptor, stream).await else {
                            return;
                        };
                        count.fetch_add(1, Ordering::SeqCst);
                        if stream.ssl().selected_alpn_protocol() == Some(b"h2") {
                            speak_http2(stream).await;
                        } else {
                            hint(stream).await;
                        }
                    });
                }
            });
        });
        Self { address, certificate, connections }
    }

    fn proxy(&self, is_trusted: bool) -> Proxy {
        Proxy::of(&self.upstream(is_trusted), &UpstreamLimits::default(), Vec::new())
    }

    fn upstream(&self, is_trusted: bool) -> Address {
        let ca = is_trusted.then(|| self.certificate.path().to_owned());
        let address = format!("https://{}", self.address).parse::<Address>();
        address.expect("an address").trusting(ca)
    }
}

type Stream = tokio_boring::SslStream<tokio::net::TcpStream>;

async fn speak_http2(stream: Stream) {
    let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
    while let Some(Ok((request, respond))) = connection.accept().await {
        if request.uri().path() == "/last" {
            connection.graceful_shutdown();
        }
        tokio::spawn(echo(request, respond));
    }
}

/// Answers at once, and echoes each piece of the request's body.
async fn take_turns(mut body: RecvStream, mut respond: SendResponse<Bytes>) {
    let mut stream = respond.send_response(Response::new(()), false).expect("sent");
    while let Some(piece) = body.data().await {
        let piece = piece.expect("whole");
        body.flow_control().release_capacity(piece.len()).expect("taken");
        stream.send_data(piece, false).expect("sent");
    }
    stream.send_data(Bytes::new(), true).expect("sent");
}

/// Answers with a description of the request; below `/hints`, early hints precede it.
async fn echo(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let (head, mut body) = request.into_parts();
    if head.uri.path() == "/turns" {
        return take_turns(body, respond).await;
    }
    let mut bytes = 0;
    while let Some(piece) = body.data().await {
        let piece = piece.expect("whole");
        bytes += piece.len();
        body.flow_control().release_capacity(piece.len()).expect("taken");
    }
    let response = || Response::builder().header("link", "</a.css>; rel=preload; as=style");
    if head.uri.path().starts_with("/hints") {
        let hints = response().status(103).body(()).expect("a head");
        respond.send_informational(hints).expect("sent");
    }
    let field = |name| head.headers.get(name).map(|it| it.to_str().expect("text"));
    let (host, forwarded) = (field("host"), field("x-forwarded-host"));
    let said =
        format!("{} {} host {host:?} for {forwarded:?}, {bytes} bytes", head.method, head.uri);
    let mut stream = respond.send_response(Response::new(()), false).expect("sent");
    if head.uri.path().starts_with("/grpc") {
        let te = field("te").unwrap_or("nothing");
        stream.send_data(format!("{bytes} bytes, te: {te}").into(), false).expect("sent");
        let mut trailers = body.trailers().await.expect("whole").unwrap_or_default();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        return stream.send_trailers(trailers).expect("sent");
    }
    let is_large = head.uri.path() == "/large";
    let said = if is_large { vec![7; 2_000_000].into() } else { said.into() };
    stream.send_data(said, true).expect("sent");
}

/// Early hints, then a response, over HTTP/1.1; or a WebSocket that echoes.
async fn hint(mut stream: Stream) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a head"));
    }
    if let Some(switches) = switching(&String::from_utf8_lossy(&head)) {
        stream.write_all(switches.as_bytes()).await.expect("taken");
        let (mut read, mut write) = tokio::io::split(stream);
        tokio::io::copy(&mut read, &mut write).await.expect("taken");
        return write.shutdown().await.expect("closed");
    }
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\n\r\n";
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    stream.write_all(format!("{hints}{response}").as_bytes()).await.expect("taken");
    stream.flush().await.expect("taken");
}

/// An acceptor with a new certificate, and the file of the certificate.
fn identity(protocols: &'static [u8]) -> (SslAcceptor, NamedTempFile) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("known");
    let key = PKey::from_ec_key(EcKey::generate(&group).expect("a key")).expect("a key");
    let mut serial = BigNum::new().expect("a number");
    serial.rand(64, MsbOption::MAYBE_ZERO, false).expect("a number");
    let mut subject = X509NameBuilder::new().expect("a builder");
    subject.append_entry_by_text("CN", "backend").expect("taken");
    let subject = subject.build();
    let mut certificate = X509::builder().expect("a builder");
    certificate.set_version(2).expect("taken");
    certificate.set_subject_name(&subject).expect("taken");
    certificate.set_issuer_name(&subject).expect("taken");
    let name = SubjectAlternativeName::new()
        .ip("127.0.0.1")
        .build(&certificate.x509v3_context(None, None));
    certificate.append_extension(&name.expect("an extension")).expect("taken");
    certificate.set_serial_number(&serial.to_asn1_integer().expect("a number")).expect("taken");
    certificate.set_not_before(&Asn1Time::days_from_now(0).expect("a time")).expect("taken");
    certificate.set_not_after(&Asn1Time::days_from_now(2).expect("a time")).expect("taken");
    certificate.set_pubkey(&key).expect("taken");
    certificate.sign(&key, MessageDigest::sha256()).expect("signed");
    let certificate = certificate.build();
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&certificate.to_pem().expect("text")).expect("written");
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls()).expect("TLS");
    acceptor.set_private_key(&key).expect("taken");
    acceptor.set_certificate(&certificate).expect("taken");
    acceptor.set_alpn_select_callback(move |_, offered| {
        select_next_proto(protocols, offered).ok_or(AlpnError::NOACK)
    });
    (acceptor.build(), file)
}

fn body(got: &Fetched) -> String {
    String::from_utf8_lossy(&got.body).into_owned()
}

#[test]
fn both_sides_of_a_call_over_http_2_can_take_turns() {
    let proxy = Secure::start(b"\x02h2").proxy(true);
    let ask = Ask { method: "POST", ends: false, ..Ask::get("/turns") };
    let got = converse(proxy.address, &ask, &[b"one", b"two", b"three"]);
    assert_eq!((got.status, got.body.as_slice(), got.finished), (200, &b"onetwothree"[..], true));
}

#[test]
fn a_backend_that_takes_http2_gets_the_requested_host_by_it() {
    let backend = Secure::start(b"\x02h2\x08http/1.1");
    let proxy = backend.proxy(true);
    let upload = Ask { method: "POST", body: vec![7; 300_000], ..Ask::get("/b") };
    let got = fetch(proxy.address, &[Ask::get("/a?b"), upload], 0);
    let expected = [
        "GET https://site.example/a?b host None for Some(\"site.example\"), 0 bytes",
        "POST https://site.example/b host None for Some(\"site.example\"), 300000 bytes",
    ];
    assert_eq!(got.iter().map(body).collect::<Vec<_>>(), expected, "{}", proxy.told());
    assert_eq!(got[0].field("via"), Some("2 utmost"));
}

#[test]
fn all_requests_share_one_connection_of_http2() {
    let backend = Secure::start(b"\x02h2");
    let proxy = backend.proxy(true);
    let asks: Vec<Ask> = (0..50).map(|it| Ask::get(&format!("/{it}"))).collect();
    let got = fetch(proxy.address, &asks, 0);
    assert!(got.iter().all(|it| it.status == 200), "{}", proxy.told());
    assert_eq!(backend.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn early_hints_come_by_either_protocol() {
    for protocol in [&b"\x08http/1.1"[..], b"\x02h2"] {
        let proxy = Secure::start(protocol).proxy(true);
        let ask = Ask::get("/hints").with("sec-fetch-mode", "navigate");
        let got = fetch(proxy.address, &[ask], 0).remove(0);
        assert_eq!((got.status, got.finished), (200, true), "{}", proxy.told());
        assert_eq!(got.hints, ["</a.css>; rel=preload; as=style"], "{protocol:?}");
    }
}

#[test]
fn a_backend_with_an_unknown_certificate_is_a_502_and_the_report_names_the_remedy() {
    let proxy = Secure::start(b"\x02h2").proxy(false);
    let got = fetch(proxy.address, &[Ask::get("/")], 0).remove(0);
    assert_eq!(got.status, 502);
    let told = proxy.told();
    assert!(told.contains("GET /: cannot be reached: its certificate is not trusted"), "{told}");
    assert!(told.contains("--upstream-ca"), "{told}");
}

#[test]
fn responses_that_are_not_read_do_not_close_the_window_of_others() {
    let backend = Secure::start(b"\x02h2");
    let proxy = backend.proxy(true);
    let unread = Ask { reads: false, ..Ask::get("/large") };
    let _attacker = hold(proxy.address, &vec![unread; 64]);
    let got = fetch(proxy.address, &[Ask::get("/a")], 0).remove(0);
    assert_eq!((got.status, got.finished), (200, true), "{}", proxy.told());
    assert_eq!(backend.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn a_connection_of_http2_that_ends_is_followed_by_another() {
    let backend = Secure::start(b"\x02h2");
    let proxy = backend.proxy(true);
    for path in ["/last", "/a", "/b"] {
        let got = fetch(proxy.address, &[Ask::get(path)], 0).remove(0);
        assert_eq!((got.status, got.finished), (200, true), "{path}: {}", proxy.told());
    }
    assert_eq!(backend.connections.load(Ordering::SeqCst), 2);
}

#[test]
fn a_call_of_grpc_gets_its_status_in_the_trailers() {
    let backend = Secure::start(b"\x02h2");
    let proxy = backend.proxy(true);
    let call = Ask { method: "POST", body: vec![0; 300_000], ..Ask::get("/grpc.Service/Method") };
    let call = call.with("te", "trailers").with("content-type", "application/grpc");
    let trailers = vec![("x-sum", "7".to_owned())];
    let got = fetch(proxy.address, &[Ask { trailers, ..call }], 0).remove(0);
    assert_eq!((got.status, body(&got).as_str()), (200, "300000 bytes, te: trailers"));
    let mut fields: Vec<String> =
        got.trailers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    fields.sort();
    assert_eq!((fields.join(", ").as_str(), got.finished), ("grpc-status: 0, x-sum: 7", true));
}

#[test]
fn a_websocket_goes_to_a_backend_over_tls_by_http_1_1_also_where_it_takes_http2() {
    let backend = Secure::start(b"\x02h2\x08http/1.1");
    let address = backend.upstream(true).taking_websockets(true);
    let proxy = Proxy::of(&address, &UpstreamLimits::default(), Vec::new());
    // The connection of HTTP/2 is kept.
    assert_eq!(fetch(proxy.address, &[Ask::get("/")], 0)[0].field("via"), Some("2 utmost"));
    let got = converse(proxy.address, &chat(), &[b"hello"]);
    assert_eq!((got.status, body(&got).as_str(), got.finished), (200, "hello", true));
    assert_eq!(got.field("via"), Some("1.1 utmost"), "{}", proxy.told());
}
