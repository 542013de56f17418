//! Limits of an attack's cost for this machine.

use std::time::Duration;

/// Datagrams without a connection, in one second.
pub(crate) const DATAGRAMS_PER_SECOND: u32 = 2000;
/// Such datagrams of one attack.
pub(crate) const FIRST_PACKETS_MAX: u32 = 20_000;
/// Sockets from which such datagrams are sent.
pub(crate) const DATAGRAM_SOCKETS: usize = 20;
/// Addresses from which clients' datagrams are forwarded.
pub(crate) const SPOOFERS_MAX: usize = 500;
/// Connections of one attack.
pub(crate) const CONNECTIONS_MAX: usize = 1000;
/// Visitors, and the time between two requests of one.
pub(crate) const VISITORS: usize = 4;
pub(crate) const REQUEST_EACH: Duration = Duration::from_millis(20);
/// The pause after an attack before the server's memory is read: longer than a handshake's deadline.
pub(crate) const SETTLE: Duration = Duration::from_secs(11);
/// Guests of a soak, and the interval between readings of the server's process.
pub(crate) const GUESTS: usize = 8;
pub(crate) const SAMPLE_EACH: Duration = Duration::from_secs(1);
/// The pause between two bytes of a slow attacker over TCP.
pub(crate) const SLOW_EACH: Duration = Duration::from_millis(200);
/// Bytes of garbage that each end of a WebSocket sends at once, and the pause before the next.
pub(crate) const GARBAGE_BYTES: usize = 1024;
pub(crate) const GARBAGE_EACH: Duration = Duration::from_millis(20);
/// Bytes of a request's head that the attackers' backend reads.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
