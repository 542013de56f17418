//! The window after an idle period (RFC 5681, 4.1): the transport keeps the previous one, however old it is.
//!
//! After a pause longer than a probe timeout, no more than the initial window may be in flight. That limit grows by
//! what is acknowledged, as in slow start, until it reaches the transport's window, which alone counts from then on.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Restart {
    initial_bytes: u64,
    last_sent: Option<Instant>,
    /// `None`: only the transport's window counts.
    limit_bytes: Option<u64>,
    /// Bytes in flight when the last datagram arrived.
    in_flight_bytes: u64,
    /// Sent since then.
    sent_bytes: u64,
}

impl Restart {
    pub(super) fn new(initial_bytes: u64) -> Self {
        let (in_flight_bytes, sent_bytes) = (0, 0);
        Self { initial_bytes, last_sent: None, limit_bytes: None, in_flight_bytes, sent_bytes }
    }

    /// There is data to send. Returns `true` if it ends a pause, so that the limit begins.
    pub(super) fn begins(&mut self, now: Instant, probe_timeout: Duration) -> bool {
        let is_idle = self.last_sent.is_some_and(|it| it + probe_timeout < now);
        if is_idle {
            *self = Self { limit_bytes: Some(self.initial_bytes), ..Self::new(self.initial_bytes) };
        }
        is_idle
    }

    /// A datagram was sent that the client acknowledges.
    pub(super) fn sent(&mut self, bytes: usize, now: Instant) {
        self.last_sent = Some(now);
        self.sent_bytes += bytes as u64;
    }

    /// The room under the limit, when the transport's window has `free_bytes` of `window_bytes`.
    pub(super) fn room(&mut self, window_bytes: u64, free_bytes: u64) -> u64 {
        let in_flight_bytes = window_bytes.saturating_sub(free_bytes);
        let before_bytes = self.in_flight_bytes + self.sent_bytes;
        (self.in_flight_bytes, self.sent_bytes) = (in_flight_bytes, 0);
        let acknowledged_bytes = before_bytes.saturating_sub(in_flight_bytes);
        let limit_bytes = self.limit_bytes.map(|it| it + acknowledged_bytes);
        self.limit_bytes = limit_bytes.filter(|it| *it < window_bytes);
        self.limit_bytes.map_or(free_bytes, |it| it.saturating_sub(in_flight_bytes))
    }

    /// Whether the limit is smaller than the transport's window.
    pub(super) fn is_in_force(&self) -> bool {
        self.limit_bytes.is_some()
    }

    /// The transport's window, or the limit.
    pub(super) fn window(&self, window_bytes: usize) -> usize {
        let limit_bytes = self.limit_bytes.and_then(|it| usize::try_from(it).ok());
        limit_bytes.map_or(window_bytes, |it| it.min(window_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTO: Duration = Duration::from_millis(100);

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant can only be had from the clock; only differences matter"
    )]
    fn now() -> Instant {
        Instant::now()
    }

    #[test]
    fn a_pause_ends_with_the_initial_window_which_grows_by_what_is_acknowledged() {
        let t0 = now();
        let mut restart = Restart::new(10_000);
        assert!(!restart.begins(t0, PTO), "no connection begins with a pause");
        restart.sent(1000, t0);
        assert!(!restart.begins(t0 + PTO, PTO));
        assert_eq!(restart.room(40_000, 39_000), 39_000, "the transport's");
        assert!(restart.begins(t0 + PTO + PTO, PTO) && restart.is_in_force());
        assert_eq!(restart.room(40_000, 40_000), 10_000);
        restart.sent(6000, t0 + PTO);
        restart.sent(4000, t0 + PTO);
        // 2000 of 10,000 are acknowledged.
        assert_eq!(restart.room(40_000, 32_000), 4000);
        assert_eq!([restart.window(40_000), restart.window(9000)], [12_000, 9000]);
        restart.sent(4000, t0 + PTO);
        assert_eq!(restart.room(40_000, 40_000), 24_000);
        restart.sent(24_000, t0 + PTO);
        assert_eq!(restart.room(40_000, 40_000), 40_000);
        assert!(!restart.is_in_force());
        assert!(restart.begins(t0 + 3 * PTO, PTO), "a second pause");
        assert_eq!(restart.room(40_000, 40_000), 10_000);
    }
}
