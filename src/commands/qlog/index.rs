//! When the bytes arrived: metrics of all resources, and of the resources above the fold if a page or set is named.

use super::input::{Logs, milliseconds};
use super::section::Arguments;
use super::set::{AtfSet, nothing_of_set};
use crate::output::{self, number};
use ::serve::Failure;
use qlog_tools::alignment::Alignment;
use qlog_tools::metrics::{
    BySet, Completions, METRICS, Measured, Metric, Set, Unmeasured, byte_index,
};
use qlog_tools::short_texts::shown;
use qlog_tools::tail::Tail;
use qlog_tools::timeline::Transfer;
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::no_streams;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The metrics of one trace, or why they cannot be computed.
pub(crate) struct Indices {
    all: Result<Completions, Unmeasured>,
    atf: Option<Result<Completions, Unmeasured>>,
    /// Unfinished pushes, and then other unfinished responses: URL and stream.
    left_out: [Vec<String>; 2],
    /// The values over the sets that completed.
    pub(crate) measured: Measured,
}

impl Indices {
    pub(crate) fn of(trace: &Trace, set: Option<&AtfSet>) -> Self {
        let finished = Completions::of_finished(trace, |_| true);
        let (all, unfinished) = match finished {
            Ok((all, unfinished)) => (Ok(all), unfinished),
            Err(reason) => (Err(reason), Vec::new()),
        };
        let atf = set.map(|set| {
            let finished = Completions::of_finished(trace, |it| set.contains(&it.url));
            finished.map(|(completions, _)| completions)
        });
        let completed_atf = atf.as_ref().and_then(|it| it.as_ref().ok());
        let measured = Measured::of(&trace.timeline, all.as_ref().ok(), completed_atf);
        let pushes: BTreeSet<u64> = trace.unfinished_pushes().map(|it| it.stream).collect();
        let (pushed, others): (Vec<&Transfer>, Vec<&Transfer>) =
            unfinished.into_iter().partition(|it| pushes.contains(&it.stream));
        let left_out = [pushed, others].map(|transfers| {
            transfers.iter().map(|it| format!("{} (stream {})", it.url, it.stream)).collect()
        });
        Self { all, atf, left_out, measured }
    }

    /// How many times lower its `ByteIndex` is than the `ByteIndex` of `base`.
    pub(crate) fn speedup(&self, base: BySet) -> BySet {
        let own = self.measured.byte_index();
        BySet::each(|set| byte_index().speedup(base.get(set), own.get(set)))
    }

    /// Why there are no values, in a line that names the log.
    fn lacks(&self, trace: &Trace) -> Option<String> {
        if matches!(self.atf, Some(Err(Unmeasured::EmptySet))) && self.all.is_ok() {
            return Some(nothing_of_set(trace));
        }
        let reason = match self.note() {
            Some(note) if self.measured.byte_index() == BySet::default() => shown(&note, 200),
            _ => return None,
        };
        let reason = match (no_streams(trace), trace.timeline.transfers.is_empty()) {
            (Some(no_streams), _) => no_streams.to_owned(),
            (None, true) => "no request streams in the log".to_owned(),
            (None, false) => format!("no index: {reason}"),
        };
        Some(format!("{}: {reason}", trace.label()))
    }

    /// Why a number is missing, or what it excludes.
    pub(crate) fn note(&self) -> Option<String> {
        let of_atf = self.atf.as_ref().and_then(|it| it.as_ref().err());
        let all = self.all.as_ref().err().map(ToString::to_string);
        all.or_else(|| of_atf.map(|reason| format!("above the fold: {reason}")))
            .or_else(|| self.without())
    }

    fn without(&self) -> Option<String> {
        const NAMES: usize = 5;
        let kinds = ["pushes", "responses"].into_iter().zip(&self.left_out);
        let said = kinds.filter(|(_, left_out)| !left_out.is_empty()).map(|(kind, left_out)| {
            let names = left_out[..left_out.len().min(NAMES)].join(", ");
            let more = left_out.len().saturating_sub(NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("without {kind} that did not finish: {names}{more}")
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let set = arguments.options.set.atf_set()?;
    let Logs { traces, mut refused, .. } = arguments.files.read(Detail::Summary)?;
    let indices: Vec<Indices> = traces.iter().map(|it| Indices::of(it, set.as_ref())).collect();
    refused.add_files(traces.iter().zip(&indices).map(|(trace, it)| (trace, it.lacks(trace))));
    let bases = bases(&traces, &indices);
    if arguments.json {
        let several = traces.len() > 1;
        let documents = traces.iter().zip(&indices).zip(bases);
        let documents: Vec<Value> = documents
            .map(|((trace, it), base)| document(trace, it, several.then_some(base)))
            .collect();
        refused.print_json("utmost-qlog-index/1", json!({"traces": documents}))?;
    } else if !refused.is_all() {
        print(&traces, &indices, &bases)?;
    }
    refused.end()
}

/// The baseline of each log: the indices of the first log of its side, because a server logs when it sent, not when
/// data arrived. None if the first log is of another page.
fn bases(traces: &[Trace], indices: &[Indices]) -> Vec<BySet> {
    let mut bases = Vec::new();
    for trace in traces {
        let is_servers = trace.vantage == Vantage::Server;
        let mut places = traces.iter().zip(indices);
        let first = places.find(|(it, _)| (it.vantage == Vantage::Server) == is_servers);
        let first = first.filter(|(first, _)| Alignment::new(&[first, trace]).is_of_same_page(1));
        bases.push(first.map(|(_, it)| it.measured.byte_index()).unwrap_or_default());
    }
    bases
}

fn document(trace: &Trace, indices: &Indices, base: Option<BySet>) -> Value {
    let start_us = trace.timeline.start_us().unwrap_or_default();
    let resources = trace.timeline.transfers.iter().map(|transfer| {
        let stream = trace.stream(transfer.stream);
        let complete = stream.and_then(|it| it.complete_us);
        json!({
            "id": transfer.stream,
            "url": transfer.url,
            "requested_ms": milliseconds(transfer.requested_us.saturating_sub(start_us)),
            "complete_ms": complete.map(|it| milliseconds(it.saturating_sub(start_us))),
            "bytes": transfer.body_bytes_or_stream(),
        })
    });
    let mut document = json!({
        "file": trace.file,
        "trace": trace.number.unwrap_or(1),
        "name": trace.timeline.name,
        "vantage": trace.vantage.name(),
        "speedup": base.map(|base| indices.speedup(base)),
        "note": indices.note(),
        "tail": Tail::of(&trace.timeline),
        "resources": resources.collect::<Vec<_>>(),
    });
    for metric in &METRICS {
        document[metric.name] = json!(indices.measured.get(metric));
    }
    document
}

fn print(traces: &[Trace], indices: &[Indices], bases: &[BySet]) -> Result<(), Failure> {
    // Only our own client records what its user saw.
    let metrics = METRICS.iter().filter(|metric| {
        !metric.is_of_page() || indices.iter().any(|it| it.measured.get(metric).all.is_some())
    });
    let metrics: Vec<&Metric> = metrics.collect();
    let rows = traces.iter().zip(indices).zip(bases).map(|((trace, indices), base)| {
        let Indices { measured, .. } = indices;
        let (index, speedup) = (measured.byte_index(), indices.speedup(*base));
        let mut row = vec![shown(&trace.timeline.name, 60)];
        row.extend(metrics.iter().map(|it| number(measured.get(it).get(Set::All), 1)));
        row.push(number(speedup.all, 3));
        row.extend([number(index.atf, 1), number(speedup.atf, 3)]);
        row
    });
    let mut header = vec!["log"];
    header.extend(metrics.iter().map(|it| it.heading));
    header.extend(["speedup", "ATF ByteIndex", "ATF speedup"]);
    output::line(&output::table(&header, &[], rows).to_string())?;
    for (trace, it) in traces.iter().zip(indices) {
        if let Some(note) = it.note() {
            output::line(&format!("{}: {}", trace.label(), shown(&note, 200)))?;
        }
        if let Some(tail) = Tail::of(&trace.timeline) {
            output::line(&format!("{}: {tail}", trace.label()))?;
        }
        if trace.vantage == Vantage::Server {
            output::line(&format!(
                "{}: a server's log: times say when data was sent, not when it arrived",
                trace.label()
            ))?;
        }
    }
    Ok(())
}
