//! A study's statements about its pages, schemes and flags are true.

use crate::{only_line, stdout_of, utmost};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let document = serde_json::from_str(&stdout_of(&[arguments, &["--json"]].concat()));
    let document = document.expect("JSON");
    crate::schemas::assert_valid("study.json", &document);
    document
}

/// The lines that a successful command prints on stderr.
fn notes(arguments: &[&str]) -> Vec<String> {
    let output = utmost(arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()
}

fn refused(arguments: &[&str]) -> String {
    only_line(&utmost(arguments).output().expect("it runs"), 2)
}

const HEROES: [&str; 7] =
    ["compare", "--paper", "@first-60", "--metric", "hero_render", "--schemes", "fifo"];

#[test]
fn every_number_of_pages_is_that_of_the_pages_with_the_metric() {
    let study = json(&HEROES);
    let with_value = |run: &&Value| run["scheme"] == "fifo" && run["hero_render"]["atf"].is_f64();
    let runs = study["runs"].as_array().expect("runs");
    let pages: Vec<&str> =
        runs.iter().filter(with_value).map(|it| it["page"].as_str().expect("a name")).collect();
    let known = study["provenance"]["pages"].as_array().expect("pages").iter();
    let sites = known.filter(|it| pages.contains(&it["name"].as_str().expect("a name")));
    let sites: std::collections::BTreeSet<&str> =
        sites.map(|it| it["site"].as_str().expect("a site")).collect();
    assert!(!pages.is_empty() && pages.len() < 60, "{pages:?}");
    let row = study["summary"].as_array().expect("rows").iter().find(|it| it["scheme"] == "fifo");
    let (row, compared) = (row.expect("a row"), &study["comparisons"][0]);
    for counted in [&row["pages"], &row["speedup_pages"]["atf"], &compared["ratio_pages"]["atf"]] {
        assert_eq!(counted, &pages.len());
    }
    for counted in [&row["sites"], &row["speedup_sites"]["atf"], &compared["pairs"]["atf"]] {
        assert_eq!(counted, &sites.len());
    }
    let shown = stdout_of(&HEROES);
    let sentence = format!(
        "{} of 60 pages ({} of 42 sites) have a value of hero render; left out: {} with no hero image",
        pages.len(),
        sites.len(),
        60 - pages.len()
    );
    assert!(shown.contains(&sentence), "{sentence}\n{shown}");
    let line = shown.lines().find(|it| it.starts_with(" fifo ")).expect("a row");
    assert!(line.split("  ").any(|it| it.trim() == sites.len().to_string()), "{line}");
}

#[test]
fn a_metric_that_the_only_page_does_not_have_has_a_reason() {
    let runs = json(&HEROES)["runs"].clone();
    let without = runs.as_array().expect("runs").iter();
    let without = without.filter(|it| it["hero_render"]["atf"].is_null());
    let page = without.map(|it| it["page"].as_str().expect("a name")).next().expect("a page");
    let shown =
        stdout_of(&["compare", "--paper", page, "--metric", "hero_render", "--schemes", "fifo"]);
    let expected = format!("page {page} has no hero render, because it has no hero image");
    assert!(shown.contains(&expected), "{shown}");
}

#[test]
fn the_geometric_mean_is_one_number_in_every_table() {
    let study = json(&[
        "compare",
        "--paper",
        "@first-60",
        "--network",
        "paper-jitter",
        "--seeds",
        "2",
        "--schemes",
        "fifo,dfifo",
    ]);
    for compared in study["comparisons"].as_array().expect("rows") {
        let mut rows = study["summary"].as_array().expect("rows").iter();
        let row = rows.find(|it| it["scheme"] == compared["scheme"]).expect("a row");
        assert_eq!(row["geometric_mean_speedup"], compared["geometric_mean_ratio"]);
        let intervals = ["geometric_mean_speedup_interval", "geometric_mean_ratio_interval"];
        assert_eq!(row[intervals[0]], compared[intervals[1]]);
    }
}

#[test]
fn all_has_no_two_schemes_that_place_alike_and_the_conditions_name_the_others() {
    let all = ["compare", "--paper", "davies-meenan", "--schemes", "all"];
    let shown = stdout_of(&all);
    for (scheme, twin) in [("strict", "bucket"), ("tree", "rr")] {
        let expected = format!("`all` is without {scheme}, which places as {twin} does here");
        assert!(shown.contains(&expected), "{shown}");
    }
    let study = json(&all);
    let names = |study: &Value| -> Vec<String> {
        let rows = study["summary"].as_array().expect("rows").iter();
        rows.map(|it| it["scheme"].as_str().expect("a name").to_owned()).collect()
    };
    let has = |study: &Value, name: &str| names(study).iter().any(|it| it == name);
    assert!(has(&study, "bucket") && has(&study, "rr"));
    assert!(!has(&study, "strict") && !has(&study, "tree"));
    assert_eq!(study["provenance"]["left_out"]["tree"], "rr");
    // Who is named stays, and is said to be the same.
    let both = ["compare", "--paper", "davies-meenan", "--schemes", "all,strict"];
    assert!(has(&json(&both), "strict"));
    let said = "strict and bucket place alike here, so they are one scheme under two names";
    assert!(stdout_of(&both).contains(said));
}

#[test]
fn one_seed_of_random_is_another_order_on_each_page() {
    let order = |page: &str| {
        let study =
            json(&["compare", "--paper", page, "--schemes", "random:1", "--baseline", "random:1"]);
        study["runs"][0]["byte_index"].clone()
    };
    assert_eq!(order("davies-meenan"), order("davies-meenan"));
    let twice =
        ["compare", "--paper", "davies-meenan", "agency-index", "--schemes", "random:1,random:2"];
    assert_eq!(json(&twice)["provenance"]["schemes"][1]["revision"], 2);
}

#[test]
fn what_changes_nothing_is_said() {
    let study = ["compare", "--paper", "davies-meenan", "--schemes", "fifo"];
    let with = |more: &[&str]| notes(&[&study[..], more].concat());
    assert_eq!(with(&[]), [""; 0]);
    assert_eq!(
        with(&["--seeds", "9"]),
        [
            "note: --seeds: engine ideal gives the same load with each seed on a network without jitter"
        ]
    );
    assert_eq!(
        with(&["--first-seed", "100"]),
        [
            "note: --first-seed: engine ideal gives the same load with each seed on a network without jitter"
        ]
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("a path");
    assert_eq!(
        with(&["--out", out, "--keep-qlogs"]),
        ["note: --keep-qlogs: engine ideal has no transport, so it writes no qlogs"]
    );
    assert_eq!(
        with(&["--scheme-file", "examples/schemes/fonts-first.toml"]),
        [
            "note: --scheme-file: scheme fonts-first does not run, because --schemes does not name it"
        ]
    );
    let own = ["--scheme-file", "examples/schemes/fonts-first.toml", "--baseline", "fonts-first"];
    assert_eq!(with(&own), [""; 0]);
}

#[test]
fn flags_have_two_names_where_users_guess_either_and_others_get_a_hint() {
    let study = ["compare", "--paper", "davies-meenan", "--schemes", "fifo"];
    let with = |more: &[&str]| stdout_of(&[&study[..], more].concat());
    let jitter = with(&["--network", "paper-jitter", "--seeds", "2"]);
    assert_eq!(jitter, with(&["--networks", "paper-jitter", "--loads", "2"]));
    for command in ["compare", "browser", "find", "play", "link"] {
        let help = stdout_of(&[command, "--help"]);
        assert!(help.contains("--network <") && help.contains("--networks]"), "{command}");
    }
    for command in ["compare", "browser", "what-if"] {
        let help = stdout_of(&[command, "--help"]);
        assert!(help.contains("--seeds <N>") && help.contains("--loads]"), "{command}");
    }
    let line = refused(&["compare", "--paper", "davies-meenan", "--scheme", "fifo"]);
    assert!(line.contains("a similar argument exists: '--schemes'"), "{line}");
    let line = refused(&["qlog", "lint", "x.sqlog", "--tolerence", "1"]);
    assert!(line.contains("a similar argument exists: '--tolerance'"), "{line}");
}

/// The command of a guide, and the text that the guide shows of its output.
fn shown_output(guide: &str) -> Vec<(Vec<String>, String)> {
    let mut blocks = guide.split("\n```").collect::<Vec<_>>().into_iter();
    blocks.next();
    let code: Vec<&str> = blocks.step_by(2).collect();
    let pairs = code.windows(2).filter_map(|it| {
        let command = it[0].strip_prefix("sh\n")?.trim();
        let output = it[1].strip_prefix('\n')?;
        let words = command.replace("\\\n", " ");
        Some((words.split_whitespace().skip(1).map(str::to_owned).collect(), output.to_owned()))
    });
    pairs.collect()
}

/// Words of commands that take longer than a test should: 20 seconds of a core in the debug profile.
const SLOW: [&str; 2] = ["--details", "what-if"];

#[test]
fn the_output_that_a_guide_shows_is_printed_by_its_command() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = std::fs::read_dir(docs).expect("a folder").map(|it| it.expect("a file").path());
    let guides = files.filter(|it| it.extension().is_some_and(|it| it == "md"));
    let guides = guides.map(|it| std::fs::read_to_string(it).expect("read"));
    let pairs = guides.flat_map(|it| shown_output(&it));
    let is_quick = |(command, _): &(Vec<String>, String)| {
        !command.iter().any(|it| SLOW.contains(&it.as_str()))
    };
    let pairs: Vec<_> = pairs.filter(is_quick).collect();
    assert!(
        pairs.iter().any(|it| it.0[0] == "find") && pairs.iter().any(|it| it.0[0] == "compare")
    );
    for (command, output) in pairs {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let printed = stdout_of(&words);
        let plain = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
        let printed: Vec<String> = printed.lines().map(plain).collect();
        for line in output.lines().map(plain) {
            assert!(printed.contains(&line), "{command:?} does not print: {line}");
        }
    }
}
