//! The provenance of a result: everything needed to reproduce it.

use serde_json::{Value, json};
use std::path::Path;

/// Facts from the build script: versions, and the Git commit, with `-dirty` appended if the sources differ from it.
const BUILD: [(&str, &str); 5] = [
    ("utmost", env!("CARGO_PKG_VERSION")),
    ("git_commit", env!("UTMOST_COMMIT")),
    ("rustc", env!("UTMOST_RUSTC")),
    ("quiche", env!("UTMOST_QUICHE")),
    ("boring", env!("UTMOST_BORING")),
];

/// Provenance of this run: the program's build, command, machine, and date. A study adds what it examined.
pub fn provenance() -> Value {
    let argv = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    let date = jiff::Timestamp::now().to_string();
    let run = [("argv", json!(command(argv))), ("cpu", json!(cpu_model())), ("date", json!(date))];
    BUILD.map(|(what, version)| (what, json!(version))).into_iter().chain(run).collect()
}

/// The words of the command, without the program's folder, which depends on the machine.
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
