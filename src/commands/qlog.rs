//! `utmost qlog`: the logs of any QUIC stack. One file for each subcommand.

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
mod section;
mod set;
mod streams;
pub(crate) mod summary;
mod tree;

pub(crate) use input::{Files, read_each, refusal};
pub(crate) use set::SetArguments;

use ::serve::Failure;
use clap::Subcommand;
use section::Section;

/// Read the qlogs of any QUIC stack
///
/// Reads all generations of qlog, whatever the file's name, plain or compressed (gzip, zstd); `-` is the standard
/// input. A directory stands for the logs in it.
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
    Summary(section::Arguments),
    Check(check::Arguments),
    Streams(streams::Arguments),
    Compare(compare::Arguments),
    Convert(convert::Arguments),
    Export(export::Arguments),
    Report(report::Arguments),
    Lint(lint::Arguments),
    Tree(tree::Arguments),
    /// The old name of `summary --section index`
    #[command(hide = true)]
    Index(section::Arguments),
    /// The old name of `summary --section ribbon`
    #[command(hide = true)]
    Ribbon(section::Arguments),
    /// The old name of `summary --section hol`
    #[command(hide = true)]
    Hol(section::Arguments),
    /// The old name of `summary --section limits`
    #[command(hide = true)]
    Limits(section::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Summary(arguments) => show(arguments, None),
        Command::Check(arguments) => check::run(arguments),
        Command::Streams(arguments) => streams::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Lint(arguments) => lint::run(arguments),
        Command::Tree(arguments) => tree::run(arguments),
        Command::Index(arguments) => show(arguments, Some(Section::Index)),
        Command::Ribbon(arguments) => show(arguments, Some(Section::Ribbon)),
        Command::Hol(arguments) => show(arguments, Some(Section::Hol)),
        Command::Limits(arguments) => show(arguments, Some(Section::Limits)),
    }
}

fn show(arguments: &section::Arguments, old_name: Option<Section>) -> Result<(), Failure> {
    match arguments.section(old_name)? {
        None => summary::run(arguments),
        Some(Section::Limits) => limits::run(arguments),
        Some(Section::Index) => index::run(arguments),
        Some(Section::Hol) => hol::run(arguments),
        Some(Section::Ribbon) => ribbon::run(arguments),
    }
}
