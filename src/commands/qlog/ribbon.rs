//! The order in which streams got their packets (the paper's Figure 8): one word for each run of a stream's frames, or a
//! figure.

use super::input::Logs;
use super::section::Arguments;
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = &arguments.options;
    let by = options.by.unwrap_or(Axis::Time);
    arguments.files.spare(options.out.as_deref())?;
    options.out.iter().try_for_each(|it| figure_files::can_be_written(it))?;
    let set = options.set.atf_set()?;
    let Logs { mut traces, mut refused, .. } = arguments.files.read(Detail::Frames)?;
    refused.add_files(traces.iter().map(|trace| (trace, unusable(trace))));
    traces.retain(|trace| unusable(trace).is_none());
    if traces.is_empty() {
        return refused.end();
    }
    refused.add_files(traces.iter().map(|it| (it, set.as_ref().and_then(|set| set.lacks(it)))));
    traces.iter_mut().for_each(name_requests_apart);
    if let Some(out) = &options.out {
        let rows = traces.iter().map(|trace| RibbonRow {
            label: shown(&trace.timeline.name, 60),
            notes: Vec::new(),
            timeline: &trace.timeline,
            marks: Vec::new(),
        });
        let ribbons = Ribbons {
            id: "qlog".to_owned(),
            title: "Who got each STREAM frame".to_owned(),
            axis: by,
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
    } else if options.out.is_none() {
        for trace in &traces {
            output::line(&in_words(trace, by))?;
        }
    }
    refused.end()
}

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
    // A line end in a name must not pass for another line.
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
