//! `utmost serve`: runs `utmost-serve`, which is installed beside this program and does not contain the
//! lab.

use crate::values;
use ::serve::Failure;
pub(crate) use serve::Arguments;
use std::os::unix::process::CommandExt;
use std::process::Command;

const PROGRAM: &str = "utmost-serve";

/// Replaces this process by `utmost-serve`, which parses the checked arguments again. Returns only if it
/// cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Only this program knows brackets.
    let catalogue = arguments.catalogue()?;
    let scheme = arguments.scheme().map(|name| catalogue.find_for_page(name));
    scheme.transpose().map_err(values::no_scheme)?;
    let own = std::env::current_exe().map_err(Failure::elsewhere)?;
    let program = own.with_file_name(PROGRAM);
    let error = Command::new(&program).args(std::env::args_os().skip(2)).exec();
    let place = program.display();
    let remedy = "put it beside utmost: `cargo build --bin utmost --bin utmost-serve` and `make build` make both";
    Err(Failure::Elsewhere(format!("{place}: {error}; {remedy}")))
}
