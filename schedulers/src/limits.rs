//! Limits on what a client can make a scheduler store.

/// Placeholders in one tree, which a server also announces: twice as many as `s+` needs, which needs the
/// most.
pub const PLACEHOLDERS_MAX: usize = 16;
/// Signals stored for streams that are not open yet, one for each stream (RFC 9218, section 7).
pub(crate) const EARLY_SIGNALS_MAX: usize = 256;
/// Nodes of streams that are not open yet: as many as browsers open; further ones are ignored.
pub(crate) const IDLE_NODES_MAX: usize = 256;
/// Closed streams that are stored, to distinguish "no longer in the tree" from "not yet".
pub(crate) const CLOSED_NODES_MAX: usize = 1024;
