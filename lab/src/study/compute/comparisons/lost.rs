//! Loads that did not finish under one of two schemes, and whether they could turn a test of the others.

use super::{Unit, log_ratios};
use crate::study::compute::summary::{LoadSpeedups, Paired};
use crate::study::statistics::signed_ranks::SignedRanks;
use crate::study::statistics::weighted_mean;
use crate::study::{Pages, RunRecord};
use qlog_tools::metrics::Set;
use std::collections::BTreeSet;

/// The logarithm of a ratio that is worse than any real one.
const WORST: f64 = 1e6;

/// The loads of a comparison that finished under only one of the two schemes: page and seed.
pub(super) struct Lost<'a> {
    /// Those that did not finish under the scheme.
    pub(super) scheme: BTreeSet<(&'a str, u64)>,
    /// Those that did not finish under the baseline.
    pub(super) baseline: BTreeSet<(&'a str, u64)>,
}

impl<'a> Lost<'a> {
    /// Among the loads of a scheme in a setting. Pages of weight 0 do not count.
    pub(super) fn of(runs: &[&'a RunRecord], baselines: &Paired<'_>, of: &Pages<'a>) -> Self {
        let mut lost = Self { scheme: BTreeSet::new(), baseline: BTreeSet::new() };
        for run in runs.iter().filter(|run| (of.weight_of)(&run.page) > 0.0) {
            match (run.completed, baselines.has(run)) {
                (false, true) => lost.scheme.insert((&run.page, run.seed)),
                (true, false) => lost.baseline.insert((&run.page, run.seed)),
                _ => false,
            };
        }
        lost
    }

    pub(super) fn pages(&self) -> usize {
        let pages = self.scheme.iter().chain(&self.baseline).map(|it| it.0);
        pages.collect::<BTreeSet<_>>().len()
    }
}

/// The p of the signed-rank test if each pair with a `lost` load had been the worst one of the better scheme; 1 if that scheme would
/// then not be better. `None` if nothing is lost.
pub(super) fn worst_p<'a>(
    speedups: &LoadSpeedups<'a>,
    lost: &BTreeSet<(&'a str, u64)>,
    is_better: bool,
    (set, pairs_of, has_chance): (Set, Unit, bool),
    of: &Pages<'a>,
) -> Option<f64> {
    if lost.is_empty() {
        return None;
    }
    let sites: BTreeSet<&str> = lost.iter().map(|it| (of.site_of)(it.0)).collect();
    let (speedups, count) = match pairs_of {
        Unit::Sites => {
            let kept = speedups.iter().filter(|it| !sites.contains((of.site_of)(it.0)));
            (kept.map(|(page, loads)| (*page, loads.clone())).collect(), sites.len())
        }
        Unit::Loads => (speedups.clone(), lost.len()),
    };
    let clusters = log_ratios(&speedups, set, pairs_of, has_chance, of);
    let mut pairs: Vec<f64> = clusters.iter().filter_map(|it| weighted_mean(it)).collect();
    pairs.resize(pairs.len() + count, if is_better { -WORST } else { WORST });
    let ranks = SignedRanks::of(&pairs);
    let stays = ranks.rank_biserial().is_some_and(|it| it != 0.0 && (it > 0.0) == is_better);
    Some(ranks.p().filter(|_| stays).map_or(1.0, |it| it.0))
}
