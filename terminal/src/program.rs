//! How a program reads its arguments and exits.

use crate::output::printable;
use clap::Parser;
use clap::error::ErrorKind;
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

/// Parses the command line. For help or version, prints it and exits.
pub fn arguments<A: Parser>() -> Result<A, Failure> {
    let matches = serve::arranged(A::command()).try_get_matches();
    matches.and_then(|it| A::from_arg_matches(&it)).map_err(|error| match error.kind() {
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
