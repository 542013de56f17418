//! Event times in qlog are milliseconds, usually since the start of the log; here they become
//! whole microseconds.

/// How the log's times are to be read.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Each time counts from the event before.
    counts_from_previous: bool,
    now_us: u64,
}

impl Clock {
    /// From the header's `time_format`.
    pub(super) fn new(time_format: Option<&str>) -> Self {
        let counts_from_previous =
            matches!(time_format, Some("relative_to_previous_event" | "delta"));
        Self { counts_from_previous, now_us: 0 }
    }

    /// The event's time in microseconds; `None` when it cannot be one.
    pub(super) fn normalize(&mut self, event_ms: f64) -> Option<u64> {
        // Beyond 2^53 microseconds, 285 years, a double is not exact.
        const LATEST_US: f64 = 9_007_199_254_740_992.0;
        let time_us = (event_ms * 1000.0).round();
        if !(0.0..=LATEST_US).contains(&time_us) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        let time_us = time_us as u64;
        self.now_us =
            if self.counts_from_previous { self.now_us.checked_add(time_us)? } else { time_us };
        Some(self.now_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_microseconds() {
        let mut clock = Clock::new(None);
        assert_eq!(clock.normalize(109.354), Some(109_354));
        assert_eq!(clock.normalize(0.0), Some(0));
    }

    #[test]
    fn times_can_count_from_the_event_before() {
        let mut clock = Clock::new(Some("relative_to_previous_event"));
        assert_eq!(clock.normalize(1.5), Some(1_500));
        assert_eq!(clock.normalize(2.0), Some(3_500));
    }

    #[test]
    fn impossible_times_are_none() {
        let mut clock = Clock::new(None);
        for event_ms in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(clock.normalize(event_ms), None, "{event_ms}");
        }
    }
}
