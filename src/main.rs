//! `utmost`: in what order should a server send the bytes of a web page?
//!
//! One file for each subcommand, which parses arguments and prints. The libraries do the work.

mod commands;
mod csv_table;
mod figure_files;
mod limits;
mod log_names;
#[cfg(feature = "manual")]
mod manual;
mod values;

use ::serve::Failure;
use clap::{Parser, Subcommand};
use commands::{
    browser, compare, corpus, doctor, explain, find, link, merge, order, play, probe, qlog,
    schemes, serve, view, what_if,
};
use std::fmt::Write;
use std::process::ExitCode;
use terminal::output;

/// In what order should a server send the bytes of a web page?
///
/// An HTTP/3 server whose send order is a plug-in, a client that loads real pages, and tools that show the effect of
/// the order.
#[derive(Debug, Parser)]
#[command(name = "utmost", version, max_term_width = 100, help_template = by_task(), after_help = EXAMPLE)]
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
    Explain(explain::Arguments),
    Browser(browser::Arguments),
    Find(Box<find::Arguments>),
    Merge(merge::Arguments),
    Link(link::Arguments),
    Corpus(corpus::Arguments),
    Probe(probe::Arguments),
    Qlog(qlog::Arguments),
    Doctor(doctor::Arguments),
    View(view::Arguments),
    WhatIf(what_if::Arguments),
    #[cfg(feature = "manual")]
    #[command(hide = true)]
    Manual(manual::Arguments),
}

const TASKS: [(&str, &[&str]); 4] = [
    ("Site owners: serve a site in a better order", &["find", "serve", "doctor"]),
    (
        "Researchers: compare send orders",
        &["compare", "explain", "play", "browser", "schemes", "order", "merge", "link"],
    ),
    ("Engineers: understand a connection", &["qlog", "view", "what-if", "probe"]),
    ("Everybody: get pages", &["corpus"]),
];

/// The program's help, with the commands grouped by task, because clap has only one heading for all.
fn by_task() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("utmost"));
    let mut tasks = String::new();
    for (task, names) in TASKS {
        // Writing to a text cannot fail.
        let _ = writeln!(tasks, "\n{task}:");
        for name in names {
            let about = commands.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(tasks, "  {name:<8} {about}");
        }
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{tasks}\nOptions:\n{{options}}{{after-help}}"
    )
}

const IN_WORKSHOP: [&str; 2] = ["reproduce", "stress"];

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    terminal::run("utmost", || match IN_WORKSHOP.iter().find(|name| first == **name) {
        Some(name) => Err(Failure::BadInput(format!("{name}: use `utmost-workshop {name}`"))),
        None => ::serve::arguments().and_then(run),
    })
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Schemes(arguments) => schemes::run(&arguments),
        Command::Order(arguments) => order::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Play(arguments) => play::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Browser(arguments) => browser::run(&arguments),
        Command::Find(arguments) => find::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
        Command::Probe(arguments) => probe::run(&arguments),
        Command::Qlog(arguments) => qlog::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::WhatIf(arguments) => what_if::run(&arguments),
        #[cfg(feature = "manual")]
        Command::Manual(arguments) => manual::run(&arguments),
    }
}

#[cfg(test)]
#[path = "../tests/cli/help_examples.rs"]
mod help_examples;

#[cfg(test)]
#[path = "../tests/cli/help_pages.rs"]
mod help_pages;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_a_task() {
        let command = Arguments::command();
        let mut named: Vec<&str> = TASKS.iter().flat_map(|it| it.1).copied().collect();
        let seen = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut known: Vec<&str> = seen.map(clap::Command::get_name).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
    }

    #[test]
    fn every_example_of_the_help_can_be_parsed() {
        crate::help_examples::assert_examples_are_parsed(&Arguments::command());
    }

    fn built() -> clap::Command {
        let mut program = ::serve::arranged(Arguments::command());
        program.build();
        program
    }

    #[test]
    fn the_reference_of_commands_is_the_help() {
        crate::help_pages::assert_current(&crate::help_pages::pages(&built(), "README.md"));
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        crate::help_pages::assert_short(&built());
    }
}
