//! Packets that are handed to HTTP/3 together (the paper's Figure 13): a stack of one is a packet that could be
//! used as soon as it arrived.

use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::timeline::Timeline;
use std::collections::BTreeMap;

/// How long a packet takes on the paper's network: packets of one slot are stacked in its figure.
pub(super) const SLOT_US: u64 = 10_000;

/// When each packet could be used.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stacks {
    /// By moment, in microseconds: the streams of the packets that were handed up then, both those that arrived
    /// together and those that one of them released. A moment is a slot, as wide as a packet in the paper's
    /// figure.
    pub(super) handed_up: BTreeMap<u64, Vec<u64>>,
    /// Blocking within streams, and the additional blocking of one order for all streams.
    pub(super) blocking: HeadOfLine,
}

impl Stacks {
    /// From a load. Each frame of its timeline is a packet.
    pub(super) fn of(timeline: &Timeline) -> Self {
        let frames = &timeline.frames;
        let blocking = HeadOfLine::new(Arrivals {
            frames: &frames.iter().collect(),
            sent: None,
            received: None,
        });
        let mut handed_up: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for piece in blocking.pieces() {
            let moment_us = frames[piece.delivered].time_us / SLOT_US * SLOT_US;
            handed_up.entry(moment_us).or_default().push(piece.stream);
        }
        Self { handed_up, blocking }
    }

    pub(super) fn largest(&self) -> usize {
        self.handed_up.values().map(Vec::len).max().unwrap_or(0)
    }

    pub(super) fn at_least(&self, packets: usize) -> usize {
        self.handed_up.values().filter(|it| it.len() >= packets).count()
    }

    pub(super) fn stacked_share(&self) -> f64 {
        let all: usize = self.handed_up.values().map(Vec::len).sum();
        let stacked: usize = self.handed_up.values().map(Vec::len).filter(|it| *it > 1).sum();
        if all == 0 { 0.0 } else { stacked as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;

    #[test]
    fn packets_of_one_slot_stand_on_one_another() {
        let frame = |time_us, stream| StreamFrame { time_us, stream, offset: 0, bytes: 10 };
        let frames = vec![frame(20_000, 0), frame(24_999, 4), frame(30_000, 8)];
        let stacks = Stacks::of(&Timeline { frames, ..Timeline::default() });
        assert_eq!(stacks.handed_up, BTreeMap::from([(20_000, vec![0, 4]), (30_000, vec![8])]));
    }

    #[test]
    fn a_late_packet_holds_up_its_own_stream_only() {
        let frame = |time_us, stream, offset| StreamFrame { time_us, stream, offset, bytes: 10 };
        // Stream 0's first packet is third; stream 4's packets do not wait.
        let frames = vec![
            frame(10_000, 0, 10),
            frame(20_000, 4, 0),
            frame(30_000, 0, 0),
            frame(40_000, 4, 10),
        ];
        let stacks = Stacks::of(&Timeline { frames, ..Timeline::default() });
        let sizes: Vec<usize> = stacks.handed_up.values().map(Vec::len).collect();
        assert_eq!(sizes, [1, 2, 1]);
        assert_eq!((stacks.largest(), stacks.at_least(2), stacks.at_least(1)), (2, 1, 3));
        assert_eq!(stacks.blocking.largest_stack.frames, 2);
        let text = |value: f64| value.to_string();
        assert_eq!([stacks.blocking.intra.mean_ms, stacks.stacked_share()].map(text), ["5", "0.5"]);
    }
}
