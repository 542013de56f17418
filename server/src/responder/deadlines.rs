//! Ends what a client keeps open without progress: requests whose head stays incomplete, and responses that it does
//! not accept.
//!
//! There is no timer for this. A client that keeps a connection open sends datagrams, and each is an occasion to
//! check; a silent one is dropped with its connection ([`Limits::idle`]).

use super::Responder;
use crate::limits::DEADLINE_CHECKS;
use crate::send_loop::Ending;
use crate::streams::Waiting;
use crate::{Event, Limits};
use http3::{Code, StreamId};
use std::collections::BTreeMap;
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// When they were last looked at.
    checked: Option<Instant>,
    /// Streams whose request has begun, and the time since which the rest of its head is awaited.
    pub(super) heads: BTreeMap<StreamId, Instant>,
    stalls: BTreeMap<StreamId, Stall>,
}

/// The time since which a response has not advanced.
#[derive(Debug, Clone, Copy)]
struct Stall {
    since: Instant,
    then: Waiting,
}

impl Stall {
    /// Whether the response has advanced, or others have been sent before it.
    fn is_over(&self, now: &Waiting, limits: &Limits) -> bool {
        let Waiting { offset, taken, .. } = self.then;
        let moved = if now.is_held { now.offset - offset } else { now.taken - taken };
        moved >= limits.stalled_bytes
    }
}

impl Deadlines {
    fn are_due(&mut self, now: Instant) -> bool {
        let last = *self.checked.get_or_insert(now);
        let due = now.saturating_duration_since(last) >= DEADLINE_CHECKS;
        if due {
            self.checked = Some(now);
        }
        due
    }

    /// The streams whose request's head is overdue or has arrived.
    fn take_old_heads(&mut self, now: Instant, limits: &Limits) -> Vec<StreamId> {
        let is_old = |since: Instant| now.saturating_duration_since(since) >= limits.head;
        let (old, new) = std::mem::take(&mut self.heads).into_iter().partition(|it| is_old(it.1));
        self.heads = new;
        BTreeMap::into_keys(old).collect()
    }

    /// The responses that have waited for the client too long.
    fn overdue(&mut self, waiting: Vec<Waiting>, now: Instant, limits: &Limits) -> Vec<StreamId> {
        let mut before = std::mem::take(&mut self.stalls);
        let mut overdue = Vec::new();
        for waiting in waiting {
            let stream = waiting.stream;
            let stall = before.remove(&stream).filter(|it| !it.is_over(&waiting, limits));
            let stall = stall.unwrap_or(Stall { since: now, then: waiting });
            if now.saturating_duration_since(stall.since) >= limits.stalled {
                overdue.push(stream);
            } else {
                self.stalls.insert(stream, stall);
            }
        }
        overdue
    }
}

impl Responder {
    /// Ends what is overdue. Everything that could be sent was sent.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        if !self.deadlines.are_due(now) {
            return;
        }
        let limits = &self.shared.options.limits;
        let connection = &mut self.sender.connection;
        for stream in self.deadlines.take_old_heads(now, limits) {
            if connection.session.awaits_head(stream) {
                self.nuisances += 1;
                connection.session.give_up(stream);
                connection.shut(stream, Code::RequestIncomplete);
            }
        }
        let waiting = self.sender.streams.waiting();
        // RFC 9114, 4.1.1: a response that is abandoned after its beginning.
        for stream in self.deadlines.overdue(waiting, now, limits) {
            self.shared.options.observers.notice(&Event::Overdue);
            self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// When, in seconds, a response is overdue if it is found waiting every 5 seconds; `waiting` describes how.
    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn ends_after(waiting: impl Fn(u64) -> Option<Waiting>) -> Option<u64> {
        let (mut deadlines, start) = (Deadlines::default(), Instant::now());
        (0..100).map(|it| it * 5).find(|seconds| {
            let now = start + Duration::from_secs(*seconds);
            let waiting = waiting(seconds / 5).into_iter().collect();
            !deadlines.overdue(waiting, now, &Limits::default()).is_empty()
        })
    }

    fn held(offset: u64) -> Waiting {
        Waiting { stream: StreamId(0), is_held: true, offset, taken: 1 << 30 }
    }

    fn behind_others(taken: u64) -> Waiting {
        Waiting { stream: StreamId(0), is_held: false, offset: 0, taken }
    }

    #[test]
    fn a_client_must_take_16_kib_a_minute_of_a_response_that_waits_for_it() {
        assert_eq!(ends_after(|_| Some(held(0))), Some(60));
        assert_eq!(ends_after(|round| Some(held(round))), Some(60));
        assert_eq!(ends_after(|round| Some(held(round * 1_365))), Some(60));
        assert_eq!(ends_after(|round| Some(held(round * 1_490))), None);
    }

    #[test]
    fn a_response_may_wait_for_others_as_long_as_they_move() {
        assert_eq!(ends_after(|round| Some(behind_others(round * 1_490))), None);
        assert_eq!(ends_after(|round| Some(behind_others(round * 1_365))), Some(60));
    }

    #[test]
    fn a_response_that_does_not_wait_for_once_begins_anew() {
        assert_eq!(ends_after(|round| (round != 11).then_some(held(0))), Some(120));
        assert_eq!(ends_after(|round| (round % 11 != 0).then_some(held(0))), None);
    }
}
