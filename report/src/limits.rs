//! Limits on what a page shows of a log.

/// The most event names that the report offers for each log.
pub(crate) const SHOWN_EVENT_NAMES: usize = 60;
/// Characters of a priority with its changes in the report.
pub(crate) const SHOWN_PRIORITY_CHARACTERS: usize = 120;
/// Findings of lint that the report shows in place.
pub(crate) const SHOWN_FINDINGS: usize = 2000;
