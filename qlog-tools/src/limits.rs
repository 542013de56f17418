//! Limits on what comes from outside: logs may be damaged or hostile.

/// Bytes of one record. The longest of a real log are packets with many ACK ranges, some kB.
pub(crate) const RECORD_BYTES: usize = 4 << 20;
/// Bytes of a header: all of a trace but its events.
pub(crate) const HEADER_BYTES: usize = 1 << 20;
/// Things kept for a file: frames (32 bytes each), packets, samples, calls, holes.
pub(crate) const KEPT: usize = 32 << 20;
/// Streams kept for a file: 2,000,000 of requests, each of which counts for its frames, its request and its messages, and
/// takes some 1300 bytes in all, with what is made of it.
pub(crate) const STREAMS: usize = 3 * 2_000_100;
/// Traces of a file.
pub(crate) const TRACES: usize = 4096;
/// Names of a connection kept of a trace: it has one, and one more for each Retry.
pub(crate) const CONNECTION_NAMES: usize = 8;
/// Characters of each: a connection ID has at most 20 bytes.
pub(crate) const CONNECTION_NAME_CHARACTERS: usize = 40;
/// Distinct event names counted.
pub(crate) const EVENT_NAMES: usize = 1000;
/// Times kept of the events of one name; a name with more events keeps none.
pub(crate) const MOMENTS: usize = 10_000;
/// Separate ranges of packet numbers kept, each some 30 bytes; the lowest are forgotten first.
pub(crate) const NUMBER_RANGES: usize = 1 << 18;
/// Regions of a page whose rendering is kept; of more, no mean is known.
pub(crate) const REGIONS: usize = 1 << 16;
/// Violations that lint keeps of a log, some 200 bytes each; more are counted.
pub(crate) const VIOLATIONS: usize = 1 << 16;
/// Priority signals kept of a trace.
pub(crate) const SIGNALS: usize = 1 << 16;
/// Characters of a text kept from a log: a URL, a field's value. A longer one is cut.
pub(crate) const TEXT_CHARACTERS: usize = 2000;
/// Bytes of all texts of a file: some 100 for each request that [`STREAMS`] allows. Views copy them a few times.
pub(crate) const TEXTS_BYTES: usize = 192 << 20;
/// The largest stream offset that QUIC can say (RFC 9000, section 4.5).
pub(crate) const STREAM_OFFSET: u64 = (1 << 62) - 1;
/// The base 2 logarithm of the largest window that a zstd frame may ask for: 128 MiB.
pub(crate) const ZSTD_WINDOW_LOG: u32 = 27;
/// Distinct texts that keep names of their own when a log is anonymised; later ones share one.
pub(crate) const ANONYMOUS_NAMES: usize = 1 << 16;
/// Characters of a name in a picture, a table or a tooltip: a log may hold a URL of a megabyte.
pub const NAME_CHARACTERS: usize = 1000;
/// Characters of an event's name that views keep.
pub const SHOWN_EVENT_CHARACTERS: usize = 80;
/// Bytes of an event's body that the report keeps.
pub(crate) const EVENT_TEXT_BYTES: usize = 8 << 10;
/// And of all bodies of a log. Half of it is for events other than of packets and metrics.
pub(crate) const TEXTS_OF_EVENTS_BYTES: usize = 16 << 20;
/// Kinds of frames that the report tells apart.
pub(crate) const FRAME_KINDS: usize = 100;
/// Ranges of an ACK frame that the report keeps, the highest.
pub(crate) const ACK_RANGES: usize = 64;
