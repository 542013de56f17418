//! Random loss of datagrams, with a seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) struct Loss {
    chance: ChaCha8Rng,
    percent: u32,
}

impl Loss {
    /// Loses this percentage of datagrams.
    pub(crate) fn new(percent: u32, seed: u64) -> Self {
        Self { chance: ChaCha8Rng::seed_from_u64(seed), percent }
    }

    pub(crate) fn none() -> Self {
        Self::new(0, 0)
    }

    /// Whether the next datagram gets lost.
    pub(crate) fn happens(&mut self) -> bool {
        self.percent > 0 && self.chance.next_u32() % 100 < self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_loses_the_same_datagrams_again() {
        let lost = |seed| {
            let mut loss = Loss::new(2, seed);
            (0..10_000).filter(|_| loss.happens()).collect::<Vec<u32>>()
        };
        assert_eq!(lost(1), lost(1));
        assert_ne!(lost(1), lost(2));
        assert!((150..250).contains(&lost(1).len()), "{}", lost(1).len());
        assert!(!Loss::none().happens());
    }
}
