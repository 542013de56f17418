//! The results of each scheme: means over pages of the per-page ratio to the baseline, as in the paper, and their certainty.

use crate::study::compute::comparisons::log_ratios;
use crate::study::statistics::bootstrap::{bootstrap_geometric_mean, bootstrap_weighted_mean};
use crate::study::statistics::{
    Interval, Weighted, geometric_mean, mean, weighted_mean, weighted_median,
};
use crate::study::{BASELINE, OnlyAtf, Pages, Pushes, RunRecord, Setting, Unit, varied};
use qlog_tools::metrics::{BySet, METRICS, Measured, Metric, Set};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// One scheme in one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The scheme.
    pub scheme: String,
    /// The network, the send buffer, and the other varied dimensions.
    #[serde(flatten)]
    pub setting: Setting,
    /// Pages that count: pages with a speedup, that is, with a completed load that has the metric under this scheme and, with
    /// the same seed, under the baseline.
    pub pages: usize,
    /// Their sites.
    pub sites: usize,
    /// Pages with a speedup of this set.
    pub speedup_pages: BySet<usize>,
    /// Their sites.
    pub speedup_sites: BySet<usize>,
    /// Loads that did not finish. They count nowhere else.
    pub unfinished: usize,
    /// The mean of each metric over the pages that have it: of each page, the mean over its loads.
    #[serde(flatten, serialize_with = "means")]
    pub mean: Measured,
    /// The number of pages behind each metric's mean: those with a load that has a value. Keys are `pages_byte_index` and so on.
    #[serde(flatten)]
    pub mean_pages: BTreeMap<String, BySet<usize>>,
    /// Mean of the pages' speedups. A page's speedup is the mean of its loads', each relative to the baseline's load over the
    /// same link.
    pub mean_speedup: BySet,
    /// Its 95 % interval, from a bootstrap over sites with all of their pages; for a single page, over its loads, which count
    /// once if the seeds had no effect.
    pub mean_speedup_interval: BySet<Interval>,
    /// The geometric mean over pages of their loads' geometric means. It treats the two compared schemes symmetrically.
    pub geometric_mean_speedup: BySet,
    /// Its 95 % interval, from the same bootstrap.
    pub geometric_mean_speedup_interval: BySet<Interval>,
    /// The median over pages of their loads' geometric means.
    pub median_speedup: BySet,
    /// The page that gains most, by the geometric mean of its loads.
    pub best_page_speedup: BySet,
    /// The page that gains least, by the same mean.
    pub worst_page_speedup: BySet,
    /// Index divided by its lower bound: the same mean; null if there is no lower bound.
    pub mean_regret: OnlyAtf,
    /// Means over the loads that finished under every scheme of the setting, which tables show side by side.
    #[serde(skip)]
    pub side_by_side: SideBySide,
    /// Pages on which the order of a bracket is proven to be the best or the worst; `None` for a scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven_pages: Option<usize>,
    /// The results of pushes, means over completed loads; `None` if the study has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_pushes: Option<Pushes<f64>>,
}

/// Means over the loads that finished under every scheme of a setting. Schemes of which none finished do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SideBySide {
    /// The mean of the study's metric.
    pub mean: BySet,
    /// The mean regret above the fold.
    pub regret: Option<f64>,
}

/// The key of loads that are compared with one another: page, setting and seed.
type Link<'a> = (&'a str, &'a Setting, u64);

/// The completed loads of one scheme, by link: a load is compared with the one over the same link.
pub(crate) struct Paired<'a> {
    pub(crate) scheme: &'a str,
    loads: BTreeMap<Link<'a>, &'a RunRecord>,
    metric: &'static Metric,
}

/// The speedups of each page's loads.
pub(crate) type LoadSpeedups<'a> = BTreeMap<&'a str, Vec<BySet>>;

impl<'a> Paired<'a> {
    /// The loads under `scheme`, for comparing others with them by `metric`.
    pub(crate) fn of(
        runs: impl IntoIterator<Item = &'a RunRecord>,
        scheme: &'a str,
        metric: &'static Metric,
    ) -> Self {
        let completed = runs.into_iter().filter(|it| it.scheme == scheme && it.completed);
        Self { scheme, loads: completed.map(|it| (link(it), it)).collect(), metric }
    }

    /// Whether the load over the same link as `run` finished.
    pub(crate) fn has(&self, run: &RunRecord) -> bool {
        self.loads.contains_key(&link(run))
    }

    /// How many times better `run` is than the load over the same link.
    pub(crate) fn speedup(&self, run: &RunRecord) -> Option<BySet> {
        let baseline = self.loads.get(&link(run)).filter(|_| run.completed)?;
        let [baseline, own] = [baseline, run].map(|it| it.metrics.get(self.metric));
        let speedup = |set| self.metric.speedup(baseline.get(set), own.get(set));
        // Nothing arrives in no time, and a ratio has a logarithm.
        Some(BySet::each(|set| speedup(set).filter(|it| it.is_finite() && *it > 0.0)))
    }

    /// The speedups of `runs`, without pages of weight 0.
    pub(crate) fn speedups_by_page<'b>(
        &self,
        runs: &[&'b RunRecord],
        of: &Pages<'b>,
    ) -> LoadSpeedups<'b> {
        let mut pages = LoadSpeedups::new();
        for run in runs.iter().filter(|run| (of.weight_of)(&run.page) > 0.0) {
            let speedup = self.speedup(run).filter(|it| it.all.or(it.atf).is_some());
            if let Some(speedup) = speedup {
                pages.entry(&run.page).or_default().push(speedup);
            }
        }
        pages
    }
}

/// The key of loads that differ only in their seeds: page, scheme and setting.
pub(crate) type Group<'a> = (&'a str, &'a str, &'a Setting);

pub(crate) fn group(run: &RunRecord) -> Group<'_> {
    (&run.page, &run.scheme, &run.setting)
}

fn link(run: &RunRecord) -> Link<'_> {
    (&run.page, &run.setting, run.seed)
}

/// `runs` in groups with equal keys, in the order of first appearance.
pub(crate) fn grouped<'a, K: Ord + Clone>(
    runs: &'a [RunRecord],
    key: impl Fn(&'a RunRecord) -> K,
) -> Vec<Vec<&'a RunRecord>> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&RunRecord>> = Vec::new();
    for run in runs {
        let place = *places.entry(key(run)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(run);
    }
    groups
}

/// One row for each scheme and setting, in the order of first appearance; speedups are by `metric` over `rr`. `site_of` names
/// the site of a page: bootstraps keep the pages of a site together.
pub fn summarise<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    site_of: impl Fn(&'a str) -> &'a str + Sync + 'a,
) -> Vec<SummaryRow> {
    summarise_weighted(runs, metric, BASELINE, &Pages::new(site_of, |_| 1.0))
}

/// The same with speedups over `baseline` and weighted pages. Pushes are unweighted means over loads.
pub fn summarise_weighted<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    baseline: &'a str,
    pages: &Pages<'a>,
) -> Vec<SummaryRow> {
    let baselines = Paired::of(runs, baseline, metric);
    let varied = varied(runs.iter().map(|it| &it.setting));
    let groups = grouped(runs, |it| (&it.scheme, &it.setting));
    let unit = Unit::of(runs, pages);
    let common = finished_under_all(&groups);
    let rows = groups.par_iter().map(|group| SummaryRow {
        setting: group[0].setting.told(&varied),
        side_by_side: SideBySide::of(group, &common, metric, pages),
        ..row(group, unit, &baselines, pages)
    });
    rows.collect()
}

/// The links over which the loads of all groups of their setting finished, except groups of which none did.
fn finished_under_all<'a>(groups: &[Vec<&'a RunRecord>]) -> BTreeSet<Link<'a>> {
    let finished = groups.iter().filter(|group| group.iter().any(|it| it.completed));
    let (mut some, mut not_all) = (BTreeSet::new(), BTreeSet::new());
    for run in finished.flatten().copied() {
        if run.completed {
            some.insert(link(run))
        } else {
            not_all.insert(link(run))
        };
    }
    some.retain(|it| !not_all.contains(it));
    some
}

impl SideBySide {
    fn of<'a>(
        runs: &[&'a RunRecord],
        common: &BTreeSet<Link<'a>>,
        metric: &'static Metric,
        of: &Pages<'a>,
    ) -> Self {
        let mut runs = runs.to_vec();
        runs.retain(|it| {
            it.completed && (of.weight_of)(&it.page) > 0.0 && common.contains(&link(it))
        });
        Self {
            mean: BySet::each(|set| mean_of(&runs, of, |it| it.metrics.get(metric).get(set))),
            regret: mean_of(&runs, of, RunRecord::regret),
        }
    }
}

/// The row, with all columns from its setting.
fn row<'a>(
    runs: &[&'a RunRecord],
    unit: Unit,
    baselines: &Paired<'_>,
    of: &Pages<'a>,
) -> SummaryRow {
    let pages = baselines.speedups_by_page(runs, of);
    let setting = &runs[0].setting;
    let has_chance = of.has_chance(setting);
    let speedups = BySet::each(|set| Speedups::of(&pages, set, unit, has_chance, of));
    let unfinished = runs.iter().filter(|it| !it.completed).count();
    let mut completed = runs.to_vec();
    completed.retain(|it| it.completed && (of.weight_of)(&it.page) > 0.0);
    SummaryRow {
        scheme: runs[0].scheme.clone(),
        setting: setting.clone(),
        pages: pages.len(),
        sites: of.sites(pages.keys().copied()),
        speedup_pages: speedups.map(|it| Some(it.pages)),
        speedup_sites: speedups.map(|it| Some(it.sites)),
        unfinished,
        mean: Measured::each(|metric| {
            BySet::each(|set| mean_of(&completed, of, |it| it.metrics.get(metric).get(set)))
        }),
        mean_pages: pages_with_values(&completed),
        mean_speedup: speedups.map(|it| it.mean),
        mean_speedup_interval: speedups.map(|it| it.mean_interval),
        geometric_mean_speedup: speedups.map(|it| it.geometric_mean),
        geometric_mean_speedup_interval: speedups.map(|it| it.geometric_mean_interval),
        median_speedup: speedups.map(|it| it.median),
        best_page_speedup: speedups.map(|it| it.best_page),
        worst_page_speedup: speedups.map(|it| it.worst_page),
        mean_regret: OnlyAtf { atf: mean_of(&completed, of, RunRecord::regret) },
        side_by_side: SideBySide::default(),
        proven_pages: proven_pages(&completed),
        mean_pushes: Pushes::means(&completed),
    }
}

/// The mean over pages, with their weights, of the mean over their loads with a value.
fn mean_of<'a>(
    runs: &[&'a RunRecord],
    of: &Pages<'a>,
    value: impl Fn(&RunRecord) -> Option<f64>,
) -> Option<f64> {
    let values = runs.iter().filter_map(|it| Some((&*it.page, value(it)?)));
    let values: Vec<(&str, f64)> = values.collect();
    let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
    for (page, _) in &values {
        *loads.entry(page).or_default() += 1;
    }
    let most = loads.values().copied().max()? as f64;
    // The quotient is exactly 1 if all pages have as many loads.
    let weight = |page| (of.weight_of)(page) * (most / loads[page] as f64);
    weighted_mean(&values.iter().map(|(page, it)| (*it, weight(page))).collect::<Vec<_>>())
}

/// A row's speedups in one set of resources.
#[derive(Clone, Copy)]
struct Speedups {
    pages: usize,
    sites: usize,
    mean: Option<f64>,
    mean_interval: Option<Interval>,
    geometric_mean: Option<f64>,
    geometric_mean_interval: Option<Interval>,
    median: Option<f64>,
    best_page: Option<f64>,
    worst_page: Option<f64>,
}

impl Speedups {
    /// `None` if no page has one.
    fn of<'a>(
        by_page: &LoadSpeedups<'a>,
        set: Set,
        unit: Unit,
        has_chance: bool,
        of: &Pages<'a>,
    ) -> Option<Self> {
        let (pages, sites) = of.counts(by_page, set)?;
        let mut means: Vec<(&'a str, Weighted)> = Vec::new();
        let mut ratios: Vec<Weighted> = Vec::new();
        for (page, loads) in by_page {
            let loads: Vec<f64> = loads.iter().filter_map(|it| it.get(set)).collect();
            let weight = (of.weight_of)(page);
            means.extend(mean(&loads).map(|it| (*page, (it, weight))));
            ratios.extend(geometric_mean(&loads).map(|it| (it, weight)));
        }
        let log_ratios = log_ratios(by_page, set, unit, has_chance, of);
        let drawn = match unit {
            Unit::Sites => by_site(&means, &of.site_of),
            Unit::Loads => exponentials(log_ratios.clone()),
        };
        let means: Vec<Weighted> = means.into_iter().map(|(_, mean)| mean).collect();
        Some(Self {
            pages,
            sites,
            mean: weighted_mean(&means),
            mean_interval: bootstrap_weighted_mean(&drawn),
            geometric_mean: weighted_mean(&log_ratios.concat()).map(f64::exp),
            geometric_mean_interval: bootstrap_geometric_mean(&log_ratios),
            median: weighted_median(&ratios),
            best_page: ratios.iter().map(|it| it.0).max_by(f64::total_cmp),
            worst_page: ratios.iter().map(|it| it.0).min_by(f64::total_cmp),
        })
    }
}

fn exponentials(mut clusters: Vec<Vec<Weighted>>) -> Vec<Vec<Weighted>> {
    clusters.iter_mut().flatten().for_each(|(value, _)| *value = value.exp());
    clusters
}

/// The number of pages of these loads with a value of each metric.
fn pages_with_values(runs: &[&RunRecord]) -> BTreeMap<String, BySet<usize>> {
    let mut counts = BTreeMap::new();
    for metric in &METRICS {
        let pages = BySet::each(|set| {
            let with_value = runs.iter().filter(|it| it.metrics.get(metric).get(set).is_some());
            let pages: BTreeSet<&String> = with_value.map(|it| &it.page).collect();
            (!pages.is_empty()).then_some(pages.len())
        });
        counts.insert(format!("pages_{}", metric.name), pages);
    }
    counts
}

/// The number of pages with a proven bracket; `None` if these loads are not of a bracket.
fn proven_pages(runs: &[&RunRecord]) -> Option<usize> {
    let mut known = runs.iter().filter_map(|it| Some((&it.page, it.proven?))).peekable();
    known.peek()?;
    Some(known.filter(|it| it.1).map(|it| it.0).collect::<BTreeSet<_>>().len())
}

/// The values of pages, grouped by site.
pub fn by_site<'a, V: Copy>(
    pages: &[(&'a str, V)],
    site_of: impl Fn(&'a str) -> &'a str,
) -> Vec<Vec<V>> {
    let mut sites: BTreeMap<&str, Vec<V>> = BTreeMap::new();
    for (page, value) in pages {
        sites.entry(site_of(page)).or_default().push(*value);
    }
    sites.into_values().collect()
}

/// Each metric of these loads, reduced to one number by `of`.
pub(crate) fn measured(runs: &[&RunRecord], of: fn(&[f64]) -> Option<f64>) -> Measured {
    Measured::each(|metric| {
        BySet::each(|set| {
            let values = runs.iter().filter_map(|it| it.metrics.get(metric).get(set));
            of(&values.collect::<Vec<_>>())
        })
    })
}

/// Serializes means as `mean_byte_index` and so on.
fn means<S: Serializer>(mean: &Measured, serializer: S) -> Result<S::Ok, S::Error> {
    mean.prefixed("mean_").serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::OnlyAtf;
    use qlog_tools::metrics::byte_index;

    fn run(page: &str, scheme: &str, atf: f64) -> RunRecord {
        RunRecord {
            page: page.into(),
            scheme: scheme.into(),
            completed: true,
            metrics: [("byte_index", BySet { all: Some(1000.0), atf: Some(atf) })]
                .into_iter()
                .collect(),
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
        let rows = summarise(&runs, byte_index(), |it| it);
        assert_eq!(rows.iter().map(|it| it.scheme.as_str()).collect::<Vec<_>>(), ["rr", "fifo"]);
        assert_eq!(rows[1].mean_speedup, BySet { all: Some(1.0), atf: Some(1.5) });
        assert_eq!(rows[1].worst_page_speedup.atf, Some(1.0));
        assert_eq!(rows[1].best_page_speedup.atf, Some(2.0));
        assert_eq!(rows[1].median_speedup.atf, Some(1.5));
    }

    #[test]
    fn regret_is_the_mean_of_index_over_lower_bound_where_there_is_one() {
        let bounded = |atf| OnlyAtf { atf: Some(atf) };
        let runs = [
            RunRecord { lower_bound: bounded(100.0), ..run("a", "rr", 150.0) },
            RunRecord { lower_bound: bounded(200.0), ..run("b", "rr", 500.0) },
            run("c", "rr", 1000.0),
        ];
        assert_eq!(summarise(&runs, byte_index(), |it| it)[0].mean_regret.atf, Some(2.0));
        assert_eq!(summarise(&runs[2..], byte_index(), |it| it)[0].mean_regret.atf, None);
    }

    #[test]
    fn a_page_that_did_not_complete_does_not_count() {
        let broken = RunRecord { completed: false, ..run("b", "fifo", 1.0) };
        let runs = [run("a", "rr", 1000.0), run("b", "rr", 100.0), run("a", "fifo", 500.0), broken];
        let rows = summarise(&runs, byte_index(), |it| it);
        let row = &rows[1];
        assert_eq!((row.pages, row.unfinished, row.mean_speedup.atf), (1, 1, Some(2.0)));
        assert_eq!(row.mean.byte_index().atf, Some(500.0));
    }

    #[test]
    fn a_mean_is_over_pages_also_if_some_have_fewer_loads() {
        let seeded = |page, scheme, seed, atf| RunRecord { seed, ..run(page, scheme, atf) };
        let lost = |seed| RunRecord { completed: false, ..seeded("slow", "fifo", seed, 1.0) };
        let pairs =
            |scheme: &'static str| (0..3).map(move |seed| seeded("quick", scheme, seed, 1000.0));
        let slow = (0..3).map(|seed| seeded("slow", "rr", seed, 10_000.0));
        let mut runs: Vec<RunRecord> = pairs("rr").chain(slow).chain(pairs("fifo")).collect();
        runs.extend([seeded("slow", "fifo", 0, 10_000.0), lost(1), lost(2)]);
        let rows = summarise(&runs, byte_index(), |it| it);
        let means: Vec<Option<f64>> = rows.iter().map(|it| it.mean.byte_index().atf).collect();
        assert_eq!(means, [Some(5500.0); 2]);
        let shown: Vec<Option<f64>> = rows.iter().map(|it| it.side_by_side.mean.atf).collect();
        assert_eq!(shown, [Some(5500.0); 2]);
    }

    #[test]
    fn each_mean_has_the_number_of_its_own_pages() {
        let fifo = run("a", "fifo", 500.0);
        let shown = BySet::of_page(Some(90.0));
        let metrics = fifo.metrics.clone();
        let with_hero = [("byte_index", metrics.byte_index()), ("hero_render", shown)];
        let runs = [
            run("a", "rr", 1000.0),
            RunRecord { metrics: with_hero.into_iter().collect(), ..fifo },
            // Its baseline did not finish, so it has a mean and no speedup.
            run("b", "fifo", 700.0),
        ];
        let row = &summarise(&runs, byte_index(), |it| it)[1];
        assert_eq!((row.pages, row.mean.byte_index().atf), (1, Some(600.0)));
        assert_eq!(row.mean_pages["pages_byte_index"], BySet { all: Some(2), atf: Some(2) });
        assert_eq!(row.mean_pages["pages_hero_render"], BySet::of_page(Some(1)));
        assert_eq!(row.mean_pages["pages_load"], BySet::default());
    }

    #[test]
    fn a_load_is_compared_with_the_one_of_the_same_seed_and_a_page_counts_once() {
        let seeded = |page, scheme, seed, atf| RunRecord { seed, ..run(page, scheme, atf) };
        let runs = [
            seeded("a", "rr", 0, 100.0),
            seeded("a", "fifo", 0, 100.0),
            seeded("a", "rr", 1, 300.0),
            seeded("a", "fifo", 1, 100.0),
            seeded("b", "rr", 0, 100.0),
            seeded("b", "fifo", 0, 100.0),
        ];
        let row = &summarise(&runs, byte_index(), |it| it)[1];
        // Page a: 1 and 3; page b: 1.
        assert_eq!((row.pages, row.mean_speedup.atf), (2, Some(1.5)));
        assert_eq!(row.mean_speedup_interval.atf, None, "of two pages");
    }

    #[test]
    fn an_interval_needs_six_sites_and_the_geometric_mean_lies_below_the_mean() {
        let speedups = [1.0, 2.0, 4.0, 1.0, 2.0, 4.0, 2.0];
        let runs: Vec<RunRecord> = speedups
            .into_iter()
            .enumerate()
            .flat_map(|(place, speedup)| {
                let page = format!("{place}");
                [run(&page, "rr", 100.0 * speedup), run(&page, "fifo", 100.0)]
            })
            .collect();
        let of = |site_of: fn(&str) -> &str| summarise(&runs, byte_index(), site_of).remove(1);
        let alone = of(|page| page);
        assert_eq!((alone.pages, alone.sites), (7, 7));
        let [low, high] = alone.mean_speedup_interval.atf.expect("seven sites");
        assert!(low < 16.0 / 7.0 && 16.0 / 7.0 < high);
        let near = |one: Option<f64>, other: f64| (one.expect("known") - other).abs() < 1e-12;
        assert!(near(alone.geometric_mean_speedup.atf, 2.0));
        let five = of(|page| if page < "3" { "a" } else { page });
        assert_eq!((five.pages, five.sites, five.mean_speedup_interval.atf), (7, 5, None));
    }

    #[test]
    fn a_page_counts_by_its_weight_and_one_without_does_not() {
        let runs = [
            run("a", "rr", 400.0),
            run("b", "rr", 200.0),
            run("c", "rr", 900.0),
            run("a", "fifo", 100.0),
            run("b", "fifo", 200.0),
            run("c", "fifo", 100.0),
        ];
        let weight_of = |page: &str| match page {
            "a" => 0.75,
            "b" => 0.25,
            _ => 0.0,
        };
        let pages = Pages::new(|it| it, weight_of);
        let fifo = summarise_weighted(&runs, byte_index(), "rr", &pages).remove(1);
        assert_eq!((fifo.pages, fifo.sites, fifo.unfinished), (2, 2, 0));
        // Speedups 4 and 1.
        assert_eq!((fifo.mean_speedup.atf, fifo.median_speedup.atf), (Some(3.25), Some(4.0)));
        assert_eq!(
            (fifo.best_page_speedup.atf, fifo.worst_page_speedup.atf),
            (Some(4.0), Some(1.0))
        );
        assert_eq!(fifo.mean.byte_index().atf, Some(125.0));
        let geometric = fifo.geometric_mean_speedup.atf.expect("two pages");
        assert!((geometric - 4.0_f64.powf(0.75)).abs() < 1e-12);
    }

    #[test]
    fn networks_and_buffers_have_rows_of_their_own() {
        let on = |network: &str, scheme, atf| RunRecord {
            setting: Setting { network: network.into(), ..Setting::default() },
            ..run("a", scheme, atf)
        };
        let runs = [
            on("3g", "rr", 200.0),
            on("3g", "fifo", 100.0),
            on("lte", "rr", 90.0),
            on("lte", "fifo", 30.0),
        ];
        let speedups: Vec<_> =
            summarise(&runs, byte_index(), |it| it).iter().map(|it| it.mean_speedup.atf).collect();
        assert_eq!(speedups, [Some(1.0), Some(2.0), Some(1.0), Some(3.0)]);
    }
}
