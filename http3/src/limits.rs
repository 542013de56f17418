//! Every limit on what a peer can make us keep.

/// What a peer can make one [`crate::Session`] keep. Frames of unknown types may have any length: they are
/// skipped as they come and nothing of them is kept. Passing a limit is `H3_EXCESSIVE_LOAD`.
///
/// Without these a session would grow with its input only: events hold what was given to `receive`, and
/// decoded field sections, which are limited here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one HEADERS frame, encoded: it is kept until it is whole. Passing it is an error of the
    /// stream.
    pub headers_payload_bytes: u64,
    /// Bytes of one decoded field section, counted as RFC 9114, 4.2.2 does (names, values, and 32 for each
    /// field). The smaller of this and our `max_field_section_size` setting holds; passing it is an error
    /// of the stream, which a server may answer with 431.
    pub field_section_bytes: u64,
    /// Bytes of one SETTINGS frame.
    pub settings_payload_bytes: u64,
    /// Bytes of one `PRIORITY_UPDATE` frame. The frames of our extensions have a fixed greatest length.
    pub priority_update_payload_bytes: u64,
    /// Requests still to come whose `PRIORITY_UPDATE` or bucket byte waits, the latest of each; and requests
    /// still to come that frames of the tree named, all of whose frames are told at once, in their order.
    /// What is about further ones is dropped, which is allowed (RFC 9218, 7).
    pub waiting_priority_updates: usize,
    /// How many requests may be in flight: what the transport was told (`initial_max_streams_bidi`). A
    /// `PRIORITY_UPDATE` cannot be about a request beyond (RFC 9218, 7.2).
    pub concurrent_requests: u64,
    /// Priority signals on the control stream, of any kind and whether or not they change anything, that a
    /// client may send before its first request. With [`Self::signals_per_request`] it bounds what a flood
    /// of reprioritizations can cost without a clock: work is in proportion to requests, which the
    /// transport limits. Passing it is an error of the connection.
    pub signals: u64,
    /// Further ones that each request entitles to. A browser sends one to three.
    pub signals_per_request: u64,
    /// The peer's unidirectional streams that are open at one time, ignored ones included.
    pub unidirectional_streams: usize,
    /// Interim (1xx) responses before a final one. Passing it is an error of the stream.
    pub interim_responses: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            headers_payload_bytes: 64 * 1024,
            field_section_bytes: 64 * 1024,
            settings_payload_bytes: 256,
            priority_update_payload_bytes: 256,
            waiting_priority_updates: 128,
            concurrent_requests: 128,
            signals: 1024,
            signals_per_request: 64,
            unidirectional_streams: 32,
            interim_responses: 16,
        }
    }
}
