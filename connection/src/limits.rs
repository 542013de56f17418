//! Limits on what a server can make a client hold.

/// Connections beside the first one. A server accepts eight in all.
pub(crate) const OTHERS_MAX: usize = 7;
/// Pushes that migrate before their streams open.
pub(crate) const EARLY_PUSHES_MAX: usize = 64;
