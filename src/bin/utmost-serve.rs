//! `utmost-serve`: what `utmost serve` runs. It contains nothing of the lab.

use clap::{CommandFactory, FromArgMatches, Parser};
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// The C library gives back next to nothing of what an attack has taken. `.cargo/config.toml` says how soon this
/// allocator gives it back.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// As `utmost serve`.
#[derive(Debug, Parser)]
#[command(name = "utmost-serve", version, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    arguments: serve::Arguments,
}

fn main() -> ExitCode {
    let matches = serve::arranged(Program::command()).get_matches();
    let program = Program::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match serve::run(&program.arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("utmost: {}", serve::printable(&failure.to_string()));
            failure.exit_code()
        }
    }
}
