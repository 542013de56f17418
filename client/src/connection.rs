//! One page load: quiche below, HTTP/3 in the middle, the playback above.

mod caching;
mod early_data;
mod preloading;
mod pushing;
mod responses;

use crate::http_cache::Stored;
use crate::ordered_delivery::OrderedDelivery;
use crate::outcome::{ConnectError, Outcome, Problem};
use crate::playback::Playback;
use crate::pushed::PushCache;
use crate::requests::Requests;
use crate::signalling::{Signalling, Writing};
use crate::{EarlyData, HttpCache, Options, Verify};
use connection::{Endpoint, Transmit};
use corpus::Page;
use http3::{Header, Prioritized, Role, Session, Signal, StreamId};
use ring::rand::{SecureRandom, SystemRandom};
use schedulers::Priority;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// A client that loads one page over one connection, without socket and clock.
pub struct Client {
    local: SocketAddr,
    quic: quiche::Connection,
    session: Session,
    page: Arc<Page>,
    playback: Playback,
    signalling: Signalling,
    keep_bodies: bool,
    server_name: String,
    verify: Verify,
    /// When the client was made; the playback counts from here.
    epoch: Instant,
    connect_until: Option<Instant>,
    /// Requests may go: after the handshake, or before in early data.
    started: bool,
    /// Bytes that the transport had no room for, and whether they are their stream's last.
    control: VecDeque<(StreamId, Vec<u8>, bool)>,
    /// Discovered, and waiting for a stream.
    requests: Requests,
    responses: BTreeMap<StreamId, Receiving>,
    /// How many promises may be open; 0: none are taken.
    pushes: u64,
    pushed: PushCache,
    /// What earlier visits left, and what was validated since.
    cache: HttpCache,
    cache_digest: bool,
    /// Where data waits that is not to be handed up as it arrives.
    ordered: Option<OrderedDelivery>,
    outcome: Outcome,
    next_stream: u64,
    scratch: Vec<u8>,
}

/// A response under way.
#[derive(Debug, Default)]
struct Receiving {
    /// None: a push whose promise is still to come.
    resource: Option<usize>,
    body_bytes: u64,
    status: u16,
    /// What its head says of copies.
    stored: Option<Stored>,
    /// Kept until the promise comes.
    body: Vec<u8>,
    /// It ended before its promise came.
    ended: bool,
}

const NO_ERROR: u64 = 0x100;

/// What a server may open beside pushes.
const UNIDIRECTIONAL_STREAMS: u64 = 16;

impl Client {
    /// A client at `local` that will load `page` from `server`.
    pub fn connect(
        page: Arc<Page>,
        local: SocketAddr,
        server: SocketAddr,
        options: &Options,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let mut config = transport_config(options)?;
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| ConnectError::Random)?;
        let scid = quiche::ConnectionId::from_ref(&id);
        let host = page.origins.first().map_or("localhost", |it| it.host.as_str());
        let name = if options.verify == Verify::Nobody { host } else { "localhost" };
        let mut quic = quiche::connect(Some(name), &scid, local, server, &mut config)?;
        if let Some(path) = &options.qlog_file {
            let file = File::create(path)
                .map_err(|source| ConnectError::Log { path: path.clone(), source })?;
            let title = format!("utmost client, page {}", page.name);
            quic.set_qlog(Box::new(BufWriter::new(file)), title, page.name.clone());
        }
        let mut session = Session::new(
            Role::Client,
            Signalling::settings(options.scheme.as_ref()),
            http3_limits(options),
        );
        early_data::resume((&mut quic, &mut session), name, options)?;
        Ok(Self {
            local,
            quic,
            session,
            server_name: name.to_owned(),
            verify: options.verify.clone(),
            playback: Playback::new(Arc::clone(&page)),
            signalling: Signalling::new(options.scheme.as_ref(), options.metadata),
            keep_bodies: options.keep_bodies,
            page,
            epoch: now,
            connect_until: Some(now + options.connect_within),
            started: false,
            control: VecDeque::new(),
            requests: Requests::new(options.hold_back),
            responses: BTreeMap::new(),
            pushes: options.pushes,
            pushed: PushCache::default(),
            cache: options.cache.clone(),
            cache_digest: options.cache_digest,
            ordered: options.delivery_order.clone().map(OrderedDelivery::new),
            outcome: Outcome {
                cookies: options.cookies.clone(),
                cache: options.cache.clone(),
                ..Outcome::default()
            },
            next_stream: 0,
            scratch: vec![0; 65_536],
        })
    }

    /// Writes the connection's qlog to `writer`, from now on; instead of [`Options::qlog_file`].
    pub fn log_to(&mut self, writer: Box<dyn std::io::Write + Send + Sync>) {
        let title = format!("utmost client, page {}", self.page.name);
        self.quic.set_qlog(writer, title, self.page.name.clone());
    }

    /// How it ended, once it has: the page is loaded and the connection closed, or lost.
    pub fn outcome(&mut self) -> Option<&Outcome> {
        if self.quic.is_closed() || self.quic.is_draining() {
            self.note_end();
            self.save_session();
            return Some(&self.outcome);
        }
        None
    }

    fn note_end(&mut self) {
        if self.outcome.completed
            || self.outcome.problems.iter().any(|it| matches!(it, Problem::Connection(_)))
        {
            return;
        }
        let reason = match (self.quic.peer_error(), self.quic.local_error()) {
            // A TLS alert about a certificate (RFC 9001, 4.8; RFC 8446, 6): unknown issuer, or bad in itself.
            (_, Some(it)) if matches!(it.error_code, 0x12a..=0x130) && !it.is_app => {
                "the server's certificate is not trusted; name its authority with --ca, or use --insecure"
                    .to_owned()
            }
            (Some(it), _) => format!(
                "closed by the server, code {:#x} {}",
                it.error_code,
                String::from_utf8_lossy(&it.reason)
            ),
            (_, Some(it)) => {
                format!("closed, code {:#x} {}", it.error_code, String::from_utf8_lossy(&it.reason))
            }
            _ if self.quic.is_timed_out() => "nothing came for too long".to_owned(),
            _ => "closed".to_owned(),
        };
        self.lose(reason);
    }

    fn lose(&mut self, reason: String) {
        self.outcome.problems.push(Problem::Connection(reason));
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX)
    }

    fn start(&mut self, now: Instant) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.control = self
            .session
            .opening()
            .into_iter()
            .map(|(stream, bytes)| (stream, bytes, false))
            .collect();
        self.allow_pushes();
        self.write_control();
        self.playback.start(self.micros(now));
    }

    fn write_control(&mut self) {
        while let Some((stream, bytes, fin)) = self.control.front_mut() {
            let Ok(taken) = self.quic.stream_send(stream.0, bytes, *fin) else { return };
            bytes.drain(..taken);
            if !bytes.is_empty() {
                return;
            }
            self.control.pop_front();
        }
    }

    fn write(&mut self, writings: Vec<Writing>) {
        for Writing { signal, stream, bytes } in writings {
            if let Signal::Extensible { stream: request, urgency, incremental } = signal {
                let field = Priority::new(urgency, incremental).request_field();
                let prioritized = Prioritized::Request(request);
                let log = self.quic.qlog_streamer();
                http3::log::priority_update_created(log, stream, prioritized, &field, bytes.len());
            }
            self.control.push_back((stream, bytes, false));
        }
        self.write_control();
    }

    /// Asks for what has been discovered by now, in order of discovery.
    fn request_due(&mut self, now: Instant) {
        let now_us = self.micros(now);
        loop {
            let due = self.playback.due(now_us);
            if due.is_empty() && self.requests.next(&self.page.resources).is_none() {
                return self.end_if_loaded();
            }
            for resource in due {
                self.requests.discovered(&self.page.resources[resource]);
            }
            while let Some(resource) = self.requests.next(&self.page.resources) {
                if self.cache.has(resource) {
                    self.come(resource, now_us);
                } else if !self.request(resource) {
                    return;
                }
                self.requests.asked(resource);
            }
        }
    }

    /// The whole of a resource is there.
    fn come(&mut self, resource: usize, now_us: u64) {
        self.requests.came(resource);
        self.playback.arrived(resource, self.page.resources[resource].bytes, now_us);
        self.playback.completed(resource, now_us);
    }

    fn end_if_loaded(&mut self) {
        let open = self.responses.values().any(|it| it.resource.is_some());
        if self.playback.is_done() && self.requests.is_empty() && !open && !self.outcome.completed {
            self.outcome.completed = true;
            self.outcome.pushed = self.pushed.resources().collect();
            self.outcome.refused_pushes = self.pushed.refused();
            let path = self.quic.path_stats().find(|it| it.active);
            self.outcome.round_trip = path.and_then(|it| it.min_rtt);
            self.quic.close(true, NO_ERROR, b"done").ok();
        }
    }

    /// Opens a request; false: the server allows no further stream now.
    fn request(&mut self, resource: usize) -> bool {
        if self.pushed.take(resource) {
            return true;
        }
        let stream = StreamId(self.next_stream);
        let fields = self.request_headers(stream, resource);
        let Ok(frame) = self.session.encode_headers(&fields) else { return true };
        match self.quic.stream_send(stream.0, &frame, true) {
            Ok(taken) if taken == frame.len() => {}
            // A request that fits only in part cannot be taken back; the rest follows like control data.
            Ok(taken) => self.control.push_back((stream, frame[taken..].to_vec(), true)),
            Err(_) => return false,
        }
        self.next_stream += 4;
        http3::log::headers_created(self.quic.qlog_streamer(), stream, &fields, frame.len());
        self.responses
            .insert(stream, Receiving { resource: Some(resource), ..Receiving::default() });
        true
    }

    fn request_headers(&mut self, stream: StreamId, resource: usize) -> Vec<Header> {
        let known = &self.page.resources[resource];
        let host = self.page.origins.get(known.origin).map_or("localhost", |it| it.host.as_str());
        let mut fields = vec![
            Header::new(b":method", b"GET"),
            Header::new(b":scheme", b"https"),
            Header::new(b":authority", host.as_bytes()),
            Header::new(b":path", known.url.as_bytes()),
            Header::new(b"user-agent", b"utmost"),
        ];
        let (said, writings) = self.signalling.request(&self.session, stream, known);
        fields.extend(
            said.iter().map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())),
        );
        self.write(writings);
        let cookies = self.outcome.cookies.field();
        fields.extend(cookies.map(|it| Header::new(b"cookie", it.as_bytes())));
        fields.extend(self.cache_fields(resource));
        fields
    }

    fn read_streams(&mut self, now: Instant) {
        for stream in self.quic.readable().map(StreamId) {
            loop {
                let read =
                    match (self.quic.stream_recv(stream.0, &mut self.scratch), &mut self.ordered) {
                        (Ok((bytes, fin)), Some(ordered)) if stream.0.is_multiple_of(4) => {
                            ordered.arrived(stream, &self.scratch[..bytes], fin);
                            Ok(fin)
                        }
                        (Ok((bytes, fin)), _) => {
                            self.session.receive(stream, &self.scratch[..bytes], fin).map(|()| fin)
                        }
                        (Err(quiche::Error::StreamReset(code)), ordered) => {
                            if let Some(ordered) = ordered {
                                ordered.was_reset(stream);
                            }
                            self.session.stream_reset(stream, code).map(|()| true)
                        }
                        (Err(_), _) => break,
                    };
                match self.handle(stream, read, now) {
                    Some(false) => {}
                    Some(true) => break,
                    None => return,
                }
            }
        }
        while let Some((stream, bytes, fin)) =
            self.ordered.as_mut().and_then(OrderedDelivery::release)
        {
            let read = self.session.receive(stream, &bytes, fin).map(|()| fin);
            if self.handle(stream, read, now).is_none() {
                return;
            }
        }
    }

    /// What the session made of bytes that were read: whether they were the stream's last; none: the
    /// connection is over.
    fn handle(
        &mut self,
        stream: StreamId,
        read: Result<bool, http3::Error>,
        now: Instant,
    ) -> Option<bool> {
        while let Some(event) = self.session.poll() {
            self.on_event(event, now);
        }
        read.map_err(|error| {
            self.lose(format!("{error} on stream {}", stream.0));
            self.quic.close(true, error.code(), error.to_string().as_bytes()).ok();
        })
        .ok()
    }
}

impl Endpoint for Client {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn receive(&mut self, datagram: &mut [u8], from: SocketAddr, now: Instant) {
        let info = quiche::RecvInfo { from, to: self.local };
        // quiche closes the connection itself where an error asks for it.
        self.quic.recv(datagram, info).ok();
        if self.quic.is_established() {
            self.connect_until = None;
            self.settle_early_data();
            self.start(now);
            self.read_streams(now);
            self.request_due(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.quic.timeout_instant().is_some_and(|it| it <= now) {
            self.quic.on_timeout();
        }
        if self.connect_until.is_some_and(|it| it <= now) {
            self.connect_until = None;
            self.lose("no answer to the handshake in time; is an HTTP/3 server there?".to_owned());
            self.quic.close(false, 0, b"").ok();
        }
        if self.started {
            self.request_due(now);
        }
    }

    fn transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.start_early();
        self.write_control();
        match self.quic.send(out) {
            Ok((bytes, info)) => Some(Transmit::single(info.to, bytes)),
            Err(quiche::Error::Done) => None,
            Err(error) => {
                self.lose(error.to_string());
                None
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let playback = self.playback.next_timeout_us().filter(|_| self.started);
        let playback = playback.map(|us| self.epoch + std::time::Duration::from_micros(us));
        [self.quic.timeout_instant(), self.connect_until, playback].into_iter().flatten().min()
    }
}

fn transport_config(options: &Options) -> Result<quiche::Config, ConnectError> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[b"h3"])?;
    config.enable_early_data();
    config.verify_peer(options.verify != Verify::Nobody);
    if let Verify::Authorities(path) = &options.verify {
        let text = path.to_str().ok_or_else(|| ConnectError::Authorities(path.clone()))?;
        config
            .load_verify_locations_from_file(text)
            .map_err(|_| ConnectError::Authorities(path.clone()))?;
    }
    config.set_max_idle_timeout(u64::try_from(options.idle.as_millis()).unwrap_or(u64::MAX));
    config.set_max_recv_udp_payload_size(options.udp_payload_bytes);
    config.set_initial_max_data(options.receive_bytes);
    config.set_initial_max_stream_data_bidi_local(options.stream_receive_bytes);
    config.set_initial_max_stream_data_bidi_remote(options.stream_receive_bytes);
    config.set_initial_max_stream_data_uni(options.stream_receive_bytes);
    config.set_initial_max_streams_bidi(0);
    config.set_initial_max_streams_uni(UNIDIRECTIONAL_STREAMS + options.pushes);
    Ok(config)
}

/// Every push has a stream of its own.
fn http3_limits(options: &Options) -> http3::Limits {
    let defaults = http3::Limits::default();
    let pushes = usize::try_from(options.pushes).unwrap_or(usize::MAX);
    let unidirectional_streams = defaults.unidirectional_streams.saturating_add(pushes);
    http3::Limits { unidirectional_streams, ..defaults }
}
