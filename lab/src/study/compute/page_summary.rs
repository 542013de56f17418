//! The results of each page: how good each scheme is for it, and how certain that is.

use crate::study::compute::summary::{Paired, group, grouped, measured};
use crate::study::statistics::{Interval, hodges_lehmann, median};
use crate::study::{Pushes, RunRecord, Setting, varied};
use qlog_tools::metrics::{BySet, Measured, Metric};
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
    /// The ratio to the baseline, load by load: Hodges and Lehmann's estimate.
    pub speedup: BySet,
    /// Its 95 % interval; null with fewer than six pairs of loads. Without randomness, the ratio itself.
    pub speedup_interval: BySet<Interval>,
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
/// `baseline`.
pub fn summarise_pages(
    runs: &[RunRecord],
    metric: &'static Metric,
    baseline: &str,
    chance: bool,
) -> Vec<PageRow> {
    let baselines = Paired::of(runs, baseline, metric);
    let varied = varied(runs.iter().map(|it| &it.setting));
    let groups = grouped(runs, group);
    groups.iter().map(|it| row(it, it[0].setting.told(&varied), &baselines, chance)).collect()
}

fn row(runs: &[&RunRecord], setting: Setting, baselines: &Paired<'_>, chance: bool) -> PageRow {
    let completed: Vec<&RunRecord> = runs.iter().filter(|it| it.completed).copied().collect();
    let speedups: Vec<BySet> = completed.iter().filter_map(|it| baselines.speedup(it)).collect();
    let ratio = BySet::each(|set| {
        Ratio::of(&speedups.iter().filter_map(|it| it.get(set)).collect::<Vec<_>>(), chance)
    });
    PageRow {
        page: runs[0].page.clone(),
        scheme: runs[0].scheme.clone(),
        setting,
        loads: completed.len(),
        unfinished: runs.len() - completed.len(),
        median: measured(&completed, median),
        speedup: ratio.map(|it| Some(it.middle)),
        speedup_interval: ratio.map(|it| it.interval),
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
