//! A client's qlog, reduced to the records that a timeline needs.

use connection::MemoryLog;
use std::io::{self, Write};

/// Drops records of the client's own packets, except its cancels, and of its congestion control's state, to
/// save memory.
pub(super) struct TimelineLog {
    kept: MemoryLog,
    record: Vec<u8>,
}

impl TimelineLog {
    pub(super) fn new(kept: MemoryLog) -> Self {
        Self { kept, record: Vec::new() }
    }

    fn end_record(&mut self) -> io::Result<()> {
        if is_needed(&self.record) {
            self.kept.write_all(&self.record)?;
        }
        self.record.clear();
        Ok(())
    }
}

/// The record separator of JSON text sequences (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// The name is near the beginning of a record.
const NAME_WITHIN: usize = 80;

fn is_needed(record: &[u8]) -> bool {
    const LEFT_OUT: [&[u8]; 3] =
        [b"quic:packet_sent\"", b"recovery_metrics_updated\"", b"stream_data_moved\""];
    let head = &record[..record.len().min(NAME_WITHIN)];
    let is_left_out = LEFT_OUT.iter().any(|name| has(head, name));
    !is_left_out || has(record, b"stop_sending")
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|it| it == word)
}

impl Write for TimelineLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == SEPARATOR) {
            match piece.strip_suffix(&[SEPARATOR]) {
                Some(rest) => {
                    self.record.extend_from_slice(rest);
                    self.end_record()?;
                    self.record.push(SEPARATOR);
                }
                None => self.record.extend_from_slice(piece),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for TimelineLog {
    fn drop(&mut self) {
        // Memory does not fail.
        self.end_record().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_records_that_a_timeline_needs_are_kept_whole_and_in_order() {
        let text = "\u{1e}{\"head\":1}\n\u{1e}{\"time\":1.0,\"name\":\"quic:packet_sent\"}\n\
                    \u{1e}{\"time\":2.0,\"name\":\"quic:packet_received\"}\n";
        let log = MemoryLog::default();
        let mut writer = TimelineLog::new(log.clone());
        for piece in text.as_bytes().chunks(7) {
            writer.write_all(piece).expect("memory");
        }
        drop(writer);
        assert_eq!(
            String::from_utf8(log.take()).expect("text"),
            "\u{1e}{\"head\":1}\n\u{1e}{\"time\":2.0,\"name\":\"quic:packet_received\"}\n"
        );
    }
}
