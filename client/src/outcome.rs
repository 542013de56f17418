//! How a page load ended, and what went wrong.

use crate::CookieJar;
use crate::HttpCache;
use crate::SavedSession;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How a page load ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Every resource of the page was asked for and answered.
    pub completed: bool,
    /// The scheme that the server said it sends in: for the page, or else for the connection.
    pub announced: Option<String>,
    /// What went otherwise than the page says.
    pub problems: Vec<Problem>,
    /// The bodies by resource, if they were to be kept.
    pub bodies: BTreeMap<usize, Vec<u8>>,
    /// Resources that the server pushed, in the order of their IDs, and whether the page needed each.
    pub pushed: Vec<(usize, bool)>,
    /// Promises that were refused.
    pub refused_pushes: usize,
    /// The cookies after the visit.
    pub cookies: CookieJar,
    /// The HTTP cache after the visit.
    pub cache: HttpCache,
    /// Stale copies that the server said are right still: by a 304 response, pushed or asked for, or by a promise that
    /// names their entity tag.
    pub validated: Vec<usize>,
    /// The status of each response, by resource.
    pub statuses: BTreeMap<usize, u16>,
    /// The shortest round trip that was seen.
    pub round_trip: Option<Duration>,
    /// How many 103 responses came.
    pub early_hints: usize,
    /// Resources that were asked for because a `Link` field preloads them, in this order.
    pub preloaded: Vec<usize>,
    /// What became of early data.
    pub early_data: EarlyData,
    /// With which the next connection to this server can send early data.
    pub session: Option<SavedSession>,
}

/// Whether requests went along with the first packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EarlyData {
    /// None went: there was no session, or it allowed none.
    #[default]
    Unsent,
    /// They went, and it is not known yet whether the server took them.
    Sent,
    /// The server took them.
    Accepted,
    /// The server did not take them: they went again after the handshake.
    Rejected,
}

/// Something that went otherwise than the page says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Another status than the page's.
    #[error("{url}: status {status}, the page says {expected}")]
    Status {
        /// The resource.
        url: String,
        /// What the server said.
        status: u16,
        /// What the page says.
        expected: u16,
    },
    /// A body of another size than the page's.
    #[error("{url}: {bytes} bytes, the page says {expected}")]
    Size {
        /// The resource.
        url: String,
        /// What the server sent.
        bytes: u64,
        /// What the page says.
        expected: u64,
    },
    /// The server reset the response.
    #[error("{url}: reset by the server with code {code:#x}")]
    Reset {
        /// The resource.
        url: String,
        /// The HTTP/3 error code.
        code: u64,
    },
    /// The connection ended before the page was loaded.
    #[error("connection lost: {0}")]
    Connection(String),
}

/// A connection that cannot even be tried.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file of certificate authorities is of no use.
    #[error("{0}: holds no certificates in PEM form")]
    Authorities(PathBuf),
    /// The log cannot be written.
    #[error("{path}: {source}")]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The transport refused.
    #[error("transport: {0}")]
    Transport(#[from] quiche::Error),
    /// The saved session is of no use.
    #[error("the saved session cannot be used ({0}); delete it to begin a new one")]
    Session(quiche::Error),
    /// The system gave no randomness.
    #[error("no randomness from the system")]
    Random,
}
