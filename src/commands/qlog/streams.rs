//! `utmost qlog streams`: the waterfall as a table.

use super::input::{Files, Logs, described, milliseconds};
use crate::output;
use ::serve::Failure;
use qlog_tools::causes::settle;
use qlog_tools::naming::shown;
use qlog_tools::trace::{Detail, StreamRole, Trace};
use qlog_tools::views::unusable;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Show each stream: what it carried and when, and what was retransmitted or reordered
///
/// Retransmitted bytes were lost and came when they were sent again; duplicate bytes had come already; reordered bytes were
/// overtaken on their way. A client's log alone is judged by packet numbers; with the server's log of the connection the
/// causes are exact.
///
/// Exit code 2: a log could not be read or has no STREAM frames; the others are shown all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog streams client.sqlog\n  \
utmost qlog streams client.sqlog server.sqlog\n  \
utmost qlog streams logs/ --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One stream's row.
#[derive(Default, Serialize)]
struct Row {
    #[serde(rename = "id")]
    stream: u64,
    role: StreamRole,
    url: Option<String>,
    priority: Option<String>,
    status: Option<u16>,
    requested_ms: Option<f64>,
    first_ms: Option<f64>,
    last_ms: Option<f64>,
    complete_ms: Option<f64>,
    bytes: u64,
    body_bytes: Option<u64>,
    frames: u64,
    retransmitted_bytes: u64,
    duplicate_bytes: Option<u64>,
    reordered_bytes: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // The server's log of a pair says why bytes came late or twice.
    let detail = if arguments.files.is_one() { Detail::Summary } else { Detail::Arrivals };
    let Logs { mut traces, mut refused, .. } = arguments.files.read(detail)?;
    settle(&mut traces);
    refused.add_files(traces.iter().map(|trace| (trace, unusable(trace))));
    if arguments.json {
        let head = refused.note_in(json!({"provenance": output::provenance()}));
        let documents = Documents { head, traces: traces.iter().map(document).collect() };
        output::json_of("utmost-qlog-streams/1", &documents)?;
    } else {
        for trace in traces.iter().filter(|trace| unusable(trace).is_none()) {
            print(trace)?;
        }
    }
    refused.end()
}

/// One trace as `--json` prints it. The rows are not made JSON values first: there may be very many.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    described: Value,
    streams: Vec<Row>,
    other_streams: Vec<Row>,
}

/// All of it.
#[derive(Serialize)]
struct Documents {
    #[serde(flatten)]
    head: Value,
    traces: Vec<Document>,
}

fn document(trace: &Trace) -> Document {
    let (streams, other_streams) = rows(trace).into_iter().partition(is_of_page);
    let mut described = described(trace);
    described["causes_exact"] = trace.has_exact_causes.into();
    Document { described, streams, other_streams }
}

/// Whether it carries a response, rather than HTTP/3's own needs.
fn is_of_page(row: &Row) -> bool {
    matches!(row.role, StreamRole::Request | StreamRole::Push)
}

fn print(trace: &Trace) -> Result<(), Failure> {
    output::line(&format!(
        "{} ({}, {}): {} distinct stream bytes; times in ms on the log's clock",
        trace.label(),
        shown(&trace.stack.to_string(), 60),
        trace.vantage.name(),
        trace.unique_stream_bytes()
    ))?;
    let rows = rows(trace).into_iter().map(|row| {
        let ms = |value| output::number(value, 1);
        vec![
            row.stream.to_string(),
            row.role.name().to_owned(),
            row.url.as_deref().map_or_else(|| "-".to_owned(), |url| shown(url, 60)),
            row.priority.as_deref().map_or_else(|| "-".to_owned(), |it| shown(it, 16)),
            ms(row.requested_ms),
            ms(row.first_ms),
            ms(row.last_ms),
            ms(row.complete_ms),
            row.bytes.to_string(),
            row.frames.to_string(),
            row.retransmitted_bytes.to_string(),
            row.duplicate_bytes.map_or_else(|| "-".to_owned(), |it| it.to_string()),
            row.reordered_bytes.to_string(),
        ]
    });
    let header = [
        "id",
        "role",
        "url",
        "priority",
        "requested",
        "first",
        "last",
        "complete",
        "bytes",
        "frames",
        "retransmitted",
        "duplicate",
        "reordered",
    ];
    output::line(&output::table(&header, &[1, 2, 3], rows).to_string())
}

/// Streams with frames, and requests without any.
fn rows(trace: &Trace) -> Vec<Row> {
    let mut rows: BTreeMap<u64, Row> = BTreeMap::new();
    for stream in &trace.streams {
        let row = Row {
            role: stream.role,
            first_ms: Some(milliseconds(stream.first_us)),
            last_ms: Some(milliseconds(stream.last_us)),
            complete_ms: stream.complete_us.map(milliseconds),
            bytes: stream.bytes,
            frames: stream.frames,
            retransmitted_bytes: stream.retransmitted_bytes,
            duplicate_bytes: stream.duplicate_bytes,
            reordered_bytes: stream.reordered_bytes,
            stream: stream.stream,
            ..Row::default()
        };
        rows.insert(stream.stream, row);
    }
    for (transfer, details) in trace.timeline.transfers.iter().zip(&trace.details) {
        let row = rows.entry(transfer.stream).or_insert_with(|| Row {
            stream: transfer.stream,
            role: StreamRole::Request,
            ..Row::default()
        });
        row.requested_ms = Some(milliseconds(transfer.requested_us));
        row.body_bytes = transfer.body_bytes;
        row.status = details.status;
        row.url = (!transfer.is_nameless()).then(|| transfer.url.clone());
        row.priority.clone_from(&details.priority);
    }
    // The last thing said about a priority is what counts.
    for signal in &trace.signals {
        if let Some(row) = rows.get_mut(&signal.element) {
            row.priority = Some(signal.value.clone());
        }
    }
    rows.into_values().collect()
}
