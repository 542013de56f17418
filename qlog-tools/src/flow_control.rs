//! How much the other end allows the sender to send: flow control (RFC 9000, section 4).

use std::collections::BTreeMap;

/// The limits of flow control as one end learned them. Times are microseconds on the log's clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FlowControl {
    /// The connection's: when, and how many bytes of all streams from then on.
    pub(crate) connection: Vec<(u64, u64)>,
    /// Those of streams, by ID: when, and how many bytes of the stream from then on.
    pub(crate) streams: BTreeMap<u64, Vec<(u64, u64)>>,
    /// What each stream begins with.
    pub(crate) initial: InitialLimits,
}

/// The limits that streams begin with, from the other end's transport parameters; `None` where it did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InitialLimits {
    /// Two-way streams that the other end opens.
    pub(crate) of_its_streams: Option<u64>,
    /// Two-way streams that the log's side opens.
    pub(crate) of_own_streams: Option<u64>,
    /// One-way streams that the log's side opens.
    pub(crate) one_way: Option<u64>,
}

impl FlowControl {
    /// The connection's limit is `bytes` from now on. It never shrinks.
    pub(crate) fn raise(&mut self, time_us: u64, bytes: u64) -> bool {
        raise(&mut self.connection, time_us, bytes)
    }

    /// The same for a stream.
    pub(crate) fn raise_stream(&mut self, stream: u64, time_us: u64, bytes: u64) -> bool {
        raise(self.streams.entry(stream).or_default(), time_us, bytes)
    }

    /// The limit that a server's `stream` begins with.
    pub(crate) fn initial_of(&self, stream: u64) -> Option<u64> {
        // RFC 9000, section 2.1: the lowest bits say who opened it, and whether it is one-way.
        match stream % 4 {
            0 => self.initial.of_its_streams,
            1 => self.initial.of_own_streams,
            _ => self.initial.one_way,
        }
    }
}

fn raise(limits: &mut Vec<(u64, u64)>, time_us: u64, bytes: u64) -> bool {
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
        let mut limits = FlowControl::default();
        let raised = [(1, 100), (2, 100), (3, 50), (4, 200)].map(|(at, to)| limits.raise(at, to));
        assert_eq!(raised, [true, false, false, true]);
        assert_eq!(limits.connection, [(1, 100), (4, 200)]);
    }

    #[test]
    fn a_response_begins_with_what_its_client_grants_its_own_streams() {
        let initial =
            InitialLimits { of_its_streams: Some(1), of_own_streams: Some(2), one_way: Some(3) };
        let limits = FlowControl { initial, ..FlowControl::default() };
        assert_eq!([0, 1, 3, 15].map(|it| limits.initial_of(it)), [1, 2, 3, 3].map(Some));
    }
}
