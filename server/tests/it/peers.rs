//! A server and any number of bare clients, in virtual time.

use crate::simulation::{Bodies, assert_body};
use connection::{ClientConfig, Endpoint, Path, Transmit, Verify};
use http3::{Event, Header, NameValue, PushId, Settings, StreamId};
use server::site::Site;
use server::{CongestionControl, Identity, Limits, Options, Server};
use simulator::{BareClient, Links};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

pub(crate) const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

/// CUBIC, because BBR cannot work with round trips that take no time.
pub(crate) fn options(scheme: &str) -> Options {
    let congestion_control = CongestionControl::Cubic;
    Options { congestion_control, ..crate::simulation::options(scheme) }
}

pub(crate) fn limits() -> Limits {
    Limits { idle: Duration::from_secs(30), drain: Duration::from_secs(10), ..Limits::default() }
}

/// A server at [`SERVER`]. Over its links everything arrives at once, unless a test provides
/// others.
pub(crate) struct World(simulator::World<Server>);

impl World {
    pub(crate) fn new(options: Options) -> Self {
        Self::of(options, Bodies)
    }

    pub(crate) fn of(options: Options, site: impl Site + 'static) -> Self {
        Self::over(Links::immediate(), options, site)
    }

    pub(crate) fn over(links: Links, options: Options, site: impl Site + 'static) -> Self {
        let identity = Identity::self_signed().expect("a certificate");
        let server = Server::new(SERVER.into(), &identity, site, options).expect("a server");
        Self(simulator::World::new(server, links))
    }

    /// Lets `ms` of virtual time pass.
    pub(crate) fn run_ms(&mut self, ms: u64, peers: &mut [&mut Peer]) {
        self.run_for(Duration::from_millis(ms), peers);
    }

    /// A datagram from an address without a client.
    pub(crate) fn deliver_noise(&mut self, datagram: &[u8]) {
        self.deliver(datagram, ([127, 0, 0, 1], 9).into());
    }

    /// How many datagrams the server sent to an address without a client.
    pub(crate) fn replies(&mut self, to: SocketAddr) -> u64 {
        self.run_ms(1, &mut []);
        self.undelivered(to)
    }

    pub(crate) fn drain(&mut self) {
        let now = self.now();
        self.server.drain(now);
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.server.is_drained(self.now())
    }
}

impl Deref for World {
    type Target = simulator::World<Server>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A bare client that remembers what arrived.
pub(crate) struct Peer {
    pub(crate) client: BareClient,
    bodies: BTreeMap<u64, u64>,
    /// Whether any body will do; otherwise each must equal that of [`Bodies`].
    pub(crate) takes_any_body: bool,
    /// `:status` by stream.
    pub(crate) statuses: BTreeMap<u64, String>,
    /// The heads of responses as they arrived, one line per field.
    pub(crate) heads: Vec<String>,
    finished: BTreeSet<u64>,
    /// The streams in the order in which their responses ended, and when.
    pub(crate) ended: Vec<(u64, Instant)>,
    /// Parts of bodies in the order in which they were read: stream, bytes, when.
    pub(crate) arrivals: Vec<(u64, u64, Instant)>,
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
        Self::connect(world, address, &ClientConfig { settings, ..config() })
    }

    /// A client that resumes a session.
    pub(crate) fn returning(world: &World, number: u16, session: &[u8]) -> Self {
        let mut peer = Self::new(world, number);
        peer.client.connection.quic.set_session(session).expect("a session");
        peer
    }

    /// A client that lets the server open this many unidirectional streams.
    pub(crate) fn allowing(
        world: &World,
        address: SocketAddr,
        settings: Settings,
        unidirectional_streams: u64,
    ) -> Self {
        Self::connect(
            world,
            address,
            &ClientConfig { settings, unidirectional_streams, ..config() },
        )
    }

    pub(crate) fn connect(world: &World, address: SocketAddr, config: &ClientConfig) -> Self {
        Self::begin(address, config, world.now())
    }

    pub(crate) fn begin(address: SocketAddr, config: &ClientConfig, now: Instant) -> Self {
        let client = BareClient::connect(address, SERVER.into(), config, now);
        Self {
            client: client.expect("a client"),
            bodies: BTreeMap::new(),
            takes_any_body: false,
            statuses: BTreeMap::new(),
            heads: Vec::new(),
            finished: BTreeSet::new(),
            ended: Vec::new(),
            arrivals: Vec::new(),
            scheme: None,
            resets: BTreeMap::new(),
            goaway: None,
            promised: Vec::new(),
        }
    }

    pub(crate) fn first_datagram(&mut self, world: &World) -> Vec<u8> {
        let mut buffer = vec![0; 65_536];
        let transmit = self.transmit(world.now(), &mut buffer).expect("a first datagram");
        buffer.truncate(transmit.bytes);
        buffer
    }

    pub(crate) fn get(&mut self, stream: u64, path: &str) {
        assert!(self.try_get(stream, path), "stream {stream} is allowed");
    }

    pub(crate) fn try_get(&mut self, stream: u64, path: &str) -> bool {
        self.client.get(StreamId(stream), "localhost", path, &[])
    }

    /// With a `priority` field.
    pub(crate) fn get_with(&mut self, stream: u64, path: &str, priority: &str) {
        let fields = [("priority", priority)];
        assert!(self.client.get(StreamId(stream), "localhost", path, &fields));
    }

    /// A request whose body does not end.
    pub(crate) fn try_post(&mut self, stream: u64, path: &str) -> bool {
        self.request(stream, "POST", path, false)
    }

    pub(crate) fn request(&mut self, stream: u64, method: &str, path: &str, fin: bool) -> bool {
        let fields = [
            (":method", method),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", path),
        ];
        self.send_fields(stream, &fields, fin)
    }

    pub(crate) fn send_fields(&mut self, stream: u64, fields: &[(&str, &str)], fin: bool) -> bool {
        let header = |(name, value): &(&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
        let fields: Vec<Header> = fields.iter().map(header).collect();
        self.client.connection.request(StreamId(stream), &fields, fin).expect("encodes")
    }

    pub(crate) fn send_raw(
        &mut self,
        stream: u64,
        bytes: &[u8],
        fin: bool,
    ) -> Result<usize, quiche::Error> {
        self.client.connection.quic.stream_send(stream, bytes, fin)
    }

    /// The TLS session for its return.
    pub(crate) fn session(&self) -> Vec<u8> {
        self.client.connection.quic.session().expect("a session").to_vec()
    }

    /// Lets the server promise pushes with IDs below `end`.
    pub(crate) fn allow_pushes(&mut self, end: u64) {
        let (stream, bytes) = self.client.connection.session.allow_pushes(end);
        self.send_raw(stream.0, &bytes, false).expect("room");
    }

    /// Refuses a push.
    pub(crate) fn cancel_push(&mut self, push: PushId) {
        let (stream, bytes) = self.client.connection.session.cancel_push(push);
        self.send_raw(stream.0, &bytes, false).expect("room");
    }

    /// Cancels a request and refuses its response.
    pub(crate) fn reset(&mut self, stream: u64) {
        let quic = &mut self.client.connection.quic;
        quic.stream_shutdown(stream, quiche::Shutdown::Write, 0x10c).expect("open");
        self.stop(stream);
    }

    /// Refuses the rest of a response.
    pub(crate) fn stop(&mut self, stream: u64) {
        self.client.connection.quic.stream_shutdown(stream, quiche::Shutdown::Read, 0x10c).ok();
    }

    /// The streams in the order in which their responses ended.
    pub(crate) fn order(&self) -> Vec<u64> {
        self.ended.iter().map(|(stream, _)| *stream).collect()
    }

    /// Bytes of a body that have arrived.
    pub(crate) fn came_bytes(&self, stream: u64) -> u64 {
        self.bodies.get(&stream).copied().unwrap_or_default()
    }

    /// The size of a body that arrived completely.
    pub(crate) fn body_bytes(&self, stream: u64) -> Option<u64> {
        self.finished.contains(&stream).then(|| self.came_bytes(stream))
    }

    /// The code with which the server closed the connection.
    pub(crate) fn closed_with(&self) -> Option<u64> {
        self.client.connection.quic.peer_error().map(|it| it.error_code)
    }

    pub(crate) fn is_established(&self) -> bool {
        self.client.connection.quic.is_established()
    }

    fn on_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Headers { stream, headers, .. } => {
                let status = headers.iter().find(|it| it.name() == b":status").expect("a status");
                let status = String::from_utf8_lossy(status.value()).into_owned();
                self.statuses.insert(stream.0, status);
                self.heads.push(headers.iter().map(line).collect());
            }
            Event::Data { stream, bytes } => {
                let sofar = self.bodies.entry(stream.0).or_default();
                if !self.takes_any_body {
                    assert_body(*sofar, &bytes);
                }
                *sofar += bytes.len() as u64;
                self.arrivals.push((stream.0, bytes.len() as u64, now));
            }
            Event::Finished { stream } => {
                self.finished.insert(stream.0);
                self.ended.push((stream.0, now));
            }
            Event::Reset { stream, code } => {
                self.resets.insert(stream.0, code);
            }
            Event::PushPromise { push, .. } => self.promised.push(push),
            Event::GoAway { id } => self.goaway = Some(id),
            Event::PreferredScheme(name) => self.scheme = Some(name),
            _ => {}
        }
    }
}

fn line(field: &Header) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes);
    format!("{}: {}\n", text(field.name()), text(field.value()))
}

pub(crate) fn config() -> ClientConfig {
    ClientConfig {
        verify: Verify::Nobody,
        idle: Duration::ZERO,
        receive_bytes: 10_000_000,
        stream_receive_bytes: 100_000,
        unidirectional_streams: 10,
        ..ClientConfig::default()
    }
}

impl Endpoint for Peer {
    fn local_addr(&self) -> SocketAddr {
        self.client.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.client.receive(datagram, path, now);
        for event in self.client.events().collect::<Vec<_>>() {
            self.on_event(event, now);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.client.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.client.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.client.next_timeout()
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
