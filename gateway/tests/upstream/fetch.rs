//! A small HTTP/3 client that keeps everything it receives.

use http3::{Event, Header, NameValue, Role, Session, Settings, StreamId};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// The fields behind the body.
    pub(crate) trailers: Vec<(&'static str, String)>,
    pub(crate) authority: Option<&'static str>,
    /// The protocol that the stream should use instead of HTTP.
    pub(crate) protocol: Option<&'static str>,
    /// The request ends.
    pub(crate) ends: bool,
    /// The response is read.
    pub(crate) reads: bool,
}

impl Ask {
    pub(crate) fn get(path: &str) -> Self {
        Self {
            method: "GET",
            path: path.to_owned(),
            fields: Vec::new(),
            body: Vec::new(),
            trailers: Vec::new(),
            authority: Some("site.example"),
            protocol: None,
            ends: true,
            reads: true,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self
    }

    /// Requests a tunnel for this protocol.
    pub(crate) fn tunnel(path: &str, protocol: &'static str) -> Self {
        Self { method: "CONNECT", protocol: Some(protocol), ends: false, ..Self::get(path) }
    }

    fn headers(&self) -> Vec<Header> {
        let authority = self.authority.map(|it| (":authority", it));
        let protocol = self.protocol.map(|it| (":protocol", it));
        let pseudo =
            [(":method", self.method), (":scheme", "https"), (":path", self.path.as_str())];
        let pseudo = pseudo.into_iter().chain(authority).chain(protocol);
        let fields = self.fields.iter().map(|(name, value)| (*name, value.as_str()));
        let header = |(name, value): (&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
        pseudo.chain(fields).map(header).collect()
    }
}

/// What arrived for a request, or by a push.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Vec<(String, String)>,
    /// The `Link` fields of interim responses.
    pub(crate) hints: Vec<String>,
    /// Promised paths, each with the status and body of its response, or how it ended.
    pub(crate) promises: BTreeMap<String, String>,
    /// The response ended cleanly.
    pub(crate) finished: bool,
    /// The code with which the server aborted the response.
    pub(crate) reset: Option<u64>,
}

impl Fetched {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// All fields, sorted, but for `alt-svc`.
    pub(crate) fn fields(&self) -> String {
        let lines = self.headers.iter().filter(|(name, _)| name != "alt-svc");
        let mut lines: Vec<String> =
            lines.map(|(name, value)| format!("{name}: {value}")).collect();
        lines.sort();
        lines.join("\n")
    }
}

/// Makes all requests at once on one connection. A push counts with the first response that promised it.
pub(crate) fn fetch(server: SocketAddr, asks: &[Ask], pushes: u64) -> Vec<Fetched> {
    let mut client = Client::connect(server, pushes);
    client.run(asks);
    client.leave();
    client.results(asks.len())
}

/// Opens a tunnel or begins a request, sends one message after the other, each when as much has come back as was sent before, and
/// ends.
pub(crate) fn converse(server: SocketAddr, ask: &Ask, said: &[&[u8]]) -> Fetched {
    let mut client = Client::connect(server, 0);
    client.asks = vec![ask.clone()];
    client.drive(|it| it.by_stream.get(&0).is_some_and(|it| it.status > 0 || it.reset.is_some()));
    let mut said_bytes = 0;
    for piece in said {
        said_bytes += piece.len();
        let frame = [&http3::data_frame_header(piece.len() as u64), *piece].concat();
        client.uploads.insert(0, frame);
        client.drive(|it| it.by_stream[&0].body.len() >= said_bytes || it.is_done());
    }
    if !said.is_empty() {
        client.quic.stream_send(0, b"", true).ok();
    }
    client.drive(Client::is_done);
    client.leave();
    client.results(1).remove(0)
}

/// The certificate (DER) that a client gets if it requests this name.
pub(crate) fn certificate(server: SocketAddr, name: &str) -> Vec<u8> {
    let mut client = Client::connect_to(name, [127, 0, 0, 1], server, 0);
    client.run(&[]);
    client.leave();
    client.quic.peer_cert().expect("a certificate").to_vec()
}

/// Makes the requests from another address and stays connected, until the server has seen them all.
pub(crate) fn hold(server: SocketAddr, asks: &[Ask]) -> Client {
    hold_from(ELSEWHERE, server, asks)
}

/// The same from this address.
pub(crate) fn hold_from(from: [u8; 4], server: SocketAddr, asks: &[Ask]) -> Client {
    let mut client = Client::connect_from(from, server, 0);
    // The server answers this one itself, after those before it.
    let last = Ask { method: "TRACE", ..Ask::get("/") };
    client.run(&[asks, &[last]].concat());
    client
}

/// The address of another client.
const ELSEWHERE: [u8; 4] = [127, 0, 0, 2];

/// The same in the early data of a connection that resumes another.
pub(crate) fn fetch_early(server: SocketAddr, asks: &[Ask]) -> Vec<Fetched> {
    let mut first = Client::connect(server, 0);
    first.run(&[Ask::get("/")]);
    first.leave();
    let session = first.quic.session().expect("a session").to_vec();
    let mut client = Client::connect(server, 0);
    client.quic.set_session(&session).expect("a session");
    client.transmit(&mut vec![0; 65_536]);
    assert!(client.quic.is_in_early_data());
    client.run(asks);
    client.leave();
    client.results(asks.len())
}

pub(crate) struct Client {
    socket: UdpSocket,
    quic: connection::Quic,
    session: Session,
    local: SocketAddr,
    server: SocketAddr,
    by_stream: BTreeMap<u64, Fetched>,
    /// Promised paths with their streams, by push ID.
    promised: BTreeMap<u64, (u64, String)>,
    push_streams: BTreeMap<u64, u64>,
    cancelled: Vec<u64>,
    pushes: u64,
    asks: Vec<Ask>,
    asked: bool,
    /// Bytes that wait to be sent on each stream.
    uploads: BTreeMap<u64, Vec<u8>>,
    /// Requests that do not end, and responses that are not read.
    endless: BTreeSet<u64>,
    unread: BTreeSet<u64>,
}

impl Client {
    fn connect(server: SocketAddr, pushes: u64) -> Self {
        Self::connect_from([127, 0, 0, 1], server, pushes)
    }

    fn connect_from(from: [u8; 4], server: SocketAddr, pushes: u64) -> Self {
        Self::connect_to("localhost", from, server, pushes)
    }

    fn connect_to(name: &str, from: [u8; 4], server: SocketAddr, pushes: u64) -> Self {
        let socket = UdpSocket::bind(SocketAddr::from((from, 0))).expect("a free port");
        let local = socket.local_addr().expect("bound");
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a version");
        config.set_application_protos(&[b"h3"]).expect("a protocol");
        config.verify_peer(false);
        config.enable_early_data();
        config.set_max_idle_timeout(30_000);
        config.set_initial_max_data(1 << 20);
        config.set_initial_max_stream_data_bidi_local(256 << 10);
        config.set_initial_max_stream_data_uni(256 << 10);
        config.set_initial_max_streams_uni(16 + pushes);
        let id = quiche::ConnectionId::from_ref(&[7; 16]);
        let quic = quiche::connect_with_buffer_factory(Some(name), &id, local, server, &mut config)
            .expect("a connection");
        let session = Session::new(Role::Client, Settings::default(), http3::Limits::default());
        Self {
            socket,
            quic,
            session,
            local,
            server,
            by_stream: BTreeMap::new(),
            promised: BTreeMap::new(),
            push_streams: BTreeMap::new(),
            cancelled: Vec::new(),
            pushes,
            asks: Vec::new(),
            asked: false,
            uploads: BTreeMap::new(),
            endless: BTreeSet::new(),
            unread: BTreeSet::new(),
        }
    }

    fn run(&mut self, asks: &[Ask]) {
        self.asks = asks.to_vec();
        self.drive(Self::is_done);
    }

    fn drive(&mut self, is_enough: impl Fn(&Self) -> bool) {
        let mut buffer = vec![0; 65_536];
        while !self.quic.is_closed() && !is_enough(self) {
            let may_ask = self.quic.is_established() || self.quic.is_in_early_data();
            if may_ask && !std::mem::replace(&mut self.asked, true) {
                self.ask();
            }
            for (stream, bytes) in &mut self.uploads {
                let ends = !self.endless.contains(stream);
                if let Ok(taken) = self.quic.stream_send(*stream, bytes, ends) {
                    bytes.drain(..taken);
                }
            }
            self.uploads.retain(|_, bytes| !bytes.is_empty());
            self.transmit(&mut buffer);
            self.receive(&mut buffer);
            self.read(&mut buffer);
        }
    }

    pub(crate) fn leave(&mut self) {
        self.quic.close(true, 0x100, b"done").ok();
        self.transmit(&mut vec![0; 65_536]);
    }

    fn ask(&mut self) {
        let mut opening = self.session.opening();
        if self.pushes > 0 {
            opening.push(self.session.allow_pushes(self.pushes));
        }
        for (stream, bytes) in opening {
            self.quic.stream_send(stream.0, &bytes, false).expect("room");
        }
        for (ask, stream) in self.asks.iter().zip((0..).step_by(4)) {
            let mut bytes = self.session.encode_headers(&ask.headers()).expect("small");
            if !ask.body.is_empty() {
                bytes.extend(http3::data_frame_header(ask.body.len() as u64));
                bytes.extend(&ask.body);
            }
            if !ask.trailers.is_empty() {
                let header = |it: &(&str, String)| Header::new(it.0.as_bytes(), it.1.as_bytes());
                let trailers: Vec<Header> = ask.trailers.iter().map(header).collect();
                bytes.extend(self.session.encode_headers(&trailers).expect("small"));
            }
            self.uploads.insert(stream, bytes);
            if !ask.ends {
                self.endless.insert(stream);
            }
            if !ask.reads {
                self.unread.insert(stream);
            }
            self.by_stream.insert(stream, Fetched::default());
        }
    }

    fn transmit(&mut self, buffer: &mut [u8]) {
        while let Ok((bytes, info)) = self.quic.send(buffer) {
            self.socket.send_to(&buffer[..bytes], info.to).ok();
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) {
        let timeout = self.quic.timeout().unwrap_or(Duration::from_secs(1));
        let timeout = timeout.max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(timeout)).expect("a time");
        match self.socket.recv(buffer) {
            Ok(bytes) => {
                let info = quiche::RecvInfo { from: self.server, to: self.local };
                self.quic.recv(&mut buffer[..bytes], info).ok();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                self.quic.on_timeout();
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) {
        for stream in self.quic.readable() {
            if self.unread.contains(&stream) {
                continue;
            }
            loop {
                let fin = match self.quic.stream_recv(stream, buffer) {
                    Ok((bytes, fin)) => {
                        let bytes = &buffer[..bytes];
                        self.session.receive(StreamId(stream), bytes, fin).expect("well-formed");
                        fin
                    }
                    Err(quiche::Error::StreamReset(code)) => {
                        self.session.stream_reset(StreamId(stream), code).expect("no matter");
                        true
                    }
                    Err(_) => break,
                };
                if fin {
                    break;
                }
            }
            while let Some(event) = self.session.poll() {
                self.on_event(event);
            }
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Headers { stream, headers } => {
                let Some(fetched) = self.by_stream.get_mut(&stream.0) else { return };
                let (status, fields): (Vec<_>, Vec<_>) =
                    text(&headers).into_iter().partition(|(it, _)| it == ":status");
                fetched.status = status[0].1.parse().expect("a number");
                if fetched.status < 200 {
                    fetched.hints.extend(fields.into_iter().map(|(_, value)| value));
                } else {
                    fetched.headers = fields;
                }
            }
            Event::Data { stream, bytes } => {
                if let Some(fetched) = self.by_stream.get_mut(&stream.0) {
                    fetched.body.extend(bytes);
                }
            }
            Event::Trailers { stream, headers } => {
                if let Some(fetched) = self.by_stream.get_mut(&stream.0) {
                    fetched.trailers = text(&headers);
                }
            }
            Event::Finished { stream } => {
                if let Some(fetched) = self.by_stream.get_mut(&stream.0) {
                    fetched.finished = true;
                }
            }
            Event::Reset { stream, code } => {
                if let Some(fetched) = self.by_stream.get_mut(&stream.0) {
                    fetched.reset = Some(code);
                }
            }
            Event::PushPromise { stream, push, headers } => {
                let path = headers.iter().find(|it| it.name() == b":path").expect("well-formed");
                let path = String::from_utf8_lossy(path.value()).into_owned();
                self.promised.insert(push.0, (stream.0, path));
            }
            Event::PushStream { stream, push } => {
                self.push_streams.insert(push.0, stream.0);
                self.by_stream.insert(stream.0, Fetched::default());
            }
            Event::PushCancelled { push } => self.cancelled.push(push.0),
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        let asks = self.asks.len();
        let over = |it: &Fetched| it.finished || it.reset.is_some();
        let came = |push: &u64| {
            self.cancelled.contains(push)
                || self.push_streams.get(push).is_some_and(|it| over(&self.by_stream[it]))
        };
        let requests = self.by_stream.range(..).filter(|(stream, _)| *stream % 4 == 0);
        self.asked
            && requests.clone().count() == asks
            && requests.into_iter().all(|(stream, it)| over(it) || self.unread.contains(stream))
            && self.promised.keys().all(came)
    }

    fn results(mut self, asks: usize) -> Vec<Fetched> {
        for (push, (stream, path)) in std::mem::take(&mut self.promised) {
            let pushed = self.push_streams.get(&push).and_then(|it| self.by_stream.get(it));
            let outcome = match pushed {
                _ if self.cancelled.contains(&push) => "cancelled".to_owned(),
                Some(Fetched { reset: Some(code), .. }) => format!("reset {code:#x}"),
                Some(pushed) => {
                    format!("{} {}", pushed.status, String::from_utf8_lossy(&pushed.body))
                }
                None => "lost".to_owned(),
            };
            self.by_stream.entry(stream).or_default().promises.insert(path, outcome);
        }
        let mut take = |stream| self.by_stream.remove(&stream).unwrap_or_default();
        (0..asks as u64).map(|it| take(4 * it)).collect()
    }
}

fn text(headers: &[Header]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|it| (text(it.name()), text(it.value()))).collect()
}
