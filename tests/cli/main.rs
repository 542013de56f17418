//! The program as its users meet it: processes, exit codes, what is printed where.

mod bad_input;
mod baselines;
mod bootstrap;
#[cfg(feature = "record")]
mod browsing;
mod conformance;
mod corpus_pages;
mod definitions;
mod doctor;
mod documents;
mod export;
mod figures;
mod find;
#[cfg(feature = "record")]
mod folder;
mod guides;
mod help;
mod logs;
mod orders;
mod own_schemes;
mod plain_english;
mod pushes;
mod qlog;
mod qlog_files;
mod qlog_several;
mod qlog_tree;
mod recipes;
mod results;
mod serving;
mod stressing;
mod studies;
mod study_claims;
mod sweeps;
mod traces;
mod typescript;
mod watching;
mod what_if;

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The program, in the repository's folder, where the help's examples are right.
fn utmost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utmost"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    command
}

/// What the program printed on success.
fn stdout_of(arguments: &[&str]) -> String {
    let output = utmost(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Its stderr, which must be one line, after it ended with `code` and printed nothing else.
fn only_line(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().to_owned()
}

/// A file of the tests.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/data").join(name)
}
