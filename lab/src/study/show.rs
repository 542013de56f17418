//! Shows a study: its conditions in words, the report, tables, figures, film strips.

mod film;
pub mod folder;
pub(crate) mod report;

pub use film::film;
pub use report::conditions;
pub(crate) use report::most_telling;
