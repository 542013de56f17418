//! Shows a study: its conditions in words, the report, tables, figures, film strips.

mod answer;
mod film;
pub mod folder;
mod pairs;
pub(crate) mod report;
mod rows;

pub(crate) use answer::{and, of_shard};
pub use film::film;
pub use pairs::pair_matrices;
pub use report::conditions;
pub(crate) use report::most_telling;
pub use report::{answers, page_dots, title};
pub use rows::scheme_rows;
