//! Packets that are delivered in the order of sending.

use qlog_tools::assembly::StreamFrame;
use std::collections::{BTreeMap, VecDeque};

/// Packets in flight, and packets that arrived before earlier ones.
#[derive(Clone, Default)]
pub(super) struct Ordered {
    /// Stream and offset of the undelivered packets, in the order of sending.
    left: VecDeque<(u64, u64)>,
    waiting: BTreeMap<(u64, u64), StreamFrame>,
}

impl Ordered {
    pub(super) fn left(&mut self, frame: StreamFrame) {
        self.left.push_back((frame.stream, frame.offset));
    }

    /// The packets that can be delivered after `frame` has arrived.
    pub(super) fn arrived(&mut self, frame: StreamFrame) -> Vec<StreamFrame> {
        let time_us = frame.time_us;
        self.waiting.insert((frame.stream, frame.offset), frame);
        let mut ready = Vec::new();
        while let Some(next) = self.left.front()
            && let Some(frame) = self.waiting.remove(next)
        {
            self.left.pop_front();
            ready.push(StreamFrame { time_us, ..frame });
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_for_those_that_left_before_it() {
        let packet = |stream, time_us| StreamFrame { time_us, stream, offset: 0, bytes: 1 };
        let mut ordered = Ordered::default();
        for stream in [0, 4, 8] {
            ordered.left(packet(stream, 0));
        }
        assert_eq!(ordered.arrived(packet(4, 1)), []);
        assert_eq!(ordered.arrived(packet(0, 2)), [packet(0, 2), packet(4, 2)]);
        assert_eq!(ordered.arrived(packet(8, 3)), [packet(8, 3)]);
    }
}
