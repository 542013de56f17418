//! Output and exit codes of the command-line programs: tables, JSON with provenance,
//! progress, and one-line failures.

mod flags;
mod limits;
pub mod output;
mod program;
mod progress;
mod provenance;

pub use flags::{at_least_one, cores};
pub use program::run;
