//! What happened between two trees, in words.

use std::collections::BTreeMap;

use qlog_tools::replay::TreeChange;
use schedulers::Element;

/// Elements that are named for each thing that happened.
const MAX_NAMED: usize = 4;

/// `closed: 0`, `opened, ready: 4, 8`; a stream without a name is its number.
pub fn in_words(
    changes: &[(TreeChange, Element)],
    names: &BTreeMap<Element, String>,
) -> Vec<String> {
    let of = |change: TreeChange| -> Vec<Element> {
        changes.iter().filter(|it| it.0 == change).map(|it| it.1).collect()
    };
    let (opened, ready) = (of(TreeChange::Opened), of(TreeChange::Ready));
    let without = |these: &[Element], others: &[Element]| {
        these.iter().filter(|it| !others.contains(it)).copied().collect::<Vec<Element>>()
    };
    let parts = [
        ("sent", of(TreeChange::Sent)),
        ("closed", of(TreeChange::Closed)),
        ("opened, ready", opened.iter().filter(|it| ready.contains(it)).copied().collect()),
        ("opened", without(&opened, &ready)),
        ("ready", without(&ready, &opened)),
        ("signalled", of(TreeChange::Signalled)),
    ];
    let said = parts.into_iter().filter(|(_, elements)| !elements.is_empty());
    said.map(|(verb, elements)| format!("{verb}: {}", listed(&elements, names))).collect()
}

fn listed(elements: &[Element], names: &BTreeMap<Element, String>) -> String {
    if elements.len() > MAX_NAMED {
        let are_streams = elements.iter().all(|it| it.stream().is_some());
        let what = if are_streams { "streams" } else { "elements" };
        return format!("{} {what}", elements.len());
    }
    let name = |it: &Element| match (names.get(it), it) {
        (Some(name), _) => name.clone(),
        (None, Element::Stream(stream)) => stream.0.to_string(),
        (None, other) => other.to_string(),
    };
    elements.iter().map(name).collect::<Vec<_>>().join(", ")
}
