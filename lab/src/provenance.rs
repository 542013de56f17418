//! Where a result comes from: what it takes to make it again.

use serde_json::{Value, json};

/// Provenance of a run of the program: what `build` says of itself, command, machine, date. What is studied is added by
/// the study.
pub fn of_program(build: &[(&str, &str)], now: jiff::Timestamp) -> Value {
    let argv = json!(std::env::args().collect::<Vec<_>>());
    let build = build.iter().map(|(what, version)| ((*what).to_owned(), json!(version)));
    let run = [("argv", argv), ("cpu", json!(cpu_model())), ("date", json!(now.to_string()))];
    build.chain(run.map(|(what, value)| (what.to_owned(), value))).collect()
}

fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    model
        .and_then(|it| it.split_once(':'))
        .map_or("unknown".to_owned(), |(_, name)| name.trim().to_owned())
}
