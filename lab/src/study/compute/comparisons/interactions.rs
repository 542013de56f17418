//! Whether the ratio of a scheme differs between two settings.

use super::{LEVEL, LoadSpeedups, Lost, Outcome, Paired, Unit, better, log_ratios, worst_p};
use crate::study::compute::summary::grouped;
use crate::study::statistics::signed_ranks::holm;
use crate::study::statistics::{Interval, mean};
use crate::study::{Dimension, Pages, RunRecord, Setting, varied};
use qlog_tools::metrics::{BySet, Metric, Set};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The ratio of a scheme over the baseline in one setting, divided by that in another one, site by site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InteractionRow {
    /// The scheme.
    pub scheme: String,
    /// The scheme with which it is compared in both settings.
    pub baseline: String,
    /// The column of the only dimension in which the settings differ.
    pub dimension: &'static str,
    /// The setting whose ratio is divided.
    pub setting: Setting,
    /// The setting by whose ratio it is divided.
    pub other_setting: Setting,
    /// Sites with both ratios.
    pub sites: BySet<usize>,
    /// The geometric mean over pages: above 1, the scheme's ratio is higher in `setting`.
    pub ratio_of_ratios: BySet,
    /// Its 95 % interval; null with fewer than six sites.
    pub ratio_of_ratios_interval: BySet<Interval>,
    /// The two-sided p-value of Wilcoxon's signed-rank test over sites; null with fewer than six.
    pub wilcoxon_p: BySet,
    /// The same with Holm's adjustment for all rows of the dimension.
    pub holm_p: BySet,
    /// Whether the adjusted p is below 0.05, the interval does not contain 1, and the loads that did not finish cannot turn that;
    /// null without a test.
    pub differs: BySet<bool>,
    /// The p if each site with a load that finished under only one of the two schemes had been the worst for the result.
    #[serde(skip)]
    worst_p: BySet,
}

/// The loads of a scheme in a setting.
struct Measured<'a> {
    scheme: &'a str,
    setting: &'a Setting,
    speedups: LoadSpeedups<'a>,
    /// Loads that finished under only one of the scheme and the baseline.
    lost: BTreeSet<(&'a str, u64)>,
}

/// One row for each scheme and each two settings that differ in one dimension. None for duplicate and failed schemes, and none for
/// a single page, whose loads in two settings are not pairs.
pub(crate) fn interactions<'a>(
    runs: &'a [RunRecord],
    metric: &'static Metric,
    baseline: &'a str,
    pages: &Pages<'a>,
) -> Vec<InteractionRow> {
    let varied = varied(runs.iter().map(|it| &it.setting));
    if varied.is_empty() || Unit::of(runs, pages) == Unit::Loads {
        return Vec::new();
    }
    let baselines = Paired::of(runs, baseline, metric);
    let mut groups = grouped(runs, |it| (&it.scheme, &it.setting));
    groups.retain(|it| {
        let run = it[0];
        run.scheme != baseline && !run.has_failed_scheme() && !pages.twins.contains_key(&run.scheme)
    });
    let measured = groups.iter().map(|group| {
        let (scheme, setting) = (&*group[0].scheme, &group[0].setting);
        let Lost { scheme: mut lost, baseline: others } = Lost::of(group, &baselines, pages);
        lost.extend(others);
        Measured { scheme, setting, speedups: baselines.speedups_by_page(group, pages), lost }
    });
    let measured: Vec<Measured<'_>> = measured.collect();
    let mut tests = Vec::new();
    for (place, one) in measured.iter().enumerate() {
        for other in measured[place + 1..].iter().filter(|it| it.scheme == one.scheme) {
            let [dimension] = differing(&varied, one.setting, other.setting)[..] else { continue };
            tests.push((one, other, dimension.column));
        }
    }
    let rows = tests.into_par_iter().map(|(one, other, dimension)| {
        let ratios = divided(&one.speedups, &other.speedups);
        let outcomes =
            BySet::each(|set| Outcome::of(&log_ratios(&ratios, set, Unit::Sites, true, pages)));
        let settings = [one, other].map(|it| it.setting.told(&varied));
        let lost = one.lost.union(&other.lost).copied().collect();
        let worst_p = BySet::each(|set| {
            let is_higher = outcomes.get(set)?.rank_biserial? > 0.0;
            worst_p(&ratios, &lost, is_higher, (set, Unit::Sites, true), pages)
        });
        let (row, outcomes) = row([one.scheme, baseline], dimension, settings, outcomes);
        (InteractionRow { worst_p, ..row }, outcomes)
    });
    let mut rows: Vec<(InteractionRow, BySet<Outcome>)> = rows.collect();
    judge(&mut rows);
    rows.into_iter().map(|it| it.0).collect()
}

/// The dimensions in which two settings differ; without those that apply in one of them only.
fn differing(
    varied: &[&'static Dimension],
    one: &Setting,
    other: &Setting,
) -> Vec<&'static Dimension> {
    let differing = varied.iter().filter(|it| {
        (it.applies)(one) && (it.applies)(other) && (it.value)(one) != (it.value)(other)
    });
    differing.copied().collect()
}

/// Each page's geometric mean in one setting divided by that in the other one.
fn divided<'a>(one: &LoadSpeedups<'a>, other: &LoadSpeedups<'a>) -> LoadSpeedups<'a> {
    let of_both = one.iter().filter_map(|(page, loads)| {
        let others = other.get(page)?;
        let ratio = BySet::each(|set| {
            let [one, other] = [loads, others].map(|it| mean(&super::logarithms(it, set)));
            Some((one? - other?).exp())
        });
        Some((*page, vec![ratio]))
    });
    of_both.collect()
}

fn row(
    [scheme, baseline]: [&str; 2],
    dimension: &'static str,
    [setting, other_setting]: [Setting; 2],
    outcomes: BySet<Outcome>,
) -> (InteractionRow, BySet<Outcome>) {
    let row = InteractionRow {
        scheme: scheme.to_owned(),
        baseline: baseline.to_owned(),
        dimension,
        setting,
        other_setting,
        sites: outcomes.map(|it| Some(it.wins + it.ties + it.losses)),
        ratio_of_ratios: outcomes.map(|it| Some(it.geometric_mean)),
        ratio_of_ratios_interval: outcomes.map(|it| it.interval),
        wilcoxon_p: outcomes.map(|it| Some(it.p?.0)),
        holm_p: BySet::default(),
        differs: BySet { all: None, atf: None },
        worst_p: BySet::default(),
    };
    (row, outcomes)
}

/// Adjusts the p of each dimension's rows for their number, and says which ratios differ.
fn judge(rows: &mut [(InteractionRow, BySet<Outcome>)]) {
    for set in Set::ALL {
        let mut families: BTreeMap<&str, Vec<&mut (InteractionRow, BySet<Outcome>)>> =
            BTreeMap::new();
        for row in rows.iter_mut().filter(|it| it.0.wilcoxon_p.get(set).is_some()) {
            families.entry(row.0.dimension).or_default().push(row);
        }
        for family in families.into_values() {
            let p_values = family.iter().filter_map(|it| it.0.wilcoxon_p.get(set));
            let adjusted = holm(&p_values.collect::<Vec<f64>>());
            for ((row, outcomes), p) in family.into_iter().zip(adjusted) {
                let worst = row.worst_p.get(set).zip(row.wilcoxon_p.get(set));
                let is_sure = worst.is_none_or(|(worst, own)| worst * (p / own) < LEVEL);
                let differs = outcomes.get(set).and_then(|it| {
                    Some(is_sure && better(p, it.interval?, it.rank_biserial?).is_some())
                });
                row.holm_p = BySet::each(|it| if it == set { Some(p) } else { row.holm_p.get(it) });
                row.differs =
                    BySet::each(|it| if it == set { differs } else { row.differs.get(it) });
            }
        }
    }
}
