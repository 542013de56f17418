//! How well one study predicts another with the same pages, schemes and settings, such as the playback on `stack` for a browser.

use crate::study::statistics::{Interval, hodges_lehmann, median, spearman};
use crate::study::{RunRecord, Setting};
use qlog_tools::metrics::{Metric, find};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The schemes of a page in one setting, in the measured and the predicted order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The page.
    pub page: String,
    /// The network, and the other varied dimensions.
    #[serde(flatten)]
    pub setting: Setting,
    /// The schemes with finished loads in both studies, by name, with their medians.
    pub schemes: Vec<SchemeMedians>,
    /// Spearman's rank correlation of the medians; null for fewer than three schemes, or if all are equal.
    pub spearman: Option<f64>,
    /// The same between measured loads with even seeds and with odd ones: how well the browser predicts itself. If schemes differ
    /// only by chance, no prediction can be expected to do better.
    pub repeatability: Option<f64>,
    /// Pairs of schemes that the measured loads distinguish: the 95 % interval of the ratio of loads with the same seed is on one
    /// side of 1 (needs six seeds).
    pub told_apart: usize,
    /// Among these, the pairs whose predicted medians are in the same order.
    pub told_alike: usize,
    /// The scheme with the lowest measured median.
    pub winner: String,
    /// The scheme with the lowest predicted median.
    pub predicted_winner: String,
    /// The measured time of the predicted winner divided by the winner's: Hodges and Lehmann's estimate over pairs of loads with the
    /// same seed.
    pub winner_ratio: Option<f64>,
    /// Its 95 % interval; null with fewer than six pairs.
    pub winner_ratio_interval: Option<Interval>,
    /// Whether both are the same, or their difference is within the interval.
    pub is_winner_predicted: bool,
    /// From the first byte of the document to the first request after it, the measured median over all loads; null without such a
    /// request. Browsers take this time to commit to a document ([`corpus::Page::commit_ms`]); the order does not affect it.
    pub commit_ms: Option<f64>,
    /// As predicted.
    pub predicted_commit_ms: Option<f64>,
}

/// Medians of one scheme, in the unit of the metric; load events in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemeMedians {
    /// The scheme.
    pub scheme: String,
    /// As measured.
    pub measured: f64,
    /// As predicted.
    pub predicted: f64,
    /// When the load event fired, as measured.
    pub load_ms: Option<f64>,
    /// As predicted.
    pub predicted_load_ms: Option<f64>,
}

/// Loads by page and setting, then by scheme.
type Loads<'a> = BTreeMap<(&'a str, &'a Setting), BTreeMap<&'a str, Vec<&'a RunRecord>>>;

/// Each page and setting that both studies loaded. The metric counts above the fold, or over all resources if a page has none there.
pub fn agreements(
    measured: &[RunRecord],
    predicted: &[RunRecord],
    metric: &Metric,
) -> Vec<Agreement> {
    let (measured, predicted) = (by_scheme(measured), by_scheme(predicted));
    let mut agreements = Vec::new();
    for (key @ (page, setting), ours) in &measured {
        let Some(theirs) = predicted.get(key) else { continue };
        agreements.extend(Agreement::of(page, setting, ours, theirs, metric));
    }
    agreements
}

fn by_scheme(runs: &[RunRecord]) -> Loads<'_> {
    let mut loads = Loads::new();
    for run in runs.iter().filter(|run| run.completed) {
        let of_case = loads.entry((run.page.as_str(), &run.setting)).or_default();
        of_case.entry(run.scheme.as_str()).or_default().push(run);
    }
    loads
}

fn median_of(runs: &[&RunRecord], metric: &Metric) -> Option<f64> {
    median(&runs.iter().filter_map(|it| it.value(metric)).collect::<Vec<_>>())
}

impl SchemeMedians {
    fn of(
        scheme: &str,
        measured: &[&RunRecord],
        predicted: &[&RunRecord],
        metric: &Metric,
    ) -> Option<Self> {
        let load = find("load")?;
        Some(Self {
            scheme: scheme.to_owned(),
            measured: median_of(measured, metric)?,
            predicted: median_of(predicted, metric)?,
            load_ms: median_of(measured, load),
            predicted_load_ms: median_of(predicted, load),
        })
    }
}

impl Agreement {
    fn of(
        page: &str,
        setting: &Setting,
        measured: &BTreeMap<&str, Vec<&RunRecord>>,
        predicted: &BTreeMap<&str, Vec<&RunRecord>>,
        metric: &Metric,
    ) -> Option<Self> {
        let mut schemes: Vec<SchemeMedians> = Vec::new();
        for (scheme, ours) in measured {
            let Some(theirs) = predicted.get(scheme) else { continue };
            schemes.extend(SchemeMedians::of(scheme, ours, theirs, metric));
        }
        let winner = schemes.iter().min_by(|one, other| one.measured.total_cmp(&other.measured));
        let winner = winner?.scheme.clone();
        let predicted_winner =
            schemes.iter().min_by(|one, other| one.predicted.total_cmp(&other.predicted));
        let predicted_winner = predicted_winner?.scheme.clone();
        let ratios = ratios(&measured[&*predicted_winner], &measured[&*winner], metric);
        let (winner_ratio, winner_ratio_interval) = hodges_lehmann(&ratios).unzip();
        let winner_ratio_interval = winner_ratio_interval.flatten();
        let is_within = winner_ratio_interval.is_some_and(|it| it[0] <= 1.0);
        let is_winner_predicted = winner == predicted_winner || is_within;
        let pairs: Vec<(f64, f64)> = schemes.iter().map(|it| (it.measured, it.predicted)).collect();
        let halves: Vec<(f64, f64)> =
            schemes.iter().filter_map(|it| halves(&measured[&*it.scheme], metric)).collect();
        let told = told_apart(&schemes, measured, metric);
        Some(Self {
            page: page.to_owned(),
            setting: setting.clone(),
            spearman: rank_correlation(&pairs),
            repeatability: rank_correlation(&halves),
            told_apart: told.len(),
            told_alike: told.iter().filter(|is_alike| **is_alike).count(),
            schemes,
            winner,
            predicted_winner,
            winner_ratio,
            winner_ratio_interval,
            is_winner_predicted,
            commit_ms: median_commit_ms(measured),
            predicted_commit_ms: median_commit_ms(predicted),
        })
    }

    /// The errors of the predicted load events, as shares of the measured ones: one for each scheme.
    pub fn load_errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.schemes.iter().filter_map(|it| Some(it.predicted_load_ms? / it.load_ms? - 1.0))
    }
}

/// Whether the prediction has the right order, for each pair of schemes that the measured loads distinguish.
fn told_apart(
    schemes: &[SchemeMedians],
    measured: &BTreeMap<&str, Vec<&RunRecord>>,
    metric: &Metric,
) -> Vec<bool> {
    let mut told = Vec::new();
    for (place, one) in schemes.iter().enumerate() {
        for other in &schemes[..place] {
            let ratios = ratios(&measured[&*one.scheme], &measured[&*other.scheme], metric);
            let interval = hodges_lehmann(&ratios).and_then(|(_, interval)| interval);
            let predicted = one.predicted.total_cmp(&other.predicted);
            match interval {
                Some([low, _]) if low > 1.0 => told.push(predicted == Ordering::Greater),
                Some([_, high]) if high < 1.0 => told.push(predicted == Ordering::Less),
                _ => {}
            }
        }
    }
    told
}

fn median_commit_ms(loads: &BTreeMap<&str, Vec<&RunRecord>>) -> Option<f64> {
    let commits_ms = loads.values().flatten().filter_map(|run| {
        let document = run.resources.iter().find(|it| it.id == 0)?;
        let first_byte_ms = document.first_byte_ms?;
        let next = run.resources.iter().filter(|it| it.id != 0).map(|it| it.requested_ms);
        Some(next.filter(|it| *it >= first_byte_ms).min_by(f64::total_cmp)? - first_byte_ms)
    });
    median(&commits_ms.collect::<Vec<_>>())
}

fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let correlation = (pairs.len() > 2).then(|| spearman(pairs)).flatten();
    correlation.filter(|it| it.is_finite())
}

/// One load divided by the other, for each seed.
fn ratios(loads: &[&RunRecord], by: &[&RunRecord], metric: &Metric) -> Vec<f64> {
    let ratios = loads.iter().filter_map(|one| {
        let other = by.iter().find(|it| it.seed == one.seed)?;
        Some(one.value(metric)? / other.value(metric)?)
    });
    ratios.filter(|it| it.is_finite()).collect()
}

/// The medians of the loads with even seeds and with odd ones.
fn halves(runs: &[&RunRecord], metric: &Metric) -> Option<(f64, f64)> {
    let (even, odd): (Vec<&RunRecord>, Vec<&RunRecord>) =
        runs.iter().copied().partition(|it| it.seed % 2 == 0);
    Some((median_of(&even, metric)?, median_of(&odd, metric)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Load;
    use crate::browsing::{ObservedLoad, ObservedResource, timeline};
    use qlog_tools::metrics::byte_index;

    /// Loads of one scheme with these times, with seeds from 0.
    fn loads(scheme: &str, times_ms: &[f64]) -> Vec<RunRecord> {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(1);
        let of = |(seed, end_ms): (u64, &f64)| {
            let resource =
                ObservedResource { finished_ms: Some(*end_ms), ..ObservedResource::default() };
            let load_ms = Some(*end_ms * 2.0);
            let seen =
                ObservedLoad { resources: vec![resource], load_ms, ..ObservedLoad::default() };
            let load = Load { completed: true, timeline: timeline(&page, &seen) };
            let run = RunRecord::of_load(&page, &load);
            RunRecord { page: page.name.clone(), scheme: scheme.to_owned(), seed, ..run }
        };
        (0..).zip(times_ms).map(of).collect()
    }

    #[test]
    fn a_prediction_is_judged_by_ranks_and_by_its_winner() {
        let measured = [
            loads("rr", &[300.0, 310.0, 305.0, 300.0, 310.0, 305.0]),
            loads("fifo", &[200.0, 210.0, 205.0, 200.0, 210.0, 205.0]),
            loads("dfifo", &[201.0, 209.0, 203.0, 208.0, 202.0, 206.0]),
        ]
        .concat();
        let predicted = |rr, fifo, dfifo| {
            [loads("rr", &[rr]), loads("fifo", &[fifo]), loads("dfifo", &[dfifo])].concat()
        };
        let judged = |predicted: Vec<RunRecord>| {
            agreements(&measured, &predicted, byte_index()).swap_remove(0)
        };
        let same = judged(predicted(290.0, 200.0, 195.0));
        assert_eq!((&*same.winner, &*same.predicted_winner), ("dfifo", "dfifo"));
        assert_eq!((same.spearman, same.is_winner_predicted), (Some(1.0), true));
        // Medians of even seeds: 305, 205, 202; of odd ones: 305, 205, 208. Two schemes change places.
        assert_eq!(same.repeatability, Some(0.5));
        // `rr` is slower than both others in all six pairs of loads; these two are not told apart.
        assert_eq!((same.told_apart, same.told_alike), (2, 2));
        // The order of two equal ones is chance.
        let close = judged(predicted(290.0, 195.0, 200.0));
        assert_eq!((&*close.predicted_winner, close.is_winner_predicted), ("fifo", true));
        assert_eq!((close.spearman, close.told_alike), (Some(0.5), 2));
        let wrong = judged(predicted(100.0, 195.0, 200.0));
        assert_eq!((&*wrong.predicted_winner, wrong.is_winner_predicted), ("rr", false));
        assert_eq!((wrong.told_apart, wrong.told_alike), (2, 0));
        // A prediction of equality does not distinguish two schemes.
        assert_eq!(judged(predicted(200.0, 200.0, 195.0)).told_alike, 1);
        let errors: Vec<f64> = wrong.load_errors().map(|it| (it * 100.0).round()).collect();
        assert_eq!(errors, [-2.0, -5.0, -67.0]);
    }

    #[test]
    fn a_commit_lasts_from_the_first_byte_of_the_document_to_the_next_request() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let resource = |id, requested_ms, first_ms| ObservedResource {
            id,
            requested_ms,
            arrivals: vec![(first_ms, 1)],
            finished_ms: Some(900.0),
        };
        let seen = ObservedLoad {
            // The last is a preload that a hint requested before the document arrived.
            resources: vec![
                resource(0, 0.0, 50.0),
                resource(1, 88.0, 120.0),
                resource(2, 20.0, 70.0),
            ],
            ..ObservedLoad::default()
        };
        let load = Load { completed: true, timeline: timeline(page, &seen) };
        let run = RunRecord::of_load(page, &load);
        let loads = BTreeMap::from([("rr", vec![&run])]);
        assert_eq!(median_commit_ms(&loads), Some(38.0));
    }

    #[test]
    fn a_page_without_a_prediction_has_no_agreement() {
        assert!(agreements(&loads("rr", &[1.0]), &[], byte_index()).is_empty());
    }
}
