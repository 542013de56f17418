//! The limit of a printed table.

/// Most rows of a printed table.
pub(crate) const TABLE_ROWS_MAX: usize = 10_000;
