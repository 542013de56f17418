//! Converts event times of all generations to whole microseconds on one clock that begins near 0.

use crate::saturating_cast::to_u64;

#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// Whether each time counts from the preceding event.
    pub(super) counts_from_previous: bool,
    /// Microseconds per unit of the log's times.
    unit_us: f64,
    /// The time of the first event, if times count from an epoch.
    origin: Option<f64>,
    /// Nothing has been read.
    is_fresh: bool,
    now_us: u64,
    /// The same without rounding, if times count from the preceding event: rounded ones would add up their errors.
    exact_us: f64,
    /// The same in ms, with all digits of the log.
    pub(super) now_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClockRepair {
    /// The log's times count from an epoch.
    Epoch,
    /// The time was earlier than the preceding event's.
    Backward,
}

/// Relative times beyond this, three years in milliseconds, count as times from an epoch.
const EPOCH_FROM: f64 = 1e8 * 1000.0;
/// Beyond 2^53 microseconds, 285 years, a double is not exact.
const LATEST_US: f64 = 9_007_199_254_740_992.0;

impl Default for Clock {
    fn default() -> Self {
        Self::new(None, None)
    }
}

impl Clock {
    /// `unit_us`: the microseconds in a unit of the log's times, if it names one.
    pub(super) fn new(time_format: Option<&str>, unit_us: Option<f64>) -> Self {
        let counts_from_previous =
            matches!(time_format, Some("relative_to_previous_event" | "delta" | "delta_time"));
        Self {
            counts_from_previous,
            unit_us: unit_us.unwrap_or(1000.0),
            origin: None,
            is_fresh: true,
            now_us: 0,
            exact_us: 0.0,
            now_ms: 0.0,
        }
    }

    /// The event's time in microseconds, and its correction, if any; `None` if the time is invalid.
    pub(super) fn normalize(&mut self, time: f64) -> Option<(u64, Option<ClockRepair>)> {
        let is_first = std::mem::take(&mut self.is_fresh);
        let is_epoch = is_first && (EPOCH_FROM..1e17).contains(&time);
        if is_epoch {
            self.origin = Some(time);
            // Its size tells the unit of a time since 1970: today is about 1.8e9 s.
            self.unit_us = if time >= 1e14 { 1.0 } else { 1000.0 };
        }
        let since = match self.origin {
            Some(_) if self.counts_from_previous && !is_epoch => time,
            // Slightly before the first event counts as the first event.
            Some(origin) => (time - origin).max(0.0),
            None => time,
        };
        let since_us = since * self.unit_us;
        if time.is_nan() || !(0.0..=LATEST_US).contains(&since_us.round()) {
            return None;
        }
        if self.counts_from_previous {
            self.exact_us = (self.exact_us + since_us).min(LATEST_US);
            // In nanoseconds: sums have digits that no log has.
            self.now_ms = (self.exact_us * 1000.0).round() / 1e6;
        } else {
            self.exact_us = since_us;
            self.now_ms = self.in_ms(since);
        }
        let time_us = to_u64(self.exact_us.round());
        let is_backward = time_us < self.now_us;
        self.now_us = time_us;
        let repair = match self.origin {
            Some(_) if is_first => Some(ClockRepair::Epoch),
            _ => is_backward.then_some(ClockRepair::Backward),
        };
        Some((time_us, repair))
    }

    /// The wall clock at time 0, in ms since 1970, if the log's times count from then.
    pub(super) fn origin_ms(&self) -> Option<f64> {
        self.origin.map(|origin| origin * self.unit_us / 1000.0)
    }

    /// A time in the log's units; computed values have no more digits than nanoseconds need.
    fn in_ms(&self, time: f64) -> f64 {
        let is_as_logged = self.origin.is_none() && (self.unit_us - 1000.0).abs() < 0.5;
        if is_as_logged { time } else { (time * self.unit_us * 1000.0).round() / 1e6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_microseconds() {
        let mut clock = Clock::default();
        assert_eq!(clock.normalize(109.354), Some((109_354, None)));
        assert_eq!(clock.normalize(0.0), Some((0, Some(ClockRepair::Backward))));
    }

    #[test]
    fn units_are_as_the_header_says() {
        assert_eq!(Clock::new(None, Some(1.0)).normalize(90_610.0), Some((90_610, None)));
        assert_eq!(Clock::new(None, Some(1e6)).normalize(1.5), Some((1_500_000, None)));
    }

    #[test]
    fn times_can_count_from_the_event_before() {
        let mut clock = Clock::new(Some("relative_to_previous_event"), None);
        assert_eq!(clock.normalize(1.5), Some((1_500, None)));
        assert_eq!(clock.normalize(2.0), Some((3_500, None)));
    }

    #[test]
    fn times_between_events_add_up_without_rounding() {
        let mut clock = Clock::new(Some("delta"), None);
        let times_us: Vec<u64> =
            (0..100_000).filter_map(|_| Some(clock.normalize(0.0004)?.0)).collect();
        assert_eq!((times_us[0], times_us[1], times_us.last()), (0, 1, Some(&40_000)));
        assert_eq!(clock.now_ms.to_string(), "40");
    }

    #[test]
    fn a_first_time_since_1970_is_where_times_between_events_begin() {
        let mut clock = Clock::new(Some("delta"), None);
        assert_eq!(clock.normalize(1_790_000_000_000.0), Some((0, Some(ClockRepair::Epoch))));
        assert_eq!(clock.normalize(12.0), Some((12_000, None)));
        assert_eq!(clock.normalize(8.0), Some((20_000, None)));
        assert_eq!(clock.origin_ms(), Some(1_790_000_000_000.0));
    }

    #[test]
    fn times_since_1970_count_from_the_first_event() {
        let mut clock = Clock::default();
        assert_eq!(clock.normalize(1_795_225_776_545.25), Some((0, Some(ClockRepair::Epoch))));
        assert_eq!(clock.normalize(1_795_225_776_546.5), Some((1_250, None)));
        let mut clock = Clock::default();
        assert!(clock.normalize(1_795_225_776_545_250.0).is_some());
        assert_eq!(clock.normalize(1_795_225_776_545_251.0), Some((1, None)));
    }

    #[test]
    fn impossible_times_are_none() {
        let mut clock = Clock::default();
        for event_ms in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(clock.normalize(event_ms), None, "{event_ms}");
        }
    }
}
