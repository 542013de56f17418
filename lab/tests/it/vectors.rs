//! The orders that the paper's own implementation produced, against ours.
//!
//! They are among the fixtures, without which these tests are skipped.
//! `docs/vectors.md` is the table of all deviations; `UTMOST_BLESS=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use lab::scenario::{Run, Scenario, run};
use schedulers::{find_scheme, paper_schemes};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Schemes that complete every stream within the tolerance, whatever the scenario.
const ALWAYS_WITHIN: [&str; 3] = ["rr", "wrr", "zeroweight"];
/// Schemes that do unless an SVG is involved, which the reference took for XML.
const WITHIN_WITHOUT_SVG: [&str; 3] = ["bucket@quicker", "bucket-html@quicker", "spdyrr"];
/// The scenarios with an SVG.
const WITH_SVG: [&str; 4] = ["06_mime_quirks", "19_page40", "20_page100", "21_page200"];
/// The scenario made to show a fault of the reference's `dfifo`.
const TAIL_INVERSION: &str = "10_dfifo_tail_inversion";

fn scenarios() -> Option<Vec<Scenario>> {
    let folder = fixtures::path("vectors")?;
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_scenario = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with(|first: char| first.is_ascii_digit())
    };
    let scenarios: Vec<Scenario> = paths
        .iter()
        .filter(|path| is_scenario(path))
        .map(|path| Scenario::read(path).unwrap())
        .collect();
    assert!(!scenarios.is_empty(), "no scenario in {}", folder.display());
    Some(scenarios)
}

fn ours(scenario: &Scenario, scheme: &str) -> Vec<Run> {
    run(scenario, &find_scheme(scheme).unwrap())
}

fn has_svg(scenario: &Scenario) -> bool {
    WITH_SVG.contains(&scenario.name.as_str())
}

/// Slots within which the reference's own tie-breaking may move a completion.
fn tolerance(scenario: &Scenario) -> u64 {
    2 * scenario.requests.len() as u64
}

/// The slot of each stream's last packet.
fn completions(runs: &[Run]) -> BTreeMap<u64, u64> {
    runs.iter().map(|run| (run.stream, run.first_slot + run.packets - 1)).collect()
}

/// The stream whose completion differs most, and by how many slots. A variant is compared with its scheme.
fn worst(scenario: &Scenario, scheme: &str) -> (u64, u64) {
    let theirs = &scenario.orders[scheme.trim_end_matches("@quicker")];
    let (ours, theirs) = (completions(&ours(scenario, scheme)), completions(theirs));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let deviation = |stream: &u64| ours[stream].abs_diff(theirs[stream]);
    ours.keys().map(|stream| (*stream, deviation(stream))).max_by_key(|(_, slots)| *slots).unwrap()
}

#[test]
fn fifo_and_dfifo_equal_the_reference_packet_by_packet() {
    let Some(scenarios) = scenarios() else { return };
    for scenario in &scenarios {
        assert_eq!(ours(scenario, "fifo"), scenario.orders["fifo"], "{}", scenario.name);
        if !has_svg(scenario) && scenario.name != TAIL_INVERSION {
            assert_eq!(ours(scenario, "dfifo"), scenario.orders["dfifo"], "{}", scenario.name);
        }
    }
}

#[test]
fn a_late_member_of_a_lower_class_does_not_overtake_a_higher_class() {
    let Some(scenarios) = scenarios() else { return };
    let scenario = scenarios.iter().find(|it| it.name == TAIL_INVERSION).unwrap();
    let order: Vec<u64> = ours(scenario, "dfifo").iter().map(|run| run.stream).collect();
    assert_eq!(order, [0, 4, 8, 16, 12]);
}

#[test]
fn sharing_schemes_complete_every_stream_within_two_slots_a_request() {
    let Some(scenarios) = scenarios() else { return };
    for scheme in ALWAYS_WITHIN.iter().chain(&WITHIN_WITHOUT_SVG) {
        let mut highest = (0.0, String::new());
        for scenario in &scenarios {
            if WITHIN_WITHOUT_SVG.contains(scheme) && has_svg(scenario) {
                continue;
            }
            let ((stream, slots), tolerance) = (worst(scenario, scheme), tolerance(scenario));
            let ratio = slots as f64 / tolerance as f64;
            if ratio >= highest.0 {
                highest = (
                    ratio,
                    format!("stream {stream} of {}: {slots} of {tolerance}", scenario.name),
                );
            }
        }
        println!("{scheme}: at most {:.2} of the tolerance ({})", highest.0, highest.1);
        assert!(highest.0 <= 1.0, "{scheme}: {}", highest.1);
    }
}

#[test]
fn the_table_of_deviations_is_current() {
    let Some(scenarios) = scenarios() else { return };
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/vectors.md");
    let intact = std::fs::read_to_string(&path).unwrap();
    let (head, _) = intact.split_once(TABLE_MARK).unwrap();
    let current = format!("{head}{TABLE_MARK}\n{}", table(&scenarios));
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(&path, current).unwrap();
    } else {
        assert!(
            intact == current,
            "docs/vectors.md is out of date: run this test with UTMOST_BLESS=1"
        );
    }
}

/// The text before the table in `docs/vectors.md`.
const TABLE_MARK: &str = "<!-- Made from the vectors: UTMOST_BLESS=1 cargo test -p utmost-lab --test it deviations -->\n";

fn table(scenarios: &[Scenario]) -> String {
    let schemes: Vec<&str> = paper_schemes().iter().map(|scheme| scheme.name.as_str()).collect();
    let mut table = format!("| scenario | tolerance | {} |\n", schemes.join(" | "));
    writeln!(table, "|{}", "---|".repeat(schemes.len() + 2)).unwrap();
    for scenario in scenarios {
        let svg = if has_svg(scenario) { " (SVG)" } else { "" };
        write!(table, "| {}{svg} | {} |", scenario.name, tolerance(scenario)).unwrap();
        for scheme in &schemes {
            let (_, slots) = worst(scenario, scheme);
            let bold = if slots > tolerance(scenario) { "**" } else { "" };
            write!(table, " {bold}{slots}{bold} |").unwrap();
        }
        table.push('\n');
    }
    table
}
