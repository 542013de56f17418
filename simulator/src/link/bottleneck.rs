//! The queue before a link, and the rate at which it drains.

use super::profile::{Queue, Rate};
use super::trace::Cursor;
use std::collections::VecDeque;

/// Datagrams leave one after another, in order of arrival.
#[derive(Debug, Clone)]
pub(super) struct Bottleneck {
    rate: Rate,
    queue: Queue,
    /// The departure time of each, and its size.
    waiting: VecDeque<(u64, u64)>,
    waiting_bytes: u64,
    free_at_ns: u64,
    cursor: Cursor,
}

impl Bottleneck {
    pub(super) fn new(rate: Rate, queue: Queue) -> Self {
        Self {
            rate,
            queue,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            free_at_ns: 0,
            cursor: Cursor::default(),
        }
    }

    /// Bytes that have not completely left at `now_ns`.
    pub(super) fn backlog_bytes(&mut self, now_ns: u64) -> u64 {
        while let Some((_, bytes)) =
            self.waiting.front().filter(|(departs_ns, _)| *departs_ns <= now_ns)
        {
            self.waiting_bytes -= bytes;
            self.waiting.pop_front();
        }
        self.waiting_bytes
    }

    /// When a datagram of `bytes` that arrives at `now_ns` has left completely. `None`: the queue has no room.
    pub(super) fn admit(&mut self, now_ns: u64, bytes: u64) -> Option<u64> {
        let backlog_bytes = self.backlog_bytes(now_ns);
        let fits = match self.queue {
            Queue::Unlimited => true,
            Queue::Bytes(limit) => backlog_bytes + bytes <= limit,
            Queue::Packets(limit) => (self.waiting.len() as u64) < limit,
        };
        if !fits {
            return None;
        }
        let from_ns = now_ns.max(self.free_at_ns);
        self.free_at_ns = match &self.rate {
            Rate::Constant(rate) => from_ns + nanoseconds(bytes as f64 * 8e9 / rate),
            Rate::Trace(trace) => self.cursor.depart(trace, from_ns, bytes),
        };
        self.waiting.push_back((self.free_at_ns, bytes));
        self.waiting_bytes += bytes;
        Some(self.free_at_ns)
    }
}

/// Nanoseconds, rounded up so that a rate is never exceeded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(super) fn nanoseconds(ns: f64) -> u64 {
    ns.ceil().clamp(0.0, 1e18) as u64
}
