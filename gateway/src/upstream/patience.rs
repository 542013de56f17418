//! How long a request may wait for its client.

use crate::limits::PROGRESS_BYTES_PER_SECOND;
use std::time::Duration;

/// The time that a client may still make a backend wait. Bytes that it takes or sends earn time, at the minimum
/// expected rate.
#[derive(Debug)]
pub(super) struct Patience {
    most: Duration,
    left: Duration,
}

impl Patience {
    /// A client may pause for `most`.
    pub(super) fn new(most: Duration) -> Self {
        Self { most, left: most }
    }

    pub(super) fn left(&self) -> Duration {
        self.left
    }

    pub(super) fn waited(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }

    pub(super) fn moved(&mut self, bytes: usize) {
        let worth = Duration::from_secs_f64(bytes as f64 / PROGRESS_BYTES_PER_SECOND);
        self.left = (self.left + worth).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_moves_a_byte_at_a_time_runs_out_of_time() {
        let mut patience = Patience::new(Duration::from_secs(25));
        for second in 1..25 {
            patience.waited(Duration::from_secs(1));
            patience.moved(1);
            assert!(patience.left() > Duration::ZERO, "{second}");
        }
        patience.waited(Duration::from_secs(1));
        assert!(patience.left() < Duration::from_millis(30), "{:?}", patience.left());
    }

    #[test]
    fn a_slow_client_that_goes_on_has_all_the_time_that_it_needs() {
        let mut patience = Patience::new(Duration::from_secs(25));
        for _ in 0..1000 {
            patience.waited(Duration::from_secs(10));
            patience.moved(10 << 10);
        }
        assert_eq!(patience.left(), Duration::from_secs(25));
    }
}
