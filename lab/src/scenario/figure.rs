//! The trees of a trace as a figure: one for each decision that had another tree than the one before.

use super::trace::looks_the_same;
use super::{Moment, Scenario, What};
use qlog_tools::figures::{TreePanel, Trees};
use schedulers::{Element, StreamId};

/// Trees that a figure shows.
const MAX_PANELS: usize = 6;

/// Streams that a panel names for each thing that happened.
const MAX_NAMED: usize = 6;

/// The first trees that decided packets of `scenario` under the scheme that its trace is of.
pub fn figure(scenario: &Scenario, scheme: &str, moments: &[Moment]) -> Trees {
    let mut panels: Vec<TreePanel> = Vec::new();
    let mut happened: Vec<What> = Vec::new();
    let decisions = moments.chunk_by(|one, other| decided_slot(one) == decided_slot(other));
    for moments in decisions {
        happened.extend(moments.iter().map(|it| it.what));
        let Some(last) = moments.last() else { continue };
        let sends = last.tree.nodes.first().is_some_and(|root| root.active);
        let is_known = panels.last().is_some_and(|it| looks_the_same(&it.tree, &last.tree));
        if !sends || is_known {
            continue;
        }
        let (when, what) = (format!("slot {}", decided_slot(last)), in_words(&happened));
        panels.push(TreePanel { when, what, tree: last.tree.clone() });
        happened.clear();
    }
    let count = panels.len();
    panels.truncate(MAX_PANELS);
    let kind = |it: &super::Request| {
        (Element::Stream(StreamId(it.stream)), it.resource.for_scheduler().kind)
    };
    let note = if count > MAX_PANELS {
        format!("The first {MAX_PANELS} of {count} trees, each before the packet of its slot.")
    } else {
        "Each tree is that before the packet of its slot.".to_owned()
    };
    Trees {
        title: format!("{}: the tree under {scheme}", scenario.name),
        kinds: scenario.requests.iter().map(kind).collect(),
        panels,
        note,
    }
}

/// The slot whose packet is the first that the moment's tree decides.
fn decided_slot(moment: &Moment) -> u64 {
    if moment.what.is_before_packet() { moment.slot } else { moment.slot + 1 }
}

/// `closed 0; opened and ready 4, 8`.
fn in_words(happened: &[What]) -> String {
    let streams = |of: fn(&What) -> Option<u64>| happened.iter().filter_map(of).collect();
    let opened: Vec<u64> = streams(|it| match it {
        What::Opened(stream) => Some(*stream),
        _ => None,
    });
    let ready: Vec<u64> = streams(|it| match it {
        What::Ready(stream) => Some(*stream),
        _ => None,
    });
    let sent = streams(|it| match it {
        What::Sent(stream, _) => Some(*stream),
        _ => None,
    });
    let closed = streams(|it| match it {
        What::Closed(stream) | What::Empty(stream) => Some(*stream),
        _ => None,
    });
    let both = opened.iter().filter(|it| ready.contains(it)).copied().collect();
    let only = |these: &[u64], others: &[u64]| {
        these.iter().filter(|it| !others.contains(it)).copied().collect::<Vec<u64>>()
    };
    let parts = [
        ("sent", sent),
        ("closed", closed),
        ("opened, ready", both),
        ("opened", only(&opened, &ready)),
        ("ready", only(&ready, &opened)),
    ];
    let words = parts
        .into_iter()
        .filter(|(_, streams)| !streams.is_empty())
        .map(|(verb, streams)| format!("{verb}: {}", named(&streams)));
    words.collect::<Vec<_>>().join("; ")
}

fn named(streams: &[u64]) -> String {
    if streams.len() > MAX_NAMED {
        return format!("{} streams", streams.len());
    }
    streams.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
