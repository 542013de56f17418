//! Maps times of a log to the figure's axis, including times of the other end, which has another
//! clock.

#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The figure's zero, in µs on the clock of its log.
    start: u64,
    /// The shift from the clock of the source log to that clock, in µs.
    shift: i64,
    /// The length of the figure, in µs.
    length: u64,
}

impl Clock {
    /// The clock of the log that the figure shows, from `start_us` to `end_us`.
    pub(super) fn new(start_us: u64, end_us: u64) -> Self {
        Self { start: start_us, shift: 0, length: end_us.saturating_sub(start_us) }
    }

    /// The clock of a log that is `shift_us` behind.
    pub(super) fn shifted(self, shift_us: i64) -> Self {
        Self { shift: shift_us, ..self }
    }

    /// The shift of the log's times, in ms.
    pub(super) fn shift_ms(&self) -> f64 {
        self.shift as f64 / 1000.0
    }

    /// The shift from the figure's times to the log's, in µs.
    pub(super) fn to_own_us(self) -> i64 {
        i64::try_from(self.start).unwrap_or(i64::MAX).saturating_sub(self.shift)
    }

    /// The time on the figure's axis; earlier times are at its start.
    pub(super) fn at(&self, time_us: u64) -> u64 {
        time_us.saturating_add_signed(self.shift).saturating_sub(self.start)
    }

    /// The same; `None` after the figure's end.
    pub(super) fn within(&self, time_us: u64) -> Option<u64> {
        let at_us = self.at(time_us);
        (at_us <= self.length).then_some(at_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_another_clock_stand_on_the_figures_axis_or_at_its_start() {
        let clock = Clock::new(2000, 2500).shifted(1000);
        assert_eq!((clock.at(1100), clock.at(900)), (100, 0));
        assert_eq!((clock.within(1500), clock.within(1501)), (Some(500), None));
    }
}
