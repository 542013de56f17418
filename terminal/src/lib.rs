//! What the programs of the command line print, how they read their arguments, and how they end: tables, JSON with its
//! provenance, progress, one line for a failure.

mod flags;
mod limits;
pub mod output;
mod program;
mod provenance;

pub use flags::{at_least_one, cores};
pub use program::{arguments, run};
