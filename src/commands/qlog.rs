//! `utmost qlog`: the logs of any QUIC stack. One file a subcommand.

mod capture;
mod check;
mod compare;
mod convert;
mod export;
mod hol;
mod index;
mod input;
mod limits;
mod lint;
mod refused;
pub(crate) mod report;
mod ribbon;
mod runs;
mod set;
mod streams;
pub(crate) mod summary;
mod tree;

pub(crate) use input::{Files, read_each, refusal};
pub(crate) use set::SetArguments;

use ::serve::Failure;
use clap::Subcommand;

/// Read the qlogs of any QUIC stack
///
/// Reads all generations of qlog, whatever the file's name, also compressed (gzip, zstd); `-` is the standard input. A
/// directory stands for the logs in it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost qlog summary client.sqlog server.sqlog\n  utmost qlog check client.sqlog server.sqlog.gz\n  \
utmost qlog streams client.sqlog --json"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Summary(summary::Arguments),
    Check(check::Arguments),
    Streams(streams::Arguments),
    Index(index::Arguments),
    Ribbon(ribbon::Arguments),
    Hol(hol::Arguments),
    Compare(compare::Arguments),
    Convert(convert::Arguments),
    Export(export::Arguments),
    Report(report::Arguments),
    Lint(lint::Arguments),
    Limits(limits::Arguments),
    Tree(tree::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Summary(arguments) => summary::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Streams(arguments) => streams::run(arguments),
        Command::Index(arguments) => index::run(arguments),
        Command::Ribbon(arguments) => ribbon::run(arguments),
        Command::Hol(arguments) => hol::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Lint(arguments) => lint::run(arguments),
        Command::Limits(arguments) => limits::run(arguments),
        Command::Tree(arguments) => tree::run(arguments),
    }
}
