//! The contents of files that responses send, and a budget for what they hold.

use crate::limits::FileLimits;
use boring::sha::sha256;
use bytes::Bytes;
#[cfg(target_os = "linux")]
use nix::{
    errno::Errno,
    fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2},
};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The contents of a file, shared by all responses that send it: its bytes, or one descriptor.
#[derive(Debug)]
pub struct Contents {
    place: Place,
    /// Returned when the last response is done.
    _share: Share,
}

#[derive(Debug)]
enum Place {
    Memory(Box<[u8]>),
    /// Read while it is sent, so that its size does not matter, and with the version that was found.
    Disk(File, Version),
}

impl Contents {
    /// Fills `buffer` from `offset` on; fails if the file was written to, because its bytes are of two versions then.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.place {
            Place::Disk(file, version) => {
                file.read_exact_at(buffer, offset)?;
                // Afterwards: the system notes the time of a write before it changes bytes.
                let is_it = Version::of(&file.metadata()?).is_unwritten_since(version);
                is_it.then_some(()).ok_or(ErrorKind::InvalidData.into())
            }
            Place::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let part = bytes.get(start..start.saturating_add(buffer.len()));
                buffer.copy_from_slice(part.ok_or(ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    /// All of them, if they are in memory.
    fn in_memory(&self) -> Option<&[u8]> {
        match &self.place {
            Place::Memory(bytes) => Some(bytes),
            Place::Disk(..) => None,
        }
    }

    /// All of them for others to share, if they are in memory.
    pub fn shared(contents: &Arc<Self>) -> Option<Bytes> {
        let in_use = InUse(Arc::clone(contents));
        contents.in_memory().map(|_| Bytes::from_owner(in_use))
    }

    /// Bytes of memory that they hold. `None`: they hold a descriptor.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.in_memory().map(|it| it.len() as u64)
    }
}

/// Contents that are being sent: they count in the budget that long.
struct InUse(Arc<Contents>);

impl AsRef<[u8]> for InUse {
    fn as_ref(&self) -> &[u8] {
        self.0.in_memory().unwrap_or_default()
    }
}

/// A version of a file: two are the same if the file was neither written to nor replaced, whatever time it was given since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    /// When anything about it was changed, including its times. Only the system sets it.
    status_changed: (i64, i64),
    /// The size.
    pub bytes: u64,
}

impl Version {
    /// The system's metadata of a file.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
            status_changed: (metadata.ctime(), metadata.ctime_nsec()),
            bytes: metadata.len(),
        }
    }

    /// The entity tag of these contents. Two files may have the same size and time, such as files of two releases that were packed
    /// reproducibly. So it depends on the bytes, or on what the system knows about a file that is too large to be read.
    pub fn etag(&self, contents: &Contents) -> String {
        let digest =
            contents.in_memory().map_or_else(|| sha256(format!("{self:?}").as_bytes()), sha256);
        let begin = digest.first_chunk().map_or(0, |it| u64::from_be_bytes(*it));
        format!("\"{begin:016x}-{:x}\"", self.bytes)
    }

    /// When the file was changed, to the second. It has existed at least since its status changed: a time in the future is not passed on
    /// (RFC 9110, 8.8.2.1).
    pub fn changed(&self) -> SystemTime {
        let seconds = self.changed.0.min(self.status_changed.0).max(0);
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs())
    }

    /// Whether the time distinguishes it from earlier versions: nobody has set it (RFC 9110, 8.8.2.2).
    pub fn is_told_by_time(&self) -> bool {
        self.changed.0 == self.status_changed.0
    }

    /// Whether the file was changed in a later second than another one. Programs that compress copy the time without its fraction.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.changed.0 > other.changed.0
    }

    /// Whether the file was not written to since. A new name or permission changes no bytes.
    fn is_unwritten_since(&self, before: &Self) -> bool {
        (self.changed, self.bytes) == (before.changed, before.bytes)
    }
}

/// Descriptors and memory that contents hold.
#[derive(Debug)]
pub struct Budget {
    limits: FileLimits,
    descriptors: AtomicU64,
    memory: AtomicU64,
}

/// A part of a budget, returned when it is dropped.
#[derive(Debug)]
struct Share {
    budget: Arc<Budget>,
    descriptors: u64,
    bytes: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.descriptors.fetch_sub(self.descriptors, Ordering::Relaxed);
        self.budget.memory.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Budget {
    /// An unused budget.
    pub fn new(limits: FileLimits) -> Self {
        Self { limits, descriptors: AtomicU64::new(0), memory: AtomicU64::new(0) }
    }

    /// Files that are open.
    pub fn open_files(&self) -> u64 {
        self.descriptors.load(Ordering::Relaxed)
    }

    /// Opens a regular file, by a path without symbolic links. It costs memory if it is small and memory is left, otherwise a
    /// descriptor.
    pub fn open(self: &Arc<Self>, path: &Path) -> io::Result<(Contents, Version)> {
        // Before it is opened: opening a pipe waits for its other end.
        let found = std::fs::metadata(path)?;
        if !found.is_file() {
            return Err(ErrorKind::NotFound.into());
        }
        if found.len() <= self.limits.small_bytes
            && let Some(share) = self.memory(found.len())
            && let Some(opened) = read_small(path, found.len(), share)?
        {
            return Ok(opened);
        }
        let share = self.descriptor().ok_or(ErrorKind::QuotaExceeded)?;
        let file = open_unlinked(path)?;
        let version = Version::of(&file.metadata()?);
        Ok((Contents { place: Place::Disk(file, version), _share: share }, version))
    }

    fn memory(self: &Arc<Self>, bytes: u64) -> Option<Share> {
        take(&self.memory, bytes, self.limits.memory_bytes).then(|| Share {
            budget: Arc::clone(self),
            descriptors: 0,
            bytes,
        })
    }

    fn descriptor(self: &Arc<Self>) -> Option<Share> {
        take(&self.descriptors, 1, self.limits.descriptors as u64).then(|| Share {
            budget: Arc::clone(self),
            descriptors: 1,
            bytes: 0,
        })
    }
}

/// Adds `more` to what is held, unless that is more than `most`.
fn take(held: &AtomicU64, more: u64, most: u64) -> bool {
    let within = |held: u64| held.checked_add(more).filter(|it| *it <= most);
    held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_ok()
}

/// Opens a file by a path without symbolic links. A link that was put there since the check is not followed: it could lead anywhere.
#[cfg(target_os = "linux")]
fn open_unlinked(path: &Path) -> io::Result<File> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    match openat2(AT_FDCWD, path, how) {
        Ok(file) => Ok(file.into()),
        // A system before 5.6, or a container that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM) => File::open(path),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_unlinked(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads a file of `bytes`. `None`: it is changing at this moment.
fn read_small(path: &Path, bytes: u64, share: Share) -> io::Result<Option<(Contents, Version)>> {
    let mut file = open_unlinked(path)?;
    let version = Version::of(&file.metadata()?);
    let mut read = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    file.by_ref().take(bytes + 1).read_to_end(&mut read)?;
    let is_whole = version.bytes == bytes && read.len() as u64 == bytes;
    if !is_whole || Version::of(&file.metadata()?) != version {
        return Ok(None);
    }
    Ok(Some((Contents { place: Place::Memory(read.into()), _share: share }, version)))
}
