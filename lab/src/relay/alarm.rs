//! The relay's timer: accurate to about ten microseconds, while a poll's own timeout has whole
//! milliseconds.

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// A system timer that a poll waits for. It is never read, because setting it again clears it.
pub(super) struct Alarm {
    timer: TimerFd,
    set_for: Option<Instant>,
}

impl Alarm {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
        registry.register(&mut SourceFd(&timer.as_fd().as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { timer, set_for: None })
    }

    /// Fires at `due`, or at once if that is past. `None` disables it.
    pub(super) fn set(&mut self, due: Option<Instant>, now: Instant) -> io::Result<()> {
        if due == self.set_for && due.is_none_or(|due| due > now) {
            return Ok(());
        }
        self.set_for = due;
        match due {
            Some(due) => {
                // Zero would switch the timer off.
                let wait = due.saturating_duration_since(now).max(Duration::from_nanos(1));
                self.timer
                    .set(Expiration::OneShot(TimeSpec::from(wait)), TimerSetTimeFlags::empty())
            }
            None => self.timer.unset(),
        }
        .map_err(io::Error::from)
    }
}
