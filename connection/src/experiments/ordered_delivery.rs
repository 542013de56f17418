//! Delivers data in the order in which the server first sent it, across all streams. A page over TCP gets
//! this order, because a lost byte holds back all bytes sent after it.

use super::SendOrder;
use crate::Arrival;
use http3::StreamId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Data that has arrived and waits for bytes that were sent earlier.
pub struct OrderedDelivery {
    order: SendOrder,
    /// The next run of the order, and how much of it has been delivered.
    next: (usize, u64),
    waiting: BTreeMap<StreamId, Waiting>,
    /// Streams whose remaining bytes will not arrive.
    reset: BTreeSet<StreamId>,
}

#[derive(Default)]
struct Waiting {
    bytes: VecDeque<u8>,
    fin: bool,
}

/// A stream, its next bytes, and whether they are its last.
pub type Piece = (StreamId, Vec<u8>, bool);

impl OrderedDelivery {
    /// Before anything has arrived from a server that sends in `order`.
    pub fn new(order: SendOrder) -> Self {
        Self { order, next: (0, 0), waiting: BTreeMap::new(), reset: BTreeSet::new() }
    }

    /// Takes an arrival on a stream. Returns `false` if it does not have to wait, so the session gets it
    /// now.
    pub fn holds(&mut self, stream: StreamId, arrival: Arrival<'_>) -> bool {
        match arrival {
            Arrival::Bytes(bytes, fin) if stream.0.is_multiple_of(4) => {
                let waiting = self.waiting.entry(stream).or_default();
                waiting.bytes.extend(bytes);
                waiting.fin |= fin;
                true
            }
            Arrival::Bytes(..) => false,
            Arrival::Reset(_) => {
                self.waiting.remove(&stream);
                self.reset.insert(stream);
                false
            }
        }
    }

    /// The next piece in the order, if it has arrived.
    pub fn release(&mut self) -> Option<Piece> {
        while let Some((stream, run_bytes)) = self.order.run(self.next.0) {
            if self.reset.contains(&stream) || self.next.1 == run_bytes {
                self.next = (self.next.0 + 1, 0);
                continue;
            }
            let Some(waiting) = self.waiting.get_mut(&stream) else { break };
            let left = usize::try_from(run_bytes - self.next.1).unwrap_or(usize::MAX);
            let count = waiting.bytes.len().min(left);
            if count == 0 {
                break;
            }
            let bytes: Vec<u8> = waiting.bytes.drain(..count).collect();
            self.next.1 += count as u64;
            return Some((stream, bytes, self.take_end(stream)));
        }
        // An end that arrived without bytes.
        let ended = self.waiting.iter().find(|(_, it)| it.fin && it.bytes.is_empty());
        let stream = *ended?.0;
        self.take_end(stream).then(|| (stream, Vec::new(), true))
    }

    fn take_end(&mut self, stream: StreamId) -> bool {
        let ended = self.waiting.get(&stream).is_some_and(|it| it.fin && it.bytes.is_empty());
        if ended {
            self.waiting.remove(&stream);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived(delivery: &mut OrderedDelivery, stream: StreamId, bytes: &[u8], fin: bool) {
        assert!(delivery.holds(stream, Arrival::Bytes(bytes, fin)));
    }

    fn released(delivery: &mut OrderedDelivery) -> String {
        let mut text = String::new();
        while let Some((stream, bytes, fin)) = delivery.release() {
            let end = if fin { "." } else { "" };
            text = format!("{text}{}:{}{end} ", stream.0, String::from_utf8_lossy(&bytes));
        }
        text.trim_end().to_owned()
    }

    #[test]
    fn a_byte_waits_for_all_that_were_sent_before_it_on_any_stream() {
        let order = SendOrder::default();
        for (stream, bytes) in [(0, 2), (4, 3), (0, 2)] {
            order.sent(StreamId(stream), bytes);
        }
        let mut delivery = OrderedDelivery::new(order.clone());
        arrived(&mut delivery, StreamId(0), b"abcd", true);
        assert_eq!(released(&mut delivery), "0:ab");
        arrived(&mut delivery, StreamId(4), b"x", false);
        assert_eq!(released(&mut delivery), "4:x");
        arrived(&mut delivery, StreamId(4), b"yz", false);
        assert_eq!(released(&mut delivery), "4:yz 0:cd.");
        arrived(&mut delivery, StreamId(4), b"", true);
        assert_eq!(released(&mut delivery), "4:.");
        arrived(&mut delivery, StreamId(8), b"w", true);
        assert_eq!(released(&mut delivery), "", "the server has not said when it sent this");
        order.sent(StreamId(8), 1);
        assert_eq!(released(&mut delivery), "8:w.");
    }

    #[test]
    fn a_response_that_was_reset_holds_nothing_back() {
        let order = SendOrder::default();
        order.sent(StreamId(0), 2);
        order.sent(StreamId(4), 1);
        let mut delivery = OrderedDelivery::new(order);
        arrived(&mut delivery, StreamId(4), b"x", true);
        assert_eq!(released(&mut delivery), "");
        assert!(!delivery.holds(StreamId(0), Arrival::Reset(0x10c)));
        assert_eq!(released(&mut delivery), "4:x.");
    }
}
