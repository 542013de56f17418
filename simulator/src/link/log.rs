//! The fate of each datagram.

use super::Way;
use serde::Serialize;

/// The fate of one datagram. A duplicate has its own entry with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkLogEntry {
    /// The direction.
    pub way: Way,
    /// Its number in the order of sending into the link, from 1.
    pub number: u64,
    /// When it was sent into the link, in nanoseconds from the link's start.
    pub offered_ns: u64,
    /// UDP payload bytes; the size of the whole packet if the link carries IP packets.
    pub bytes: u64,
    /// Its fate.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A link's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It arrived.
    Delivered {
        /// The time, in nanoseconds from the link's start.
        at_ns: u64,
        /// Whether jitter or reordering let others overtake it.
        overtaken: bool,
        /// Whether it is the second of two.
        duplicate: bool,
        /// Whether one byte of it was changed.
        corrupted: bool,
        /// Whether it was marked: congestion experienced.
        marked: bool,
    },
    /// It was lost.
    Dropped {
        /// Why.
        cause: Cause,
    },
}

/// Why a datagram was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The queue had no room.
    Queue,
    /// Chance.
    Loss,
    /// Its number is on the list.
    Listed,
    /// It left during a blackhole.
    Blackhole,
    /// The link was full.
    Memory,
}

/// The format that each line names.
const FORMAT: &str = "utmost-link-log/1";

#[derive(Serialize)]
struct Line<'a> {
    format: &'static str,
    #[serde(flatten)]
    entry: &'a LinkLogEntry,
}

impl LinkLogEntry {
    /// The entry as a line of JSON, in the form of `schemas/link-log.json`.
    pub fn json_line(&self) -> String {
        let line = Line { format: FORMAT, entry: self };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    }
}
