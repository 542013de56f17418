//! Why an order is better or worse: the resources that it moves earlier or later.

use crate::study::RunRecord;
use crate::study::statistics::{hodges_lehmann, median};
use corpus::Page;
use serde::Serialize;
use std::collections::BTreeMap;

/// Resources that are named.
const NAMED: usize = 5;

/// A resource whose completion moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// Its ID in the page.
    pub id: usize,
    /// Its URL.
    pub url: String,
    /// Whether a visitor sees it first.
    pub above_fold: bool,
    /// Milliseconds by which it completes later than under the present order (Hodges and Lehmann, as for all visible effects);
    /// negative: earlier.
    pub later_ms: f64,
}

/// The resources of `page` that moved most, in loads with the same seeds.
pub(super) fn moved(page: &Page, present: &[&RunRecord], under: &[&RunRecord]) -> Vec<Moved> {
    let mut rows = all_moved(page, present, under);
    rows.truncate(NAMED);
    rows
}

/// All resources that moved, those that moved most first.
pub(super) fn all_moved(page: &Page, present: &[&RunRecord], under: &[&RunRecord]) -> Vec<Moved> {
    let mut later: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in under {
        let mut present = present.iter().filter(|it| it.completed && run.completed);
        let Some(before) = present.find(|before| before.seed == run.seed) else { continue };
        let before: BTreeMap<usize, f64> = completions(before).collect();
        for (id, complete_ms) in completions(run) {
            later.entry(id).or_default().extend(before.get(&id).map(|it| complete_ms - it));
        }
    }
    let mut rows: Vec<Moved> = Vec::new();
    for (id, later) in later {
        let Some(resource) = page.resources.get(id) else { continue };
        let estimate = hodges_lehmann(&later).map(|it| it.0);
        if let Some(later_ms) = estimate.filter(|later_ms| *later_ms != 0.0) {
            let above_fold = resource.above_fold;
            rows.push(Moved { id, url: page.url(id), above_fold, later_ms });
        }
    }
    rows.sort_by(|one, other| other.later_ms.abs().total_cmp(&one.later_ms.abs()));
    rows
}

/// The ratio of a resource's completion to that in the present order, the median over seeds.
pub(super) fn later(id: usize, present: &[&RunRecord], under: &[&RunRecord]) -> Option<f64> {
    let times = under.iter().filter_map(|run| {
        let before = present.iter().find(|it| it.seed == run.seed)?;
        let (_, complete_ms) = completions(run).find(|it| it.0 == id)?;
        let (_, before_ms) = completions(before).find(|it| it.0 == id)?;
        Some(complete_ms / before_ms)
    });
    median(&times.collect::<Vec<_>>())
}

fn completions(run: &RunRecord) -> impl Iterator<Item = (usize, f64)> {
    run.resources.iter().filter_map(|it| Some((it.id, it.complete_ms?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::ResourceTimes;

    fn run(seed: u64, completions: &[f64]) -> RunRecord {
        let times = |(id, complete_ms): (usize, &f64)| ResourceTimes {
            id,
            url: "".into(),
            requested_ms: 0.0,
            first_byte_ms: None,
            complete_ms: Some(*complete_ms),
            bytes: 1,
            pushed: false,
        };
        let resources = completions.iter().enumerate().map(times).collect();
        RunRecord { seed, completed: true, resources, ..RunRecord::default() }
    }

    #[test]
    fn the_five_that_moved_most_are_named_by_the_estimate_of_the_headline() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let present = [0, 1, 2].map(|seed| run(seed, &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]));
        let under = [
            run(0, &[10.0, 25.0, 24.0, 40.5, 20.0, 60.0, 90.0]),
            run(1, &[10.0, 26.0, 23.0, 40.5, 10.0, 61.0, 90.0]),
            run(2, &[10.0, 27.0, 22.0, 40.5, 30.0, 62.0, 90.0]),
            // Without a partner.
            run(9, &[0.0; 7]),
        ];
        let rows = moved(page, &present.each_ref(), &under.each_ref());
        let told: Vec<(usize, f64)> = rows.iter().map(|it| (it.id, it.later_ms)).collect();
        assert_eq!(told, [(4, -30.0), (6, 20.0), (2, -7.0), (1, 6.0), (5, 1.0)]);
        assert_eq!(rows[0].url, page.url(4));
        // 271, 269 and 149 ms earlier: 239.5 is the middle of the means of any two of them.
        let [now, then] = [[271.0, 269.0, 149.0], [0.0; 3]]
            .map(|all| (0..).zip(all).map(|(seed, ms)| run(seed, &[ms])).collect::<Vec<_>>());
        let [now, then] = [&now, &then].map(|it| it.iter().collect::<Vec<_>>());
        let estimates: Vec<f64> = moved(page, &now, &then).iter().map(|it| it.later_ms).collect();
        assert_eq!(estimates, [-239.5]);
    }
}
