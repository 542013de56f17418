//! `utmost qlog compare`: which bytes moved between runs of the same page.

use super::index::Indices;
use super::input::Files;
use super::runs::{self, Runs};
use super::set::SetArguments;
use crate::output::{self, number};
use ::serve::Failure;
use qlog_tools::alignment::{AlignedResource, Alignment};
use qlog_tools::naming::shown;
use qlog_tools::trace::{Detail, Trace};
use serde_json::{Value, json};

/// Show which resources came earlier or later than in the first log, and how that changed the ByteIndex
///
/// Logs of the same side are compared: from directories the clients' logs if each has one, or else the servers'. Exit
/// code 2: a log could not be read, or has no resource in common with the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog compare rr=rr.sqlog fifo=fifo.sqlog\n  \
utmost qlog compare rr=logs/rr fifo=logs/fifo\n  \
utmost qlog compare rr.sqlog fifo.sqlog --page gentelella-index --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let set = arguments.set.atf_set()?;
    let Runs { traces, refused } = runs::choose(arguments.files.read(Detail::Summary)?)?;
    let alignment = Alignment::new(&traces);
    let indices: Vec<Indices> = traces.iter().map(|it| Indices::of(it, set.as_ref())).collect();
    if arguments.json {
        let resources: Vec<Value> = alignment.resources.iter().map(document).collect();
        output::json_of_program("utmost-qlog-compare/1", refused.note_in(json!({
            "baseline": traces[0].timeline.name,
            "runs": run_documents(&traces, &alignment, &indices),
            "resources": resources,
        })))?;
    } else {
        print(&traces, &alignment, &indices)?;
        for (trace, note) in traces.iter().zip(indices.iter().map(Indices::note)) {
            if let Some(note) = note {
                output::line(&format!("{}: {}", trace.label(), shown(&note, 200)))?;
            }
        }
    }
    refused.end()
}

fn run_documents(traces: &[Trace], alignment: &Alignment, indices: &[Indices]) -> Vec<Value> {
    let base = indices[0].measured.byte_index();
    let document = |(place, (trace, it)): (usize, (&Trace, &Indices))| {
        json!({
            "name": trace.timeline.name,
            "file": trace.file,
            "trace": trace.number.unwrap_or(1),
            "vantage": trace.vantage.name(),
            "in_common": alignment.in_common(place),
            "byte_index": it.measured.byte_index(),
            "speedup": it.speedup(base),
        })
    };
    traces.iter().zip(indices).enumerate().map(document).collect()
}

fn document(resource: &AlignedResource) -> Value {
    let runs = resource.runs.iter().enumerate().map(|(place, run)| {
        run.map(|run| {
            let mut written = json!(run);
            let [later, index_later] = moved(resource, place);
            (written["later_ms"], written["index_later_ms"]) = (later.into(), index_later.into());
            written
        })
    });
    json!({"url": resource.url, "bytes": resource.bytes, "runs": runs.collect::<Vec<_>>()})
}

/// How much later than in the first run it was complete, and how much that added to the index.
fn moved(resource: &AlignedResource, run: usize) -> [Option<f64>; 2] {
    let (first, this) = (resource.runs[0], resource.runs[run]);
    let difference = |one: Option<f64>, other: Option<f64>| Some(other? - one?);
    let complete = |it: usize| resource.runs[it].and_then(|it| it.complete_ms);
    [
        difference(complete(0), complete(run)),
        difference(first.and_then(|it| it.index_ms), this.and_then(|it| it.index_ms)),
    ]
}

fn print(traces: &[Trace], alignment: &Alignment, indices: &[Indices]) -> Result<(), Failure> {
    let base = indices[0].measured.byte_index();
    let rows = traces.iter().zip(indices).map(|(trace, it)| {
        let (index, speedup) = (it.measured.byte_index(), it.speedup(base));
        vec![
            shown(&trace.timeline.name, 40),
            number(index.all, 1),
            number(speedup.all, 3),
            number(index.atf, 1),
            number(speedup.atf, 3),
        ]
    });
    let header = ["run", "ByteIndex", "speedup", "ATF ByteIndex", "ATF speedup"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    for (place, trace) in traces.iter().enumerate().skip(1) {
        let against = shown(&traces[0].timeline.name, 40);
        output::line(&format!(
            "\n{} against {against}: {} of {} resources in common",
            shown(&trace.timeline.name, 40),
            alignment.in_common(place),
            alignment.of_either(place)
        ))?;
        let mut resources: Vec<&AlignedResource> = alignment.resources.iter().collect();
        let weight = |it: &AlignedResource| moved(it, place)[1].map_or(f64::MAX, f64::abs);
        resources.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        let rows = resources.iter().map(|it| {
            let [later, index_later] = moved(it, place);
            let complete = |run: usize| number(it.runs[run].and_then(|it| it.complete_ms), 1);
            vec![
                shown(&it.url, 60),
                it.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string()),
                complete(0),
                complete(place),
                signed(later),
                signed(index_later),
            ]
        });
        let header =
            ["resource", "bytes", "complete there", "here", "later by", "adds to ByteIndex"];
        output::line(&output::table(&header, &[], rows).to_string())?;
    }
    Ok(())
}

/// Milliseconds with their sign.
fn signed(value_ms: Option<f64>) -> String {
    value_ms.map_or_else(|| "-".to_owned(), |it| format!("{it:+.1}"))
}
