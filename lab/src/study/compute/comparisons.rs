//! Compares each scheme with the baseline: the size of the difference over sites, and whether it exceeds chance.

mod interactions;
mod lost;

pub use interactions::InteractionRow;
pub(crate) use interactions::interactions;
use lost::{Lost, worst_p};

use crate::study::compute::summary::{LoadSpeedups, Paired, grouped};
use crate::study::statistics::bootstrap::bootstrap_geometric_mean;
use crate::study::statistics::signed_ranks::{Method, SignedRanks, holm};
use crate::study::statistics::{Interval, Weighted, hodges_lehmann, mean, weighted_mean};
use crate::study::{Pages, RunRecord, Setting, by_site, varied};
use qlog_tools::metrics::{BySet, Metric, Set};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One scheme compared with the baseline in one setting. A ratio above 1 means that the scheme is better.
///
/// A pair is a site: the geometric mean of the ratios of its pages, because pages of one template are not independent. In a
/// study of one page, a pair is two loads with the same seed; they count once if the seeds changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The scheme.
    pub scheme: String,
    /// The scheme with which it is compared.
    pub baseline: String,
    /// The network, the send buffer, and the other varied dimensions.
    #[serde(flatten)]
    pub setting: Setting,
    /// Pages with a ratio: under both schemes, a completed load has the metric.
    pub pages: usize,
    /// Their sites.
    pub sites: usize,
    /// Pages with a ratio of this set.
    pub ratio_pages: BySet<usize>,
    /// The unit of a pair.
    pub pairs_of: Unit,
    /// The number of pairs.
    pub pairs: BySet<usize>,
    /// Pairs in which the scheme is better.
    pub wins: BySet<usize>,
    /// Pairs in which both are equal.
    pub ties: BySet<usize>,
    /// Pairs in which the baseline is better.
    pub losses: BySet<usize>,
    /// The geometric mean of the pages' ratios.
    pub geometric_mean_ratio: BySet,
    /// Its 95 % interval; null with fewer than six pairs.
    pub geometric_mean_ratio_interval: BySet<Interval>,
    /// Hodges and Lehmann's estimate of the ratio, over pairs.
    pub hodges_lehmann_ratio: BySet,
    /// The matched-pairs rank-biserial correlation; null with fewer than six pairs.
    pub rank_biserial: BySet,
    /// The two-sided p-value of Wilcoxon's signed-rank test; null with fewer than six pairs.
    pub wilcoxon_p: BySet,
    /// How it was computed.
    pub wilcoxon_method: BySet<Method>,
    /// The same p, with Holm's adjustment for the schemes that are compared with the baseline in this setting. Duplicate schemes
    /// count once, and duplicates of the baseline do not count.
    pub holm_p: BySet,
    /// The better of the two, if the adjusted p is below 0.05, the interval does not contain 1, and the loads that did not finish
    /// cannot turn that.
    pub winner: BySet<String>,
    /// Pages on which a load finished under only one of the two.
    #[serde(skip)]
    pub unfinished_pages: usize,
    /// Whether a winner is not named only because of these pages.
    #[serde(skip)]
    pub in_doubt: BySet<bool>,
    /// The p of the test if each pair with a load that did not finish under the better scheme had been its worst one; `None` without
    /// such a pair.
    #[serde(skip)]
    worst_p: BySet,
}

schedulers::named! {
    /// The unit of a pair.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Unit {
        /// A site, with all of its pages.
        Sites = "sites",
        /// Two loads of the only page with the same seed.
        Loads = "loads",
    }
}

impl Unit {
    /// Sites, unless all counting loads are of one page.
    pub(crate) fn of<'a>(runs: &'a [RunRecord], pages: &Pages<'a>) -> Self {
        let mut names: BTreeSet<&str> = runs.iter().map(|it| &*it.page).collect();
        names.retain(|it| (pages.weight_of)(it) > 0.0);
        if names.len() == 1 { Self::Loads } else { Self::Sites }
    }
}

/// The highest probability that chance names any winner in a setting.
pub(crate) const LEVEL: f64 = 0.05;

/// One row for each scheme, except the baseline and failed ones, and each setting, in the order of first appearance.
pub fn compare<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    baseline: &'a str,
    pages: &Pages<'a>,
) -> Vec<ComparisonRow> {
    if runs.iter().any(|run| run.scheme == baseline && run.has_failed_scheme()) {
        return Vec::new();
    }
    let is_compared = |run: &RunRecord| run.scheme != baseline && !run.has_failed_scheme();
    let mut rows = rows_over(runs, metric, baseline, pages, is_compared);
    judge(&mut rows, &pages.twins);
    rows
}

/// A row for each group of loads that `is_compared`, without what [`judge`] adds.
pub(crate) fn rows_over<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    baseline: &'a str,
    pages: &Pages<'a>,
    is_compared: impl Fn(&RunRecord) -> bool,
) -> Vec<ComparisonRow> {
    let baselines = Paired::of(runs, baseline, metric);
    let varied = varied(runs.iter().map(|it| &it.setting));
    let unit = Unit::of(runs, pages);
    let mut groups = grouped(runs, |it| (&it.scheme, &it.setting));
    groups.retain(|it| is_compared(it[0]));
    let rows = groups.par_iter().map(|group| {
        let setting = group[0].setting.told(&varied);
        ComparisonRow { setting, ..row(group, unit, &baselines, pages) }
    });
    rows.collect()
}

/// Adjusts the p of the rows, where the rows of a setting are a family, and names winners.
pub(crate) fn judge(rows: &mut [ComparisonRow], twins: &BTreeMap<String, String>) {
    adjust(rows, twins);
    for row in rows {
        let named = BySet::each(|set| row.winner(set));
        row.in_doubt = named.clone().map(|_| Some(true));
        row.in_doubt = BySet::each(|set| row.in_doubt.get(set).filter(|_| row.can_turn(set)));
        row.winner = BySet::each(|set| named.get(set).filter(|_| !row.can_turn(set)));
    }
}

/// The row without the columns that depend on others.
fn row<'a>(
    runs: &[&'a RunRecord],
    pairs_of: Unit,
    baselines: &Paired<'_>,
    of: &Pages<'a>,
) -> ComparisonRow {
    let speedups = baselines.speedups_by_page(runs, of);
    let has_chance = of.has_chance(&runs[0].setting);
    let outcomes =
        BySet::each(|set| Outcome::of(&log_ratios(&speedups, set, pairs_of, has_chance, of)));
    let lost = Lost::of(runs, baselines, of);
    ComparisonRow {
        scheme: runs[0].scheme.clone(),
        baseline: baselines.scheme.to_owned(),
        setting: runs[0].setting.clone(),
        pages: speedups.len(),
        sites: of.sites(speedups.keys().copied()),
        ratio_pages: BySet::each(|set| of.counts(&speedups, set).map(|it| it.0)),
        pairs_of,
        pairs: outcomes.map(|it| Some(it.wins + it.ties + it.losses)),
        wins: outcomes.map(|it| Some(it.wins)),
        ties: outcomes.map(|it| Some(it.ties)),
        losses: outcomes.map(|it| Some(it.losses)),
        geometric_mean_ratio: outcomes.map(|it| Some(it.geometric_mean)),
        geometric_mean_ratio_interval: outcomes.map(|it| it.interval),
        hodges_lehmann_ratio: outcomes.map(|it| Some(it.hodges_lehmann)),
        rank_biserial: outcomes.map(|it| it.rank_biserial),
        wilcoxon_p: outcomes.map(|it| Some(it.p?.0)),
        wilcoxon_method: outcomes.map(|it| Some(it.p?.1)),
        holm_p: BySet::default(),
        winner: BySet { all: None, atf: None },
        unfinished_pages: lost.pages(),
        in_doubt: BySet { all: None, atf: None },
        worst_p: BySet::each(|set| {
            let is_better = outcomes.get(set)?.rank_biserial? > 0.0;
            let lost = if is_better { &lost.scheme } else { &lost.baseline };
            worst_p(&speedups, lost, is_better, (set, pairs_of, has_chance), of)
        }),
    }
}

/// The logarithms of ratios in clusters for the bootstrap: the two of a pair stay together. Without randomness, all loads of the
/// only page are one pair.
pub(crate) fn log_ratios<'a>(
    speedups: &LoadSpeedups<'a>,
    set: Set,
    pairs_of: Unit,
    has_chance: bool,
    of: &Pages<'a>,
) -> Vec<Vec<Weighted>> {
    match pairs_of {
        Unit::Sites => sites(speedups, set, of),
        Unit::Loads => {
            let all: Vec<f64> = speedups.values().flat_map(|it| logarithms(it, set)).collect();
            of_loads(all, has_chance)
        }
    }
}

/// The logarithms of the pages' ratios, grouped by site.
fn sites<'a>(speedups: &LoadSpeedups<'a>, set: Set, of: &Pages<'a>) -> Vec<Vec<Weighted>> {
    let pages = speedups.iter().filter_map(|(page, loads)| {
        let weight = (of.weight_of)(page);
        Some((*page, (mean(&logarithms(loads, set))?, weight)))
    });
    by_site(&pages.collect::<Vec<_>>(), &of.site_of)
}

/// Logarithms of ratios that differ by less count as the same load.
const SAME_LOAD: f64 = 1e-5;

/// Whether these logarithms all come from the same load: the seeds had no effect.
pub(crate) fn are_of_one_load(logarithms: &[f64]) -> bool {
    let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min);
    logarithms.iter().all(|it| it - low < SAME_LOAD)
}

/// The logarithms of the only page's loads in clusters for the bootstrap: each load alone. All form one cluster if seeds have no
/// effect, because repetitions would count as evidence. If only some loads are alike, all are kept, because a rare one must stay
/// rare.
fn of_loads(logarithms: Vec<f64>, has_chance: bool) -> Vec<Vec<Weighted>> {
    let is_one = !has_chance || are_of_one_load(&logarithms);
    let loads: Vec<Weighted> = logarithms.into_iter().map(|it| (it, 1.0)).collect();
    match loads.is_empty() {
        true => Vec::new(),
        false if is_one => vec![loads],
        false => loads.into_iter().map(|it| vec![it]).collect(),
    }
}

/// The same of the ratios of a page's loads.
pub(crate) fn load_clusters(ratios: &[f64], has_chance: bool) -> Vec<Vec<Weighted>> {
    of_loads(ratios.iter().map(|it| it.ln()).collect(), has_chance)
}

fn logarithms(loads: &[BySet], set: Set) -> Vec<f64> {
    loads.iter().filter_map(|it| Some(it.get(set)?.ln())).collect()
}

/// A row's results for one set of resources.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    wins: usize,
    ties: usize,
    losses: usize,
    geometric_mean: f64,
    interval: Option<Interval>,
    hodges_lehmann: f64,
    rank_biserial: Option<f64>,
    p: Option<(f64, Method)>,
}

impl Outcome {
    /// `None` without pairs.
    fn of(clusters: &[Vec<Weighted>]) -> Option<Self> {
        let pairs = means(clusters);
        let ranks = SignedRanks::of(&pairs);
        Some(Self {
            wins: ranks.wins(),
            ties: ranks.ties(),
            losses: ranks.losses(),
            geometric_mean: weighted_mean(&clusters.concat())?.exp(),
            interval: bootstrap_geometric_mean(clusters),
            hodges_lehmann: hodges_lehmann(&pairs)?.0.exp(),
            rank_biserial: ranks.rank_biserial(),
            p: ranks.p(),
        })
    }
}

/// The mean of each pair.
fn means(clusters: &[Vec<Weighted>]) -> Vec<f64> {
    clusters.iter().filter_map(|it| weighted_mean(it)).collect()
}

/// Adjusts the p of each setting's rows for their number, separately for each set of resources. `twins` count once.
fn adjust(rows: &mut [ComparisonRow], twins: &BTreeMap<String, String>) {
    let mut families: BTreeMap<Setting, Vec<&mut ComparisonRow>> = BTreeMap::new();
    for row in rows {
        families.entry(row.setting.clone()).or_default().push(row);
    }
    for family in families.values_mut() {
        let adjusted = BySet::each(|set| Some(adjusted(family, twins, set)));
        for (place, row) in family.iter_mut().enumerate() {
            row.holm_p = BySet::each(|set| adjusted.get(set)?[place]);
        }
    }
}

fn adjusted(
    family: &[&mut ComparisonRow],
    twins: &BTreeMap<String, String>,
    set: Set,
) -> Vec<Option<f64>> {
    let tested = family.iter().filter(|it| !twins.contains_key(&it.scheme));
    let tested =
        tested.filter_map(|it| Some(((&it.scheme, &it.baseline), it.wilcoxon_p.get(set)?)));
    let (tests, p_values): (Vec<(&String, &String)>, Vec<f64>) = tested.unzip();
    let of_test: BTreeMap<_, f64> = tests.into_iter().zip(holm(&p_values)).collect();
    let of_rows = family.iter().map(|row| {
        let own = row.wilcoxon_p.get(set)?;
        let name = twins.get(&row.scheme).unwrap_or(&row.scheme);
        // A duplicate of the baseline belongs to no family.
        Some(of_test.get(&(name, &row.baseline)).map_or(own, |it| it.max(own)))
    });
    of_rows.collect()
}

impl ComparisonRow {
    /// Whether the loads that did not finish could turn the test.
    fn can_turn(&self, set: Set) -> bool {
        let adjusted =
            self.worst_p.get(set).zip(self.holm_p.get(set)).zip(self.wilcoxon_p.get(set));
        adjusted.is_some_and(|((worst, holm), p)| worst * (holm / p) >= LEVEL)
    }

    fn winner(&self, set: Set) -> Option<String> {
        let interval = self.geometric_mean_ratio_interval.get(set)?;
        match better(self.holm_p.get(set)?, interval, self.rank_biserial.get(set)?)? {
            Side::Scheme => Some(self.scheme.clone()),
            Side::Baseline => Some(self.baseline.clone()),
        }
    }
}

/// One of two compared schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Scheme,
    Baseline,
}

/// The better one, if the adjusted p is significant and the ranks and the interval agree.
fn better(adjusted_p: f64, [low, high]: Interval, ranks: f64) -> Option<Side> {
    match ranks > 0.0 {
        _ if adjusted_p >= LEVEL => None,
        true if low > 1.0 => Some(Side::Scheme),
        false if high < 1.0 => Some(Side::Baseline),
        _ => None,
    }
}

/// Which of `count` schemes are worse than the one at `best`, by the rule that names winners; `log_ratios` compares one scheme
/// with another. The p-values are adjusted for all pairs, because `best` is chosen by the same loads: if only its own pairs counted,
/// one of eleven equal schemes would often seem worse. `None` with fewer than six pairs.
pub(crate) fn are_behind(
    best: usize,
    count: usize,
    log_ratios: impl Fn(usize, usize) -> Vec<Vec<Weighted>>,
) -> Vec<Option<bool>> {
    let others: Vec<usize> = (0..count).filter(|it| *it != best).collect();
    let over_best: Vec<Vec<Vec<Weighted>>> =
        others.iter().map(|it| log_ratios(*it, best)).collect();
    let p = |ratios: &[Vec<Weighted>]| SignedRanks::of(&means(ratios)).p().map(|it| it.0);
    let mut p_values: Vec<Option<f64>> = over_best.iter().map(|it| p(it)).collect();
    for (place, one) in others.iter().enumerate() {
        p_values.extend(others[..place].iter().map(|other| p(&log_ratios(*one, *other))));
    }
    let tests: Vec<f64> = p_values.iter().copied().flatten().collect();
    let mut adjusted = holm(&tests).into_iter();
    let are_behind = over_best.iter().zip(p_values).map(|(ratios, p)| {
        let adjusted_p = p.and_then(|_| adjusted.next())?;
        if adjusted_p >= LEVEL {
            return Some(false);
        }
        let outcome = Outcome::of(ratios)?;
        let side = better(adjusted_p, outcome.interval?, outcome.rank_biserial?);
        Some(side == Some(Side::Baseline))
    });
    are_behind.collect()
}

#[cfg(test)]
mod tests;
