//! `utmost qlog check`: what a log is, and which views it allows.

use super::input::{Files, Logs, described};
use crate::output;
use ::serve::Failure;
use qlog_tools::short_texts::shown;
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::{losses, missing, views};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Describe a log: stack, side, format, repairs, and which views it allows
///
/// Exit code 1: a log allows no view. Exit code 2: a log could not be read; the output still shows the others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost qlog check client.sqlog server.sqlog.gz")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Logs { traces, refused, .. } = arguments.files.read(Detail::Summary)?;
    if arguments.json {
        let documents: Vec<Value> = traces.iter().map(document).collect();
        refused.print_json("utmost-qlog-check/1", json!({"traces": documents}))?;
    } else {
        for trace in &traces {
            for line in lines(trace) {
                output::line(&line)?;
            }
        }
    }
    refused.end_with(unusable(&traces))
}

/// Names the files whose traces allow no view.
fn unusable(traces: &[Trace]) -> Option<String> {
    let mut files: BTreeSet<&str> = traces.iter().map(|it| &*it.file).collect();
    for trace in traces {
        if views(trace).iter().any(|view| view.reason.is_none()) {
            files.remove(&*trace.file);
        }
    }
    let files: Vec<&str> = files.into_iter().collect();
    (!files.is_empty()).then(|| format!("{}: no view is possible", files.join(", ")))
}

fn document(trace: &Trace) -> Value {
    let mut document = described(trace);
    let views = views(trace)
        .into_iter()
        .map(|view| (view.name.to_owned(), view.reason.map_or(Value::Bool(true), Value::from)));
    document["views"] = Value::Object(views.collect::<Map<_, _>>());
    document
}

fn lines(trace: &Trace) -> Vec<String> {
    let counts = &trace.counts;
    let format = trace.header.format.as_deref().map_or("no version".to_owned(), |it| shown(it, 60));
    let mut lines = vec![
        trace.label(),
        format!(
            "  written by {}, {}; {} ({format})",
            shown(&trace.header.stack.to_string(), 60),
            trace.vantage.name(),
            trace.header.container.name()
        ),
        format!(
            "  {} events ({} unknown), {} packets sent, {} received, {}, {} STREAM frames, {}",
            counts.events,
            counts.unknown_events,
            counts.packets_sent,
            counts.packets_received,
            losses(trace, "lost"),
            counts.stream_frames,
            trace.stream_bytes_in_words()
        ),
    ];
    if let Some(connection) = &trace.connection {
        lines.push(format!("  connection {}", shown(connection, 60)));
    }
    lines.extend(trace.repairs.iter().map(|it| format!("  repaired: {}", it.in_words())));
    lines.extend(missing(trace).iter().map(|what| format!("  missing: {what}")));
    let (possible, not): (Vec<_>, Vec<_>) =
        views(trace).into_iter().partition(|view| view.reason.is_none());
    let names: Vec<&str> = possible.iter().map(|view| view.name).collect();
    lines.push(format!(
        "  views: {}",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    ));
    lines.extend(
        not.iter().map(|view| format!("  no {}: {}", view.name, view.reason.unwrap_or_default())),
    );
    lines
}
