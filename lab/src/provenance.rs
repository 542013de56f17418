//! Where a result comes from: what it takes to make it again.

use serde_json::{Value, json};

/// What the build knows of itself (set by the program's build script).
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// Version of utmost.
    pub version: &'static str,
    /// Git commit, `-dirty` appended where the tree had changes.
    pub commit: &'static str,
    /// Compiler.
    pub rustc: &'static str,
    /// quiche, pinned.
    pub quiche: &'static str,
    /// boring.
    pub boring: &'static str,
}

/// Provenance of a run of the program: build, command, machine, date. What is studied is added by the study.
pub fn of_program(build: &Build, now: jiff::Timestamp) -> Value {
    json!({
        "utmost": build.version,
        "git_commit": build.commit,
        "rustc": build.rustc,
        "quiche": build.quiche,
        "boring": build.boring,
        "argv": std::env::args().collect::<Vec<_>>(),
        "cpu": cpu_model(),
        "date": now.to_string(),
    })
}

fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    model
        .and_then(|it| it.split_once(':'))
        .map_or("unknown".to_owned(), |(_, name)| name.trim().to_owned())
}
