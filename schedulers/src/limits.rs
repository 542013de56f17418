//! Bounds on what a client can make a scheduler remember.

/// Placeholders in one tree, which a server also announces: twice what `s+` needs, the scheme with the most.
pub const PLACEHOLDERS_MAX: usize = 16;
/// Signals kept for streams that are not open yet, one a stream (RFC 9218, section 7).
pub(crate) const EARLY_SIGNALS_MAX: usize = 256;
/// Nodes of streams that are not open yet: as many as browsers open streams, more are ignored.
pub(crate) const IDLE_NODES_MAX: usize = 256;
/// Closed streams that are remembered, to tell "no longer in the tree" from "not yet".
pub(crate) const CLOSED_NODES_MAX: usize = 1024;
