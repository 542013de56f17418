//! Events that wait until all earlier ones have come: some programs log from several threads, and their lines change places.

use std::collections::VecDeque;

use super::event::{Event, Shape};

/// The most events that wait: more than lines change places, and more than a browser logs between sending a packet and
/// saying so.
const WAITING_EVENTS: usize = 1 << 10;
/// The most bytes of them.
const WAITING_BYTES: usize = 1 << 20;

/// An event that waits; its body is not parsed.
pub(super) struct Waiting {
    /// In the log's units.
    time: f64,
    /// Its number in the file, from 1.
    pub(super) record: u64,
    /// The trace to which it belongs.
    pub(super) trace: usize,
    pub(super) shape: Shape,
    pub(super) bytes: Vec<u8>,
}

/// The latest events of a log, by time; events of one time are in the log's order.
#[derive(Default)]
pub(super) struct InOrder {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// The time of the last event that left.
    left: Option<f64>,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
}

impl InOrder {
    /// Whether an event of this time can still be put in its place.
    pub(super) fn has_place(&self, time: f64) -> bool {
        self.left.is_none_or(|left| left <= time)
    }

    pub(super) fn add(&mut self, event: Event<'_>, trace: usize, record: u64, text: &[u8]) {
        let (time, shape) = (event.time, Shape::of(event, text));
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(text);
        self.bytes += bytes.len();
        let event = Waiting { time, record, trace, shape, bytes };
        if self.waiting.back().is_none_or(|last| last.time <= time) {
            self.waiting.push_back(event);
        } else {
            let place = self.waiting.partition_point(|it| it.time <= time);
            self.waiting.insert(place, event);
        }
    }

    /// The earliest event, if more wait than may.
    pub(super) fn surplus(&mut self) -> Option<Waiting> {
        let is_full = self.waiting.len() > WAITING_EVENTS || self.bytes > WAITING_BYTES;
        if is_full { self.earliest() } else { None }
    }

    /// The earliest event.
    pub(super) fn earliest(&mut self) -> Option<Waiting> {
        let event = self.waiting.pop_front()?;
        self.bytes -= event.bytes.len();
        self.left = Some(event.time);
        Some(event)
    }

    /// Takes back the buffer of an event that was read.
    pub(super) fn reuse(&mut self, mut buffer: Vec<u8>) {
        // A long one would keep its memory.
        if buffer.capacity() <= 1 << 12 {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// The log's times begin anew.
    pub(super) fn begin(&mut self) {
        self.left = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: f64) -> Event<'static> {
        Event { time, name: "a:b".into(), data: b"{}", group: None, trigger: None, path: None }
    }

    #[test]
    fn events_leave_by_time_and_events_of_one_time_as_they_came() {
        let mut order = InOrder::default();
        for (record, time) in (1..).zip([1.0, 3.0, 2.0, 3.0, 1.5]) {
            assert!(order.has_place(time));
            order.add(event(time), 0, record, b"{}");
        }
        assert!(order.surplus().is_none());
        let left: Vec<u64> = std::iter::from_fn(|| order.earliest()).map(|it| it.record).collect();
        assert_eq!(left, [1, 5, 3, 2, 4]);
        assert!(order.has_place(3.0) && !order.has_place(2.9));
        order.begin();
        assert!(order.has_place(0.0));
    }

    #[test]
    fn few_events_and_few_bytes_wait() {
        let mut order = InOrder::default();
        for record in 1..=2 * WAITING_EVENTS as u64 {
            order.add(event(record as f64), 0, record, b"{}");
            if let Some(event) = order.surplus() {
                assert_eq!(event.record, record - WAITING_EVENTS as u64);
                order.reuse(event.bytes);
            }
        }
        let long = vec![b' '; WAITING_BYTES];
        order.add(event(1e9), 0, 1, &long);
        let mut left = 0;
        while order.surplus().is_some() {
            left += 1;
        }
        assert_eq!(left, WAITING_EVENTS, "only the long one stays");
    }
}
