//! The limits of a simulation.

use std::time::Duration;

/// Virtual time at which a world ends.
pub const TIME_MAX: Duration = Duration::from_secs(3600);

/// The most bytes in one link, whatever its queue. Further datagrams are dropped.
pub(crate) const LINK_BYTES_MAX: u64 = 256 << 20;

/// The most lines of a trace: four hours at 12 Mbit/s.
pub(crate) const TRACE_LINES_MAX: usize = 16_000_000;

/// The longest trace: a year.
pub(crate) const TRACE_MS_MAX: u64 = 366 * 24 * 3600 * 1000;
