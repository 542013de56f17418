//! Describes the changes between two trees.

use std::collections::BTreeMap;

use qlog_tools::replay::TreeChange;
use schedulers::Element;

/// The most elements named for each change.
const MAX_NAMED: usize = 4;

/// `closed: 0`, `opened, ready: 4, 8`; a stream without a name appears as its number.
pub fn in_words(
    changes: &[(TreeChange, Element)],
    names: &BTreeMap<Element, String>,
) -> Vec<String> {
    let opened = elements(changes, TreeChange::Opened);
    let mut ready = elements(changes, TreeChange::Ready);
    let (opened_ready, opened): (Vec<Element>, Vec<Element>) =
        opened.into_iter().partition(|it| ready.contains(it));
    ready.retain(|it| !opened_ready.contains(it));
    let parts = [
        ("sent", elements(changes, TreeChange::Sent)),
        ("closed", elements(changes, TreeChange::Closed)),
        ("opened, ready", opened_ready),
        ("opened", opened),
        ("ready", ready),
        ("signalled", elements(changes, TreeChange::Signalled)),
    ];
    let said = parts.into_iter().filter(|(_, elements)| !elements.is_empty());
    said.map(|(verb, elements)| format!("{verb}: {}", listed(&elements, names))).collect()
}

fn elements(changes: &[(TreeChange, Element)], change: TreeChange) -> Vec<Element> {
    changes.iter().filter(|it| it.0 == change).map(|it| it.1).collect()
}

fn listed(elements: &[Element], names: &BTreeMap<Element, String>) -> String {
    if elements.len() > MAX_NAMED {
        let are_streams = elements.iter().all(|it| it.stream().is_some());
        let what = if are_streams { "streams" } else { "elements" };
        return format!("{} {what}", elements.len());
    }
    let names = elements.iter().map(|element| match (names.get(element), element) {
        (Some(name), _) => name.clone(),
        (None, Element::Stream(stream)) => stream.0.to_string(),
        (None, other) => other.to_string(),
    });
    names.collect::<Vec<_>>().join(", ")
}
