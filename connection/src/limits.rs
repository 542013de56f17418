//! Limits on what a server can make a client hold, and times.

use std::time::Duration;

/// Connections beside the first one. A server accepts eight in all.
pub(crate) const OTHERS_MAX: usize = 7;
/// While responses come on other connections, the first one is kept open by a packet this often.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Pushes that migrate before their streams open.
pub(crate) const EARLY_PUSHES_MAX: usize = 64;
