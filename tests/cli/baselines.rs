//! Studies whose schemes are compared with one that is not `rr`.

use crate::studies::{read, results, study_of};
use crate::{only_line, stdout_of, utmost};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const PAGES: [&str; 8] = [
    "davies-meenan",
    "case-study-1",
    "case-study-2",
    "agency-index",
    "gentelella-index",
    "web-cnn-small",
    "web-github-large",
    "examples/page-minimal.json",
];

fn study(more: &[&str]) -> String {
    stdout_of(&[&["compare", "--paper"], &PAGES[..], more].concat())
}

fn json_in(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&read(folder, file)).expect("JSON")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The only row of a study of two schemes.
fn comparison(study: &Value) -> &Value {
    let rows = study["comparisons"].as_array().expect("rows");
    assert_eq!(rows.len(), 1, "{rows:?}");
    &rows[0]
}

#[test]
fn everything_that_shows_a_speedup_names_the_baseline() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path();
    let more = ["--schemes", "dfifo", "--baseline", "fifo", "--send-buffer", "0,14k"];
    let shown = study(&[&more[..], &["--out", text(out)]].concat());
    assert!(shown.starts_with("dfifo against fifo, by ByteIndex above the fold\n"), "{shown}");
    assert!(!shown.contains("rank correlation"), "the paper compares with rr: {shown}");

    let document = study_of(out);
    crate::schemas::assert_valid("study.json", &document);
    let schemes = document["provenance"]["schemes"].as_array().expect("schemes").iter();
    assert_eq!(schemes.map(|it| &it["name"]).collect::<Vec<_>>(), ["fifo", "dfifo"], "no rr");
    assert_eq!(
        (&document["baseline"], &document["provenance"]["baseline"]),
        (&json!("fifo"), &json!("fifo"))
    );
    assert_eq!(document["rank_correlations"], json!([]));
    let rows = document["comparisons"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "one a send buffer");
    assert!(rows.iter().all(|it| it["baseline"] == "fifo" && it["scheme"] == "dfifo"));
    for row in document["summary"].as_array().expect("rows") {
        assert!(row["scheme"] != "fifo" || row["mean_speedup"]["atf"] == 1.0, "{row}");
    }
    for file in ["summary.csv", "pages.csv", "runs.csv", "comparisons.csv"] {
        let first = read(out, file);
        assert!(
            first.lines().next().is_some_and(|it| it.contains("\"baseline\":\"fifo\"")),
            "{file}"
        );
    }
    let report = read(out, "report.html");
    for words in [
        "dfifo against fifo, by",
        "ByteIndex of fifo divided by that",
        "ByteIndex speedup over fifo",
    ] {
        assert!(report.contains(words), "{words}");
    }
    let figures = fs::read_dir(out.join("figures")).expect("figures");
    let drawn: Vec<String> = figures
        .map(|it| it.expect("a file").path())
        .filter(|it| text(it).ends_with("-overall.svg"))
        .map(|it| fs::read_to_string(it).expect("a figure"))
        .collect();
    assert!(drawn.len() == 4 && drawn.iter().all(|it| it.contains("speedup over fifo")));
    for text in drawn.iter().chain([&report]) {
        assert!(!text.contains("over rr"), "an old baseline");
    }
}

#[test]
fn a_manifest_keeps_the_baseline_and_another_judges_the_same_loads() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, again] = ["first", "again"].map(|it| folder.path().join(it));
    study(&["--schemes", "dfifo", "--baseline", "fifo", "--out", text(&first)]);
    let manifest = first.join("manifest.json");
    let from = ["compare", "--from", text(&manifest), "--out"];
    let shown = stdout_of(&[&from[..], &[text(&again)]].concat());
    assert!(shown.starts_with("dfifo against fifo, "), "{shown}");
    assert_eq!(results(&again), results(&first));

    let (one, journal) = (study_of(&first), read(&first, "runs.jsonl"));
    stdout_of(&[&from[..], &[text(&first), "--baseline", "dfifo"]].concat());
    assert_eq!(read(&first, "runs.jsonl"), journal, "nothing is loaded again");
    assert_eq!(json_in(&first, "manifest.json")["baseline"], "dfifo");
    let other = study_of(&first);
    let (one, other) = (comparison(&one), comparison(&other));
    assert_eq!((&other["scheme"], &other["baseline"]), (&json!("fifo"), &json!("dfifo")));
    let ratio = |row: &Value| row["geometric_mean_ratio"]["atf"].as_f64().expect("a ratio");
    assert!((ratio(one) * ratio(other) - 1.0).abs() < 1e-12, "{one} and {other}");
    assert_eq!((&one["wins"], &one["wilcoxon_p"]), (&other["losses"], &other["wilcoxon_p"]));
}

#[test]
fn a_manifest_of_old_compares_with_rr() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path();
    study(&["--schemes", "fifo", "--out", text(out)]);
    let before = results(out);
    let mut manifest = json_in(out, "manifest.json");
    assert_eq!(manifest["baseline"], "rr");
    manifest.as_object_mut().expect("keys").remove("baseline");
    fs::write(out.join("manifest.json"), manifest.to_string()).expect("written");
    let shown =
        stdout_of(&["compare", "--from", text(&out.join("manifest.json")), "--out", text(out)]);
    assert!(shown.starts_with("fifo against rr, "), "{shown}");
    assert_eq!(results(out), before);
}

#[test]
fn shards_merge_into_comparisons_with_their_baseline() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let more = ["--schemes", "dfifo", "--baseline", "fifo"];
    study(&[&more[..], &["--out", text(&path("whole"))]].concat());
    for place in ["1", "2"] {
        let shard = format!("{place}/2");
        study(&[&more[..], &["--shard", &shard, "--out", text(&path(place))]].concat());
    }
    let [one, two, merged] = ["1", "2", "merged"].map(path);
    let shown = stdout_of(&["merge", text(&one), text(&two), "--out", text(&merged)]);
    assert!(shown.starts_with("dfifo against fifo, "), "{shown}");
    assert_eq!(results(&merged), results(&path("whole")));
}

#[test]
fn a_bracket_and_a_scheme_of_ones_own_can_be_the_baseline() {
    // Pages on which the best order is found at once.
    let of = |more: &[&str]| -> Value {
        let study = ["compare", "--paper", "case-study-1", "examples/page-minimal.json", "--json"];
        serde_json::from_str(&stdout_of(&[&study[..], more].concat())).expect("JSON")
    };
    let bracket = of(&["--schemes", "fifo", "--baseline", "oracle"]);
    let row = comparison(&bracket);
    assert_eq!((&row["baseline"], &row["wins"]["atf"]), (&json!("oracle"), &json!(0)));
    let own = ["--scheme-file", "examples/schemes/fonts-first.toml", "--schemes", "fifo"];
    let own = of(&[&own[..], &["--baseline", "fonts-first"]].concat());
    assert_eq!(comparison(&own)["baseline"], "fonts-first");
}

#[test]
fn one_page_is_tested_over_its_loads_and_only_where_links_have_chance() {
    let of = |more: &[&str]| -> Value {
        let study = ["compare", "--paper", "davies-meenan", "--schemes", "rr,fifo", "--json"];
        serde_json::from_str(&stdout_of(&[&study[..], more].concat())).expect("JSON")
    };
    let random = of(&["--network", "paper-jitter", "--seeds", "8"]);
    crate::schemas::assert_valid("study.json", &random);
    let row = comparison(&random);
    assert_eq!((&row["pairs_of"], &row["pairs"]["atf"]), (&json!("loads"), &json!(8)));
    assert_eq!(
        (&row["wilcoxon_p"]["atf"], &row["winner"]["atf"]),
        (&json!(2.0 / 256.0), &json!("rr"))
    );
    let certain = of(&["--seeds", "8"]);
    crate::schemas::assert_valid("study.json", &certain);
    let row = comparison(&certain);
    assert_eq!((&row["pairs"]["atf"], &row["losses"]["atf"]), (&json!(1), &json!(1)));
    for statistic in
        ["wilcoxon_p", "holm_p", "rank_biserial", "geometric_mean_ratio_interval", "winner"]
    {
        assert_eq!(row[statistic]["atf"], Value::Null, "{statistic}");
    }
    let shown = stdout_of(&[
        "compare",
        "--paper",
        "davies-meenan",
        "--schemes",
        "fifo",
        "--baseline",
        "rr",
    ]);
    assert!(shown.contains("or at least six seeds where chance decides"), "{shown}");
}

#[test]
fn schemes_that_send_in_the_same_order_are_ties_and_have_no_winner() {
    let own = ["--scheme-file", "examples/schemes/fifo.toml", "--schemes", "my-fifo"];
    let shown = study(&[&own[..], &["--baseline", "fifo", "--json"]].concat());
    let document: Value = serde_json::from_str(&shown).expect("JSON");
    let row = comparison(&document);
    assert_eq!(row["ties"], row["pairs"]);
    assert_eq!((&row["wins"]["atf"], &row["losses"]["atf"]), (&json!(0), &json!(0)));
    assert_eq!(row["geometric_mean_ratio"], json!({"all": 1.0, "atf": 1.0}));
    assert_eq!(row["geometric_mean_ratio_interval"]["atf"], json!([1.0, 1.0]));
    assert_eq!((&row["holm_p"]["atf"], &row["winner"]["atf"]), (&json!(1.0), &Value::Null));
}

#[test]
fn a_baseline_without_loads_is_refused_before_anything_is_loaded() {
    let refused = |arguments: &[&str], expected: &str| {
        let output = utmost(&[&["compare"], arguments].concat()).output().expect("runs");
        let line = only_line(&output, 2);
        assert!(line.contains(expected), "{line}");
    };
    let page = "davies-meenan";
    refused(&[page, "--baseline", "nosuch"], "no scheme is named `nosuch`");
    let several = "--baseline needs one scheme: no scheme is named `fifo,dfifo`";
    refused(&[page, "--baseline", "fifo,dfifo"], several);
    refused(
        &[page, "--baseline", "oracle", "--engine", "stack"],
        "`oracle` is an order of packets",
    );
    let folder = tempfile::tempdir().expect("a folder");
    stdout_of(&["compare", "--paper", page, "--schemes", "fifo", "--out", text(folder.path())]);
    let manifest = folder.path().join("manifest.json");
    let expected = "--baseline: `srpt` is not among the schemes of the study; use one of rr, fifo";
    refused(&["--from", text(&manifest), "--baseline", "srpt"], expected);
}

#[test]
fn without_flags_a_study_asks_todays_question_and_with_one_that_of_the_paper() {
    let asked = |more: &[&str]| -> [Value; 4] {
        let study = ["compare", "davies-meenan", "--schemes", "fifo", "--json"];
        let text = stdout_of(&[&study[..], more].concat());
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let provenance = &document["provenance"];
        let networks = provenance["networks"].as_array().expect("networks").iter();
        let names = networks.map(|it| it["name"].clone()).collect();
        let baseline = provenance["baseline"].clone();
        [provenance["engine"].clone(), names, baseline, provenance["seeds"].clone()]
    };
    let seeds = json!([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let today = [json!("stack"), json!(["cable", "3g"]), json!("rfc9218"), seeds];
    assert_eq!(asked(&[]), today);
    let paper = [json!("ideal"), json!(["paper"]), json!("rr"), json!([0])];
    assert_eq!(asked(&["--paper"]), paper);
    assert_eq!(
        asked(&["--paper", "--baseline", "fifo", "--network", "3g"])[1..3],
        [json!(["3g"]), json!("fifo")]
    );
}
