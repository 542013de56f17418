//! Files that are compressed on first request, and kept.

use super::codings::{Coding, Encoder};
use super::hot_files::HotFile;
use crate::limits::{
    COMPRESSED_AT_ONCE_BYTES, COMPRESSED_BYTES, COMPRESSIBLE_BYTES, COMPRESSION_AT_ONCE_BYTES,
    COMPRESSION_BYTES, COMPRESSION_BYTES_PER_SECOND,
};
use hyper::header::HeaderValue;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use server::account::Budget;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The number of files that the cache is sized for; it accepts more.
const FILES_EXPECTED: usize = 256;
/// Bytes of a file that are read at a time.
const PIECE_BYTES: u64 = 64 << 10;

/// A version of a file in a coding.
type Key = (HeaderValue, Coding);

/// Compressed files, keyed by the entity tags of the originals.
#[derive(Clone)]
pub(super) struct Compressed {
    state: Arc<Mutex<State>>,
    /// The queue of the thread. The thread starts with the first large file, and ends when the last of these senders is
    /// dropped.
    jobs: Arc<OnceLock<Option<Sender<Job>>>>,
}

type Job = Box<dyn FnOnce() + Send>;

struct State {
    /// Empty if the coding does not shrink the file.
    made: Cache<Key, Arc<[u8]>, Weight>,
    /// Bytes that may be compressed.
    budget: Budget,
    /// Bytes of them that may be compressed without the thread.
    at_once: Budget,
}

impl State {
    fn may_be_made_at_once(&mut self, bytes: u64, now: Option<Instant>) -> bool {
        bytes <= COMPRESSED_AT_ONCE_BYTES && now.is_none_or(|it| self.at_once.spend(bytes, it))
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<[u8]>> for Weight {
    fn weight(&self, (tag, _): &Key, bytes: &Arc<[u8]>) -> u64 {
        (bytes.len() + tag.len() + size_of::<Key>()) as u64
    }
}

/// A file in a coding.
pub(super) enum Made {
    Here(Arc<[u8]>),
    /// It takes a while: use [`Compressed::make`].
    Later,
    /// The file is sent uncompressed, because it is too small or too large, does not shrink, or too much was compressed lately.
    Not,
}

impl Compressed {
    pub(super) fn new() -> Self {
        let made = Cache::with_weighter(FILES_EXPECTED, COMPRESSED_BYTES, Weight);
        let budget = Budget::new(COMPRESSION_BYTES, COMPRESSION_BYTES_PER_SECOND);
        let at_once = Budget::new(COMPRESSION_AT_ONCE_BYTES, COMPRESSION_AT_ONCE_BYTES);
        let state = State { made, budget, at_once };
        Self { state: Arc::new(Mutex::new(state)), jobs: Arc::default() }
    }

    /// A file in a coding, if it is kept or can be made immediately.
    pub(super) fn get(&self, file: &HotFile, coding: Coding, now: Option<Instant>) -> Made {
        let bytes = file.version.bytes;
        if !COMPRESSIBLE_BYTES.contains(&bytes) {
            return Made::Not;
        }
        match self.kept(file, coding) {
            Some(kept) if kept.is_empty() => Made::Not,
            Some(kept) => Made::Here(kept),
            None if !now.is_none_or(|it| self.state.lock().budget.spend(bytes, it)) => Made::Not,
            None if !self.state.lock().may_be_made_at_once(bytes, now) => Made::Later,
            None => self.made(file, coding).map_or(Made::Not, Made::Here),
        }
    }

    /// Makes the thread compress a file. `then` gets the result, or `None` if the file must be sent uncompressed. Returns
    /// `false` if there is no thread.
    pub(super) fn make(
        &self,
        file: Arc<HotFile>,
        coding: Coding,
        then: impl FnOnce(Option<Arc<[u8]>>) + Send + 'static,
    ) -> bool {
        let own = Self { state: Arc::clone(&self.state), jobs: Arc::default() };
        let job = move || then(own.made(&file, coding));
        let jobs = self.jobs.get_or_init(start);
        jobs.as_ref().is_some_and(|it| it.send(Box::new(job)).is_ok())
    }

    /// A file in a coding, made now unless it is kept.
    fn made(&self, file: &HotFile, coding: Coding) -> Option<Arc<[u8]>> {
        let made = if let Some(kept) = self.kept(file, coding) {
            kept
        } else {
            let made: Arc<[u8]> = compress(file, coding).ok()?.into();
            self.state.lock().made.insert(key(file, coding), Arc::clone(&made));
            made
        };
        (!made.is_empty()).then_some(made)
    }

    fn kept(&self, file: &HotFile, coding: Coding) -> Option<Arc<[u8]>> {
        self.state.lock().made.get(&key(file, coding)).cloned()
    }
}

fn key(file: &HotFile, coding: Coding) -> Key {
    (file.tag.clone(), coding)
}

/// Starts the thread that compresses one file after another; `None` if the system cannot.
fn start() -> Option<Sender<Job>> {
    let (jobs, coming) = channel::<Job>();
    let builder = std::thread::Builder::new().name("compress".to_owned());
    builder.spawn(move || coming.into_iter().for_each(|job| job())).ok()?;
    Some(jobs)
}

/// The bytes in a coding, empty if it does not shrink them.
fn compress(file: &HotFile, coding: Coding) -> io::Result<Vec<u8>> {
    let mut encoder = Encoder::new(coding)?;
    let (mut offset, mut piece) = (0, Vec::new());
    while offset < file.version.bytes {
        let count = PIECE_BYTES.min(file.version.bytes - offset);
        piece.resize(usize::try_from(count).map_err(io::Error::other)?, 0);
        file.contents.read_at(offset, &mut piece)?;
        encoder.take(&piece)?;
        offset += count;
    }
    let made = encoder.end()?;
    Ok(if (made.len() as u64) < file.version.bytes { made } else { Vec::new() })
}
