//! The program as its users meet it: processes, exit codes, what is printed where.

mod bad_input;
mod baselines;
mod bootstrap;
#[cfg(feature = "record")]
mod browsing;
mod captures;
mod commands;
mod conformance;
mod corpus_pages;
mod doctor;
mod documents;
mod explaining;
mod export;
mod figures;
mod find;
mod find_policies;
mod find_refused;
#[cfg(feature = "record")]
mod folder;
mod guides;
mod help;
mod links;
mod logs;
mod made_tables;
mod number_flags;
mod orders;
mod output_paths;
mod own_schemes;
mod pairs;
mod plain_english;
mod process;
mod pushes;
mod qlog;
mod qlog_files;
mod qlog_several;
mod qlog_tree;
mod recipes;
mod running;
mod schemas;
mod serving;
mod serving_configurations;
mod studies;
mod study_claims;
mod sweeps;
mod traces;
mod typescript;
mod watching;
mod what_if;
mod widths;
mod workbench;
mod workbench_ways_in;

use process::{only_line, stdout_of, utmost};
use std::path::{Path, PathBuf};

const NAME: &str = "utmost";
const PROGRAM: &str = env!("CARGO_BIN_EXE_utmost");
const REPOSITORY: &str = env!("CARGO_MANIFEST_DIR");

/// The commands of the program.
const COMMANDS: &[&str] = &[
    "schemes",
    "order",
    "serve",
    "play",
    "compare",
    "explain",
    "find",
    "merge",
    "link",
    "corpus",
    "corpus list",
    "corpus stats",
    "corpus check",
    "corpus import",
    "qlog",
    "qlog summary",
    "qlog check",
    "qlog streams",
    "qlog compare",
    "qlog convert",
    "qlog export",
    "corpus generate",
    "corpus record",
    "corpus bodies",
    "corpus graph",
    "qlog report",
    "qlog lint",
    "qlog tree",
    "view",
    "probe",
    "doctor",
    "browser",
    "what-if",
];

/// A file of the tests.
fn data(name: &str) -> PathBuf {
    Path::new(REPOSITORY).join("tests/cli/data").join(name)
}
