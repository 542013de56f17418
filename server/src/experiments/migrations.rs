//! Stream migration between the connections of a server ([`migration`]): which connections belong together, and where
//! each response that moves is.

use crate::outgoing::{Outgoing, Stage};
use crate::send_loop::Ending;
use crate::together::{Connections, Occasion};
use http3::{Code, StreamId};
use migration::{
    Action, Continuation, Destination, Error, Kind, Migrate, Name, Names, Overtaking, Place,
    Policy, Scope, Sending, Subject,
};
use schedulers::Priority;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The connections with names, and the responses that have moved or were asked to.
pub(crate) struct Migrations {
    policy: Policy,
    names: Names<u64>,
    members: BTreeMap<u64, Member>,
    moving: BTreeMap<Key, Moving>,
    /// Connections that may have something to send now.
    touched: BTreeSet<u64>,
}

/// The source and the response.
type Key = (Name, Subject);

/// A connection that has a name.
struct Member {
    name: Name,
    overtaking: Overtaking,
}

/// A response that has moved, or was asked to.
struct Moving {
    sending: Sending,
    source: u64,
    /// Its stream at the source, and how much of it went there.
    stream: StreamId,
    source_bytes: u64,
    /// The rest when it left, if all of it was there: it can be sent again.
    kept: Option<Rest>,
    at: At,
}

/// Where the rest of a response is.
enum At {
    Source(Origin),
    Destination { serial: u64, stream: StreamId, origin: Origin },
    Nowhere(Option<Box<Rest>>),
}

/// The place at which a response begins or goes on. It is 0 and 0 until the response moves.
#[derive(Debug, Clone, Copy, Default)]
struct Origin {
    /// The offset on the stream there.
    stream: u64,
    /// The offset in the response's stream, on the connection of its request.
    response: u64,
}

impl Origin {
    /// The offset in the response's stream of a byte of the stream there.
    fn response_offset(self, stream_offset: u64) -> u64 {
        self.response + stream_offset.saturating_sub(self.stream)
    }
}

/// What is left of a response.
struct Rest {
    outgoing: Outgoing,
    origin: Origin,
}

impl Rest {
    /// What is here of it from byte `from` of the response on, for another stream.
    fn part(&self, from: u64) -> Self {
        let start = self.origin.stream + from.saturating_sub(self.origin.response);
        Self { outgoing: self.outgoing.part(start), origin: Origin { stream: 0, response: from } }
    }

    /// The length of the response, once it is known.
    fn response_bytes(&self) -> Option<u64> {
        self.outgoing.stream_bytes().map(|it| self.origin.response_offset(it))
    }
}

impl Migrations {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            policy,
            names: Names::default(),
            members: BTreeMap::new(),
            moving: BTreeMap::new(),
            touched: BTreeSet::new(),
        }
    }

    /// Does what an occasion on a connection gives reason for. Returns the connections that may have something to send now.
    pub(crate) fn update(
        &mut self,
        serial: u64,
        occasion: Occasion,
        all: &mut dyn Connections,
        now: Instant,
    ) -> BTreeSet<u64> {
        match occasion {
            Occasion::Over => self.leave(serial, all, now),
            Occasion::TimerFired => {}
            Occasion::Sent => {
                if all.responder(serial).is_some_and(|it| it.sender.streams.take_paused()) {
                    self.act(serial, all, now);
                }
            }
            Occasion::Came | Occasion::Brought => self.act(serial, all, now),
        }
        std::mem::take(&mut self.touched)
    }

    fn act(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let Some(responder) = all.responder(serial) else { return };
        let news = responder.take_news();
        let claimed = if news.has_settings { responder.claimed_name() } else { None };
        if responder.sender.connection.is_closing() {
            return self.leave(serial, all, now);
        }
        // A name that does not follow from the secret does nothing: the connection goes on without one.
        let joined =
            claimed.filter(|(name, secret)| self.names.join(*name, secret, serial).is_ok());
        if let Some((name, _)) = joined {
            self.members.insert(serial, Member { name, overtaking: Overtaking::default() });
        }
        for payload in news.frames {
            let Some(member) = self.members.get_mut(&serial) else { return };
            let frame = Migrate::parse(&payload);
            if let Err(error) = frame.and_then(|it| member.overtaking.hold(it, now)) {
                return close(all, serial, error);
            }
            self.release(serial, all, now);
        }
        if joined.is_some() {
            self.release_all(all, now);
        }
        for (stream, priority) in news.signals {
            self.prioritize(serial, stream, priority, all);
        }
        self.consider(serial, all, now);
        self.end_stopped(serial, all);
        self.end_finished(serial, all, now);
    }

    /// A connection is over: its responses at other connections end, and those of others that are here come back.
    fn leave(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let Some(member) = self.members.remove(&serial) else { return };
        self.names.leave(member.name);
        let keys: Vec<Key> = self.moving.keys().copied().collect();
        for key in keys {
            let Some(moving) = self.moving.get_mut(&key) else { continue };
            if moving.source == serial {
                self.drop_response(key, all, Code::RequestCancelled);
            } else if matches!(moving.at, At::Destination { serial: on, .. } if on == serial) {
                sync(moving, all);
                moving.at = At::Nowhere(take_out(moving, all));
                let source = moving.source;
                if let Some(frame) = moving.sending.destination_lost(member.name, now) {
                    self.send(source, &frame, all);
                }
            }
        }
    }

    /// When to call [`Self::on_timeout`].
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let responses = self.moving.values().filter_map(|it| it.sending.next_timeout());
        let frames = self.members.values().filter_map(|it| it.overtaking.next_timeout());
        responses.chain(frames).min()
    }

    /// Gives up clients that do not answer, and connections that do not come. Returns the connections that may have something
    /// to send now.
    pub(crate) fn on_timeout(&mut self, all: &mut dyn Connections, now: Instant) -> BTreeSet<u64> {
        if self.next_timeout().is_none_or(|it| it > now) {
            return BTreeSet::new();
        }
        self.release_all(all, now);
        let keys: Vec<Key> = self.moving.keys().copied().collect();
        for key in keys {
            let Some(moving) = self.moving.get_mut(&key) else { continue };
            if let Err(error) = moving.sending.on_timeout(now) {
                self.fail(key, error, all);
            }
        }
        std::mem::take(&mut self.touched)
    }

    fn release_all(&mut self, all: &mut dyn Connections, now: Instant) {
        let serials: Vec<u64> = self.members.keys().copied().collect();
        for serial in serials {
            self.release(serial, all, now);
        }
    }

    /// Takes the frames of a connection that need not wait for others.
    fn release(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let Some(member) = self.members.get_mut(&serial) else { return };
        let source = member.name;
        let names = &self.names;
        let known = |name| names.connection(name).is_some();
        for frame in member.overtaking.release(&known, now) {
            self.take_frame((source, frame.subject), serial, &frame, all, now);
        }
    }

    fn take_frame(
        &mut self,
        key: Key,
        serial: u64,
        frame: &Migrate,
        all: &mut dyn Connections,
        now: Instant,
    ) {
        let mut can_move = true;
        if !self.moving.contains_key(&key) {
            if frame.kind == Kind::Acknowledgement {
                return;
            }
            let Some(responder) = all.responder(serial) else { return };
            let stream = responder.stream_of(key.1);
            let Some(stream) = stream.filter(|it| responder.sender.streams.is_sending(*it)) else {
                return self.send(serial, &frame.too_late(key.0), all);
            };
            can_move = responder.movable_on(stream).is_some();
            self.moving.insert(key, Moving::new(key, serial, stream));
        }
        let Some(moving) = self.moving.get_mut(&key) else { return };
        sync(moving, all);
        let names = &self.names;
        let is_usable = |name| {
            let connection = names.connection(name).filter(|_| can_move);
            connection.is_some_and(|it| it != &serial)
        };
        match moving.sending.receive(frame, &is_usable, now) {
            Ok(actions) => {
                for action in actions {
                    if let Action::Send(frame) = action {
                        self.send(serial, &frame, all);
                    }
                }
                self.settle(key, all, now);
            }
            Err(error) => self.fail(key, error, all),
        }
    }

    /// Moves the responses of a connection that should, by the operator's policy.
    fn consider(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let Some(source) = self.members.get(&serial).map(|it| it.name) else { return };
        if self.policy == Policy::default() {
            return;
        }
        let Some(responder) = all.responder(serial) else { return };
        let movable = responder.movable();
        for it in movable {
            let key = (source, it.subject);
            if self.moving.contains_key(&key) {
                continue;
            }
            if self.policy.moves(&it.candidate) {
                self.start(key, serial, it.stream, all, now);
            } else if let Some(responder) = all.responder(serial) {
                let size_is_known = it.candidate.bytes.is_some();
                responder.sender.pause(it.stream, self.policy.asks_after_bytes(size_is_known));
            }
        }
    }

    fn start(
        &mut self,
        key: Key,
        serial: u64,
        stream: StreamId,
        all: &mut dyn Connections,
        now: Instant,
    ) {
        let mut moving = Moving::new(key, serial, stream);
        sync(&mut moving, all);
        let idle = self.names.smallest_idle(key.0, |it| all.is_idle(*it));
        if idle.is_none() && !self.has_room(key.0, serial) {
            return;
        }
        let to = idle.map_or(Destination::Any, Destination::Named);
        // The transport's flow control of the continuation is the credit that the client gives.
        let Some(frame) = moving.sending.start(to, u64::MAX, now) else { return };
        self.moving.insert(key, moving);
        self.send(serial, &frame, all);
        self.settle(key, all, now);
    }

    /// Whether the client may open another connection for a response, beside those that it was asked for already.
    fn has_room(&self, source: Name, serial: u64) -> bool {
        let is_asked = |it: &&Moving| it.source == serial && matches!(it.at, At::Nowhere(_));
        let asked = self.moving.values().filter(is_asked).count();
        self.names.room(source) > asked
    }

    /// Brings the rest of a response to where its state says.
    fn settle(&mut self, key: Key, all: &mut dyn Connections, now: Instant) {
        let Some(moving) = self.moving.get_mut(&key) else { return };
        let source = moving.source;
        self.touched.insert(source);
        match moving.sending.place() {
            Place::Source => go_back(moving, all, now),
            Place::Nowhere => {
                if let At::Source(_) = moving.at {
                    moving.at = At::Nowhere(take_out(moving, all));
                }
            }
            Place::Destination(on, _) => {
                let serial = self.names.connection(on).copied();
                let is_there =
                    matches!(moving.at, At::Destination { serial: it, .. } if Some(it) == serial);
                if is_there {
                    return;
                }
                let rest = take_out(moving, all);
                let arrived = serial.and_then(|it| go_on(key, moving, it, rest, all, now));
                if let Some(at) = arrived {
                    self.touched.extend(serial);
                    moving.at = at;
                } else if let Some(frame) = moving.sending.destination_lost(on, now) {
                    self.send(source, &frame, all);
                }
            }
        }
    }

    /// The client's signal about a response of this connection, which may be elsewhere.
    fn prioritize(
        &mut self,
        serial: u64,
        stream: StreamId,
        priority: Priority,
        all: &mut dyn Connections,
    ) {
        let moved = self.moving.values().find(|it| it.source == serial && it.stream == stream);
        if let Some(At::Destination { serial, stream, .. }) = moved.map(|it| &it.at)
            && let Some(responder) = all.responder(*serial)
        {
            responder.prioritize(*stream, priority);
            self.touched.insert(*serial);
        }
    }

    /// Ends the responses that have moved to this connection, and of which the client wants no more.
    fn end_stopped(&mut self, serial: u64, all: &mut dyn Connections) {
        let stopped =
            all.responder(serial).map(|it| it.sender.streams.take_stopped()).unwrap_or_default();
        for stopped in stopped {
            let is_here = |it: &Moving| {
                it.place().is_some_and(|(on, stream, _)| (on, stream) == (serial, stopped))
            };
            let key = self.moving.iter().find(|(_, it)| is_here(it)).map(|(key, _)| *key);
            if let Some(key) = key {
                self.end_response(key, all, Code::RequestCancelled);
            }
        }
    }

    /// Ends the responses of a connection of which the client has all, or wants no more: it has stopped their streams.
    fn end_finished(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let mine = self.moving.iter().filter(|(_, it)| it.source == serial);
        let keys: Vec<(Key, StreamId)> = mine.map(|(key, it)| (*key, it.stream)).collect();
        for (key, stream) in keys {
            let Some(responder) = all.responder(serial) else { return };
            if responder.sender.connection.quic.stream_capacity(stream.0).is_err() {
                self.drop_response(key, all, Code::RequestCancelled);
            } else if let Some(moving) = self.moving.get_mut(&key)
                && moving.sending.place() == Place::Source
            {
                go_back(moving, all, now);
            }
        }
    }

    fn fail(&mut self, key: Key, error: Error, all: &mut dyn Connections) {
        let Some(moving) = self.moving.get(&key) else { return };
        let source = moving.source;
        if error.scope() == Scope::Connection {
            return close(all, source, error);
        }
        self.end_response(key, all, error.code());
    }

    /// Ends a response on both connections.
    fn end_response(&mut self, key: Key, all: &mut dyn Connections, code: Code) {
        let Some(moving) = self.moving.get(&key) else { return };
        if let Some(responder) = all.responder(moving.source) {
            responder.sender.finish(moving.stream, Ending::GivenUp(code));
        }
        self.drop_response(key, all, code);
    }

    /// Forgets a response, and ends its continuation.
    fn drop_response(&mut self, key: Key, all: &mut dyn Connections, code: Code) {
        let Some(moving) = self.moving.remove(&key) else { return };
        self.touched.insert(moving.source);
        if let At::Destination { serial, stream, .. } = moving.at
            && let Some(responder) = all.responder(serial)
            && responder.sender.streams.is_sending(stream)
        {
            responder.sender.finish(stream, Ending::GivenUp(code));
            self.touched.insert(serial);
        }
    }

    fn send(&mut self, serial: u64, frame: &Migrate, all: &mut dyn Connections) {
        if let Some(responder) = all.responder(serial) {
            responder.send_frame(frame);
            self.touched.insert(serial);
        }
    }
}

impl Moving {
    fn new((name, subject): Key, source: u64, stream: StreamId) -> Self {
        let sending = Sending::new(name, subject);
        let at = At::Source(Origin::default());
        Self { sending, source, stream, source_bytes: 0, kept: None, at }
    }

    /// The connection and stream on which the rest is, and where it begins there.
    fn place(&self) -> Option<(u64, StreamId, Origin)> {
        match self.at {
            At::Source(origin) => Some((self.source, self.stream, origin)),
            At::Destination { serial, stream, origin } => Some((serial, stream, origin)),
            At::Nowhere(_) => None,
        }
    }
}

/// Tells the state machine how far the response was sent.
fn sync(moving: &mut Moving, all: &mut dyn Connections) {
    let Some((serial, stream, origin)) = moving.place() else { return };
    let Some(responder) = all.responder(serial) else { return };
    let outgoing = responder.sender.streams.outgoing(stream);
    let here = |stream_offset| origin.response_offset(stream_offset);
    let whole = || moving.kept.as_ref().and_then(Rest::response_bytes);
    let sent = outgoing.map(|it| here(it.committed())).or_else(whole);
    let sent = sent.unwrap_or_else(|| moving.sending.next());
    moving.sending.sent(sent.saturating_sub(moving.sending.next()));
    if moving.kept.is_none() && !matches!(moving.at, At::Source(_)) {
        let kept_from = outgoing.map_or(sent, |it| here(it.kept_from()));
        moving.sending.discarded(kept_from);
    }
}

/// Takes the rest of a response out of where it is, from the next byte on.
fn take_out(moving: &mut Moving, all: &mut dyn Connections) -> Option<Box<Rest>> {
    let from = moving.sending.next();
    let live = match std::mem::replace(&mut moving.at, At::Nowhere(None)) {
        At::Source(_) => {
            let sender = &mut all.responder(moving.source)?.sender;
            moving.source_bytes = sender.streams.outgoing(moving.stream)?.committed();
            let outgoing = sender.cut(moving.stream)?;
            let rest = Rest { outgoing, origin: Origin { stream: 0, response: from } };
            if rest.outgoing.stage == Stage::Whole {
                moving.kept = Some(rest.part(from));
            }
            return Some(Box::new(rest));
        }
        At::Destination { serial, stream, origin } => {
            let sender = all.responder(serial).map(|it| &mut it.sender);
            let outgoing = sender.and_then(|it| it.finish(stream, Ending::Moved));
            outgoing.map(|outgoing| Box::new(Rest { outgoing, origin }))
        }
        At::Nowhere(rest) => rest,
    };
    if let Some(kept) = &moving.kept {
        return Some(Box::new(kept.part(from)));
    }
    let mut live = live?;
    let mut rest = live.part(from);
    rest.outgoing.arriving = live.outgoing.arriving.take();
    Some(Box::new(rest))
}

/// Goes on with a response at the connection `serial`.
fn go_on(
    (source, subject): Key,
    moving: &mut Moving,
    serial: u64,
    rest: Option<Box<Rest>>,
    all: &mut dyn Connections,
    now: Instant,
) -> Option<At> {
    let rest = rest?;
    let record = all.responder(moving.source)?.sender.streams.get(moving.stream)?;
    let (resource, said) = (record.resource, record.said);
    let priority = said.unwrap_or_default();
    let destination = all.responder(serial)?;
    let Some(stream) = destination.open_for_rest() else {
        moving.at = At::Nowhere(Some(rest));
        return None;
    };
    let header = Continuation { source, subject, offset: moving.sending.next(), priority };
    let header = header.to_bytes();
    let origin = Origin { stream: header.len() as u64, ..rest.origin };
    destination.go_on(stream, &resource, said, rest.outgoing.behind(&header), now);
    Some(At::Destination { serial, stream, origin })
}

/// Goes on at the source, as soon as what was committed there before has gone.
fn go_back(moving: &mut Moving, all: &mut dyn Connections, now: Instant) {
    if matches!(moving.at, At::Source(_)) {
        return;
    }
    let Some(source) = all.responder(moving.source) else { return };
    let is_draining = source.sender.streams.is_sending(moving.stream);
    let rest = take_out(moving, all);
    if is_draining {
        moving.at = At::Nowhere(rest);
    } else if let (Some(rest), Some(source)) = (rest, all.responder(moving.source)) {
        moving.at = At::Source(Origin { stream: moving.source_bytes, ..rest.origin });
        let Some(record) = source.sender.streams.get(moving.stream) else { return };
        let (resource, said) = (record.resource, record.said);
        let rest = rest.outgoing.after(moving.source_bytes);
        source.go_on(moving.stream, &resource, said, rest, now);
    }
}

fn close(all: &mut dyn Connections, serial: u64, error: Error) {
    if let Some(responder) = all.responder(serial) {
        responder.sender.connection.close(error.code(), &error.to_string());
    }
}
