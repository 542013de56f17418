//! The trees of a trace as a figure: one for each decision with another tree than the preceding
//! one.

use super::trace::looks_the_same;
use super::{Moment, Scenario, What};
use figures::tree::{group_names, in_words};
use figures::{TreePanel, Trees};
use qlog_tools::replay::TreeChange;
use schedulers::{Element, Scheme, StreamId};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The default number of trees in a figure.
pub const PANELS: NonZeroUsize = NonZeroUsize::new(6).expect("not zero");

/// The first trees that decided packets of `scenario` under the scheme of the trace.
pub fn figure(scenario: &Scenario, scheme: &Scheme, moments: &[Moment], most: usize) -> Trees {
    let names = names(scenario, scheme, moments);
    let mut panels: Vec<TreePanel> = Vec::new();
    let mut happened = Vec::new();
    let decisions = moments.chunk_by(|one, other| decided_slot(one) == decided_slot(other));
    for moments in decisions {
        happened.extend(moments.iter().map(|it| change(it.what)));
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
    let requests = scenario.requests.iter();
    let kinds = requests.map(|it| (Element::Stream(StreamId(it.stream)), it.resource.kind));
    let note = if count > most {
        let first = if most == 1 { "first".to_owned() } else { format!("first {most}") };
        format!("The {first} of {count} trees, each before the packet of its slot.")
    } else {
        "Each tree is that before the packet of its slot.".to_owned()
    };
    Trees {
        title: format!("{}: the tree under {}", scenario.name, scheme.name),
        names,
        kinds: kinds.collect(),
        panels,
        note,
    }
}

/// The scenario's names for its streams, and the scheme's names for its groups.
fn names(scenario: &Scenario, scheme: &Scheme, moments: &[Moment]) -> BTreeMap<Element, String> {
    let requests = scenario.requests.iter();
    let streams =
        requests.filter_map(|it| Some((Element::Stream(StreamId(it.stream)), it.name.clone()?)));
    let groups = moments.iter().flat_map(|it| group_names(scheme, &it.tree));
    streams.chain(groups).collect()
}

/// The slot of the first packet that the moment's tree decides.
fn decided_slot(moment: &Moment) -> u64 {
    if moment.what.is_before_packet() { moment.slot } else { moment.slot + 1 }
}

fn change(what: What) -> (TreeChange, Element) {
    let (change, stream) = match what {
        What::Opened(id) => (TreeChange::Opened, id),
        What::Ready(id) => (TreeChange::Ready, id),
        What::Sent(id, _) => (TreeChange::Sent, id),
        What::Closed(id) | What::Empty(id) => (TreeChange::Closed, id),
        What::Signalled(element) => return (TreeChange::Signalled, element),
    };
    (change, Element::Stream(StreamId(stream)))
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
        figure(&scenario, &scheme, &moments, PANELS.get())
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
