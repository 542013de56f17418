//! What a client says about order.

/// A QUIC stream ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// One priority signal of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// RFC 9218: the `Priority` header field or a `PRIORITY_UPDATE` frame.
    Extensible {
        /// The response it is about.
        stream: StreamId,
        /// 0 (first) to 7 (last), default 3.
        urgency: u8,
        /// Whether the response is useful in parts.
        incremental: bool,
    },
}
