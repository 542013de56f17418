//! Logs of a limited size, for readers that keep everything.

use super::{ReadError, ReadOptions, Unread, open, plain, read_traces};
use crate::trace::Trace;
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;

/// Reads all connections in the log at `path`, which may have at most `bytes_max` uncompressed bytes; `-` is the standard
/// input. `progress` gets the number of further bytes read.
pub fn read_file_within(
    path: &Path,
    options: ReadOptions,
    bytes_max: u64,
    progress: &dyn Fn(u64),
) -> Result<Vec<Trace>, ReadError> {
    let (file, input) = open(path)?;
    let input = plain(input).map_err(|error| Unread::Unreadable(error).of(&file))?;
    within(&file, input, options, bytes_max, progress)
}

fn within(
    file: &str,
    input: impl Read,
    options: ReadOptions,
    bytes_max: u64,
    progress: &dyn Fn(u64),
) -> Result<Vec<Trace>, ReadError> {
    let left = Cell::new(Some(bytes_max));
    let traces = read_traces(file, Bounded { input, left: &left, progress }, options);
    match left.get() {
        Some(_) => traces,
        None => Err(Unread::TooLong(bytes_max >> 20).of(file)),
    }
}

/// Ends after a number of bytes.
struct Bounded<'a, R> {
    input: R,
    left: &'a Cell<Option<u64>>,
    progress: &'a dyn Fn(u64),
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left.get() else { return Ok(0) };
        let count = self.input.read(bytes)?;
        let rest = left.checked_sub(count as u64);
        self.left.set(rest);
        (self.progress)(count as u64);
        Ok(if rest.is_some() { count } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with an event, of 130 bytes or so.
    const LOG: &str = "{\"qlog_version\":\"0.3\",\"qlog_format\":\"NDJSON\",\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n\
                       {\"time\":1.0,\"name\":\"transport:packet_received\",\"data\":{\"header\":{\"packet_type\":\"1RTT\"}}}\n";

    #[test]
    fn a_log_is_read_up_to_its_limit_and_a_longer_one_is_refused() {
        let read = Cell::new(0);
        let progress = |more| read.set(read.get() + more);
        let length = LOG.len() as u64;
        let within = |bytes_max| {
            within("a.qlog", LOG.as_bytes(), ReadOptions::default(), bytes_max, &progress)
        };
        assert_eq!(within(length).expect("a log").len(), 1);
        assert_eq!(read.get(), length);
        let refusal = within(length - 1).expect_err("too long").to_string();
        assert!(refusal.starts_with("a.qlog: has more than 0 MiB"), "{refusal}");
    }
}
