//! The loads of a study as they are done, a line of JSON each: what an interrupted study goes on from.

use super::run::RunRecord;
use crate::Load;
use qlog_tools::timeline::{StreamFrame, Timeline, Transfer};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;

/// The name of the journal in a study's folder.
pub(super) const FILE: &str = "runs.jsonl";

/// One load that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Its place in the whole plan.
    pub(super) place: usize,
    pub(super) run: RunRecord,
    /// What came when, where a figure needs it and the load cannot be repeated exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) load: Option<StoredLoad>,
}

/// A [`Load`] in few words.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredLoad {
    completed: bool,
    name: String,
    transfers: Vec<StoredTransfer>,
    /// Time, stream, offset, bytes.
    frames: Vec<(u64, u64, u64, u64)>,
}

/// Stream, URL, time of the request, offset and bytes of the body, bytes of the stream.
type StoredTransfer = (u64, String, u64, u64, Option<u64>, Option<u64>);

impl From<&Load> for StoredLoad {
    fn from(load: &Load) -> Self {
        let transfer = |it: &Transfer| {
            let url = it.url.clone();
            (it.stream, url, it.requested_us, it.body_offset, it.body_bytes, it.stream_bytes)
        };
        let frame = |it: &StreamFrame| (it.time_us, it.stream, it.offset, it.bytes);
        Self {
            completed: load.completed,
            name: load.timeline.name.clone(),
            transfers: load.timeline.transfers.iter().map(transfer).collect(),
            frames: load.timeline.frames.iter().map(frame).collect(),
        }
    }
}

impl From<StoredLoad> for Load {
    fn from(stored: StoredLoad) -> Self {
        let transfers = stored.transfers.into_iter().map(
            |(stream, url, requested_us, body_offset, body_bytes, stream_bytes)| Transfer {
                stream,
                url,
                requested_us,
                body_offset,
                body_bytes,
                stream_bytes,
            },
        );
        let frames = stored.frames.into_iter();
        let frames = frames.map(|(time_us, stream, offset, bytes)| StreamFrame {
            time_us,
            stream,
            offset,
            bytes,
        });
        let timeline = Timeline {
            name: stored.name,
            transfers: transfers.collect(),
            frames: frames.collect(),
        };
        Self { completed: stored.completed, timeline }
    }
}

/// A journal that is being written.
pub(super) struct Journal {
    file: File,
    /// Lines that may be lost when the machine stops: the disk is waited for at each so many.
    lines_a_sync: usize,
    unsynced: usize,
}

/// What a second process in the same folder is told.
const BUSY: &str = "another process writes here; wait for its end, or name another folder";

impl Journal {
    /// Opens or makes the journal of `folder`; what it holds already. A last line that was not written to its
    /// end is dropped.
    pub(super) fn open(folder: &Path, lines_a_sync: usize) -> io::Result<(Self, Vec<Entry>)> {
        let path = folder.join(FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        // Until the process ends, however it ends.
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other(BUSY),
            TryLockError::Error(error) => error,
        })?;
        let (entries, whole_bytes) = entries(&std::fs::read(&path)?)?;
        file.set_len(whole_bytes)?;
        Ok((Self { file, lines_a_sync, unsynced: 0 }, entries))
    }

    /// Adds a load.
    pub(super) fn add(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let before = self.file.metadata()?.len();
        if let Err(error) = self.file.write_all(&line) {
            // A full disk: what there is room for must not stand in the way of what follows.
            self.file.set_len(before).ok();
            return Err(error);
        }
        self.unsynced += 1;
        if self.unsynced >= self.lines_a_sync { self.sync() } else { Ok(()) }
    }

    /// Waits for the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.file.sync_data()
    }
}

/// Reads the journal of `folder`.
pub(super) fn read(folder: &Path) -> io::Result<Vec<Entry>> {
    Ok(entries(&std::fs::read(folder.join(FILE))?)?.0)
}

/// The entries, and the bytes that they take: what follows the last line feed is no entry.
fn entries(bytes: &[u8]) -> io::Result<(Vec<Entry>, u64)> {
    let whole = bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    let lines = bytes[..whole].split(|it| *it == b'\n').filter(|it| !it.is_empty());
    let parsed = lines.enumerate().map(|(place, line)| {
        serde_json::from_slice(line).map_err(|error| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("line {}: {error}; without that line its load is made again", place + 1),
            )
        })
    });
    Ok((parsed.collect::<Result<_, _>>()?, whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(place: usize) -> Entry {
        Entry { place, run: RunRecord { seed: 7, ..RunRecord::default() }, load: None }
    }

    #[test]
    fn a_line_that_was_not_written_to_its_end_is_dropped_and_the_rest_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, empty) = Journal::open(folder.path(), 1).expect("made");
        assert!(empty.is_empty());
        journal.add(&entry(0)).expect("written");
        journal.add(&entry(1)).expect("written");
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).expect("read");
        drop(journal);
        for torn in [whole.len() - 1, whole.len() - 20, whole.len() / 2 + 1] {
            std::fs::write(&path, &whole[..torn]).expect("torn");
            let (mut journal, left) = Journal::open(folder.path(), 1).expect("opened");
            assert_eq!(left.iter().map(|it| it.place).collect::<Vec<_>>(), [0]);
            journal.add(&entry(5)).expect("written");
            let places: Vec<usize> =
                read(folder.path()).expect("read").iter().map(|it| it.place).collect();
            assert_eq!(places, [0, 5]);
        }
    }

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Journal::open(folder.path(), 1).expect("made");
        let error = Journal::open(folder.path(), 1).err().expect("busy").to_string();
        assert_eq!(error, "another process writes here; wait for its end, or name another folder");
        drop(first);
        Journal::open(folder.path(), 1).expect("free again");
    }

    #[test]
    fn a_line_that_is_no_load_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "{\"place\":0}\n").expect("written");
        let error = read(folder.path()).expect_err("no run").to_string();
        assert!(error.starts_with("line 1: missing field `run`"), "{error}");
    }

    #[test]
    fn what_came_when_is_the_same_after_it_was_stored() {
        let transfer =
            Transfer { stream: 4, url: "/a".into(), requested_us: 3, ..Transfer::default() };
        let frame = StreamFrame { time_us: 9, stream: 4, offset: 0, bytes: 10 };
        let timeline =
            Timeline { name: "rr".into(), transfers: vec![transfer], frames: vec![frame] };
        let load = Load { completed: true, timeline: timeline.clone() };
        let text = serde_json::to_string(&StoredLoad::from(&load)).expect("JSON");
        let stored: StoredLoad = serde_json::from_str(&text).expect("stored");
        assert_eq!(Load::from(stored).timeline, timeline);
    }
}
