//! Why the program fails, and its exit code.

use ::client::ConnectError;
use ::client::event_loop::PlayError;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// A failure. Its message is one line that names file, place and cause.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A check failed: exit code 1.
    #[error("{0}")]
    No(String),
    /// Bad usage or bad input: exit code 2.
    #[error("{0}")]
    BadInput(String),
    /// The other side or the environment failed: exit code 3.
    #[error("{0}")]
    Elsewhere(String),
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Connect(ConnectError::Authorities(_)) => Self::bad_input(error),
            _ => Self::elsewhere(error),
        }
    }
}

impl Failure {
    /// Bad usage or bad input, for this cause.
    pub fn bad_input(error: impl Display) -> Self {
        Self::BadInput(error.to_string())
    }

    /// Bad input in a file, or a file that cannot be used.
    pub fn of_file(path: &Path, cause: impl Display) -> Self {
        Self::BadInput(format!("{}: {cause}", path.display()))
    }

    /// A failure of the other side or the environment, for this cause.
    pub fn elsewhere(error: impl Display) -> Self {
        Self::Elsewhere(error.to_string())
    }

    /// The exit code of the program.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::No(_) => 1,
            Self::BadInput(_) => 2,
            Self::Elsewhere(_) => 3,
        })
    }
}
