//! Small clients of HTTP/1.1 and HTTP/2 that keep everything they receive.

use crate::fetch::{Ask, Fetched};
use boring::ssl::{SslConnector, SslMethod, SslStream, SslVerifyMode};
use bytes::Bytes;
use h2::client::SendRequest;
use hyper::Uri;
use hyper::header::{HeaderMap, HeaderValue};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No test waits for longer.
const PATIENCE: Duration = Duration::from_secs(20);

fn connector(protocol: &[u8]) -> SslConnector {
    let mut tls = SslConnector::builder(SslMethod::tls()).expect("TLS");
    tls.set_verify(SslVerifyMode::NONE);
    tls.set_alpn_protos(protocol).expect("a protocol");
    tls.build()
}

/// A TCP connection whose reads end in time.
pub(crate) fn plain(server: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(server).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    stream
}

/// A connection that speaks HTTP/1.1.
pub(crate) fn secure(server: SocketAddr) -> SslStream<TcpStream> {
    secure_over(plain(server))
}

/// The same, after earlier bytes on the connection.
pub(crate) fn secure_over(stream: TcpStream) -> SslStream<TcpStream> {
    connector(b"\x08http/1.1").connect("localhost", stream).expect("a handshake")
}

/// The certificate (DER) that a client of this protocol gets if it requests this name.
pub(crate) fn certificate(server: SocketAddr, protocol: &[u8], name: &str) -> Vec<u8> {
    let stream = connector(protocol).connect(name, plain(server)).expect("a handshake");
    stream.ssl().peer_certificate().expect("a certificate").to_der().expect("DER")
}

/// What arrives until the server closes. Whether it announces that does not matter here.
pub(crate) fn rest(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            panic!("the server does not close: {}", String::from_utf8_lossy(&bytes))
        }
        _ => bytes,
    }
}

/// One request over HTTP/1.1.
pub(crate) fn fetch_1(server: SocketAddr, ask: &Ask) -> Fetched {
    ask_1(secure(server), ask)
}

/// The same over this stream.
pub(crate) fn ask_1(mut stream: impl Read + Write, ask: &Ask) -> Fetched {
    let is_framing = |name: &str| matches!(name, "content-length" | "transfer-encoding");
    let says_length = ask.fields.iter().any(|(name, _)| is_framing(name));
    let length = (!ask.body.is_empty() && !says_length)
        .then(|| ("content-length", ask.body.len().to_string()));
    let authority = ask.authority.map(|it| ("host", it.to_owned()));
    let fields = authority.iter().chain(&ask.fields).chain(&length);
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (method, path, fields) = (ask.method, &ask.path, fields.concat());
    let head = format!("{method} {path} HTTP/1.1\r\n{fields}\r\n");
    // The server may have answered already, and closed: what it said is read below.
    stream.write_all(&[head.as_bytes(), &ask.body].concat()).ok();
    response(&mut BufReader::new(stream), ask.method)
}

/// The next response of HTTP/1.1.
pub(crate) fn response(stream: &mut impl BufRead, method: &str) -> Fetched {
    let mut fetched = Fetched::default();
    let status = line(stream);
    fetched.status = status.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
    fetched.headers = fields(stream);
    if method == "HEAD" || matches!(fetched.status, 204 | 304) {
        fetched.finished = true;
    } else if fetched.field("transfer-encoding") == Some("chunked") {
        loop {
            let Ok(count) = usize::from_str_radix(&line(stream), 16) else { return fetched };
            if count == 0 {
                fetched.trailers = fields(stream);
                fetched.finished = true;
                break;
            }
            let is_whole = take(stream, count, &mut fetched.body);
            line(stream);
            if !is_whole {
                break;
            }
        }
    } else {
        let length = fetched.field("content-length").and_then(|it| it.parse().ok());
        fetched.finished = take(stream, length.unwrap_or(0), &mut fetched.body);
    }
    fetched
}

/// The fields until an empty line.
fn fields(stream: &mut impl BufRead) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    loop {
        let line = line(stream);
        let Some((name, value)) = line.split_once(": ") else { return fields };
        fields.push((name.to_ascii_lowercase(), value.to_owned()));
    }
}

fn line(stream: &mut impl BufRead) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).ok();
    line.trim_end().to_owned()
}

/// Reads this many bytes. Returns `false` if fewer arrived.
fn take(stream: &mut impl BufRead, count: usize, body: &mut Vec<u8>) -> bool {
    stream.take(count as u64).read_to_end(body).is_ok_and(|it| it == count)
}

/// Runs a task with a connection of HTTP/2, and then closes it.
pub(crate) fn over_2<T>(server: SocketAddr, task: impl AsyncFnOnce(SendRequest<Bytes>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let stream = tokio::net::TcpStream::connect(server).await.expect("it listens");
        let tls = connector(b"\x02h2").configure().expect("TLS");
        let stream = tokio_boring::connect(tls, "localhost", stream).await.expect("a handshake");
        let (sender, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
        let driver = tokio::spawn(connection);
        let ended = tokio::time::timeout(PATIENCE, task(sender)).await.expect("in time");
        driver.abort();
        ended
    })
}

/// Requests at once on one connection of HTTP/2.
pub(crate) fn fetch_2(server: SocketAddr, asks: &[Ask]) -> Vec<Fetched> {
    over_2(server, async |sender| {
        let asked: Vec<_> =
            asks.iter().map(|ask| tokio::spawn(fetch_one(sender.clone(), ask.clone()))).collect();
        let mut all = Vec::new();
        for one in asked {
            all.push(one.await.expect("no panic"));
        }
        all
    })
}

/// An HTTP/2 connection without any bytes so far.
pub(crate) fn raw_2(server: SocketAddr) -> SslStream<TcpStream> {
    connector(b"\x02h2").connect("localhost", plain(server)).expect("a handshake")
}

/// The status that a path gets over HTTP/2 which the library of [`fetch_2`] does not send, as one byte of the static table.
pub(crate) fn raw_status_2(server: SocketAddr, path: &str) -> Option<u8> {
    let mut stream = raw_2(server);
    let text = |it: &str| [&[u8::try_from(it.len()).expect("short")], it.as_bytes()].concat();
    let head = [&b"\x82\x87\x01"[..], &text("site.example"), b"\x04", &text(path)].concat();
    let length = u8::try_from(head.len()).expect("short");
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let frame = [&[0, 0, length, 1, 5, 0, 0, 0, 1], head.as_slice()].concat();
    stream.write_all(&[&preface[..], &frame].concat()).expect("sent");
    loop {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).ok()?;
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).ok()?;
        match frame[3] {
            1 => return payload.first().copied(),
            3 => return None,
            _ => {}
        }
    }
}

/// The head of a request of HTTP/2.
pub(crate) fn head_2(ask: &Ask) -> hyper::Request<()> {
    let authority = ask.authority.expect("one");
    let uri = Uri::builder().scheme("https").authority(authority);
    let uri = uri.path_and_query(ask.path.as_str()).build().expect("a target");
    let mut request = hyper::Request::builder().method(ask.method).uri(uri);
    for (name, value) in &ask.fields {
        request = request.header(*name, value);
    }
    let mut request = request.body(()).expect("a request");
    if let Some(protocol) = ask.protocol {
        request.extensions_mut().insert(h2::ext::Protocol::from_static(protocol));
    }
    request
}

async fn fetch_one(sender: SendRequest<Bytes>, ask: Ask) -> Fetched {
    let mut fetched = Fetched::default();
    let mut sender = sender.ready().await.expect("ready");
    let trailers = head_2(&Ask { fields: ask.trailers.clone(), ..ask.clone() }).headers().clone();
    let trails = !trailers.is_empty();
    let ends = ask.body.is_empty() && ask.ends && !trails;
    let (mut response, mut stream) = sender.send_request(head_2(&ask), ends).expect("sent");
    if !ask.body.is_empty() {
        stream.send_data(ask.body.into(), ask.ends && !trails).expect("taken");
    }
    if trails {
        stream.send_trailers(trailers).expect("taken");
    }
    let answer = std::future::poll_fn(|context| {
        while let std::task::Poll::Ready(Some(Ok(interim))) = response.poll_informational(context) {
            let links = interim.headers().get_all("link").iter();
            fetched.hints.extend(links.map(|it| it.to_str().expect("text").to_owned()));
        }
        std::pin::Pin::new(&mut response).poll(context)
    });
    let Ok(answer) = answer.await else {
        fetched.reset = Some(0);
        return fetched;
    };
    fetched.status = answer.status().as_u16();
    fetched.headers = text(answer.headers());
    let mut body = answer.into_body();
    while let Some(bytes) = body.data().await {
        let Ok(bytes) = bytes else {
            fetched.reset = Some(1);
            return fetched;
        };
        body.flow_control().release_capacity(bytes.len()).expect("taken");
        fetched.body.extend(bytes);
    }
    fetched.trailers = body.trailers().await.expect("whole").iter().flat_map(text).collect();
    fetched.finished = true;
    fetched
}

fn text(fields: &HeaderMap) -> Vec<(String, String)> {
    let text = |it: &HeaderValue| String::from_utf8_lossy(it.as_bytes()).into_owned();
    fields.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// The key of RFC 6455, 1.3, and what a server answers to it.
const KEY: [&str; 2] = ["dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="];

/// Like [`crate::fetch::converse`], over HTTP/1.1.
pub(crate) fn converse_1(server: SocketAddr, ask: &Ask, said: &[&[u8]]) -> Fetched {
    let mut stream = secure(server);
    let protocol = ask.protocol.expect("one");
    let fields: Vec<String> =
        ask.fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "GET {} HTTP/1.1\r\nHost: site.example\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\
         Sec-WebSocket-Key: {}\r\n{}\r\n",
        ask.path,
        KEY[0],
        fields.concat()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut stream = BufReader::new(stream);
    let mut fetched = response(&mut stream, "GET");
    if fetched.status != 101 {
        return fetched;
    }
    assert_eq!(fetched.field("sec-websocket-accept"), Some(KEY[1]));
    for piece in said {
        stream.get_mut().write_all(piece).expect("sent");
        take(&mut stream, piece.len(), &mut fetched.body);
    }
    if !said.is_empty() {
        stream.get_mut().shutdown().ok();
    }
    fetched.body.extend(rest(&mut stream));
    fetched
}

/// Like [`crate::fetch::converse`], over HTTP/2; also for a request that is not a tunnel.
pub(crate) fn converse_2(server: SocketAddr, ask: &Ask, said: &[&[u8]]) -> Fetched {
    over_2(server, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        // The server's settings must have come.
        while ask.protocol.is_some() && !sender.is_extended_connect_protocol_enabled() {
            tokio::task::yield_now().await;
        }
        let (response, mut stream) = sender.send_request(head_2(ask), false).expect("sent");
        let answer = response.await.expect("an answer");
        let mut fetched = Fetched { status: answer.status().as_u16(), ..Fetched::default() };
        fetched.headers = text(answer.headers());
        let mut body = answer.into_body();
        let mut said_bytes = 0;
        for piece in said {
            said_bytes += piece.len();
            stream.send_data(Bytes::copy_from_slice(piece), false).expect("open");
            while fetched.body.len() < said_bytes
                && let Some(Ok(bytes)) = body.data().await
            {
                body.flow_control().release_capacity(bytes.len()).expect("taken");
                fetched.body.extend(bytes);
            }
        }
        if !said.is_empty() {
            stream.send_data(Bytes::new(), true).expect("open");
        }
        let end = loop {
            match body.data().await {
                Some(Ok(bytes)) => fetched.body.extend(bytes),
                end => break end,
            }
        };
        fetched.finished = end.is_none();
        fetched.reset =
            end.and_then(Result::err).and_then(|it| it.reason()).map(|it| u32::from(it).into());
        fetched
    })
}
