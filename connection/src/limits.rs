//! Limits on the memory that a server can cost a client, and timeouts.

use std::time::Duration;

/// The most connections beside the first one. A server accepts eight in all.
pub(crate) const OTHERS_MAX: usize = 7;
/// The interval of the packets that keep the first connection open while responses arrive on
/// others.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// The most pushes that migrate before their streams open.
pub(crate) const EARLY_PUSHES_MAX: usize = 64;
