//! What a client did not get: the numbers that lack among the packets that came to it.

use crate::trace::{Trace, Vantage};

/// Packets that did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loss {
    /// When the last before them had come.
    pub(super) time_us: u64,
    /// How many first transmissions had come by then.
    pub(super) after: u64,
    /// As many bytes as they may have had, but for those that are known to lack.
    pub(super) bytes: u64,
}

/// A hole of so many bytes in a stream, which it left behind when it went on, was in one of these.
pub(super) fn account(losses: &mut [Loss], mut hole_bytes: u64) {
    for loss in losses {
        if hole_bytes == 0 {
            break;
        }
        let here = loss.bytes.min(hole_bytes);
        loss.bytes -= here;
        hole_bytes -= here;
    }
}

/// A gap in the numbers of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// The number of the first packet that came after it.
    pub(super) before: u64,
    /// As many bytes as fit into what lacks.
    pub(super) bytes: u64,
}

/// In order; none in a server's log, which tells what it sent.
pub(super) fn gaps(trace: &Trace) -> Vec<Gap> {
    if trace.vantage == Vantage::Server {
        return Vec::new();
    }
    let packet_bytes = trace.arrivals.iter().map(|it| it.0.bytes).max().unwrap_or_default();
    let gaps = trace.packets.iter().flat_map(|it| it.received.gaps());
    gaps.map(|(before, packets)| Gap { before, bytes: packets.saturating_mul(packet_bytes) })
        .collect()
}
