//! Where the streams of a connection are ordered: by themselves, or with those of their client's others.

use crate::experiments::group::Member;
use schedulers::{Resource, Scheduler, Scheme, Signal, Standing, StreamId};

/// The calls of a scheduler, whoever's it is.
pub(crate) enum Order {
    /// The connection's own.
    Alone(Box<Scheduler>),
    /// A group's.
    Shared(Member),
}

impl Order {
    pub(crate) fn alone(scheme: &Scheme) -> Self {
        Self::Alone(Box::new(Scheduler::new(scheme)))
    }

    pub(crate) fn open(&mut self, stream: StreamId, resource: &Resource) {
        match self {
            Self::Alone(scheduler) => scheduler.open(stream, resource),
            Self::Shared(member) => member.open(stream, resource),
        }
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        match self {
            Self::Alone(scheduler) => scheduler.signal(signal),
            Self::Shared(member) => member.signal(signal),
        }
    }

    pub(crate) fn set_ready(&mut self, stream: StreamId, ready: bool) {
        match self {
            Self::Alone(scheduler) => scheduler.set_ready(stream, ready),
            Self::Shared(member) => member.set_ready(stream, ready),
        }
    }

    /// Who sends the next packet; none: nobody can, or it is another connection's turn.
    pub(crate) fn pick(&self) -> Option<StreamId> {
        match self {
            Self::Alone(scheduler) => scheduler.pick(),
            Self::Shared(member) => member.pick(),
        }
    }

    pub(crate) fn sent(&mut self, stream: StreamId, bytes: u64) {
        match self {
            Self::Alone(scheduler) => scheduler.sent(stream, bytes),
            Self::Shared(member) => member.sent(stream, bytes),
        }
    }

    pub(crate) fn close(&mut self, stream: StreamId) {
        match self {
            Self::Alone(scheduler) => scheduler.close(stream),
            Self::Shared(member) => member.close(stream),
        }
    }

    pub(crate) fn standing(&self, stream: StreamId) -> Option<Standing> {
        match self {
            Self::Alone(scheduler) => scheduler.standing(stream),
            Self::Shared(member) => member.standing(stream),
        }
    }

    /// In a group: gives up the turn, because nothing comes back from the client.
    pub(crate) fn rest(&self) {
        if let Self::Shared(member) = self {
            member.rest();
        }
    }

    /// In a group: something came back from the client, takes part again.
    pub(crate) fn heard(&self) {
        if let Self::Shared(member) = self {
            member.heard();
        }
    }

    /// In a group: gives up the turn until something comes back, unless what is full is the path.
    pub(crate) fn window_full(&self, path_has_queue: impl FnOnce() -> bool) {
        if let Self::Shared(member) = self
            && !path_has_queue()
        {
            member.window_full();
        }
    }

    /// In a group: the connection whose turn it is, as the router numbers it.
    pub(crate) fn turn(&self) -> Option<u64> {
        match self {
            Self::Alone(_) => None,
            Self::Shared(member) => member.turn(),
        }
    }
}
