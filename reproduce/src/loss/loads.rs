//! The loads of the study: pages under schemes over links that lose packets.

use super::conditions::Condition;
use crate::{ReproduceError, in_parallel, scheme};
use corpus::Page;
use lab::Metadata;
use lab::stack::{self, Setup};
use lab::study::statistics::{Interval, mean, median};
use lab::study::{BASELINE, RunRecord, summarise, summarise_pages};
use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::metrics::{self, BySet};
use qlog_tools::timeline::Timeline;
use schedulers::Scheme;
use server::{Identity, Options};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pages that are loaded in every condition.
pub(super) struct Plan<'a> {
    pub(super) pages: &'a [Arc<Page>],
    /// `rr` and those that are compared with it.
    pub(super) schemes: &'a [&'static str],
    /// Loads of each page under each scheme, a seed each.
    pub(super) runs: usize,
    pub(super) jobs: usize,
}

/// A scheme in one condition. Speedups are means over pages of `rr`'s value divided by the scheme's, paired by page and
/// seed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) scheme: String,
    /// The arithmetic mean of the speedups by `ByteIndex`, which the rows judge.
    pub(super) speedup: BySet,
    pub(super) interval: BySet<Interval>,
    /// Their geometric mean: a page that gains a hundredfold does not carry it.
    pub(super) geometric: BySet,
    pub(super) geometric_interval: BySet<Interval>,
    /// The middle one of the pages' speedups.
    pub(super) median: BySet,
    /// Pages on which `rr` is better.
    pub(super) rr_better: BySet<usize>,
    /// The geometric mean of the speedups by the time until the last resource is complete.
    pub(super) load_speedup: Option<f64>,
    pub(super) load_interval: Option<Interval>,
    /// How long a byte that has arrived waits for earlier bytes of its stream: the mean over loads.
    pub(super) blocked_ms: Option<f64>,
    /// Loads that did not finish. They count in no speedup.
    pub(super) unfinished: usize,
}

struct Loaded {
    record: RunRecord,
    blocked_ms: f64,
}

impl Plan<'_> {
    pub(super) fn loads(&self, conditions: usize) -> usize {
        conditions * self.pages.len() * self.schemes.len() * self.runs
    }

    /// The outcomes of each condition, in the order of [`Plan::schemes`].
    pub(super) fn measure(
        &self,
        conditions: &[Condition],
    ) -> Result<Vec<Vec<Outcome>>, ReproduceError> {
        let identity = Identity::self_signed().map_err(ReproduceError::unusable)?;
        let schemes = self.schemes.iter().map(|it| scheme(it));
        let schemes: Vec<Scheme> = schemes.collect::<Result<_, _>>()?;
        let mut cells = Vec::new();
        for condition in conditions {
            for page in self.pages {
                for seed in 0..self.runs as u64 {
                    cells.extend(schemes.iter().map(|it| (condition, page, it, seed)));
                }
            }
        }
        let loads: Vec<Loaded> =
            in_parallel(self.jobs, &cells, |(condition, page, scheme, seed)| {
                load(condition, page, scheme, *seed, &identity)
            })?;
        Ok(loads.chunks(self.loads(1).max(1)).map(outcomes).collect())
    }
}

fn load(
    condition: &Condition,
    page: &Arc<Page>,
    scheme: &Scheme,
    seed: u64,
    identity: &Identity,
) -> Result<Loaded, ReproduceError> {
    let options = Options { congestion_control: condition.control, ..Options::new(scheme.clone()) };
    // As the paper's server, which had a resource list.
    let metadata = Metadata::Full;
    let setup = Setup { seed, metadata, ..Setup::new(options, &condition.network, identity) };
    let load = stack::load(page, setup).map_err(ReproduceError::unusable)?.load;
    let record = RunRecord {
        page: page.name.clone(),
        scheme: scheme.name.clone(),
        seed,
        resources: Vec::new(),
        ..RunRecord::of_load(page, &load)
    };
    Ok(Loaded { record, blocked_ms: blocked_ms(&load.timeline) })
}

fn blocked_ms(timeline: &Timeline) -> f64 {
    let frames = timeline.frames.iter().collect();
    HeadOfLine::new(Arrivals { frames: &frames, sent: None, received: None }).intra.mean_ms
}

fn outcomes(loads: &[Loaded]) -> Vec<Outcome> {
    let runs: Vec<RunRecord> = loads.iter().map(|it| it.record.clone()).collect();
    let times = metrics::find("critical_ms").map(|it| summarise(&runs, it, |page| page));
    let indices = summarise(&runs, metrics::byte_index(), |page| page);
    let pages = summarise_pages(&runs, metrics::byte_index(), BASELINE, |_| true);
    let mut outcomes = Vec::new();
    for (index, time) in indices.into_iter().zip(times.unwrap_or_default()) {
        let own = loads.iter().filter(|it| it.record.scheme == index.scheme);
        let rr_better = BySet::each(|set| {
            let own = pages.iter().filter(|it| it.scheme == index.scheme);
            Some(own.filter(|it| it.hodges_lehmann.get(set).is_some_and(|it| it < 1.0)).count())
        });
        outcomes.push(Outcome {
            speedup: index.mean_speedup,
            interval: index.mean_speedup_interval,
            geometric: index.geometric_mean_speedup,
            geometric_interval: index.geometric_mean_speedup_interval,
            median: median_of_pages(&runs, &index.scheme),
            rr_better,
            load_speedup: time.geometric_mean_speedup.all,
            load_interval: time.geometric_mean_speedup_interval.all,
            blocked_ms: mean(&own.map(|it| it.blocked_ms).collect::<Vec<_>>()),
            unfinished: index.unfinished,
            scheme: index.scheme,
        });
    }
    outcomes
}

/// The median over pages of their loads' arithmetic means: the paper's mean.
fn median_of_pages(runs: &[RunRecord], scheme: &str) -> BySet {
    let of = |scheme| runs.iter().filter(move |it| it.scheme == scheme && it.completed);
    let baselines: BTreeMap<(&str, u64), BySet> =
        of(BASELINE).map(|it| ((&*it.page, it.seed), it.byte_index())).collect();
    BySet::each(|set| {
        let mut pages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for run in of(scheme) {
            let baseline = baselines.get(&(&*run.page, run.seed)).and_then(|it| it.get(set));
            let speedup = metrics::byte_index().speedup(baseline, run.byte_index().get(set));
            pages.entry(&run.page).or_default().extend(speedup);
        }
        median(&pages.values().filter_map(|it| mean(it)).collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_over_pages_takes_arithmetic_means_of_pairs_of_finished_loads() {
        let load = |page: &str, scheme: &str, seed, ms, completed| RunRecord {
            page: page.to_owned(),
            scheme: scheme.to_owned(),
            seed,
            completed,
            metrics: [("byte_index", BySet { all: None, atf: Some(ms) })].into_iter().collect(),
            ..RunRecord::default()
        };
        let runs = [
            load("one", BASELINE, 0, 400.0, true),
            load("one", "fifo", 0, 100.0, true),
            load("one", BASELINE, 1, 200.0, true),
            load("one", "fifo", 1, 200.0, true),
            load("other", BASELINE, 0, 300.0, true),
            load("other", "fifo", 0, 100.0, true),
            load("other", BASELINE, 1, 100.0, true),
            load("other", "fifo", 1, 900.0, false),
        ];
        // Ratios of 4 and 1 have the mean 2.5, and the other page has 3.
        assert_eq!(median_of_pages(&runs, "fifo"), BySet { all: None, atf: Some(2.75) });
    }
}
