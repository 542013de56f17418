//! What became of each datagram.

use super::Way;
use serde::Serialize;

/// What became of one datagram. A duplicate has an entry of its own, with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Which, in the order in which they were offered, from 1.
    pub number: u64,
    /// When it was offered, in nanoseconds from the link's start.
    pub offered_ns: u64,
    /// UDP payload bytes.
    pub bytes: u64,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A link's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It arrived.
    Delivered {
        /// When, in nanoseconds from the link's start.
        at_ns: u64,
        /// Others overtook it on purpose: jitter, reordering.
        overtaken: bool,
        /// It is the second of two.
        duplicate: bool,
        /// One byte of it was changed.
        corrupted: bool,
        /// It was marked: congestion experienced.
        marked: bool,
    },
    /// It did not.
    Dropped {
        /// Why.
        cause: Cause,
    },
}

/// Why a datagram never arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The queue had no room.
    Queue,
    /// Chance.
    Loss,
    /// It is on the list.
    Listed,
    /// It left while nothing arrives.
    Blackhole,
    /// The link held as much as this program lets it.
    Memory,
}

/// An entry as a line of JSON.
pub fn log_line(way: Way, entry: &Entry) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        way: Way,
        #[serde(flatten)]
        entry: &'a Entry,
    }
    let line = serde_json::to_string(&Line { way, entry }).unwrap_or_default();
    line + "\n"
}
