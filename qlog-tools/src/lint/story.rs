//! The facts for a judge, in order: which streams could send, and which did.

use std::collections::BTreeSet;

use schedulers::{Call, Signal, StreamId};

/// One connection's sending.
#[derive(Debug, Clone, Default)]
pub(super) struct Story {
    /// In order.
    pub(super) events: Vec<Event>,
    /// Its source, and its assumptions.
    pub(super) basis: String,
    /// Whether readiness is known, not inferred.
    pub(super) is_exact: bool,
    /// Whether the log has only urgencies, and not which responses are incremental.
    pub(super) has_urgencies_only: bool,
    /// Whether the kind of each response is known.
    pub(super) has_kinds: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// On the log's clock.
    pub(super) time_us: u64,
    pub(super) what: What,
}

impl Event {
    pub(super) fn ready(stream: StreamId, time_us: u64, is_ready: bool) -> Self {
        Self { time_us, what: What::Ready(stream, is_ready) }
    }

    /// The stream whose priority it signals.
    fn signalled(&self) -> Option<u64> {
        match self.what.call()? {
            Call::Signal(Signal::Extensible { stream, .. }) => Some(stream.0),
            _ => None,
        }
    }
}

/// Frequent events are stored inline, because a log may have millions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A packet that was a decision: it took bytes that had not been sent before.
    Sent(StreamId, u64),
    /// The stream can send, or cannot.
    Ready(StreamId, bool),
    Closed(StreamId),
    /// Any other scheduler call.
    Call(Box<Call>),
    /// A packet was filled up with more of the same stream or with another's: not a decision.
    ToppedUp(StreamId, u64),
    /// It may have nothing to send from now on, until it sends again: not sending it does not violate
    /// the rules.
    Doubtful(StreamId),
}

impl What {
    pub(super) fn of(call: &Call) -> Self {
        match *call {
            Call::Sent(stream, bytes) => Self::Sent(stream, bytes),
            Call::SetReady(stream, is_ready) => Self::Ready(stream, is_ready),
            Call::Close(stream) => Self::Closed(stream),
            _ => Self::Call(Box::new(call.clone())),
        }
    }

    /// The call, unless it is a frequent one.
    pub(super) fn call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Its rank among events of one instant.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Call(call) if matches!(**call, Call::Signal(_)) => 1,
            Self::Call(_) => 0,
            Self::Ready(..) => 2,
            Self::Sent(..) | Self::ToppedUp(..) => 3,
            Self::Closed(_) | Self::Doubtful(_) => 4,
        }
    }
}

impl Story {
    /// Whether each response was signalled in RFC 9218's terms.
    pub(super) fn is_all_signalled(&self) -> bool {
        let signalled: BTreeSet<u64> = self.events.iter().filter_map(Event::signalled).collect();
        let mut calls = self.events.iter().filter_map(|event| event.what.call());
        calls.all(|call| !matches!(call, Call::Open(it, _) if !signalled.contains(&it.0)))
    }

    pub(super) fn has_signals(&self) -> bool {
        self.events.iter().any(|event| event.signalled().is_some())
    }
}
