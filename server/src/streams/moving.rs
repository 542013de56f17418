//! Responses that move to other connections: their streams here, and pauses before the decision.

use super::{Stream, Streams};
use crate::outgoing::{Left, Outgoing};
use schedulers::StreamId;
use std::collections::BTreeSet;

/// The state of moved responses besides the records.
#[derive(Debug, Default)]
pub(super) struct Moving {
    /// Streams whose responses have moved away: they have no end yet.
    pub(super) open_ended: BTreeSet<StreamId>,
    /// A response was paused, not yet reported.
    has_paused: bool,
    /// Responses from other connections that the client no longer wants, not yet reported.
    stopped: Vec<StreamId>,
}

impl Streams {
    /// Ends the response here at its last committed byte, and returns the rest. `None`: nothing is left to commit.
    pub(crate) fn cut(&mut self, stream: StreamId) -> Option<Outgoing> {
        let outgoing = self.outgoing_mut(stream)?;
        if outgoing.stream_bytes() == Some(outgoing.committed()) {
            return None;
        }
        let rest = outgoing.cut();
        self.unlist(stream, rest.times());
        self.moving.open_ended.insert(stream);
        Some(rest)
    }

    pub(crate) fn open_ended(&self) -> usize {
        self.moving.open_ended.len()
    }

    /// The response goes no further than `after_bytes` of its stream for now. Returns `true` if it was paused
    /// until now.
    pub(crate) fn pause(&mut self, stream: StreamId, after_bytes: Option<u64>) -> bool {
        let Some(record) = self.get_mut(stream) else { return false };
        let was_paused = record.is_paused();
        let Some(outgoing) = &record.outgoing else { return false };
        record.pause = after_bytes.filter(|it| *it > outgoing.committed());
        was_paused
    }

    /// The rest of a partly committed response: nothing for now, if it is paused there.
    pub(crate) fn left(&mut self, stream: StreamId, left: Left) -> Left {
        let is_paused = self.get(stream).is_some_and(Stream::is_paused);
        self.moving.has_paused |= is_paused;
        if is_paused && left == Left::Ready { Left::Waiting } else { left }
    }

    /// Whether a response was paused since the last call.
    pub(crate) fn take_paused(&mut self) -> bool {
        std::mem::take(&mut self.moving.has_paused)
    }

    /// The client no longer wants a response. If it came from another connection, that one must know.
    pub(crate) fn note_stopped(&mut self, stream: StreamId) {
        let is_push = self.get(stream).is_some_and(|it| it.push.is_some());
        if !stream.0.is_multiple_of(4) && !is_push {
            self.moving.stopped.push(stream);
        }
    }

    /// The responses from other connections that the client has stopped wanting since the last call.
    pub(crate) fn take_stopped(&mut self) -> Vec<StreamId> {
        std::mem::take(&mut self.moving.stopped)
    }
}

impl Stream {
    fn is_paused(&self) -> bool {
        self.outgoing.is_some() && self.before_pause(1) == 0
    }

    /// How much of `pending` bytes precedes the pause.
    pub(super) fn before_pause(&self, pending: u64) -> u64 {
        let committed = self.outgoing.as_ref().map_or(0, Outgoing::committed);
        self.pause.map_or(pending, |it| pending.min(it.saturating_sub(committed)))
    }
}
