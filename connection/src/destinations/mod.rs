//! The further connections of a client, to which responses of its first connection move ([`migration`]).
//!
//! The first connection is the *source*: it makes all requests. The owner reads it through [`Destinations::arrival`], and
//! passes everything from [`Destinations::moved`] to its session. So one session sees each response, whatever connection
//! carries it.

mod other;

use crate::limits::{EARLY_PUSHES_MAX, KEEP_ALIVE, OTHERS_MAX};
use crate::{Arrival, ClientConfig, Connection, Path, Transmit};
use http3::{Code, PushId, Role, Settings, StreamId};
use migration::{
    Action, Continuation, Error, MIGRATE, Migrate, Name, Offer, PAYLOAD_BYTES_MAX, Reads,
    Receiving, Scope, Secret, Subject,
};
use other::Other;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

/// A client's connections beside the source, and the responses that may move to them.
///
/// It has many methods, because a byte can arrive on any of the connections and belongs to a response that all of them share.
pub struct Destinations {
    config: ClientConfig,
    server_name: Option<String>,
    server: SocketAddr,
    ask_after_bytes: Option<u64>,
    /// The source's name and secret, once its handshake is complete.
    source: Option<(Name, Secret)>,
    /// Whether the server has the extension.
    is_agreed: bool,
    others: Vec<Other>,
    responses: BTreeMap<Subject, Response>,
    /// The pushes whose streams are open at the source.
    pushes: BTreeMap<StreamId, PushId>,
    /// Bytes read from the source's unidirectional streams before it was known which push each one carries.
    unattributed: BTreeMap<StreamId, u64>,
    moved_bytes: u64,
    /// When the silent source must send a packet again.
    keep_alive: Option<Instant>,
}

/// A response under way.
struct Response {
    /// Its stream at the source; for a push, once the stream has opened.
    stream: Option<StreamId>,
    receiving: Receiving,
    waits: Option<Waits>,
}

/// Why a response needs a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// The server asked for one.
    ToAnswer,
    /// The client wants to ask for the response's migration.
    ToAsk,
}

impl Destinations {
    /// For connections to `server`, whose certificate must cover `server_name`, if given. They do nothing unless
    /// [`ClientConfig::migration`] is set.
    pub fn new(server_name: Option<&str>, server: SocketAddr, config: &ClientConfig) -> Self {
        Self {
            config: config.clone(),
            server_name: server_name.map(str::to_owned),
            server,
            ask_after_bytes: None,
            source: None,
            is_agreed: false,
            others: Vec::new(),
            responses: BTreeMap::new(),
            pushes: BTreeMap::new(),
            unattributed: BTreeMap::new(),
            moved_bytes: 0,
            keep_alive: None,
        }
    }

    /// From now on, the client asks to move each response after reading this many bytes of its stream. Otherwise only the
    /// server moves responses.
    pub fn ask_after(&mut self, bytes: u64) {
        self.ask_after_bytes = Some(bytes);
    }

    /// The source may open its streams. Call it before [`Connection::open`].
    pub fn opening(&mut self, source: &mut Connection) {
        if self.config.migration && self.source.is_none() {
            self.source = named(source, None);
        }
    }

    /// The server's settings arrived on the source.
    pub fn on_settings(&mut self, source: &mut Connection, settings: &Settings) {
        match Offer::read(settings, Role::Server) {
            Ok(offer) => self.is_agreed = offer.is_some() && self.source.is_some(),
            Err(error) => source.close(error.code(), &error.to_string()),
        }
        if !self.is_agreed {
            self.source = None;
            self.responses.clear();
        }
    }

    /// Whether responses can move.
    pub fn is_agreed(&self) -> bool {
        self.is_agreed
    }

    /// Opens a connection that stays idle until a response moves to it.
    pub fn open_spare(&mut self, source: &Connection, now: Instant) {
        if self.is_agreed {
            self.connect(source, now);
        }
    }

    /// Whether a connection is being opened.
    pub fn is_opening(&self) -> bool {
        self.others.iter().any(Other::is_opening)
    }

    /// The number of open connections beside the source.
    pub fn open(&self) -> usize {
        self.others.iter().filter(|it| it.usable_name().is_some()).count()
    }

    /// Bytes of responses that arrived on them.
    pub fn moved_bytes(&self) -> u64 {
        self.moved_bytes
    }

    /// A request was made on `stream` of the source.
    pub fn requested(&mut self, stream: StreamId) {
        self.keep(Subject::Request(stream), Some(stream));
    }

    /// The stream of a push has opened at the source.
    pub fn push_stream(&mut self, stream: StreamId, push: PushId) {
        let bytes = self.unattributed.remove(&stream).unwrap_or(0);
        self.pushes.insert(stream, push);
        if let Some(response) = self.keep(Subject::Push(push), Some(stream)) {
            response.stream = Some(stream);
            response.receiving.read(bytes);
        }
    }

    /// The owner has cancelled the rest of the response on `stream` of the source.
    pub fn cancelled(&mut self, stream: StreamId) {
        let subject = self.subject(stream);
        self.responses.remove(&subject);
        for other in &mut self.others {
            other.stop(subject, Code::RequestCancelled);
        }
    }

    /// A frame arrived that [`Session::accept_frames`](http3::Session::accept_frames) admits.
    pub fn on_frame(
        &mut self,
        source: &mut Connection,
        frame_type: u64,
        payload: &[u8],
        now: Instant,
    ) {
        if frame_type != MIGRATE || !self.is_agreed {
            return;
        }
        match Migrate::parse(payload) {
            Ok(frame) => self.take_frame(source, &frame, now),
            Err(error) => source.close(error.code(), &error.to_string()),
        }
    }

    /// Like [`Connection::arrival`] of the source, but no further than the point at which a response moves.
    pub fn arrival<'a>(
        &mut self,
        source: &mut Connection,
        stream: StreamId,
        buffer: &'a mut [u8],
        now: Instant,
    ) -> Option<Arrival<'a>> {
        let subject = self.subject(stream);
        let room = match self.responses.get(&subject).map(|response| response.receiving.reads()) {
            Some(Reads::Source(bytes)) => usize::try_from(bytes).unwrap_or(usize::MAX),
            Some(Reads::Destination(_) | Reads::Nothing) => return None,
            None => usize::MAX,
        };
        let room = room.min(buffer.len());
        let arrival = source.arrival(stream, &mut buffer[..room])?;
        let bytes = if let Arrival::Bytes(bytes, _) = arrival { bytes.len() as u64 } else { 0 };
        if let Some(response) = self.responses.get_mut(&subject) {
            response.receiving.read(bytes);
        } else if self.source.is_some() && !stream.0.is_multiple_of(4) {
            *self.unattributed.entry(stream).or_default() += bytes;
        }
        if arrival.is_last() {
            self.responses.remove(&subject);
            self.unattributed.remove(&stream);
        } else {
            self.ask_if_due(source, subject, now);
        }
        Some(arrival)
    }

    /// The next arrival on another connection: the source's stream to which it belongs, for the source's session.
    pub fn moved<'a>(
        &mut self,
        source: &mut Connection,
        buffer: &'a mut [u8],
        now: Instant,
    ) -> Option<(StreamId, Arrival<'a>)> {
        let mut found = None;
        for place in 0..self.others.len() {
            self.others[place].read_own(buffer);
            for stream in self.others[place].continuations() {
                if found.is_none() {
                    found = self.readable(source, place, stream);
                }
            }
        }
        let (place, stream, subject, at_source) = found?;
        self.keep_alive(source, now);
        let arrival = self.others[place].connection.arrival(stream, buffer)?;
        if let Arrival::Bytes(bytes, fin) = arrival
            && let Some(response) = self.responses.get_mut(&subject)
        {
            let (offset, length) = (response.receiving.bytes(), bytes.len() as u64);
            http3::log::moved(source.quic.qlog_streamer(), at_source, offset, length, fin);
            response.receiving.read(bytes.len() as u64);
            self.moved_bytes += bytes.len() as u64;
        }
        if arrival.is_last() {
            self.responses.remove(&subject);
            self.others[place].forget(stream);
            stop_reading(source, at_source, Code::NoError);
        }
        Some((at_source, arrival))
    }

    /// Takes a datagram, unless it belongs to the source.
    pub fn receive(&mut self, datagram: &mut [u8], path: Path) -> bool {
        if self.others.is_empty() {
            return false;
        }
        let Ok(header) = quiche::Header::from_slice(datagram, self.config.id_bytes) else {
            return false;
        };
        let Some(other) = self.others.iter_mut().find(|other| other.has_id(&header.dcid)) else {
            return false;
        };
        other.receive(datagram, path);
        true
    }

    /// Serves responses that wait for connections, and detects connections that are over. Call it after datagrams and timers.
    pub fn progress(&mut self, source: &mut Connection, now: Instant) {
        while let Some(place) = self.others.iter().position(Other::is_over) {
            let lost = self.others.remove(place);
            if let Some(name) = lost.name {
                self.lost(source, name);
            }
        }
        for response in self.responses.values_mut() {
            if let Some(frame) = response.receiving.on_timeout(now) {
                send(source, &frame);
            }
        }
        self.serve_waiting(source, now);
    }

    /// Writes the next datagram of another connection to `out`.
    pub fn transmit(&mut self, out: &mut [u8]) -> Option<Transmit> {
        self.others.iter_mut().find_map(|it| it.connection.transmit(out))
    }

    /// Acts on the timers of the other connections; [`Self::progress`] acts on the timers of responses.
    pub fn on_timeout(&mut self, now: Instant) {
        for other in &mut self.others {
            other.connection.on_timeout(now);
        }
    }

    /// When to call [`Self::on_timeout`] and [`Self::progress`].
    pub fn next_timeout(&self) -> Option<Instant> {
        let connections = self.others.iter().filter_map(|it| it.connection.next_timeout());
        let responses = self.responses.values().filter_map(|it| it.receiving.next_timeout());
        connections.chain(responses).min()
    }

    /// Closes all of them.
    pub fn close(&mut self, code: Code, reason: &str) {
        for other in &mut self.others {
            other.connection.close(code, reason);
        }
    }

    fn subject(&self, stream: StreamId) -> Subject {
        self.pushes.get(&stream).map_or(Subject::Request(stream), |push| Subject::Push(*push))
    }

    /// The record of a response; creates one if needed. `None`: the extension is not in use.
    fn keep(&mut self, subject: Subject, stream: Option<StreamId>) -> Option<&mut Response> {
        let (name, _) = self.source.as_ref()?;
        Some(self.responses.entry(subject).or_insert_with(|| {
            let receiving = Receiving::new(*name, subject);
            Response { stream, receiving, waits: None }
        }))
    }

    fn take_frame(&mut self, source: &mut Connection, frame: &Migrate, now: Instant) {
        let subject = frame.subject;
        if let Subject::Push(_) = subject
            && self.responses.len() < source_requests(source) + EARLY_PUSHES_MAX
        {
            self.keep(subject, None);
        }
        // The stream tells the server that a response is over.
        let Some(response) = self.responses.get_mut(&subject) else { return };
        let usable: Vec<Name> = self.others.iter().filter_map(Other::usable_name).collect();
        match response.receiving.receive(frame, &|name| usable.contains(&name), now) {
            Ok(actions) => {
                for action in actions {
                    self.carry_out(source, subject, action, now);
                }
            }
            Err(error) => self.fail(source, subject, error),
        }
    }

    fn carry_out(
        &mut self,
        source: &mut Connection,
        subject: Subject,
        action: Action,
        now: Instant,
    ) {
        match action {
            Action::Send(frame) => send(source, &frame),
            Action::Connect => self.wait(source, subject, Waits::ToAnswer, now),
            // Only servers drop.
            Action::Drop(_) => {}
        }
    }

    fn fail(&mut self, source: &mut Connection, subject: Subject, error: Error) {
        match error.scope() {
            Scope::Connection => source.close(error.code(), &error.to_string()),
            Scope::Extension => self.is_agreed = false,
            Scope::Response => {
                let stream = self.responses.remove(&subject).and_then(|it| it.stream);
                for other in &mut self.others {
                    other.stop(subject, error.code());
                }
                if let Some(stream) = stream {
                    // The session reports it to the owner as if the server had reset the stream.
                    source.session.stream_reset(stream, error.code().value()).ok();
                    stop_reading(source, stream, error.code());
                }
            }
        }
    }

    fn ask_if_due(&mut self, source: &Connection, subject: Subject, now: Instant) {
        let Some(after_bytes) = self.ask_after_bytes.filter(|_| self.is_agreed) else { return };
        let due =
            self.responses.get(&subject).is_some_and(|Response { receiving, waits, .. }| {
                waits.is_none() && receiving.may_ask() && receiving.bytes() >= after_bytes
            });
        if due {
            self.wait(source, subject, Waits::ToAsk, now);
        }
    }

    /// A response needs a connection: takes an idle one, or opens a new one.
    fn wait(&mut self, source: &Connection, subject: Subject, what: Waits, now: Instant) {
        if let Some(response) = self.responses.get_mut(&subject) {
            response.waits = Some(what);
        }
        if self.smallest_idle().is_none() {
            self.connect(source, now);
        }
    }

    /// Gives idle connections to waiting responses. Those for which no connection is being opened keep waiting.
    fn serve_waiting(&mut self, source: &mut Connection, now: Instant) {
        let mut opening = self.others.iter().filter(|it| it.is_opening()).count();
        let waiting: Vec<Subject> =
            self.responses.iter().filter(|(_, it)| it.waits.is_some()).map(|it| *it.0).collect();
        for subject in waiting {
            let idle = self.smallest_idle();
            if idle.is_none() && opening > 0 {
                opening -= 1;
                continue;
            }
            let Some(response) = self.responses.get_mut(&subject) else { continue };
            let frame = match response.waits.take() {
                Some(Waits::ToAnswer) => response.receiving.connected(idle, now),
                Some(Waits::ToAsk) => idle.and_then(|name| response.receiving.ask(name)),
                None => None,
            };
            if let Some(frame) = frame {
                send(source, &frame);
            }
        }
    }

    /// Keeps the source alive: without packets, it would time out during a long transfer elsewhere.
    fn keep_alive(&mut self, source: &mut Connection, now: Instant) {
        if self.keep_alive.is_none_or(|due| due <= now) {
            self.keep_alive = Some(now + KEEP_ALIVE);
            source.quic.send_ack_eliciting().ok();
        }
    }

    fn lost(&mut self, source: &mut Connection, name: Name) {
        for response in self.responses.values_mut() {
            if let Some(frame) = response.receiving.destination_lost(name) {
                send(source, &frame);
            }
        }
    }

    fn connect(&mut self, source: &Connection, now: Instant) {
        let Some((_, secret)) = &self.source else { return };
        if self.others.len() >= OTHERS_MAX {
            return;
        }
        let name = self.server_name.as_deref();
        let (local, config) = (source.local_addr(), &self.config);
        // A failed attempt counts like a failed connection.
        if let Ok(connection) = Connection::connect(name, local, self.server, config, now) {
            self.others.push(Other::new(connection, secret.clone()));
        }
    }

    fn smallest_idle(&self) -> Option<Name> {
        let mut names: Vec<Name> = self.others.iter().filter_map(Other::usable_name).collect();
        names.retain(|name| !self.responses.values().any(|it| it.receiving.involves(*name)));
        names.into_iter().min()
    }

    /// Whether the continuation can be read now: returns its response and the source's stream.
    fn readable(
        &mut self,
        source: &mut Connection,
        place: usize,
        stream: StreamId,
    ) -> Option<(usize, StreamId, Subject, StreamId)> {
        let header = self.others[place].header(stream)?;
        let subject = header.subject;
        let Some(response) = self.responses.get(&subject) else {
            // It is over, but a push may arrive before its stream at the source.
            if matches!(subject, Subject::Request(_)) {
                self.others[place].stop(subject, Code::RequestCancelled);
            }
            return None;
        };
        let here = self.others[place].usable_name().map(Reads::Destination);
        if here != Some(response.receiving.reads()) {
            return None;
        }
        if let Err(error) = response.receiving.continues(&header) {
            self.fail(source, subject, error);
            return None;
        }
        let is_due = self.others[place].connection.quic.stream_readable(stream.0);
        let at_source = response.stream.filter(|_| is_due)?;
        Some((place, stream, subject, at_source))
    }
}

/// The name of a connection whose handshake is complete, and its secret, before its settings are sent. Early data is sent
/// before there is a secret, so such a connection has no name. The name belongs to the connection whose secret is `first`;
/// without one, this is the first connection.
fn named(connection: &mut Connection, first: Option<&Secret>) -> Option<(Name, Secret)> {
    if connection.is_open() || !connection.quic.is_established() {
        return None;
    }
    let secret = connection.secret()?;
    let name = Name::next(first.unwrap_or(&secret), &secret);
    connection.session.offer(Offer::Named(name).settings());
    connection.session.accept_frames(MIGRATE, PAYLOAD_BYTES_MAX);
    Some((name, secret))
}

fn send(source: &mut Connection, frame: &Migrate) {
    let control = source.session.control_stream();
    source.send(control, frame.to_frame(), false);
    source.flush();
}

fn stop_reading(source: &mut Connection, stream: StreamId, code: Code) {
    source.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code.value()).ok();
}

fn source_requests(source: &Connection) -> usize {
    usize::try_from(source.next_request().0 / 4).unwrap_or(usize::MAX)
}
