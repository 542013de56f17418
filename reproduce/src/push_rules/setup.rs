//! A page on one of the source's networks, as loads of it begin.

use crate::bench::Case;
use crate::downloads::network;
use crate::model::Path;
use crate::sketch::Sketch;
use lab::network::Network;
use simulator::link::Queue;

/// More packets than any page here fills: the window of a connection that has been in use, where the source assumes
/// no limit.
pub(super) const OPEN_WINDOW_PACKETS: usize = 1000;

/// Bytes that the server sends before any request can arrive: the limit for an unvalidated client (RFC 9000, 8.1).
pub(super) const HANDSHAKE_BYTES: f64 = 3.0 * 1200.0;

/// Bytes that answer early data before the client has answered: three times its two datagrams, less the handshake and
/// its padding, as row `native-0rtt-first-flight` measures it.
pub(super) const FIRST_FLIGHT_BYTES: f64 = 3400.0;

pub(super) fn case(sketch: &Sketch, path: Path) -> Case {
    queued_case(sketch, path, Queue::Unlimited, OPEN_WINDOW_PACKETS)
}

pub(super) fn queued_case(
    sketch: &Sketch,
    path: Path,
    queue: Queue,
    window_packets: usize,
) -> Case {
    Case::new(sketch.page(), network_of(path, queue), window_packets)
}

pub(super) fn network_of(path: Path, queue: Queue) -> Network {
    network("push-rules", path.bits_per_s, path.rtt_ms, queue)
}
