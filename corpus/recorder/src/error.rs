//! Why there is no recording.

use thiserror::Error;

/// Why there is no recording. One line each: what, why, remedy.
#[derive(Debug, Error)]
pub enum RecordError {
    /// What to record is not there or cannot be recorded.
    #[error("{0}")]
    Source(String),
    /// The page does what a recording cannot hold.
    #[error("page: {0}")]
    Page(String),
    /// The browser is missing or failed.
    #[error("browser: {0}")]
    Browser(String),
    /// The recording's own server failed.
    #[error("server: {0}")]
    Server(String),
    /// The trace does not predict its own recordings well enough.
    #[error(
        "discovery times are off by {p50_ms:.0} ms (median) and {p90_ms:.0} ms (90th percentile) when one \
         recording is played back from the others; at most {p50_max_ms:.0} and {p90_max_ms:.0} are allowed: \
         record again on a quieter machine, or keep it all the same with --force"
    )]
    Unpredictable {
        /// Median error.
        p50_ms: f64,
        /// 90th percentile.
        p90_ms: f64,
        /// Largest median that is allowed.
        p50_max_ms: f64,
        /// Largest 90th percentile that is allowed.
        p90_max_ms: f64,
    },
}

impl RecordError {
    /// Whether another input would help; otherwise the environment failed.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Self::Source(_) | Self::Page(_))
    }
}
