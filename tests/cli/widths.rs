//! Studies that add seeds until their intervals are narrow enough.

use crate::studies::{read, results, study_of};
use crate::{only_line, stdout_of, utmost};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// One page on a link with chance: its loads are the pairs.
const PAGE: [&str; 8] = [
    "compare",
    "--paper",
    "davies-meenan",
    "--network",
    "paper-jitter",
    "--schemes",
    "fifo,dfifo",
    "--width",
];

/// Pages of eight sites on the same link.
const SITES: [&str; 15] = [
    "compare",
    "--paper",
    "davies-meenan",
    "case-study-1",
    "case-study-2",
    "agency-index",
    "gentelella-index",
    "web-cnn-small",
    "web-github-large",
    "examples/page-minimal.json",
    "--network",
    "paper-jitter",
    "--schemes",
    "fifo,dfifo",
    "--width",
];

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The study, carried out into `folder`, and what it printed.
fn study(base: &[&str], more: &[&str], folder: &Path) -> (Value, String) {
    let shown = stdout_of(&[base, more, &["--out", text(folder)]].concat());
    let study = study_of(folder);
    crate::schemas::assert_valid("study.json", &study);
    (study, shown)
}

/// A width that 9 seeds of the page do not reach, and 17 do.
fn reachable() -> f64 {
    let probe = stdout_of(&[&PAGE[..], &["0.1", "--seeds", "17", "--json"]].concat());
    let (seeds, widths) = rounds(&serde_json::from_str(&probe).expect("JSON"));
    assert_eq!(seeds, [9, 17]);
    assert!(widths[1] < widths[0], "{widths:?}");
    (50.0 * (widths[0] + widths[1])).round() / 100.0
}

/// The numbers of seeds of the rounds, and the widths after them in percent.
fn rounds(study: &Value) -> (Vec<u64>, Vec<f64>) {
    let rounds = study["provenance"]["rounds"].as_array().expect("rounds").iter();
    let pairs = rounds.map(|it| (it["seeds"].as_u64(), it["widest_percent"].as_f64()));
    pairs.map(|it| (it.0.expect("a number"), it.1.expect("a width"))).unzip()
}

/// How far the upper end of the widest interval lies above its lower end, in percent.
fn widest(study: &Value) -> f64 {
    let rows = study["comparisons"].as_array().expect("rows").iter();
    let widths = rows.map(|row| {
        let ends = &row["geometric_mean_ratio_interval"]["atf"];
        let [low, high] = [&ends[0], &ends[1]].map(|it| it.as_f64().expect("an end"));
        100.0 * (high / low - 1.0)
    });
    widths.fold(0.0, f64::max)
}

#[test]
fn seeds_are_added_until_the_widest_interval_is_narrow_enough_and_the_study_repeats_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, again, whole] = ["first", "again", "whole"].map(|it| folder.path().join(it));
    let width = reachable();
    let asked = width.to_string();
    let (of_first, shown) = study(&PAGE, &[&asked], &first);
    let (seeds, widths) = rounds(&of_first);
    assert!(seeds == [9, 17], "{seeds:?}, {widths:?}");
    let (last, before) = widths.split_last().expect("rounds");
    assert!(before.iter().all(|it| *it > width) && *last <= width, "{widths:?}");
    assert!((widest(&of_first) - last).abs() < 1e-9, "{last}");
    let count = seeds.last().expect("rounds");
    let recorded = of_first["provenance"]["seeds"].as_array().expect("seeds");
    assert_eq!(recorded.len() as u64, *count);
    let said =
        format!("; {count} seeds: the widest interval is {last:.1} % wide, at most {width} %");
    assert!(shown.contains(&said), "{said}\n{shown}");
    assert!(read(&first, "report.html").contains(&said[2..]));

    // The manifest repeats it without deciding again; the same number of seeds gives the same loads.
    stdout_of(&["compare", "--from", text(&first), "--out", text(&again)]);
    assert_eq!(results(&again), results(&first));
    assert_eq!(study_of(&again)["provenance"]["rounds"], of_first["provenance"]["rounds"]);
    let seeds = count.to_string();
    let plain = [&PAGE[..7], &["--seeds", &seeds, "--out", text(&whole)]].concat();
    stdout_of(&plain);
    assert_eq!(results(&whole)[1..], results(&first)[1..]);

    // In memory it is the same study.
    let in_memory = stdout_of(&[&PAGE[..], &[&asked, "--json"]].concat());
    let in_memory: Value = serde_json::from_str(&in_memory).expect("JSON");
    assert_eq!(in_memory["comparisons"], of_first["comparisons"]);
    assert_eq!(in_memory["provenance"]["rounds"], of_first["provenance"]["rounds"]);
}

#[test]
fn a_study_that_was_interrupted_in_a_round_goes_on_to_the_same_seeds() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, torn] = ["whole", "torn"].map(|it| folder.path().join(it));
    let width = reachable().to_string();
    let (expected, _) = study(&PAGE, &[&width], &whole);
    study(&PAGE, &[&width], &torn);
    // As if it had ended in its last round: the rounds before are known, and some loads are missing.
    let mut manifest: Value = serde_json::from_str(&read(&torn, "manifest.json")).expect("JSON");
    manifest["rounds"].as_array_mut().expect("rounds").pop();
    fs::write(torn.join("manifest.json"), manifest.to_string()).expect("written");
    let journal = read(&torn, "runs.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    fs::write(torn.join("runs.jsonl"), lines[..lines.len() - 5].join("\n") + "\n")
        .expect("written");
    let (continued, _) = study(&PAGE, &[&width], &torn);
    assert_eq!(continued["provenance"]["rounds"], expected["provenance"]["rounds"]);
    assert_eq!(results(&torn), results(&whole));
    let journal = read(&torn, "runs.jsonl");
    study(&PAGE, &[&width], &torn);
    assert_eq!(read(&torn, "runs.jsonl"), journal, "nothing is loaded again");
}

#[test]
fn where_sites_bound_the_interval_more_seeds_end_and_where_the_maximum_is_reached_it_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let [sites, most] = ["sites", "most"].map(|it| folder.path().join(it));
    let (study_of_sites, shown) = study(&SITES, &["1"], &sites);
    let (seeds, widths) = rounds(&study_of_sites);
    assert_eq!(seeds, [9, 17]);
    assert!(widths[1] > 0.98 * widths[0] && widths[1] > 1.0, "{widths:?}");
    let said = format!(
        "; stopped at 17 seeds: the widest interval is {:.1} % wide, and was {:.1} % with 9, so more seeds do not narrow it to 1 %; \
         more sites would",
        widths[1], widths[0]
    );
    assert!(shown.contains(&said), "{said}\n{shown}");
    let (study_of_most, shown) = study(&PAGE, &["0.1", "--seeds", "12"], &most);
    let (seeds, widths) = rounds(&study_of_most);
    assert_eq!(seeds, [9, 12]);
    let said = format!(
        "; stopped at the maximum of 12 seeds: the widest interval is {:.1} % wide, more than 0.1 %",
        widths[1]
    );
    assert!(shown.contains(&said), "{said}\n{shown}");
}

#[test]
fn a_width_that_cannot_decide_is_refused_or_said_to_change_nothing() {
    let refused = |more: &[&str]| {
        only_line(&utmost(&[&PAGE[..], more].concat()).output().expect("it runs"), 2)
    };
    for wrong in ["0", "x", "101", "nan"] {
        let line = refused(&[wrong]);
        assert!(line.contains("it must be from 0.1 to 100"), "{line}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let line = refused(&["5", "--shard", "1/2", "--out", text(folder.path())]);
    assert!(
        line.contains("a shard cannot tell how wide the intervals of the whole study are"),
        "{line}"
    );
    let line = refused(&["5", "--policy", "policy.toml"]);
    assert!(line.contains("cannot be used with"), "{line}");

    let certain = ["compare", "--paper", "davies-meenan", "--schemes", "fifo", "--width", "5"];
    let output = utmost(&[&certain[..], &["--json"]].concat()).output().expect("it runs");
    let note = "note: --width: nothing is random on engine ideal without jitter, so more seeds would give the same loads\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["provenance"]["seeds"], json!([0]));
    assert_eq!(document["provenance"]["stopping"], Value::Null);
    // Another width would have other seeds, so the folder is another study's.
    let out = ["--out", text(folder.path())];
    stdout_of(&[&PAGE[..], &["50"], &out].concat());
    let line = refused(&[&["40"][..], &out].concat());
    assert!(line.contains("they differ in --width or --seeds"), "{line}");
}
