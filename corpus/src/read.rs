//! Reading pages: from text, from a file.

use crate::check::{Problem, check};
use crate::limits::FILE_BYTES_MAX;
use crate::page::Page;
use captures::json_cause;
use std::io::Read;
use std::path::Path;
use thiserror::Error;

/// Why a page could not be read. One line each: file, place, cause, remedy.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PageError {
    #[error("{0}: {1}")]
    Read(String, std::io::Error),
    #[error("{0}: is larger than {FILE_BYTES_MAX} bytes, the most that a page may take")]
    TooLarge(String),
    #[error("{file}:{line}:{column}: {cause}")]
    Json { file: String, line: usize, column: usize, cause: String },
    #[error("{file}: {}{}", .problems[0], more(.problems))]
    Wrong { file: String, problems: Vec<Problem> },
    #[error("no bundled page is named {name:?}{}; {}", near(.name, .names), remedy(.name))]
    Unknown { name: String, names: Vec<&'static str> },
    #[error(
        "{0}: has no page, which is a file that ends in .json; `utmost corpus import` makes pages of recordings"
    )]
    NoPages(String),
    #[error("@{name}: no set of bundled pages has this name; use one of {known}")]
    UnknownSet { name: String, known: String },
}

fn more(problems: &[Problem]) -> String {
    match problems.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more; `utmost corpus check` lists them)", count - 1),
    }
}

fn remedy(name: &str) -> String {
    if Path::new(name).exists() {
        return format!("the file of this name is ./{name}");
    }
    "`utmost corpus list` names all; a path needs a slash or ends in .json".to_owned()
}

/// At most three names that begin like `name`, as a hint.
fn near(name: &str, names: &[&str]) -> String {
    let longest = names.iter().map(|it| common_bytes(name, it)).max().unwrap_or(0);
    let alike = names.iter().copied().filter(|it| common_bytes(name, it) == longest);
    let near: Vec<&str> = alike.filter(|_| longest >= 3).take(3).collect();
    if near.is_empty() { String::new() } else { format!(", but {}", near.join(", ")) }
}

fn common_bytes(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// Escapes names of unknown keys for messages: a line break would split a message, and control
/// characters would reach a terminal.
fn in_one_line(cause: &str) -> String {
    cause
        .chars()
        .map(|it| if it.is_control() { it.escape_default().to_string() } else { it.to_string() })
        .collect()
}

impl Page {
    /// Parses and checks a page. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, PageError> {
        let page: Self = serde_json::from_str(text).map_err(|error| {
            let (file, line, column) = (file.to_owned(), error.line(), error.column());
            let (cause, place) = (error.to_string(), format!(" at line {line} column {column}"));
            let cause = in_one_line(&json_cause(cause.strip_suffix(&place).unwrap_or(&cause)));
            PageError::Json { file, line, column, cause }
        })?;
        let problems = check(&page);
        if problems.is_empty() {
            Ok(page)
        } else {
            Err(PageError::Wrong { file: file.to_owned(), problems })
        }
    }

    /// Reads and checks the page in a file.
    pub fn load(path: &Path) -> Result<Self, PageError> {
        Self::parse(&text_of(path)?, &path.display().to_string())
    }

    /// The page as the text of a file, with one line for each resource.
    pub fn to_text(&self) -> String {
        let shell = Self { resources: Vec::new(), ..self.clone() };
        let mut text = serde_json::to_string_pretty(&shell).unwrap_or_default();
        let rows = self.resources.iter().map(|it| serde_json::to_string(it).unwrap_or_default());
        let rows: Vec<String> = rows.map(|it| format!("    {it}")).collect();
        if let Some(end) = text.rfind("[]") {
            text.replace_range(end..end + 2, &format!("[\n{}\n  ]", rows.join(",\n")));
        }
        text.push('\n');
        text
    }
}

/// The text of a file of at most [`FILE_BYTES_MAX`] bytes.
pub fn text_of(path: &Path) -> Result<String, PageError> {
    let file = path.display().to_string();
    let mut text = String::new();
    named_files::open(path)
        .and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text))
        .map_err(|cause| PageError::Read(file.clone(), cause))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(PageError::TooLarge(file));
    }
    Ok(text)
}
