//! The files that all `qlog` subcommands take, and what they all say of a trace.

use crate::failure::Failure;
use clap::ValueEnum;
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::missing;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files and how to take them.
#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// Logs, directories of logs, or `-` for the standard input; `NAME=FILE` gives a log a name
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take the logs as written by this side, whatever they say
    #[arg(long)]
    vantage: Option<Side>,
}

/// `--vantage`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Side {
    /// The side that asks
    Client,
    /// The side that answers
    Server,
}

impl From<Side> for Vantage {
    fn from(side: Side) -> Self {
        match side {
            Side::Client => Self::Client,
            Side::Server => Self::Server,
        }
    }
}

/// What a log's name ends with in a directory.
const LOG_ENDINGS: [&str; 8] =
    [".qlog", ".sqlog", ".qlognd", ".qlogseq", ".qlog.gz", ".sqlog.gz", ".qlog.zst", ".sqlog.zst"];

impl Files {
    /// All traces of all files.
    pub(crate) fn traces(&self, detail: Detail) -> Result<Vec<Trace>, Failure> {
        let mut traces = Vec::new();
        for argument in &self.files {
            let (name, path) = named(argument);
            for path in logs_of(&path)? {
                let of_file = read(&path, detail, self.vantage)?;
                let several = of_file.len() > 1;
                for (place, mut trace) in of_file.into_iter().enumerate() {
                    trace.timeline.name = name.clone().unwrap_or_else(|| short_name(&trace.file));
                    if several {
                        let name = &mut trace.timeline.name;
                        *name = format!("{name} #{}", place + 1);
                    }
                    traces.push(trace);
                }
            }
        }
        Ok(traces)
    }
}

/// The file without its folders.
pub(crate) fn short_name(file: &str) -> String {
    let name = Path::new(file).file_name();
    name.map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// `NAME=FILE`, unless there is a file of that whole name.
fn named(argument: &Path) -> (Option<String>, PathBuf) {
    let text = argument.to_string_lossy();
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !argument.exists() => {
            (Some(name.to_owned()), PathBuf::from(path))
        }
        _ => (None, argument.to_owned()),
    }
}

/// The traces of one file.
pub(crate) fn read(
    path: &Path,
    detail: Detail,
    vantage: Option<Side>,
) -> Result<Vec<Trace>, Failure> {
    let options = ReadOptions { detail, vantage: vantage.map(Vantage::from) };
    read_file_traces(path, options).map_err(Failure::bad_input)
}

/// The logs in a directory, by name; a file is itself.
pub(crate) fn logs_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| Failure::BadInput(format!("{}: {error}", path.display()));
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if LOG_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            logs.push(path);
        }
    }
    if logs.is_empty() {
        let endings = LOG_ENDINGS[..4].join(", ");
        return Err(Failure::BadInput(format!("{}: no logs ({endings}) in it", path.display())));
    }
    logs.sort();
    Ok(logs)
}

/// What `check` and `streams` both say of a trace.
pub(crate) fn described(trace: &Trace) -> Value {
    let repairs = trace
        .repairs
        .iter()
        .map(|it| json!({"what": it.what, "count": it.count, "first_record": it.first_record}));
    let counts = &trace.counts;
    json!({
        "file": trace.file,
        "title": trace.title,
        "stack": trace.stack.name,
        "stack_version": trace.stack.version,
        "format": trace.format,
        "container": trace.container.name(),
        "vantage": trace.vantage.name(),
        "connection": trace.connection,
        "start": trace.start,
        "records": counts.records,
        "events": counts.events,
        "unknown_events": counts.unknown_events,
        "bad_records": counts.bad_records,
        "repairs": repairs.collect::<Vec<_>>(),
        "packets_sent": counts.packets_sent,
        "packets_received": counts.packets_received,
        "packets_lost": counts.packets_lost,
        "stream_frames": counts.stream_frames,
        "unique_stream_bytes": trace.unique_stream_bytes(),
        "missing": missing(trace),
    })
}

/// Microseconds as milliseconds.
pub(crate) fn milliseconds(time_us: u64) -> f64 {
    time_us as f64 / 1000.0
}

/// A text from a log as a table can show it: no control characters, and not too long.
pub(crate) fn shown(text: &str, characters: usize) -> String {
    let clean = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    let mut shown: String = text.chars().take(characters).map(clean).collect();
    if text.chars().nth(characters).is_some() {
        shown.pop();
        shown.push('\u{2026}');
    }
    shown
}
