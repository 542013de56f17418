//! How much the peer allows the sender to send: flow control (RFC 9000, section 4).

use std::collections::BTreeMap;

/// The limits of flow control as one end learned them. Times are in microseconds on the log's clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FlowControl {
    /// The connection's limits: the time, and the limit on all streams' bytes from then on.
    pub(crate) connection: Vec<(u64, u64)>,
    /// The limits of streams, by ID: the time, and the limit on the stream's bytes from then on.
    pub(crate) streams: BTreeMap<u64, Vec<(u64, u64)>>,
    /// The initial limits of streams, from the peer's transport parameters; `None` if not stated: of bidirectional streams
    /// that the peer opens, of those that the log's side opens, and of unidirectional ones that it opens.
    pub(crate) initial: [Option<u64>; 3],
}

impl FlowControl {
    /// The initial limit of a server's `stream`.
    pub(crate) fn initial_of(&self, stream: u64) -> Option<u64> {
        // RFC 9000, section 2.1: the lowest bits show who opened it, and whether it is unidirectional.
        self.initial[[0, 1, 2, 2][(stream % 4) as usize]]
    }
}

/// Raises the limit to `bytes` from now on. It never shrinks.
pub(crate) fn raise(limits: &mut Vec<(u64, u64)>, time_us: u64, bytes: u64) -> bool {
    let is_more = limits.last().is_none_or(|last| bytes > last.1);
    if is_more {
        limits.push((time_us, bytes));
    }
    is_more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_never_shrinks() {
        let mut limits = Vec::new();
        let raised =
            [(1, 100), (2, 100), (3, 50), (4, 200)].map(|(at, to)| raise(&mut limits, at, to));
        assert_eq!(raised, [true, false, false, true]);
        assert_eq!(limits, [(1, 100), (4, 200)]);
    }

    #[test]
    fn a_response_begins_with_what_its_client_grants_its_own_streams() {
        let initial = [1, 2, 3].map(Some);
        let limits = FlowControl { initial, ..FlowControl::default() };
        assert_eq!([0, 1, 3, 15].map(|it| limits.initial_of(it)), [1, 2, 3, 3].map(Some));
    }
}
