//! Seeded random numbers, the same on every machine.

/// `SplitMix64` (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

/// The step from one state to the next.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        Self::mixed(self.0)
    }

    /// Mixes the bits of a number, one to one.
    pub fn mixed(number: u64) -> u64 {
        let it = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// The state after this many steps from 0.
    pub fn state_at(steps: u64) -> u64 {
        steps.wrapping_mul(GAMMA)
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_generator_is_the_published_one() {
        assert_eq!(SplitMix64::new(1_234_567).draw(), 6_457_827_717_110_365_317);
    }
}
