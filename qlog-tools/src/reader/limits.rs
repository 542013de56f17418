//! What a log may cost in memory. Logs come from anywhere.

/// Bytes of one record. The longest of a real log are packets with many ACK ranges, some kB.
pub(super) const RECORD_BYTES: usize = 16 << 20;
/// STREAM frames kept; 32 bytes each.
pub(super) const FRAMES: usize = 32 << 20;
/// Streams kept.
pub(super) const STREAMS: usize = 1 << 20;
/// Scheduler calls kept.
pub(super) const SCHEDULER_CALLS: usize = 16 << 20;
/// Distinct event names counted.
pub(super) const EVENT_NAMES: usize = 1000;
/// The largest stream offset that QUIC can say (RFC 9000, section 4.5).
pub(super) const STREAM_OFFSET: u64 = (1 << 62) - 1;
