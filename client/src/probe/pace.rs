//! Reading at a pace.

use super::Reading;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Pace {
    bytes_per_ms: Option<f64>,
    /// The most bytes that can be saved up.
    most_bytes: f64,
    room_bytes: f64,
    refilled: Duration,
}

impl Pace {
    /// Between two readings.
    const STEP: Duration = Duration::from_millis(1);

    pub(super) fn new(reading: Reading) -> Self {
        let Reading { window_bytes, bytes_per_ms } = reading;
        Self { bytes_per_ms, most_bytes: window_bytes as f64, ..Self::default() }
    }

    pub(super) fn refill(&mut self, since_start: Duration) {
        if let Some(bytes_per_ms) = self.bytes_per_ms {
            let passed = since_start.saturating_sub(self.refilled);
            let more_bytes = passed.as_secs_f64() * 1000.0 * bytes_per_ms;
            self.room_bytes = (self.room_bytes + more_bytes).min(self.most_bytes);
            self.refilled = since_start;
        }
    }

    pub(super) fn room(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let room = self.room_bytes.max(0.0) as usize;
        if self.bytes_per_ms.is_some() { room } else { usize::MAX }
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.room_bytes -= bytes as f64;
    }

    pub(super) fn next_refill(&self) -> Option<Duration> {
        self.bytes_per_ms.map(|_| self.refilled + Self::STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_saves_up_no_more_than_a_window() {
        let mut pace = Pace::new(Reading { window_bytes: 1000, bytes_per_ms: Some(100.0) });
        pace.refill(Duration::from_millis(3));
        assert_eq!(pace.room(), 300);
        pace.spend(250);
        pace.refill(Duration::from_millis(4));
        assert_eq!(pace.room(), 150);
        pace.refill(Duration::from_secs(9));
        assert_eq!(pace.room(), 1000);
        assert_eq!(pace.next_refill(), Some(Duration::from_millis(9001)));
        assert_eq!(Pace::new(Reading::FREE).room(), usize::MAX);
    }
}
