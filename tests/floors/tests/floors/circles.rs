//! Circles of a graph: modules that all use each other, directly or through others.

use crate::imports::Imports;
use std::collections::{BTreeMap, BTreeSet};

/// The circles, each with its modules.
pub(crate) fn circles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let reach = reach(imports);
    let circle = |module: &&str| -> BTreeSet<&str> {
        let meets = |other: &&&str| reach.get(*other).is_some_and(|it| it.contains(module));
        reach[module].iter().filter(meets).copied().collect()
    };
    reach.keys().map(circle).filter(|it| !it.is_empty()).collect()
}

/// What each module uses, directly or through others.
fn reach(imports: &Imports) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        reach.entry(from).or_default().insert(to);
    }
    loop {
        let mut has_grown = false;
        for module in reach.keys().copied().collect::<Vec<_>>() {
            let next = reach[module].iter().filter_map(|it| reach.get(it)).flatten();
            let next: Vec<&str> = next.copied().collect();
            let known = reach.entry(module).or_default();
            let before = known.len();
            known.extend(next);
            has_grown |= known.len() > before;
        }
        if !has_grown {
            return reach;
        }
    }
}
