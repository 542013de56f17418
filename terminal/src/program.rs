//! How a program exits.

use crate::output::printable;
use serve::Failure;
use std::process::ExitCode;

/// Runs `carry_out` and exits accordingly. A failure is one line on stderr.
pub fn run(program: &str, carry_out: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    match carry_out() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{program}: {}", printable(&failure.to_string()));
            failure.exit_code()
        }
    }
}
