//! Prints tables, JSON and progress.

use crate::limits::TABLE_ROWS_MAX;
use ::serve::Failure;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::provenance::of_program;
use lab::study::folder::{PNG_SCALE, write_figures};
use qlog_tools::figures::png::{PngError, Rasterizer};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What the build script knows: versions, and the Git commit, with `-dirty` appended if the program is built from something else.
const BUILD: [(&str, &str); 5] = [
    ("utmost", env!("CARGO_PKG_VERSION")),
    ("git_commit", env!("UTMOST_COMMIT")),
    ("rustc", env!("UTMOST_RUSTC")),
    ("quiche", env!("UTMOST_QUICHE")),
    ("boring", env!("UTMOST_BORING")),
];

pub(crate) fn provenance() -> Value {
    of_program(&BUILD, jiff::Timestamp::now())
}

/// Prints one JSON document of a format that says where it comes from, and nothing else.
pub(crate) fn json_of_program(format: &str, mut document: Value) -> Result<(), Failure> {
    if let Value::Object(fields) = &mut document {
        fields.insert("provenance".to_owned(), provenance());
    }
    json_of(format, &document)
}

/// Prints one JSON object of a format, `utmost-NAME/VERSION` as `schemas/NAME.json` has it, and nothing else.
pub(crate) fn json_of(format: &str, document: &impl Serialize) -> Result<(), Failure> {
    json(&Formatted { format, document })
}

/// A JSON object with its format.
#[derive(Serialize)]
struct Formatted<'a, T> {
    format: &'a str,
    #[serde(flatten)]
    document: &'a T,
}

/// Prints one JSON document, which has its format already, and nothing else.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from);
    ended(written.and_then(|()| writeln!(stdout)).and_then(|()| stdout.flush()))
}

/// Prints lines. A closed pipe ends the program quietly.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    ended(writeln!(std::io::stdout().lock(), "{}", printable(text)))
}

/// Prints a note on stderr: one line, whatever names are in it.
pub(crate) fn note(text: &str) {
    eprintln!("{}", printable(text).replace('\n', "\u{fffd}"));
}

/// The text without what a terminal would obey instead of showing it; line ends stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_obeyed = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    if text.contains(is_obeyed) { text.replace(is_obeyed, "\u{fffd}").into() } else { text.into() }
}

fn ended(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(Failure::elsewhere),
    }
}

/// A table without lines. Columns from the second on are numbers unless `text_columns` names them. Beyond 10,000 rows it
/// only counts.
pub(crate) fn table(
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
    for index in (1..header.len()).filter(|it| !text_columns.contains(it)) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A bar on stderr for `length` steps, on a terminal only.
pub(crate) fn progress(length: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar
}

/// The bytes that were read so far, on stderr.
pub(crate) fn reading() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("reading logs: {bytes} {spinner}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}

/// Writes a figure as SVG or as PNG, as the file's ending says.
pub(crate) fn figure_file(file: &Path, svg: &str) -> Result<(), Failure> {
    let ending = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let bytes = match &*ending {
        "svg" => svg.as_bytes().to_vec(),
        "png" => {
            let rasterizer = Rasterizer::new().map_err(Failure::elsewhere)?;
            rasterizer.png(svg, PNG_SCALE).map_err(Failure::elsewhere)?
        }
        _ => return Err(Failure::of_file(file, "--out takes a file that ends with .svg or .png")),
    };
    std::fs::write(file, bytes).map_err(|error| Failure::of_file(file, error))
}

/// Writes figures into a folder, each as `NAME.svg` and `NAME.png`. Without a font on the machine there are no PNG files,
/// and a line says so.
pub(crate) fn figures(
    folder: &Path,
    named: impl IntoIterator<Item = (String, String)>,
) -> Result<(), Failure> {
    without_png(write_figures(folder, named).map_err(Failure::elsewhere)?.as_ref());
    Ok(())
}

/// Says why there are no PNG files, if there are none.
pub(crate) fn without_png(missing: Option<&PngError>) {
    if let Some(error) = missing {
        eprintln!("utmost: no PNG files: {error}");
    }
}

/// At most 60 characters of a text.
pub(crate) fn short(text: &str) -> String {
    const CHARACTERS: usize = 60;
    if text.chars().count() <= CHARACTERS {
        return text.to_owned();
    }
    text.chars().take(CHARACTERS - 3).chain("...".chars()).collect()
}

/// A rounded number, or a dash.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |it| format!("{it:.decimals$}"))
}
