//! Tables, JSON and notes.

use crate::limits::TABLE_ROWS_MAX;
pub use crate::progress::{progress, reading};
pub use crate::provenance::provenance;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
pub use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;
use serve::Failure;
pub use serve::printable;
use std::io::{BufWriter, Write};

/// Prints a JSON document of a format, with its provenance, and nothing else.
pub fn json_of_program(format: &str, mut document: Value) -> Result<(), Failure> {
    if let Value::Object(fields) = &mut document {
        fields.insert("provenance".to_owned(), provenance());
    }
    json_of(format, &document)
}

/// Prints a JSON object of format `utmost-NAME/VERSION` as in `schemas/NAME.json`, and nothing else.
pub fn json_of(format: &str, document: &impl Serialize) -> Result<(), Failure> {
    json(&Formatted { format, document })
}

/// A JSON object with its format.
#[derive(Serialize)]
struct Formatted<'a, T> {
    format: &'a str,
    #[serde(flatten)]
    document: &'a T,
}

/// Prints a JSON document that already has its format, and nothing else.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from);
    ended(written.and_then(|()| writeln!(stdout)).and_then(|()| stdout.flush()))
}

/// Tells a step of something long on stderr. Returns whether to go on: always.
pub fn step(step: &str) -> bool {
    eprintln!("{step}");
    true
}

/// Prints lines, as long as anyone reads them.
pub fn line(text: &str) -> Result<(), Failure> {
    ended(writeln!(std::io::stdout().lock(), "{}", printable(text)))
}

/// The minimum width of terminals.
const COLUMNS: usize = 80;

/// Prints a paragraph in lines of at most 80 columns, unless a word is longer.
pub fn paragraph(text: &str) -> Result<(), Failure> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    line(&lines.join("\n"))
}

/// Prints a one-line note on stderr, whatever names it contains.
pub fn note(text: &str) {
    eprintln!("{}", printable(text).replace('\n', "\u{fffd}"));
}

/// A reader that wants no more does not change the answer, which is also in the exit code.
fn ended(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::elsewhere),
    }
}

/// Prints a table without lines. Columns from the second on are numbers, unless `text_columns` names them. Beyond 10,000
/// rows, it prints only their number.
pub fn table(
    header: &[&str],
    text_columns: &[usize],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.to_vec());
    let mut rows = rows.into_iter();
    table.add_rows(rows.by_ref().take(TABLE_ROWS_MAX));
    let more = rows.count();
    if more > 0 {
        table.add_row([format!("({more} more: --json has all)")]);
    }
    for index in (1..header.len()).filter(|index| !text_columns.contains(index)) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A rounded number, or a dash.
pub fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |it| format!("{it:.decimals$}"))
}

/// A share as a percentage, without the sign.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}", 100.0 * share)
}
