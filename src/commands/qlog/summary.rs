//! `utmost qlog summary`: what happened on a connection, in some sentences.

use super::input::{Files, Logs, alone_or_in};
use super::refused::Refused;
use crate::csv_table::CsvTable;
use crate::output;
use ::serve::Failure;
use qlog_tools::lint::{Allowance, Rules, lint};
use qlog_tools::pairing::{Ends, pairs};
use qlog_tools::short_texts::shown;
use qlog_tools::summary::{Summary, moved};
use qlog_tools::trace::{Detail, Trace, Vantage};
use serde_json::{Value, json};

/// Say what happened on a connection, in some sentences: what held the sender back, losses, probe timeouts, round trips
///
/// The first sentence says what held the sender back longest. Each sentence names its moment, on the clock of the log that it
/// is about. The logs of both ends are joined by connection ID; from a client's log alone, the command says what that can tell.
/// With two logs that have names, or of two connections, what moved from the first to the second comes first. Exit code
/// 2: a log could not be read; the others are told all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog summary client.sqlog server.sqlog\n  \
utmost qlog summary before=before.sqlog after=after.sqlog\n  \
utmost qlog summary logs/ --csv > connections.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// Print JSON: the sentences, and each number in them
    #[arg(long)]
    json: bool,
    /// Print CSV: a row for each connection
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Logs { traces, mut refused, .. } = arguments.files.read(Detail::Full)?;
    refused.add_files(traces.iter().map(|trace| (trace, without_packets(trace))));
    let mut connections = pairs(&traces);
    connections.retain(|it| without_packets(it.log).is_none());
    if arguments.csv {
        print_csv(&connections)?;
        return refused.end();
    }
    let summaries: Vec<Summary> = connections.iter().map(summary).collect();
    let moved = match (&connections[..], &summaries[..]) {
        ([first, other], [before, after]) => moved([first.log, other.log], [before, after]),
        _ => Vec::new(),
    };
    if arguments.json {
        print_json(&connections, &summaries, &moved, &refused)?;
    } else {
        moved.iter().try_for_each(|it| output::line(it))?;
        for (place, (ends, summary)) in connections.iter().zip(&summaries).enumerate() {
            if place > 0 || !moved.is_empty() {
                output::line("")?;
            }
            output::line(&heading(ends))?;
            summary.sentences.iter().try_for_each(|it| output::line(&format!("- {}", it.text)))?;
        }
    }
    refused.end()
}

fn without_packets(trace: &Trace) -> Option<String> {
    let counts = &trace.counts;
    let is_empty = counts.packets_sent + counts.packets_received + counts.stream_frames == 0;
    is_empty.then(|| format!("{}: no packets logged: there is nothing to tell", trace.label()))
}

/// With the verdict of lint on the server's log.
fn summary(ends: &Ends<'_>) -> Summary {
    let sender = ends.server.unwrap_or(ends.log);
    let client = ends.server.map(|_| ends.log);
    let is_server = sender.vantage == Vantage::Server;
    let verdict = is_server.then(|| lint(sender, client, &Rules::Named, Allowance::default()));
    Summary::of(ends, verdict.as_ref())
}

fn heading(ends: &Ends<'_>) -> String {
    let server = ends.server.map_or_else(String::new, |it| format!(" with {}", it.label()));
    let stack = ends.server.unwrap_or(ends.log).header.stack.to_string();
    format!("{}{server} ({}, {}):", ends.log.label(), shown(&stack, 60), side(ends))
}

/// Whose logs a connection has.
fn side(ends: &Ends<'_>) -> &'static str {
    if ends.server.is_some() { "both ends" } else { ends.log.vantage.name() }
}

fn print_json(
    connections: &[Ends<'_>],
    summaries: &[Summary],
    moved: &[String],
    refused: &Refused,
) -> Result<(), Failure> {
    let told = connections.iter().zip(summaries);
    let mut document = alone_or_in("connections", told.map(|it| document(it.0, it.1)).collect());
    if !moved.is_empty() {
        document["moved"] = json!(moved);
    }
    refused.print_json("utmost-qlog-summary/1", document)
}

fn document(ends: &Ends<'_>, summary: &Summary) -> Value {
    let mut document = json!(summary);
    document["file"] = ends.log.file.clone().into();
    document["trace"] = ends.log.number.unwrap_or(1).into();
    document["server_file"] = ends.server.map(|it| it.file.clone()).into();
    document["connection"] = ends.log.connection.clone().into();
    document["side"] = side(ends).into();
    document
}

/// The columns of `--csv`.
const COLUMNS: [&str; 22] = [
    "log",
    "server_log",
    "stack",
    "side",
    "connection",
    "duration_ms",
    "response_bytes",
    "goodput_bits_per_s",
    "path_bits_per_s",
    "packets_sent",
    "packets_lost",
    "spurious_losses",
    "never_came_share",
    "least_rtt_ms",
    "p95_rtt_ms",
    "cause",
    "restraint",
    "restraint_share",
    "probe_timeouts",
    "probe_timeouts_basis",
    "longest_wait_ms",
    "p95_ack_delay_ms",
];

fn print_csv(connections: &[Ends<'_>]) -> Result<(), Failure> {
    let mut table = CsvTable::begin(None, COLUMNS)?;
    let written = connections.iter().try_for_each(|ends| {
        let summary = Summary::of(ends, None);
        table.write(row(ends, &summary))
    });
    table.end(written)
}

fn row(ends: &Ends<'_>, summary: &Summary) -> [String; COLUMNS.len()] {
    let (held, flow) = (summary.held.as_ref(), summary.flow);
    let (recovery, round_trips) = (&summary.recovery, summary.round_trips);
    let whole = |value: Option<u64>| value.map_or_else(String::new, |it| it.to_string());
    let number = |value: Option<f64>| value.map_or_else(String::new, |it| format!("{it:.3}"));
    let sender = ends.server.unwrap_or(ends.log);
    [
        ends.log.label(),
        ends.server.map_or_else(String::new, Trace::label),
        sender.header.stack.to_string(),
        side(ends).to_owned(),
        ends.log.connection.clone().unwrap_or_default(),
        number(Some(summary.duration_ms)),
        summary.response_bytes.to_string(),
        number(flow.map(|it| it.goodput)),
        number(flow.and_then(|it| it.path)),
        summary.packets_sent.to_string(),
        whole(recovery.lost),
        whole(recovery.spurious),
        number(recovery.never_came_share),
        number(round_trips.map(|it| it.least_ms)),
        number(round_trips.map(|it| it.p95_ms)),
        held.map_or_else(String::new, |it| it.cause.name().to_owned()),
        held.map_or_else(String::new, |it| it.by.name().to_owned()),
        number(held.map(|it| it.share)),
        whole(summary.probe_timeouts()),
        recovery.timeouts_basis.map_or_else(String::new, |it| it.name().to_owned()),
        number(summary.longest_wait.map(|it| it.wait_ms)),
        number(summary.ack_delay.map(|it| it.p95_ms)),
    ]
}
