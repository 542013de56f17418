//! Where a result comes from: what it takes to make it again.

use serde_json::{Value, json};
use std::path::Path;

/// Provenance of a run of the program: what `build` says of itself, command, machine, date. What is studied is added by
/// the study.
pub fn of_program(build: &[(&str, &str)], now: jiff::Timestamp) -> Value {
    let argv = json!(command(std::env::args()));
    let build = build.iter().map(|(what, version)| ((*what).to_owned(), json!(version)));
    let run = [("argv", argv), ("cpu", json!(cpu_model())), ("date", json!(now.to_string()))];
    build.chain(run.map(|(what, value)| (what.to_owned(), value))).collect()
}

/// The words of the command. Where the program lies is a matter of the machine.
fn command(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    if let Some(program) = words.first_mut()
        && let Some(name) = Path::new(&*program).file_name()
    {
        *program = name.to_string_lossy().into_owned();
    }
    words
}

fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    model
        .and_then(|it| it.split_once(':'))
        .map_or("unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_does_not_say_where_the_program_lies() {
        let words = ["/home/me/bin/utmost", "compare", "/tmp/page.json"].map(str::to_owned);
        assert_eq!(command(words.into_iter()), ["utmost", "compare", "/tmp/page.json"]);
    }
}
