//! Each scheme against the baseline: how large the difference is over sites, and whether it is more than chance.

use super::bootstrap::bootstrap_geometric_mean;
use super::dimension::varied;
use super::paired_tests::{Method, SignedRanks, holm};
use super::run::RunRecord;
use super::setting::Setting;
use super::statistics::{Interval, Weighted, hodges_lehmann, mean, weighted_mean};
use super::summary::{LoadSpeedups, Pages, Paired, by_site, grouped};
use qlog_tools::metrics::{BySet, Metric, Set};
use qlog_tools::report::{PairedNumbers, PairedRow};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One scheme against the baseline in one setting. A ratio above 1: the scheme is better.
///
/// A pair is a site: the geometric mean of the ratios of its pages, because pages of one template are not independent. In a
/// study of one page, a pair is two loads with the same seed; they count once if the seeds changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The scheme.
    pub scheme: String,
    /// The scheme that it is compared with.
    pub baseline: String,
    /// The network, the send buffer, and what else the study varies.
    #[serde(flatten)]
    pub setting: Setting,
    /// Pages with a load that completed under both schemes.
    pub pages: usize,
    /// The sites that they come from.
    pub sites: usize,
    /// What makes a pair.
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
    /// The two-sided p of Wilcoxon's signed-rank test; null with fewer than six pairs.
    pub wilcoxon_p: BySet,
    /// How it was computed.
    pub wilcoxon_method: BySet<Method>,
    /// The same p, adjusted by Holm for the schemes that are compared with the baseline in this setting.
    pub holm_p: BySet,
    /// The better of the two, if the adjusted p is below 0.05 and the interval does not contain 1.
    pub winner: BySet<String>,
}

/// What makes a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A site, with all of its pages.
    Sites,
    /// Two loads of the only page with the same seed.
    Loads,
}

impl Unit {
    /// As in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sites => "sites",
            Self::Loads => "loads",
        }
    }
}

/// The highest probability with which any winner of a setting may be named by chance.
pub(crate) const LEVEL: f64 = 0.05;

/// One row for each scheme but the baseline and each setting, in the order of first appearance.
pub fn compare<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    baseline: &'a str,
    pages: &Pages<impl Fn(&'a str) -> &'a str, impl Fn(&'a str) -> f64>,
) -> Vec<ComparisonRow> {
    let baselines = Paired::of(runs, baseline, metric);
    let varied = varied(runs.iter().map(|it| &it.setting));
    let groups = grouped(runs, |it| (&it.scheme, &it.setting));
    let others = groups.iter().filter(|it| it[0].scheme != baseline);
    let counts = |it: &&'a RunRecord| (pages.weight_of)(&it.page) > 0.0;
    let names: BTreeSet<&str> = runs.iter().filter(counts).map(|it| &*it.page).collect();
    let unit = if names.len() == 1 { Unit::Loads } else { Unit::Sites };
    let row = |it: &Vec<&'a RunRecord>| ComparisonRow {
        setting: it[0].setting.told(&varied),
        ..row(it, unit, &baselines, pages)
    };
    let mut rows: Vec<ComparisonRow> = others.map(row).collect();
    adjust(&mut rows);
    for row in &mut rows {
        row.winner = BySet { all: row.winner(Set::All), atf: row.winner(Set::Atf) };
    }
    rows
}

/// The row without the columns that depend on others.
fn row<'a>(
    runs: &[&'a RunRecord],
    pairs_of: Unit,
    baselines: &Paired<'_>,
    of: &Pages<impl Fn(&'a str) -> &'a str, impl Fn(&'a str) -> f64>,
) -> ComparisonRow {
    let speedups = baselines.speedups_by_page(runs, of);
    let outcomes = BySet::each(|set| Outcome::of(&log_ratios(&speedups, set, pairs_of, of)));
    ComparisonRow {
        scheme: runs[0].scheme.clone(),
        baseline: baselines.scheme.to_owned(),
        setting: runs[0].setting.clone(),
        pages: speedups.len(),
        sites: of.sites(&speedups),
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
    }
}

/// The logarithms of ratios as a bootstrap draws them: those of a pair together.
pub(super) fn log_ratios<'a>(
    speedups: &LoadSpeedups<'a>,
    set: Set,
    pairs_of: Unit,
    of: &Pages<impl Fn(&'a str) -> &'a str, impl Fn(&'a str) -> f64>,
) -> Vec<Vec<Weighted>> {
    match pairs_of {
        Unit::Sites => sites(speedups, set, of),
        Unit::Loads => loads(speedups, set),
    }
}

/// The logarithms of the pages' ratios, those of a site together.
fn sites<'a>(
    speedups: &LoadSpeedups<'a>,
    set: Set,
    of: &Pages<impl Fn(&'a str) -> &'a str, impl Fn(&'a str) -> f64>,
) -> Vec<Vec<Weighted>> {
    let pages = speedups.iter().filter_map(|(page, loads)| {
        let weight = (of.weight_of)(page);
        Some((*page, (mean(&logarithms(loads, set))?, weight)))
    });
    by_site(&pages.collect::<Vec<_>>(), &of.site_of)
}

/// Logarithms of ratios that differ by less are those of the same load.
const SAME_LOAD: f64 = 1e-5;

/// Whether these logarithms are all of the same load: the seeds have changed nothing.
pub(crate) fn are_of_one_load(logarithms: &[f64]) -> bool {
    let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min);
    logarithms.iter().all(|it| it - low < SAME_LOAD)
}

/// The logarithms of the ratios of the only page's loads, each alone.
fn loads(speedups: &LoadSpeedups<'_>, set: Set) -> Vec<Vec<Weighted>> {
    let loads: Vec<f64> = speedups.values().flat_map(|it| logarithms(it, set)).collect();
    independent(loads).into_iter().map(|it| vec![(it, 1.0)]).collect()
}

/// The ratios of the only page's loads as a bootstrap draws them: each load alone.
pub(super) fn load_clusters(ratios: &[f64]) -> Vec<Vec<Weighted>> {
    let logarithms: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
    independent(logarithms).into_iter().map(|it| vec![(it.exp(), 1.0)]).collect()
}

/// All loads; one, if the seeds have changed nothing: repetitions would count as evidence. Loads of which only some are alike
/// are all kept, because a rare one must stay rare.
fn independent(mut logarithms: Vec<f64>) -> Vec<f64> {
    if are_of_one_load(&logarithms) {
        logarithms.truncate(1);
    }
    logarithms
}

fn logarithms(loads: &[BySet], set: Set) -> Vec<f64> {
    loads.iter().filter_map(|it| Some(it.get(set)?.ln())).collect()
}

/// What a row says of one set of resources.
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
        let pairs: Vec<f64> = clusters.iter().filter_map(|it| weighted_mean(it)).collect();
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

/// Adjusts the p of each setting's schemes for how many they are, for each set of resources by itself.
fn adjust(rows: &mut [ComparisonRow]) {
    let mut families: BTreeMap<Setting, Vec<&mut ComparisonRow>> = BTreeMap::new();
    for row in rows {
        families.entry(row.setting.clone()).or_default().push(row);
    }
    for family in families.values_mut() {
        for set in Set::BOTH {
            let tested = family.iter_mut().filter(|it| it.wilcoxon_p.get(set).is_some());
            let tested: Vec<_> = tested.collect();
            let p_values = tested.iter().filter_map(|it| it.wilcoxon_p.get(set));
            let adjusted = holm(&p_values.collect::<Vec<f64>>());
            for (row, p) in tested.into_iter().zip(adjusted) {
                match set {
                    Set::All => row.holm_p.all = Some(p),
                    Set::Atf => row.holm_p.atf = Some(p),
                }
            }
        }
    }
}

impl ComparisonRow {
    /// As the report shows it, under the words of its setting.
    pub(super) fn shown(&self, setting: String) -> PairedRow {
        let numbers = |set| {
            let count = |of: BySet<usize>| of.get(set);
            Some(PairedNumbers {
                wins_ties_losses: [count(self.wins)?, count(self.ties)?, count(self.losses)?],
                geometric_mean: self.geometric_mean_ratio.get(set)?,
                interval: self.geometric_mean_ratio_interval.get(set),
                hodges_lehmann: self.hodges_lehmann_ratio.get(set)?,
                rank_biserial: self.rank_biserial.get(set),
                p: self.wilcoxon_p.get(set),
                adjusted_p: self.holm_p.get(set),
                winner: self.winner.get(set),
            })
        };
        let (all, atf) = (numbers(Set::All), numbers(Set::Atf));
        PairedRow { setting, scheme: self.scheme.clone(), pairs_of: self.pairs_of.name(), all, atf }
    }

    fn winner(&self, set: Set) -> Option<String> {
        let interval = self.geometric_mean_ratio_interval.get(set)?;
        match better(self.holm_p.get(set)?, interval, self.rank_biserial.get(set)?)? {
            Side::Scheme => Some(self.scheme.clone()),
            Side::Baseline => Some(self.baseline.clone()),
        }
    }
}

/// One of the two that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Scheme,
    Baseline,
}

/// The better one, if the adjusted p says so and the ranks and the interval agree.
fn better(adjusted_p: f64, [low, high]: Interval, ranks: f64) -> Option<Side> {
    match ranks > 0.0 {
        _ if adjusted_p >= LEVEL => None,
        true if low > 1.0 => Some(Side::Scheme),
        false if high < 1.0 => Some(Side::Baseline),
        _ => None,
    }
}

/// Which schemes are worse than the one that the logarithms of their ratios are over, by the rule that names winners; the p
/// of these tests are adjusted for as many as there are. `None` with fewer than six pairs.
pub(super) fn are_behind(log_ratios: &[Vec<Vec<Weighted>>]) -> Vec<Option<bool>> {
    let outcomes: Vec<Option<Outcome>> = log_ratios.iter().map(|it| Outcome::of(it)).collect();
    let p_values = outcomes.iter().flatten().filter_map(|it| Some(it.p?.0));
    let mut adjusted = holm(&p_values.collect::<Vec<f64>>()).into_iter();
    let is_behind = |outcome: &Option<Outcome>| {
        let outcome = outcome.filter(|it| it.p.is_some())?;
        let adjusted_p = adjusted.next()?;
        let side = better(adjusted_p, outcome.interval?, outcome.rank_biserial?);
        Some(side == Some(Side::Baseline))
    };
    outcomes.iter().map(is_behind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::metrics::byte_index;

    fn run(page: &str, scheme: &str, seed: u64, atf: f64) -> RunRecord {
        RunRecord {
            page: page.into(),
            scheme: scheme.into(),
            seed,
            completed: true,
            metrics: [("byte_index", BySet { all: None, atf: Some(atf) })].into_iter().collect(),
            ..RunRecord::default()
        }
    }

    /// Pages named by a digit, whose site is `s` from "6" on.
    fn site_of(page: &str) -> &str {
        if page < "6" { page } else { "s" }
    }

    type AllAlike = Pages<fn(&str) -> &str, fn(&str) -> f64>;

    fn pages() -> AllAlike {
        Pages { site_of, weight_of: |_| 1.0 }
    }

    /// A load of each page under each scheme, by the scheme's index on each.
    fn runs(schemes: &[(&str, [f64; 8])]) -> Vec<RunRecord> {
        let of = |(scheme, indices): &(&str, [f64; 8])| {
            let pages = indices.iter().enumerate();
            pages.map(|(page, atf)| run(&page.to_string(), scheme, 0, *atf)).collect::<Vec<_>>()
        };
        schemes.iter().flat_map(of).collect()
    }

    fn near(one: Option<f64>, other: f64) {
        assert!(one.is_some_and(|it| (it - other).abs() < 1e-9), "{one:?}, not {other}");
    }

    #[test]
    fn a_pair_is_a_site_whose_pages_count_as_their_geometric_mean() {
        // Six sites of one page are twice as fast; of the seventh, one page is 8 times as fast and one half as fast.
        let runs = runs(&[
            ("rr", [200.0, 200.0, 200.0, 200.0, 200.0, 200.0, 800.0, 100.0]),
            ("fifo", [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 200.0]),
        ]);
        let rows = compare(&runs, byte_index(), "rr", &pages());
        assert_eq!(rows.len(), 1, "the baseline is not compared with itself");
        let row = &rows[0];
        assert_eq!((&*row.scheme, &*row.baseline, row.pages, row.sites), ("fifo", "rr", 8, 7));
        assert_eq!((row.pairs_of, row.pairs.atf), (Unit::Sites, Some(7)));
        assert_eq!((row.wins.atf, row.ties.atf, row.losses.atf), (Some(7), Some(0), Some(0)));
        near(row.geometric_mean_ratio.atf, 2.0);
        near(row.hodges_lehmann_ratio.atf, 2.0);
        // One of the 2 ^ 7 ways to give signs, in either direction.
        assert_eq!(row.wilcoxon_p.atf, Some(2.0 / 128.0));
        assert_eq!(
            (row.wilcoxon_method.atf, row.holm_p.atf),
            (Some(Method::Exact), Some(2.0 / 128.0))
        );
        assert_eq!((row.rank_biserial.atf, row.winner.atf.as_deref()), (Some(1.0), Some("fifo")));
        assert_eq!((row.pairs.all, row.geometric_mean_ratio.all), (None, None));
    }

    #[test]
    fn two_schemes_that_are_exchanged_give_the_reciprocal_and_the_same_p() {
        let runs = runs(&[
            ("fifo", [100.0, 90.0, 80.0, 70.0, 110.0, 100.0, 100.0, 95.0]),
            ("dfifo", [95.0, 70.0, 85.0, 60.0, 100.0, 100.0, 70.0, 90.0]),
        ]);
        let of = |baseline| compare(&runs, byte_index(), baseline, &pages()).remove(0);
        let (one, other) = (of("fifo"), of("dfifo"));
        assert_eq!((&*one.scheme, &*other.scheme), ("dfifo", "fifo"));
        let reciprocal = |of: fn(&ComparisonRow) -> Option<f64>| {
            near(of(&one), 1.0 / of(&other).expect("known"));
        };
        reciprocal(|it| it.geometric_mean_ratio.atf);
        reciprocal(|it| it.hodges_lehmann_ratio.atf);
        let ends = |it: &ComparisonRow| it.geometric_mean_ratio_interval.atf.expect("seven sites");
        near(Some(ends(&one)[0]), 1.0 / ends(&other)[1]);
        near(Some(ends(&one)[1]), 1.0 / ends(&other)[0]);
        assert_eq!(one.wilcoxon_p, other.wilcoxon_p);
        assert_eq!(one.rank_biserial.atf, other.rank_biserial.atf.map(|it| -it));
        let counts = |it: &ComparisonRow| (it.wins.atf, it.ties.atf, it.losses.atf);
        assert_eq!(counts(&one), (Some(5), Some(1), Some(1)));
        assert_eq!(counts(&other), (Some(1), Some(1), Some(5)));
    }

    #[test]
    fn p_is_adjusted_for_the_schemes_of_its_setting_and_a_winner_needs_it() {
        let half = [50.0; 8];
        let schemes =
            [("rr", [100.0; 8]), ("a", half), ("b", half), ("c", half), ("rr2", [100.0; 8])];
        let of = |count: usize| compare(&runs(&schemes[..count]), byte_index(), "rr", &pages());
        let three = of(4);
        assert!(three.iter().all(|it| it.holm_p.atf == Some(3.0 * 2.0 / 128.0)));
        assert!(three.iter().all(|it| it.winner.atf.as_deref() == Some(&*it.scheme)));
        // With a fourth, 4 / 64 is not below 5 %. Ties alone have a p of 1.
        let four = of(5);
        assert_eq!(four[0].holm_p.atf, Some(4.0 * 2.0 / 128.0));
        assert!(four.iter().all(|it| it.winner.atf.is_none()));
        assert_eq!((four[3].ties.atf, four[3].wilcoxon_p.atf), (Some(7), Some(1.0)));
        assert_eq!(four[3].geometric_mean_ratio_interval.atf, Some([1.0, 1.0]));
    }

    #[test]
    fn other_settings_are_another_family() {
        let on = |network: &str, runs: Vec<RunRecord>| {
            let setting = Setting { network: network.into(), ..Setting::default() };
            runs.into_iter().map(move |it| RunRecord { setting: setting.clone(), ..it })
        };
        let two = [("rr", [100.0; 8]), ("a", [50.0; 8]), ("b", [50.0; 8])];
        let runs: Vec<RunRecord> = on("3g", runs(&two)).chain(on("lte", runs(&two[..2]))).collect();
        let rows = compare(&runs, byte_index(), "rr", &pages());
        let holm: Vec<_> = rows.iter().map(|it| (&*it.setting.network, it.holm_p.atf)).collect();
        let p = 2.0 / 128.0;
        assert_eq!(holm, [("3g", Some(2.0 * p)), ("3g", Some(2.0 * p)), ("lte", Some(p))]);
    }

    #[test]
    fn fewer_than_six_sites_have_no_test_no_interval_and_no_winner() {
        let mut few = runs(&[("rr", [100.0; 8]), ("fifo", [50.0; 8])]);
        few.retain(|it| !["0", "1"].contains(&&*it.page));
        let row = compare(&few, byte_index(), "rr", &pages()).remove(0);
        assert_eq!((row.pages, row.sites, row.wins.atf), (6, 5, Some(5)));
        near(row.geometric_mean_ratio.atf, 2.0);
        assert_eq!((row.wilcoxon_p.atf, row.holm_p.atf, row.rank_biserial.atf), (None, None, None));
        assert_eq!((row.geometric_mean_ratio_interval.atf, row.winner.atf), (None, None));
    }

    #[test]
    fn the_pairs_of_one_page_are_its_loads_and_those_without_chance_count_once() {
        let loads = |of: fn(u64) -> f64| -> Vec<RunRecord> {
            (0..9)
                .flat_map(|seed| {
                    [run("0", "rr", seed, 100.0 + of(seed)), run("0", "fifo", seed, 80.0)]
                })
                .collect()
        };
        let random = compare(&loads(|seed| seed as f64), byte_index(), "rr", &pages()).remove(0);
        assert_eq!((random.pairs_of, random.pairs.atf), (Unit::Loads, Some(9)));
        assert_eq!(
            (random.wilcoxon_p.atf, random.winner.atf.as_deref()),
            (Some(2.0 / 512.0), Some("fifo"))
        );
        let microseconds = compare(&loads(|seed| 1e-4 * seed as f64), byte_index(), "rr", &pages());
        assert_eq!((microseconds[0].pairs.atf, microseconds[0].wilcoxon_p.atf), (Some(1), None));
        let certain = compare(&loads(|_| 0.0), byte_index(), "rr", &pages()).remove(0);
        assert_eq!((certain.pairs.atf, certain.wins.atf), (Some(1), Some(1)));
        near(certain.geometric_mean_ratio.atf, 1.25);
        assert_eq!(
            (certain.wilcoxon_p.atf, certain.geometric_mean_ratio_interval.atf),
            (None, None)
        );
    }

    #[test]
    fn a_rare_load_stays_rare() {
        // Of forty loads, two lost a packet that mattered.
        let rare = |seed: u64| if seed % 20 == 7 { 160.0 } else { 80.0 };
        let runs: Vec<RunRecord> = (0..40)
            .flat_map(|seed| [run("0", "rr", seed, 100.0), run("0", "fifo", seed, rare(seed))])
            .collect();
        let row = compare(&runs, byte_index(), "rr", &pages()).remove(0);
        assert_eq!((row.pairs.atf, row.wins.atf, row.losses.atf), (Some(40), Some(38), Some(2)));
        near(
            row.geometric_mean_ratio.atf,
            (1.25_f64.powi(38) * 0.625_f64.powi(2)).powf(1.0 / 40.0),
        );
        assert_eq!(row.winner.atf.as_deref(), Some("fifo"));
    }

    #[test]
    fn a_winner_by_ranks_whose_interval_contains_1_is_not_named() {
        // Nineteen sites gain 1 %, and one is 10,000 times slower.
        let pages = Pages { site_of: |it| it, weight_of: |_: &str| 1.0 };
        let many = |scheme: &str, of: fn(u32) -> f64| -> Vec<RunRecord> {
            (0..20).map(|it| run(&format!("{it:02}"), scheme, 0, of(it))).collect()
        };
        let runs = [many("rr", |_| 101.0), many("fifo", |it| if it == 0 { 1e6 } else { 100.0 })];
        let row = compare(&runs.concat(), byte_index(), "rr", &pages).remove(0);
        assert!(row.holm_p.atf.is_some_and(|it| it < 0.05) && row.rank_biserial.atf > Some(0.0));
        let [low, high] = row.geometric_mean_ratio_interval.atf.expect("twenty sites");
        assert!(low < 1.0 && 1.0 < high, "{low} to {high}");
        assert_eq!(row.winner.atf, None);
    }

    #[test]
    fn a_page_without_weight_counts_in_no_pair() {
        let runs = runs(&[("rr", [100.0; 8]), ("fifo", [50.0; 8])]);
        let weight_of = |page: &str| if page == "0" { 0.0 } else { 0.5 };
        let row = compare(&runs, byte_index(), "rr", &Pages { site_of, weight_of }).remove(0);
        assert_eq!((row.pages, row.sites, row.pairs.atf), (7, 6, Some(6)));
    }
}
