//! `utmost-workshop stress`: attacks on a server on this machine.

use ::stress::{
    ATTACKS, Attack, File, Outcome, Round, Soak, Soaked, StressError, Target, Trend, files_of,
    find, run as attack, soak,
};
use serve::{Failure, values};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use terminal::output;

const FORMAT: &str = "utmost-stress/3";
const SOAK_FORMAT: &str = "utmost-soak/1";

/// Attack a server on this machine, and show what its visitors notice
///
/// Four visitors load a file over HTTP/3 fifty times a second each. During attacks over TCP, four more use HTTP/2, and four use HTTP/1.1.
/// Each run has three equal phases: before, during and after the attack. The server holds if the visitors of each version keep 80 % of
/// their responses during and after the attack, 99 of 100 loads take at most 3 times as long as before (or 20 ms), memory returns to within
/// 10 %, connections close only with appropriate codes, and unverified addresses get at most three times the bytes they sent.
///
/// Attacks on WebSockets need a cooperating backend. With --backend, this program is the backend, which also gives visitors their file.
///
/// With --soak, eight guests come and go for a long time while the attacks take turns. They load files, abandon some, upload, resume
/// sessions, change their addresses, and lose packets. The server holds if every body has the right SHA-256, every request is answered
/// within 30 s, no connection ends by itself, and the server's memory and descriptors do not rise in the second half. They rise if the 95 %
/// interval of the slope (Theil and Sen: the median of the slopes between all pairs of rounds, each with its median) is above 0, and the
/// total rise exceeds the distance of one round from the line.
///
/// If other programs take more than a tenth of the machine's CPU time, late loads do not count against the server: the verdict is
/// `undecided`. This needs --process.
///
/// Exit codes: 0 the server held; 1 it did not; 3 it cannot be reached, or some attack is undecided.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost-workshop stress 127.0.0.1:4433 --process 4711\n  \
utmost-workshop stress 127.0.0.1:4433 --attacks rapid-reset,slow-heads --seconds 10 --json\n  \
utmost-workshop stress 127.0.0.1:4433 --process 4711 --soak 30 --root public")]
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
    /// Multiply the connections of each attack by this number, up to 1000 connections
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    size: u8,
    /// Duration of an attack, and of the phase before it
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// The file that visitors load. Of a list (/a,/b) they load the first; guests and clients that read nothing request all
    #[arg(long, value_name = "PATH", value_delimiter = ',', default_value = "/")]
    path: Vec<String>,
    /// The host that visitors and attackers request, optionally with a port
    #[arg(long, value_name = "HOST", default_value = "localhost")]
    host: String,
    /// Act as the backend behind the server, at a loopback address: `utmost serve --upstream http://ADDR:PORT --websockets`
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::server_address, conflicts_with = "root")]
    backend: Option<SocketAddr>,
    /// The server's process ID, to watch its memory
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
    /// Let guests come and go for this long
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=1440))]
    soak: Option<u32>,
    /// The folder that the server serves. Guests load its files, the largest first, and compare bodies with them [default: with the first
    /// body that arrives]
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    root: Option<PathBuf>,
    /// Percentage of guests' datagrams to drop, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 1, requires = "soak", value_parser = clap::value_parser!(u32).range(0..=20))]
    loss: u32,
    /// Guests keep their addresses
    #[arg(long, requires = "soak")]
    stay: bool,
    /// The seed of the guests' actions and losses
    #[arg(long, default_value_t = 1, requires = "soak")]
    seed: u64,
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
    let mut target = Target::new(address, files(arguments)?, arguments.process).map_err(failure)?;
    (target.authority, target.size) = (arguments.host.clone(), arguments.size.into());
    let target = match arguments.backend {
        Some(backend) => target.before_backend_at(backend).map_err(failure)?,
        None => target,
    };
    let attacks = if arguments.attacks.is_empty() { possible(&target, attacks)? } else { attacks };
    let length = Duration::from_secs(arguments.seconds.into());
    match arguments.soak {
        None => attack_all(&target, &attacks, length, arguments.json),
        Some(minutes) => soak_for(
            &target,
            &Soak {
                length: Duration::from_secs(60 * u64::from(minutes)),
                attacks,
                attack_length: length,
                loss_percent: arguments.loss,
                patience: PATIENCE,
                moves: !arguments.stay,
                seed: arguments.seed,
            },
            arguments.json,
        ),
    }
}

/// The possible attacks: without TCP attacks if the server has no TCP, and without WebSocket attacks if there is no backend.
fn possible(
    target: &Target,
    mut attacks: Vec<&'static Attack>,
) -> Result<Vec<&'static Attack>, Failure> {
    let (has_tcp, has_backend) =
        (target.answers_over_tcp().map_err(failure)?, target.has_backend());
    if !has_tcp {
        eprintln!(
            "note: the server does not listen at this port over TCP; attacks over TCP are left out"
        );
    } else if !has_backend {
        eprintln!("note: attacks on WebSockets are left out; they need --backend");
    }
    attacks.retain(|it| (has_tcp || !it.is_over_tcp()) && (has_backend || !it.needs_backend()));
    Ok(attacks)
}

/// How long a guest waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

fn attack_all(
    target: &Target,
    attacks: &[&'static Attack],
    length: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    let bar = output::progress(attacks.len(), "attacking");
    let mut outcomes = Vec::new();
    for it in attacks {
        outcomes.push(attack(target, it, length).map_err(failure)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if as_json {
        output::json_of_program(FORMAT, serde_json::json!({ "attacks": outcomes }))?;
    } else {
        show(&outcomes)?;
    }
    let named = |is_in: fn(&Outcome) -> bool| {
        let names: Vec<&str> = outcomes.iter().filter(|it| is_in(it)).map(|it| it.attack).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let (lost, unheld) = (named(|it| !it.failures.is_empty()), named(|it| !it.held()));
    if let Some(names) = lost {
        return Err(Failure::No(format!("the server did not hold against {names}")));
    }
    unheld.map_or(Ok(()), |names| {
        let remedy = "other programs took the machine; end them and try again";
        Err(Failure::Elsewhere(format!("undecided against {names}: {remedy}")))
    })
}

fn soak_for(target: &Target, plan: &Soak, as_json: bool) -> Result<(), Failure> {
    let bar = output::progress(plan.rounds() as usize, "soaking");
    let soaked = soak(target, plan, |_| bar.inc(1)).map_err(failure)?;
    bar.finish_and_clear();
    if as_json {
        output::json_of_program(SOAK_FORMAT, serde_json::json!({ "soak": soaked }))?;
    } else {
        show_soak(&soaked)?;
    }
    if soaked.failures.is_empty() {
        return Ok(());
    }
    Err(Failure::No(format!("the server did not hold: {}", soaked.failures.join("; "))))
}

fn list() -> Result<(), Failure> {
    let rows = ATTACKS.iter().map(|it| vec![it.name.to_owned(), it.text.to_owned()]);
    output::line(&output::table(&["attack", "what the attacker does"], &[1], rows).to_string())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Attack>, Failure> {
    if names.is_empty() {
        return Ok(ATTACKS.iter().collect());
    }
    let attacks = names.iter().map(|name| {
        let remedy = "`utmost-workshop stress --list` shows them";
        find(name).ok_or_else(|| Failure::BadInput(format!("--attacks {name}: unknown; {remedy}")))
    });
    attacks.collect()
}

/// The files to load, at least one.
fn files(arguments: &Arguments) -> Result<Vec<File>, Failure> {
    let Some(root) = &arguments.root else {
        return Ok(arguments.path.iter().map(|it| File::unknown(it)).collect());
    };
    let files = files_of(root).map_err(|error| Failure::of_file(root, error))?;
    if files.is_empty() {
        let remedy = "holds no file whose name is of letters, digits, `-`, `_` and `.`";
        return Err(Failure::of_file(root, remedy));
    }
    Ok(files)
}

fn failure(error: StressError) -> Failure {
    match error {
        StressError::Elsewhere(_)
        | StressError::NoProcess(_)
        | StressError::NoBackend(_)
        | StressError::Backend { .. } => Failure::bad_input(error),
        _ => Failure::elsewhere(error),
    }
}

fn show(outcomes: &[Outcome]) -> Result<(), Failure> {
    let header = "attack|visitors|answered, %|p50 ms|p99 ms|memory, MB|closed with|verdict";
    let header: Vec<&str> = header.split('|').collect();
    let rows = outcomes.iter().flat_map(rows);
    output::line(&output::table(&header, &[1, 6, 7], rows).to_string())?;
    output::line(
        "answered, p50, p99: before, during and after the attack; memory: before, at most, after",
    )
}

/// A row for the visitors of each version; the first also describes the attack.
fn rows(outcome: &Outcome) -> Vec<Vec<String>> {
    let mut of_attack = of_attack(outcome).into_iter();
    let name = std::iter::once(outcome.attack.to_owned()).chain(std::iter::repeat(String::new()));
    let rows = name.zip(&outcome.visitors).map(|(name, visited)| {
        let phases = visited.phases();
        let mut row = vec![
            name,
            visited.protocol.to_owned(),
            joined(phases.map(|it| 100.0 * it.share_of_wanted), 0),
            joined(phases.map(|it| it.p50_ms), 1),
            joined(phases.map(|it| it.p99_ms), 1),
        ];
        row.extend(of_attack.by_ref().take(3));
        row.resize(8, String::new());
        row
    });
    rows.collect()
}

fn joined(values: [f64; 3], decimals: usize) -> String {
    values.map(|it| output::number(Some(it), decimals)).join(", ")
}

/// Memory, codes, and the verdict.
fn of_attack(outcome: &Outcome) -> [String; 3] {
    let memory = outcome
        .memory_bytes
        .map(|both| both.map(|bytes| format!("{:.1}", bytes as f64 / 1e6)).join(", "));
    let codes = outcome.attacked.codes.iter().map(|(code, count)| format!("{count} x {code:#x}"));
    let undecided = outcome.undecided.iter().map(|it| format!("undecided: {it}"));
    let verdicts: Vec<String> = outcome.failures.iter().cloned().chain(undecided).collect();
    let verdict = if verdicts.is_empty() { "held".to_owned() } else { verdicts.join("; ") };
    [memory.unwrap_or("-".to_owned()), codes.collect::<Vec<_>>().join(", "), verdict]
}

/// A row for each attack: its first and its last round.
fn show_soak(soaked: &Soaked) -> Result<(), Failure> {
    let mut rounds: BTreeMap<&str, Vec<&Round>> = BTreeMap::new();
    for round in &soaked.rounds {
        rounds.entry(round.attack).or_default().push(round);
    }
    let header = ["attack", "rounds", "bodies", "p99 ms first", "last", "kB first", "last", "most"];
    let rows = rounds.into_iter().map(|(attack, rounds)| soak_row(attack, &rounds));
    output::line(&output::table(&header, &[], rows).to_string())?;
    let seen = &soaked.seen;
    output::line(&format!(
        "{} bodies of {} MB, {} uploads, {} requests cancelled; {} connections, {} of them resumed; {} new addresses",
        seen.bodies,
        seen.body_bytes / 1_000_000,
        seen.uploads,
        seen.cancelled,
        seen.connections,
        seen.resumed,
        seen.moves
    ))?;
    for (name, trend) in [("memory", soaked.memory), ("descriptors", soaked.descriptors)] {
        output::line(&trend.map_or_else(|| format!("{name}: unknown"), |it| said(name, &it)))?;
    }
    Ok(())
}

fn soak_row(attack: &str, rounds: &[&Round]) -> Vec<String> {
    let (first, last) = (rounds[0], rounds[rounds.len() - 1]);
    let most = rounds.iter().filter_map(|it| it.memory_most).max();
    vec![
        attack.to_owned(),
        rounds.len().to_string(),
        rounds.iter().map(|it| it.bodies).sum::<usize>().to_string(),
        format!("{:.1}", first.p99_ms),
        format!("{:.1}", last.p99_ms),
        kilobytes(first.memory_bytes),
        kilobytes(last.memory_bytes),
        kilobytes(most.map(|it| it as f64)),
    ]
}

fn kilobytes(bytes: Option<f64>) -> String {
    output::number(bytes.map(|it| it / 1024.0), 0)
}

fn said(name: &str, trend: &Trend) -> String {
    let Trend { per_hour, interval: [low, high], rise, noise } = trend;
    let verdict = if trend.is_flat() { "flat" } else { "rises" };
    format!(
        "{name} in the second half: {verdict}; {per_hour:.0} an hour (95 %: {low:.0} to {high:.0}), in all {rise:.0}, noise {noise:.0}"
    )
}
