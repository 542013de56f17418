//! Files and folders that cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct FileError {
    path: PathBuf,
    source: io::Error,
}

impl FileError {
    /// An error at this place.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), source }
    }

    /// Whether the contents of the file are wrong.
    pub fn is_bad_content(&self) -> bool {
        self.source.kind() == io::ErrorKind::InvalidData
    }
}

/// Writes a file.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
    std::fs::write(path, bytes).map_err(FileError::at(path))
}
