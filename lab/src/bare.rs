//! Bare clients of a real server, in virtual time: HTTP/3 over quiche without a playback, for loads in which something
//! else than a browser decides what is asked for, and over how many connections.
//!
//! All of them share one pair of links. Each datagram has a byte more there: the number of its connection.

use crate::network::Network;
use crate::stack::StackError;
use connection::Endpoint;
use http3::{Event, Header, Role, Session, Settings, Signal, StreamId};
use server::site::RuledSite;
use server::{Identity, Options, Server};
use simulator::link::{Link, Way};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

/// The server, its clients, the links between them, and the time.
pub(crate) struct World {
    pub(crate) clients: Vec<BareClient>,
    server: Server,
    down: Link,
    up: Link,
    epoch: Instant,
    now: Duration,
    buffer: Vec<u8>,
    _virtual_time: VirtualTime,
}

/// One connection of a client.
pub(crate) struct BareClient {
    quic: quiche::Connection,
    session: Session,
    opened: bool,
}

/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

/// Virtual time after which a world ends.
const LIMIT: Duration = Duration::from_secs(3600);

/// Connections that the byte on the links can number, and more than a study needs.
const MAX_CLIENTS: usize = 64;

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);
const FIRST_PORT: u16 = 5000;
const START_NS: u64 = 1_000_000_000;

impl World {
    /// A server of `site`, and a client that offers each of `settings`, at most 64.
    #[expect(clippy::disallowed_methods, reason = "the thread's clock is virtual")]
    pub(crate) fn new(
        mut options: Options,
        site: impl Into<RuledSite>,
        (network, seed): (&Network, u64),
        identity: &Identity,
        settings: Vec<Settings>,
    ) -> Result<Self, StackError> {
        let virtual_time = VirtualTime::start(START_NS);
        let epoch = Instant::now();
        options.limits.idle = PATIENCE;
        let server = Server::new(SERVER.into(), identity, site, options)?;
        let (down, up) = network.profiles();
        let settings = settings.into_iter().take(MAX_CLIENTS).enumerate();
        let clients = settings.map(|(number, settings)| BareClient::connect(number, settings));
        Ok(Self {
            clients: clients.collect::<Result<_, _>>().map_err(client::ConnectError::Transport)?,
            server,
            down: Link::new(&down, Way::Down, seed),
            up: Link::new(&up, Way::Up, seed),
            epoch,
            now: Duration::ZERO,
            buffer: vec![0; 65_536],
            _virtual_time: virtual_time,
        })
    }

    /// Since the beginning.
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Everybody sends what he may, and time passes to the next event, `wakeup` included; false: there is none, or only
    /// beyond the limit.
    pub(crate) fn step(&mut self, wakeup: Option<Duration>) -> bool {
        self.send();
        match self.next_event(wakeup) {
            Some(next) if next < LIMIT => {
                self.advance(next);
                true
            }
            _ => false,
        }
    }

    /// What has come to the client of this number.
    pub(crate) fn events(&mut self, number: usize) -> Vec<Event> {
        let client = self.clients.get_mut(number);
        client.map(|it| it.events(&mut self.buffer)).unwrap_or_default()
    }

    fn send(&mut self) {
        let now_ns = nanoseconds(self.now);
        for (number, client) in self.clients.iter_mut().enumerate() {
            while let Ok((bytes, _)) = client.quic.send(&mut self.buffer) {
                self.up.offer(now_ns, marked(number, &self.buffer[..bytes]));
            }
        }
        let now = self.epoch + self.now;
        while let Some(transmit) = self.server.transmit(now, &mut self.buffer) {
            let number = usize::from(transmit.to.port().saturating_sub(FIRST_PORT));
            for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes.max(1)) {
                self.down.offer(now_ns, marked(number, datagram));
            }
        }
    }

    fn next_event(&self, wakeup: Option<Duration>) -> Option<Duration> {
        let arrivals = [self.down.next_ns(), self.up.next_ns()].into_iter().flatten();
        let clients = self.clients.iter().filter_map(|it| it.quic.timeout_instant());
        let timers = clients.chain(self.server.next_timeout());
        let timers = timers.map(|it| it.saturating_duration_since(self.epoch));
        let next = timers.chain(arrivals.map(Duration::from_nanos)).chain(wakeup).min()?;
        Some(next.max(self.now + Duration::from_nanos(1)))
    }

    fn advance(&mut self, now: Duration) {
        self.now = now;
        let now_ns = nanoseconds(now);
        virtual_clock::set_ns(START_NS + now_ns);
        let now = self.epoch + now;
        while let Some(mut datagram) = self.down.arrival(now_ns) {
            let Some((number, bytes)) = datagram.split_last_mut() else { continue };
            if let Some(client) = self.clients.get_mut(usize::from(*number)) {
                let info = quiche::RecvInfo { from: SERVER.into(), to: address(*number) };
                // quiche closes the connection itself where an error asks for it.
                client.quic.recv(bytes, info).ok();
            }
        }
        while let Some(mut datagram) = self.up.arrival(now_ns) {
            if let Some((number, bytes)) = datagram.split_last_mut() {
                self.server.receive(bytes, address(*number), now);
            }
        }
        for client in &mut self.clients {
            if client.quic.timeout_instant().is_some_and(|it| it <= now) {
                client.quic.on_timeout();
            }
        }
        self.server.on_timeout(now);
    }
}

impl BareClient {
    fn connect(number: usize, settings: Settings) -> Result<Self, quiche::Error> {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
        config.set_application_protos(&[b"h3"])?;
        config.verify_peer(false);
        let windows = client::Options::default();
        config.set_max_idle_timeout(u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX));
        config.set_max_recv_udp_payload_size(windows.udp_payload_bytes);
        config.set_initial_max_data(windows.receive_bytes);
        config.set_initial_max_stream_data_bidi_local(windows.stream_receive_bytes);
        config.set_initial_max_stream_data_uni(windows.stream_receive_bytes);
        config.set_initial_max_streams_uni(16);
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        let id = [number; 16];
        let scid = quiche::ConnectionId::from_ref(&id);
        let (local, remote) = (address(number), SERVER.into());
        Ok(Self {
            quic: quiche::connect(Some("localhost"), &scid, local, remote, &mut config)?,
            session: Session::new(Role::Client, settings, http3::Limits::default()),
            opened: false,
        })
    }

    /// Whether there is a connection to ask on.
    pub(crate) fn is_open(&mut self) -> bool {
        if self.quic.is_established() && !std::mem::replace(&mut self.opened, true) {
            for (stream, bytes) in self.session.opening() {
                self.quic.stream_send(stream.0, &bytes, false).ok();
            }
        }
        self.opened
    }

    /// Whether the server has said what it takes.
    pub(crate) fn knows_server(&self) -> bool {
        self.session.peer_settings().is_some()
    }

    /// Asks for `path`, with more fields; false: the server allows no such stream now.
    pub(crate) fn ask(&mut self, stream: StreamId, path: &str, more: &[(&str, &str)]) -> bool {
        let fields = [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", path),
        ];
        let fields = fields.iter().chain(more);
        let fields: Vec<Header> =
            fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect();
        let Ok(frame) = self.session.encode_headers(&fields) else { return false };
        self.quic.stream_send(stream.0, &frame, true) == Ok(frame.len())
    }

    /// Says something about order; false: this connection has no words for it.
    pub(crate) fn say(&mut self, signal: &Signal) -> bool {
        let Some((stream, bytes)) = self.session.signal(signal) else { return false };
        self.quic.stream_send(stream.0, &bytes, false) == Ok(bytes.len())
    }

    /// Nothing more is heard of a stream.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.session.forget(stream);
    }

    fn events(&mut self, buffer: &mut [u8]) -> Vec<Event> {
        for stream in self.quic.readable() {
            while let Ok((bytes, fin)) = self.quic.stream_recv(stream, buffer) {
                self.session.receive(StreamId(stream), &buffer[..bytes], fin).ok();
            }
        }
        std::iter::from_fn(|| self.session.poll()).collect()
    }
}

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], FIRST_PORT + u16::from(number)))
}

/// A datagram with the number of its connection behind it.
fn marked(number: usize, datagram: &[u8]) -> Vec<u8> {
    let mut marked = datagram.to_vec();
    marked.push(u8::try_from(number).unwrap_or(u8::MAX));
    marked
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
