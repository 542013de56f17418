//! Stream migration between the connections of a server ([`migration`]): which connections belong together, and where
//! each response that moves is.

use crate::outgoing::{Outgoing, Stage};
use crate::responder::Responder;
use crate::send_loop::Ending;
use http3::{Code, StreamId};
use migration::{
    Action, Continuation, Destination, Error, Kind, Migrate, Name, Names, Overtaking, Place,
    Policy, Scope, Sending, Subject,
};
use schedulers::Priority;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The server's connections, as the router numbers them.
pub(crate) trait Connections {
    fn responder(&mut self, serial: u64) -> Option<&mut Responder>;
    fn is_idle(&self, serial: u64) -> bool;
}

/// The connections with names, and the responses that have moved or were asked to.
pub(crate) struct Migrations {
    policy: Policy,
    names: Names<u64>,
    members: BTreeMap<u64, Member>,
    moving: BTreeMap<Key, Moving>,
    /// Connections that may have something to send now.
    pub(crate) touched: BTreeSet<u64>,
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
    kept: Option<Outgoing>,
    at: At,
}

/// Where the rest of a response is.
enum At {
    Source,
    Destination { serial: u64, stream: StreamId },
    Nowhere(Option<Box<Outgoing>>),
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

    /// Does what a datagram or a timer of a connection gives reason for.
    pub(crate) fn update(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
        let Some(responder) = all.responder(serial) else { return };
        let news = std::mem::take(&mut responder.migrating);
        responder.migrating.is_named = news.is_named;
        if responder.sender.connection.is_closing() {
            return self.leave(serial, all, now);
        }
        let mut joined = false;
        if let Some((name, secret)) = news.claimed {
            // Otherwise it goes on without a name.
            joined = self.names.join(name, &secret, serial).is_ok();
            if joined {
                self.members.insert(serial, Member { name, overtaking: Overtaking::default() });
            }
        }
        for frame in news.frames {
            let Some(member) = self.members.get_mut(&serial) else { return };
            if let Err(error) = member.overtaking.hold(frame, now) {
                return close(all, serial, error);
            }
            self.release(serial, all, now);
        }
        if joined {
            let all_members: Vec<u64> = self.members.keys().copied().collect();
            for member in all_members {
                self.release(member, all, now);
            }
        }
        for (stream, priority) in news.signals {
            self.prioritize(serial, stream, priority, all);
        }
        self.consider(serial, all, now);
        self.end_stopped(serial, all);
        self.end_finished(serial, all, now);
    }

    /// A connection is over: its responses at other connections end, and those of others that are here come back.
    pub(crate) fn leave(&mut self, serial: u64, all: &mut dyn Connections, now: Instant) {
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

    /// Gives up clients that do not answer, and connections that do not come.
    pub(crate) fn on_timeout(&mut self, all: &mut dyn Connections, now: Instant) {
        if self.next_timeout().is_none_or(|it| it > now) {
            return;
        }
        let serials: Vec<u64> = self.members.keys().copied().collect();
        for serial in serials {
            self.release(serial, all, now);
        }
        let keys: Vec<Key> = self.moving.keys().copied().collect();
        for key in keys {
            let Some(moving) = self.moving.get_mut(&key) else { continue };
            if let Err(error) = moving.sending.on_timeout(now) {
                self.fail(key, error, all);
            }
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
                if let At::Source = moving.at {
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
        if let Some(At::Destination { serial, stream }) = moved.map(|it| &it.at)
            && let Some(responder) = all.responder(*serial)
        {
            responder.prioritize(*stream, priority);
            self.touched.insert(*serial);
        }
    }

    /// Ends the responses that have moved to this connection, and of which the client wants no more.
    fn end_stopped(&mut self, serial: u64, all: &mut dyn Connections) {
        let stopped = all.responder(serial).map(|it| it.sender.take_stopped()).unwrap_or_default();
        for stopped in stopped {
            let is_it = |it: &Moving| matches!(it.at, At::Destination { serial: on, stream } if on == serial && stream == stopped);
            let key = self.moving.iter().find(|(_, it)| is_it(it)).map(|(key, _)| *key);
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
        if let At::Destination { serial, stream } = moving.at
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
        Self { sending, source, stream, source_bytes: 0, kept: None, at: At::Source }
    }

    /// The connection and stream on which the rest is.
    fn place(&self) -> Option<(u64, StreamId)> {
        match self.at {
            At::Source => Some((self.source, self.stream)),
            At::Destination { serial, stream } => Some((serial, stream)),
            At::Nowhere(_) => None,
        }
    }
}

/// Tells the state machine how far the response was sent.
fn sync(moving: &mut Moving, all: &mut dyn Connections) {
    let Some((serial, stream)) = moving.place() else { return };
    let Some(responder) = all.responder(serial) else { return };
    let outgoing = responder.sender.streams.outgoing(stream);
    let whole = || moving.kept.as_ref().and_then(Outgoing::response_bytes);
    let sent = outgoing.map(Outgoing::response_committed).or_else(whole);
    let sent = sent.unwrap_or_else(|| moving.sending.next());
    moving.sending.sent(sent.saturating_sub(moving.sending.next()));
    if moving.kept.is_none() && !matches!(moving.at, At::Source) {
        let kept_from = outgoing.map_or(sent, Outgoing::kept_from);
        moving.sending.discarded(kept_from);
    }
}

/// Takes the rest of a response out of where it is, from the next byte on.
fn take_out(moving: &mut Moving, all: &mut dyn Connections) -> Option<Box<Outgoing>> {
    let from = moving.sending.next();
    let live = match std::mem::replace(&mut moving.at, At::Nowhere(None)) {
        At::Source => {
            let sender = &mut all.responder(moving.source)?.sender;
            moving.source_bytes = sender.streams.outgoing(moving.stream)?.committed();
            let rest = sender.cut(moving.stream)?;
            if rest.stage == Stage::Whole {
                moving.kept = Some(rest.part(from));
            }
            return Some(Box::new(rest));
        }
        At::Destination { serial, stream } => {
            let taken =
                all.responder(serial).and_then(|it| it.sender.finish(stream, Ending::Moved));
            taken.map(Box::new)
        }
        At::Nowhere(rest) => rest,
    };
    if let Some(kept) = &moving.kept {
        return Some(Box::new(kept.part(from)));
    }
    let mut live = live?;
    let mut rest = live.part(from);
    rest.arriving = live.arriving.take();
    Some(Box::new(rest))
}

/// Goes on with a response at the connection `serial`.
fn go_on(
    (source, subject): Key,
    moving: &mut Moving,
    serial: u64,
    rest: Option<Box<Outgoing>>,
    all: &mut dyn Connections,
    now: Instant,
) -> Option<At> {
    let rest = rest?;
    let record = all.responder(moving.source)?.sender.streams.get(moving.stream)?;
    let (resource, said) = (record.resource, record.said);
    let priority = said.unwrap_or_default();
    let header = Continuation { source, subject, offset: moving.sending.next(), priority };
    match all.responder(serial)?.take_over(header, &resource, said, rest, now) {
        Ok(stream) => Some(At::Destination { serial, stream }),
        Err(rest) => {
            moving.at = At::Nowhere(Some(rest));
            None
        }
    }
}

/// Goes on at the source, as soon as what was committed there before has gone.
fn go_back(moving: &mut Moving, all: &mut dyn Connections, now: Instant) {
    if matches!(moving.at, At::Source) {
        return;
    }
    let Some(source) = all.responder(moving.source) else { return };
    let is_draining = source.sender.streams.is_sending(moving.stream);
    let rest = take_out(moving, all);
    if is_draining {
        moving.at = At::Nowhere(rest);
    } else if let (Some(rest), Some(source)) = (rest, all.responder(moving.source)) {
        source.take_back(moving.stream, *rest, moving.source_bytes, now);
        moving.at = At::Source;
    }
}

fn close(all: &mut dyn Connections, serial: u64, error: Error) {
    if let Some(responder) = all.responder(serial) {
        responder.sender.connection.close(error.code(), &error.to_string());
    }
}
