//! Where a command may write. A command asks before its work, because that can take minutes.

use crate::failure::Failure;
use nix::unistd::{AccessFlags, access};
use std::io::ErrorKind;
use std::path::Path;

/// Rejects a file that cannot be written; errors name the `flag` that asked for it. Writes nothing.
pub fn writable(file: &Path, flag: &str) -> Result<(), Failure> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = if file.exists() { file } else { folder };
    let cause = if file.is_dir() {
        format!("is a folder; {flag} takes a file")
    } else if !folder.is_dir() {
        let folder = folder.display();
        format!("there is no folder {folder}; create it, or name another file with {flag}")
    } else if is_writable(written) {
        return Ok(());
    } else {
        format!("you may not write {}; name another file with {flag}", written.display())
    };
    Err(Failure::of_file(file, cause))
}

/// Creates an output directory; errors name the `flag` that asked for it.
pub fn directory(path: &Path, flag: &str) -> Result<(), Failure> {
    let cause = match std::fs::create_dir_all(path).map_err(|error| error.kind()) {
        Ok(()) if is_writable(path) => return Ok(()),
        Err(ErrorKind::AlreadyExists | ErrorKind::NotADirectory) => "a file is in its place",
        Ok(()) | Err(ErrorKind::PermissionDenied) => "you may not write there",
        Err(_) => "it cannot be created there",
    };
    Err(Failure::of_file(path, format!("{cause}; {flag} takes a directory that you may write")))
}

fn is_writable(path: &Path) -> bool {
    access(path, AccessFlags::W_OK).is_ok()
}
