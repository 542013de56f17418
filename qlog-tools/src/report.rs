//! A study as one HTML file that needs nothing else: no script, no network.

mod page;
mod view;

use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use serde::Serialize;

use crate::figures::Table;
pub use page::Run;

/// Everything that a report shows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Comparison {
    /// The report's heading.
    pub title: String,
    /// What was run, in a sentence: engine, network, buffers, seeds.
    pub what: String,
    /// The scheme that speedups are relative to.
    pub baseline: String,
    /// Versions, arguments, machine: printed as it is.
    pub provenance: serde_json::Value,
    /// One row a scheme.
    pub summary: Vec<SummaryRow>,
    /// Figures over all pages.
    pub figures: Vec<NamedFigure>,
    /// Why not every page has its figures; empty if all have.
    pub omitted: String,
    /// The pages, in order. One without figures is a line in a table.
    pub pages: Vec<PageComparison>,
}

/// A scheme's speedups over all pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The network and send buffer, where there are several: each has a table of its own.
    pub setting: String,
    /// The scheme.
    pub scheme: String,
    /// Of all resources.
    pub all: Speedups,
    /// Of the ATF resources.
    pub atf: Speedups,
    /// The 95 % interval of the mean of the ATF resources.
    pub atf_interval: Option<[f64; 2]>,
    /// Mean of ATF index divided by its lower bound; 1 is as good as can be.
    pub regret: Option<f64>,
}

/// A distribution of per-page speedups; `None` without any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Speedups {
    /// Pages that have a speedup.
    pub pages: usize,
    /// The mean of the per-page ratios.
    pub mean: Option<f64>,
    /// The middle one.
    pub median: Option<f64>,
    /// The highest.
    pub best: Option<f64>,
    /// The lowest.
    pub worst: Option<f64>,
}

/// One page under all schemes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageComparison {
    /// The page.
    pub name: String,
    /// Its resources in a sentence.
    pub resources: String,
    /// One row a run.
    pub rows: Vec<Row>,
    /// The ribbons, if drawn.
    pub ribbons: Option<Figure>,
    /// The curves of the ATF resources, if drawn.
    pub curve: Option<Figure>,
}

/// One run's numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its scheme.
    pub scheme: String,
    /// The exact index in ms.
    pub byte_index: Pair,
    /// The paper's, sampled each 100 ms.
    pub sampled: Pair,
    /// Of bytes as they came.
    pub progressive: Pair,
    /// From the first request to the last completion, in ms.
    pub duration_ms: Option<f64>,
    /// Of several loads, the middle half of the ATF indices, in ms; the indices themselves are then medians.
    pub atf_spread: Option<[f64; 2]>,
    /// Against the baseline.
    pub speedup: Pair,
    /// ATF index divided by its lower bound; 1 is as good as can be.
    pub regret: Option<f64>,
    /// Why a number is missing.
    pub note: Option<String>,
}

/// A number for all resources and one for the ATF set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Pair {
    /// Of all resources.
    pub all: Option<f64>,
    /// Of the ATF resources; `None` when there are none.
    pub atf: Option<f64>,
}

/// A drawing with its words and numbers. The SVG goes into the report as it is, so it must be
/// one of this crate's.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// From [`crate::figures`].
    pub svg: String,
    /// Below it.
    pub caption: String,
    /// Beside it.
    pub table: Table,
}

/// A figure over all pages, and the name of its files.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NamedFigure {
    /// Letters, digits and hyphens.
    pub name: String,
    /// The figure.
    pub figure: Figure,
}

impl PageComparison {
    /// Whether it has figures.
    pub fn is_drawn(&self) -> bool {
        self.ribbons.is_some() || self.curve.is_some()
    }
}

impl Comparison {
    /// A comparison of `pages`, its summary computed from their rows; schemes in order of first
    /// appearance.
    pub fn new(title: &str, baseline: &str, pages: Vec<PageComparison>) -> Self {
        let mut summary: Vec<SummaryRow> = Vec::new();
        for row in pages.iter().flat_map(|page| &page.rows) {
            if !summary.iter().any(|known| known.scheme == row.scheme) {
                summary.push(summarize(&pages, &row.scheme));
            }
        }
        let (title, baseline) = (title.to_owned(), baseline.to_owned());
        Self { title, baseline, summary, pages, ..Self::default() }
    }
}

fn summarize(pages: &[PageComparison], scheme: &str) -> SummaryRow {
    let rows: Vec<&Row> =
        pages.iter().flat_map(|page| &page.rows).filter(|row| row.scheme == scheme).collect();
    SummaryRow {
        scheme: scheme.to_owned(),
        all: Speedups::of(rows.iter().filter_map(|row| row.speedup.all).collect()),
        atf: Speedups::of(rows.iter().filter_map(|row| row.speedup.atf).collect()),
        ..SummaryRow::default()
    }
}

impl Speedups {
    /// The distribution of these ratios.
    pub fn of(mut ratios: Vec<f64>) -> Self {
        ratios.sort_by(f64::total_cmp);
        let pages = ratios.len();
        if pages == 0 {
            return Self::default();
        }
        Self {
            pages,
            mean: Some(ratios.iter().sum::<f64>() / pages as f64),
            median: Some(f64::midpoint(ratios[(pages - 1) / 2], ratios[pages / 2])),
            best: ratios.last().copied(),
            worst: ratios.first().copied(),
        }
    }
}

/// The report as HTML.
///
/// # Panics
/// Never: the template is part of the program, and a test renders all of it.
pub fn comparison_report(comparison: &Comparison) -> String {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.expect("only white space is configured"));
    environment
        .add_template("comparison.html", include_str!("../templates/comparison.html"))
        .expect("the template parses");
    let template = environment.get_template("comparison.html").expect("it was just added");
    template.render(view::of(comparison)).expect("the template asks for nothing that is missing")
}

#[cfg(test)]
mod tests;
