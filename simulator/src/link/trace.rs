//! Variable rates: mahimahi's traces, read and written.
//!
//! A trace is a text file with a time in milliseconds on each line, never decreasing. At each time, 1500 bytes
//! may leave the link. Several small datagrams share such an opportunity, and a large one takes several. Unused
//! bytes are lost. After the last line the trace begins again. A file that holds only `1` is a link of 12
//! Mbit/s.

use crate::limits::{TRACE_LINES_MAX, TRACE_MS_MAX};
use ring::digest::{SHA256, digest};
use serde::Serializer;
use std::fmt::Write;
use std::sync::Arc;

/// Bytes that may leave at one time of a trace.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// Opportunities to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    opportunities_ms: Vec<u64>,
}

/// Why a text is not a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// There is no line, or only the time 0, so that the trace would repeat without time passing.
    #[error(
        "an empty trace: it needs a time in milliseconds on each line, the last of them more than 0"
    )]
    Empty,
    /// A line is not a time, or is earlier than the preceding one.
    #[error("line {line}: `{text}`: expected a time in milliseconds, not before the one above")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// There are too many lines.
    #[error("more than {TRACE_LINES_MAX} lines")]
    Long,
}

impl Trace {
    /// Reads a trace.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut opportunities_ms = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let allowed_ms = opportunities_ms.last().copied().unwrap_or(0)..=TRACE_MS_MAX;
            let time_ms = line.trim().parse().ok();
            let Some(time_ms) = time_ms.filter(|time_ms| allowed_ms.contains(time_ms)) else {
                let text = line.chars().take(40).collect();
                return Err(TraceError::Line { line: index + 1, text });
            };
            if opportunities_ms.len() == TRACE_LINES_MAX {
                return Err(TraceError::Long);
            }
            opportunities_ms.push(time_ms);
        }
        match opportunities_ms.last() {
            None | Some(0) => Err(TraceError::Empty),
            Some(_) => Ok(Self { opportunities_ms }),
        }
    }

    /// The trace as text, which [`Trace::parse`] reads.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self.opportunities_ms.iter().map(u64::to_string).collect();
        lines.join("\n") + "\n"
    }

    /// Bits a second, on average.
    pub fn mean_rate(&self) -> f64 {
        let bits = self.opportunities_ms.len() as f64 * OPPORTUNITY_BYTES as f64 * 8.0;
        bits * 1000.0 / self.length_ms() as f64
    }

    fn length_ms(&self) -> u64 {
        self.opportunities_ms.last().copied().unwrap_or(1)
    }

    /// The time of an opportunity, counted over all repetitions.
    fn time_ns(&self, index: u64) -> u64 {
        let count = self.opportunities_ms.len() as u64;
        let place = usize::try_from(index % count).unwrap_or(0);
        (index / count * self.length_ms() + self.opportunities_ms[place]) * 1_000_000
    }

    /// The first opportunity at `from_ns` or later.
    fn first_from(&self, from_ns: u64) -> u64 {
        let whole_ms = from_ns.div_ceil(1_000_000);
        let (rounds, rest_ms) = (whole_ms / self.length_ms(), whole_ms % self.length_ms());
        // The last line of a round and time 0 of the next are the same moment.
        if rest_ms == 0 && rounds > 0 {
            let last = self.opportunities_ms.partition_point(|it| *it < self.length_ms());
            return (rounds - 1) * self.opportunities_ms.len() as u64 + last as u64;
        }
        let place = self.opportunities_ms.partition_point(|it| *it < rest_ms);
        rounds * self.opportunities_ms.len() as u64 + place as u64
    }
}

/// Serializes a description of the trace for provenance, not each of its lines.
pub(super) fn serialize<S: Serializer>(
    trace: &Arc<Trace>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let hash = digest(&SHA256, trace.to_text().as_bytes());
    let hex = hash.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").ok();
        hex
    });
    serializer.collect_str(&format_args!(
        "trace of {} opportunities in {} ms, SHA-256 {hex}",
        trace.opportunities_ms.len(),
        trace.length_ms(),
    ))
}

/// The position of a link in a trace.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    next: u64,
    left_bytes: u64,
}

impl Cursor {
    /// When `bytes` that are available from `from_ns` on have left; calls must be in chronological order.
    pub(super) fn depart(&mut self, trace: &Trace, from_ns: u64, bytes: u64) -> u64 {
        // Only datagrams that were available at its time can use the rest of an opportunity.
        let gone = self.next == 0 || trace.time_ns(self.next - 1) < from_ns;
        if gone {
            self.left_bytes = 0;
            self.next = self.next.max(trace.first_from(from_ns));
        }
        let mut need = bytes;
        while need > self.left_bytes {
            need -= self.left_bytes;
            self.left_bytes = OPPORTUNITY_BYTES;
            self.next += 1;
        }
        self.left_bytes -= need;
        trace.time_ns(self.next.saturating_sub(1)).max(from_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departs_ms(text: &str, offers: &[(u64, u64)]) -> Vec<u64> {
        let trace = Trace::parse(text).expect("a trace");
        let mut cursor = Cursor::default();
        let mut last_ns = 0;
        offers
            .iter()
            .map(|(at_ms, bytes)| {
                last_ns = cursor.depart(&trace, (at_ms * 1_000_000).max(last_ns), *bytes);
                last_ns / 1_000_000
            })
            .collect()
    }

    #[test]
    fn small_datagrams_share_an_opportunity_and_a_large_one_takes_several() {
        assert_eq!(departs_ms("2\n5\n9\n", &[(0, 500), (0, 1000), (0, 1500)]), [2, 2, 5]);
        assert_eq!(departs_ms("2\n5\n9\n", &[(0, 3100), (0, 1400), (0, 1)]), [9, 9, 11]);
    }

    #[test]
    fn unused_opportunities_are_lost_and_the_trace_begins_again() {
        assert_eq!(departs_ms("2\n5\n9\n", &[(3, 100), (6, 100), (10, 100)]), [5, 9, 11]);
        assert_eq!(departs_ms("1\n", &[(0, 1500), (0, 1500), (7, 1500), (7, 1500)]), [1, 2, 7, 8]);
        // Two opportunities at one time, which is also the time when the trace repeats.
        assert_eq!(departs_ms("4\n4\n", &[(4, 1500), (4, 1500), (4, 1500)]), [4, 4, 8]);
    }

    #[test]
    fn a_written_trace_is_read_again_and_has_its_rate() {
        // One opportunity after each of these times, in milliseconds.
        let steady = |each_ms: f64, count: u32| {
            let lines = (1..=count).map(|it| format!("{:.0}\n", f64::from(it) * each_ms));
            Trace::parse(&lines.collect::<String>()).expect("a trace")
        };
        let trace = steady(1.0, 1000);
        assert_eq!(Trace::parse(&trace.to_text()), Ok(trace.clone()));
        assert!((trace.mean_rate() - 12e6).abs() < 1.0);
        let odd = steady(12.0 / 1.12, 5600);
        assert!((odd.mean_rate() / 1.12e6 - 1.0).abs() < 0.001, "{}", odd.mean_rate());
    }

    #[test]
    fn a_text_that_is_not_a_trace_is_rejected_by_line() {
        assert_eq!(Trace::parse(""), Err(TraceError::Empty));
        assert_eq!(Trace::parse("0\n0\n"), Err(TraceError::Empty));
        for (text, line) in [("5\n4\n", 2), ("1\nx\n", 2), ("-1\n", 1), ("1.5", 1)] {
            let error = Trace::parse(text).expect_err(text);
            assert!(matches!(error, TraceError::Line { line: it, .. } if it == line), "{error}");
        }
    }
}
