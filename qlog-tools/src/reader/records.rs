//! Splits a file into records: JSON text sequences (RFC 7464) at the record separator, other files at line ends.
//! Memory is limited by the longest record, which has a limit.

use std::io::{self, BufRead, Read as _};

use serde::de::IgnoredAny;

use super::sniff::{BYTE_ORDER_MARK, RECORD_SEPARATOR};
use crate::limits::RECORD_BYTES;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// Its bytes, without separator and surrounding white space; never empty.
    Whole(&'a [u8]),
    /// It was longer than the limit, and skipped.
    TooLong,
}

pub(super) struct Records<R> {
    input: R,
    separator: u8,
    record: Vec<u8>,
    limit: usize,
    is_at_start: bool,
    /// Whether only the first record had a separator, and the others were lines.
    pub(super) goes_on_in_lines: bool,
}

impl<R: BufRead> Records<R> {
    /// Determines the separator from the first byte that is not white space.
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        if input.fill_buf()?.starts_with(&BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
        }
        let separator = loop {
            let buffer = input.fill_buf()?;
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (first, is_end) = (buffer.get(blank).copied(), buffer.is_empty());
            input.consume(blank);
            match first {
                Some(RECORD_SEPARATOR) => break RECORD_SEPARATOR,
                None if !is_end => {}
                _ => break b'\n',
            }
        };
        Ok(Self {
            input,
            separator,
            record: Vec::new(),
            limit: RECORD_BYTES,
            is_at_start: true,
            goes_on_in_lines: false,
        })
    }

    /// The next record that is not blank.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            let Some(is_whole) = self.fill()? else { return Ok(None) };
            let is_blank = is_whole && self.record.trim_ascii().is_empty();
            self.is_at_start &= is_blank;
            if !is_whole {
                return Ok(Some(Record::TooLong));
            }
            if !is_blank {
                return Ok(Some(Record::Whole(self.record.trim_ascii())));
            }
        }
    }

    /// Reads up to the next separator. `None` at the end of the file, `false` beyond the limit.
    fn fill(&mut self) -> io::Result<Option<bool>> {
        self.record.clear();
        if self.is_at_start {
            return self.fill_first();
        }
        let (limit, separator) = (self.limit as u64, self.separator);
        let read =
            self.input.by_ref().take(limit + 1).read_until(separator, &mut self.record)? as u64;
        if self.record.last() == Some(&separator) {
            self.record.pop();
        } else if read > limit {
            self.input.skip_until(separator)?;
            return Ok(Some(false));
        }
        Ok((read > 0).then_some(true))
    }

    /// The same for the first record, in which a line end may be a separator.
    fn fill_first(&mut self) -> io::Result<Option<bool>> {
        let (mut is_whole, mut has_bytes) = (true, false);
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(has_bytes.then_some(is_whole));
            }
            has_bytes = true;
            let end = buffer.iter().position(|it| *it == self.separator || *it == b'\n');
            let is_line = end.is_some_and(|end| buffer[end] != self.separator);
            let piece = &buffer[..end.unwrap_or(buffer.len())];
            is_whole &= self.record.len() + piece.len() <= self.limit;
            if is_whole {
                self.record.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            // The stored part of a record beyond the limit depends on the buffer, so it shows nothing.
            if is_line && !(is_whole && self.ends_first_line()?) {
                // A line end within the first record.
                if is_whole {
                    self.record.push(b'\n');
                }
                continue;
            }
            if end.is_some() {
                return Ok(Some(is_whole));
            }
        }
    }

    /// Whether the first record ends with its line, that is, the rest has no separators. Otherwise lines are parts of
    /// records.
    fn ends_first_line(&mut self) -> io::Result<bool> {
        if serde_json::from_slice::<IgnoredAny>(&self.record).is_err() {
            return Ok(false);
        }
        loop {
            let buffer = self.input.fill_buf()?;
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (next, is_end) = (buffer.get(blank).copied(), buffer.is_empty());
            self.input.consume(blank);
            match next {
                None if !is_end => {}
                Some(next) if next != self.separator => {
                    self.separator = b'\n';
                    self.goes_on_in_lines = true;
                    return Ok(true);
                }
                _ => return Ok(false),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn records(bytes: &[u8], buffer: usize, limit: usize) -> Vec<String> {
        let mut records = Records::new(BufReader::with_capacity(buffer, bytes)).unwrap();
        records.limit = limit;
        let mut found = Vec::new();
        while let Some(record) = records.next().unwrap() {
            found.push(match record {
                Record::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Record::TooLong => "(too long)".to_owned(),
            });
        }
        found
    }

    #[test]
    fn a_json_sequence_is_cut_at_the_separator_only() {
        assert_eq!(records(b"\x1e{\n1}\n\x1e{2}\n\x1e{3", 4, 100), ["{\n1}", "{2}", "{3"]);
    }

    #[test]
    fn other_files_are_cut_at_line_ends() {
        assert_eq!(records(b"\xef\xbb\xbf\n\n{1}\r\n\n{2}\n", 8, 100), ["{1}", "{2}"]);
        assert_eq!(records(b"", 8, 100), Vec::<String>::new());
        assert_eq!(records(b" \n ", 1, 100), Vec::<String>::new());
    }

    #[test]
    fn a_record_over_the_limit_is_skipped_and_the_next_is_read() {
        assert_eq!(records(b"12345\n123456789\n12", 3, 5), ["12345", "(too long)", "12"]);
    }

    #[test]
    fn lines_of_a_first_record_over_the_limit_belong_to_it_whatever_the_buffer() {
        for buffer in [3, 1000] {
            let found = records(b"\x1e1              1\n{\n\x1e2", buffer, 10);
            assert_eq!(found, ["(too long)", "2"], "{buffer}");
        }
    }

    #[test]
    fn a_separator_before_the_first_record_only_makes_the_others_lines() {
        let log = b"\x1e{\"a\":1}\n{\"b\":2}\n\n{\"c\":3}\n";
        assert_eq!(records(log, 4, 100), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
        let sequence = b"\x1e{\"a\":\n1}\n\x1e{\"b\":\n2}\n";
        assert_eq!(records(sequence, 4, 100), ["{\"a\":\n1}", "{\"b\":\n2}"]);
    }

    proptest! {
        #[test]
        fn the_buffer_size_changes_nothing(bytes in prop::collection::vec(prop::sample::select(b"\x1e\n {}1a".to_vec()), 0..80), buffer in 1usize..9) {
            prop_assert_eq!(records(&bytes, buffer.max(3), 10), records(&bytes, 1000, 10));
        }
    }
}
