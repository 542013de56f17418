//! The numbers behind a figure, for readers who cannot see it or want to compute with them.

/// A table of text; each row has as many cells as there are headings.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// One for each column; the first column names the row.
    pub headings: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<T: Into<String>>(
        caption: impl Into<String>,
        headings: impl IntoIterator<Item = T>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let headings = headings.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), headings, rows: rows.into_iter().collect() }
    }
}

/// A row: the text of the first column, and the other cells.
pub(super) fn row(name: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.into()).chain(cells).collect()
}
