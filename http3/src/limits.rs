//! Every limit on the memory that a peer can cost us.

/// How much a peer can make one [`crate::Session`] keep. Frames of unknown types may have any length, because they are
/// skipped as they come. A peer that exceeds a limit gets `H3_EXCESSIVE_LOAD`.
///
/// Events hold the bytes given to `receive` and decoded field sections, which are limited here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one encoded HEADERS frame, which is kept until it is whole. A longer one is an error of the stream.
    pub headers_payload_bytes: u64,
    /// Bytes of all HEADERS frames of a connection that are not whole. More is an error of the stream that passes the limit.
    pub unfinished_bytes: u64,
    /// Bytes of one decoded field section, counted as RFC 9114, 4.2.2 does (names, values, and 32 for each
    /// field). The smaller of this and our `max_field_section_size` setting holds. A larger section is an error of the
    /// stream, which a server may answer with 431.
    pub field_section_bytes: u64,
    /// Field lines of one section, pseudo-header fields among them. A section with more is an error of the stream, which a server
    /// may answer with 431.
    pub field_lines: usize,
    /// Bytes of one SETTINGS frame.
    pub settings_payload_bytes: u64,
    /// Bytes of one `PRIORITY_UPDATE` frame. The frames of our extensions have a fixed greatest length.
    pub priority_update_payload_bytes: u64,
    /// Requests still to come whose `PRIORITY_UPDATE` or bucket byte waits, the latest of each; and requests
    /// still to come that frames of the tree named, whose frames are all reported at once, in their order.
    /// Signals about further requests are dropped, which is allowed (RFC 9218, 7).
    pub waiting_priority_updates: usize,
    /// How many requests may be in flight: the transport's `initial_max_streams_bidi`. A `PRIORITY_UPDATE` about a later
    /// request is an error (RFC 9218, 7.2).
    pub concurrent_requests: u64,
    /// How many priority signals of any kind a client may send on its control stream before its first request. With
    /// [`Self::signals_per_request`] it bounds the cost of a flood without a clock: work is in proportion to requests,
    /// which the transport limits. More is an error of the connection.
    pub signals: u64,
    /// How many further signals each request allows. A browser sends one to three.
    pub signals_per_request: u64,
    /// How many unidirectional streams the peer may have open, ignored ones included.
    pub unidirectional_streams: usize,
    /// Interim (1xx) responses before a final one. More is an error of the stream.
    pub interim_responses: u32,
    /// Frames of one message that carry nothing for it: DATA without a byte, and frames of unknown types. More is an error of
    /// the stream. Greasing needs one or two.
    pub empty_frames: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            headers_payload_bytes: 64 * 1024,
            unfinished_bytes: 256 * 1024,
            field_section_bytes: 64 * 1024,
            // A thousand, and the pseudo-header fields of an extended CONNECT (RFC 9220).
            field_lines: 1005,
            settings_payload_bytes: 256,
            priority_update_payload_bytes: 256,
            waiting_priority_updates: 128,
            concurrent_requests: 128,
            signals: 1024,
            signals_per_request: 64,
            unidirectional_streams: 32,
            interim_responses: 16,
            empty_frames: 256,
        }
    }
}
