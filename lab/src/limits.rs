//! What bounds the lab.

/// Slots after which a load on the engine `ideal` is given up: a page of 14 GB.
pub(crate) const SLOTS_MAX: u64 = 10_000_000;

/// Clients of a relay. Beyond this number the one that was silent longest is forgotten.
pub(crate) const RELAY_CLIENTS_MAX: usize = 256;

/// Datagrams that a relay reads from one socket before the others get their turn.
pub(crate) const RELAY_READ_BURST: usize = 256;
