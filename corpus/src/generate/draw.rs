//! Seeded numbers.

use schedulers::SplitMix64;

#[derive(Debug, Clone)]
pub(super) struct Draw(SplitMix64);

impl Draw {
    pub(super) const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// From 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.0.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 0 to below `bound`, which must not be 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.draw() % bound.max(1) as u64).unwrap_or(0)
    }

    pub(super) fn happens(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Fisher and Yates.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
pub(super) fn whole(value: f64) -> usize {
    value.max(0.0).round() as usize
}
