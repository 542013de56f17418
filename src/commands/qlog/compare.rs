//! `utmost qlog compare`: which bytes moved between runs of the same page.

use super::index::Indices;
use super::input::{Files, shown};
use super::set::SetArguments;
use crate::failure::Failure;
use crate::output::{self, number};
use qlog_tools::alignment::{AlignedResource, Alignment};
use qlog_tools::byte_index::speedup;
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::unusable;
use serde_json::{Value, json};

/// Show which resources came earlier or later than in the first log, and what that did to the index
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog compare rr=rr.sqlog fifo=fifo.sqlog\n  \
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
    let traces = arguments.files.traces(Detail::Summary)?;
    if let Some(reason) = traces.iter().find_map(unusable) {
        return Err(Failure::BadInput(reason));
    }
    let [first, _, ..] = &traces[..] else {
        return Err(Failure::BadInput("compare takes two logs or more, and got one".to_owned()));
    };
    let alignment = Alignment::new(&traces);
    let indices: Vec<Indices> = traces.iter().map(|it| Indices::of(it, set.as_ref())).collect();
    let indices: Vec<[Option<f64>; 2]> =
        indices.iter().map(|it| it.pair(|it| it.complete_ms)).collect();
    if arguments.json {
        let runs = traces.iter().zip(&indices).map(|(trace, it)| {
            let speedups = [0, 1].map(|place| speedup(indices[0][place], it[place]));
            json!({
                "name": trace.timeline.name,
                "file": trace.file,
                "byte_index": {"all": it[0], "atf": it[1]},
                "speedup": {"all": speedups[0], "atf": speedups[1]},
            })
        });
        let runs: Vec<Value> = runs.collect();
        let resources: Vec<Value> = alignment.resources.iter().map(document).collect();
        let baseline = &first.timeline.name;
        return output::json_of_program(
            json!({"baseline": baseline, "runs": runs, "resources": resources}),
        );
    }
    print(&traces, &alignment, &indices)
}

fn document(resource: &AlignedResource) -> Value {
    let runs = resource.runs.iter().enumerate().map(|(place, run)| {
        run.map(|run| {
            let [later, index_later] = moved(resource, place);
            json!({
                "stream": run.stream,
                "requested_ms": run.requested_ms,
                "first_ms": run.first_ms,
                "complete_ms": run.complete_ms,
                "index_ms": run.index_ms,
                "later_ms": later,
                "index_later_ms": index_later,
            })
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

fn print(
    traces: &[Trace],
    alignment: &Alignment,
    indices: &[[Option<f64>; 2]],
) -> Result<(), Failure> {
    let rows = traces.iter().zip(indices).map(|(trace, it)| {
        vec![
            shown(&trace.timeline.name, 40),
            number(it[0], 1),
            number(speedup(indices[0][0], it[0]), 3),
            number(it[1], 1),
            number(speedup(indices[0][1], it[1]), 3),
        ]
    });
    let header = ["run", "ByteIndex", "speedup", "ATF ByteIndex", "ATF speedup"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    for (place, trace) in traces.iter().enumerate().skip(1) {
        let against = shown(&traces[0].timeline.name, 40);
        output::line(&format!("\n{} against {against}", shown(&trace.timeline.name, 40)))?;
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
