//! `utmost qlog streams`: the waterfall as a table.

use super::input::{Files, Logs, described};
use crate::output;
use ::serve::Failure;
use qlog_tools::causes::settle;
use qlog_tools::short_texts::shown;
use qlog_tools::stream_table::{StreamRow, stream_rows};
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::unusable;
use serde::Serialize;
use serde_json::{Value, json};

/// Show each stream: its content and times, and what was retransmitted or reordered
///
/// Retransmitted bytes were lost and arrived with a later packet; duplicate bytes had arrived before; reordered bytes were
/// overtaken in transit. For a client's log alone, the causes are inferred from packet numbers, and for a server's log
/// alone from acknowledgements. With both logs of the connection, the causes are exact.
///
/// Exit code 2: a log could not be read or has no STREAM frames; the output still shows the others.
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // The server's log explains why bytes arrived late or twice; so does its client's.
    let Logs { mut traces, mut refused, .. } = arguments.files.read(Detail::Arrivals)?;
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

/// One trace in the form of `--json`. Serializes rows directly, because there may be very many.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    described: Value,
    streams: Vec<StreamRow>,
    other_streams: Vec<StreamRow>,
    /// Streams in the direction of the requests that carry more than requests.
    uploads: Vec<StreamRow>,
}

#[derive(Serialize)]
struct Documents {
    #[serde(flatten)]
    head: Value,
    traces: Vec<Document>,
}

fn document(trace: &Trace) -> Document {
    let (streams, other_streams) = stream_rows(trace).into_iter().partition(StreamRow::is_of_page);
    let mut described = described(trace);
    described["causes_exact"] = trace.has_exact_causes.into();
    Document { described, streams, other_streams, uploads: uploads(trace) }
}

fn uploads(trace: &Trace) -> Vec<StreamRow> {
    let mut rows = trace.beside().map_or_else(Vec::new, |it| stream_rows(&it));
    let requests: Vec<StreamRow> = if rows.is_empty() { Vec::new() } else { stream_rows(trace) };
    for row in &mut rows {
        let request = requests.iter().find(|it| it.stream == row.stream);
        row.url = request.and_then(|it| it.url.clone());
    }
    rows
}

fn print(trace: &Trace) -> Result<(), Failure> {
    output::line(&format!(
        "{} ({}, {}): {}; times in ms on the log's clock",
        trace.label(),
        shown(&trace.header.stack.to_string(), 60),
        trace.vantage.name(),
        trace.stream_bytes_in_words()
    ))?;
    print_rows(stream_rows(trace))?;
    let uploads = uploads(trace);
    if uploads.is_empty() {
        return Ok(());
    }
    output::line("uploads, and other streams in the direction of the requests:")?;
    print_rows(uploads)
}

fn print_rows(rows: Vec<StreamRow>) -> Result<(), Failure> {
    let rows = rows.into_iter().map(|row| {
        let [requested, first, last, complete] =
            [row.requested_us, row.first_us, row.last_us, row.complete_us]
                .map(|us| output::number(us.map(|it| it as f64 / 1000.0), 1));
        vec![
            row.stream.to_string(),
            row.role.name().to_owned(),
            row.url.as_deref().map_or_else(|| "-".to_owned(), |url| shown(url, 60)),
            row.priority.as_deref().map_or_else(|| "-".to_owned(), |it| shown(it, 16)),
            requested,
            first,
            last,
            complete,
            row.bytes.to_string(),
            row.frames.to_string(),
            row.retransmitted_bytes.to_string(),
            row.duplicate_bytes.map_or_else(|| "-".to_owned(), |it| it.to_string()),
            row.reordered_bytes.to_string(),
        ]
    });
    let header = "id|role|url|priority|requested|first|last|complete|bytes|frames|retransmitted|duplicate|reordered";
    let header: Vec<&str> = header.split('|').collect();
    output::line(&output::table(&header, &[1, 2, 3], rows).to_string())
}
