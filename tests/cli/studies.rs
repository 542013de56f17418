//! Studies in folders: interrupted, in shards, repeated; and what follows from them for a server.

use crate::serving::Serving;
use crate::{only_line, stdout_of, utmost};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const STUDY: [&str; 10] = [
    "compare",
    "--paper",
    "examples/page-minimal.json",
    "davies-meenan",
    "--schemes",
    "fifo,dfifo",
    "--network",
    "paper-jitter,3g",
    "--seeds",
    "3",
];

/// Carries the study out into `out`, with more flags.
fn study_in(out: &Path, more: &[&str]) {
    let out = ["--out", out.to_str().expect("UTF-8")];
    stdout_of(&[&STUDY[..], &out, more].concat());
}

pub(crate) fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The study in a folder as JSON: nothing is loaded again.
pub(crate) fn study_of(folder: &Path) -> Value {
    let folder = folder.to_str().expect("UTF-8");
    let again = ["compare", "--from", folder, "--out", folder, "--json"];
    let output = utmost(&again).output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// A study's results; and its tables without the lines of provenance.
pub(crate) fn results(folder: &Path) -> [String; 5] {
    let mut study = study_of(folder);
    study["provenance"].take();
    let table = |file| {
        let text = read(folder, file);
        text.lines().filter(|it| !it.starts_with("# {\"utmost")).collect::<Vec<_>>().join("\n")
    };
    let files = ["runs.csv", "summary.csv", "comparisons.csv", "pages.csv"].map(table);
    let [loads, summary, comparisons, pages] = files;
    [study.to_string(), loads, summary, comparisons, pages]
}

#[test]
fn a_folder_holds_its_loads_once_and_all_of_it_as_json_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let study = [
        "compare",
        "davies-meenan",
        "--engine",
        "stack",
        "--schemes",
        "fifo,rfc9218",
        "--out",
        out,
    ];
    stdout_of(&study);
    let everything = folder.path().join("study.json");
    assert!(!everything.exists());
    let journal = read(folder.path(), "runs.jsonl");
    for line in journal.lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        assert!(entry["load"].is_null(), "what figures can load again is not kept");
    }
    let printed = stdout_of(&[&study[..], &["--json"]].concat());
    assert_eq!(read(folder.path(), "study.json"), printed.trim_end());
    assert_eq!(read(folder.path(), "runs.jsonl"), journal, "nothing is loaded again");
    stdout_of(&[&study[..], &["--baseline", "fifo"]].concat());
    let now: Value = serde_json::from_str(&read(folder.path(), "study.json")).expect("JSON");
    assert_eq!(now["baseline"], "fifo", "one that is there does not grow old");
}

#[test]
fn a_study_that_was_interrupted_goes_on_and_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("study");
    study_in(&out, &["--jobs", "1"]);
    let (whole, journal) = (results(&out), read(&out, "runs.jsonl"));
    assert_eq!(journal.lines().count(), 36, "2 pages, 3 schemes, 2 networks, 3 seeds");
    for torn in [journal.len() - 3, journal.len() / 2, 10] {
        fs::write(out.join("runs.jsonl"), &journal.as_bytes()[..torn]).expect("torn");
        study_in(&out, &["--jobs", "3"]);
        assert_eq!(results(&out), whole);
        let again = read(&out, "runs.jsonl");
        let left = journal[..torn].rfind('\n').map_or("", |it| &journal[..=it]);
        assert!(again.starts_with(left), "what was done is not done again");
        assert_eq!(again.lines().count(), 36);
    }
}

#[test]
fn a_folder_with_another_study_is_refused_by_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    study_in(folder.path(), &[]);
    let out = folder.path().to_str().expect("UTF-8");
    for (from, to, key) in [
        ("3", "4", "--seeds or --first-seed"),
        ("fifo,dfifo", "fifo", "--schemes"),
        ("paper-jitter,3g", "3g", "--network"),
    ] {
        let changed: Vec<&str> = STUDY.iter().map(|it| if *it == from { to } else { it }).collect();
        let output = utmost(&[&changed[..], &["--out", out]].concat()).output().expect("runs");
        let line = only_line(&output, 2);
        let expected = format!("utmost: {out}: holds another study: they differ in {key}; ");
        assert!(line.starts_with(&expected), "{line}");
    }
}

#[test]
fn a_journal_that_was_edited_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    study_in(folder.path(), &[]);
    let path = folder.path().join("runs.jsonl");
    let whole = fs::read_to_string(&path).expect("a journal");
    let refused = |journal: String, expected: &str| {
        fs::write(&path, journal).expect("written");
        let out = folder.path().to_str().expect("UTF-8");
        let output = utmost(&[&STUDY[..], &["--out", out]].concat()).output().expect("runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(expected), "{message}");
    };
    let first = whole.lines().next().expect("a line");
    refused(format!("{whole}{first}\n"), "a load that is also in an earlier line; remove the line");
    let other = whole.replacen("\"scheme\":\"dfifo\"", "\"scheme\":\"rr\"", 1);
    assert_ne!(other, whole);
    refused(other, "is not one of this study: page ");
}

#[test]
fn shards_merge_into_the_study_of_one_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().expect("UTF-8").to_owned();
    study_in(&path("whole"), &[]);
    for place in ["1", "2", "3"] {
        study_in(&path(place), &["--shard", &format!("{place}/3")]);
    }
    stdout_of(&["merge", &text("2"), &text("3"), &text("1"), "--out", &text("merged")]);
    assert_eq!(results(&path("merged")), results(&path("whole")));
    let figures = |name| fs::read_dir(path(name).join("figures")).expect("figures").count();
    assert_eq!(figures("merged"), figures("whole"));

    let refused = |shards: &[&str], expected: &str| {
        let shards: Vec<String> = shards.iter().map(|it| text(it)).collect();
        let out = text("refused");
        let mut arguments = vec!["merge"];
        arguments.extend(shards.iter().map(String::as_str));
        arguments.extend(["--out", &out]);
        let line = only_line(&utmost(&arguments).output().expect("runs"), 2);
        assert!(line.contains(expected), "{line}");
    };
    refused(
        &["1", "3"],
        "12 of 36 loads are in none of the folders, the first of them in shard 2/3; ",
    );
    refused(&["1", "2", "2"], "has loads that ");
    study_in(&path("other"), &["--shard", "2/3", "--metadata", "none"]);
    refused(&["1", "other", "3"], "they differ in --metadata");
    refused(&["1", "nowhere"], "nowhere/manifest.json: there is no such file");
    refused(&["1", "."], "manifest.json: there is no such file");
}

#[test]
fn a_study_is_repeated_from_its_manifest() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, again) = (folder.path().join("first"), folder.path().join("again"));
    study_in(
        &first,
        &["--send-buffer", "14k", "--metadata", "browser", "--delivery-order", "connection"],
    );
    let manifest = first.join("manifest.json");
    let manifest = manifest.to_str().expect("UTF-8");
    stdout_of(&["compare", "--from", manifest, "--out", again.to_str().expect("UTF-8")]);
    assert_eq!(results(&again), results(&first));
}

#[test]
fn weights_of_the_web_weigh_the_pages_of_a_summary_and_load_nothing_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let study = [
        "compare",
        "--paper",
        "davies-meenan",
        "web-cnn-small",
        "web-cnn-large",
        "web-github-large",
        "--schemes",
        "dfifo",
    ];
    stdout_of(&[&study[..], &["--out", out]].concat());
    let journal = read(folder.path(), "runs.jsonl");
    let equal = study_of(folder.path());
    assert!(equal["weights"].is_null() && equal["provenance"]["weights"].is_null());
    stdout_of(&[&study[..], &["--weights", "web", "--out", out]].concat());
    let weighted = study_of(folder.path());
    crate::schemas::assert_valid("study.json", &weighted);
    assert_eq!(read(folder.path(), "runs.jsonl"), journal, "weights change no load");
    assert_eq!(weighted["provenance"]["weights"], "web");
    assert_eq!(weighted["weights"]["pages"]["davies-meenan"], 0.0);
    let pages = weighted["page_summary"].as_array().expect("rows").iter();
    let dfifo = pages.filter(|it| it["scheme"] == "dfifo");
    let expected: f64 = dfifo
        .map(|it| {
            let weight = &weighted["weights"]["pages"][it["page"].as_str().expect("a name")];
            weight.as_f64().expect("a weight") * it["speedup"]["atf"].as_f64().expect("a speedup")
        })
        .sum();
    let row = &weighted["summary"][1];
    assert_eq!(
        (&row["scheme"], &row["pages"], &row["sites"]),
        (&json!("dfifo"), &json!(3), &json!(2))
    );
    let found = row["mean_speedup"]["atf"].as_f64().expect("a mean");
    assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
    assert_ne!(row["mean_speedup"], equal["summary"][1]["mean_speedup"]);
}

#[test]
fn pages_that_stand_for_none_of_the_web_have_no_weighted_study() {
    let output = utmost(&["compare", "--paper", "davies-meenan", "--weights", "web"]).output();
    let line = only_line(&output.expect("the program runs"), 2);
    let cause = "--weights web: none of these pages represents pages of the web";
    assert!(line.starts_with(&format!("utmost: {cause}")), "{line}");
}

#[test]
fn a_study_with_everything_in_it_is_as_its_schema_says() {
    let text = stdout_of(
        &[
            &STUDY[..4],
            &["--schemes", "paper", "--network", "paper-jitter,3g", "--seeds", "6", "--json"][..],
        ]
        .concat(),
    );
    let document: Value = serde_json::from_str(&text).expect("JSON");
    crate::schemas::assert_valid("study.json", &document);
    let rows = document["page_summary"].as_array().expect("rows");
    assert!(rows.iter().any(|it| it["speedup_interval"]["all"].is_array()));
    assert_eq!(document["rank_correlations"], serde_json::json!([]), "two pages");
}

#[test]
fn pages_of_six_sites_rank_schemes_beside_the_papers() {
    let pages = [
        "davies-meenan",
        "agency-index",
        "argon-free-index",
        "lighthouse-squoosh",
        "fomantic-card",
        "kicad-start",
    ];
    let arguments = [
        &["compare", "--paper"],
        &pages[..],
        &["--schemes", "paper", "--network", "paper,3g", "--json"],
    ];
    let text = stdout_of(&arguments.concat());
    let document: Value = serde_json::from_str(&text).expect("JSON");
    crate::schemas::assert_valid("study.json", &document);
    assert_eq!(document["rank_correlations"].as_array().expect("two networks").len(), 4);
}

#[test]
fn a_study_of_one_page_says_what_the_order_changes_and_compares_no_pages() {
    let one = stdout_of(&["compare", "--paper", "case-study-1", "--schemes", "rr,fifo"]);
    assert!(one.contains("This is page case-study-1 alone: "), "{one}");
    let conclusion = "The send order alone changes the ByteIndex above the fold by a factor of 3.0: 1570 ms under rr, \
                      4722 ms under fifo.\n";
    assert!(one.contains(conclusion), "{one}");
    let two =
        stdout_of(&["compare", "--paper", "case-study-1", "davies-meenan", "--schemes", "rr,fifo"]);
    assert!(two.contains("2 sites are too few for a conclusion"), "{two}");
}

/// The settings of the loads in `runs.csv`, and the header of each table up to the values.
pub(crate) fn settings_in(folder: &Path) -> (Vec<String>, [String; 2]) {
    let lines = |file| {
        let text = read(folder, file);
        text.lines().filter(|it| !it.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let (runs, summary) = (lines("runs.csv"), lines("summary.csv"));
    let until = |line: &str, column: &str| {
        line.split_once(column).map_or_else(String::new, |it| it.0.to_owned())
    };
    let settings = runs[1..].iter().map(|it| until(it, ",0,true"));
    (settings.collect(), [until(&runs[0], ",seed"), until(&summary[0], ",pages")])
}

#[test]
fn congestion_controls_and_queues_are_compared_setting_by_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().expect("UTF-8").to_owned();
    let flags = "--engine stack --network cable --cc cubic,bbr2 --queue 64k,2bdp";
    let study: Vec<&str> =
        "compare --paper davies-meenan --schemes fifo".split(' ').chain(flags.split(' ')).collect();
    let whole = text("whole");
    let shown = stdout_of(&[&study[..], &["--out", &whole]].concat());
    for row in [" rr cubic queue 64k ", " fifo cubic queue 2bdp ", " fifo bbr2 queue 2bdp "] {
        assert!(shown.contains(row), "{shown}");
    }
    let (settings, headers) = settings_in(&path("whole"));
    assert_eq!(
        headers,
        [
            "page,scheme,engine,network,send_buffer_bytes,cc,queue",
            "scheme,network,send_buffer_bytes,cc,queue"
        ]
    );
    let expected: Vec<String> = ["cubic,64k", "cubic,2bdp", "bbr2,64k", "bbr2,2bdp"]
        .into_iter()
        .flat_map(|it| ["rr", "fifo"].map(|scheme| (scheme, it)))
        .map(|(scheme, it)| format!("davies-meenan,{scheme},stack,cable,0,{it}"))
        .collect();
    assert_eq!(settings, expected);
    let document = study_of(&path("whole"));
    crate::schemas::assert_valid("study.json", &document);
    let report = read(&path("whole"), "report.html");
    assert!(
        report.contains("send buffer 0 bytes, congestion control cubic, bbr2, queue 64k, 2bdp")
    );

    stdout_of(&["compare", "--from", &text("whole/manifest.json"), "--out", &text("again")]);
    assert_eq!(settings_in(&path("again")), settings_in(&path("whole")));
    for place in ["1", "2"] {
        let shard = format!("{place}/2");
        stdout_of(&[&study[..], &["--shard", &shard, "--out", &text(place)]].concat());
    }
    stdout_of(&["merge", &text("1"), &text("2"), "--out", &text("merged")]);
    assert_eq!(settings_in(&path("merged")), settings_in(&path("whole")));
}

#[test]
fn a_study_names_its_metric_and_is_repeated_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, again) = (folder.path().join("first"), folder.path().join("again"));
    let out = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let shown = stdout_of(&[
        "compare",
        "--paper",
        "case-study-1",
        "--schemes",
        "rr,fifo",
        "--metric",
        "critical_ms",
        "--out",
        &out(&first),
    ]);
    assert!(shown.contains("  completion ms "), "{shown}");
    assert!(
        shown.contains("The send order alone changes the completion above the fold"),
        "{shown}"
    );
    let manifest = out(&first.join("manifest.json"));
    let repeated = stdout_of(&["compare", "--from", &manifest, "--out", &out(&again), "--json"]);
    let document: Value = serde_json::from_str(&repeated).expect("JSON");
    assert_eq!(document["metric"], "critical_ms");
    assert_eq!(document["provenance"]["metric"], "critical_ms");
    assert_eq!(results(&again), results(&first));
    // Another metric of the same loads.
    let other = ["compare", "--from", &manifest, "--out", &out(&again), "--metric", "object_index"];
    assert!(stdout_of(&other).contains("  ObjectIndex ms "));
}

#[test]
fn a_study_by_render_times_has_one_value_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let study =
        ["compare", "--paper", "case-study-1", "--schemes", "rr,fifo", "--metric", "first_render"];
    let shown = stdout_of(&[&study[..], &["--out", out]].concat());
    assert!(shown.contains("  first render ms "), "{shown}");
    assert!(shown.contains("The send order alone changes the first render by"), "{shown}");
    let table = std::fs::read_to_string(folder.path().join("summary.csv")).expect("a table");
    let header = table.lines().find(|it| !it.starts_with('#')).expect("a header");
    assert!(
        header.contains(",mean_first_render_ms,mean_hero_render_ms,mean_speed_index_ms,"),
        "{header}"
    );
    let played = stdout_of(&["play", "case-study-1", "--engine", "stack", "--network", "cable"]);
    for time in ["first render ", "hero render ", "SpeedIndex ", "DOM ready ", "load "] {
        assert!(played.lines().last().is_some_and(|it| it.contains(time)), "{time}: {played}");
    }
}

/// A recording of a document whose script is needed at once and whose images are not.
fn har() -> Value {
    let entry = |ms: u32, path: &str, mime: &str, size: u32| {
        json!({"pageref": "p", "startedDateTime": format!("2016-07-08T09:10:11.{ms:03}Z"), "time": 50.0,
            "request": {"method": "GET", "url": format!("https://shop.example{path}")},
            "response": {"status": 200, "bodySize": size, "content": {"size": size, "mimeType": mime}}})
    };
    json!({"log": {"entries": [
        entry(100, "/sale", "text/html", 6000),
        entry(200, "/a.png", "image/png", 90_000),
        entry(201, "/b.png", "image/png", 90_000),
        entry(300, "/late.css", "text/css", 20_000),
        entry(301, "/late.js", "text/javascript", 30_000),
    ]}})
}

#[test]
fn a_site_owner_imports_a_page_finds_its_scheme_and_serves_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (recording, page, policy) = (text("shop.har"), text("shop.json"), text("policy.toml"));
    fs::write(&recording, har().to_string()).expect("written");
    stdout_of(&["corpus", "import", &recording, "-o", &page]);
    // A port, as sites under development have one, is not part of a policy's host.
    let imported = fs::read_to_string(&page).expect("a page");
    fs::write(&page, imported.replace("host-0.test", "host-0.test:8443")).expect("written");
    let schemes =
        ["--schemes", "fifo,dfifo,bucket-html", "--policy", &policy, "--policy-default", "rr"];
    let compare = [
        "compare",
        "--paper",
        &page,
        "davies-meenan",
        "--engine",
        "stack",
        "--network",
        "cable",
        "--seeds",
        "9",
    ];
    let shown = stdout_of(&[&compare[..], &schemes].concat());
    assert!(shown.contains("policy: "), "{shown}");
    let found: toml_of::Policy = toml_of::read(&policy);
    assert_eq!(found.default, "rfc9218");
    let (_, best) = found.routes.iter().find(|it| it.0 == "host-0.test/").expect("a route");
    assert_ne!(best, "rr");

    let announced = |page: &str, server: &Serving| {
        let played =
            stdout_of(&["play", page, "--server", &server.address, "--insecure", "--json"]);
        let document: Value = serde_json::from_str(&played).expect("JSON");
        assert_eq!(document["runs"][0]["completed"], true);
        document["runs"][0]["scheme"].as_str().expect("a scheme").to_owned()
    };
    let server = Serving::start(&["--config", &policy]);
    for (page, scheme) in [(page.as_str(), best), ("davies-meenan", &found.routes[1].1)] {
        assert_eq!(announced(page, &server), *scheme, "{page}");
    }
    assert_eq!(server.stop().0, Some(0));

    // The site's own files, in place of stand-ins.
    write_files(&page, &folder.path().join("public"));
    let configuration = fs::read_to_string(&policy).expect("a policy");
    let pages = configuration.lines().find(|it| it.starts_with("pages = ")).expect("pages");
    fs::write(&policy, configuration.replace(pages, "root = \"public\"")).expect("written");
    let server = Serving::start(&["--config", &policy]);
    assert_eq!(announced(&page, &server), *best);
    let (code, said) = server.stop();
    assert!(code == Some(0) && !said.contains("policy.toml:"), "nothing in it is idle: {said}");
}

/// Files of the sizes of a page's resources, at their paths.
fn write_files(page: &str, root: &Path) {
    let page: Value =
        serde_json::from_str(&fs::read_to_string(page).expect("a page")).expect("JSON");
    for resource in page["resources"].as_array().expect("resources") {
        let url = resource["url"].as_str().expect("a path");
        let name = if url.ends_with('/') { format!("{url}index.html") } else { url.to_owned() };
        let file = root.join(name.trim_start_matches('/'));
        let bytes = usize::try_from(resource["bytes"].as_u64().expect("bytes")).expect("small");
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, vec![b'a'; bytes]).expect("written");
    }
}

/// The contents of a policy, read without knowledge of its syntax.
mod toml_of {
    pub(super) struct Policy {
        pub(super) default: String,
        /// Host and path, and scheme.
        pub(super) routes: Vec<(String, String)>,
    }

    pub(super) fn read(file: &str) -> Policy {
        let text = std::fs::read_to_string(file).expect("a policy");
        let value = |key: &str, line: &str| {
            let quoted = line.strip_prefix(key)?.trim().strip_prefix('=')?.trim();
            Some(quoted.trim_matches('"').to_owned())
        };
        let all = |key: &str| text.lines().filter_map(|it| value(key, it)).collect::<Vec<_>>();
        let (hosts, paths, schemes) = (all("host"), all("path"), all("scheme"));
        let places = hosts.iter().zip(&paths).map(|(host, path)| format!("{host}{path}"));
        let routes = places.zip(schemes[1..].iter().cloned()).collect();
        Policy { default: schemes[0].clone(), routes }
    }
}

#[test]
fn a_page_without_a_better_scheme_keeps_the_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let compare = [
        "compare",
        "--paper",
        "davies-meenan",
        "--engine",
        "stack",
        "--network",
        "cable",
        "--seeds",
        "9",
    ];
    let shown = stdout_of(&[&compare[..], &["--schemes", "rr,fifo", "--policy", policy]].concat());
    assert!(shown.contains("no difference"), "{shown}");
    let text = fs::read_to_string(policy).expect("a policy");
    let found = text.split("# page davies-meenan: no difference; rfc9218 has\n# on cable: ").nth(1);
    assert!(found.is_some_and(|it| it.ends_with("), 6 loads\n")), "{text}");
    assert!(!text.contains("[[route]]"), "{text}");
    let server = Serving::start(&["--config", policy]);
    let played = stdout_of(&["play", "davies-meenan", "--server", &server.address, "--insecure"]);
    assert!(played.starts_with("the server sends in the order of rfc9218\n"), "{played}");
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_loaded() {
    let page = "davies-meenan";
    let refused = |arguments: &[&str], expected: &str| {
        let all = [&["compare", "--paper", page][..], arguments].concat();
        let line = only_line(&utmost(&all).output().expect("runs"), 2);
        assert!(line.contains(expected), "{arguments:?}: {line}");
    };
    refused(
        &["--engine", "stack", "--send-buffer", "14k", "--send-buffer-model", "delay"],
        "send buffer model delay: it is the time in which a buffer drains at a fixed rate",
    );
    refused(&["--schemes", "cpl", "--metadata", "none"], "`cpl` looks ahead in the whole page");
    refused(&["--initial-window", "32"], "an initial window: engine ideal has none");
    refused(
        &["--warm-up", "0,300k"],
        "--warm-up: engine ideal has no connection that could be warm",
    );
    refused(&["--network", "paper,nosuch"], "no network named `nosuch`");
    refused(&["--shard", "1/2"], "--out");
    refused(&["--shard", "3/2", "--out", "x"], "is not a shard; use I/N");
    let stack = ["--engine", "stack", "--network", "cable"];
    let on_stack = |arguments: &[&str], expected: &str| {
        refused(&[&stack[..], arguments].concat(), expected);
    };
    on_stack(&["--cc", "bbr2,vegas"], "invalid value 'vegas' for '--cc <LIST>'");
    on_stack(
        &["--queue", "64k,0"],
        "invalid value '0' for '--queue <LIST>': `0`: a queue without room drops everything",
    );
    on_stack(&["--queue", "1500"], "network `cable`: queue 1500: queue.bytes = 1500: room for one");
    refused(
        &["--engine", "stack", "--queue", "64k"],
        "network `paper`: its server paces, so no queue forms; leave out --queue",
    );
    refused(&["--cc", "bbr2,cubic"], "--cc: engine ideal has no congestion control; use --engine");
    refused(&["--queue", "64k"], "--queue: engine ideal sends a packet a tick, so no queue forms;");
    refused(&["--metadata", "some"], "invalid value 'some'");
    let line =
        only_line(&utmost(&["compare", "--from", "no/manifest.json"]).output().expect("runs"), 2);
    assert_eq!(
        line,
        "utmost: no/manifest.json: there is no such file: a study's manifest is needed, the file manifest.json that `utmost compare --out` writes; copy it \
         again, or run the study again"
    );
    let line = only_line(
        &utmost(&["compare", "--from", "examples/page-minimal.json"]).output().expect("runs"),
        2,
    );
    let other = "has the format \"utmost-page/1\", not \"utmost-manifest/1\"";
    assert!(line.contains(other), "{line}");
    let arguments = ["play", page, "--server", "127.0.0.1:1", "--delivery-order", "connection"];
    let line = only_line(&utmost(&arguments).output().expect("runs"), 2);
    assert!(line.contains("the send order of another process is not known"), "{line}");
}

#[test]
fn a_study_that_cannot_lead_to_a_policy_is_refused_with_what_to_write() {
    let cable = ["--engine", "stack", "--network", "cable", "--seeds"];
    for (flags, expected) in [
        (
            &[][..],
            "on engine ideal, clients send no signals, but a site's visitors do: use --engine stack --seeds 9",
        ),
        (&[&cable[..], &["8"]].concat(), "it takes at least 9 loads: use --seeds 9"),
        (
            &[&cable[..], &["9", "--cc", "bbr2,cubic"]].concat(),
            "name one congestion control, the site's",
        ),
        (&[&cable[..], &["9", "--queue", "64k,1m"]].concat(), "name one queue, the site's"),
        (&[&cable[..], &["9", "--warm-up", "0,300k"]].concat(), "name one warm-up, the site's"),
        (
            &[&cable[..], &["9", "--schemes", "cpl", "--metadata", "full"]].concat(),
            "`cpl` looks ahead in the page, which a server of files cannot: leave it out",
        ),
    ] {
        let all = [&["compare", "--paper", "davies-meenan", "--policy", "x"][..], flags].concat();
        let line = only_line(&utmost(&all).output().expect("runs"), 2);
        assert!(line.contains(expected), "{flags:?}: {line}");
    }
}

/// A network on which nothing arrives after a while: the load is abandoned, and reported as such.
#[test]
fn a_load_that_does_not_finish_is_reported_with_its_seed_and_its_log_and_counts_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let network = folder.path().join("dead.toml");
    let text = "rate = 1e6\ndelay_ms = 10\nqueue = \"unlimited\"\nblackhole = { windows_ms = [[200, 1e9]] }\n";
    fs::write(&network, text).expect("written");
    let (network, out) = (network.to_str().expect("UTF-8"), folder.path().join("out"));
    let arguments = [
        "compare",
        "--paper",
        "davies-meenan",
        "--schemes",
        "rr",
        "--engine",
        "stack",
        "--network",
        network,
        "--out",
        out.to_str().expect("UTF-8"),
    ];
    let output = utmost(&arguments).output().expect("runs");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("page davies-meenan under rr on ")
            && stderr.contains(" with seed 0 did not finish: "),
        "{stderr}"
    );
    let study = study_of(&out);
    crate::schemas::assert_valid("study.json", &study);
    assert_eq!(study["summary"][0]["unfinished"], 1);
    assert_eq!(study["summary"][0]["pages"], 0);
    let log = study["runs"][0]["unfinished"]["qlog"].as_str().expect("a log");
    let log = out.join(log).join("client.sqlog");
    assert!(fs::metadata(&log).expect("kept").len() > 1000, "{}", log.display());
}

#[test]
fn a_query_selects_pages_and_a_first_seed_moves_all_seeds_and_the_manifest_says_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let out_text = out.to_str().expect("UTF-8");
    let query =
        ["compare", "--paper", "@first-60", "--pages", "site = sb-admin or name = davies-meenan"];
    let seeds = ["--schemes", "rr", "--seeds", "2", "--first-seed", "7", "--out", out_text];
    stdout_of(&[&query[..], &seeds].concat());
    let manifest: Value = serde_json::from_str(&read(&out, "manifest.json")).expect("JSON");
    let pages = manifest["pages"].as_array().expect("pages").iter().map(|it| &it["name"]);
    assert_eq!(pages.collect::<Vec<_>>(), ["davies-meenan", "sb-admin-index", "sb-admin-tables"]);
    assert_eq!(manifest["seeds"], serde_json::json!([7, 8]));
}

#[test]
fn a_query_that_finds_nothing_or_cannot_be_read_is_refused_with_its_place() {
    let refused = |query: &str| {
        let output = utmost(&["corpus", "list", "--pages", query]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(refused("resources > 1M").contains("--pages: no page is like this"));
    assert!(refused("recorded and big").contains("column 14: `big`: expected a fact; there are"));
}

#[test]
fn a_policy_names_each_page_that_a_query_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policy.toml");
    let query =
        ["compare", "--paper", "@first-60", "--pages", "site = sb-admin", "--schemes", "fifo"];
    let stack = ["--engine", "stack", "--network", "cable", "--seeds", "9"];
    stdout_of(&[&query[..], &stack, &["--policy", file.to_str().expect("UTF-8")]].concat());
    let text = read(folder.path(), "policy.toml");
    assert!(text.contains("\npages = [\"sb-admin-index\", \"sb-admin-tables\"]\n"), "{text}");
}
