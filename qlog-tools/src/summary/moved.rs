//! Describes in sentences what moved from one run to another.

use super::Summary;
use crate::alignment::Alignment;
use crate::metrics::Completions;
use crate::short_texts::shown;
use crate::trace::Trace;

/// The most characters of a URL or of a run's name.
const NAME_CHARACTERS: usize = 60;

/// The differences between two runs of a page, the most important first. The traces must be of the same side, as for
/// `log` in [`Summary::of`].
pub fn moved(traces: [&Trace; 2], summaries: [&Summary; 2]) -> Vec<String> {
    let [before, after] = traces.map(|it| shown(&it.timeline.name, NAME_CHARACTERS));
    let alignment = Alignment::new(&traces);
    let mut sentences = Vec::new();
    if alignment.in_common(1) == 0 {
        sentences.push(format!("{after} and {before} have no resource in common."));
    } else if let [Some(first), Some(other)] = traces.map(byte_index_ms) {
        let mut text = format!(
            "The ByteIndex of {after} is {other:.1} ms, that of {before} {first:.1} ms ({:+.1} ms)",
            other - first
        );
        let resources = alignment.by_weight(1).into_iter();
        let mut in_both = resources.filter_map(|it| Some((it, it.moved(1).index_later_ms?)));
        if let Some((resource, adds_ms)) = in_both.next() {
            let later_ms = resource.moved(1).later_ms.unwrap_or_default();
            let url = shown(&resource.url, NAME_CHARACTERS);
            let when = if later_ms < 0.0 { "earlier" } else { "later" };
            text = format!(
                "{text}; most by {url}, which is complete {:.1} ms {when} and adds {adds_ms:+.1} ms",
                later_ms.abs()
            );
        }
        sentences.push(format!("{text}."));
    }
    let [first, other] = summaries;
    if let [Some(was), Some(is)] = [first, other].map(|it| it.held.as_ref().map(|it| it.cause)) {
        let [was_name, is_name] = [was, is].map(|it| it.name().replace('_', " "));
        sentences.push(if was == is {
            format!("The same cause held both back: {is_name}.")
        } else {
            format!("{after} was held back by {is_name}, {before} by {was_name}.")
        });
    }
    let numbers = numbers(first, other);
    if !numbers.is_empty() {
        sentences.push(format!("Of {after} and of {before}: {}.", numbers.join("; ")));
    }
    sentences
}

fn byte_index_ms(trace: &Trace) -> Option<f64> {
    Completions::of_finished(trace, |_| true).ok().map(|it| it.0.byte_index_ms())
}

/// The numbers that differ, the other run's first.
fn numbers(first: &Summary, other: &Summary) -> Vec<String> {
    let pairs: [(&str, [Option<f64>; 2], &str); 6] = [
        ("goodput", [first, other].map(|it| Some(it.flow?.goodput_bits_per_s / 1e6)), " Mbit/s"),
        ("packets that the server declared lost", [first, other].map(lost), ""),
        (
            "the server's packets that never arrived",
            [first, other].map(|it| Some(100.0 * it.recovery.never_came_share?)),
            " %",
        ),
        ("the server's probe timeouts", [first, other].map(timeouts), ""),
        (
            "95 % of round trips within",
            [first, other].map(|it| Some(it.round_trips?.p95_ms)),
            " ms",
        ),
        (
            "longest wait behind a hole",
            [first, other].map(|it| Some(it.longest_wait?.wait_ms)),
            " ms",
        ),
    ];
    let mut texts = Vec::new();
    for (name, values, unit) in pairs {
        let decimals = usize::from(!unit.is_empty());
        let [first, other] = values.map(|it| it.map(|it| format!("{it:.decimals$}{unit}")));
        if let (Some(first), Some(other)) = (first, other)
            && first != other
        {
            texts.push(format!("{name} {other} instead of {first}"));
        }
    }
    texts
}

fn lost(summary: &Summary) -> Option<f64> {
    Some(summary.recovery.lost.filter(|_| summary.is_of_server)? as f64)
}

fn timeouts(summary: &Summary) -> Option<f64> {
    Some(summary.probe_timeouts().filter(|_| summary.is_of_server)? as f64)
}
