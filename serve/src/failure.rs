//! Why the program fails, and its exit code.

use ::client::ConnectError;
use ::client::event_loop::PlayError;
use std::borrow::Cow;
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
    /// The peer or the environment failed: exit code 3.
    #[error("{0}")]
    Elsewhere(String),
    /// A program that this one ran has failed: its exit code.
    #[error("{program} ended with exit code {code}")]
    Ended {
        /// The program that was run.
        program: String,
        /// Its exit code, or 128 plus the number of the signal that ended it.
        code: i32,
    },
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

    /// A mistake in the file that a flag names.
    pub(crate) fn in_flag<E: Display>(flag: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::BadInput(format!("{flag}: {error}"))
    }

    /// Bad input in a file, or an unusable file. Replaces line ends and control characters in its name.
    pub fn of_file(path: &Path, cause: impl Display) -> Self {
        let name = path.display().to_string();
        let name = printable(&name).replace(['\n', '\t'], "\u{fffd}");
        Self::BadInput(format!("{name}: {cause}"))
    }

    /// A failure of the peer or the environment, for this cause.
    pub fn elsewhere(error: impl Display) -> Self {
        Self::Elsewhere(error.to_string())
    }

    /// The exit code of the program.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::No(_) => 1,
            Self::BadInput(_) => 2,
            Self::Elsewhere(_) => 3,
            Self::Ended { code, .. } => u8::try_from(*code).unwrap_or(u8::MAX),
        })
    }
}

/// A mistake in a program's input.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The line of the configuration, from 1; `None`: it is not in the configuration.
    pub(crate) line: Option<usize>,
    pub(crate) failure: Failure,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self { line: None, failure }
    }
}

/// The mistakes in a program's input. The first becomes the failure; a check prints all.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: impl Into<Fault>) {
        self.0.push(fault.into());
    }

    /// Returns the value, or records the mistake.
    pub(crate) fn kept<T>(&mut self, read: Result<T, impl Into<Fault>>) -> Option<T> {
        read.map_err(|it| self.add(it)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them: first the configuration's in the order of its lines, then the others as they were found.
    pub(crate) fn in_order(mut self) -> Vec<Failure> {
        self.0.sort_by_key(|it| it.line.unwrap_or(usize::MAX));
        self.0.into_iter().map(|it| it.failure).collect()
    }

    /// The result, unless there is a mistake.
    pub(crate) fn or<T>(self, made: Option<T>) -> Result<T, Failure> {
        match (self.in_order().into_iter().next(), made) {
            (None, Some(made)) => Ok(made),
            (Some(failure), _) => Err(failure),
            (None, None) => Err(Failure::bad_input("nothing to serve")),
        }
    }
}

/// Removes control characters that a terminal would obey; keeps line ends and tabs.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) { text.replace(is_obeyed, "\u{fffd}").into() } else { text.into() }
}

fn is_obeyed(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_breaks_the_line_or_reaches_the_terminal_as_a_command() {
        let failure = Failure::of_file(Path::new("a\u{1b}[2Jb\nc"), "is a folder");
        assert_eq!(failure.to_string(), "a\u{fffd}[2Jb\u{fffd}c: is a folder");
    }
}
