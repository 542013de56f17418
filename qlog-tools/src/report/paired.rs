//! Each scheme against the baseline: ratios, effects and tests of a study as tables of the report.

use super::Comparison;
use super::view::{ALL, ATF, Column, PAGE, column, range, ratio, table, words};
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

/// A p-value with as many digits as say something.
pub fn p_text(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// One table a setting; none where each scheme has a single pair, whose ratio is its speedup.
pub(super) fn tables(comparison: &Comparison) -> Vec<Value> {
    let settings = comparison.comparisons.chunk_by(|one, other| one.setting == other.setting);
    let several = |rows: &&[PairedRow]| rows.iter().any(|it| it.pairs() > 1);
    settings.filter(several).map(|rows| of_setting(rows, comparison)).collect()
}

fn of_setting(rows: &[PairedRow], comparison: &Comparison) -> Value {
    let names = rows.iter().map(|row| (row.scheme.clone(), None)).collect();
    let pairs = rows.iter().map(PairedRow::pairs).max().unwrap_or(0);
    let place =
        if rows[0].setting.is_empty() { String::new() } else { format!(", {}", rows[0].setting) };
    let columns = if comparison.metric.is_of_page() {
        columns(PAGE, |it| it.atf.as_ref())
    } else {
        let mut columns = columns(ATF, |it| it.atf.as_ref());
        columns.extend(self::columns(ALL, |it| it.all.as_ref()));
        columns
    };
    context! {
        caption => format!(
            "{} of {} divided by that of each scheme, over {pairs} {}{place}",
            comparison.metric.heading, comparison.baseline, rows[0].pairs_of
        ),
        table => table(rows, names, &columns),
    }
}

/// The columns of one set of resources.
fn columns(
    group: &'static str,
    of: fn(&PairedRow) -> Option<&PairedNumbers>,
) -> Vec<Column<PairedRow>> {
    let text = move |heading, text: fn(&PairedNumbers) -> Option<String>| {
        column(group, heading, move |row: &PairedRow| words(text(of(row)?)))
    };
    vec![
        text("ratio", |it| Some(ratio(it.geometric_mean))),
        column(group, "95 % interval", move |row: &PairedRow| range(of(row)?.interval, ratio)),
        text("Hodges-Lehmann", |it| Some(ratio(it.hodges_lehmann))),
        text("better / equal / worse", |it| Some(it.counts())),
        text("effect", |it| it.rank_biserial.map(|it| format!("{it:+.2}"))),
        text("p", |it| it.p.map(p_text)),
        text("adjusted p", |it| it.adjusted_p.map(p_text)),
        text("winner", |it| it.winner.clone()),
    ]
}
