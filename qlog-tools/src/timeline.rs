//! What a client saw of one connection: which resources it asked for, and which bytes came when.
//! Every metric and figure is computed from this, whether it was read from a log or built in memory.

/// One connection as its client saw it. Times are microseconds on any common clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    /// What to call it: a file, or a scheme.
    pub name: String,
    /// The responses, by stream ID.
    pub transfers: Vec<Transfer>,
    /// The STREAM frames that arrived, in order of arrival.
    pub frames: Vec<StreamFrame>,
}

/// One request and its response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transfer {
    /// The stream that carried it.
    pub stream: u64,
    /// The resource's URL or path.
    pub url: String,
    /// When the client handed the request to the transport.
    pub requested_us: u64,
    /// Stream bytes before the body's first byte (HTTP/3 framing and headers).
    pub body_offset: u64,
    /// Bytes of the body, when known.
    pub body_bytes: Option<u64>,
    /// Bytes of the stream, when its end has been seen.
    pub stream_bytes: Option<u64>,
}

/// One STREAM frame that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamFrame {
    /// When it arrived.
    pub time_us: u64,
    /// Its stream.
    pub stream: u64,
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}
