//! The files that guests load, and the expected bodies.

use ring::digest::{SHA256, digest};
use std::io;
use std::path::Path;

/// A file of a server.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path on the server.
    pub path: String,
    /// The SHA-256 of its contents. If unknown, the first body determines it.
    pub(crate) sha256: Option<Vec<u8>>,
}

impl File {
    /// A file with unknown contents.
    pub fn unknown(path: &str) -> Self {
        Self { path: path.to_owned(), sha256: None }
    }
}

/// Files of a soak at most.
const FILES: usize = 64;

/// The files in a folder that a server serves, without subfolders: at most 64, in the order of their names. The largest is
/// first, so that attackers request it.
pub fn files_of(folder: &Path) -> io::Result<Vec<File>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_plain(name));
        if let Some(name) = name.filter(|_| files.len() < FILES) {
            let contents = std::fs::read(path)?;
            let sha256 = Some(digest(&SHA256, &contents).as_ref().to_vec());
            files.push((contents.len(), File { path: format!("/{name}"), sha256 }));
        }
    }
    files.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// Excludes names that would have to be escaped in a URL.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
}
