//! What a study says of each scheme: means over pages of the per-page ratio to `rr`, as in the paper.

use super::run::{Indices, RunRecord};
use qlog_tools::report;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One scheme with one send buffer.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryRow {
    /// The scheme.
    pub scheme: String,
    /// The network.
    pub network: String,
    /// The send buffer.
    pub send_buffer_bytes: u64,
    /// Pages that count: those that completed under this scheme and under `rr`.
    pub pages: usize,
    /// Mean of the per-page speedups.
    pub mean_speedup: Speedups,
    /// Their median.
    pub median_speedup: Speedups,
    /// The page that gains most.
    pub best_page_speedup: Speedups,
    /// The page that gains least.
    pub worst_page_speedup: Speedups,
    /// Mean over completed loads; null where there is no lower bound.
    pub mean_regret: Regret,
}

/// `rr`'s index divided by the scheme's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Speedups {
    /// All resources.
    pub all: Option<f64>,
    /// Those above the fold.
    pub atf: Option<f64>,
}

/// Index divided by its lower bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Regret {
    /// Above the fold.
    pub atf: Option<f64>,
}

/// The scheme that all others are compared with.
const BASELINE: &str = "rr";

/// `rr`'s loads by page, send buffer and seed: a load is compared with the one that met the same link.
type Baselines<'a> = BTreeMap<(&'a str, u64, u64), &'a RunRecord>;

/// One row for each scheme and send buffer, in the order of first appearance.
pub fn summarise(runs: &[RunRecord]) -> Vec<SummaryRow> {
    let baselines: Baselines<'_> = runs
        .iter()
        .filter(|it| it.scheme == BASELINE && it.completed)
        .map(|it| ((it.page.as_str(), it.send_buffer_bytes, it.seed), it))
        .collect();
    let mut order: Vec<(&str, u64)> = Vec::new();
    let mut groups: BTreeMap<(&str, u64), Vec<&RunRecord>> = BTreeMap::new();
    for run in runs {
        let key = (run.scheme.as_str(), run.send_buffer_bytes);
        if !groups.contains_key(&key) {
            order.push(key);
        }
        groups.entry(key).or_default().push(run);
    }
    order.iter().filter_map(|key| Some(row(groups.get(key)?, &baselines))).collect()
}

fn row(runs: &[&RunRecord], baselines: &Baselines<'_>) -> SummaryRow {
    let mut ratios: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let mut pages: BTreeSet<&str> = BTreeSet::new();
    for run in runs.iter().filter(|it| it.completed) {
        let Some(baseline) = baselines.get(&(run.page.as_str(), run.send_buffer_bytes, run.seed))
        else {
            continue;
        };
        pages.insert(&run.page);
        let speedup = speedup(baseline.byte_index, run.byte_index);
        ratios[0].extend(speedup.all);
        ratios[1].extend(speedup.atf);
    }
    let [all, atf] = ratios.map(report::Speedups::of);
    let each = |of: fn(&report::Speedups) -> Option<f64>| Speedups { all: of(&all), atf: of(&atf) };
    SummaryRow {
        scheme: runs[0].scheme.clone(),
        network: runs[0].network.clone(),
        send_buffer_bytes: runs[0].send_buffer_bytes,
        pages: pages.len(),
        mean_speedup: each(|it| it.mean),
        median_speedup: each(|it| it.median),
        best_page_speedup: each(|it| it.best),
        worst_page_speedup: each(|it| it.worst),
        mean_regret: Regret { atf: mean_regret(runs) },
    }
}

fn mean_regret(runs: &[&RunRecord]) -> Option<f64> {
    let completed = runs.iter().filter(|it| it.completed);
    let regrets: Vec<f64> = completed.filter_map(|it| it.regret()).collect();
    (!regrets.is_empty()).then(|| regrets.iter().sum::<f64>() / regrets.len() as f64)
}

/// The speedup of one load over its baseline.
pub(super) fn speedup(baseline: Indices, run: Indices) -> Speedups {
    use qlog_tools::byte_index::speedup;
    Speedups { all: speedup(baseline.all, run.all), atf: speedup(baseline.atf, run.atf) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::LowerBound;

    fn run(page: &str, scheme: &str, atf: f64) -> RunRecord {
        RunRecord {
            page: page.into(),
            scheme: scheme.into(),
            completed: true,
            byte_index: Indices { all: Some(1000.0), atf: Some(atf) },
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_speedup_is_the_mean_of_the_pages_ratios_not_the_ratio_of_the_means() {
        let runs = [
            run("a", "rr", 1000.0),
            run("b", "rr", 100.0),
            run("a", "fifo", 500.0),
            run("b", "fifo", 100.0),
        ];
        let rows = summarise(&runs);
        assert_eq!(rows.iter().map(|it| it.scheme.as_str()).collect::<Vec<_>>(), ["rr", "fifo"]);
        assert_eq!(rows[1].mean_speedup, Speedups { all: Some(1.0), atf: Some(1.5) });
        assert_eq!(rows[1].worst_page_speedup.atf, Some(1.0));
        assert_eq!(rows[1].best_page_speedup.atf, Some(2.0));
        assert_eq!(rows[1].median_speedup.atf, Some(1.5));
    }

    #[test]
    fn regret_is_the_mean_of_index_over_lower_bound_where_there_is_one() {
        let bounded = |atf| LowerBound { atf: Some(atf) };
        let runs = [
            RunRecord { lower_bound: bounded(100.0), ..run("a", "rr", 150.0) },
            RunRecord { lower_bound: bounded(200.0), ..run("b", "rr", 500.0) },
            run("c", "rr", 1000.0),
        ];
        assert_eq!(summarise(&runs)[0].mean_regret.atf, Some(2.0));
        assert_eq!(summarise(&runs[2..])[0].mean_regret.atf, None);
    }

    #[test]
    fn a_page_that_did_not_complete_does_not_count() {
        let broken = RunRecord { completed: false, ..run("b", "fifo", 1.0) };
        let runs = [run("a", "rr", 1000.0), run("b", "rr", 100.0), run("a", "fifo", 500.0), broken];
        let rows = summarise(&runs);
        assert_eq!((rows[1].pages, rows[1].mean_speedup.atf), (1, Some(2.0)));
    }
}
