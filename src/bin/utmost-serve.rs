//! `utmost-serve`: the program behind `utmost serve`. It contains nothing of the lab.

use clap::Parser;
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// The C library returns almost none of an attack's memory to the system. `.cargo/config.toml` sets how soon
/// this allocator returns it.
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
    match serve::arguments().and_then(|program: Program| serve::run(&program.arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("utmost: {}", serve::printable(&failure.to_string()));
            failure.exit_code()
        }
    }
}
