//! Every limit on what a client or a backend can make this gateway hold, besides the server's ([`server::limits`], [`server::account::ROWS`]).

use server::limits::{HEAD_FIELDS, descriptors};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Limits of a backend. Beyond a limit the server answers in the backend's place. The times are shorter than the idle
/// timeout of a connection ([`server::Limits::idle`], about the same in browsers), so that a waiting client gets this answer and
/// not a timeout.
#[derive(Debug, Clone)]
pub struct UpstreamLimits {
    /// Requests under way to the backend at a time, and as many again whose bodies are still to come. A client may have as many
    /// of either as there are places free, which is half of what the others leave.
    pub requests: usize,
    /// Requests under way beside these that the backend has not answered within a second, or whose responses last longer than 0.2 s:
    /// event streams, long polls, downloads by slow clients. Also no more than an eighth of the descriptors that the process may have. A client
    /// may have as many as there are places free; those beyond it keep the places that they have until others wait for one.
    pub slow: usize,
    /// Requests of either kind that wait for a place; beyond it the answer is 503. A client's share of it is as large.
    pub waiting: usize,
    /// How long a request waits for a place; beyond it the answer is 503.
    pub queue: Duration,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long the head of a response may take; beyond it the answer is 504.
    pub answer: Duration,
    /// How long a body may stand still, at the backend or on its way from the client. A client that makes the backend wait gets time
    /// back by the bytes that it sends or takes, 1 s for 1 KiB. Once the backend answers, both bodies together may stand
    /// still for this long.
    pub idle: Duration,
    /// How long a response may stand still on its way to the client. It is longer than a client may take no credit
    /// ([`server::Limits::stalled`]), because a response may also wait behind others of the client.
    pub unread: Duration,
    /// WebSockets that are open at a time. A client may have as many as there are places free; beyond it the answer is 503.
    pub tunnels: usize,
    /// How long a WebSocket may be silent in both directions; beyond it both ends are closed. nginx's `proxy_read_timeout` is as
    /// long.
    pub tunnel_idle: Duration,
    /// The most bytes of a response's head; beyond it the answer is 502.
    pub header_bytes: usize,
    /// The most bytes of a request's body; beyond it the answer is 413, at once if the request says its length. Apache's
    /// `LimitRequestBody` is as large.
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

/// Connections over TCP at a time, each of which has a descriptor: a quarter of those that the process may have. QUIC's have
/// none, and files take half.
pub(crate) fn tcp_connections() -> usize {
    descriptors() / 4
}

/// Slow responses of a backend at a time, each of which may have a descriptor: an eighth of those that the process may have.
pub(crate) fn backend_connections() -> usize {
    descriptors() / 8
}

/// Memory for decoded heads that a byte of an incomplete HTTP/2 head takes: it may be a field, in the
/// library's table.
pub(crate) const UNFINISHED_BYTE_BYTES: usize = 80;
/// The most that such a head takes. The library keeps no more fields than a head may have.
pub(crate) const UNFINISHED_HEAD_BYTES: usize = 256 << 10;
/// Bytes that one connection of HTTP/2 reads before others have their turn, or before its requests are looked at.
pub(crate) const TURN_BYTES: usize = 4 << 10;
/// The same of heads: few of them, because a thousand bytes can be a thousand fields, and none of them are counted before.
pub(crate) const HEAD_TURN_BYTES: usize = 1 << 10;

/// Fields of a head over HTTP/2 that cost nothing: more than any browser sends. A byte of a head that the library refused counts as
/// a field.
pub(crate) const FREE_FIELDS: usize = 100;
/// How long a connection is not read for further fields, which take a thread of these connections 0.15 us each; one that would have to wait for longer is closed. So one whose client is gone
/// does not stay for long.
pub(crate) const LONGEST_REST: Duration = Duration::from_secs(1);

/// Turns that a handshake takes of a client whose heads were refused too often ([`server::Limits::nuisances`]).
pub(crate) const NUISANCE_TURNS: u64 = 10;

/// Tasks over TCP that run before sockets are looked at.
pub(crate) const TURN_TASKS: u32 = 16;
/// Bytes of a head of HTTP/2 that count as one more nuisance, where the library refuses it. Bytes of trailers always count.
pub(crate) const REFUSED_BYTES: usize = 256;

/// The most bytes in a record of TLS (RFC 8446, 5.1).
pub(crate) const RECORD_BYTES: usize = 16 << 10;
/// Bytes of a response that go to a connection over TCP at once: what fits into a record of TLS with the head of its frame, and with
/// the head of the response. A client that does not take as much within [`server::Limits::stalled`] is given up.
pub(crate) const PIECE_BYTES: usize = RECORD_BYTES - 256;
/// The fewest bytes for which a response of HTTP/2 has a turn, unless it has no more.
pub(crate) const LEAST_PIECE_BYTES: usize = 4 << 10;
/// How often in a row the system must take a piece as soon as it is asked, before it gets several at once. A link of 5 Mbit/s does not.
pub(crate) const PROMPT_ROOMS: u32 = 4;
/// Requests of a connection that have not come and whose priorities are remembered. Beyond it, the lowest stream's is forgotten.
pub(crate) const EARLY_UPDATES: usize = 256;
/// Bytes of a frame of HTTP/2 that says something about order; a longer one says nothing.
pub(crate) const SIGNAL_BYTES: usize = 256;
/// Bytes in TLS that wait for one connection until the system has them all.
pub(crate) const GATHERED_BYTES: usize = 64 << 10;
/// Pieces of files that wait for one connection over TCP.
pub(crate) const WAITING_PIECES: usize = 8;
/// Requests of HTTP/2 at once on a connection: as many as RFC 9113, 6.5.2 recommends at least.
pub(crate) const HTTP2_STREAMS: u32 = 100;

/// How long a connection of HTTP/2 without responses is kept for its client when the server ends.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);
/// Bytes of the header by which a proxy says whose a connection is, behind its first 16.
pub(crate) const PROXY_HEADER_BYTES: usize = 2 << 10;
/// Bytes that the head of a request over TCP may take, with what belongs to it.
pub(crate) const HEAD_BYTES: u64 = 8 << 10;
/// Bytes that wait unsent in the system for one connection over TCP, unless the operator says otherwise.
pub(crate) const UNSENT_BYTES: u32 = 16 << 10;
/// Ranges of a request that are looked at; with more, the whole is sent (RFC 9110, 14.2).
pub(crate) const RANGES: usize = 32;
/// Bytes of a file that is compressed while its client waits: smaller ones become no smaller, larger ones take too long.
pub(crate) const COMPRESSIBLE_BYTES: RangeInclusive<u64> = 256..=16 << 20;
/// Bytes of a file that is compressed at once, in about two milliseconds. A thread compresses larger ones, one after another.
pub(crate) const COMPRESSED_AT_ONCE_BYTES: u64 = 64 << 10;
/// Bytes of compressed files that are kept.
pub(crate) const COMPRESSED_BYTES: u64 = 32 << 20;
/// Bytes of files that are compressed at once; further ones are sent as they are. Otherwise a client that cycles
/// through more files than are kept would have them compressed again and again.
pub(crate) const COMPRESSION_BYTES: u32 = 16 << 20;
/// Such bytes that are allowed again each second.
pub(crate) const COMPRESSION_BYTES_PER_SECOND: u32 = 4 << 20;
/// Memory of what compresses a backend's response.
pub(crate) const ENCODER_BYTES: usize = 1 << 20;
/// How long a connection or a stream over TCP is read whose response came before the end of its request.
pub(crate) const LINGERING: Duration = Duration::from_secs(30);
/// The same, if its client is silent.
pub(crate) const LINGERING_SILENCE: Duration = Duration::from_secs(5);
/// Bytes that are read of it: as many as a body may have that somebody wants ([`UpstreamLimits::upload_bytes`]).
pub(crate) const LINGERING_BYTES: usize = 1 << 30;
/// Without descriptors, the time until the next attempt to accept a connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a file is served as it was found, before it is looked at again.
pub(crate) const FILE_IS_FRESH: Duration = Duration::from_secs(1);
/// Memory for a kept file beside its bytes and its path.
pub(crate) const KEPT_FILE_BYTES: u64 = 512;
/// How long a request's body is awaited before its backend is asked: one that is here wholly by then goes on with its length, which
/// some backends need. A client that waits for an answer before it sends more waits this much longer.
pub(crate) const WHOLE_BODY_WITHIN: Duration = Duration::from_millis(20);
/// How long a request that its backend does not answer takes a place from others ([`UpstreamLimits::slow`]).
pub(crate) const UNANSWERED: Duration = Duration::from_secs(1);
/// How long one does from its answer on, unless that says that it is a stream of events. A small response has ended by then, and its
/// connection serves the next request.
pub(crate) const ANSWERED: Duration = Duration::from_millis(200);
/// The least rate at which a client that makes a backend wait must take a response or send a request. Browsers on the
/// slowest networks are ten times as fast.
pub(crate) const PROGRESS_BYTES_PER_SECOND: f64 = 1024.0;
/// Bytes of a response that an HTTP/2 backend may send before a client takes them.
pub(crate) const HTTP2_STREAM_BYTES: u32 = 256 << 10;
/// Fields in a head that a backend may send: as many as a client's. Its bytes have a limit of their own.
pub(crate) const BACKEND_FIELDS: usize = HEAD_FIELDS;
/// Resources whose last answers from backends are remembered.
pub(crate) const REMEMBERED_RESOURCES: usize = 4096;
/// The longest host and path that are remembered, in bytes.
pub(crate) const REMEMBERED_KEY_BYTES: usize = 2048;
/// The most bytes of the fields that are remembered of an answer.
pub(crate) const REMEMBERED_FIELD_BYTES: usize = 4096;
/// The most `Link` values that a policy adds to a response.
pub(crate) const ADDED_LINKS: usize = 64;
/// The most bytes of those values: clients limit the size of a head.
pub(crate) const ADDED_LINKS_BYTES: usize = 8 << 10;
/// Lines of an access log that wait for a slow disk; others are lost and counted.
pub(crate) const ACCESS_LOG_LINES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use server::account::{Limit, ROWS, Row, Scope, table};
    use server::{FileLimits, Limits};

    /// The limits on clients that this crate keeps beside those under which they are charged ([`server::account::ROWS`]).
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
            what: "requests that are taken back before the server has seen them",
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

    // The text of a row relies on this value.
    const _: () = assert!(ENCODER_BYTES == 1 << 20);

    #[test]
    fn a_backend_is_given_up_before_the_connection_that_waits_for_it() {
        let (connection, backend) = (Limits::default(), UpstreamLimits::default());
        assert!(backend.queue + backend.connect + backend.answer < connection.idle);
        assert!(backend.idle < connection.idle);
        assert!(backend.unread > connection.stalled);
    }
}
