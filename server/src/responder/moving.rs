//! One connection's part in stream migration: the extension, the client's frames, and responses that leave and arrive.
//! `experiments/migrations.rs` joins the connections.

use super::{News, Responder};
use crate::Options;
use crate::outgoing::{Outgoing, Stage};
use crate::streams::CONTROL_STREAM;
use http3::{PushId, Role, Session, StreamId};
use migration::{Candidate, MIGRATE, Migrate, Name, Offer, PAYLOAD_BYTES_MAX, Secret, Subject};
use schedulers::{Priority, Resource, Signal};
use std::time::Instant;

pub(crate) struct Movable {
    pub(crate) stream: StreamId,
    pub(crate) subject: Subject,
    pub(crate) candidate: Candidate,
}

/// Offers the extension if the operator wants it, and from then on gathers what concerns other connections.
pub(super) fn offer(session: &mut Session, options: &Options) -> Option<Box<News>> {
    options.migration?;
    session.offer(Offer::Understood.settings());
    session.accept_frames(MIGRATE, PAYLOAD_BYTES_MAX);
    Some(Box::default())
}

impl Responder {
    pub(crate) fn take_news(&mut self) -> News {
        self.news.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The name that the client's settings give to the connection, if both ends have the extension, and the secret from
    /// which it must be derived.
    pub(crate) fn claimed_name(&mut self) -> Option<(Name, Secret)> {
        let connection = &mut self.sender.connection;
        match Offer::read(connection.session.peer_settings()?, Role::Client) {
            Ok(Some(Offer::Named(name))) => Some((name, connection.secret()?)),
            Ok(_) => None,
            Err(error) => {
                connection.close(error.code(), &error.to_string());
                None
            }
        }
    }

    pub(crate) fn send_frame(&mut self, frame: &Migrate) {
        self.sender.connection.send(CONTROL_STREAM, frame.to_frame(), false);
        self.sender.flush();
    }

    /// The stream of a response in progress.
    pub(crate) fn stream_of(&self, subject: Subject) -> Option<StreamId> {
        match subject {
            Subject::Request(stream) => Some(stream),
            Subject::Push(push) => self.sender.streams.push_stream(push),
        }
    }

    pub(crate) fn movable(&self) -> Vec<Movable> {
        self.sender.streams.under_way().filter_map(|it| self.movable_on(it)).collect()
    }

    /// The response on `stream`, if it can move: it has a head, its request is complete, and the client knows it.
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
            bytes: outgoing.stream_bytes().or(record.resource.body_bytes),
            sent_bytes: outgoing.committed(),
            others: self.sender.streams.responses().saturating_sub(1),
            bytes_per_second: measured.then_some(path.delivery_rate),
        };
        Some(Movable { stream, subject, candidate })
    }

    /// Opens a stream of our own for a response from another connection. `None`: the client allows no further one.
    pub(crate) fn open_for_rest(&mut self) -> Option<StreamId> {
        let stream = self.pushes.open_stream(&mut self.sender.connection)?;
        self.sender.streams.note(stream);
        Some(stream)
    }

    /// Continues a response on a stream to which it moved from elsewhere, or to which it returns.
    pub(crate) fn go_on(
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
        if self.signals.used().uses_signals() {
            let urgency = priority.urgency_or_default();
            let incremental = priority.incremental_or_default();
            self.sender.streams.set_urgency(stream, urgency);
            let signal = Signal::Extensible { stream, urgency, incremental };
            self.sender.call(schedulers::Call::Signal(signal));
        }
    }
}

fn push_header_bytes(push: PushId) -> u64 {
    Session::push_stream_header(push).len() as u64
}
