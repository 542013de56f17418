//! The schemes of a study against one another.

use super::Comparison;
use super::schemes::main_set;
use figures::number_texts::{or_dash, ratio_number};
use minijinja::{Value, context};

/// The schemes of a setting against one another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairMatrix {
    /// The varied dimensions, in words; empty if there is one setting.
    pub setting: String,
    /// The schemes, in the order of rows and of columns.
    pub schemes: Vec<String>,
    /// By row and by column; nothing where a scheme meets itself, or where there is no ratio.
    pub cells: Vec<Vec<Option<Pair>>>,
    /// Pairs with a test: the family of the adjusted p.
    pub tests: usize,
    /// Pairs of which one is better.
    pub differences: usize,
}

/// The scheme of a row against that of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The geometric mean of the column's value divided by the row's: above 1, the row's scheme is better.
    pub ratio: f64,
    /// The result of the test for the row's scheme; empty if it shows nothing.
    pub mark: &'static str,
}

impl Pair {
    /// It is better.
    pub const BETTER: &'static str = "+";
    /// It is worse.
    pub const WORSE: &'static str = "-";
    /// It is within 2 %.
    pub const EQUIVALENT: &'static str = "=";

    /// `1.47 +`. The mark has its place even if there is none, so that columns are aligned.
    pub fn text(self) -> String {
        format!("{} {:1}", ratio_number(self.ratio), self.mark)
    }
}

impl PairMatrix {
    /// `3g: the test shows a difference in 31 of 55 pairs.`
    pub fn sentence(&self) -> String {
        let place = match &*self.setting {
            "" => String::new(),
            setting => format!("{setting}: "),
        };
        let (differences, tests) = (self.differences, self.tests);
        format!("{place}the test shows a difference in {differences} of {tests} pairs.")
    }

    /// `1 dfifo`: the name of a row, whose number heads a column.
    pub fn row_names(&self) -> impl Iterator<Item = String> {
        (1..).zip(&self.schemes).map(|(number, scheme)| format!("{number} {scheme}"))
    }
}

/// The meaning of the signs, and the tests for which the p is adjusted.
pub const PAIRS_KEY: &str = "Above 1, the row's scheme is better than the column's. By Wilcoxon's test, adjusted by Holm \
    for all pairs of the setting: + better, - worse, = within 2 %, no sign: none of these is shown.";

/// The tables of all pairs, one for each setting.
pub(super) fn tables(comparison: &Comparison) -> Vec<Value> {
    let (place, _) = main_set(comparison);
    let heading = comparison.metric.heading;
    let tables = comparison.pairs.iter().map(|matrix| {
        let headings = (1..).zip(&matrix.schemes);
        let headings =
            headings.map(|(number, about)| context! { text => number.to_string(), about });
        let lines = matrix.row_names().zip(&matrix.cells).map(|(name, cells)| {
            let cells = cells.iter().map(|it| cell(*it));
            context! { name, section => (), cells => cells.collect::<Vec<_>>(), note => () }
        });
        context! {
            caption => format!("{} Ratios of {heading}, {place}.", matrix.sentence()),
            table => context! {
                is_grouped => false,
                groups => Vec::<Value>::new(),
                headings => headings.collect::<Vec<_>>(),
                has_notes => false,
                lines => lines.collect::<Vec<_>>(),
            },
        }
    });
    tables.collect()
}

fn cell(pair: Option<Pair>) -> Value {
    context! {
        text => or_dash(pair.map(Pair::text)),
        is_better => pair.is_some_and(|it| it.mark == Pair::BETTER),
        is_first => false,
    }
}
