//! Which loads did not finish, in words: what every table, figure and sentence of a study leaves out.

use crate::study::{RunRecord, varied};
use std::collections::BTreeMap;

/// Schemes and settings that are named; more are only counted.
const NAMED_MAX: usize = 4;

/// `34 of 300 loads did not finish (34 of 50 under dfifo on cable)`. Loads of a scheme that failed do not count. `None` if all
/// finished.
pub(crate) fn unfinished(runs: &[RunRecord]) -> Option<String> {
    let runs: Vec<&RunRecord> = runs.iter().filter(|it| !it.has_failed_scheme()).collect();
    let varied = varied(runs.iter().map(|it| &it.setting));
    let mut groups: BTreeMap<(&str, String), [usize; 2]> = BTreeMap::new();
    for run in &runs {
        let label = match &varied[..] {
            [] => run.setting.network.clone(),
            varied => run.setting.labels(varied),
        };
        let [unfinished, all] = groups.entry((&run.scheme, label)).or_default();
        *all += 1;
        *unfinished += usize::from(!run.completed);
    }
    let mut groups: Vec<_> = groups.into_iter().filter(|it| it.1[0] > 0).collect();
    groups.sort_by_key(|it| std::cmp::Reverse(it.1[0]));
    let count: usize = groups.iter().map(|it| it.1[0]).sum();
    let more = groups.len().saturating_sub(NAMED_MAX);
    let named = groups.iter().take(NAMED_MAX);
    let mut named: Vec<String> = named
        .map(|((scheme, label), [few, all])| format!("{few} of {all} under {scheme} on {label}"))
        .collect();
    named.extend((more > 0).then(|| format!("and others under {more} more")));
    (count > 0)
        .then(|| format!("{count} of {} loads did not finish ({})", runs.len(), named.join(", ")))
}

/// The same as a condition of numbers.
pub(crate) fn unfinished_condition(runs: &[RunRecord]) -> Option<String> {
    let said = unfinished(runs)?;
    Some(format!(
        "{said}: a ratio is over the loads that finished under both schemes, a mean in the table over those that finished under \
         every scheme"
    ))
}
