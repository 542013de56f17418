//! One connection's part in stream migration: its name, the client's frames, and responses that leave and come.
//! `migrations.rs` joins the connections.

use super::Responder;
use crate::Options;
use crate::outgoing::{Outgoing, Stage};
use crate::streams::CONTROL_STREAM;
use http3::{PushId, Role, Session, Settings, Signal, StreamId};
use migration::{
    Candidate, Continuation, MIGRATE, Migrate, Name, Offer, PAYLOAD_BYTES_MAX, Secret, Subject,
};
use schedulers::{Priority, Resource};
use std::time::Instant;

/// What came on this connection and concerns others.
#[derive(Default)]
pub(crate) struct Migrating {
    /// The name that the client gives to the connection, and the secret from which it must follow.
    pub(crate) claimed: Option<(Name, Secret)>,
    pub(crate) frames: Vec<Migrate>,
    /// Signals about responses that may have moved.
    pub(crate) signals: Vec<(StreamId, Priority)>,
    /// Whether both ends have the extension.
    pub(crate) is_named: bool,
}

/// A response that could move.
pub(crate) struct Movable {
    pub(crate) stream: StreamId,
    pub(crate) subject: Subject,
    pub(crate) candidate: Candidate,
}

impl Migrating {
    /// Offers the extension, if the operator wants it.
    pub(crate) fn offer(session: &mut Session, options: &Options) {
        if options.migration.is_some() {
            session.offer(Offer::Understood.settings());
            session.accept_frames(MIGRATE, PAYLOAD_BYTES_MAX);
        }
    }
}

impl Responder {
    /// The name that the client's settings give to the connection, if both have the extension.
    pub(super) fn learn_name(&mut self, settings: &Settings) {
        if self.shared.options.migration.is_none() {
            return;
        }
        let connection = &mut self.sender.connection;
        match Offer::read(settings, Role::Client) {
            Ok(Some(Offer::Named(name))) => {
                self.migrating.claimed = connection.secret().map(|secret| (name, secret));
                self.migrating.is_named = self.migrating.claimed.is_some();
            }
            Ok(_) => {}
            Err(error) => connection.close(error.code(), &error.to_string()),
        }
    }

    pub(super) fn on_migrate(&mut self, payload: &[u8]) {
        self.nuisances += 1;
        if !self.migrating.is_named {
            return;
        }
        match Migrate::parse(payload) {
            Ok(frame) => self.migrating.frames.push(frame),
            Err(error) => self.sender.connection.close(error.code(), &error.to_string()),
        }
    }

    /// Records the priority of a response; it moves along.
    pub(super) fn note_priority(&mut self, stream: StreamId, priority: Priority) {
        if let Some(record) = self.sender.streams.get_mut(stream) {
            record.said = Some(priority);
        }
        if self.migrating.is_named {
            self.migrating.signals.push((stream, priority));
        }
    }

    pub(crate) fn send_frame(&mut self, frame: &Migrate) {
        self.sender.connection.send(CONTROL_STREAM, frame.to_frame(), false);
        self.sender.flush();
    }

    /// Whether nothing is under way, so that a response can move here.
    pub(crate) fn is_idle(&self) -> bool {
        let connection = &self.sender.connection;
        self.sender.is_empty() && connection.is_connected() && !connection.is_closing()
    }

    /// The stream of a response under way.
    pub(crate) fn stream_of(&self, subject: Subject) -> Option<StreamId> {
        match subject {
            Subject::Request(stream) => Some(stream),
            Subject::Push(push) => self.sender.streams.push_stream(push),
        }
    }

    /// The responses under way that can move.
    pub(crate) fn movable(&self) -> Vec<Movable> {
        self.sender.streams.under_way().filter_map(|it| self.movable_on(it)).collect()
    }

    /// The response on `stream`, if it can move: its head is there and its request complete, and the client knows it.
    pub(crate) fn movable_on(&self, stream: StreamId) -> Option<Movable> {
        let connection = &self.sender.connection;
        let record = self.sender.streams.get(stream)?;
        let outgoing = self.sender.streams.outgoing(stream)?;
        let has_head = matches!(outgoing.stage, Stage::BodyComes | Stage::Whole);
        let (subject, is_known) = match record.push {
            Some(push) => (Subject::Push(push), outgoing.offset() > push_header_bytes(push)),
            None if stream.0.is_multiple_of(4) => {
                (Subject::Request(stream), connection.quic.stream_finished(stream.0))
            }
            // It came from elsewhere.
            None => return None,
        };
        let is_all_sent = outgoing.stream_bytes() == Some(outgoing.committed());
        if !has_head || !is_known || is_all_sent {
            return None;
        }
        let path = connection.quic.path_stats().find(|it| it.active)?;
        let measured = path.sent_bytes > path.cwnd as u64;
        let candidate = Candidate {
            bytes: outgoing.response_bytes().or(record.resource.body_bytes),
            sent_bytes: outgoing.committed(),
            others: self.sender.streams.responses().saturating_sub(1),
            bytes_per_second: measured.then_some(path.delivery_rate),
        };
        Some(Movable { stream, subject, candidate })
    }

    /// Goes on with a response from another connection, on a stream of our own. `Err`: the client allows no further stream.
    pub(crate) fn take_over(
        &mut self,
        header: Continuation,
        resource: &Resource,
        said: Option<Priority>,
        rest: Box<Outgoing>,
        now: Instant,
    ) -> Result<StreamId, Box<Outgoing>> {
        let Some(stream) = self.pushes.open_stream(&mut self.sender.connection) else {
            return Err(rest);
        };
        self.sender.streams.note(stream);
        self.go_on(stream, resource, said, rest.behind(&header.to_bytes()), now);
        Ok(stream)
    }

    /// Goes on with a response that comes back to its own stream, on which `sent_bytes` went before.
    pub(crate) fn take_back(
        &mut self,
        stream: StreamId,
        rest: Outgoing,
        sent_bytes: u64,
        now: Instant,
    ) {
        let Some(record) = self.sender.streams.get(stream) else { return };
        let (resource, said) = (record.resource, record.said);
        self.go_on(stream, &resource, said, rest.after(sent_bytes), now);
    }

    fn go_on(
        &mut self,
        stream: StreamId,
        resource: &Resource,
        said: Option<Priority>,
        rest: Outgoing,
        now: Instant,
    ) {
        if let Some(arriving) = &rest.arriving {
            arriving.coming.later.watch(self.shared.alarm.bell(self.serial));
        }
        let usual = || schedulers::usual_urgency(resource);
        let urgency = said.map_or_else(usual, Priority::urgency_or_default);
        self.sender.go_on(stream, resource, urgency, rest);
        if let Some(priority) = said {
            self.prioritize(stream, priority);
        }
        // The backend may have brought more on the way here.
        self.relay_one(stream, now);
    }

    /// The client's signal about a response that has moved here.
    pub(crate) fn prioritize(&mut self, stream: StreamId, priority: Priority) {
        if self.signals.uses_signals() {
            let urgency = priority.urgency_or_default();
            let incremental = priority.incremental_or_default();
            self.sender.streams.set_urgency(stream, urgency);
            self.sender.call(schedulers::Call::Signal(Signal::Extensible {
                stream,
                urgency,
                incremental,
            }));
        }
    }
}

/// Type and ID.
fn push_header_bytes(push: PushId) -> u64 {
    Session::push_stream_header(push).len() as u64
}
