//! The limits of the command line. Those of `view` and `qlog` stand with their commands.

/// Most rows of a printed table.
pub(crate) const TABLE_ROWS_MAX: usize = 10_000;
/// Most visits of `play`.
pub(crate) const VISITS_MAX: i64 = 100;
/// Most problems that `play` names.
pub(crate) const PROBLEMS_MAX: usize = 10;
/// Longest line of an access log.
pub(crate) const LOG_LINE_BYTES_MAX: u64 = 64 * 1024;
