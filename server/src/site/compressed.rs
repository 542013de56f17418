//! Files that are compressed when they are first asked for, and kept.

use super::codings::Coding;
use super::hot_files::HotFile;
use crate::limits::{
    Budget, COMPRESSED_BYTES, COMPRESSIBLE_BYTES, COMPRESSION_BYTES, COMPRESSION_BYTES_PER_SECOND,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many files the cache expects; it takes more.
const FILES_EXPECTED: usize = 256;
/// The level that Caddy and nginx-like servers use for what is compressed while a client waits.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// A version of a file in a coding.
type Key = (String, Coding);

/// Compressed files, by the entity tags of what they were made of.
pub(super) struct Compressed {
    state: Mutex<State>,
}

struct State {
    /// An empty one: the coding makes the file no smaller.
    made: Cache<Key, Arc<[u8]>, Weight>,
    /// Bytes that may be compressed.
    budget: Budget,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<[u8]>> for Weight {
    fn weight(&self, (tag, _): &Key, bytes: &Arc<[u8]>) -> u64 {
        (bytes.len() + tag.len() + size_of::<Key>()) as u64
    }
}

impl Compressed {
    pub(super) fn new() -> Self {
        let made = Cache::with_weighter(FILES_EXPECTED, COMPRESSED_BYTES, Weight);
        let budget = Budget::new(COMPRESSION_BYTES, COMPRESSION_BYTES_PER_SECOND);
        Self { state: Mutex::new(State { made, budget }) }
    }

    /// The file at `path` in a coding. `None`: it is sent as it is, because it is too small or too large, becomes no smaller,
    /// or too much was compressed lately.
    pub(super) fn get(
        &self,
        path: &str,
        file: &HotFile,
        coding: Coding,
        now: Option<Instant>,
    ) -> Option<Arc<[u8]>> {
        let bytes = file.version.bytes;
        if !COMPRESSIBLE_BYTES.contains(&bytes) {
            return None;
        }
        let key = (format!("{path} {}", file.version.etag()), coding);
        let kept = self.state().made.get(&key).cloned();
        let made = if let Some(kept) = kept {
            kept
        } else {
            if !now.is_none_or(|it| self.state().budget.spend(bytes, it)) {
                return None;
            }
            let made: Arc<[u8]> = compress(file, coding).ok()?.into();
            self.state().made.insert(key, Arc::clone(&made));
            made
        };
        (!made.is_empty()).then_some(made)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes in a coding, or none if they are not fewer.
fn compress(file: &HotFile, coding: Coding) -> io::Result<Vec<u8>> {
    let mut plain = vec![0; usize::try_from(file.version.bytes).map_err(io::Error::other)?];
    file.contents.read_at(0, &mut plain)?;
    let made = match coding {
        // Files of it are served, and not made.
        Coding::Brotli => Vec::new(),
        Coding::Zstd => zstd::encode_all(plain.as_slice(), ZSTD_LEVEL)?,
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
            encoder.write_all(&plain)?;
            encoder.finish()?
        }
    };
    Ok(if made.len() < plain.len() { made } else { Vec::new() })
}
