//! The results of each page: how good each scheme is for it, and how certain that is.

use crate::study::compute::comparisons::load_clusters;
use crate::study::compute::summary::{Paired, group, grouped, measured};
use crate::study::statistics::bootstrap::bootstrap_geometric_mean;
use crate::study::statistics::{Interval, geometric_mean, hodges_lehmann, median};
use crate::study::{Pushes, RunRecord, Setting, varied};
use qlog_tools::metrics::{BySet, Measured, Metric};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Serialize, Serializer};

/// One page under one scheme in one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageRow {
    /// The page.
    pub page: String,
    /// The scheme.
    pub scheme: String,
    /// The network, the send buffer, and the other varied dimensions.
    #[serde(flatten)]
    pub setting: Setting,
    /// Loads that completed.
    pub loads: usize,
    /// Loads that did not.
    pub unfinished: usize,
    /// The median of each metric.
    #[serde(flatten, serialize_with = "medians")]
    pub median: Measured,
    /// The geometric mean of the ratios to the baseline, load by load.
    pub speedup: BySet,
    /// Its 95 % interval; null with fewer than six pairs of loads that differ. Without randomness, the ratio itself.
    pub speedup_interval: BySet<Interval>,
    /// Hodges and Lehmann's estimate of the same ratio.
    #[serde(skip)]
    pub hodges_lehmann: BySet,
    /// Whether the order of a bracket is proven to be the best or the worst; `None` for a scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    /// The results of pushes, medians over completed loads; `None` if the study has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_pushes: Option<Pushes<f64>>,
}

/// A paired ratio and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) middle: f64,
    /// `None` with too few loads.
    pub(crate) interval: Option<Interval>,
}

impl Ratio {
    /// From the ratios of pairs of loads. Without `chance`, the interval is the ratio itself. `None` without
    /// pairs.
    pub(crate) fn of(ratios: &[f64], chance: bool) -> Option<Self> {
        let logarithms: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
        let (middle, interval) = hodges_lehmann(&logarithms)?;
        let middle = if let [only] = ratios { *only } else { middle.exp() };
        let exact = (!chance).then_some([middle, middle]);
        Some(Self { middle, interval: exact.or(interval.map(|ends| ends.map(f64::exp))) })
    }
}

/// One row for each page, scheme and setting, in the order of first appearance; speedups are by `metric` over
/// `baseline`. `has_chance`: whether seeds have an effect in a setting.
pub fn summarise_pages(
    runs: &[RunRecord],
    metric: &'static Metric,
    baseline: &str,
    has_chance: impl Fn(&Setting) -> bool + Sync,
) -> Vec<PageRow> {
    let baselines = Paired::of(runs, baseline, metric);
    let varied = varied(runs.iter().map(|it| &it.setting));
    let groups = grouped(runs, group);
    let rows = groups.par_iter().map(|group| {
        let setting = &group[0].setting;
        row(group, setting.told(&varied), &baselines, has_chance(setting))
    });
    rows.collect()
}

fn row(runs: &[&RunRecord], setting: Setting, baselines: &Paired<'_>, chance: bool) -> PageRow {
    let completed: Vec<&RunRecord> = runs.iter().filter(|it| it.completed).copied().collect();
    let speedups: Vec<BySet> = completed.iter().filter_map(|it| baselines.speedup(it)).collect();
    let ratios = |set| speedups.iter().filter_map(|it| it.get(set)).collect::<Vec<f64>>();
    let speedup = BySet::each(|set| geometric_mean(&ratios(set)));
    PageRow {
        page: runs[0].page.clone(),
        scheme: runs[0].scheme.clone(),
        setting,
        loads: completed.len(),
        unfinished: runs.len() - completed.len(),
        median: measured(&completed, median),
        speedup,
        speedup_interval: BySet::each(|set| {
            if chance {
                bootstrap_geometric_mean(&load_clusters(&ratios(set), chance))
            } else {
                speedup.get(set).map(|it| [it, it])
            }
        }),
        hodges_lehmann: BySet::each(|set| Some(Ratio::of(&ratios(set), chance)?.middle)),
        // The search does not depend on the seed.
        proven: completed.iter().find_map(|it| it.proven),
        median_pushes: Pushes::medians(&completed),
    }
}

/// Serializes medians as `median_byte_index` and so on.
fn medians<S: Serializer>(median: &Measured, serializer: S) -> Result<S::Ok, S::Error> {
    median.prefixed("median_").serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pages_speedup_is_the_geometric_mean_as_in_every_other_table() {
        // Eight of nine loads are slower, and one is 1.9 times as fast: the middle is below 1, the mean above.
        let load = |scheme: &str, seed, ms| RunRecord {
            page: "a".to_owned(),
            scheme: scheme.to_owned(),
            seed,
            completed: true,
            metrics: [("byte_index", BySet { all: None, atf: Some(ms) })].into_iter().collect(),
            ..RunRecord::default()
        };
        let time_ms = |seed: u64| if seed == 0 { 50.0 } else { 108.0 + seed as f64 / 10.0 };
        let pairs = (0..9).map(|seed| [load("rr", seed, 100.0), load("srpt", seed, time_ms(seed))]);
        let runs: Vec<RunRecord> = pairs.flatten().collect();
        let metric = qlog_tools::metrics::byte_index();
        let row = summarise_pages(&runs, metric, "rr", |_| true).remove(1);
        let whole =
            crate::study::compare(&runs, metric, "rr", &crate::study::Pages::new(|it| it, |_| 1.0));
        let near = |one: Option<f64>, other: Option<f64>| {
            (one.expect("known") - other.expect("known")).abs() < 1e-12
        };
        assert!(near(row.speedup.atf, whole[0].geometric_mean_ratio.atf), "{row:?}");
        assert_eq!(row.speedup_interval.atf, whole[0].geometric_mean_ratio_interval.atf);
        assert!(row.speedup.atf > Some(1.0) && row.hodges_lehmann.atf < Some(1.0), "{row:?}");
    }

    #[test]
    fn a_ratio_of_one_load_is_certain_only_where_nothing_is_left_to_chance() {
        assert_eq!(
            Ratio::of(&[2.0], false),
            Some(Ratio { middle: 2.0, interval: Some([2.0, 2.0]) })
        );
        assert_eq!(Ratio::of(&[2.0], true), Some(Ratio { middle: 2.0, interval: None }));
        assert_eq!(Ratio::of(&[], true), None);
        let six = Ratio::of(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], true).expect("six pairs");
        let [low, high] = six.interval.expect("six pairs");
        assert!((low - 1.0).abs() < 1e-12 && (high - 1.5).abs() < 1e-12 && low < six.middle);
    }
}
