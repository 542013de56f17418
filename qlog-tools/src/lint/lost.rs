//! Losses in a client's log: the missing numbers among its arrived packets.

use crate::trace::{Trace, Vantage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loss {
    /// When the last packet before them arrived.
    pub(super) time_us: u64,
    /// The number of first transmissions that had arrived by then.
    pub(super) after: u64,
    /// The most bytes that they may have had, without the bytes known to be missing.
    pub(super) bytes: u64,
}

/// Attributes a hole of this size, which a stream left behind when it continued, to one of these
/// losses.
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

/// The gaps in order: the number of the first packet after each, and the most bytes that fit into the missing packets.
/// Empty for a server's log, which records what it sent.
pub(super) fn gaps(trace: &Trace) -> impl Iterator<Item = (u64, u64)> {
    let packets = trace.packets.iter().filter(|_| trace.vantage != Vantage::Server);
    packets.flat_map(|packets| {
        let most = trace.arrivals.iter().map(|it| it.0.bytes).max().unwrap_or_default();
        packets.received.gaps().map(move |(next, missing)| (next, missing.saturating_mul(most)))
    })
}
