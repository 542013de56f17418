//! The files that all `qlog` subcommands take, and trace facts that several subcommands print.

use super::capture;
use super::refused::Refused;
use crate::log_names::{Called, QLOG_ENDINGS, called};
use crate::output;
use crate::values::{Choices, choice, writable};
use ::serve::Failure;
use qlog_tools::naming::{self, short_name};
use qlog_tools::pairing::apart;
use qlog_tools::reader::{ReadError, ReadOptions, Unread, read_file_traces};
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::{missing, packets_lost};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files, and how to read them.
#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// Logs, directories of logs, or `-` for the standard input; `NAME=FILE` gives a log a name
    #[arg(required = true, value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// The side that wrote captures, and logs that do not say
    #[arg(long, value_parser = choice(SIDES))]
    pub(crate) vantage: Option<Vantage>,
    /// The secrets of packet captures, which tshark reads: the file named by `SSLKEYLOGFILE`
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

pub(super) const SIDES: Choices<Vantage> = &[
    ("client", "The side that sends requests", Vantage::Client),
    ("server", "The side that sends responses", Vantage::Server),
];

#[derive(Debug)]
pub(crate) struct Logs {
    /// All traces of all files that could be read; never empty.
    pub(crate) traces: Vec<Trace>,
    /// For each trace, the argument that named its file.
    pub(crate) arguments: Vec<usize>,
    pub(crate) refused: Refused,
    /// Why logs of one connection were not joined.
    pub(crate) apart: Vec<String>,
}

impl Files {
    pub(crate) fn read(&self, detail: Detail) -> Result<Logs, Failure> {
        let options = ReadOptions { detail, vantage: self.vantage };
        let bar = output::reading();
        let logs = read_each(self.named(), |path| {
            let traces = read(path, options, self.keys.as_deref())?;
            bar.inc(path.metadata().map_or(0, |it| it.len()));
            Ok(traces)
        });
        bar.finish_and_clear();
        let mut logs = logs?;
        let has_side = |side: &Vantage| logs.traces.iter().any(|it| it.vantage == *side);
        if let Some(side) = self.vantage.filter(|it| !has_side(it)) {
            output::note(&format!(
                "--vantage {}: for captures, and logs that do not say which side wrote them; these do (if a log is wrong, `utmost qlog convert --vantage` rewrites it)",
                side.name()
            ));
        }
        logs.apart = apart(&logs.traces);
        logs.apart.iter().for_each(|it| output::note(it));
        Ok(logs)
    }

    /// Rejects an output that is one of the logs, or cannot be written.
    pub(crate) fn spare(&self, out: Option<&Path>) -> Result<(), Failure> {
        let Some(out) = out else { return Ok(()) };
        self.named().try_for_each(|(_, path)| spare(&path, out))?;
        writable(out, "-o")
    }

    /// The arguments, each with the name that the user gave it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (Option<String>, PathBuf)> {
        self.paths.iter().map(|argument| named(argument))
    }
}

/// Reads all logs, including those in directories. Records the ones that cannot be read and continues; fails if none can
/// be read.
pub(crate) fn read_each(
    named: impl Iterator<Item = (Option<String>, PathBuf)>,
    read: impl Fn(&Path) -> Result<Vec<Trace>, Failure>,
) -> Result<Logs, Failure> {
    let mut found = Vec::new();
    for (argument, (name, path)) in named.enumerate() {
        found.extend(logs_named(argument, name, path));
    }
    let refused = Refused::of(found.len());
    let mut logs = Logs { traces: Vec::new(), arguments: Vec::new(), refused, apart: Vec::new() };
    for Found { argument, name, log } in found {
        let read = log.and_then(|path| read(&path).map_err(|failure| (path, failure)));
        match read {
            Ok(traces) => {
                logs.arguments.extend(traces.iter().map(|_| argument));
                logs.traces.extend(traces.into_iter().map(|it| naming::named(it, name.as_deref())));
            }
            Err((path, failure)) => {
                logs.refused.add(&path.display().to_string(), failure.to_string());
            }
        }
    }
    if logs.traces.is_empty() {
        return Err(logs.refused.into_failure());
    }
    naming::name_files_apart(&mut logs.traces);
    logs.refused.add_incomplete(&logs.traces);
    Ok(logs)
}

/// A log that an argument names, or why it cannot be found.
struct Found {
    argument: usize,
    /// As the user calls it.
    name: Option<String>,
    log: Result<PathBuf, (PathBuf, Failure)>,
}

fn logs_named(argument: usize, name: Option<String>, path: PathBuf) -> Vec<Found> {
    let logs = match logs_of(&path) {
        Ok(logs) => logs,
        Err(failure) => return vec![Found { argument, name, log: Err((path, failure)) }],
    };
    if let [log] = &logs[..] {
        return vec![Found { argument, name, log: Ok(log.clone()) }];
    }
    let mut found = Vec::new();
    for log in logs {
        // A directory's name applies to each of its logs.
        let file = short_name(&log.display().to_string());
        let name = name.as_ref().map(|name| format!("{name}/{file}"));
        found.push(Found { argument, name, log: Ok(log) });
    }
    found
}

/// Splits `NAME=FILE`, unless a file has that whole name.
fn named(argument: &Path) -> (Option<String>, PathBuf) {
    let text = argument.to_string_lossy();
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !argument.exists() => {
            (Some(name.to_owned()), PathBuf::from(path))
        }
        _ => (None, argument.to_owned()),
    }
}

/// The traces of one file; `keys` has the secrets of a packet capture.
pub(crate) fn read(
    path: &Path,
    options: ReadOptions,
    keys: Option<&Path>,
) -> Result<Vec<Trace>, Failure> {
    if capture::is_capture(path) {
        return capture::read(path, keys, options);
    }
    read_file_traces(path, options).map_err(refusal)
}

/// An error if `out` is this log, or one of the logs in this directory.
pub(crate) fn spare(log: &Path, out: &Path) -> Result<(), Failure> {
    let (Ok(log), Ok(written)) = (log.canonicalize(), out.canonicalize()) else { return Ok(()) };
    if log == written || (written.parent() == Some(&log) && called(&written) == Called::Qlog) {
        return Err(Failure::of_file(out, "-o names the log itself; name another file"));
    }
    Ok(())
}

/// Why a log cannot be read, with a remedy.
pub(crate) fn refusal(error: ReadError) -> Failure {
    match &error.why {
        Unread::Unreadable(cause) if cause.kind() == ErrorKind::NotFound => {
            no_such_file(&error.file)
        }
        _ => Failure::bad_input(error),
    }
}

pub(crate) fn no_such_file(file: &str) -> Failure {
    let remedy = "name a log, a directory of logs, or `-` for the standard input";
    Failure::of_file(Path::new(file), format!("no such file; {remedy}"))
}

/// The logs in a directory, by name; for a file, the file itself.
pub(crate) fn logs_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut logs = Vec::new();
    let mut others = 0_usize;
    for entry in std::fs::read_dir(path).map_err(|error| Failure::of_file(path, error))? {
        let path = entry.map_err(|error| Failure::of_file(path, error))?.path();
        match called(&path) == Called::Qlog {
            // Folders, pipes, sockets and devices are skipped; a broken link is kept, so that it gets reported.
            _ if path.metadata().is_ok_and(|it| !it.is_file()) => {}
            true => logs.push(path),
            false => others += 1,
        }
    }
    if logs.is_empty() {
        let endings = QLOG_ENDINGS.map(|it| format!(".{it}")).join(", ");
        let reason = format!(
            "no logs ({endings}, also .gz or .zst) in it; name the files themselves if they have other endings"
        );
        return Err(Failure::of_file(path, reason));
    }
    if others > 0 {
        let files = if others == 1 { "file" } else { "files" };
        let folder = path.display();
        output::note(&format!("{folder}: ignored {others} {files} without an ending of logs"));
    }
    logs.sort();
    Ok(logs)
}

/// The facts of a trace that `check` and `streams` both print.
pub(crate) fn described(trace: &Trace) -> Value {
    let counts = &trace.counts;
    json!({
        "file": trace.file,
        "trace": trace.number.unwrap_or(1),
        "title": trace.header.title,
        "stack": trace.header.stack.name,
        "stack_version": trace.header.stack.version,
        "format": trace.header.format,
        "container": trace.header.container.name(),
        "vantage": trace.vantage.name(),
        "connection": trace.connection,
        "start": trace.header.start,
        "records": counts.records,
        "events": counts.events,
        "unknown_events": counts.unknown_events,
        "bad_records": counts.bad_records,
        "repairs": trace.repairs,
        "packets_sent": counts.packets_sent,
        "packets_received": counts.packets_received,
        "packets_lost": packets_lost(trace),
        "stream_frames": counts.stream_frames,
        "unique_stream_bytes": trace.unique_stream_bytes(),
        "request_bytes": trace.request_bytes,
        "missing": missing(trace),
    })
}

/// The only document by itself, or several in a field of this name.
pub(crate) fn alone_or_in(field: &str, mut documents: Vec<Value>) -> Value {
    if documents.len() == 1 { documents.remove(0) } else { json!({field: documents}) }
}

pub(crate) fn milliseconds(time_us: u64) -> f64 {
    time_us as f64 / 1000.0
}
