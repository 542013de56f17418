//! Stream migration between the connections of a server ([`migration`]): which connections belong together, and where each
//! moving response is.

mod moving;

use crate::send_loop::Ending;
use crate::together::{ConnectionEvent, Connections};
use http3::{Code, StreamId};
use migration::{
    Action, Destination, Error, Kind, Migrate, Name, Names, Overtaking, Place, Policy, Scope,
};
use moving::{At, Key, Moving, go_back, go_on, sync, take_out};
use schedulers::Priority;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The connections with names, and the responses that have moved or were asked to move.
pub(crate) struct Migrations {
    policy: Policy,
    names: Names<u64>,
    members: BTreeMap<u64, Member>,
    moving: BTreeMap<Key, Moving>,
    /// Connections that may have something to send now.
    touched: BTreeSet<u64>,
}

/// A connection that has a name.
struct Member {
    name: Name,
    overtaking: Overtaking,
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

    /// Reacts to an event on a connection. Returns the connections that may have something to send now.
    pub(crate) fn update(
        &mut self,
        serial: u64,
        event: ConnectionEvent,
        all: &mut dyn Connections,
        now: Instant,
    ) -> BTreeSet<u64> {
        let mut turn = Turn { state: self, all, now };
        match event {
            ConnectionEvent::Over => turn.leave(serial),
            ConnectionEvent::TimerFired => {}
            ConnectionEvent::Sent => {
                if turn.all.responder(serial).is_some_and(|it| it.sender.streams.take_paused()) {
                    turn.act(serial);
                }
            }
            ConnectionEvent::Came | ConnectionEvent::Brought => turn.act(serial),
        }
        std::mem::take(&mut self.touched)
    }

    fn keys(&self) -> Vec<Key> {
        self.moving.keys().copied().collect()
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let responses = self.moving.values().filter_map(|it| it.sending.next_timeout());
        let frames = self.members.values().filter_map(|it| it.overtaking.next_timeout());
        responses.chain(frames).min()
    }

    /// Abandons clients that do not answer and connections that do not arrive. Returns the connections that may have
    /// something to send now.
    pub(crate) fn on_timeout(&mut self, all: &mut dyn Connections, now: Instant) -> BTreeSet<u64> {
        if self.next_timeout().is_none_or(|it| it > now) {
            return BTreeSet::new();
        }
        Turn { state: self, all, now }.time_out();
        std::mem::take(&mut self.touched)
    }
}

struct Turn<'a> {
    state: &'a mut Migrations,
    all: &'a mut dyn Connections,
    now: Instant,
}

impl Turn<'_> {
    fn time_out(&mut self) {
        self.release_all();
        for key in self.state.keys() {
            let Some(moving) = self.state.moving.get_mut(&key) else { continue };
            if let Err(error) = moving.sending.on_timeout(self.now) {
                self.fail(key, error);
            }
        }
    }

    fn act(&mut self, serial: u64) {
        let Some(responder) = self.all.responder(serial) else { return };
        let news = responder.take_news();
        let claimed = if news.has_settings { responder.claimed_name() } else { None };
        if responder.sender.connection.is_closing() {
            return self.leave(serial);
        }
        // A name that is not derived from the secret has no effect: the connection continues without one.
        let joined =
            claimed.filter(|(name, secret)| self.state.names.join(*name, secret, serial).is_ok());
        if let Some((name, _)) = joined {
            self.state.members.insert(serial, Member { name, overtaking: Overtaking::default() });
        }
        for payload in news.frames {
            let Some(member) = self.state.members.get_mut(&serial) else { return };
            let frame = Migrate::parse(&payload);
            if let Err(error) = frame.and_then(|it| member.overtaking.hold(it, self.now)) {
                return close(self.all, serial, error);
            }
            self.release(serial);
        }
        if joined.is_some() {
            self.release_all();
        }
        for (stream, priority) in news.signals {
            self.prioritize(serial, stream, priority);
        }
        self.consider(serial);
        self.end_stopped(serial);
        self.end_finished(serial);
    }

    /// A connection has ended: its responses on other connections end, and responses of others that are here return.
    fn leave(&mut self, serial: u64) {
        let Some(member) = self.state.members.remove(&serial) else { return };
        self.state.names.leave(member.name);
        for key in self.state.keys() {
            let Some(moving) = self.state.moving.get_mut(&key) else { continue };
            if moving.source == serial {
                self.drop_response(key, Code::RequestCancelled);
            } else if matches!(moving.at, At::Destination { serial: on, .. } if on == serial) {
                sync(moving, self.all);
                moving.at = At::Nowhere(take_out(moving, self.all));
                let source = moving.source;
                if let Some(frame) = moving.sending.destination_lost(member.name, self.now) {
                    self.send(source, &frame);
                }
            }
        }
    }

    fn release_all(&mut self) {
        let serials: Vec<u64> = self.state.members.keys().copied().collect();
        for serial in serials {
            self.release(serial);
        }
    }

    /// Takes the frames of a connection that need not wait for others.
    fn release(&mut self, serial: u64) {
        let Some(member) = self.state.members.get_mut(&serial) else { return };
        let source = member.name;
        let names = &self.state.names;
        let known = |name| names.connection(name).is_some();
        for frame in member.overtaking.release(&known, self.now) {
            self.take_frame((source, frame.subject), serial, &frame);
        }
    }

    fn take_frame(&mut self, key: Key, serial: u64, frame: &Migrate) {
        let mut can_move = true;
        if !self.state.moving.contains_key(&key) {
            if frame.kind == Kind::Acknowledgement {
                return;
            }
            let Some(responder) = self.all.responder(serial) else { return };
            let stream = responder.stream_of(key.1);
            let Some(stream) = stream.filter(|it| responder.sender.streams.is_sending(*it)) else {
                return self.send(serial, &frame.too_late(key.0));
            };
            can_move = responder.movable_on(stream).is_some();
            self.state.moving.insert(key, Moving::new(key, serial, stream));
        }
        let Some(moving) = self.state.moving.get_mut(&key) else { return };
        sync(moving, self.all);
        let names = &self.state.names;
        let is_usable = |name| {
            let connection = names.connection(name).filter(|_| can_move);
            connection.is_some_and(|it| it != &serial)
        };
        match moving.sending.receive(frame, &is_usable, self.now) {
            Ok(actions) => {
                for action in actions {
                    if let Action::Send(frame) = action {
                        self.send(serial, &frame);
                    }
                }
                self.settle(key);
            }
            Err(error) => self.fail(key, error),
        }
    }

    /// Moves the responses of a connection that should move by the operator's policy.
    fn consider(&mut self, serial: u64) {
        let Some(source) = self.state.members.get(&serial).map(|it| it.name) else { return };
        if self.state.policy == Policy::default() {
            return;
        }
        let Some(responder) = self.all.responder(serial) else { return };
        let movable = responder.movable();
        for it in movable {
            let key = (source, it.subject);
            if self.state.moving.contains_key(&key) {
                continue;
            }
            if self.state.policy.moves(&it.candidate) {
                self.start(key, serial, it.stream);
            } else if let Some(responder) = self.all.responder(serial) {
                let size_is_known = it.candidate.bytes.is_some();
                responder
                    .sender
                    .pause(it.stream, self.state.policy.asks_after_bytes(size_is_known));
            }
        }
    }

    fn start(&mut self, key: Key, serial: u64, stream: StreamId) {
        let mut moving = Moving::new(key, serial, stream);
        sync(&mut moving, self.all);
        let idle = self.state.names.smallest_idle(key.0, |it| self.all.is_idle(*it));
        if idle.is_none() && !self.has_room(key.0, serial) {
            return;
        }
        let to = idle.map_or(Destination::Any, Destination::Named);
        // The transport's flow control of the continuation is the credit that the client gives.
        let Some(frame) = moving.sending.start(to, u64::MAX, self.now) else { return };
        self.state.moving.insert(key, moving);
        self.send(serial, &frame);
        self.settle(key);
    }

    /// Whether the client may open another connection for a response, besides those that it was already asked for.
    fn has_room(&self, source: Name, serial: u64) -> bool {
        let is_asked = |it: &&Moving| it.source == serial && matches!(it.at, At::Nowhere(_));
        let asked = self.state.moving.values().filter(is_asked).count();
        self.state.names.room(source) > asked
    }

    /// Brings the rest of a response to the place that its state requires.
    fn settle(&mut self, key: Key) {
        let Some(moving) = self.state.moving.get_mut(&key) else { return };
        let source = moving.source;
        self.state.touched.insert(source);
        match moving.sending.place() {
            Place::Source => go_back(moving, self.all, self.now),
            Place::Nowhere => {
                if let At::Source(_) = moving.at {
                    moving.at = At::Nowhere(take_out(moving, self.all));
                }
            }
            Place::Destination(on, _) => {
                let serial = self.state.names.connection(on).copied();
                let is_there =
                    matches!(moving.at, At::Destination { serial: it, .. } if Some(it) == serial);
                if is_there {
                    return;
                }
                let rest = take_out(moving, self.all);
                let arrived =
                    serial.and_then(|it| go_on(key, moving, it, rest, self.all, self.now));
                if let Some(at) = arrived {
                    self.state.touched.extend(serial);
                    moving.at = at;
                } else if let Some(frame) = moving.sending.destination_lost(on, self.now) {
                    self.send(source, &frame);
                }
            }
        }
    }

    /// The client's signal about a response of this connection, which may be elsewhere.
    fn prioritize(&mut self, serial: u64, stream: StreamId, priority: Priority) {
        let moved =
            self.state.moving.values().find(|it| it.source == serial && it.stream == stream);
        if let Some(At::Destination { serial, stream, .. }) = moved.map(|it| &it.at)
            && let Some(responder) = self.all.responder(*serial)
        {
            responder.prioritize(*stream, priority);
            self.state.touched.insert(*serial);
        }
    }

    /// Ends the responses that have moved to this connection and that the client no longer wants.
    fn end_stopped(&mut self, serial: u64) {
        let stopped = self
            .all
            .responder(serial)
            .map(|it| it.sender.streams.take_stopped())
            .unwrap_or_default();
        for stopped in stopped {
            let is_here = |moving: &Moving| {
                moving.place().is_some_and(|(on, stream, _)| (on, stream) == (serial, stopped))
            };
            let key = self.state.moving.iter().find(|(_, it)| is_here(it)).map(|(key, _)| *key);
            if let Some(key) = key {
                self.end_response(key, Code::RequestCancelled);
            }
        }
    }

    /// Ends the responses of a connection that the client has received completely, or no longer wants: it has stopped their
    /// streams.
    fn end_finished(&mut self, serial: u64) {
        let mine = self.state.moving.iter().filter(|(_, it)| it.source == serial);
        let keys: Vec<(Key, StreamId)> = mine.map(|(key, it)| (*key, it.stream)).collect();
        for (key, stream) in keys {
            let Some(responder) = self.all.responder(serial) else { return };
            if responder.sender.connection.quic.stream_capacity(stream.0).is_err() {
                self.drop_response(key, Code::RequestCancelled);
            } else if let Some(moving) = self.state.moving.get_mut(&key)
                && moving.sending.place() == Place::Source
            {
                go_back(moving, self.all, self.now);
            }
        }
    }

    fn fail(&mut self, key: Key, error: Error) {
        let Some(moving) = self.state.moving.get(&key) else { return };
        let source = moving.source;
        if error.scope() == Scope::Connection {
            return close(self.all, source, error);
        }
        self.end_response(key, error.code());
    }

    /// Ends a response on both connections.
    fn end_response(&mut self, key: Key, code: Code) {
        let Some(moving) = self.state.moving.get(&key) else { return };
        if let Some(responder) = self.all.responder(moving.source) {
            responder.sender.finish(moving.stream, Ending::GivenUp(code));
        }
        self.drop_response(key, code);
    }

    /// Forgets a response, and ends its continuation.
    fn drop_response(&mut self, key: Key, code: Code) {
        let Some(moving) = self.state.moving.remove(&key) else { return };
        self.state.touched.insert(moving.source);
        if let At::Destination { serial, stream, .. } = moving.at
            && let Some(responder) = self.all.responder(serial)
            && responder.sender.streams.is_sending(stream)
        {
            responder.sender.finish(stream, Ending::GivenUp(code));
            self.state.touched.insert(serial);
        }
    }

    fn send(&mut self, serial: u64, frame: &Migrate) {
        if let Some(responder) = self.all.responder(serial) {
            responder.send_frame(frame);
            self.state.touched.insert(serial);
        }
    }
}

fn close(all: &mut dyn Connections, serial: u64, error: Error) {
    if let Some(responder) = all.responder(serial) {
        responder.sender.connection.close(error.code(), &error.to_string());
    }
}
