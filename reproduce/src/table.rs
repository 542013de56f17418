//! A table of results that no publication has: values by labels and columns.

use lab::study::statistics::Interval;
use serde::Serialize;
use std::fmt::Write as _;

/// Values of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// The quantity, with its unit.
    pub heading: String,
    /// Names of the labels of a line.
    pub labels: Vec<&'static str>,
    /// Names of the columns of values.
    pub columns: Vec<String>,
    /// The lines, from top to bottom.
    pub lines: Vec<Line>,
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The subjects of the values, one for each of [`Table::labels`].
    pub labels: Vec<String>,
    /// A value for each of [`Table::columns`].
    pub values: Vec<Estimate>,
}

/// A value, to four decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value; null if there is none.
    pub value: Option<f64>,
    /// Its 95 % interval, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl Estimate {
    pub(crate) fn new(value: Option<f64>, interval: Option<Interval>) -> Self {
        Self { value: value.map(rounded), interval: interval.map(|it| it.map(rounded)) }
    }

    pub(crate) fn text(&self) -> String {
        match (self.value, self.interval) {
            (None, _) => "none".to_owned(),
            (Some(value), None) => format!("{value:.2}"),
            (Some(value), Some([low, high])) => format!("{value:.2} ({low:.2} to {high:.2})"),
        }
    }
}

impl Table {
    /// The names of all columns.
    pub fn header(&self) -> Vec<&str> {
        self.labels.iter().copied().chain(self.columns.iter().map(String::as_str)).collect()
    }

    /// The words in each line.
    pub fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        self.lines.iter().map(|Line { labels, values }| {
            labels.iter().cloned().chain(values.iter().map(Estimate::text)).collect()
        })
    }

    pub(super) fn markdown(&self) -> String {
        let (labels, columns) = (self.labels.len(), self.columns.len());
        let align = "---|".repeat(labels) + "---:|".repeat(columns).as_str();
        let heading = &self.heading;
        let mut text = format!("\n## {heading}\n\n| {} |\n|{align}\n", self.header().join(" | "));
        for cells in self.cells() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text
    }
}

pub(crate) const DECIMALS: usize = 4;

/// Rounds to four decimals. Zero has no sign.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_before_its_interval() {
        let table = Table {
            heading: "Speedup".into(),
            labels: vec!["scheme"],
            columns: vec!["0 %".into(), "5 %".into(), "from".into()],
            lines: vec![Line {
                labels: vec!["fifo".into()],
                values: vec![
                    Estimate::new(Some(1.234_567), Some([1.0, 1.5])),
                    Estimate::new(Some(2.0), None),
                    Estimate::new(None, None),
                ],
            }],
        };
        let expected = "\n## Speedup\n\n| scheme | 0 % | 5 % | from |\n|---|---:|---:|---:|\n\
                        | fifo | 1.23 (1.00 to 1.50) | 2.00 | none |\n";
        assert_eq!(table.markdown(), expected);
        assert_eq!(table.lines[0].values[0].value, Some(1.2346));
    }
}
