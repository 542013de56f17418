//! `utmost qlog index`: when the bytes were there.

use super::input::{Files, Logs, milliseconds, shown};
use super::set::{AtfSet, SetArguments};
use crate::failure::Failure;
use crate::output::{self, number};
use qlog_tools::byte_index::{ByteIndex, NoIndex, byte_index_of_trace, speedup};
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::no_streams;
use serde_json::{Value, json};

/// Compute `ByteIndex` and `ObjectIndex` of what logs show
///
/// Of all resources, and of those above the fold (ATF) when a page or a set is named. With several logs,
/// speedups are the index of the first log of the same side divided by each one's. Exit code 2: a log could not be read, or lacks what an
/// index takes; the others are shown all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog index client.sqlog --page gentelella-index\n  \
utmost qlog index rr.sqlog fifo.sqlog --set atf.txt --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The indices of one trace.
pub(crate) struct Indices {
    all: Result<ByteIndex, NoIndex>,
    atf: Option<Result<ByteIndex, NoIndex>>,
}

impl Indices {
    pub(crate) fn of(trace: &Trace, set: Option<&AtfSet>) -> Self {
        let all = byte_index_of_trace(trace, |_| true);
        let atf = set.map(|set| byte_index_of_trace(trace, |it| set.contains(&it.url)));
        Self { all, atf }
    }

    /// One kind of index, of all resources and of the ATF set.
    pub(crate) fn pair(&self, kind: fn(&ByteIndex) -> f64) -> [Option<f64>; 2] {
        let atf = self.atf.as_ref().and_then(|atf| atf.as_ref().ok());
        [self.all.as_ref().ok().map(kind), atf.map(kind)]
    }

    /// Why there is no number at all, in a line that names the log.
    fn lacks(&self, trace: &Trace) -> Option<String> {
        if matches!(self.atf, Some(Err(NoIndex::EmptySet))) && self.all.is_ok() {
            let reason = "nothing in the log is of the set that --page or --set names";
            return Some(format!("{}: {reason}", trace.label()));
        }
        let [all, atf] = self.pair(|it| it.complete_ms);
        let reason = match self.note() {
            Some(note) if all.is_none() && atf.is_none() => shown(&note, 200),
            _ => return None,
        };
        let reason = match (no_streams(trace), trace.timeline.transfers.is_empty()) {
            (Some(no_streams), _) => no_streams.to_owned(),
            (None, true) => "no request streams in the log".to_owned(),
            (None, false) => format!("no index: {reason}"),
        };
        Some(format!("{}: {reason}", trace.label()))
    }

    /// Why a number is missing.
    pub(crate) fn note(&self) -> Option<String> {
        let of_atf = self.atf.as_ref().and_then(|it| it.as_ref().err());
        let all = self.all.as_ref().err().map(ToString::to_string);
        all.or_else(|| of_atf.map(|reason| format!("above the fold: {reason}")))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let set = arguments.set.atf_set()?;
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
        output::json_of_program(refused.note_in(json!({"traces": documents})))?;
    } else if !refused.is_all() {
        print(&traces, &indices, &bases)?;
    }
    refused.end()
}

/// What each log is measured by: the first log of its side, for a server's times are those of sending.
fn bases(traces: &[Trace], indices: &[Indices]) -> Vec<[Option<f64>; 2]> {
    let is_servers = |trace: &Trace| trace.vantage == Vantage::Server;
    let base = |trace: &Trace| {
        let first = traces.iter().position(|it| is_servers(it) == is_servers(trace));
        first.map_or([None; 2], |place| indices[place].pair(|it| it.complete_ms))
    };
    traces.iter().map(base).collect()
}

fn both(pair: [Option<f64>; 2]) -> Value {
    json!({"all": pair[0], "atf": pair[1]})
}

fn document(trace: &Trace, indices: &Indices, base: Option<[Option<f64>; 2]>) -> Value {
    let complete = indices.pair(|it| it.complete_ms);
    let start_us = trace.timeline.start_us().unwrap_or_default();
    let resources = trace.timeline.transfers.iter().map(|transfer| {
        let stream = trace.streams.iter().find(|it| it.stream == transfer.stream);
        let complete = stream.and_then(|it| it.complete_us);
        json!({
            "id": transfer.stream,
            "url": transfer.url,
            "requested_ms": milliseconds(transfer.requested_us.saturating_sub(start_us)),
            "complete_ms": complete.map(|it| milliseconds(it.saturating_sub(start_us))),
            "bytes": transfer.body_bytes_or_stream(),
        })
    });
    json!({
        "file": trace.file,
        "trace": trace.number.unwrap_or(1),
        "name": trace.timeline.name,
        "vantage": trace.vantage.name(),
        "byte_index": both(complete),
        "byte_index_sampled": both(indices.pair(|it| it.sampled_ms)),
        "byte_index_progressive": both(indices.pair(|it| it.progressive_ms)),
        "object_index": both(indices.pair(|it| it.object_ms)),
        "speedup": base.map(|base| both([0, 1].map(|place| speedup(base[place], complete[place])))),
        "note": indices.note(),
        "resources": resources.collect::<Vec<_>>(),
    })
}

fn print(traces: &[Trace], indices: &[Indices], bases: &[[Option<f64>; 2]]) -> Result<(), Failure> {
    let rows = traces.iter().zip(indices).zip(bases).map(|((trace, it), base)| {
        let complete = it.pair(|it| it.complete_ms);
        let kinds = [
            complete,
            it.pair(|it| it.sampled_ms),
            it.pair(|it| it.progressive_ms),
            it.pair(|it| it.object_ms),
        ];
        let mut row = vec![shown(&trace.timeline.name, 60)];
        row.extend(kinds.iter().map(|it| number(it[0], 1)));
        row.push(number(speedup(base[0], complete[0]), 3));
        row.extend([number(complete[1], 1), number(speedup(base[1], complete[1]), 3)]);
        row
    });
    let header = [
        "log",
        "ByteIndex",
        "sampled",
        "progressive",
        "ObjectIndex",
        "speedup",
        "ATF ByteIndex",
        "ATF speedup",
    ];
    output::line(&output::table(&header, &[], rows).to_string())?;
    for (trace, it) in traces.iter().zip(indices) {
        if let Some(note) = it.note() {
            output::line(&format!("{}: {}", trace.label(), shown(&note, 200)))?;
        }
        if trace.vantage == Vantage::Server {
            output::line(&format!(
                "{}: a server's log: times are those of sending, not of arrival",
                trace.label()
            ))?;
        }
    }
    Ok(())
}
