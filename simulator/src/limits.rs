//! The limits of a simulation.

use std::time::Duration;

/// Virtual time after which nothing happens any more.
pub const TIME_MAX: Duration = Duration::from_secs(3600);

/// Bytes that one link holds, whatever its queue. Datagrams beyond it are dropped.
pub(crate) const LINK_BYTES_MAX: u64 = 256 << 20;

/// Lines that are read of a trace: four hours at 12 Mbit/s.
pub(crate) const TRACE_LINES_MAX: usize = 16_000_000;

/// The longest trace: a year.
pub(crate) const TRACE_MS_MAX: u64 = 366 * 24 * 3600 * 1000;
