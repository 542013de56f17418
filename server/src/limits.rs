//! Every limit on what a peer can make this server hold, except those under which clients are charged ([`crate::account::ROWS`]).

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::time::Duration;

/// The limits of a server, one field each. Each field documents what it bounds; exceeding a limit costs the peer, not the server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Simultaneous connections; beyond it, new ones are refused.
    pub connections: usize,
    /// Incomplete handshakes; beyond it, a new client must first prove its address (Retry, RFC 9000, 8.1.2), for which nothing is stored.
    pub handshakes: usize,
    /// Simultaneous connections of one client: an IPv4 address, or an IPv6 /64. Beyond it, new ones are refused.
    pub connections_per_network: usize,
    /// How long a handshake may take.
    pub handshake: Duration,
    /// Handshakes over TCP that one client may begin at once, and again each second. Further ones wait for their turn, or are refused if
    /// that is later than a handshake may take.
    pub tcp_handshakes_per_second: u32,
    /// Addresses that a client can have during one connection. A client that moves to one more is disconnected. More than the transport's
    /// default of 2 makes handshakes 3 bytes longer.
    pub addresses: usize,
    /// Requests in flight on a connection (QUIC's bidirectional stream limit).
    pub streams: u64,
    /// Unidirectional streams that a client may open: control, two for QPACK, and room for greasing.
    pub unidirectional_streams: u64,
    /// Bytes that a client may send on one connection before the server reads them.
    pub receive_bytes: u64,
    /// Bytes that a client may send on one stream before the server reads them.
    pub stream_receive_bytes: u64,
    /// A connection without a packet for this long is dropped.
    pub idle: Duration,
    /// How long the head of a request may take from its first byte; beyond it, the stream is reset.
    pub head: Duration,
    /// How long a response may wait for credit while it advances by less than [`Self::stalled_bytes`], or wait while the client accepts
    /// less than that of all responses; beyond it, the stream is reset. nginx's `send_timeout` is equally long.
    pub stalled: Duration,
    /// The bytes that count as progress.
    pub stalled_bytes: u64,
    /// How long a draining server waits for responses in progress.
    pub drain: Duration,
    /// Nuisances that a client may cause at once: responses that it cancels, stream errors (16 for a request that exceeds a limit of
    /// HTTP/3, or has too many fields over HTTP/2), priority signals, and each 16 bytes of its control and QPACK streams. A client that
    /// causes more is disconnected with `H3_EXCESSIVE_LOAD`. A browser that leaves a page cancels a hundred or so responses.
    pub nuisances: u32,
    /// Nuisances that are forgiven each second.
    pub nuisances_per_second: u32,
    /// Limits of logs.
    pub qlog: QlogLimits,
    /// HTTP/3 limits.
    pub http3: http3::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            handshakes: 256,
            connections_per_network: 1000,
            handshake: Duration::from_secs(10),
            tcp_handshakes_per_second: 100,
            addresses: 2,
            streams: 256,
            unidirectional_streams: 16,
            receive_bytes: 1 << 20,
            stream_receive_bytes: 256 << 10,
            idle: Duration::from_secs(30),
            head: Duration::from_secs(10),
            stalled: Duration::from_secs(60),
            stalled_bytes: 16 << 10,
            drain: Duration::from_secs(10),
            nuisances: 1000,
            nuisances_per_second: 33,
            qlog: QlogLimits::default(),
            http3: http3::Limits::default(),
        }
    }
}

/// Descriptors and memory that the files of a directory may hold at one time. Beyond it, the answer is 503.
#[derive(Debug, Clone, Copy)]
pub struct FileLimits {
    /// Open files, whether responses send them or not.
    pub descriptors: usize,
    /// Files up to this size are kept in memory and need no descriptor.
    pub small_bytes: u64,
    /// Bytes of small files that are kept because they are requested often.
    pub kept_bytes: u64,
    /// Bytes of all small files: the kept ones, and others while a response sends them.
    pub memory_bytes: u64,
}

impl Default for FileLimits {
    /// Half of the descriptors that the process may have; sockets, logs and backends need the others.
    fn default() -> Self {
        Self {
            descriptors: (descriptors() / 2).min(1 << 20),
            small_bytes: 256 << 10,
            kept_bytes: 32 << 20,
            memory_bytes: 64 << 20,
        }
    }
}

/// Raises the process's limit of descriptors to the system's maximum. Many shells begin with 1024, for the sake of old programs. Existing
/// limits do not change.
pub fn raise_descriptors() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Otherwise it serves with what it has.
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok();
    }
}

/// Descriptors that the process may have.
pub fn descriptors() -> usize {
    let allowed = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(now, _)| now);
    usize::try_from(allowed).unwrap_or(usize::MAX)
}

/// [`Limits::addresses`] of a server for the public: enough for a phone on a train, or behind a router that often forgets.
pub const SERVED_ADDRESSES: usize = 32;
/// Clients remembered under a row of the ledger because they have used part of their rate; beyond it, all are forgotten.
pub const REMEMBERED_CLIENTS: usize = 10_000;
/// Fields of a request's head; beyond it, the answer is 431.
pub const HEAD_FIELDS: usize = 1000;
/// The share of the common memory that each field of a decoded head takes besides its name and value, from before it is examined until
/// nothing needs it any more: an entry in the library's table (72 to 112 bytes), and one in the request and in its copy for a backend (48
/// each), whose texts are allocations of at least 32 bytes.
pub(crate) const HELD_FIELD_BYTES: usize = 320;
/// Copies of a name and a value that the server holds.
pub(crate) const HELD_COPIES: usize = 3;

/// How much is logged (`Options::qlog_dir`).
#[derive(Debug, Clone, Copy)]
pub struct QlogLimits {
    /// Bytes of one log; a longer one ends with an event that states so.
    pub file_bytes: u64,
    /// Logs in a folder, including earlier ones; further connections are not logged.
    pub files: u64,
    /// Bytes of all logs in a folder. Beyond it, all logs end.
    pub folder_bytes: u64,
}

impl Default for QlogLimits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20, files: 10_000, folder_bytes: 16 << 30 }
    }
}

/// Bytes of the log of a client that has not proven that it is real. Longer ones are dropped.
pub(crate) const QLOG_UNPROVEN_BYTES: usize = 64 << 10;

/// Bytes of a request's or a response's body that wait between a connection and a backend.
pub const BUFFER_BYTES: usize = 64 << 10;

/// Bytes of a response from a backend that wait at the scheduler, so that there is always something to pick.
pub(crate) const AHEAD_BYTES: usize = 64 << 10;

/// Bytes of a response from a backend that wait for a client, both before its connection and in it.
pub const RELAYED_BYTES: usize = BUFFER_BYTES + (32 << 10);

/// Bytes of a message's trailer fields on their way to or from a backend, with 32 for each field. The HTTP/1.1 library accepts as many.
pub const TRAILER_BYTES: usize = 16 << 10;
/// Interim responses to one request, each at most as long as a head may be. No backend has reason to send more.
pub(crate) const INTERIM_RESPONSES: usize = 16;

/// Simultaneous pushes, unless the operator sets a limit (nginx's `http2_max_concurrent_pushes`).
pub const MAX_CONCURRENT: u64 = 10;
/// Paths that a connection's diary of pushes remembers, as Apache's does.
pub(crate) const DIARY_PATHS: usize = 256;

/// Bytes of a file that are read ahead of its packets at once.
pub(crate) const READ_AHEAD_BYTES: usize = 64 << 10;
/// Such parts of files that a server holds, for responses and for unacknowledged packets; beyond it, files are read packet by packet.
pub(crate) const READ_AHEAD_PAGES: usize = 1024;
/// Those that one connection can have.
pub(crate) const READ_AHEAD_PAGES_EACH: usize = 128;
/// The number of such parts whose memory is kept for later ones.
pub(crate) const SPARE_PAGES: usize = 16;

/// Bytes of datagrams that the system is asked to keep until the server reads them. It may grant less.
pub(crate) const SOCKET_RECEIVE_BYTES: usize = 2 << 20;
/// Reads that one system call can answer.
pub(crate) const READ_CALL: usize = 16;
/// Datagrams read before it is the turn of sending.
pub(crate) const READ_BURST: usize = 256;
/// Batches sent before it is the turn of reading.
pub(crate) const WRITE_BURST: usize = 16;
/// Bytes after which it is the turn of reading even earlier: an urgent request waits less than a millisecond.
pub(crate) const WRITE_BURST_BYTES: usize = 256 << 10;
/// The number of remembered addresses to which the system cannot split one buffer into datagrams.
pub(crate) const UNBATCHED_ADDRESSES: usize = 1024;

/// Bytes of datagrams that other shards have handed over and that wait at a shard; beyond it, they are dropped.
pub(crate) const HANDED_BYTES: usize = 4 << 20;

/// Replies to unknown datagrams that may wait; beyond it, they are dropped.
pub(crate) const REPLIES: usize = 256;
/// Clients that learn at once that there is no room, or that their connection is gone. Such an answer costs more than silence.
pub(crate) const REFUSALS: u32 = 100;
/// Such answers that are allowed again each second.
pub(crate) const REFUSALS_PER_SECOND: u32 = 100;

/// How often a client is asked to prove its current address.
pub(crate) const CHALLENGES: u32 = 10;

/// How long a client may take to return the token of a Retry packet.
pub(crate) const RETRY_TOKEN_LIFETIME: Duration = Duration::from_secs(10);

/// Connections that can ever join one group: their streams have IDs of their own in it.
#[cfg(feature = "experiments")]
pub(crate) const GROUP_SLOTS: u64 = 64;

/// The most bytes of each of a client's texts that are logged.
pub(crate) const LOGGED_BYTES: usize = 2048;

/// How often a connection is searched for requests and responses without progress.
pub(crate) const DEADLINE_CHECKS: Duration = Duration::from_secs(5);

/// Events of one datagram that wait before the server handles them. Each can hold a decoded head.
pub(crate) const EVENTS: usize = 64;

/// The nuisances of a request that exceeds a limit of HTTP/3 or has too many fields: a head that is too large to be decoded costs a tenth
/// of a millisecond.
pub const LOAD_NUISANCES: u64 = 16;

/// Bytes of control and QPACK streams that count as one nuisance.
pub(crate) const CONTROL_BYTES: u64 = 16;

/// Pages whose loads are compared while visitors explore. Each takes about a kilobyte.
pub(crate) const EXPLORED_PAGES: usize = 1000;

/// Loads of a page that count for one client: fewer than make a page known, so that one client neither decides for all nor fills the pages.
pub(crate) const EXPLORED_LOADS_OF_CLIENT: u8 = 3;

/// Pairs of a client and a page that are remembered, as hashes; beyond it, all are forgotten.
pub(crate) const EXPLORED_CLIENTS: usize = 100_000;

/// How often the favourite order of a page can change.
pub(crate) const EXPLORED_STRATA: usize = 64;
