//! `utmost-workshop`: commands for reviewers and maintainers of utmost.
//!
//! One file for each subcommand, which parses arguments and prints. The libraries do the work.

mod adversary;
mod reproduce;
mod stress;
mod twin;

use clap::{Parser, Subcommand};
use serve::Failure;
use std::process::ExitCode;

/// For reviewers and maintainers of utmost
///
/// Reproduces published results, attacks the server, and tests the schemes.
#[derive(Debug, Parser)]
#[command(name = "utmost-workshop", version, max_term_width = 100, after_help = EXAMPLE)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "Example:\n  utmost-workshop reproduce marx-table2\n\n\
Exit codes: 0 done, 1 the answer is no, 2 bad usage or input, 3 the other side or the environment failed.";

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Arguments),
    Stress(stress::Arguments),
    Adversary(adversary::Arguments),
    Twin(twin::Arguments),
}

fn main() -> ExitCode {
    terminal::run("utmost-workshop", || ::serve::arguments().and_then(run))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Stress(arguments) => stress::run(&arguments),
        Command::Adversary(arguments) => adversary::run(&arguments),
        Command::Twin(arguments) => twin::run(&arguments),
    }
}

#[cfg(test)]
#[path = "../../tests/cli/help_examples.rs"]
mod help_examples;

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn every_example_of_the_help_can_be_parsed() {
        crate::help_examples::assert_examples_are_parsed(&Arguments::command());
    }
}
