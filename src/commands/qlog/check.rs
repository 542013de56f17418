//! `utmost qlog check`: what a log is, and what can be seen in it.

use super::input::{Files, described, shown};
use crate::failure::Failure;
use crate::output;
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::{missing, views};
use serde_json::{Map, Value, json};

/// Say what a log is: stack, side, format, what was repaired, and which views it allows
///
/// Exit code 1 if a log allows no view at all.
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
    let traces = arguments.files.traces(Detail::Summary)?;
    if arguments.json {
        let traces: Vec<Value> = traces.iter().map(document).collect();
        output::json_of_program(json!({"traces": traces}))?;
    } else {
        for trace in &traces {
            for line in lines(trace) {
                output::line(&line)?;
            }
        }
    }
    let has_view = |trace: &Trace| views(trace).iter().any(|view| view.reason.is_none());
    let is_seen = |file: &str| traces.iter().any(|it| it.file == file && has_view(it));
    let unusable = traces.iter().find(|trace| !is_seen(&trace.file));
    match unusable {
        None => Ok(()),
        Some(trace) => Err(Failure::No(format!("{}: no view is possible", trace.file))),
    }
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
    let format = trace.format.as_deref().map_or("no version".to_owned(), |it| shown(it, 60));
    let mut lines = vec![
        trace.file.clone(),
        format!(
            "  written by {}, {}; {} ({format})",
            shown(&trace.stack.to_string(), 60),
            trace.vantage.name(),
            trace.container.name()
        ),
        format!(
            "  {} events ({} unknown), {} packets sent, {} received, {} lost, {} STREAM frames, {} distinct stream bytes",
            counts.events,
            counts.unknown_events,
            counts.packets_sent,
            counts.packets_received,
            counts.packets_lost,
            counts.stream_frames,
            trace.unique_stream_bytes()
        ),
    ];
    if let Some(connection) = &trace.connection {
        lines.push(format!("  connection {}", shown(connection, 60)));
    }
    for repair in &trace.repairs {
        let place = match repair.first_record {
            0 => String::new(),
            record => format!(", first at record {record}"),
        };
        lines.push(format!("  repaired: {} ({} times{place})", repair.what, repair.count));
    }
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
