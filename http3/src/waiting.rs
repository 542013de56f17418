//! Priority signals that overtake their requests, the requests that may still come, and the number of signals that a
//! client may send.

use crate::error::{Code, Error};
use crate::{Event, Limits, StreamId};
use std::collections::{BTreeMap, BTreeSet};

/// A server's memory of requests and of the signals about them.
#[derive(Debug, Default)]
pub(crate) struct WaitingSignals {
    /// The latest `PRIORITY_UPDATE` or bucket byte of each stream.
    waiting: BTreeMap<StreamId, Event>,
    /// Future streams named by a tree frame. Their signals do not wait, but their number has the same limit.
    nodes: BTreeSet<StreamId>,
    /// The first stream ID above all requests seen.
    next_request: u64,
    /// Unseen requests below it: QUIC opens them together with the higher one (RFC 9000, 3.2).
    unseen: BTreeSet<u64>,
    requests_seen: u64,
    signals_seen: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayBeOpened {
    Yes,
    /// It is over.
    NoMore,
    /// It is beyond the stream limit.
    Never,
}

impl WaitingSignals {
    /// A request stream appears for the first time. Of the gap below it, only streams that can be open are stored.
    pub(crate) fn saw_request(&mut self, StreamId(id): StreamId, concurrent_requests: u64) {
        self.requests_seen += 1;
        self.unseen.remove(&id);
        if id < self.next_request {
            return;
        }
        let gap_start =
            self.next_request.max(id.saturating_sub(concurrent_requests.saturating_mul(4)));
        self.unseen.extend((gap_start..id).step_by(4));
        while self.unseen.len() as u64 > concurrent_requests {
            self.unseen.pop_first();
        }
        self.next_request = id.saturating_add(4);
    }

    pub(crate) fn may_be_opened(
        &self,
        StreamId(id): StreamId,
        concurrent_requests: u64,
    ) -> MayBeOpened {
        match id {
            _ if id >= self.streams_end(concurrent_requests) => MayBeOpened::Never,
            _ if id >= self.next_request || self.unseen.contains(&id) => MayBeOpened::Yes,
            _ => MayBeOpened::NoMore,
        }
    }

    /// The first stream ID beyond the limit.
    pub(crate) fn streams_end(&self, concurrent_requests: u64) -> u64 {
        self.next_request.saturating_add(concurrent_requests.saturating_mul(4))
    }

    /// Keeps the latest signal of each stream, within the limit.
    pub(crate) fn keep(&mut self, stream: StreamId, event: Event, limits: &Limits) {
        if self.waiting.contains_key(&stream)
            || self.waiting.len() < limits.waiting_priority_updates
        {
            self.waiting.insert(stream, event);
        }
    }

    /// A tree frame names a future stream. Returns `false` if there are too many such streams.
    pub(crate) fn name_node(&mut self, stream: StreamId, limits: &Limits) -> bool {
        if self.nodes.len() < limits.waiting_priority_updates {
            self.nodes.insert(stream);
        }
        self.nodes.contains(&stream)
    }

    pub(crate) fn is_node_named(&self, stream: StreamId) -> bool {
        self.nodes.contains(&stream)
    }

    pub(crate) fn forget_node(&mut self, stream: StreamId) {
        self.nodes.remove(&stream);
    }

    /// Stores the signal of an open request. The transport limits their number.
    pub(crate) fn put_back(&mut self, stream: StreamId, event: Event) {
        self.waiting.insert(stream, event);
    }

    pub(crate) fn take(&mut self, stream: StreamId) -> Option<Event> {
        self.waiting.remove(&stream)
    }

    /// Counts one signal against the number that the client's requests allow.
    pub(crate) fn spend(&mut self, limits: &Limits) -> Result<(), Error> {
        self.signals_seen += 1;
        let earned = limits.signals_per_request.saturating_mul(self.requests_seen);
        if self.signals_seen <= limits.signals.saturating_add(earned) {
            return Ok(());
        }
        Code::ExcessiveLoad.fail("more priority signals than the requests explain (utmost)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_allowed_in_a_burst_and_with_every_request() {
        let limits = Limits { signals: 2, signals_per_request: 1, ..Limits::default() };
        let mut waiting = WaitingSignals::default();
        assert!(waiting.spend(&limits).is_ok() && waiting.spend(&limits).is_ok());
        assert_eq!(waiting.spend(&limits).unwrap_err().kind(), Code::ExcessiveLoad);
        let mut waiting = WaitingSignals::default();
        waiting.saw_request(StreamId(0), 10);
        let taken = (0..9).take_while(|_| waiting.spend(&limits).is_ok()).count();
        assert_eq!(taken, 3);
    }
}
