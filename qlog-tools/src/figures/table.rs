//! The numbers behind a figure, for readers who cannot see it or want to compute with them.

/// A table of text; each row has as many cells as there are headings.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// One a column; the first column names the row.
    pub headings: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}
