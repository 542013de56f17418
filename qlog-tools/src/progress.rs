//! How a stream's readable prefix grew, as running sums: memory does not depend on the stream's length.

use std::collections::VecDeque;
use std::ops::Range;

use crate::assembly::DeliveryStep;

/// The number of first steps that are stored: the body begins in them, and the exact place is known only at
/// the end.
const FIRST_STEPS: usize = 16;
/// The number of last steps that are stored: a body may end a little before its stream (the headers of later
/// DATA frames).
const LAST_STEPS: usize = 8;

#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The sum over all readable bytes of the time when each became readable.
    all_byte_us: u128,
    first: Vec<DeliveryStep>,
    /// The most recent of the later steps, each with the length before it.
    #[expect(clippy::box_collection, reason = "most streams have none, and there are many")]
    last: Option<Box<VecDeque<(u64, DeliveryStep)>>>,
}

impl Progress {
    /// The prefix grew; steps come in order.
    pub(crate) fn grow(&mut self, step: DeliveryStep) {
        let before = self.readable_bytes();
        let added = step.readable_bytes.saturating_sub(before);
        self.all_byte_us += u128::from(added) * u128::from(step.time_us);
        if self.first.len() < FIRST_STEPS {
            // In a log with very many streams, most have one step.
            self.first.reserve_exact(usize::from(self.first.is_empty()));
            self.first.push(step);
            return;
        }
        let last = self.last.get_or_insert_default();
        if last.len() == LAST_STEPS {
            last.pop_front();
        }
        last.push_back((before, step));
    }

    pub(crate) fn readable_bytes(&self) -> u64 {
        self.latest().map_or(0, |step| step.readable_bytes)
    }

    pub(crate) fn last_us(&self) -> Option<u64> {
        self.latest().map(|step| step.time_us)
    }

    fn latest(&self) -> Option<&DeliveryStep> {
        self.last_steps().next_back().map(|(_, step)| step).or(self.first.last())
    }

    fn last_steps(&self) -> impl DoubleEndedIterator<Item = &(u64, DeliveryStep)> {
        self.last.iter().flat_map(|it| it.iter())
    }

    /// When the prefix first had `bytes`, if still known.
    pub(crate) fn readable_at_us(&self, bytes: u64) -> Option<u64> {
        let mut known = self.first.iter().chain(self.last_steps().map(|(_, step)| step));
        known.find(|step| step.readable_bytes >= bytes).map(|step| step.time_us)
    }

    /// The sum over the bytes of `body` of the time since `start_us` when each became readable; bytes that
    /// the stream lacks count as readable `complete_us` after the start.
    pub(crate) fn byte_us(&self, body: &Range<u64>, start_us: u64, complete_us: u64) -> u128 {
        let readable = self.readable_bytes();
        let (low, high) = (body.start.min(readable), body.end.min(readable));
        let before = self.first_byte_us(low);
        let after = self.last_byte_us(high, start_us.saturating_add(complete_us));
        let inside = self.all_byte_us.saturating_sub(before).saturating_sub(after);
        let since_start = inside.saturating_sub(u128::from(high - low) * u128::from(start_us));
        let absent = (body.end - body.start) - (high - low);
        since_start + u128::from(absent) * u128::from(complete_us)
    }

    /// The progress of bytes `[0, end)`.
    fn first_byte_us(&self, end: u64) -> u128 {
        let (mut sum, mut counted, mut time_us) = (0, 0, 0);
        for step in &self.first {
            let upto = step.readable_bytes.min(end);
            time_us = step.time_us;
            sum += u128::from(upto.saturating_sub(counted)) * u128::from(time_us);
            counted = upto.max(counted);
        }
        sum + u128::from(end.saturating_sub(counted)) * u128::from(time_us)
    }

    /// The sum for bytes `[start, readable)`; steps no longer known count as at `complete_us` (the log's
    /// clock).
    fn last_byte_us(&self, start: u64, complete_us: u64) -> u128 {
        let (mut sum, mut counted) = (0, self.readable_bytes());
        for (before, step) in self.last_steps().rev() {
            let from = start.max(*before).min(counted);
            sum += u128::from(counted - from) * u128::from(step.time_us);
            counted = from;
        }
        let known = self.first.last().map_or(0, |step| step.readable_bytes).max(start);
        sum += u128::from(counted.saturating_sub(known)) * u128::from(complete_us);
        counted = counted.min(known);
        sum + self.first_byte_us(counted) - self.first_byte_us(start.min(counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With few steps, all are known, and the sum is exact.
        #[test]
        fn the_sum_is_that_of_the_bytes(steps in prop::collection::vec((0u64..9, 1u64..30), 1..20), low in 0u64..40, length in 0u64..300) {
            let (mut progress, mut times, mut now) = (Progress::default(), Vec::new(), 100);
            for (later, bytes) in steps {
                now += later;
                times.extend((0..bytes).map(|_| now));
                progress.grow(DeliveryStep { time_us: now, readable_bytes: times.len() as u64 });
            }
            let body = low..low + length;
            let expected: u64 = body
                .clone()
                .map(|byte| times.get(usize::try_from(byte).unwrap()).map_or(77, |time| time - 100))
                .sum();
            prop_assert_eq!(progress.byte_us(&body, 100, 77), u128::from(expected));
        }
    }
}
