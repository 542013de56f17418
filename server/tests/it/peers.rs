//! A server and any number of bare clients, each with a link that only delays a little, in virtual time.

use crate::simulation::{Bodies, assert_body};
use connection::Endpoint;
use http3::{Event, Header, NameValue, PushId, Role, Session, Settings, StreamId};
use server::site::RuledSite;
use server::{CongestionControl, Identity, Limits, Options, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

/// CUBIC, for BBR can make nothing of round trips without duration.
pub(crate) fn options(scheme: &str) -> Options {
    let congestion_control = CongestionControl::Cubic;
    Options { congestion_control, ..crate::simulation::options(scheme) }
}

pub(crate) fn limits() -> Limits {
    Limits { idle: Duration::from_secs(30), drain: Duration::from_secs(10), ..Limits::default() }
}

/// The server, the time, and what the server sent to addresses without a client.
pub(crate) struct World {
    pub(crate) server: Server,
    epoch: Instant,
    now: Duration,
    replies: BTreeMap<SocketAddr, usize>,
    _virtual_time: VirtualTime,
}

impl World {
    pub(crate) fn new(options: Options) -> Self {
        Self::of(options, Bodies)
    }

    #[expect(clippy::disallowed_methods, reason = "the clock is virtual")]
    pub(crate) fn of(options: Options, site: impl Into<RuledSite>) -> Self {
        let virtual_time = VirtualTime::start(1_000_000_000);
        let identity = Identity::self_signed().expect("a certificate");
        let server = Server::new(SERVER.into(), &identity, site, options);
        Self {
            server: server.expect("a server"),
            epoch: Instant::now(),
            now: Duration::ZERO,
            replies: BTreeMap::new(),
            _virtual_time: virtual_time,
        }
    }

    fn at(&self) -> Instant {
        self.epoch + self.now
    }

    /// Lets `ms` of virtual time pass in steps of 1 ms, in each of which everybody receives and sends.
    /// Once nobody has a timer within the time that is left, it is skipped.
    pub(crate) fn run_ms(&mut self, ms: u64, peers: &mut [&mut Peer]) {
        let end = self.now + Duration::from_millis(ms);
        while self.now < end {
            self.exchange(peers);
            let timers = peers.iter().filter_map(|it| it.quic.timeout_instant());
            let next = timers.chain(self.server.next_timeout()).min();
            let next = next.map_or(end, |it| it.saturating_duration_since(self.epoch));
            self.now = next.max(self.now + Duration::from_millis(1)).min(end);
            virtual_clock::set_ns(
                1_000_000_000 + u64::try_from(self.now.as_nanos()).expect("short"),
            );
            for peer in &mut *peers {
                if peer.quic.timeout_instant().is_some_and(|it| it <= self.at()) {
                    peer.quic.on_timeout();
                }
            }
            self.server.on_timeout(self.at());
        }
        self.exchange(peers);
    }

    fn exchange(&mut self, peers: &mut [&mut Peer]) {
        loop {
            let mut quiet = true;
            for peer in &mut *peers {
                while let Some(mut datagram) = peer.send() {
                    quiet = false;
                    self.server.receive(&mut datagram, peer.address, self.at());
                }
            }
            for (to, datagram) in self.transmit() {
                quiet = false;
                match peers.iter_mut().find(|it| it.address == to) {
                    Some(peer) => peer.receive(datagram),
                    None => *self.replies.entry(to).or_default() += 1,
                }
            }
            if quiet {
                return;
            }
        }
    }

    /// At most 64 datagrams, so that acknowledgements come in time.
    fn transmit(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut buffer = vec![0; 65_536];
        let mut sent = Vec::new();
        while sent.len() < 64
            && let Some(transmit) = self.server.transmit(self.epoch + self.now, &mut buffer)
        {
            let datagrams = buffer[..transmit.bytes].chunks(transmit.segment_bytes);
            sent.extend(datagrams.map(|it| (transmit.to, it.to_vec())));
        }
        sent
    }

    /// A datagram from nobody.
    pub(crate) fn deliver(&mut self, datagram: &[u8]) {
        self.deliver_from(datagram, ([127, 0, 0, 1], 9).into());
    }

    pub(crate) fn deliver_from(&mut self, datagram: &[u8], from: SocketAddr) {
        self.server.receive(&mut datagram.to_vec(), from, self.at());
    }

    /// How many datagrams the server sent to an address where no client runs.
    pub(crate) fn replies(&mut self, to: SocketAddr) -> usize {
        self.exchange(&mut []);
        self.replies.get(&to).copied().unwrap_or_default()
    }

    pub(crate) fn drain(&mut self) {
        self.server.drain(self.at());
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.server.is_drained(self.at())
    }
}

/// A bare client.
pub(crate) struct Peer {
    quic: quiche::Connection,
    session: Session,
    pub(crate) address: SocketAddr,
    opened: bool,
    /// A stream that it does not read.
    pub(crate) unread: Option<u64>,
    bodies: BTreeMap<u64, u64>,
    /// Bodies are not looked at.
    pub(crate) takes_any_body: bool,
    /// `:status` by stream.
    pub(crate) statuses: BTreeMap<u64, String>,
    finished: BTreeSet<u64>,
    /// The same, in order.
    pub(crate) order: Vec<u64>,
    /// It does not send its SETTINGS yet.
    pub(crate) is_silent: bool,
    /// The scheme that the server announced.
    pub(crate) scheme: Option<String>,
    pub(crate) resets: BTreeMap<u64, u64>,
    pub(crate) goaway: Option<u64>,
    /// Pushes that were promised.
    pub(crate) promised: Vec<PushId>,
}

impl Peer {
    pub(crate) fn new(world: &World, number: u16) -> Self {
        Self::with_settings(world, number, Settings::default())
    }

    pub(crate) fn with_settings(world: &World, number: u16, settings: Settings) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 5000 + number));
        Self::at(world, address, settings)
    }

    pub(crate) fn at(world: &World, address: SocketAddr, settings: Settings) -> Self {
        Self::allowing(world, address, settings, 10)
    }

    /// One that resumes a session.
    pub(crate) fn returning(world: &World, number: u16, session: &[u8]) -> Self {
        let mut peer = Self::new(world, number);
        peer.quic.set_session(session).expect("a session");
        peer
    }

    /// One that lets the server open so many unidirectional streams.
    pub(crate) fn allowing(
        _in: &World,
        address: SocketAddr,
        settings: Settings,
        unidirectional_streams: u64,
    ) -> Self {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a configuration");
        config.set_application_protos(&[b"h3"]).expect("a protocol");
        config.verify_peer(false);
        config.set_initial_max_data(10_000_000);
        config.set_initial_max_stream_data_bidi_local(100_000);
        config.set_initial_max_stream_data_uni(10_000);
        config.set_initial_max_streams_uni(unidirectional_streams);
        config.enable_early_data();
        let id = [address.port().to_be_bytes()[1]; 16];
        let scid = quiche::ConnectionId::from_ref(&id);
        let quic = quiche::connect(Some("localhost"), &scid, address, SERVER.into(), &mut config);
        Self {
            quic: quic.expect("a client"),
            session: Session::new(Role::Client, settings, http3::Limits::default()),
            address,
            opened: false,
            unread: None,
            bodies: BTreeMap::new(),
            takes_any_body: false,
            statuses: BTreeMap::new(),
            finished: BTreeSet::new(),
            order: Vec::new(),
            is_silent: false,
            scheme: None,
            resets: BTreeMap::new(),
            goaway: None,
            promised: Vec::new(),
        }
    }

    pub(crate) fn first_datagram(&mut self) -> Vec<u8> {
        self.send().expect("a first datagram")
    }

    pub(crate) fn get(&mut self, stream: u64, path: &str) {
        assert!(self.try_get(stream, path), "stream {stream} is allowed");
    }

    pub(crate) fn try_get(&mut self, stream: u64, path: &str) -> bool {
        self.request(stream, "GET", path, true)
    }

    /// With a `priority` field.
    pub(crate) fn get_with(&mut self, stream: u64, path: &str, priority: &str) {
        assert!(self.request_with(stream, ("GET", path), &[("priority", priority)], true));
    }

    /// A request whose body does not end.
    pub(crate) fn try_post(&mut self, stream: u64, path: &str) -> bool {
        self.request(stream, "POST", path, false)
    }

    pub(crate) fn request(&mut self, stream: u64, method: &str, path: &str, fin: bool) -> bool {
        self.request_with(stream, (method, path), &[], fin)
    }

    fn request_with(
        &mut self,
        stream: u64,
        (method, path): (&str, &str),
        more: &[(&str, &str)],
        fin: bool,
    ) -> bool {
        let fields = [
            (":method", method),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", path),
        ];
        let fields = fields.iter().chain(more);
        let fields: Vec<Header> =
            fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect();
        let frame = self.session.encode_headers(&fields).expect("encodes");
        self.quic.stream_send(stream, &frame, fin).is_ok()
    }

    pub(crate) fn send_raw(
        &mut self,
        stream: u64,
        bytes: &[u8],
        fin: bool,
    ) -> Result<usize, quiche::Error> {
        self.quic.stream_send(stream, bytes, fin)
    }

    /// What the server gave to come back with.
    pub(crate) fn session(&self) -> Vec<u8> {
        self.quic.session().expect("a session").to_vec()
    }

    /// Lets the server promise pushes with IDs below `end`.
    pub(crate) fn allow_pushes(&mut self, end: u64) {
        let (stream, bytes) = self.session.allow_pushes(end);
        self.quic.stream_send(stream.0, &bytes, false).expect("room");
    }

    /// Says that it does not want a push.
    pub(crate) fn cancel_push(&mut self, push: PushId) {
        let (stream, bytes) = self.session.cancel_push(push);
        self.quic.stream_send(stream.0, &bytes, false).expect("room");
    }

    /// Takes back a request, and wants nothing of its response.
    pub(crate) fn reset(&mut self, stream: u64) {
        self.quic.stream_shutdown(stream, quiche::Shutdown::Write, 0x10c).expect("open");
        self.stop(stream);
    }

    /// Wants nothing more of a response.
    pub(crate) fn stop(&mut self, stream: u64) {
        self.quic.stream_shutdown(stream, quiche::Shutdown::Read, 0x10c).ok();
    }

    /// What has come of a body.
    pub(crate) fn came_bytes(&self, stream: u64) -> u64 {
        self.bodies.get(&stream).copied().unwrap_or_default()
    }

    /// The size of a body that came whole.
    pub(crate) fn body_bytes(&self, stream: u64) -> Option<u64> {
        let whole = self.finished.contains(&stream);
        whole.then(|| self.bodies.get(&stream).copied().unwrap_or_default())
    }

    /// The code with which the server closed the connection.
    pub(crate) fn closed_with(&self) -> Option<u64> {
        self.quic.peer_error().map(|it| it.error_code)
    }

    pub(crate) fn is_established(&self) -> bool {
        self.quic.is_established()
    }

    fn send(&mut self) -> Option<Vec<u8>> {
        if self.quic.is_established()
            && !self.is_silent
            && !std::mem::replace(&mut self.opened, true)
        {
            for (stream, bytes) in self.session.opening() {
                self.quic.stream_send(stream.0, &bytes, false).expect("room");
            }
        }
        let mut datagram = vec![0; 1350];
        let (bytes, _) = self.quic.send(&mut datagram).ok()?;
        datagram.truncate(bytes);
        Some(datagram)
    }

    fn receive(&mut self, mut datagram: Vec<u8>) {
        let info = quiche::RecvInfo { from: SERVER.into(), to: self.address };
        self.quic.recv(&mut datagram, info).ok();
        let mut buffer = vec![0; 65_536];
        for stream in self.quic.readable().filter(|it| Some(*it) != self.unread) {
            loop {
                match self.quic.stream_recv(stream, &mut buffer) {
                    Ok((bytes, fin)) => {
                        let good = self.session.receive(StreamId(stream), &buffer[..bytes], fin);
                        good.expect("the server's bytes are good");
                    }
                    Err(quiche::Error::StreamReset(code)) => {
                        self.resets.insert(stream, code);
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
        while let Some(event) = self.session.poll() {
            self.on_event(event);
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Headers { stream, headers, .. } => {
                let status = headers.iter().find(|it| it.name() == b":status").expect("a status");
                let status = String::from_utf8_lossy(status.value()).into_owned();
                self.statuses.insert(stream.0, status);
            }
            Event::Data { stream, bytes } => {
                let sofar = self.bodies.entry(stream.0).or_default();
                if !self.takes_any_body {
                    assert_body(*sofar, &bytes);
                }
                *sofar += bytes.len() as u64;
            }
            Event::Finished { stream } => {
                self.finished.insert(stream.0);
                self.order.push(stream.0);
            }
            Event::PushPromise { push, .. } => self.promised.push(push),
            Event::GoAway { id } => self.goaway = Some(id),
            Event::PreferredScheme(name) => self.scheme = Some(name),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer")
            .field("bodies", &self.bodies)
            .field("finished", &self.finished)
            .field("resets", &self.resets)
            .field("goaway", &self.goaway)
            .field("closed_with", &self.closed_with())
            .finish_non_exhaustive()
    }
}
