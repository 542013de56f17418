//! `utmost qlog`: what a log tells. One file a question.

mod tree;

use crate::failure::Failure;

/// See what a log tells
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost qlog tree logs/SERVER.sqlog --at 120")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Tree(tree::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Tree(arguments) => tree::run(arguments),
    }
}
