//! Every limit on what a peer can make this server hold.

use std::time::Duration;

/// Limits of a server. Each says what it bounds; beyond it the peer pays, not the server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at a time; beyond it new ones are not answered.
    pub connections: usize,
    /// Requests in flight on a connection (QUIC's bidirectional stream limit).
    pub streams: u64,
    /// Unidirectional streams that a client may open: control, two for QPACK, and room for greasing.
    pub unidirectional_streams: u64,
    /// Bytes that a client may send on one connection before the server has read them.
    pub receive_bytes: u64,
    /// Bytes that a client may send on one stream before the server has read them.
    pub stream_receive_bytes: u64,
    /// A connection without a packet for this long is dropped.
    pub idle: Duration,
    /// How long a draining server waits for responses under way.
    pub drain: Duration,
    /// HTTP/3 limits.
    pub http3: http3::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            streams: 256,
            unidirectional_streams: 16,
            receive_bytes: 1 << 20,
            stream_receive_bytes: 256 << 10,
            idle: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            http3: http3::Limits::default(),
        }
    }
}
