//! Limits on external input, because logs may be damaged or hostile.

/// Bytes of one record. The longest in real logs are packets with many ACK ranges, a few kB.
pub(crate) const RECORD_BYTES: usize = 4 << 20;
/// Bytes of a header: all of a trace but its events.
pub(crate) const HEADER_BYTES: usize = 1 << 20;
/// Items stored for a file: frames (32 bytes each), packets, samples, calls, holes.
pub(crate) const KEPT: usize = 32 << 20;
/// Events of a log in disorder that are remembered to recognize repeated ones, about 16 bytes each.
pub(crate) const REMEMBERED_EVENTS: usize = 1 << 20;
/// Streams stored for a file: 2,000,000 requests, each of which counts for its frames, its request and its messages, and
/// takes about 1300 bytes in all, including derived data.
pub(crate) const STREAMS: usize = 3 * 2_000_100;
/// Traces of a file.
pub(crate) const TRACES: usize = 4096;
/// Connection IDs stored for a trace: a connection has one, and another one for each Retry.
pub(crate) const CONNECTION_NAMES: usize = 8;
/// Characters of each: a connection ID has at most 20 bytes.
pub(crate) const CONNECTION_NAME_CHARACTERS: usize = 40;
/// Distinct event names counted.
pub(crate) const EVENT_NAMES: usize = 1000;
/// Times stored for events of one name; a name with more events has none stored.
pub(crate) const MOMENTS: usize = 10_000;
/// Separate ranges of packet numbers stored, about 30 bytes each; the lowest are dropped first.
pub(crate) const NUMBER_RANGES: usize = 1 << 18;
/// Regions of a page with stored rendering times; if there are more, the mean is unknown.
pub(crate) const REGIONS: usize = 1 << 16;
/// Violations that lint stores for a log, about 200 bytes each; further ones are only counted.
pub(crate) const VIOLATIONS: usize = 1 << 16;
/// Priority signals kept of a trace.
pub(crate) const SIGNALS: usize = 1 << 16;
/// Characters stored of a text from a log: a URL, a field's value. Longer texts are cut.
pub(crate) const TEXT_CHARACTERS: usize = 2000;
/// Bytes of all texts of a file: about 100 for each request that [`STREAMS`] allows. Views copy them a few times.
pub(crate) const TEXTS_BYTES: usize = 192 << 20;
/// The largest stream offset that QUIC can express (RFC 9000, section 4.5).
pub(crate) const STREAM_OFFSET: u64 = (1 << 62) - 1;
/// The base-2 logarithm of the largest window that a zstd frame may request: 128 MiB.
pub(crate) const ZSTD_WINDOW_LOG: u32 = 27;
/// Distinct texts with their own names in an anonymised log; later ones share one.
pub(crate) const ANONYMOUS_NAMES: usize = 1 << 16;
/// Characters of a name in a picture, a table or a tooltip: a log may hold a URL of a megabyte.
pub const NAME_CHARACTERS: usize = 1000;
/// Characters stored of an event's name.
pub const SHOWN_EVENT_CHARACTERS: usize = 80;
/// Bytes of an event's body that the report stores.
pub(crate) const EVENT_TEXT_BYTES: usize = 8 << 10;
/// Bytes of all bodies of a log. Half is reserved for events other than packets and metrics.
pub(crate) const TEXTS_OF_EVENTS_BYTES: usize = 16 << 20;
/// Kinds of frames that the report distinguishes.
pub(crate) const FRAME_KINDS: usize = 100;
/// Ranges of an ACK frame that the report stores, the highest ones.
pub(crate) const ACK_RANGES: usize = 64;
