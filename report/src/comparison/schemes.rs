//! The schemes of a study as tables: the answer first, and then the other statistics.

use super::view::{ALL, ATF, Column, PAGE, column, in_unit, interval, table};
use super::{Comparison, PushMeans};
use figures::number_texts::{milliseconds_text, ratio_number};
use figures::speedups::Speedups;
use minijinja::{Value, context};

/// A scheme in a setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemeRow {
    /// The network, the send buffer and the other varied dimensions, in words; empty if there is one setting.
    pub setting: String,
    /// The same, shorter.
    pub label: String,
    /// The scheme.
    pub scheme: String,
    /// The unit of a pair: `sites` or `loads`.
    pub unit: &'static str,
    /// For the resources above the fold, or for the page.
    pub atf: SchemeNumbers,
    /// For all resources.
    pub all: SchemeNumbers,
    /// Mean of the index above the fold divided by its lower bound; 1 is the best possible.
    pub regret: Option<f64>,
    /// On how many pages, and of how many, the order from a search is proven to be the best or the worst.
    pub proven: Option<(usize, usize)>,
    /// The results of pushes; `None` if the study has none.
    pub pushes: Option<PushMeans>,
}

/// A scheme's results for a set of resources. A ratio above 1 means that the scheme is better than the
/// baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemeNumbers {
    /// The mean of the compared metric over loads, in its unit.
    pub value: Option<f64>,
    /// The geometric mean of the ratios.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Pairs in which the scheme is better, both are equal, and the baseline is better.
    pub wins_ties_losses: Option<[usize; 3]>,
    /// The test's verdict, in a word or two.
    pub verdict: &'static str,
    /// Whether the verdict is that the scheme is better.
    pub is_better: bool,
    /// Hodges and Lehmann's estimate of the ratio.
    pub hodges_lehmann: Option<f64>,
    /// The matched-pairs rank-biserial correlation, from -1 to 1.
    pub rank_biserial: Option<f64>,
    /// The p-value of Wilcoxon's signed-rank test.
    pub p: Option<f64>,
    /// The same, adjusted for the number of schemes in the setting.
    pub adjusted_p: Option<f64>,
    /// The pages' ratios. Their arithmetic mean is present if a study repeats one with such means.
    pub speedups: Speedups,
    /// The 95 % interval of the arithmetic mean.
    pub mean_interval: Option<[f64; 2]>,
}

impl SchemeNumbers {
    /// The number of pairs.
    pub fn pairs(&self) -> Option<usize> {
        self.wins_ties_losses.map(|it| it.iter().sum())
    }

    /// `38 / 0 / 4`.
    pub fn counts(&self) -> Option<String> {
        self.wins_ties_losses.map(|it| it.map(|it| it.to_string()).join(" / "))
    }
}

/// A p-value with its meaningful digits.
pub fn p_text(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

pub(super) type NumbersOf = fn(&SchemeRow) -> &SchemeNumbers;

/// The resources that the answer concerns, with their name.
pub(super) fn main_set(comparison: &Comparison) -> (&'static str, NumbersOf) {
    let has_atf = comparison.schemes.iter().any(|it| it.atf.speedups.pages > 0);
    match comparison.metric.is_of_page() {
        true => (PAGE, |it| &it.atf),
        false if has_atf => (ATF, |it| &it.atf),
        false => (ALL, |it| &it.all),
    }
}

pub(super) fn answer_table(comparison: &Comparison) -> Option<Value> {
    let (place, of) = main_set(comparison);
    let columns = answer_columns(comparison, of);
    let metric = comparison.metric.heading;
    let caption = format!(
        "{metric} of {} divided by that of each scheme, {place}: above 1, the scheme is better. The {metric} itself is the arithmetic mean \
         over loads.",
        comparison.baseline
    );
    named_table(comparison, &columns, caption)
}

/// The tables of the other statistics, for the set of the answer and for all resources.
pub(super) fn other_tables(comparison: &Comparison) -> Vec<Value> {
    let (place, of) = main_set(comparison);
    let mut tables = Vec::new();
    let caption = format!(
        "Other statistics of the same loads, {place}. A page is the geometric mean of its loads."
    );
    tables.extend(named_table(comparison, &other_columns(of), caption));
    if place == ATF {
        let of: NumbersOf = |it| &it.all;
        let columns = [answer_columns(comparison, of), other_columns(of)];
        let mut columns: Vec<Column<SchemeRow>> = columns.into_iter().flatten().collect();
        columns.retain(|it| !OF_ROW.contains(&&*it.heading));
        tables.extend(named_table(comparison, &columns, format!("The same for {ALL}.")));
    }
    tables
}

fn named_table(
    comparison: &Comparison,
    columns: &[Column<SchemeRow>],
    caption: String,
) -> Option<Value> {
    let rows = &comparison.schemes;
    let names = rows.iter().map(|it| (it.scheme.clone(), None)).collect();
    let settings: Vec<String> = rows.iter().map(|it| it.setting.clone()).collect();
    let has_numbers = rows.iter().any(|row| columns.iter().any(|it| it.has(row)));
    has_numbers.then(|| context! { caption, table => table(rows, names, &settings, columns) })
}

const REGRET: &str = "regret";
const PROVEN: &str = "proven";
const PUSHES: [&str; 4] =
    ["pushes taken", "pushes refused", "pushes late", "bytes pushed and wasted"];
/// Columns that do not depend on the set of resources.
const OF_ROW: [&str; 6] = [REGRET, PROVEN, PUSHES[0], PUSHES[1], PUSHES[2], PUSHES[3]];

fn answer_columns(comparison: &Comparison, of: NumbersOf) -> Vec<Column<SchemeRow>> {
    let unit = comparison.schemes.iter().map(|it| it.unit).find(|it| !it.is_empty());
    let metric = comparison.metric;
    vec![
        column("ratio", move |row: &SchemeRow| of(row).ratio.map(ratio_number))
            .about("The geometric mean, over pages and their loads, of the baseline's value divided by the scheme's"),
        column("95 % interval", move |row: &SchemeRow| interval(of(row).interval)),
        column(unit.unwrap_or("pairs"), move |row: &SchemeRow| {
            of(row).pairs().map(|it| it.to_string())
        }),
        column("verdict", move |row: &SchemeRow| {
            Some(of(row).verdict.to_owned()).filter(|it| !it.is_empty())
        })
        .marked(move |row| of(row).is_better)
        .about(
            "Better or worse: the adjusted p is below 0.05, and the interval does not contain 1",
        ),
        column("better / equal / worse", move |row: &SchemeRow| of(row).counts()),
        column("adjusted p", move |row: &SchemeRow| of(row).adjusted_p.map(p_text))
            .about("Wilcoxon's signed-rank test, adjusted by Holm for the schemes of the setting"),
        column(in_unit(metric), move |row: &SchemeRow| of(row).value.map(milliseconds_text))
            .about("The arithmetic mean over loads"),
        column(REGRET, |row: &SchemeRow| row.regret.map(|it| format!("{it:.2}")))
            .about("ByteIndex divided by its lower bound: 1 is as good as can be"),
        column(PROVEN, |row: &SchemeRow| {
            row.proven.map(|(proven, pages)| format!("{proven} of {pages}"))
        }),
        pushes(PUSHES[0], |it| format!("{:.1}", it.taken)),
        pushes(PUSHES[1], |it| format!("{:.1}", it.refused)),
        pushes(PUSHES[2], |it| format!("{:.1}", it.late)),
        pushes(PUSHES[3], |it| format!("{:.0}", it.wasted_bytes)),
    ]
}

fn other_columns(of: NumbersOf) -> Vec<Column<SchemeRow>> {
    vec![
        column("arithmetic mean", move |row: &SchemeRow| of(row).speedups.mean.map(ratio_number)),
        column("its 95 % interval", move |row: &SchemeRow| interval(of(row).mean_interval)),
        column("Hodges-Lehmann", move |row: &SchemeRow| of(row).hodges_lehmann.map(ratio_number)),
        column("median page", move |row: &SchemeRow| of(row).speedups.median.map(ratio_number)),
        column("best page", move |row: &SchemeRow| of(row).speedups.best.map(ratio_number)),
        column("worst page", move |row: &SchemeRow| of(row).speedups.worst.map(ratio_number)),
        column("effect", move |row: &SchemeRow| {
            of(row).rank_biserial.map(|it| format!("{it:+.2}"))
        })
        .about("The matched-pairs rank-biserial correlation, from -1 to +1"),
        column("p", move |row: &SchemeRow| of(row).p.map(p_text)),
    ]
}

fn pushes(heading: &'static str, text: fn(&PushMeans) -> String) -> Column<SchemeRow> {
    column(heading, move |row: &SchemeRow| row.pushes.as_ref().map(text))
        .about("The mean over loads")
}
