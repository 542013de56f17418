//! Why a recording failed.

use crate::limits::ERROR_MAX;
use corpus::page::Spread;
use std::fmt::Display;
use std::path::Path;
use thiserror::Error;

/// Why a recording failed. One line each: place, cause, remedy.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The page to record does not exist or cannot be recorded.
    #[error("{0}")]
    Source(String),
    /// The page does something that a recording cannot represent.
    #[error("page: {0}")]
    Page(String),
    /// The browser is missing or failed.
    #[error("browser: {0}")]
    Browser(String),
    /// The caller stopped the recording.
    #[error("the recording was stopped")]
    Stopped,
    /// The recording's own server failed.
    #[error("server: {0}")]
    Server(String),
    /// The page does not predict its own recordings well enough.
    #[error(
        "discovery times are off by {:.0} ms (median) and {:.0} ms (90th percentile) when one \
         recording is played back from the others; at most {:.0} and {:.0} are allowed: \
         record again on a quieter machine, or keep it anyway with --force",
        .0.p50, .0.p90, ERROR_MAX.p50, ERROR_MAX.p90
    )]
    Unpredictable(Spread),
}

impl RecordError {
    /// A file or folder that cannot be read or written.
    pub(crate) fn at(path: &Path, error: impl Display) -> Self {
        Self::Source(format!("{}: {error}", path.display()))
    }

    /// A page load that did not end before the deadline.
    pub(crate) fn never_silent(what: &str) -> Self {
        Self::Page(format!(
            "{what} has not loaded and fallen silent within 60 s; a page that never stops requesting more cannot be recorded"
        ))
    }

    /// Whether another input would help; otherwise the environment failed.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Self::Source(_) | Self::Page(_))
    }
}

/// The error for something that cannot be recorded, with its cause.
pub(crate) fn refused(what: &str, cause: &str) -> RecordError {
    RecordError::Source(format!("{what}: {cause}"))
}
