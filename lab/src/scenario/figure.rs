//! The trees of a trace as a figure: one for each decision that had another tree than the one before.

use super::trace::looks_the_same;
use super::{Moment, Scenario, What};
use qlog_tools::figures::tree::group_names;
use qlog_tools::figures::{TreePanel, Trees};
use schedulers::{Element, Scheme, StreamId};
use std::collections::BTreeMap;

/// Trees that a figure shows, unless its reader wants another number.
pub const PANELS: usize = 6;

/// Streams that a panel names for each thing that happened.
const MAX_NAMED: usize = 4;

/// The first trees that decided packets of `scenario` under the scheme that its trace is of.
pub fn figure(scenario: &Scenario, scheme: &Scheme, moments: &[Moment], most: usize) -> Trees {
    let names = names(scenario, scheme, moments);
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
        let (when, what) = (format!("slot {}", decided_slot(last)), in_words(&happened, &names));
        panels.push(TreePanel { when, what, tree: last.tree.clone() });
        happened.clear();
    }
    let count = panels.len();
    panels.truncate(most);
    let kind = |it: &super::Request| {
        (Element::Stream(StreamId(it.stream)), it.resource.for_scheduler().kind)
    };
    let note = if count > most {
        let first = if most == 1 { "first".to_owned() } else { format!("first {most}") };
        format!("The {first} of {count} trees, each before the packet of its slot.")
    } else {
        "Each tree is that before the packet of its slot.".to_owned()
    };
    Trees {
        title: format!("{}: the tree under {}", scenario.name, scheme.name),
        names,
        kinds: scenario.requests.iter().map(kind).collect(),
        panels,
        note,
    }
}

/// What the scenario calls its streams, and the scheme its groups.
fn names(scenario: &Scenario, scheme: &Scheme, moments: &[Moment]) -> BTreeMap<Element, String> {
    let streams = scenario
        .requests
        .iter()
        .filter_map(|it| Some((Element::Stream(StreamId(it.stream)), it.name.clone()?)));
    let groups = moments.iter().flat_map(|it| group_names(scheme, &it.tree));
    streams.chain(groups).collect()
}

/// The slot whose packet is the first that the moment's tree decides.
fn decided_slot(moment: &Moment) -> u64 {
    if moment.what.is_before_packet() { moment.slot } else { moment.slot + 1 }
}

/// `closed: 0`, `opened, ready: 4, 8`.
fn in_words(happened: &[What], names: &BTreeMap<Element, String>) -> Vec<String> {
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
    let signalled = happened.iter().filter_map(|it| match it {
        What::Signalled(element) => Some(*element),
        _ => None,
    });
    let parts = [
        ("sent", elements(sent)),
        ("closed", elements(closed)),
        ("opened, ready", elements(both)),
        ("opened", elements(only(&opened, &ready))),
        ("ready", elements(only(&ready, &opened))),
        ("signalled", signalled.collect()),
    ];
    let said = parts.into_iter().filter(|(_, elements)| !elements.is_empty());
    said.map(|(verb, elements)| format!("{verb}: {}", listed(&elements, names))).collect()
}

fn elements(streams: Vec<u64>) -> Vec<Element> {
    streams.into_iter().map(|it| Element::Stream(StreamId(it))).collect()
}

/// A stream without a name is its number.
fn listed(elements: &[Element], names: &BTreeMap<Element, String>) -> String {
    if elements.len() > MAX_NAMED {
        return format!("{} streams", elements.len());
    }
    let name = |it: &Element| match (names.get(it), it) {
        (Some(name), _) => name.clone(),
        (None, Element::Stream(stream)) => stream.0.to_string(),
        (None, other) => other.to_string(),
    };
    elements.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::trace;
    use schedulers::find_scheme;

    const LATE: &str = include_str!("../../../examples/late-stylesheet.json");

    fn panels(json: &str, scheme: &str) -> Trees {
        let scenario = Scenario::parse(json, "a.json").unwrap();
        let scheme = find_scheme(scheme).unwrap();
        let moments = trace(&scenario, &scheme).unwrap();
        figure(&scenario, &scheme, &moments, PANELS)
    }

    #[test]
    fn a_panel_is_a_tree_that_decides_a_packet() {
        let figure = panels(LATE, "zeroweight");
        let panels = figure.panels.iter().map(|it| format!("{}: {}", it.when, it.what.join("; ")));
        assert_eq!(
            panels.collect::<Vec<_>>(),
            [
                "slot 0: opened, ready: 0, 4, 8",
                "slot 4: closed: 0; opened, ready: 12",
                "slot 7: closed: 12",
                "slot 13: closed: 8",
            ]
        );
        assert_eq!(figure.note, "Each tree is that before the packet of its slot.");
        assert_eq!(figure.title, "late-stylesheet: the tree under zeroweight");
    }

    #[test]
    fn a_long_scenario_shows_its_first_trees_and_says_so() {
        let requests: Vec<String> = (0..20)
            .map(|n| format!(r#"{{"stream": {}, "bytes": 1, "resource": {{"mime": ""}}}}"#, 4 * n))
            .collect();
        let json = format!(r#"{{"name": "many", "requests": [{}]}}"#, requests.join(","));
        let figure = panels(&json, "fifo");
        assert_eq!(figure.panels.len(), 6);
        assert_eq!(figure.panels[0].what, ["opened, ready: 20 streams"]);
        assert_eq!(figure.note, "The first 6 of 20 trees, each before the packet of its slot.");
    }
}
