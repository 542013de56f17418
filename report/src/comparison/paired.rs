//! Each scheme against the baseline: ratios, effects and tests of a study as tables of the report.

use super::Comparison;
use super::view::{ALL, ATF, Column, PAGE, column, interval, table, words};
use minijinja::{Value, context};

/// A scheme against the baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairedRow {
    /// The network and send buffer, where there are several: each has a table of its own.
    pub setting: String,
    /// The scheme.
    pub scheme: String,
    /// What makes a pair: `sites` or `loads`.
    pub pairs_of: &'static str,
    /// For all resources; `None` without pairs.
    pub all: Option<PairedNumbers>,
    /// For the ATF resources; `None` without pairs.
    pub atf: Option<PairedNumbers>,
}

/// What the pairs of two schemes say. A ratio above 1: the scheme is better than the baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairedNumbers {
    /// Pairs in which the scheme is better, both are equal, and the baseline is better.
    pub wins_ties_losses: [usize; 3],
    /// The geometric mean of the ratios.
    pub geometric_mean: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Hodges and Lehmann's estimate of the ratio.
    pub hodges_lehmann: f64,
    /// The matched-pairs rank-biserial correlation, from -1 to 1.
    pub rank_biserial: Option<f64>,
    /// The p-value of Wilcoxon's signed-rank test.
    pub p: Option<f64>,
    /// The same, adjusted for the schemes of the setting.
    pub adjusted_p: Option<f64>,
    /// The better of the two, if that is certain enough.
    pub winner: Option<String>,
}

impl PairedRow {
    /// The most pairs of a set.
    fn pairs(&self) -> usize {
        self.all.iter().chain(&self.atf).map(PairedNumbers::pairs).max().unwrap_or(0)
    }
}

impl PairedNumbers {
    fn pairs(&self) -> usize {
        self.wins_ties_losses.iter().sum()
    }

    /// `38 / 0 / 4`.
    fn counts(&self) -> String {
        self.wins_ties_losses.map(|it| it.to_string()).join(" / ")
    }
}

/// The decimals of a ratio, as the program prints it.
const DECIMALS: usize = 3;

fn ratio(value: f64) -> String {
    format!("{value:.DECIMALS$}")
}

/// A p-value with as many digits as say something.
pub fn p_text(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A table for each set of resources and setting; none where each scheme has a single pair, whose ratio is its speedup.
pub(super) fn tables(comparison: &Comparison) -> Vec<Value> {
    let settings = comparison.comparisons.chunk_by(|one, other| one.setting == other.setting);
    let several = settings.filter(|rows| rows.iter().any(|it| it.pairs() > 1));
    several.flat_map(|rows| of_setting(rows, comparison)).collect()
}

fn of_setting(rows: &[PairedRow], comparison: &Comparison) -> Vec<Value> {
    if comparison.metric.is_of_page() {
        return vec![of_set(rows, comparison, PAGE, |it| it.atf.as_ref())];
    }
    let sets: [(_, NumbersOf); 2] = [(ATF, |it| it.atf.as_ref()), (ALL, |it| it.all.as_ref())];
    let sets = sets.into_iter().filter(|(_, of)| rows.iter().any(|it| of(it).is_some()));
    sets.map(|(name, of)| of_set(rows, comparison, name, of)).collect()
}

type NumbersOf = fn(&PairedRow) -> Option<&PairedNumbers>;

fn of_set(rows: &[PairedRow], comparison: &Comparison, name: &'static str, of: NumbersOf) -> Value {
    let pairs = rows.iter().map(|it| of(it).map_or(0, PairedNumbers::pairs));
    let most = pairs.clone().max().unwrap_or(0);
    let unit = rows[0].pairs_of;
    let names = rows.iter().zip(pairs).map(|(row, pairs)| {
        let remark = (pairs < most).then(|| format!("only {pairs} of {most} {unit}"));
        (row.scheme.clone(), remark)
    });
    let names = names.collect();
    let place =
        if rows[0].setting.is_empty() { String::new() } else { format!(", {}", rows[0].setting) };
    context! {
        caption => format!(
            "{} of {} divided by that of each scheme, {name}, over {most} {unit}{place}",
            comparison.metric.heading, comparison.baseline
        ),
        table => table(rows, names, &columns(name, of)),
    }
}

/// The columns of one set of resources.
fn columns(group: &'static str, of: NumbersOf) -> Vec<Column<PairedRow>> {
    vec![
        text_column(group, "ratio", of, |it| Some(ratio(it.geometric_mean))),
        column(group, "95 % interval", move |row: &PairedRow| {
            interval(of(row)?.interval, DECIMALS)
        }),
        text_column(group, "Hodges-Lehmann", of, |it| Some(ratio(it.hodges_lehmann))),
        text_column(group, "better / equal / worse", of, |it| Some(it.counts())),
        text_column(group, "effect", of, |it| it.rank_biserial.map(|it| format!("{it:+.2}"))),
        text_column(group, "p", of, |it| it.p.map(p_text)),
        text_column(group, "adjusted p", of, |it| it.adjusted_p.map(p_text)),
        text_column(group, "winner", of, |it| it.winner.clone()),
    ]
}

fn text_column(
    group: &'static str,
    heading: &'static str,
    of: NumbersOf,
    text: fn(&PairedNumbers) -> Option<String>,
) -> Column<PairedRow> {
    column(group, heading, move |row: &PairedRow| words(text(of(row)?)))
}
