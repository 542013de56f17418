//! The user's own schemes, read from files at run time, without a compiler.
//!
//! A file (TOML) names a scheme and places responses: by rules ([`schedulers::Declared`]), or by a script in a small language
//! (Rhai) that is called when a response opens, is sent and closes. The result is a [`Scheme`] like the built-in ones.
//! `docs/own-schemes.md` describes the format.
//!
//! A script has no access to files, clocks, random numbers or other connections, and its computation and memory are limited
//! (`limits.rs`), so a scheduler stays a pure function of its calls. A script that fails is not called again on that
//! connection: later responses go last, in the order of their requests.

mod condition;
mod error;
mod file;
mod limits;
mod script;
mod scripted;
mod signals;
mod values;

pub use error::SchemeFileError;
use limits::FILE_BYTES_MAX;
use schedulers::Scheme;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Receives warnings while a scheme runs.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// Reports to the standard error stream.
pub fn to_stderr() -> Report {
    Arc::new(|line| eprintln!("warning: {line}"))
}

/// Names with another meaning in lists of schemes.
pub const RESERVED: [&str; 4] = ["all", "paper", "oracle", "anti-oracle"];

/// A scheme that a file describes.
#[derive(Debug, Clone)]
pub struct SchemeFile {
    /// The scheme.
    pub scheme: Scheme,
    /// The built-in scheme that it claims to reproduce.
    pub twin: Option<String>,
    /// Whether a script places its responses.
    pub has_script: bool,
}

/// Reads a scheme from a file. Calls `report` once for a script that fails at run time.
pub fn read(path: &Path, report: Report) -> Result<SchemeFile, SchemeFileError> {
    let text = named_files::read_text(path)
        .map_err(|cause| SchemeFileError::Unreadable { path: path.to_owned(), cause })?;
    parse(&text, &path.display().to_string(), report)
}

/// Parses a scheme; `file` is its name in messages.
pub fn parse(text: &str, file: &str, report: Report) -> Result<SchemeFile, SchemeFileError> {
    if text.len() > FILE_BYTES_MAX {
        let cause = format!("the file is longer than {FILE_BYTES_MAX} bytes; a scheme is shorter");
        return Err(SchemeFileError::Wrong { file: file.to_owned(), line: 1, cause });
    }
    file::parse(text, file, report).map_err(|fault| fault.of(file, text))
}

/// Reads schemes from files, each with a different name.
pub fn read_all(paths: &[PathBuf], report: &Report) -> Result<Vec<SchemeFile>, SchemeFileError> {
    let mut all: Vec<SchemeFile> = Vec::new();
    for path in paths {
        let one = read(path, Arc::clone(report))?;
        if let Some(other) = all.iter().position(|other| other.scheme.name == one.scheme.name) {
            let (name, other) = (one.scheme.name, paths[other].display());
            let cause = format!("scheme `{name}` is also in {other}; name one of them differently");
            let file = path.display().to_string();
            return Err(SchemeFileError::Wrong { file, line: 1, cause });
        }
        all.push(one);
    }
    Ok(all)
}
