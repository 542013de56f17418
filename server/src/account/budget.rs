//! An allowance that can be spent at once and refills with time.

use std::time::{Duration, Instant};

/// The rest of an allowance: a bucket that refills with time.
#[derive(Debug)]
pub struct Budget {
    most: f64,
    per_second: f64,
    left: f64,
    refilled: Option<Instant>,
}

impl Budget {
    /// A full bucket: it holds `most` and refills by `per_second` each second.
    pub fn new(most: u32, per_second: u32) -> Self {
        let (most, per_second) = (most.into(), per_second.into());
        Self { most, per_second, left: most, refilled: None }
    }

    /// Subtracts `count`. Returns `false` if less was left.
    pub fn spend(&mut self, count: u64, now: Instant) -> bool {
        let is_enough = self.has(count, now);
        if is_enough {
            self.left -= count as f64;
        }
        is_enough
    }

    /// Whether `count` is left.
    pub fn has(&mut self, count: u64, now: Instant) -> bool {
        self.refill(now);
        self.left >= count as f64
    }

    /// Subtracts `count`, even if less is left. Returns how long it takes to make up for that; `None` if this is longer than
    /// `within`, and then nothing is subtracted.
    pub fn borrow(&mut self, count: u64, within: Duration, now: Instant) -> Option<Duration> {
        self.refill(now);
        let missing = (count as f64 - self.left).max(0.0);
        let wait = Duration::try_from_secs_f64(missing / self.per_second).ok()?;
        if wait > within {
            return None;
        }
        self.left -= count as f64;
        Some(wait)
    }

    /// Whether nothing is taken off.
    pub fn is_whole(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left >= self.most
    }

    fn refill(&mut self, now: Instant) {
        let past = self.refilled.map_or(Duration::ZERO, |it| now.saturating_duration_since(it));
        self.refilled = Some(now);
        self.left = (self.left + past.as_secs_f64() * self.per_second).min(self.most);
    }

    /// Gives back an amount that was useful after all.
    pub fn give_back(&mut self, count: u64) {
        self.left = (self.left + count as f64).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn a_budget_is_spent_at_once_and_comes_back_with_time() {
        let mut budget = Budget::new(100, 10);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(budget.spend(100, at(0)));
        assert!(budget.spend(50, at(5)));
        assert!(!budget.spend(1, at(5)));
        assert!(budget.spend(100, at(1000)), "it refills to the whole at most");
        assert!(!budget.spend(1, at(1000)));
    }
}
