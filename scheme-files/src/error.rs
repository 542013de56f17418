//! Why a file is not a valid scheme.

use schedulers::{Element, Group};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file is not a valid scheme. Each message names the file, the line, the cause and the
/// remedy.
#[derive(Debug, Error)]
pub enum SchemeFileError {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        cause: io::Error,
    },
    /// The contents are not a valid scheme.
    #[error("{file}: line {line}: {cause}")]
    Wrong {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// The mistake, and the remedy.
        cause: String,
    },
}

/// A cause with its place in the text, in bytes.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    /// The line, if it is known more precisely than the place: in a script.
    pub(crate) line: Option<usize>,
    pub(crate) cause: String,
}

impl Fault {
    pub(crate) fn new(at: usize, cause: impl Into<String>) -> Self {
        Self { at, line: None, cause: cause.into() }
    }

    pub(crate) fn at<T>(at: usize, cause: impl Into<String>) -> Result<T, Self> {
        Err(Self::new(at, cause))
    }

    pub(crate) fn of(self, file: &str, text: &str) -> SchemeFileError {
        let line = self.line.unwrap_or_else(|| line_of(text, self.at));
        SchemeFileError::Wrong { file: file.to_owned(), line, cause: self.cause }
    }
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|it| *it == b'\n').count()
}

/// `; near it: a, b`, or empty.
pub(crate) fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let near = schedulers::near_names(name, names);
    if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) }
}

/// The error for a name that is not one of these names.
pub(crate) fn not_one<'a>(
    name: &str,
    thing: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let (near, all) = (near(name, names.clone()), names.collect::<Vec<_>>().join(", "));
    format!("`{}` is not a {thing}{near}; use one of {all}", name.escape_default())
}

/// The number of the group of this name, or why there is none.
pub(crate) fn group_of<'a>(
    name: &str,
    groups: impl Iterator<Item = &'a Group> + Clone,
) -> Result<Element, String> {
    if name == "root" {
        return Ok(Element::Root);
    }
    let found = (0..).zip(groups.clone()).find(|(_, it)| it.name == name);
    found.map(|(id, _)| Element::Placeholder(id)).ok_or_else(|| {
        let near = near(name, groups.map(|it| it.name.as_str()));
        format!("no [[group]] is named `{}`{near}; add it", name.escape_default())
    })
}
