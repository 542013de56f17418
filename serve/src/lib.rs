//! The command `utmost serve`, and what it shares with the other commands: failures, and values of flags.
//!
//! The program `utmost-serve` consists of it. It does not contain the lab, whose virtual clock and seeded
//! randomness replace functions of the whole process: a server uses the system's.

mod certificates;
mod command;
mod command_line;
mod explore;
mod failure;
mod help;
mod listening;
mod metrics_page;
mod output_paths;
pub mod values;
mod watch;

pub use command::{Arguments, run};
pub use command_line::{arguments, whole_number};
pub use failure::{Failure, printable};
pub use help::arranged;
