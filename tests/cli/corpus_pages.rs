//! `utmost corpus` with files that exist, do not exist, or are something else.

use crate::schemas::assert_valid;
use crate::{only_line, utmost};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const CAPTURES: &str = include_str!("../../corpus/recorder/tests/data/captures.json");

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// `utmost corpus` in a folder.
fn corpus(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = utmost(&["corpus"]);
    command.current_dir(folder).args(arguments).output().expect("the program runs")
}

#[track_caller]
fn assert_refused(folder: &Path, arguments: &[&str], expected: &str) {
    let line = only_line(&corpus(folder, arguments), 2);
    assert_eq!(line.strip_prefix("utmost: "), Some(expected), "{arguments:?}");
}

/// Captures of a page that loads differently under each of the five settings: nothing predicts it.
fn erratic() -> String {
    let mut captures: Value = serde_json::from_str(CAPTURES).expect("JSON");
    let loads = captures["fitted"].as_array_mut().expect("a list");
    for (load, capture) in loads.iter_mut().enumerate() {
        let fetches = capture["fetches"].as_array_mut().expect("a list");
        for (number, it) in fetches.iter_mut().enumerate().skip(1) {
            let late_ms = if (load % 5 + number) % 2 == 0 { 900.0 } else { 0.0 };
            for key in ["discovered_ms", "finished_ms"] {
                it[key] = (it[key].as_f64().expect("a time") + late_ms).into();
            }
        }
    }
    captures.to_string()
}

#[test]
fn a_recording_whose_replays_disagree_is_written_with_force_only() {
    let folder = folder();
    fs::write(folder.path().join("captures.json"), erratic()).expect("written");
    let record = ["record", "--from-captures", "captures.json", "-o", "page.json"];
    let output = corpus(folder.path(), &record);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("utmost: page: discovery times are off by"), "{stderr}");
    assert!(stderr.contains("or keep it anyway with --force"), "{stderr}");
    assert!(!folder.path().join("page.json").exists());

    let output = corpus(folder.path(), &[&record[..], &["--force"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = corpus::Page::load(&folder.path().join("page.json")).expect("a page");
    assert!(page.source.recording.expect("recorded").left_out_ms.p90 > 150.0);
}

#[test]
fn a_recording_that_predicts_itself_is_written_under_the_name_that_was_asked_for() {
    let folder = folder();
    fs::write(folder.path().join("captures.json"), CAPTURES).expect("written");
    let record = ["record", "--from-captures", "captures.json", "-o", "My Page.json"];
    for (more, name, from) in [
        (&[][..], "my-page", "tests/data/site"),
        (&["--name", "shop", "--from", "our shop"][..], "shop", "our shop"),
    ] {
        let output = corpus(folder.path(), &[&record[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let page = corpus::Page::load(&folder.path().join("My Page.json")).expect("a page");
        assert_eq!((page.name.as_str(), page.source.from.as_str()), (name, from));
    }
}

#[test]
fn an_imported_page_does_not_say_which_site_was_recorded() {
    let folder = folder();
    let recording = include_str!("../../corpus/tests/data/wprofx.json");
    fs::write(folder.path().join("www.shop.example.har"), recording).expect("written");
    let import = ["import", "www.shop.example.har", "-o", "home.json"];
    assert!(corpus(folder.path(), &import).status.success());
    let text = fs::read_to_string(folder.path().join("home.json")).expect("a page");
    assert!(!text.contains("shop.example"), "{text}");
    let page = corpus::Page::parse(&text, "home.json").expect("a page");
    assert_eq!((page.name.as_str(), page.source.from.as_str()), ("home", "a recording"));
}

#[test]
fn a_file_that_is_not_a_page_is_not_replaced() {
    let folder = folder();
    let recording = include_str!("../../corpus/tests/data/wprofx.json");
    fs::write(folder.path().join("home.har"), recording).expect("written");
    let refusal = "home.har: exists and is not a page; remove it or name another file";
    assert_refused(folder.path(), &["import", "home.har", "-o", "home.har"], refusal);
    assert_refused(folder.path(), &["generate", "--seed", "1", "-o", "home.har"], refusal);
    assert_refused(folder.path(), &["record", ".", "-o", "home.har"], refusal);
    assert_refused(
        folder.path(),
        &["graph", "davies-meenan", "-o", "none/graph.json"],
        "none/graph.json: there is no folder none; create it, or name another file with -o",
    );
    assert_eq!(fs::read_to_string(folder.path().join("home.har")).expect("there"), recording);
}

#[test]
fn numbers_that_are_none_are_refused() {
    let folder = folder();
    assert_refused(
        folder.path(),
        &["generate", "-o", "page.json", "--seed", "many"],
        "invalid value 'many' for '--seed <SEED>': use a whole number from 0 on (see --help)",
    );
}

#[test]
fn a_file_without_a_slash_is_named_as_it_must_be_written() {
    let folder = folder();
    fs::write(folder.path().join("mine"), "{}").expect("written");
    let hint = "no bundled page is named \"mine\"; the file of this name is ./mine";
    assert_refused(folder.path(), &["check", "mine"], hint);
    let output = corpus(folder.path(), &["check", "mine", "davies-meenan"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr, format!("{hint}\nutmost: 1 of 2 pages cannot be read\n"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_program_that_is_not_a_browser_is_named() {
    let folder = folder();
    fs::write(folder.path().join("index.html"), "<p>").expect("written");
    for (program, cause) in [
        ("/bin/false", "is not Chromium, according to its answer to --version"),
        ("/no/such/program", "No such file or directory (os error 2)"),
    ] {
        let mut command = utmost(&["corpus", "record", ".", "-o", "page.json"]);
        command.current_dir(folder.path()).env("UTMOST_CHROMIUM", program);
        let line = only_line(&command.output().expect("the program runs"), 3);
        assert!(line.starts_with(&format!("utmost: browser: {program}: {cause}; ")), "{line}");
    }
    let line = only_line(&corpus(folder.path(), &["record", ".", "--entry", "home.html"]), 2);
    assert_eq!(
        line,
        "utmost: .: /home.html: no such file on the site; name the document with --entry"
    );
}

#[test]
fn what_cannot_be_recorded_is_refused_before_a_browser_is_started() {
    let folder = folder();
    for (source, cause) in [
        ("ftp://a/", "is not a page of a server; name an http or https URL"),
        ("https://me@a/", "contains a user name; record public pages without it"),
        ("nowhere", "no such folder; name a folder, a URL, npm:NAME@VERSION/PATH or deb:NAME/PATH"),
        (
            "data:text/html,x",
            "not a package; write npm:NAME@VERSION/PATH or deb:NAME[=VERSION]/PATH",
        ),
    ] {
        assert_refused(folder.path(), &["record", source], &format!("{source}: {cause}"));
    }
    assert_refused(
        folder.path(),
        &["record", "https://a/", "--entry", "/b"],
        "https://a/: names the document itself; leave out --entry",
    );
}

#[test]
fn the_graph_of_a_page_is_learned_from_an_access_log() {
    let folder = folder();
    let log = crate::data("access.log");
    let log = log.to_str().expect("UTF-8");
    let learn = |more: &[&str]| {
        let arguments =
            ["graph", "--access-log", log, "--document", "/index.html", "-o", "graph.json"];
        corpus(folder.path(), &[&arguments, more].concat())
    };
    let output = learn(&["--host", "www.example"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "35 lines: 5 loads of the page, and 1 of its document alone\n\
                    left out: 2 lines that are not access-log entries\n";
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), expected));
    let text = std::fs::read_to_string(folder.path().join("graph.json")).expect("written");
    let graph = push::Graph::from_json(&text).expect("a graph");
    let nodes: Vec<_> = graph.nodes.iter().map(|it| (it.path.as_str(), it.bytes)).collect();
    // Each has its last size; what is made anew for each load is not there.
    let expected = [
        ("/index.html", 8000),
        ("/style.css", 6004),
        ("/app.js?v=3", 12_000),
        ("/fonts/text.woff2", 20_000),
        ("/hero.jpg", 30_000),
    ];
    assert_eq!(nodes, expected);
    let edges: Vec<_> = graph.edges.iter().map(|it| (it.from, it.to)).collect();
    assert_eq!(edges, [(0, 1), (0, 2), (1, 3), (0, 4)]);
    assert!(graph.nodes.iter().all(|it| it.host == "www.example"));
    assert_valid("graph.json", &serde_json::from_str(&text).expect("JSON"));
}

#[test]
fn the_graph_of_a_page_is_as_its_schema_says() {
    let folder = folder();
    let output = corpus(folder.path(), &["graph", "davies-meenan", "-o", "graph.json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = std::fs::read_to_string(folder.path().join("graph.json")).expect("written");
    let graph: Value = serde_json::from_str(&text).expect("JSON");
    assert_valid("graph.json", &graph);
    let places = graph["edges"].as_array().expect("edges").iter().map(|it| it["place"].to_string());
    assert!(places.collect::<BTreeSet<_>>().len() > 1, "{text}");
}

#[test]
fn a_log_that_tells_of_no_page_says_why() {
    let folder = folder();
    let log = |text: &str| std::fs::write(folder.path().join("a.log"), text).expect("written");
    let refused = |expected: &str| {
        let arguments = ["graph", "--access-log", "a.log", "-o", "graph.json"];
        assert_refused(folder.path(), &arguments, expected);
    };
    refused("a.log: No such file or directory (os error 2)");
    log("nonsense\n");
    refused(
        "a.log: no request for / in it (1 lines, 1 of them not access-log entries); choose another --document",
    );
    let common = "1.2.3.4 - - [t] \"GET / HTTP/1.1\" 200 10\n1.2.3.4 - - [t] \"GET /a.css HTTP/1.1\" 200 10\n";
    log(common);
    refused("a.log: its lines have no referrer; let the server write the combined format");
    log(&common.replace(" 10\n", " 10 \"https://a/\" \"x\"\n"));
    refused(
        "a.log: 1 loads of / with its resources, and 1 of the last 1 with at least half as many requests as the median one; \
         it takes two",
    );
    let arguments = ["graph", "--access-log", "a.log", "-o", "graph.json", "--host", "b"];
    let expected = "a.log: its referrers name another host: a; choose --host a";
    assert_refused(folder.path(), &arguments, expected);
}

#[test]
fn a_graph_of_no_host_is_refused() {
    let folder = folder();
    for host in ["http://x/", "a b", ""] {
        let expected =
            format!("--host {host:?}: not a name without scheme and path; as in www.example");
        assert_refused(folder.path(), &["graph", ".", "--host", host, "-o", "g.json"], &expected);
    }
}

/// A HAR file of a page of this host, with a document of this many bytes.
fn har(host: &str, bytes: usize) -> String {
    let content = format!(r#""content":{{"size":{bytes},"mimeType":"text/html"}}"#);
    format!(
        r#"{{"log":{{"version":"1.2","entries":[{{"startedDateTime":"2026-01-01T00:00:00.000Z","time":9,"request":{{"method":"GET","url":"https://{host}/","headers":[]}},"response":{{"status":200,"headers":[{{"name":"content-length","value":"{bytes}"}}],{content},"bodySize":{bytes}}},"timings":{{"send":0,"wait":5,"receive":4}}}}]}}}}"#
    )
}

#[test]
fn a_folder_of_recordings_makes_pages_with_sites_and_a_table_of_what_was_read_and_refused() {
    let folder = folder();
    let recordings = folder.path().join("recordings");
    fs::create_dir(&recordings).expect("a folder");
    for (name, text) in [
        ("de.har", har("de.wikipedia.org", 4000)),
        ("en.har", har("en.wikipedia.org", 5000)),
        ("same.har", har("en.wikipedia.org", 5000)),
        ("shop.har", har("www.shop.example", 6000)),
        ("notes.txt", "not a recording".to_owned()),
    ] {
        fs::write(recordings.join(name), text).expect("written");
    }
    let output =
        corpus(folder.path(), &["import", "recordings", "-o", "pages", "--keep-addresses"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("3 of 5 recordings are pages now, of 2 sites; 2 refused\n"), "{text}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("refused: recordings/notes.txt: is not JSON"), "{stderr}");
    assert!(stderr.contains("refused: recordings/same.har: has the bytes of en.har"), "{stderr}");
    let table = fs::read_to_string(folder.path().join("pages/imported.csv")).expect("a table");
    let cells = |at: usize| table.lines().nth(at).expect("a row").split(',').take(5).collect();
    let rows: [Vec<&str>; 3] = [0, 1, 2].map(cells);
    assert_eq!(rows[0], ["recording", "page", "site", "resources", "body_bytes"]);
    assert_eq!(rows[1], ["recordings/de.har", "de", "wikipedia.org", "1", "4000"]);
    assert_eq!(rows[2], ["recordings/en.har", "en", "wikipedia.org", "1", "5000"]);
    let valid = corpus(folder.path(), &["check", "pages"]);
    assert_eq!(String::from_utf8_lossy(&valid.stdout).lines().count(), 3, "{valid:?}");
}

#[test]
fn recordings_are_named_by_a_pattern_and_a_file_is_no_place_for_several_pages() {
    let folder = folder();
    for (name, bytes) in [("a.har", 100), ("b.har", 200), ("c.json", 300)] {
        fs::write(folder.path().join(name), har("shop.example", bytes)).expect("written");
    }
    let output = corpus(folder.path(), &["import", "*.har", "-o", "pages"]);
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("pages/b.json").is_file());
    assert!(!folder.path().join("pages/c.json").exists());
    let line = "all.json: several recordings make several pages: name a folder for -o";
    assert_refused(folder.path(), &["import", "a.har", "b.har", "-o", "all.json"], line);
    assert_refused(
        folder.path(),
        &["import", "*.hat", "-o", "pages"],
        "./*.hat: there is no such file",
    );
    let line = "empty: has no page, which is a file that ends in .json; `utmost corpus import` makes pages of recordings";
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    assert_refused(folder.path(), &["check", "empty"], line);
}
