//! Every limit on the memory that a peer can cost us.

/// Limits on what a peer can make one [`crate::Session`] keep. Frames of unknown types may have any length, because they are
/// skipped on arrival. A peer that exceeds a limit gets `H3_EXCESSIVE_LOAD`.
///
/// Events hold the bytes given to `receive` and decoded field sections, which are limited here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one encoded HEADERS frame, which is kept until it is complete. A longer one is a stream error.
    pub headers_payload_bytes: u64,
    /// Bytes of all incomplete HEADERS frames of a connection. Exceeding it is an error of the stream that passes the limit.
    pub unfinished_bytes: u64,
    /// Bytes of one decoded field section, counted as in RFC 9114, 4.2.2 (names, values, and 32 for each field). The smaller of
    /// this and our `max_field_section_size` setting applies. A larger section is a stream error, which a server may answer with
    /// 431.
    pub field_section_bytes: u64,
    /// Field lines of one section, pseudo-header fields included. A section with more is a stream error, which a server may
    /// answer with 431.
    pub field_lines: usize,
    /// Bytes of one SETTINGS frame.
    pub settings_payload_bytes: u64,
    /// Bytes of one `PRIORITY_UPDATE` frame. The frames of our extensions have fixed maximum lengths.
    pub priority_update_payload_bytes: u64,
    /// Future requests whose `PRIORITY_UPDATE` or bucket byte waits, only the latest for each; and future requests named by tree
    /// frames, all of which are reported at once, in order. Signals about further requests are dropped, as RFC 9218, 7 allows.
    pub waiting_priority_updates: usize,
    /// Requests that may be in flight: the transport's `initial_max_streams_bidi`. A `PRIORITY_UPDATE` about a later request is
    /// an error (RFC 9218, 7.2).
    pub concurrent_requests: u64,
    /// Priority signals of any kind that a client may send on its control stream before its first request. Together with
    /// [`Self::signals_per_request`], it bounds the cost of a flood without a clock: work is proportional to requests, which the
    /// transport limits. More is a connection error.
    pub signals: u64,
    /// Further signals that each request allows. A browser sends one to three.
    pub signals_per_request: u64,
    /// Unidirectional streams that the peer may have open, ignored ones included.
    pub unidirectional_streams: usize,
    /// Interim (1xx) responses before a final one. More is a stream error.
    pub interim_responses: u32,
    /// Frames of one message without content for it: empty DATA frames, and frames of unknown types. More is a stream error.
    /// Greasing needs one or two.
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
