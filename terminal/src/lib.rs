//! Output, arguments and exit codes of the command line's programs: tables, JSON with its
//! provenance, progress, one line for a failure.

mod flags;
mod limits;
pub mod output;
mod program;
mod provenance;

pub use flags::{at_least_one, cores};
pub use program::{arguments, run};
