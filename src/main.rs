//! `utmost`: in what order should a server send the bytes of a web page?
//!
//! One file a subcommand: it parses arguments and prints. The libraries do the work.

mod commands;
mod csv_table;
mod limits;
mod output;
mod values;

use ::serve::Failure;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use commands::{
    browser, compare, corpus, doctor, find, link, merge, order, play, probe, qlog, reproduce,
    schemes, serve, stress, view, what_if,
};
use std::process::ExitCode;

/// In what order should a server send the bytes of a web page?
///
/// An HTTP/3 server whose send order is a plug-in, a client that loads real pages, and instruments that show the effect
/// of the order.
#[derive(Debug, Parser)]
#[command(name = "utmost", version, max_term_width = 100, after_help = EXAMPLE)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "Example:\n  utmost compare gentelella-index --schemes paper --out out\n\n\
Exit codes: 0 done, 1 the answer is no, 2 bad usage or input, 3 the other side or the environment failed.";

#[derive(Debug, Subcommand)]
enum Command {
    Schemes(schemes::Arguments),
    Order(order::Arguments),
    Serve(Box<serve::Arguments>),
    Play(play::Arguments),
    Compare(Box<compare::Arguments>),
    Browser(browser::Arguments),
    Find(Box<find::Arguments>),
    Merge(merge::Arguments),
    Link(link::Arguments),
    Reproduce(reproduce::Arguments),
    Corpus(corpus::Arguments),
    Probe(probe::Arguments),
    Qlog(qlog::Arguments),
    Doctor(doctor::Arguments),
    Stress(stress::Arguments),
    View(view::Arguments),
    WhatIf(what_if::Arguments),
}

fn main() -> ExitCode {
    match parse().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("utmost: {}", output::printable(&failure.to_string()));
            failure.exit_code()
        }
    }
}

fn parse() -> Result<Arguments, Failure> {
    Arguments::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => {
            let text = error.to_string();
            let first = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
            let cause = plainly(first.collect::<Vec<_>>().join(" "));
            let cause = cause.trim_start_matches("error: ");
            let hint = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
            let hint = hint.map(|it| format!("; {it}")).unwrap_or_default();
            Failure::BadInput(format!("{cause}{hint} (see --help)"))
        }
    })
}

/// Replaces Rust's messages about numbers.
fn plainly(cause: String) -> String {
    let texts = [
        ("invalid digit found in string", "use a whole number"),
        ("number too large to fit in target type", "is too large"),
        ("invalid float literal", "use a number"),
    ];
    texts.iter().fold(cause, |cause, (rust, plain)| cause.replace(rust, plain))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Schemes(arguments) => schemes::run(&arguments),
        Command::Order(arguments) => order::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Play(arguments) => play::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Browser(arguments) => browser::run(&arguments),
        Command::Find(arguments) => find::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
        Command::Probe(arguments) => probe::run(&arguments),
        Command::Qlog(arguments) => qlog::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Stress(arguments) => stress::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::WhatIf(arguments) => what_if::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// The lines of a command's help that call the program, and those of its subcommands.
    fn examples(command: &clap::Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let own =
            help.lines().map(str::trim).filter(|it| it.starts_with("utmost ")).map(str::to_owned);
        own.chain(command.get_subcommands().flat_map(examples)).collect()
    }

    #[test]
    fn every_example_of_the_help_can_be_parsed() {
        let command = Arguments::command();
        let examples = examples(&command);
        assert!(examples.len() > command.get_subcommands().count(), "{examples:?}");
        for example in examples {
            let words = shlex::split(example.trim_end_matches('&')).expect("balanced quotes");
            let parsed = Arguments::try_parse_from(words);
            assert!(parsed.is_ok(), "{example}: {parsed:?}");
        }
    }
}
