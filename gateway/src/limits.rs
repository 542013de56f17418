//! Every limit on the memory that a client or a backend can cost this gateway, besides the server's ([`server::limits`],
//! [`server::account::ROWS`]).

use server::limits::{HEAD_FIELDS, descriptors};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Limits of a backend. Beyond a limit, the server answers in the backend's place. The times are shorter than a connection's idle timeout
/// ([`server::Limits::idle`], about the same in browsers), so that a waiting client gets this answer, not a timeout.
#[derive(Debug, Clone)]
pub struct UpstreamLimits {
    /// Requests in progress at the backend, and the same number of uploads whose bodies are incomplete. A client may use as many slots of
    /// either kind as are free: half of the slots that the others leave.
    pub requests: usize,
    /// Additional requests in progress that the backend has not answered within a second, or whose responses take longer than 0.2 s: event
    /// streams, long polls, downloads by slow clients. Also at most an eighth of the process's descriptors. A client may use as many slots
    /// as are free; requests beyond that keep their slots until others wait for one.
    pub slow: usize,
    /// Requests of either kind that wait for a slot; beyond it the answer is 503. A client's share is as large.
    pub waiting: usize,
    /// How long a request waits for a slot; beyond it the answer is 503.
    pub queue: Duration,
    /// The deadline of connecting.
    pub connect: Duration,
    /// The deadline of a response's head; beyond it the answer is 504.
    pub answer: Duration,
    /// The longest pause of a body, at the backend or on its way from the client. A client that makes the backend wait earns time with the
    /// bytes that it sends or takes, 1 s for 1 KiB. Once the backend answers, this applies to both bodies together.
    pub idle: Duration,
    /// The longest pause of a response on its way to the client. It exceeds the time without credit ([`server::Limits::stalled`]), because
    /// a response may also wait for the client's other responses.
    pub unread: Duration,
    /// Open WebSockets. A client may have as many as there are free slots; beyond it the answer is 503.
    pub tunnels: usize,
    /// The longest silence of a WebSocket in both directions; beyond it both ends are closed. nginx's `proxy_read_timeout` has the same
    /// default.
    pub tunnel_idle: Duration,
    /// The most bytes of a response's head; beyond it the answer is 502.
    pub header_bytes: usize,
    /// The most bytes of a request's body; beyond it the answer is 413, at once if the request states its length. Apache's
    /// `LimitRequestBody` has the same default.
    pub upload_bytes: u64,
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            requests: 64,
            slow: 10_000,
            waiting: 512,
            queue: Duration::from_secs(4),
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(20),
            idle: Duration::from_secs(25),
            unread: Duration::from_secs(120),
            tunnels: 256,
            tunnel_idle: Duration::from_secs(60),
            header_bytes: 64 << 10,
            upload_bytes: 1 << 30,
        }
    }
}

/// The most TCP connections, each of which needs a descriptor: a quarter of the process's. QUIC connections need none, and files take half.
pub(crate) fn tcp_connections() -> usize {
    descriptors() / 4
}

/// The most slow responses from a backend, each of which may need a descriptor: an eighth of the process's.
pub(crate) fn backend_connections() -> usize {
    descriptors() / 8
}

/// The memory for decoded heads that a byte of an incomplete HTTP/2 head may cost: a field in the library's table.
pub(crate) const UNFINISHED_BYTE_BYTES: usize = 80;
/// The most memory that such a head costs. The library keeps no more fields than a head may have.
pub(crate) const UNFINISHED_HEAD_BYTES: usize = 256 << 10;
/// The most bytes that an HTTP/2 connection reads before others have their turn, or before its requests are processed.
pub(crate) const TURN_BYTES: usize = 4 << 10;
/// The same for heads. It is small, because a thousand bytes can be a thousand fields, which are counted only afterwards.
pub(crate) const HEAD_TURN_BYTES: usize = 1 << 10;

/// Fields of an HTTP/2 head that are not charged: more than any browser sends. A byte of a head that the library rejected counts as a
/// field.
pub(crate) const FREE_FIELDS: usize = 100;
/// The longest pause in reading a connection because of its fields, each of which costs a thread of these connections 0.15 us. A connection
/// that would have to pause longer is closed, so that it does not outlive its client for long.
pub(crate) const LONGEST_REST: Duration = Duration::from_secs(1);

/// The turns charged for a handshake to a client whose heads were rejected too often ([`server::Limits::nuisances`]).
pub(crate) const NUISANCE_TURNS: u64 = 10;

/// Tasks over TCP that run before sockets are polled.
pub(crate) const TURN_TASKS: u32 = 16;
/// The bytes of a rejected HTTP/2 head that count as one more nuisance. Bytes of trailers always count.
pub(crate) const REFUSED_BYTES: usize = 256;

/// The most bytes in a TLS record (RFC 8446, 5.1).
pub(crate) const RECORD_BYTES: usize = 16 << 10;
/// The bytes of a response that are written to a TCP connection at once: as many as fit into a TLS record with the head of its frame and
/// the head of the response. A client that does not take as much within [`server::Limits::stalled`] is disconnected.
pub(crate) const PIECE_BYTES: usize = RECORD_BYTES - 256;
/// The fewest bytes for which an HTTP/2 response has a turn, unless it has no more.
pub(crate) const LEAST_PIECE_BYTES: usize = 4 << 10;
/// How often in a row the system must accept a piece immediately before a connection gets several at once. A link of 5 Mbit/s does not.
pub(crate) const PROMPT_ROOMS: u32 = 4;
/// The most requests of a connection whose priorities are stored before they arrive. Beyond it, the lowest stream's priority is dropped.
pub(crate) const EARLY_UPDATES: usize = 256;
/// The longest HTTP/2 frame about order, in bytes; a longer one is ignored.
pub(crate) const SIGNAL_BYTES: usize = 256;
/// TLS bytes that wait for one connection until the system takes all of them.
pub(crate) const GATHERED_BYTES: usize = 64 << 10;
/// The most pieces of files that wait for one TCP connection.
pub(crate) const WAITING_PIECES: usize = 8;
/// Concurrent HTTP/2 requests on a connection: the minimum that RFC 9113, 6.5.2 recommends.
pub(crate) const HTTP2_STREAMS: u32 = 100;

/// How long an HTTP/2 connection without responses is kept for its client when the server shuts down.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);
/// The most bytes of a PROXY header, after its first 16.
pub(crate) const PROXY_HEADER_BYTES: usize = 2 << 10;
/// The most bytes of a request's head over TCP, with its related memory.
pub(crate) const HEAD_BYTES: u64 = 8 << 10;
/// Unsent bytes in the system for one TCP connection, unless the operator configures it.
pub(crate) const UNSENT_BYTES: u32 = 16 << 10;
/// The most ranges of a request that are processed; with more, the whole body is sent (RFC 9110, 14.2).
pub(crate) const RANGES: usize = 32;
/// Sizes of files that are compressed while the client waits: smaller files do not shrink, and larger ones take too long.
pub(crate) const COMPRESSIBLE_BYTES: RangeInclusive<u64> = 256..=16 << 20;
/// The largest file that is compressed immediately, in about nine milliseconds. A thread compresses larger ones, one after another, and
/// images that need no compression overtake them: a style sheet then comes a round trip later.
pub(crate) const COMPRESSED_AT_ONCE_BYTES: u64 = 256 << 10;
/// Bytes that may be compressed immediately before the thread takes over, and by which this allowance grows each second: about 4 % of
/// the time of the thread that serves.
pub(crate) const COMPRESSION_AT_ONCE_BYTES: u32 = 1 << 20;
/// Bytes of compressed files that are kept.
pub(crate) const COMPRESSED_BYTES: u64 = 32 << 20;
/// Bytes of files that may be compressed at once; further ones are sent uncompressed. Otherwise a client that cycles through more files
/// than the cache holds would force endless recompression.
pub(crate) const COMPRESSION_BYTES: u32 = 16 << 20;
/// The bytes by which this allowance grows each second.
pub(crate) const COMPRESSION_BYTES_PER_SECOND: u32 = 4 << 20;
/// The memory of an encoder for a backend's response.
pub(crate) const ENCODER_BYTES: usize = 1 << 20;
/// How long a TCP connection or stream is read whose response ended before its request.
pub(crate) const LINGERING: Duration = Duration::from_secs(30);
/// The same, if its client is silent.
pub(crate) const LINGERING_SILENCE: Duration = Duration::from_secs(5);
/// Bytes that are read from it: as many as an accepted body may have ([`UpstreamLimits::upload_bytes`]).
pub(crate) const LINGERING_BYTES: usize = 1 << 30;
/// The pause before the next attempt to accept a connection when descriptors have run out.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a file is served from memory before it is checked again.
pub(crate) const FILE_IS_FRESH: Duration = Duration::from_secs(1);
/// The memory of a kept file besides its bytes and its path.
pub(crate) const KEPT_FILE_BYTES: u64 = 512;
/// How long the server waits for a request's body before it forwards the request. A body that is complete by then is sent with its length,
/// which some backends need. A client that waits for an answer before it sends more waits this much longer.
pub(crate) const WHOLE_BODY_WITHIN: Duration = Duration::from_millis(20);
/// How long an unanswered request occupies an ordinary slot before it counts as slow ([`UpstreamLimits::slow`]).
pub(crate) const UNANSWERED: Duration = Duration::from_secs(1);
/// How long an answered request does, unless the response is a stream of events. A small response has ended by then, and its connection
/// serves the next request.
pub(crate) const ANSWERED: Duration = Duration::from_millis(200);
/// The minimum rate at which a client that makes a backend wait must take a response or send a request. Browsers on the slowest networks
/// are ten times as fast.
pub(crate) const PROGRESS_BYTES_PER_SECOND: f64 = 1024.0;
/// Bytes of a response that an HTTP/2 backend may send before a client takes them.
pub(crate) const HTTP2_STREAM_BYTES: u32 = 256 << 10;
/// The most fields in a backend's head: the same as for clients. Its bytes have a separate limit.
pub(crate) const BACKEND_FIELDS: usize = HEAD_FIELDS;
/// The most resources whose last backend answers are stored.
pub(crate) const REMEMBERED_RESOURCES: usize = 4096;
/// The longest host and path that are stored, in bytes.
pub(crate) const REMEMBERED_KEY_BYTES: usize = 2048;
/// The most bytes of an answer's fields that are stored.
pub(crate) const REMEMBERED_FIELD_BYTES: usize = 4096;
/// The most `Link` values that a policy adds to a response.
pub(crate) const ADDED_LINKS: usize = 64;
/// The most bytes of those values, because clients limit the size of a head.
pub(crate) const ADDED_LINKS_BYTES: usize = 8 << 10;
/// The most lines of an access log that wait for a slow disk; others are lost and counted.
pub(crate) const ACCESS_LOG_LINES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use server::account::{Limit, ROWS, Row, Scope, table};
    use server::{FileLimits, Limits};

    /// The limits on clients that this crate enforces, besides those in [`server::account::ROWS`].
    const OWN_ROWS: [Row; 9] = [
        Row {
            what: "connections",
            over: "TCP",
            scope: Scope::Process,
            limit: Limit::Written(|_| {
                "also a quarter of the descriptors that the process may have".to_owned()
            }),
            beyond: "closed at once",
        },
        Row {
            what: "requests in progress",
            over: "HTTP/2",
            scope: Scope::Connection,
            limit: Limit::Written(|_| HTTP2_STREAMS.to_string()),
            beyond: "the client waits",
        },
        Row {
            what: "requests that are cancelled before the server has seen them",
            over: "HTTP/2",
            scope: Scope::Connection,
            limit: Limit::Written(|it| it.streams.to_string()),
            beyond: "the connection is closed (`ENHANCE_YOUR_CALM`)",
        },
        Row {
            what: "bytes in TLS that the system has not taken",
            over: "TCP",
            scope: Scope::Connection,
            limit: Limit::Written(|_| format!("{} KiB", GATHERED_BYTES >> 10)),
            beyond: "nothing more is written",
        },
        Row {
            what: "bytes that are read at once",
            over: "HTTP/2",
            scope: Scope::Connection,
            limit: Limit::Written(|_| {
                let (body, heads) = (TURN_BYTES >> 10, HEAD_TURN_BYTES >> 10);
                format!("{body} KiB of a body, or {heads} KiB of heads")
            }),
            beyond: "others have their turn, and its requests are passed on",
        },
        Row {
            what: "open files of a directory",
            over: "all",
            scope: Scope::Process,
            limit: Limit::Written(|_| {
                "half of the descriptors that the process may have (`ulimit -Hn`)".to_owned()
            }),
            beyond: "503",
        },
        Row {
            what: "small files in memory",
            over: "all",
            scope: Scope::Process,
            limit: Limit::Written(|_| format!("{} MiB", FileLimits::default().memory_bytes >> 20)),
            beyond: "they are opened like larger ones",
        },
        Row {
            what: "requests in progress at a backend",
            over: "all",
            scope: Scope::Process,
            limit: Limit::Written(|_| {
                let UpstreamLimits { requests, waiting, slow, .. } = UpstreamLimits::default();
                format!(
                    "{requests}, and as many whose bodies are still to come; {waiting} of each waiting; {slow} slow responses, and no more than an eighth of the descriptors; [a client's share](../serve-backend.md#who-gets-a-slot) is half of what the others leave"
                )
            }),
            beyond: "503",
        },
        Row {
            what: "WebSockets that are open to a backend",
            over: "all",
            scope: Scope::Process,
            limit: Limit::Written(|_| {
                format!(
                    "{}; a client's share is half of what the others leave",
                    UpstreamLimits::default().tunnels
                )
            }),
            beyond: "503",
        },
    ];

    const BEGIN: &str =
        "<!-- Made from the code: UTMOST_BLESS=1 cargo test -p utmost-gateway --lib limits -->\n";
    const END: &str = "<!-- end -->";

    #[test]
    fn the_document_lists_every_limit_on_clients() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/limits.md");
        let intact = std::fs::read_to_string(file).expect("the document");
        let (before, rest) = intact.split_once(BEGIN).expect("the table begins");
        let (_, after) = rest.split_once(END).expect("the table ends");
        let rows = table(ROWS.iter().chain(&OWN_ROWS));
        let expected = format!("{before}{BEGIN}{rows}{END}{after}");
        if std::env::var_os("UTMOST_BLESS").is_some() {
            std::fs::write(file, expected).expect("written");
        } else {
            assert!(intact == expected, "docs/reference/limits.md is out of date");
        }
    }

    // The text of a row states this value.
    const _: () = assert!(ENCODER_BYTES == 1 << 20);

    #[test]
    fn a_backend_is_given_up_before_the_connection_that_waits_for_it() {
        let (connection, backend) = (Limits::default(), UpstreamLimits::default());
        assert!(backend.queue + backend.connect + backend.answer < connection.idle);
        assert!(backend.idle < connection.idle);
        assert!(backend.unread > connection.stalled);
    }
}
