//! `utmost qlog ribbon`: who got each packet (the paper's Figure 8).

use super::input::{Files, Logs};
use super::set::SetArguments;
use crate::values::{Choices, choice};
use crate::{figure_files, output};
use ::serve::Failure;
use figures::axis::Axis;
use figures::{Drawing, RibbonRow, Ribbons};
use qlog_tools::naming::name_requests_apart;
use qlog_tools::page_resources::PageResource;
use qlog_tools::short_texts::shown;
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::unusable;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show the order of the streams' frames, one log below the other
///
/// Without --out the order is text, one word for the frames of a stream in a row: `stream:ms` (--by time), `stream x
/// frames` (--by count) or `stream:bytes` (--by bytes).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost qlog ribbon rr=rr.sqlog fifo=fifo.sqlog -o ribbons.svg\n  \
utmost qlog ribbon client.sqlog --by bytes"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// The quantity that the width shows
    #[arg(long, default_value = "time", value_parser = choice(AXES))]
    by: Axis,
    /// Draw into FILE.svg or FILE.png
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON: runs of `[stream, frames, bytes, first_ms, last_ms]`
    #[arg(long)]
    json: bool,
}

/// `--by`.
const AXES: Choices<Axis> = &[
    ("time", "Milliseconds since the first request", Axis::Time),
    ("count", "STREAM frames, whatever their size", Axis::Frames),
    ("bytes", "Stream bytes", Axis::Bytes),
];

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.files.spare(arguments.out.as_deref())?;
    let set = arguments.set.atf_set()?;
    let Logs { mut traces, mut refused, .. } = arguments.files.read(Detail::Frames)?;
    refused.add_files(traces.iter().map(|trace| (trace, unusable(trace))));
    traces.retain(|trace| unusable(trace).is_none());
    if traces.is_empty() {
        return refused.end();
    }
    traces.iter_mut().for_each(name_requests_apart);
    if let Some(out) = &arguments.out {
        let rows = traces.iter().map(|trace| RibbonRow {
            label: shown(&trace.timeline.name, 60),
            notes: Vec::new(),
            timeline: &trace.timeline,
            marks: Vec::new(),
        });
        let ribbons = Ribbons {
            id: "qlog".to_owned(),
            title: "Who got each STREAM frame".to_owned(),
            axis: arguments.by,
            resources: PageResource::of_logs(&traces, |url| {
                set.as_ref().is_some_and(|it| it.contains(url))
            }),
            note_titles: Vec::new(),
            rows: rows.collect(),
        };
        figure_files::write(out, &ribbons.svg())?;
        if !arguments.json {
            output::line(&ribbons.caption())?;
        }
    }
    if arguments.json {
        let documents: Vec<Value> = traces.iter().map(document).collect();
        refused.print_json("utmost-qlog-ribbon/1", json!({"traces": documents}))?;
    } else if arguments.out.is_none() {
        for trace in &traces {
            output::line(&in_words(trace, arguments.by))?;
        }
    }
    refused.end()
}

/// A word for the frames of a stream in a row.
fn in_words(trace: &Trace, by: Axis) -> String {
    let bursts = trace.timeline.bursts();
    let words = bursts.iter().map(|run| match by {
        Axis::Time => format!("{}:{:.1}", run.stream, (run.last_us - run.first_us) as f64 / 1000.0),
        Axis::Frames => format!("{}x{}", run.stream, run.frames),
        Axis::Bytes => format!("{}:{}", run.stream, run.bytes),
    });
    let words: Vec<String> = words.collect();
    let what = match by {
        Axis::Time => "stream:ms",
        Axis::Frames => "stream x frames",
        Axis::Bytes => "stream:bytes",
    };
    // A line end in a name must not look like another line.
    let name = shown(&trace.timeline.name, usize::MAX);
    format!("{name} ({what}): {}", words.join(" "))
}

fn document(trace: &Trace) -> Value {
    let bursts = trace.timeline.bursts();
    let runs = bursts.iter().map(|run| {
        let [first_ms, last_ms] = [run.first_us, run.last_us].map(|it| it as f64 / 1000.0);
        json!([run.stream, run.frames, run.bytes, first_ms, last_ms])
    });
    json!({"file": trace.file, "name": trace.timeline.name, "runs": runs.collect::<Vec<_>>()})
}
