//! `utmost qlog compare`, also called `diff`: how the bytes moved between runs of the same page.

use super::index::Indices;
use super::input::Files;
use super::runs::{self, Runs};
use super::set::SetArguments;
use crate::csv_table::CsvTable;
use crate::figure_files;
use crate::output::{self, number};
use ::serve::Failure;
use figures::MovedResources;
use qlog_tools::alignment::{AlignedResource, Alignment, ResourceRun};
use qlog_tools::metrics::BySet;
use qlog_tools::short_texts::shown;
use qlog_tools::trace::{Detail, Trace};
use serde_json::{Value, json};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Show which resources came earlier or later than in the first log, and how that changed the ByteIndex
///
/// Resources are matched by path, or by stream if the logs have no URLs. Each row shows a resource's first and last byte,
/// its rank of completion, and the bytes of others before it was complete. The resource that changed the ByteIndex most
/// comes first. Only logs of the same side are compared: for directories, the clients' logs if each has one, otherwise the
/// servers'. Exit code 2: a log could not be read, or has no resource in common with the first.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "diff")]
#[command(after_help = "Examples:\n  utmost qlog compare rr=rr.sqlog fifo=fifo.sqlog\n  \
utmost qlog diff rr=logs/rr fifo=logs/fifo -o moved.svg\n  \
utmost qlog diff rr=logs/rr fifo=logs/fifo --csv > moved.csv\n  \
utmost qlog compare rr.sqlog fifo.sqlog --page gentelella-index --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the differences between the first of two logs and the other: FILE.svg or FILE.png
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print CSV: a row for each resource in each run
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.files.spare(arguments.out.as_deref())?;
    arguments.out.iter().try_for_each(|it| figure_files::can_be_written(it))?;
    let set = arguments.set.atf_set()?;
    let Runs { traces, mut refused } = runs::choose(arguments.files.read(Detail::Arrivals)?)?;
    refused.add_files(traces.iter().map(|it| (it, set.as_ref().and_then(|set| set.lacks(it)))));
    let alignment = Alignment::new(&traces);
    let indices: Vec<Indices> = traces.iter().map(|it| Indices::of(it, set.as_ref())).collect();
    if let Some(out) = &arguments.out {
        draw(out, &traces, &alignment)?;
    }
    if arguments.json {
        let resources: Vec<Value> = alignment.resources.iter().map(document).collect();
        let document = json!({
            "baseline": traces[0].timeline.name,
            "runs": run_documents(&traces, &alignment, &indices),
            "resources": resources,
        });
        refused.print_json("utmost-qlog-compare/1", document)?;
    } else if arguments.csv {
        print_csv(&traces, &alignment)?;
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

fn draw(out: &Path, traces: &[Trace], alignment: &Alignment) -> Result<(), Failure> {
    let [first, other] = traces else {
        let count = traces.len();
        let reason = format!("--out draws two logs, and there are {count}: name two");
        return Err(Failure::of_file(out, reason));
    };
    let names = [first, other].map(|it| &*it.timeline.name);
    figure_files::write(out, &MovedResources { names, alignment, run: 1 }.svg())
}

fn run_documents(traces: &[Trace], alignment: &Alignment, indices: &[Indices]) -> Vec<Value> {
    let base = indices[0].measured.byte_index();
    let documents = traces.iter().zip(indices).enumerate().map(|(place, (trace, indices))| {
        json!({
            "name": trace.timeline.name,
            "file": trace.file,
            "trace": trace.number.unwrap_or(1),
            "vantage": trace.vantage.name(),
            "in_common": alignment.in_common(place),
            "byte_index": indices.measured.byte_index(),
            "speedup": indices.speedup(base_of(alignment, place, base)),
        })
    });
    documents.collect()
}

/// The baseline of a run's speedup, if it is of the same page as the first.
fn base_of(alignment: &Alignment, run: usize, base: BySet) -> BySet {
    if alignment.is_of_same_page(run) { base } else { BySet::default() }
}

fn document(resource: &AlignedResource) -> Value {
    let runs = resource.runs.iter().enumerate().map(|(place, run)| {
        let mut written = json!(run.as_ref()?);
        let moved = json!(resource.moved(place));
        written.as_object_mut()?.append(&mut moved.as_object()?.clone());
        Some(written)
    });
    json!({"url": resource.url, "bytes": resource.bytes, "runs": runs.collect::<Vec<_>>()})
}

const NO_SPEEDUP: &str = ": too few for a speedup, which needs most of them";

const COLUMNS: [&str; 15] = [
    "run",
    "url",
    "bytes",
    "stream",
    "requested_ms",
    "first_ms",
    "complete_ms",
    "index_ms",
    "place",
    "bytes_before",
    "first_later_ms",
    "later_ms",
    "index_later_ms",
    "places_later",
    "more_bytes_before",
];

fn print_csv(traces: &[Trace], alignment: &Alignment) -> Result<(), Failure> {
    let mut table = CsvTable::begin(None, COLUMNS)?;
    let mut rows = traces.iter().enumerate().flat_map(|(place, trace)| {
        let of_run = alignment.resources.iter().filter_map(move |it| Some((it, it.runs[place]?)));
        of_run.map(move |(resource, run)| cells(&trace.timeline.name, resource, run, place))
    });
    let written = rows.try_for_each(|row| table.write(row));
    table.end(written)
}

/// In the order of [`COLUMNS`].
fn cells(
    name: &str,
    resource: &AlignedResource,
    run: ResourceRun,
    place: usize,
) -> [String; COLUMNS.len()] {
    let moved = resource.moved(place);
    [
        name.to_owned(),
        resource.url.clone(),
        cell(resource.bytes),
        run.stream.to_string(),
        run.requested_ms.to_string(),
        cell(run.first_ms),
        cell(run.complete_ms),
        cell(run.index_ms),
        cell(run.place),
        cell(run.bytes_before),
        cell(moved.first_later_ms),
        cell(moved.later_ms),
        cell(moved.index_later_ms),
        cell(moved.places_later),
        cell(moved.more_bytes_before),
    ]
}

fn cell(value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |it| it.to_string())
}

fn print(traces: &[Trace], alignment: &Alignment, indices: &[Indices]) -> Result<(), Failure> {
    let base = indices[0].measured.byte_index();
    let rows = traces.iter().zip(indices).enumerate().map(|(place, (trace, indices))| {
        let base = base_of(alignment, place, base);
        let (index, speedup) = (indices.measured.byte_index(), indices.speedup(base));
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
            "\n{} against {against}: {} of {} resources in common{}",
            shown(&trace.timeline.name, 40),
            alignment.in_common(place),
            alignment.of_either(place),
            if alignment.is_of_same_page(place) { "" } else { NO_SPEEDUP }
        ))?;
        let rows = alignment.by_weight(place).into_iter().map(|it| row(it, place));
        let header = "resource|bytes|first byte later by|complete there|here|later by|place there|here|\
            bytes before, more by|adds to ByteIndex";
        let header: Vec<&str> = header.split('|').collect();
        output::line(&output::table(&header, &[], rows).to_string())?;
    }
    Ok(())
}

fn row(resource: &AlignedResource, run: usize) -> Vec<String> {
    let moved = resource.moved(run);
    let [first, other] = [0, run].map(|it| resource.runs[it].unwrap_or_default());
    let bytes = resource.bytes.map(|it| it.to_string());
    let [first_place, place] = [first, other].map(|it| it.place.map(|it| it.to_string()));
    let more_before = moved.more_bytes_before.map(|it| format!("{it:+}"));
    let [bytes, first_place, place, more_before] =
        [bytes, first_place, place, more_before].map(|it| it.unwrap_or_else(|| "-".to_owned()));
    vec![
        shown(&resource.url, 60),
        bytes,
        signed(moved.first_later_ms),
        number(first.complete_ms, 1),
        number(other.complete_ms, 1),
        signed(moved.later_ms),
        first_place,
        place,
        more_before,
        signed(moved.index_later_ms),
    ]
}

fn signed(value_ms: Option<f64>) -> String {
    value_ms.map_or_else(|| "-".to_owned(), |it| format!("{it:+.1}"))
}
