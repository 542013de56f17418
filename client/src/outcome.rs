//! The outcome of a page load, and its problems.

use crate::{CookieJar, HttpCache, SavedSession};
use connection::EarlyData;
use std::collections::BTreeMap;
use std::time::Duration;

/// How a page load ended.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The outcomes of earlier pages on the same connection, in order.
    pub earlier: Vec<Self>,
    /// Every resource of the page was requested and answered.
    pub completed: bool,
    /// The client left the page before it was loaded ([`crate::Cancels::leave_after`]).
    pub left: bool,
    /// Resources whose responses the client cancelled, in this order.
    pub cancelled: Vec<usize>,
    /// The scheme that the server announced for the page, otherwise for the connection.
    pub announced: Option<String>,
    /// Where the load differed from the page.
    pub problems: Vec<Problem>,
    /// Bytes of responses that arrived on other connections.
    pub moved_bytes: u64,
    /// The bodies by resource, if [`crate::Options::keep_bodies`] is set.
    pub bodies: BTreeMap<usize, Vec<u8>>,
    /// Resources that the server pushed, in the order of their IDs, and whether the page needed each.
    pub pushed: Vec<(usize, bool)>,
    /// How many promises were refused.
    pub refused_pushes: usize,
    /// How many of them were for resources that the client had already requested.
    pub late_pushes: usize,
    /// The cookies after the visit.
    pub cookies: CookieJar,
    /// The HTTP cache after the visit.
    pub cache: HttpCache,
    /// Resources that were not requested because the cache had a fresh copy, in this order.
    pub cached: Vec<usize>,
    /// Stale copies that the server validated: by a 304 response, pushed or requested, or by a promise that names
    /// their entity tag.
    pub validated: Vec<usize>,
    /// The status of each response, by resource.
    pub statuses: BTreeMap<usize, u16>,
    /// The shortest round-trip time.
    pub round_trip: Option<Duration>,
    /// The number of 103 responses.
    pub early_hints: usize,
    /// Resources that were requested because a `Link` field preloads them, in this order.
    pub preloaded: Vec<usize>,
    /// The fate of early data.
    pub early_data: EarlyData,
    /// A session with which the next connection to this server can send early data.
    pub session: Option<SavedSession>,
}

/// A difference between a load and its page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Problem {
    #[error("{url}: status {status}, the page says {expected}")]
    Status { url: String, status: u16, expected: u16 },
    #[error("{url}: {bytes} bytes, the page says {expected}")]
    Size { url: String, bytes: u64, expected: u64 },
    #[error("{url}: reset by the server with code {code:#x}")]
    Reset { url: String, code: u64 },
    #[error("{url}: the response broke off: {cause}")]
    Broken { url: String, cause: String },
    /// The connection ended before the page was loaded.
    #[error("connection lost: {0}")]
    Connection(String),
}
