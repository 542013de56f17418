//! A fixed pace: one packet of response data in each tick, as in the paper's section 4.2.

use std::time::{Duration, Instant};

/// How much is sent, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Stream bytes of one packet.
    pub packet_bytes: usize,
    /// Time from one packet to the next.
    pub interval: Duration,
}

impl Pace {
    /// The paper's pace: 1400 bytes each 10 ms.
    pub const PAPER: Self = Self { packet_bytes: 1400, interval: Duration::from_millis(10) };

    /// Bytes that a UDP payload needs besides the stream bytes: packet and frame headers, the AEAD tag, and
    /// an ACK frame in the same packet.
    pub const ROOM_BYTES: usize = 150;
}

/// The ticks of one connection. A tick at which nothing is ready passes unused, as in the paper's
/// implementation; a tick that the machine missed is made up for, so that the rate holds.
#[derive(Debug, Clone)]
pub(crate) struct Ticks {
    pub(crate) pace: Pace,
    pub(crate) next: Option<Instant>,
    idle: bool,
}

/// Ticks that may be made up for at once.
const LATE_TICKS: u32 = 4;

impl Ticks {
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, next: None, idle: false }
    }

    /// Whether a packet may be sent now. Ticks long past are dropped; the grid stays.
    pub(crate) fn allow(&mut self, now: Instant) -> bool {
        let mut next = self.next.unwrap_or(now);
        let late = if std::mem::take(&mut self.idle) { 0 } else { LATE_TICKS };
        while next + self.pace.interval * late < now {
            next += self.pace.interval;
        }
        self.next = Some(next);
        next <= now
    }

    pub(crate) fn used(&mut self) {
        if let Some(next) = &mut self.next {
            *next += self.pace.interval;
        }
    }

    /// Nothing was ready: this tick passes unused, and the next packet waits for a later one.
    pub(crate) fn idle(&mut self) {
        self.used();
        self.idle = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Instant {
        use std::sync::OnceLock;
        static BASE: OnceLock<Instant> = OnceLock::new();
        #[expect(
            clippy::disallowed_methods,
            reason = "an Instant can only be had from the clock; only differences matter"
        )]
        *BASE.get_or_init(Instant::now)
    }

    #[test]
    fn a_tick_carries_one_packet_and_the_grid_holds_when_the_machine_is_late() {
        let mut ticks = Ticks::new(Pace::PAPER);
        let at = |ms| base() + Duration::from_millis(ms);
        let mut sent = Vec::new();
        for ms in [0, 3, 10, 27, 28, 30, 39, 40] {
            while ticks.allow(at(ms)) {
                sent.push(ms);
                ticks.used();
            }
        }
        assert_eq!(sent, [0, 10, 27, 30, 40]);
    }

    #[test]
    fn a_tick_that_nobody_used_is_gone_and_the_next_packet_waits_for_the_grid() {
        let mut ticks = Ticks::new(Pace::PAPER);
        let at = |ms| base() + Duration::from_millis(ms);
        assert!(ticks.allow(at(0)));
        ticks.idle();
        let mut sent = Vec::new();
        for ms in [1003, 1009, 1010, 1011] {
            while ticks.allow(at(ms)) {
                ticks.used();
                sent.push(ms);
            }
        }
        assert_eq!(sent, [1010]);
    }
}
