//! Table 2 on larger pages, by geometric means, and as the paper's own server and client worked.

use super::explanations::other_means;
use super::matrix::{Buffer, Matrix, geometric_mean_estimate};
use super::published::TABLE_2;
use super::readings::played;
use super::table2::{COLUMNS, Column, cells_that_hold};
use crate::{Estimate, Line, ReproduceError, Row, Setting, Table};
use corpus::{Page, PageSet};
use lab::study::statistics::{geometric_mean, mean};
use std::sync::Arc;

/// Pages with the sizes that pages of the web have.
const WEB: &str = "web";

/// The schemes that the paper's implementation had otherwise than its text.
const AS_RUN: [&str; 7] = [
    "dfifo@quicker",
    "firefox@quicker",
    "p+@quicker",
    "s+@quicker",
    "bucket@quicker",
    "bucket-html@quicker",
    "zeroweight@quicker",
];

/// Kinds of pages and of means: their IDs, words, and whether the mean is geometric.
const READINGS: [(&str, &str, bool); 2] =
    [("", "mean", false), ("geometric-", "geometric mean", true)];

/// The pages of the web, loaded as the pages of the kept results were.
pub(super) fn of_the_web(setting: &Setting) -> Result<Matrix, ReproduceError> {
    let set = PageSet::find(WEB)
        .ok_or_else(|| ReproduceError::Unusable(format!("no set of pages is named `{WEB}`")))?;
    let pages: Vec<Arc<Page>> = set.pages().into_iter().map(|it| Arc::new(it.clone())).collect();
    Matrix::load(&pages, &[Buffer::NONE, Buffer::K1000], setting.jobs)
}

/// The 30 cells on the pages of the web, and what holds of each column by pages and means.
pub(super) fn rows(kept: &Matrix, web: &Matrix) -> Vec<Row> {
    let mut rows = Vec::new();
    for column in COLUMNS {
        for published in TABLE_2 {
            let ours = web.mean_estimate(published.scheme, column.measure);
            let id = format!("web-{}-{}", column.id, published.scheme);
            let metric = format!("mean speedup of {}, {}, on @web", published.scheme, column.name);
            let row = Row::estimated(id, metric, ours).published((column.published)(&published));
            rows.push(row.within(column.tolerance()).in_table("Ours beside theirs, on @web"));
        }
    }
    for (pages, matrix) in [("first-60", kept), ("web", web)] {
        for (id, mean, is_geometric) in READINGS {
            for column in COLUMNS {
                let ours = means(matrix, column, is_geometric);
                let of = format!("{}-{id}{}", pages, column.id);
                let what = format!("{}, {mean}s on @{pages}", column.name);
                let rows_of = whole_column(&ours, column, &of, &what).into_iter();
                rows.extend(rows_of.map(|it| it.in_table("Whole columns, by pages and means")));
            }
        }
    }
    rows
}

/// How many cells hold, and rank and distance together.
fn whole_column(ours: &[f64], column: Column, of: &str, what: &str) -> [Row; 2] {
    let cells = format!("cells of the ten that hold, {what}");
    let pairs: Vec<(f64, f64)> =
        ours.iter().copied().zip(TABLE_2.iter().map(column.published)).collect();
    let agreement = format!("concordance of the ten with the published ones, {what}");
    [
        Row::shown(format!("cells-{of}"), cells, Some(cells_that_hold(ours, column) as f64))
            .note(format!("A table with the column's mean in every cell holds in {}.", column.held_by_its_mean())),
        Row::shown(format!("concordance-{of}"), agreement, concordance(&pairs))
            .published(1.0)
            .at_least(column.spearman)
            .note("Rank and distance together; a table with the column's mean in every cell has 0. The rank correlation has the same limit."),
    ]
}

fn means(matrix: &Matrix, column: Column, is_geometric: bool) -> Vec<f64> {
    let means = TABLE_2.iter().map(|it| {
        let speedups = matrix.speedups(it.scheme, column.measure);
        let values: Vec<f64> = speedups.iter().map(|it| it.1).collect();
        if is_geometric { geometric_mean(&values) } else { super::matrix::mean(&speedups) }
    });
    means.map(|it| it.unwrap_or(f64::NAN)).collect()
}

/// Lin's concordance correlation coefficient (1989): 1 only where all pairs are equal, and 0 where one side has a single value. `None`
/// without pairs.
fn concordance(pairs: &[(f64, f64)]) -> Option<f64> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (first_mean, second_mean) = (mean(&first)?, mean(&second)?);
    let products = pairs.iter().map(|it| (it.0 - first_mean) * (it.1 - second_mean));
    let squares = pairs.iter().map(|it| (it.0 - first_mean).powi(2) + (it.1 - second_mean).powi(2));
    let apart = pairs.len() as f64 * (first_mean - second_mean).powi(2);
    Some(2.0 * products.sum::<f64>() / (squares.sum::<f64>() + apart))
}

/// The geometric means on the pages of the web, and the means as the paper's programs worked.
pub(super) fn tables(web: &Matrix, setting: &Setting) -> Result<[Table; 2], ReproduceError> {
    let mut geometric = other_means(web);
    geometric.heading += ", on @web";
    Ok([geometric, as_implemented(setting)?])
}

/// Requests at recorded times, and the schemes as the paper's server had them.
fn as_implemented(setting: &Setting) -> Result<Table, ReproduceError> {
    let pages = setting.pages.iter().map(|it| Ok(Arc::new(played(it)?)));
    let pages = pages.collect::<Result<Vec<_>, ReproduceError>>()?;
    let matrix = Matrix::load_under(&pages, &[Buffer::NONE, Buffer::K1000], &AS_RUN, setting.jobs)?;
    let lines = TABLE_2.iter().map(|published| {
        let as_run = format!("{}@quicker", published.scheme);
        let scheme = AS_RUN.into_iter().find(|it| **it == as_run).unwrap_or(published.scheme);
        let values = COLUMNS.iter().flat_map(|column| {
            let speedups = matrix.speedups(scheme, column.measure);
            [super::matrix::mean_estimate(&speedups), geometric_mean_estimate(&speedups)]
        });
        Line { labels: vec![scheme.to_owned()], values: values.collect::<Vec<Estimate>>() }
    });
    Ok(Table {
        heading: "As implemented: requests at the times of a recording, and the schemes as the paper's server had them, where it \
                  departs from the text (but an SVG is an image here, and was XML there)"
            .to_owned(),
        labels: vec!["scheme"],
        columns: COLUMNS
            .iter()
            .flat_map(|it| [format!("{}, mean", it.name), format!("{}, geometric mean", it.name)])
            .collect(),
        lines: lines.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_column_means_has_no_concordance_and_the_printed_one_has_all() {
        for column in COLUMNS {
            let published: Vec<f64> = TABLE_2.iter().map(column.published).collect();
            let middle = mean(&published).expect("ten");
            let with = |ours: &dyn Fn(f64) -> f64| {
                let pairs: Vec<_> = published.iter().map(|it| (ours(*it), *it)).collect();
                (concordance(&pairs).expect("ten") * 100.0).round() / 100.0
            };
            assert_eq!((with(&|_| middle), with(&|it| it)), (0.0, 1.0), "{}", column.name);
            // The same order and twice as far: ranks alone would hold.
            assert!(with(&|it| 2.0 * it) < column.spearman, "{}", column.name);
        }
    }
}
