//! A published matrix, and ours in the same form.

use super::row::{Cell, Row};
use super::table::{Estimate, Line, Table};

/// The rows that repeat cells of a published matrix, as that matrix: theirs, and ours beside it. `None`: no row does.
pub fn as_published(rows: &[Row]) -> Option<Table> {
    let mut lines: Vec<Line> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        let Some(Cell { line, column }) = row.cell else { continue };
        if !columns.contains(&column) {
            columns.push(column);
        }
        let values = [
            Estimate { value: row.published, interval: None },
            Estimate { value: row.ours, interval: row.interval },
        ];
        match lines.iter_mut().find(|it| it.labels == [line]) {
            Some(known) => known.values.extend(values),
            None => lines.push(Line { labels: vec![line.to_owned()], values: values.into() }),
        }
    }
    let both = columns.iter().flat_map(|it| [format!("{it}, published"), format!("{it}, ours")]);
    let heading = "As published, with ours and its 95 % interval beside it".to_owned();
    (!lines.is_empty()).then(|| Table { heading, labels: vec![""], columns: both.collect(), lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_repeat_a_matrix_are_shown_as_that_matrix() {
        let cell = |line, column: &'static str, theirs: f64, ours: f64| {
            let row = Row::estimated(column, "", Estimate::new(Some(ours), Some([1.0, 4.0])));
            row.in_cell(line, column).published(theirs)
        };
        let rows = [
            cell("fifo", "All", 1.27, 1.24),
            cell("p+", "All", 1.17, 1.07),
            Row::shown("other", "", Some(9.0)),
            cell("fifo", "ATF", 1.93, 2.21),
            cell("p+", "ATF", 2.2, 2.98),
        ];
        let table = as_published(&rows).expect("a matrix").markdown();
        let lines: Vec<&str> = table.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "|  | All, published | All, ours | ATF, published | ATF, ours |",
                "|---|---:|---:|---:|---:|",
                "| fifo | 1.27 | 1.24 (1.00 to 4.00) | 1.93 | 2.21 (1.00 to 4.00) |",
                "| p+ | 1.17 | 1.07 (1.00 to 4.00) | 2.20 | 2.98 (1.00 to 4.00) |",
            ]
        );
        assert_eq!(as_published(&rows[2..3]), None);
    }
}
