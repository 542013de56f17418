//! The limits on clients, one row each. A row with charges determines what is left of it; the others describe a limit of
//! the transport, of HTTP/3, or of a connection's state. The table in docs/reference/limits.md is made from all of them.

use super::Budget;
use crate::Limits;
use crate::limits::{HEAD_FIELDS, HELD_COPIES, HELD_FIELD_BYTES, RELAYED_BYTES, SERVED_ADDRESSES};
use connection::PIECE_BYTES;
use std::time::Duration;

/// A limit on clients.
#[derive(Debug)]
pub struct Row {
    /// The thing that is counted, and its weight if that is not one.
    pub what: &'static str,
    /// The versions of HTTP, or the transport.
    pub over: &'static str,
    /// The clients that share the limit.
    pub scope: Scope,
    /// The limit.
    pub limit: Limit,
    /// The consequence beyond it: the status of the answer, the code of the close, or the wait.
    pub beyond: &'static str,
}

/// The clients that share a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A request, or its response.
    Request,
    /// A connection.
    Connection,
    /// All connections of one client: an IPv4 address, or an IPv6 /64.
    Client,
    /// All clients.
    Process,
}

/// The size of a limit.
#[derive(Debug)]
pub enum Limit {
    /// A number at once, and a number that returns each second.
    Rate(fn(&Limits) -> [u32; 2]),
    /// Memory that clients hold at one time.
    Memory {
        /// Bytes of all clients. One client may have as much of it as is free.
        all_bytes: usize,
        /// Bytes that each connection has in addition, whatever others hold.
        sure_bytes: usize,
    },
    /// It is counted elsewhere.
    Written(fn(&Limits) -> String),
}

macro_rules! rows {
    ($($name:ident: $over:literal, $scope:ident, $what:literal, $limit:expr, $beyond:literal;)*) => {
        /// A row of [`ROWS`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Charge {
            $(#[doc = $what] $name),*
        }

        /// All limits on clients, except limits on their backends.
        pub static ROWS: [Row; ROW_COUNT] = [$(Row {
            what: $what,
            over: $over,
            scope: Scope::$scope,
            limit: $limit,
            beyond: $beyond,
        }),*];

        pub(super) const ROW_COUNT: usize = [$(Charge::$name),*].len();
    };
}

use Limit::{Memory, Rate, Written};

rows! {
    Connections: "all", Process, "connections", Written(|it| count(it.connections)),
        "new ones are refused: `CONNECTION_REFUSED`, 100 per second, and further ones get no answer; over TCP, they are closed at once";
    ClientConnections: "all", Client, "connections", Written(|it| count(it.connections_per_network)), "the same";
    HandshakeTime: "all", Connection, "the time of a handshake", Written(|it| time(it.handshake)), "the connection is dropped";
    Handshakes: "HTTP/3", Process, "incomplete handshakes", Written(|it| count(it.handshakes)),
        "a new client must first prove its address (a Retry packet), which costs it one round trip";
    TcpHandshakes: "TCP", Client, "handshakes; one of a client with too many refused heads counts 10",
        Rate(|it| [it.tcp_handshakes_per_second; 2]),
        "they wait for their turn; those that would wait longer than a handshake may take are closed at once, before the handshake";
    AllTcpHandshakes: "TCP", Process, "handshakes", Rate(|_| [4, 1000]), "they wait";
    HandshakeBytes: "HTTP/3", Connection, "bytes of a client's packets before the handshake is complete",
        Written(|_| bytes(super::useless::HANDSHAKE_BYTES)), "the connection is closed";
    Unproven: "HTTP/3", Connection,
        "bytes to an unproven address, in the handshake and after each change of address",
        Written(|_| "three times the bytes from there".to_owned()), "nothing is sent";
    Addresses: "HTTP/3", Connection, "addresses that a client has one after another", Written(|_| count(SERVED_ADDRESSES)),
        "the connection is closed, and the client reconnects";
    Idle: "all", Connection,
        "silence; over TCP, the time without a request in progress, whatever the client sends meanwhile", Written(|it| time(it.idle)),
        "the connection is dropped";
    HeadTime: "HTTP/3, HTTP/1.1", Request, "the time of a request's head, from its first byte", Written(|it| time(it.head)),
        "the stream is reset with the client's next datagram (`H3_REQUEST_INCOMPLETE`); HTTP/1.1: the connection is closed";
    Head: "all", Request, "a decoded head: its bytes, and 32 for each field",
        Written(|it| format!("{}, {} fields", bytes(it.http3.field_section_bytes), count(HEAD_FIELDS))),
        "431; HTTP/3: its stream is reset (`H3_EXCESSIVE_LOAD`) if no answer is possible";
    UnfinishedHeads: "HTTP/3", Connection, "incomplete heads", Written(|it| bytes(it.http3.unfinished_bytes)),
        "the stream that exceeds the limit is reset (`H3_EXCESSIVE_LOAD`)";
    DecodedHeads: "all", Client,
        "memory of decoded heads: 320 bytes for each field, plus three times its name and value; for an incomplete HTTP/2 head, 80 for each byte, at most 256 KiB",
        Memory { all_bytes: 32 << 20, sure_bytes: 16 << 10 },
        "431; an incomplete HTTP/2 head closes its connection (`ENHANCE_YOUR_CALM`)";
    FurtherFields: "HTTP/2", Client, "fields of a head beyond 100, and bytes of a refused head", Rate(|_| [10_000, 100_000]),
        "the connection is not read until its turn; one that would wait for more than 1 s is closed (`ENHANCE_YOUR_CALM`)";
    RefusedHeads: "HTTP/2", Client,
        "refused heads: one with too many fields counts 16; one that is too large or malformed counts 1, and 1 more for each 256 bytes",
        Rate(|it| [it.nuisances, it.nuisances_per_second]), "the connection is closed (`ENHANCE_YOUR_CALM`)";
    Requests: "HTTP/3", Connection, "requests in progress", Written(|it| bytes(it.streams)), "QUIC's stream limit holds the client back";
    Nuisances: "HTTP/3, HTTP/2", Connection,
        "nuisances: cancelled requests; over HTTP/3 also stream errors (a request beyond a limit, such as a head that is too large, counts 16), priority signals, and each 16 bytes of control and QPACK streams",
        Rate(|it| [it.nuisances, it.nuisances_per_second]), "the connection is closed (`H3_EXCESSIVE_LOAD`, `ENHANCE_YOUR_CALM`)";
    EmptyFrames: "HTTP/3", Request, "frames that carry nothing: DATA without a byte, frames of unknown types",
        Written(|it| it.http3.empty_frames.to_string()), "its stream is reset (`H3_EXCESSIVE_LOAD`)";
    PriorityUpdates: "HTTP/3", Connection, "priority updates for future requests",
        Written(|it| count(it.http3.waiting_priority_updates)), "further ones are dropped";
    ReceiveWindow: "HTTP/3, HTTP/2", Connection, "unread bytes that a client may send",
        Written(|it| format!("{}, and {} a stream", bytes(it.receive_bytes), bytes(it.stream_receive_bytes))),
        "flow control holds the client back";
    Useless: "HTTP/3", Connection,
        "bytes of a client's packets that cannot be read yet. Subtracted are twice the bytes that were read, 80 bytes for a request, 48 for a packet that carried part of a response and for a datagram with a WebSocket message, 4,800 for an address that is proven for the first time, and a sixteenth of the bytes that were sent. A client saves at most 1 MiB of this by bytes read, and 192 KiB by the rest; 1 MiB more may wait while an upload waits for its backend. Datagrams that are not the client's do not count",
        Written(|_| bytes(super::useless::LIMIT_BYTES)),
        "the connection is closed (`H3_EXCESSIVE_LOAD`); at half of it the client is asked to reconnect (GOAWAY), and its connection is closed with this code after the responses in progress";
    Pieces: "HTTP/3", Client,
        "memory of stream data that arrived after missing bytes: 256 bytes for each piece, plus its own. 1 MiB more may wait for each connection while an upload waits for its backend",
        Memory { all_bytes: 48 << 20, sure_bytes: 32 << 10 }, "the connection is closed (`H3_EXCESSIVE_LOAD`)";
    UselessTcp: "TCP", Connection,
        "bytes that bring neither a request nor a body, such as PING frames; over HTTP/2 besides those that the window allows",
        Rate(|_| [1 << 20, 64 << 10]), "the connection is closed";
    Stalled: "all", Request, "the time in which a response waits for its client, which accepts less than 16 KiB of it",
        Written(|it| time(it.stalled)),
        "its stream is reset (`H3_REQUEST_CANCELLED`, `CANCEL`); HTTP/1.1: the connection is closed when nothing moves on it";
    Waiting: "all", Client,
        "memory of data that waits for clients: over TCP, pieces of files of 16 KiB, 8 for each connection; responses of backends, 96 KiB each. A connection may always have one piece and one response",
        Memory { all_bytes: 64 << 20, sure_bytes: 0 },
        "files are read later, when the client accepts some; requests to backends get 503, `Retry-After: 1`";
    Encoders: "all", Client, "memory for compressing responses of backends (`compress`): 1 MiB each",
        Memory { all_bytes: 64 << 20, sure_bytes: 0 }, "they are sent uncompressed";
    Compression: "all", Process, "bytes of such responses", Rate(|_| [64 << 20, 16 << 20]), "further ones are sent uncompressed";
    NamedConnections: "HTTP/3", Client, "named connections (`[migration]`)", Written(|_| "8".to_owned()),
        "further ones take no part in migrations";
    NamingFrames: "HTTP/3", Connection, "frames that name a connection that has not arrived", Written(|_| "32, for 1 s".to_owned()),
        "the connection is closed (`H3_EXCESSIVE_LOAD`)";
}

// The text of a row relies on this value.
const _: () = assert!(
    HELD_FIELD_BYTES == 320 && HELD_COPIES == 3 && PIECE_BYTES == 256 && RELAYED_BYTES == 96 << 10
);

#[cfg(feature = "experiments")]
const _: () = {
    use migration::{MEMBERS_MAX, OVERTAKING, OVERTAKING_MAX};
    assert!(MEMBERS_MAX == 8 && OVERTAKING_MAX == 32 && OVERTAKING.as_secs() == 1);
};

impl Charge {
    /// The row that is charged.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The number that a rate allows at once, and again each second.
    pub fn rate(self, limits: &Limits) -> [u32; 2] {
        match self.row().limit {
            Rate(rate) => rate(limits),
            Memory { .. } | Written(_) => [0; 2],
        }
    }

    /// The full budget of a rate.
    pub(super) fn budget(self, limits: &Limits) -> Budget {
        let [at_once, each_second] = self.rate(limits);
        Budget::new(at_once, each_second)
    }
}

/// These rows in Markdown, with the defaults.
pub fn table<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let head = "| what is counted | over | of | limit | beyond it |\n|---|---|---|---|---|\n";
    rows.into_iter().map(line).fold(head.to_owned(), |table, line| table + &line)
}

fn line(row: &Row) -> String {
    let Row { what, over, scope, limit, beyond } = row;
    format!("| {what} | {over} | {} | {} | {beyond} |\n", scope.text(), limit.text())
}

impl Scope {
    fn text(self) -> &'static str {
        match self {
            Self::Request => "a request",
            Self::Connection => "a connection",
            Self::Client => "a client",
            Self::Process => "all clients",
        }
    }
}

impl Limit {
    fn text(&self) -> String {
        let limits = Limits::default();
        match self {
            Rate(rate) => {
                let [at_once, each_second] = rate(&limits).map(|it| bytes(it.into()));
                format!("{at_once} at once, and {each_second} per second")
            }
            Memory { all_bytes, sure_bytes } => {
                let shared = format!(
                    "{} for all, of which a client has as much as is free: half if it is alone",
                    count(*all_bytes)
                );
                match sure_bytes {
                    0 => shared,
                    sure => format!("{} for each connection, and {shared}", count(*sure)),
                }
            }
            Written(text) => text(&limits),
        }
    }
}

fn time(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

fn count(count: usize) -> String {
    bytes(count as u64)
}

/// A number, in its largest binary unit if it is a multiple of one.
fn bytes(number: u64) -> String {
    let units = [(20, " MiB"), (10, " KiB")];
    let unit = units.into_iter().find(|(bits, _)| number > 0 && number.trailing_zeros() >= *bits);
    if let Some((bits, name)) = unit {
        return format!("{}{name}", number >> bits);
    }
    match number {
        10_000.. => format!("{},{:03}", number / 1000, number % 1000),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_said_with_their_unit() {
        let said = [1000, 10_000, 100_000, 256, 64 << 10, 1 << 20, 384 << 10].map(bytes);
        assert_eq!(said, ["1000", "10,000", "100,000", "256", "64 KiB", "1 MiB", "384 KiB"]);
    }
}
