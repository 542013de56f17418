//! The report as the template wants it: numbers as cells of tables, the best of each column marked.

use minijinja::{Value, context};

use super::{Comparison, Figure, PageComparison, Row, SummaryRow};
use crate::figures::milliseconds_text;

/// A cell of a table of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    text: String,
    is_best: bool,
}

/// A row: its name, its cells, a remark.
#[derive(Debug, Clone)]
struct Line {
    name: String,
    cells: Vec<Cell>,
    note: Option<String>,
}

/// Which end of a column is best, and how it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// An index or a duration: low is good.
    Milliseconds,
    /// A speedup: high is good.
    Times,
}

/// All that the template names.
pub(super) fn of(comparison: &Comparison) -> Value {
    let provenance = serde_json::to_string_pretty(&comparison.provenance).unwrap_or_default();
    context! {
        title => comparison.title.clone(),
        what => comparison.what.clone(),
        baseline => comparison.baseline.clone(),
        summary => values(summary(&comparison.summary)),
        summary_has_notes => comparison.summary.iter().any(|row| incomplete(row, &comparison.summary).is_some()),
        pages => comparison.pages.iter().map(page).collect::<Vec<Value>>(),
        provenance => provenance,
    }
}

fn summary(rows: &[SummaryRow]) -> Vec<Line> {
    let values = |row: &SummaryRow| {
        [row.atf, row.all]
            .into_iter()
            .flat_map(|of| [of.mean, of.median, of.best, of.worst])
            .collect()
    };
    let rows =
        rows.iter().map(|row| (row.scheme.clone(), values(row), incomplete(row, rows))).collect();
    lines(rows, &[Column::Times; 8])
}

/// A mean over fewer pages than another's is not to be compared with it.
fn incomplete(row: &SummaryRow, rows: &[SummaryRow]) -> Option<String> {
    let remark =
        |set: &str, pages: usize, most: usize| format!("{set}: only {pages} of {most} pages");
    let most_all = rows.iter().map(|row| row.all.pages).max()?;
    let most_atf = rows.iter().map(|row| row.atf.pages).max()?;
    let all = (row.all.pages < most_all).then(|| remark("all resources", row.all.pages, most_all));
    let atf = (row.atf.pages < most_atf).then(|| remark("above the fold", row.atf.pages, most_atf));
    let remarks: Vec<String> = atf.into_iter().chain(all).collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn page(page: &PageComparison) -> Value {
    let is_anchor = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
    let lines = page_lines(page);
    context! {
        name => page.name.clone(),
        anchor => format!("page-{}", page.name.chars().filter(is_anchor).collect::<String>()),
        resources => page.resources.clone(),
        has_notes => lines.iter().any(|line| line.note.is_some()),
        lines => values(lines),
        figures => page.ribbons.iter().chain(&page.curve).map(figure).collect::<Vec<Value>>(),
    }
}

fn page_lines(page: &PageComparison) -> Vec<Line> {
    use Column::{Milliseconds, Times};
    const COLUMNS: [Column; 9] = [
        Milliseconds,
        Times,
        Milliseconds,
        Times,
        Milliseconds,
        Milliseconds,
        Milliseconds,
        Milliseconds,
        Milliseconds,
    ];
    let values = |row: &Row| {
        vec![
            row.byte_index.atf,
            row.speedup.atf,
            row.byte_index.all,
            row.speedup.all,
            row.sampled.atf,
            row.sampled.all,
            row.progressive.atf,
            row.progressive.all,
            row.duration_ms,
        ]
    };
    lines(
        page.rows.iter().map(|row| (row.scheme.clone(), values(row), row.note.clone())).collect(),
        &COLUMNS,
    )
}

fn figure(figure: &Figure) -> Value {
    context! {
        svg => Value::from_safe_string(figure.svg.clone()),
        caption => figure.caption.clone(),
        table_caption => figure.table.caption.clone(),
        headings => figure.table.headings.clone(),
        rows => figure.table.rows.clone(),
    }
}

fn values(lines: Vec<Line>) -> Vec<Value> {
    let cell = |cell: Cell| context! { text => cell.text, is_best => cell.is_best };
    let value = |line: Line| {
        let cells: Vec<Value> = line.cells.into_iter().map(cell).collect();
        context! { name => line.name, cells => cells, note => line.note }
    };
    lines.into_iter().map(value).collect()
}

fn lines(rows: Vec<(String, Vec<Option<f64>>, Option<String>)>, columns: &[Column]) -> Vec<Line> {
    let best: Vec<Option<f64>> = columns
        .iter()
        .enumerate()
        .map(|(place, &column)| {
            best(column, rows.iter().map(|(_, values, _)| values[place]).collect())
        })
        .collect();
    let cell = |place: usize, value: Option<f64>| Cell {
        text: text(columns[place], value),
        is_best: value.is_some() && value == best[place],
    };
    rows.into_iter()
        .map(|(name, values, note)| Line {
            name,
            cells: values
                .into_iter()
                .enumerate()
                .map(|(place, value)| cell(place, value))
                .collect(),
            note,
        })
        .collect()
}

/// The best value; none when all that there is are equal.
fn best(column: Column, values: Vec<Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().flatten().collect();
    let lowest = values.iter().copied().reduce(f64::min)?;
    let highest = values.iter().copied().reduce(f64::max)?;
    if lowest >= highest {
        return None;
    }
    Some(if column == Column::Times { highest } else { lowest })
}

fn text(column: Column, value: Option<f64>) -> String {
    let Some(value) = value else { return "\u{2013}".to_owned() };
    match column {
        Column::Milliseconds => milliseconds_text(value),
        Column::Times => format!("\u{d7}{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(column: Column, values: &[Option<f64>]) -> Vec<String> {
        let rows = values.iter().map(|&value| (String::new(), vec![value], None)).collect();
        let mark = |line: &Line| {
            format!("{}{}", line.cells[0].text, if line.cells[0].is_best { "*" } else { "" })
        };
        lines(rows, &[column]).iter().map(mark).collect()
    }

    #[test]
    fn the_best_of_a_column_is_marked() {
        assert_eq!(
            marked(Column::Milliseconds, &[Some(20.0), Some(1506.0), None]),
            ["20*", "1506", "–"]
        );
        assert_eq!(
            marked(Column::Times, &[Some(1.0), Some(2.5), Some(2.5)]),
            ["×1.00", "×2.50*", "×2.50*"]
        );
    }

    #[test]
    fn equals_are_not_marked() {
        assert_eq!(marked(Column::Times, &[Some(1.0), Some(1.0)]), ["×1.00", "×1.00"]);
        assert_eq!(marked(Column::Times, &[None]), ["–"]);
    }
}
