//! A qlog that stays in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A log's bytes; clones share them. Unless the whole log is kept, it drops the records that no timeline needs: what the
/// client sent, and the state of its own congestion control.
#[derive(Debug, Clone)]
pub(super) struct MemoryLog {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The record being written.
    record: Vec<u8>,
    all: bool,
}

impl MemoryLog {
    pub(super) fn new(all: bool) -> Self {
        Self { bytes: Arc::default(), record: Vec::new(), all }
    }

    /// What was logged.
    pub(super) fn take(&self) -> Vec<u8> {
        self.bytes.lock().map(|mut it| std::mem::take(&mut *it)).unwrap_or_default()
    }

    fn end_record(&mut self) {
        if (self.all || is_needed(&self.record))
            && let Ok(mut bytes) = self.bytes.lock()
        {
            bytes.extend_from_slice(&self.record);
        }
        self.record.clear();
    }
}

/// The record separator of JSON text sequences (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// Names stand near the beginning of a record.
const NAME_WITHIN: usize = 80;

fn is_needed(record: &[u8]) -> bool {
    const LEFT_OUT: [&[u8]; 3] =
        [b"quic:packet_sent\"", b"recovery_metrics_updated\"", b"stream_data_moved\""];
    let head = &record[..record.len().min(NAME_WITHIN)];
    !LEFT_OUT.iter().any(|name| head.windows(name.len()).any(|it| it == *name))
}

impl Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(place) = rest.iter().position(|it| *it == SEPARATOR) {
            self.record.extend_from_slice(&rest[..place]);
            self.end_record();
            self.record.push(SEPARATOR);
            rest = &rest[place + 1..];
        }
        self.record.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for MemoryLog {
    fn drop(&mut self) {
        self.end_record();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_records_that_a_timeline_needs_are_kept_whole_and_in_order() {
        let text = "\u{1e}{\"head\":1}\n\u{1e}{\"time\":1.0,\"name\":\"quic:packet_sent\"}\n\
                    \u{1e}{\"time\":2.0,\"name\":\"quic:packet_received\"}\n";
        for (all, expected) in [(true, 3), (false, 2)] {
            let log = MemoryLog::new(all);
            let mut writer = log.clone();
            for piece in text.as_bytes().chunks(7) {
                writer.write_all(piece).expect("memory");
            }
            drop(writer);
            let kept = String::from_utf8(log.take()).expect("text");
            assert_eq!(kept.matches('\u{1e}').count(), expected, "{kept}");
            assert!(kept.ends_with("packet_received\"}\n"));
        }
    }
}
