//! The arrived bytes of one stream: the readable prefix, and the islands beyond its holes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One STREAM frame that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamFrame {
    /// When it arrived.
    pub time_us: u64,
    /// Its stream.
    pub stream: u64,
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// From `time_us` on, the stream's bytes `[0, readable_bytes)` could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryStep {
    /// The time of the frame that closed the gap.
    pub time_us: u64,
    /// The length of the prefix without holes.
    pub readable_bytes: u64,
}

/// The state of one stream. It takes O(log holes) per frame, and memory only for the holes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assembly {
    /// Bytes `[0, readable_bytes)` have all arrived.
    pub(crate) readable_bytes: u64,
    /// Ranges that arrived beyond a hole: start to end, disjoint and not adjacent.
    pub(crate) islands: BTreeMap<u64, u64>,
    /// When the readable prefix last grew.
    last_step_us: Option<u64>,
    pub(crate) first_frame_us: Option<u64>,
    pub(crate) unique_bytes: u64,
    pub(crate) duplicate_bytes: u64,
}

impl Assembly {
    /// Adds a frame; returns the step by which the readable prefix grew, if it did.
    pub(crate) fn receive(&mut self, frame: &StreamFrame) -> Option<DeliveryStep> {
        self.first_frame_us.get_or_insert(frame.time_us);
        let end = frame.offset.saturating_add(frame.bytes);
        // Almost all frames come in order. They need no island.
        let in_order = self.islands.is_empty() && frame.offset <= self.readable_bytes;
        let fresh = if in_order {
            end.saturating_sub(self.readable_bytes)
        } else {
            self.insert(frame.offset, end)
        };
        self.unique_bytes = self.unique_bytes.saturating_add(fresh);
        self.duplicate_bytes = self.duplicate_bytes.saturating_add(end - frame.offset - fresh);
        if !in_order {
            return self.advance(frame.time_us);
        }
        (fresh > 0).then(|| self.grow(end, frame.time_us))
    }

    /// The parts of `[start, end)` that have not arrived, in order.
    pub(crate) fn fresh_parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let mut low = start.max(self.readable_bytes);
        if let Some((_, &island_end)) = self.islands.range(..=low).next_back() {
            low = low.max(island_end);
        }
        while low < end {
            let next = self.islands.range(low..end).next();
            let high = next.map_or(end, |(&island, _)| island);
            if low < high {
                parts.push((low, high));
            }
            low = next.map_or(end, |(_, &island_end)| island_end);
        }
        parts
    }

    /// Adds `[start, end)` and returns the number of new bytes.
    fn insert(&mut self, start: u64, end: u64) -> u64 {
        let (mut low, mut high) = (start.max(self.readable_bytes), end);
        if low >= high {
            return 0;
        }
        let mut known = 0;
        while let Some((&island, &island_end)) = self.islands.range(..=high).next_back() {
            if island_end < low {
                break;
            }
            known += island_end.min(end).saturating_sub(island.max(start));
            low = low.min(island);
            high = high.max(island_end);
            self.islands.remove(&island);
        }
        self.islands.insert(low, high);
        end - start.max(self.readable_bytes) - known
    }

    /// Moves the readable prefix over an island that now touches it.
    fn advance(&mut self, time_us: u64) -> Option<DeliveryStep> {
        let (&start, &end) = self.islands.first_key_value()?;
        if start > self.readable_bytes {
            return None;
        }
        self.islands.remove(&start);
        Some(self.grow(end, time_us))
    }

    fn grow(&mut self, end: u64, time_us: u64) -> DeliveryStep {
        self.readable_bytes = end;
        // Clocks of a log can step back; a byte is never readable before the bytes it waits for.
        let time_us = self.last_step_us.map_or(time_us, |last_us| last_us.max(time_us));
        self.last_step_us = Some(time_us);
        DeliveryStep { time_us, readable_bytes: end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(offset: u64, bytes: u64) -> StreamFrame {
        StreamFrame { time_us: 0, stream: 0, offset, bytes }
    }

    #[test]
    fn the_fresh_parts_lie_between_the_islands() {
        let mut assembly = Assembly::default();
        for (offset, bytes) in [(0, 10), (20, 10), (40, 10)] {
            assembly.receive(&frame(offset, bytes));
        }
        assert_eq!(assembly.fresh_parts(5, 60), [(10, 20), (30, 40), (50, 60)]);
        assert_eq!(assembly.fresh_parts(25, 45), [(30, 40)]);
        assert_eq!(assembly.fresh_parts(0, 10), []);
    }

    proptest! {
        #[test]
        fn fresh_parts_are_what_a_frame_then_adds(ranges in prop::collection::vec((0u64..60, 0u64..20), 0..30)) {
            let mut assembly = Assembly::default();
            for (offset, bytes) in ranges {
                let parts = assembly.fresh_parts(offset, offset + bytes);
                let before = assembly.unique_bytes;
                assembly.receive(&frame(offset, bytes));
                prop_assert_eq!(parts.iter().map(|(low, high)| high - low).sum::<u64>(), assembly.unique_bytes - before);
            }
        }
    }
}
