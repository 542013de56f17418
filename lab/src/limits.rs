//! What bounds the lab.

/// Clients of a relay. Beyond this number the one that was silent longest is forgotten.
pub(crate) const RELAY_CLIENTS_MAX: usize = 256;

/// Datagrams that a relay reads from one socket before the others get their turn.
pub(crate) const RELAY_READ_BURST: usize = 256;
