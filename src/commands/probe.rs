//! `utmost probe`: does a server prioritize?

use crate::output;
use crate::values;
use ::client::Verify;
use ::client::probe::Patience;
use ::serve::Failure;
use lab::probe::{
    BODY_BYTES_MIN, Choice, Effort, Finding, Heeds, Interval, Kind, ProbeError, Run, Target,
    Verdict, choose, judge, reading, run_all,
};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use url::{Position, Url};

const FORMAT: &str = "utmost-probe/1";

/// Test whether an HTTP/3 server prioritizes
///
/// While some responses are in progress, the client requests one more: more urgent, equally urgent, or less urgent. A server that
/// prioritizes sends the more urgent response at once and the less urgent one last. All responses have the same size, and the
/// client reads slowly through a small window, so that the server must choose. Two more kinds of runs test whether incremental
/// responses share the bandwidth, and whether a `PRIORITY_UPDATE` has an effect. Exit codes: 0 the server prioritizes; 1 it does
/// not, or only weakly; 3 it cannot be reached, or the runs are inconclusive or undecided.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost probe https://www.example.com/\n  \
utmost probe https://localhost:4433/ --insecure --path /big.jpg --repeats 10 --json")]
pub(crate) struct Arguments {
    /// The server: <https://HOST>[:PORT]/PATH. Without --path, the probe uses the largest of the page and its linked files
    url: String,
    /// The resource to request, best 100 kB or more; if there are several, the first is the late one
    #[arg(long = "path", alias = "paths", value_name = "PATH", value_delimiter = ',')]
    paths: Vec<String>,
    /// Connect to this address instead of resolving the URL's host
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::server_address)]
    server: Option<SocketAddr>,
    #[command(flatten)]
    trust: values::Trust,
    /// The minimum number of runs of each of the five kinds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    repeats: u32,
    /// The maximum number of runs of each kind; they repeat until the intervals clear the thresholds
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=1000))]
    repeats_max: u32,
    /// Number of responses in progress when the client makes the late request
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(3..=64))]
    others: u32,
    /// The deadline of one run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    within: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let url = values::server_url(&arguments.url).map_err(Failure::BadInput)?;
    check_paths(&arguments.paths)?;
    let within = Duration::from_secs(arguments.within.into());
    let mut target = target(&url, arguments.server, Verify::from(&arguments.trust), within)?;
    target.paths.clone_from(&arguments.paths);
    let effort = Effort {
        repeats: arguments.repeats as usize,
        others: arguments.others as usize,
        ..Effort::default()
    };
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let first = arguments.paths.first().map_or(path, |it| it);
    let choice = choose(&target, first, arguments.paths.is_empty()).map_err(failure)?;
    if choice.body_bytes < BODY_BYTES_MIN {
        return Err(Failure::Elsewhere(too_small(arguments, &choice)));
    }
    target.body_bytes = choice.body_bytes;
    target.rtt = choice.rtt;
    if target.paths.is_empty() {
        target.paths = vec![choice.path.clone()];
    }
    let (runs, finding) = decided(&target, effort, arguments.repeats_max as usize)?;
    show(arguments, &target, effort, &choice, &runs, &finding)?;
    let said = format!("{}: {}", arguments.url, in_words(finding.verdict));
    match finding.verdict {
        Verdict::Prioritizes => Ok(()),
        Verdict::Weakly | Verdict::DoesNot => Err(Failure::No(said)),
        Verdict::Inconclusive | Verdict::Undecided => {
            Err(Failure::Elsewhere(format!("{said}: {}", finding.why)))
        }
    }
}

/// Runs every kind the minimum number of times, then adds one run of each until the verdict is clear.
fn decided(
    target: &Target,
    effort: Effort,
    repeats_max: usize,
) -> Result<(Vec<Run>, Finding), Failure> {
    let bar = output::progress(Kind::ALL.len() * repeats_max.max(effort.repeats), "probing");
    let mut runs = run_all(target, effort, |_| bar.inc(1)).map_err(failure)?;
    let mut finding = judge(&runs);
    for _ in effort.repeats..repeats_max {
        if !finding.is_undecided() {
            break;
        }
        let one = Effort { repeats: 1, ..effort };
        runs.extend(run_all(target, one, |_| bar.inc(1)).map_err(failure)?);
        finding = judge(&runs);
    }
    bar.finish_and_clear();
    Ok((runs, finding))
}

fn in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Prioritizes => "prioritizes",
        Verdict::Weakly => "prioritizes weakly",
        Verdict::DoesNot => "does not prioritize",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Undecided => "undecided",
    }
}

fn heeds_in_words(heeds: Heeds) -> &'static str {
    match heeds {
        Heeds::Heeds => "heeded",
        Heeds::Weakly => "weakly heeded",
        Heeds::Ignores => "ignored",
        Heeds::Inconclusive => "inconclusive",
        Heeds::Undecided => "undecided",
    }
}

fn too_small(arguments: &Arguments, choice: &Choice) -> String {
    let Choice { path, body_bytes, links, .. } = choice;
    let remedy = format!(
        "responses under {BODY_BYTES_MIN} bytes are inconclusive; name a larger resource of this server with --path /PATH"
    );
    let url = &arguments.url;
    match (arguments.paths.is_empty(), links) {
        (true, 0) => format!(
            "{url}: {path} has {body_bytes} bytes and links to nothing on this server; {remedy}"
        ),
        (true, _) => format!(
            "{url}: of the page and {links} links on this server {path} is the largest, with {body_bytes} bytes; {remedy}"
        ),
        _ => format!("{url}: {path} has {body_bytes} bytes; {remedy}"),
    }
}

fn failure(error: ProbeError) -> Failure {
    match error {
        ProbeError::Connection(error) => error.into(),
        _ => Failure::elsewhere(error),
    }
}

fn check_paths(paths: &[String]) -> Result<(), Failure> {
    let Some(wrong) = paths.iter().find(|path| !is_path(path)) else { return Ok(()) };
    Err(Failure::BadInput(format!(
        "--path {wrong}: a path begins with `/` and is ASCII without spaces; use for example /{}",
        wrong.trim_start_matches('/').replace(|it: char| !it.is_ascii_graphic(), "%20")
    )))
}

/// The server of a URL, at `address` if that is known, before any of its resources is chosen.
pub(super) fn target(
    url: &Url,
    address: Option<SocketAddr>,
    verify: Verify,
    within: Duration,
) -> Result<Target, Failure> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().unwrap_or(443);
    let address = match address {
        Some(address) => address,
        None => values::server_address(&format!("{host}:{port}")).map_err(Failure::Elsewhere)?,
    };
    Ok(Target {
        host: host.trim_matches(['[', ']']).to_owned(),
        port,
        address,
        paths: Vec::new(),
        body_bytes: 0,
        rtt: Duration::ZERO,
        patience: Patience { verify, connect_within: Duration::from_secs(10), within },
    })
}

fn show(
    arguments: &Arguments,
    target: &Target,
    effort: Effort,
    choice: &Choice,
    runs: &[Run],
    finding: &Finding,
) -> Result<(), Failure> {
    let reading = reading(target, effort);
    let rtt_ms = target.rtt.as_secs_f64() * 1000.0;
    if arguments.json {
        let document = json!({
            "url": arguments.url,
            "server": target.address.to_string(),
            "path": choice.path,
            "body_bytes": choice.body_bytes,
            "rtt_ms": rtt_ms,
            "window_bytes": reading.window_bytes,
            "read_bytes_per_ms": reading.bytes_per_ms,
            "others": effort.others,
            "runs": runs,
            "finding": finding,
        });
        return output::json_of_program(FORMAT, document);
    }
    output::line(&format!(
        "{} at {}, {} of {} bytes, {} others under way, round trip {rtt_ms:.2} ms, window {} bytes",
        arguments.url,
        target.address,
        choice.path,
        choice.body_bytes,
        effort.others,
        reading.window_bytes
    ))?;
    let rows = [
        ("control", "3, late 3", finding.control),
        ("urgent", "7, late 0", finding.urgent),
        ("inverse", "0, late 7", finding.inverse),
    ]
    .map(|(name, urgencies, Interval { mean, low, high })| {
        let range = format!("{low:.2} to {high:.2}");
        vec![name.to_owned(), urgencies.to_owned(), format!("{mean:.2}"), range]
    });
    let header = ["run", "urgencies", "others first (x its size)", "99 %"];
    output::line(&output::table(&header, &[1], rows).to_string())?;
    output::line(&format!("{}: {}", in_words(finding.verdict), finding.why))?;
    for (signal, heed) in
        [("incremental", &finding.incremental), ("PRIORITY_UPDATE", &finding.updates)]
    {
        output::line(&format!("{signal}: {}: {}", heeds_in_words(heed.verdict), heed.why))?;
    }
    match finding.committed_bytes {
        Some(committed) => output::line(&committed_text(committed)),
        None => Ok(()),
    }
}

/// The rate at which the cost is expressed as a duration.
const COST_BITS_PER_S: f64 = 10e6;

fn committed_text(bytes: u64) -> String {
    let cost_ms = bytes as f64 * 8e3 / COST_BITS_PER_S;
    format!("committed below its scheduler: {bytes} bytes, which take {cost_ms:.0} ms at 10 Mbit/s")
}

fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_bytes_are_told_with_their_cost() {
        let told = committed_text(1_000_000);
        let expected =
            "committed below its scheduler: 1000000 bytes, which take 800 ms at 10 Mbit/s";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_server_with_nothing_large_enough_is_answered_with_path() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let told = |line: &[&str], links| {
            let line: Line =
                clap::Parser::parse_from([&["probe", "https://a.test/"], line].concat());
            let rtt = Duration::ZERO;
            let choice = Choice { path: "/a.css".to_owned(), body_bytes: 900, rtt, links };
            too_small(&line.arguments, &choice)
        };
        let remedy = "responses under 24000 bytes are inconclusive; name a larger resource of this server with --path /PATH";
        let of_links = "https://a.test/: of the page and 3 links on this server /a.css is the largest, with 900 bytes";
        assert_eq!(told(&[], 3), format!("{of_links}; {remedy}"));
        let alone = "https://a.test/: /a.css has 900 bytes and links to nothing on this server";
        assert_eq!(told(&[], 0), format!("{alone}; {remedy}"));
        let named = told(&["--path", "/a.css"], 0);
        assert_eq!(named, format!("https://a.test/: /a.css has 900 bytes; {remedy}"));
    }
}
