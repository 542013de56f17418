//! `utmost qlog report`: logs as a page that works offline.

use super::input::{Files, Logs};
use crate::limits::REPORT_STREAMS_MAX;
use crate::values::directory;
use crate::{figure_files, output};
use ::serve::Failure;
use qlog_tools::naming::set_headings;
use qlog_tools::pairing::pairs;
use qlog_tools::trace::{Detail, Trace};
use qlog_tools::views::unusable;
use report::pictures::pictures;
use report::viewer::{Recording, Report, differences, recordings, report};
use std::path::PathBuf;

/// Write one HTML file with all figures of one or more logs
///
/// The page shows multiplexing, waterfall, packets, head-of-line blocking, ByteIndex, congestion, and what held the sender back. It zooms
/// from the whole connection to a single frame, lists all events, and works offline. With the logs of both ends, it takes arrivals from the
/// client's log, and window, round-trip times and losses from the server's. Exit code 2: a log could not be read; the page still has the
/// others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog report client.sqlog -o report.html\n  \
utmost qlog report before.qlog.gz after.qlog.gz -o report.html --side-by-side --figures figures")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// The page's heading
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Show the logs side by side: the same figure of each in one row, and the differences from the first
    #[arg(long)]
    side_by_side: bool,
    /// Also write each figure as SVG and PNG into this directory
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.files.spare(Some(&arguments.out))?;
    arguments.figures.iter().try_for_each(|it| directory(it, "--figures"))?;
    let Logs { mut traces, mut refused, arguments: places, .. } =
        arguments.files.read(Detail::Events)?;
    let names: Vec<Option<String>> = arguments.files.named().map(|(name, _)| name).collect();
    let given: Vec<Option<String>> = places.iter().map(|place| names[*place].clone()).collect();
    set_headings(&mut traces, &given);
    let reasons: Vec<Option<String>> = traces.iter().map(|it| unfit(it, &traces)).collect();
    refused.add_files(traces.iter().zip(reasons.iter().cloned()));
    let mut reasons = reasons.iter();
    traces.retain(|_| reasons.next().is_some_and(Option::is_none));
    if traces.is_empty() {
        return refused.end();
    }
    let recordings = recordings(&traces);
    let differences = if arguments.side_by_side { differences(&traces) } else { Vec::new() };
    if let Some(folder) = &arguments.figures {
        let numbered = (1..).zip(&recordings).flat_map(|(number, recording)| {
            let pictures = pictures(recording).into_iter();
            pictures.map(move |(name, svg)| (format!("{number}-{name}"), svg))
        });
        figure_files::write_all(folder, numbered)?;
    }
    let title = arguments.title.clone().unwrap_or_else(|| title(&recordings));
    let page = report(&Report {
        title,
        recordings,
        differences,
        side_by_side: arguments.side_by_side,
        provenance: output::provenance(),
        follow: None,
    });
    std::fs::write(&arguments.out, page)
        .map_err(|error| Failure::of_file(&arguments.out, error))?;
    output::line(&format!("wrote {}", arguments.out.display()))?;
    refused.end()
}

/// Why a log cannot be in a report: it is too large, or has nothing to show. A server's log beside its client's may be empty.
fn unfit(trace: &Trace, traces: &[Trace]) -> Option<String> {
    let reason = too_large(trace);
    if reason.is_some() || trace.counts.recovery_events > 0 {
        return reason;
    }
    let pairs = pairs(traces);
    let is_beside = pairs.iter().any(|it| it.server.is_some_and(|it| std::ptr::eq(it, trace)));
    unusable(trace).filter(|_| !is_beside)
}

/// Why a page cannot show the log, in a line that names it.
pub(crate) fn too_large(trace: &Trace) -> Option<String> {
    let streams = trace.streams.len().max(trace.timeline.transfers.len());
    (streams > REPORT_STREAMS_MAX).then(|| {
        format!(
            "{}: {streams} streams, and a page shows at most {REPORT_STREAMS_MAX}; cut out a part with `utmost qlog convert --time` or `--stream`",
            trace.label()
        )
    })
}

fn title(recordings: &[Recording]) -> String {
    match recordings {
        [only] => match &only.sender {
            Some(sender) => format!("{}, with {sender}", only.name),
            None => only.name.clone(),
        },
        many => format!("{} connections", many.len()),
    }
}
