//! A page load over several connections to one server, as the engine `stack` does one over one: the real server
//! core and bare clients over quiche, through one pair of links, in virtual time.
//!
//! It is for studies of what connections cost each other, and of groups of connections that the server orders
//! as one ([`http3::Settings::connection_group`]). All connections are opened when the load begins; the
//! document goes over the first. Each datagram has a byte more on the links: the number of its connection.

use crate::Load;
use crate::link::{Link, Way};
use crate::network::Network;
use crate::resource_url;
use crate::stack::StackError;
use client::playback::Playback;
use corpus::Page;
use http3::{Event, Header, Role, Session, Settings, StreamId};
use qlog_tools::timeline::{StreamFrame, Timeline, Transfer};
use server::site::PageSite;
use server::{Identity, Options, Server};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

/// What a load needs beside its page.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The server's.
    pub options: Options,
    /// The links, which all connections share.
    pub network: &'a Network,
    /// What the links draw.
    pub seed: u64,
    /// The server's certificate.
    pub identity: &'a Identity,
    /// How many connections, at most 64.
    pub connections: usize,
    /// Which connection a resource is asked for on, counted from 0; beyond the last it begins again.
    pub split: fn(&Page, usize) -> usize,
    /// Whether the client asks the server to order them as one.
    pub grouped: bool,
}

/// Virtual time after which a load is given up.
const LIMIT: Duration = Duration::from_secs(3600);

/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);
const FIRST_PORT: u16 = 5000;
const START_NS: u64 = 1_000_000_000;

/// A name for the group: here nobody guesses.
const GROUP: u64 = 0x1234_5678_9abc;

/// Loads `page` once.
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<Load, StackError> {
    let scheme = setup.options.scheme.name.clone();
    let mut several = Several::new(page, setup)?;
    let completed = several.run();
    let timeline = Timeline { name: scheme, ..several.timeline };
    Ok(Load { completed, timeline })
}

struct Several {
    page: Arc<Page>,
    playback: Playback,
    split: fn(&Page, usize) -> usize,
    lines: Vec<Line>,
    server: Server,
    down: Link,
    up: Link,
    epoch: Instant,
    now: Duration,
    timeline: Timeline,
    buffer: Vec<u8>,
    _virtual_time: VirtualTime,
}

/// One connection of the client.
struct Line {
    quic: quiche::Connection,
    session: Session,
    opened: bool,
    /// Resources to ask for.
    waiting: VecDeque<usize>,
    next_stream: u64,
    /// Resources by stream, and the body bytes that have come.
    responses: BTreeMap<StreamId, (usize, u64)>,
}

impl Several {
    #[expect(clippy::disallowed_methods, reason = "the thread's clock is virtual")]
    fn new(page: &Arc<Page>, setup: Setup<'_>) -> Result<Self, StackError> {
        let virtual_time = VirtualTime::start(START_NS);
        let epoch = Instant::now();
        let mut options = setup.options;
        options.limits.idle = PATIENCE;
        let site = Arc::new(PageSite::new(Page::clone(page)));
        let server = Server::new(SERVER.into(), setup.identity, site, options)?;
        let (down, up) = setup.network.profiles();
        let mut playback = Playback::new(Arc::clone(page));
        playback.start(0);
        let group = setup.grouped.then_some(GROUP);
        let lines = (0..setup.connections.clamp(1, 64)).map(|number| Line::new(number, group));
        Ok(Self {
            page: Arc::clone(page),
            playback,
            split: setup.split,
            lines: lines.collect::<Result<_, _>>().map_err(client::ConnectError::Transport)?,
            server,
            down: Link::new(&down, Way::Down, setup.seed),
            up: Link::new(&up, Way::Up, setup.seed),
            epoch,
            now: Duration::ZERO,
            timeline: Timeline::default(),
            buffer: vec![0; 65_536],
            _virtual_time: virtual_time,
        })
    }

    /// From event to event until the page is there; false: it never is.
    fn run(&mut self) -> bool {
        while !self.playback.is_done() {
            self.ask();
            self.send();
            match self.next_event() {
                Some(next) if next < LIMIT => self.advance(next),
                _ => return false,
            }
        }
        true
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.now.as_micros()).unwrap_or(u64::MAX)
    }

    fn ask(&mut self) {
        let now_us = self.now_us();
        for resource in self.playback.due(now_us) {
            let line = if resource == 0 { 0 } else { (self.split)(&self.page, resource) };
            let count = self.lines.len();
            self.lines[line % count].waiting.push_back(resource);
        }
        for line in &mut self.lines {
            for resource in line.ask(&self.page) {
                let bytes = Some(self.page.resources[resource].bytes);
                self.timeline.transfers.push(Transfer {
                    stream: resource as u64,
                    url: resource_url(&self.page, resource),
                    requested_us: now_us,
                    body_offset: 0,
                    body_bytes: bytes,
                    stream_bytes: bytes,
                });
            }
        }
    }

    fn send(&mut self) {
        let now_ns = nanoseconds(self.now);
        for (number, line) in self.lines.iter_mut().enumerate() {
            while let Ok((bytes, _)) = line.quic.send(&mut self.buffer) {
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

    fn next_event(&self) -> Option<Duration> {
        let arrivals = [self.down.next_ns(), self.up.next_ns()].into_iter().flatten();
        let lines = self.lines.iter().filter_map(|it| it.quic.timeout_instant());
        let timers = lines.chain(self.server.next_timeout());
        let timers = timers.map(|it| it.saturating_duration_since(self.epoch));
        let playback = self.playback.next_timeout_us().map(Duration::from_micros);
        let next = timers.chain(arrivals.map(Duration::from_nanos)).chain(playback).min()?;
        Some(next.max(self.now + Duration::from_nanos(1)))
    }

    fn advance(&mut self, now: Duration) {
        self.now = now;
        let now_ns = nanoseconds(now);
        virtual_clock::set_ns(START_NS + now_ns);
        let now = self.epoch + now;
        while let Some(mut datagram) = self.down.arrival(now_ns) {
            self.receive(&mut datagram);
        }
        while let Some(mut datagram) = self.up.arrival(now_ns) {
            if let Some((number, bytes)) = datagram.split_last_mut() {
                self.server.receive(bytes, address(usize::from(*number)), now);
            }
        }
        for line in &mut self.lines {
            if line.quic.timeout_instant().is_some_and(|it| it <= now) {
                line.quic.on_timeout();
            }
        }
        self.server.on_timeout(now);
    }

    fn receive(&mut self, datagram: &mut [u8]) {
        let Some((number, bytes)) = datagram.split_last_mut() else { return };
        let number = usize::from(*number);
        let now_us = self.now_us();
        let Some(line) = self.lines.get_mut(number) else { return };
        let info = quiche::RecvInfo { from: SERVER.into(), to: address(number) };
        // quiche closes the connection itself where an error asks for it.
        line.quic.recv(bytes, info).ok();
        for (resource, offset, bytes, finished) in line.read(&mut self.buffer) {
            let frame = StreamFrame { time_us: now_us, stream: resource as u64, offset, bytes };
            self.timeline.frames.push(frame);
            self.playback.arrived(resource, offset + bytes, now_us);
            if finished {
                self.playback.completed(resource, now_us);
            }
        }
    }
}

impl Line {
    fn new(number: usize, group: Option<u64>) -> Result<Self, quiche::Error> {
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
        let id = [u8::try_from(number).unwrap_or(0); 16];
        let scid = quiche::ConnectionId::from_ref(&id);
        let (local, remote) = (address(number), SERVER.into());
        let settings = Settings { connection_group: group, ..Settings::default() };
        Ok(Self {
            quic: quiche::connect(Some("localhost"), &scid, local, remote, &mut config)?,
            session: Session::new(Role::Client, settings, http3::Limits::default()),
            opened: false,
            waiting: VecDeque::new(),
            next_stream: 0,
            responses: BTreeMap::new(),
        })
    }

    /// Asks for what waits, as far as the server allows streams: what was asked for.
    fn ask(&mut self, page: &Page) -> Vec<usize> {
        let mut asked = Vec::new();
        if !self.quic.is_established() {
            return asked;
        }
        if !std::mem::replace(&mut self.opened, true) {
            for (stream, bytes) in self.session.opening() {
                self.quic.stream_send(stream.0, &bytes, false).ok();
            }
        }
        while let Some(resource) = self.waiting.front().copied() {
            let path = &page.resources[resource].url;
            let fields = [
                (":method", "GET"),
                (":scheme", "https"),
                (":authority", "localhost"),
                (":path", path.as_str()),
            ];
            let fields = fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
            let Ok(frame) = self.session.encode_headers(&fields) else { return asked };
            if self.quic.stream_send(self.next_stream, &frame, true) != Ok(frame.len()) {
                return asked;
            }
            self.responses.insert(StreamId(self.next_stream), (resource, 0));
            self.next_stream += 4;
            self.waiting.pop_front();
            asked.push(resource);
        }
        asked
    }

    /// What has come of bodies: resource, offset, bytes, and whether that was all.
    fn read(&mut self, buffer: &mut [u8]) -> Vec<(usize, u64, u64, bool)> {
        for stream in self.quic.readable() {
            while let Ok((bytes, fin)) = self.quic.stream_recv(stream, buffer) {
                self.session.receive(StreamId(stream), &buffer[..bytes], fin).ok();
            }
        }
        let mut parts = Vec::new();
        while let Some(event) = self.session.poll() {
            match event {
                Event::Data { stream, bytes } => {
                    let Some((resource, sofar)) = self.responses.get_mut(&stream) else { continue };
                    parts.push((*resource, *sofar, bytes.len() as u64, false));
                    *sofar += bytes.len() as u64;
                }
                Event::Finished { stream } | Event::Reset { stream, .. } => {
                    let Some((resource, sofar)) = self.responses.remove(&stream) else { continue };
                    parts.push((resource, sofar, 0, true));
                    self.session.forget(stream);
                }
                _ => {}
            }
        }
        parts
    }
}

fn address(number: usize) -> SocketAddr {
    let port = FIRST_PORT + u16::try_from(number).unwrap_or(0);
    SocketAddr::from(([127, 0, 0, 1], port))
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
