//! The output files of `utmost corpus`. A file is replaced only by one of the same kind, so that a slip
//! does not destroy a recording.

use ::serve::Failure;
use ::serve::values::writable;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Page,
    Graph,
    #[cfg(feature = "record")]
    Captures,
    #[cfg(feature = "record")]
    Picture,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Page => "a page",
            Self::Graph => "a graph",
            #[cfg(feature = "record")]
            Self::Captures => "the captures of a recording",
            #[cfg(feature = "record")]
            Self::Picture => "a PNG picture",
        }
    }

    fn is_of(self, begin: &[u8]) -> bool {
        let text = String::from_utf8_lossy(begin);
        let text = text.trim_start();
        match self {
            Self::Page => text.starts_with('{') && text.contains(corpus::check::FORMAT),
            Self::Graph => text.starts_with('{') && text.contains(push::GRAPH_FORMAT),
            #[cfg(feature = "record")]
            Self::Captures => {
                let format = recorder::recording::CAPTURES_FORMAT;
                // Old captures do not name the format first.
                text.starts_with(&format!("{{\"format\":\"{format}\""))
                    || text.starts_with("{\"from\":")
            }
            #[cfg(feature = "record")]
            Self::Picture => begin.starts_with(b"\x89PNG"),
        }
    }
}

/// Checks that a file can be written, before any work is done for it.
pub(super) fn check(file: &Path, kind: Kind) -> Result<(), Failure> {
    let name = kind.name();
    writable(file, "-o")?;
    if !file.is_file() {
        return Ok(());
    }
    let begin = beginning(file).map_err(|error| Failure::of_file(file, error))?;
    if begin.is_empty() || kind.is_of(&begin) {
        return Ok(());
    }
    let cause = format!("exists and is not {name}; remove it or name another file");
    Err(Failure::of_file(file, cause))
}

/// Writes a file, and prints a note if it replaced one.
pub(super) fn write(file: &Path, kind: Kind, bytes: &[u8]) -> Result<(), Failure> {
    check(file, kind)?;
    let replaces = file.is_file();
    replace(file, bytes).map_err(|error| {
        let said = format!("{}: {error}", file.display());
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::IsADirectory => {
                Failure::BadInput(said)
            }
            _ => Failure::Elsewhere(said),
        }
    })?;
    if replaces {
        eprintln!("{}: replaced", file.display());
    }
    Ok(())
}

/// Keeps the old file whole until the new one is written. Pipes and devices are written directly.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if file.exists() && !file.is_file() {
        return std::fs::write(file, bytes);
    }
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // The permissions of any new file, less the user's umask.
    let mut new = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.persist(file)?;
    Ok(())
}

fn beginning(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut begin = Vec::new();
    std::fs::File::open(file)?.take(4096).read_to_end(&mut begin)?;
    Ok(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_by_one_of_its_kind_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let page = corpus::bundled_text("davies-meenan").expect("bundled");
        write(&at("page.json"), Kind::Page, page.as_bytes()).expect("new");
        write(&at("page.json"), Kind::Page, page.as_bytes()).expect("a page before");
        std::fs::write(at("home.har"), "{\"log\": {}}").expect("written");
        let error = |name: &str, kind| check(&at(name), kind).expect_err("refused").to_string();
        assert!(
            error("home.har", Kind::Page)
                .ends_with("home.har: exists and is not a page; remove it or name another file")
        );
        assert!(error("page.json", Kind::Picture).contains("is not a PNG picture"));
        assert!(error("none/page.json", Kind::Page).contains("there is no folder"));
        assert!(error("", Kind::Page).ends_with("is a folder; -o takes a file"));
    }
}
