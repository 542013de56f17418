//! What a log may cost in memory. Logs come from anywhere.

/// Bytes of one record. The longest of a real log are packets with many ACK ranges, some kB.
pub(super) const RECORD_BYTES: usize = 4 << 20;
/// Bytes of a header: everything in a trace except events.
pub(super) const HEADER_BYTES: usize = 1 << 20;
/// Things kept for a file: frames (32 bytes each), packets, samples, calls, holes.
pub(super) const KEPT: usize = 32 << 20;
/// Streams kept for a file: each counts in either direction and for its messages, and takes some kB in all.
pub(super) const STREAMS: usize = 1 << 17;
/// Traces of a file.
pub(super) const TRACES: usize = 4096;
/// Distinct event names counted.
pub(super) const EVENT_NAMES: usize = 1000;
/// Times kept of the events of one name; of a name with more none are.
pub(super) const MOMENTS: usize = 10_000;
/// Separate ranges of acknowledged packet numbers kept; the lowest are forgotten first.
pub(super) const ACK_RANGES: usize = 4096;
/// Priority signals kept of a trace.
pub(super) const SIGNALS: usize = 1 << 16;
/// Characters of a text kept from a log: a URL, a field's value. A longer one is cut.
pub(super) const TEXT_CHARACTERS: usize = 2000;
/// Bytes of all texts of a file: some 500 for each request that [`STREAMS`] allows. Views copy them a few times.
pub(super) const TEXTS_BYTES: usize = 24 << 20;
/// The largest stream offset that QUIC can say (RFC 9000, section 4.5).
pub(super) const STREAM_OFFSET: u64 = (1 << 62) - 1;
