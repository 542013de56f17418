//! `utmost stress`: attacks on a server on this machine.

use crate::{output, values};
use ::serve::Failure;
use ::stress::{ATTACKS, Attack, Outcome, StressError, Target, find, run as attack};
use std::net::SocketAddr;
use std::time::Duration;

const FORMAT: &str = "utmost-stress/1";

/// Attack a server on this machine, and show what its visitors notice
///
/// Four visitors load a file fifty times a second each. An attack begins after some time of peace and lasts as long. The server
/// holds if visitors keep 80 % of their responses, 99 of 100 take at most 3 times as long as before (or 20 ms), memory comes back
/// to within 10 %, connections are closed only with the codes that fit, and unproven addresses get at most three times what
/// came from them. Exit codes: 0 it held; 1 it did not; 3 it cannot be reached.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost stress 127.0.0.1:4433 --process 4711\n  \
utmost stress 127.0.0.1:4433 --attacks rapid-reset,slow-heads --seconds 10 --json")]
pub(crate) struct Arguments {
    /// The server, at a loopback address
    #[arg(value_name = "ADDR:PORT", required_unless_present = "list", value_parser = values::server_address)]
    target: Option<SocketAddr>,
    /// List the attacks, and stop
    #[arg(long)]
    list: bool,
    /// Only these attacks
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    attacks: Vec<String>,
    /// How long an attack lasts, and the time of peace before it
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// The file that visitors load
    #[arg(long, value_name = "PATH", default_value = "/")]
    path: String,
    /// The server's process, to watch its memory
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        return list();
    }
    let Some(address) = arguments.target else { return list() };
    let attacks = chosen(&arguments.attacks)?;
    let target = Target::new(address, &arguments.path, arguments.process).map_err(failure)?;
    let length = Duration::from_secs(arguments.seconds.into());
    let bar = output::progress(attacks.len(), "attacking");
    let mut outcomes = Vec::new();
    for it in attacks {
        outcomes.push(attack(&target, it, length).map_err(failure)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if arguments.json {
        let document = serde_json::json!({ "format": FORMAT, "attacks": outcomes });
        output::json_of_program(document)?;
    } else {
        show(&outcomes)?;
    }
    let lost: Vec<&str> = outcomes.iter().filter(|it| !it.held()).map(|it| it.attack).collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(Failure::No(format!("the server did not hold against {}", lost.join(", "))))
}

fn list() -> Result<(), Failure> {
    let rows = ATTACKS.iter().map(|it| vec![it.name.to_owned(), it.text.to_owned()]);
    output::line(&output::table(&["attack", "what the attacker does"], &[1], rows).to_string())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Attack>, Failure> {
    if names.is_empty() {
        return Ok(ATTACKS.iter().collect());
    }
    let unknown = |name: &str| {
        Failure::BadInput(format!("--attacks {name}: unknown; `utmost stress --list` shows them"))
    };
    names.iter().map(|it| find(it).ok_or_else(|| unknown(it))).collect()
}

fn failure(error: StressError) -> Failure {
    match error {
        StressError::Elsewhere(_) | StressError::NoProcess(_) => Failure::bad_input(error),
        _ => Failure::elsewhere(error),
    }
}

fn show(outcomes: &[Outcome]) -> Result<(), Failure> {
    let header = [
        "attack",
        "kept",
        "p99 ms",
        "then",
        "kB before",
        "most",
        "after",
        "closed with",
        "verdict",
    ];
    let rows = outcomes.iter().map(row);
    output::line(&output::table(&header, &[7, 8], rows).to_string())
}

fn row(outcome: &Outcome) -> Vec<String> {
    let kept = 100.0 * outcome.during.share_of_wanted / outcome.before.share_of_wanted;
    let [before, most, after] = outcome
        .memory_bytes
        .map_or(["-"; 3].map(str::to_owned), |it| it.map(|bytes| (bytes >> 10).to_string()));
    let codes = outcome.codes.iter().map(|(code, count)| format!("{count} x {code:#x}"));
    let verdict = if outcome.held() { "held".to_owned() } else { outcome.failures.join("; ") };
    vec![
        outcome.attack.to_owned(),
        format!("{kept:.0} %"),
        format!("{:.1}", outcome.before.p99_ms),
        format!("{:.1}", outcome.during.p99_ms),
        before,
        most,
        after,
        codes.collect::<Vec<_>>().join(", "),
        verdict,
    ]
}
