//! A study as one self-contained HTML file: no script, no network.

mod film;
mod page;
mod pairs;
mod schemes;
mod view;

use crate::templates::render;
use figures::{Drawing, FigureStyle, Sheet, Table};
pub use film::{Film, Scene, Strip, film_page};
pub use page::Run;
pub use pairs::{PAIRS_KEY, Pair, PairMatrix};
use qlog_tools::metrics::{BySet, Measured, Metric};
pub use schemes::{SchemeNumbers, SchemeRow, p_text};
use serde::Serialize;

/// Everything that a report shows.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The report's heading.
    pub title: String,
    /// The answers from the loads, a sentence each, the most important one first; empty if there was no question.
    pub answers: Vec<String>,
    /// The conditions, a sentence each: engine, network, buffers, seeds.
    pub conditions: Vec<String>,
    /// The baseline of speedups.
    pub baseline: String,
    /// The metric that speedups compare.
    pub metric: &'static Metric,
    /// Versions, arguments, machine: printed unchanged.
    pub provenance: serde_json::Value,
    /// One row for each scheme and setting, ordered by setting.
    pub schemes: Vec<SchemeRow>,
    /// Each scheme against each other one, a matrix for each setting.
    pub pairs: Vec<PairMatrix>,
    /// Figures over all pages.
    pub figures: Vec<NamedFigure>,
    /// Why some pages lack figures; empty if none does.
    pub omitted: String,
    /// The pages, in order. A page without figures is a line in a table.
    pub pages: Vec<PageComparison>,
}

/// The results of pushes, means over loads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PushMeans {
    /// Promises whose responses the page used.
    pub taken: f64,
    /// Promises that the client refused.
    pub refused: f64,
    /// Pushes that arrived after the client had requested the resource.
    pub late: f64,
    /// Pushed bytes that were not used.
    pub wasted_bytes: f64,
}

/// One page under all schemes.
#[derive(Debug, Clone, Default)]
pub struct PageComparison {
    /// The page.
    pub name: String,
    /// The baseline of speedups.
    pub baseline: String,
    /// Its resources in a sentence.
    pub resources: String,
    /// How the numbers of the rows are made, in a sentence or two.
    pub numbers: String,
    /// One row for each run.
    pub rows: Vec<Row>,
    /// The ribbons, if drawn.
    pub ribbons: Option<Figure>,
    /// The curves of the ATF resources, if drawn.
    pub curve: Option<Figure>,
}

/// One run's numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// Its scheme.
    pub scheme: String,
    /// Its metrics.
    pub metrics: Measured,
    /// From the first request to the last completion, in ms.
    pub duration_ms: Option<f64>,
    /// The middle half of the compared metric above the fold, if there are several loads; the metrics are then
    /// medians.
    pub atf_spread: Option<[f64; 2]>,
    /// Against the baseline.
    pub speedup: BySet,
    /// ATF index divided by its lower bound; 1 is the best possible.
    pub regret: Option<f64>,
    /// Whether the order from a search is proven to be the best or the worst.
    pub proven: Option<bool>,
    /// Why a number is missing.
    pub note: Option<String>,
}

/// A drawing with its text and numbers. The SVG is inserted unchanged, so it must come from this crate.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// Its name.
    pub title: String,
    /// From [`figures`], for a screen.
    pub svg: String,
    /// Below it.
    pub caption: String,
    /// Beside it.
    pub table: Table,
    /// The conditions under which its numbers were measured.
    pub conditions: String,
    /// The same figure for a paper, if requested.
    #[serde(skip)]
    pub print: Option<String>,
}

/// A figure over all pages, and the name of its files.
#[derive(Debug, Clone, Default)]
pub struct NamedFigure {
    /// Letters, digits and hyphens.
    pub name: String,
    /// The figure.
    pub figure: Figure,
}

impl Figure {
    /// Draws a figure for a screen and, if `sheet` is a paper's, also for the paper.
    pub fn of(drawing: &impl Drawing, sheet: &Sheet) -> Self {
        let screen = Sheet { style: FigureStyle::Screen, ..sheet.clone() };
        Self {
            title: drawing.title().to_owned(),
            svg: drawing.draw(&screen),
            caption: drawing.caption(),
            table: drawing.table(),
            conditions: sheet.conditions.clone(),
            print: (sheet.style != FigureStyle::Screen).then(|| drawing.draw(sheet)),
        }
    }
}

/// The report as HTML.
pub fn comparison_report(comparison: &Comparison) -> String {
    let template = include_str!("../templates/comparison.html");
    render("comparison.html", template, view::of(comparison))
}

#[cfg(test)]
mod tests;
