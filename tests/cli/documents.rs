//! The output of `--json` follows `schemas/`, and `ideal` prints the same twice.

use crate::schemas::{assert_valid, assert_valid_by, schema};
use crate::stdout_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The schemas, by name without the ending.
pub(crate) fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let files = std::fs::read_dir(folder).expect("the schemas").map(|it| it.expect("an entry"));
    let names = files.filter_map(|it| {
        it.file_name().to_str().and_then(|it| Some(it.strip_suffix(".json")?.to_owned()))
    });
    names.map(|name| (name.clone(), schema(&format!("{name}.json")))).collect()
}

/// Whether a document follows a definition of a schema.
fn assert_valid_as(name: &str, definition: &str, document: &Value) {
    let definitions = schema(name)["$defs"].take();
    let reference = format!("#/$defs/{definition}");
    assert_valid_by(&json!({"$ref": reference, "$defs": definitions}), document);
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(arguments)).expect("one JSON document and nothing else")
}

/// Files that people write, which may leave it out.
const FORMAT_MAY_LACK: [&str; 1] = ["scenario"];

#[test]
fn every_schema_has_a_format_with_its_name_and_a_version() {
    for (name, schema) in schemas() {
        let format = schema["properties"]["format"]["const"].as_str().unwrap_or_default();
        let version = format.strip_prefix(&format!("utmost-{name}/")).unwrap_or_default();
        assert!(version.parse::<u32>().is_ok_and(|it| it > 0), "{name}: format `{format}`");
        let required = schema["required"].as_array().expect("what is required");
        let is_required = required.iter().any(|it| it == "format");
        assert!(is_required || FORMAT_MAY_LACK.contains(&&*name), "{name}: format is required");
    }
}

#[test]
fn schemes_is_as_its_schema_says() {
    let document = document(&["schemes", "--json"]);
    assert_valid("schemes.json", &document);
    let names = document["schemes"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|it| it["name"].as_str().expect("a name"));
    assert_eq!(
        names.collect::<Vec<_>>().join(" "),
        "rr wrr fifo dfifo firefox p+ s+ spdyrr bucket bucket-html zeroweight rfc9218 strict spdy bucket7 weighted-incremental mixed kway srpt cpl lifo random tree oracle anti-oracle"
    );
}

#[test]
fn order_is_as_its_schema_says() {
    assert_valid(
        "order.json",
        &document(&["order", "examples/late-stylesheet.json", "--scheme", "paper", "--json"]),
    );
}

#[test]
fn order_with_trace_is_as_its_schema_says() {
    let document = document(&[
        "order",
        "examples/late-stylesheet.json",
        "--scheme",
        "all",
        "--trace",
        "--json",
    ]);
    assert_valid("order.json", &document);
    assert_eq!(document["trace"].as_object().expect("schemes").len(), 20);
    let first = &document["trace"]["firefox"][0];
    assert_eq!(first["what"], "stream 0 opened");
    assert_eq!(
        first["nodes"][3],
        serde_json::json!({
            "element": "stream 0", "parent": "placeholder 1", "depth": 3, "level": 0, "order": 0,
            "weight": 22, "ready": false, "active": false, "share": 0.0, "own_share": 0.0
        })
    );
}

#[test]
fn compare_is_as_its_schema_says() {
    let document = document(&[
        "compare",
        "--paper",
        "davies-meenan",
        "--schemes",
        "fifo,dfifo",
        "--send-buffer",
        "0,280k",
        "--json",
    ]);
    assert_valid("study.json", &document);
    let runs = document["runs"].as_array().expect("runs");
    let cells: Vec<String> =
        runs.iter().map(|it| format!("{} {}", it["scheme"], it["send_buffer_bytes"])).collect();
    assert_eq!(
        cells.join(", ").replace('"', ""),
        "rr 0, fifo 0, dfifo 0, rr 280000, fifo 280000, dfifo 280000"
    );
}

/// The files below a folder with one of these endings.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry"));
    let mut found = Vec::new();
    for path in entries.map(|it| it.path()) {
        let is_wanted = path.extension().is_some_and(|it| endings.iter().any(|end| it == *end));
        match path.is_dir() {
            true => found.extend(self::files(&path, endings)),
            false if is_wanted => found.push(path),
            false => {}
        }
    }
    found
}

/// The JSON documents of a file, one per line in `.jsonl`.
fn documents_in(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("a text");
    let parsed = |it: &str| serde_json::from_str(it).expect("JSON");
    if file.extension().is_some_and(|it| it == "jsonl") {
        text.lines().map(parsed).collect()
    } else {
        vec![parsed(&text)]
    }
}

#[test]
fn every_json_in_the_folder_of_a_study_has_a_format_and_is_as_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let flags = "compare --paper examples/page-minimal.json --schemes fifo --engine stack --network cable-lossy --keep-qlogs";
    stdout_of(&[&flags.split(' ').collect::<Vec<_>>()[..], &["--out", out, "--json"]].concat());
    let mut formats = BTreeMap::new();
    for mut document in
        files(folder.path(), &["json", "jsonl"]).iter().flat_map(|it| documents_in(it))
    {
        let fields = document.as_object_mut().expect("an object");
        let format = fields["format"].as_str().expect("a text").to_owned();
        match &*format {
            "utmost-manifest/1" => assert_valid_as("study.json", "provenance", &document),
            "utmost-run/1" => assert_valid_as("study.json", "run", &document["run"]),
            "utmost-study/1" => assert_valid("study.json", &document),
            "utmost-page/1" => assert_valid("page.json", &document),
            "utmost-link-log/1" => assert_valid("link-log.json", &document),
            other => panic!("{other}: {document}"),
        }
        *formats.entry(format).or_insert(0) += 1;
    }
    assert!(formats.remove("utmost-link-log/1").is_some_and(|it| it > 50), "{formats:?}");
    let expected = [
        ("utmost-manifest/1", 1),
        ("utmost-page/1", 1),
        ("utmost-run/1", 2),
        ("utmost-study/1", 1),
    ];
    assert_eq!(formats, BTreeMap::from(expected.map(|(it, count)| (it.to_owned(), count))));
}

#[test]
fn play_is_as_its_schema_says() {
    let document = document(&["play", "examples/page-minimal.json", "--scheme", "dfifo", "--json"]);
    assert_valid("study.json", &document);
    let run = &document["runs"][0];
    assert_eq!(run["completed"], true);
    let bytes =
        run["resources"].as_array().expect("resources").iter().map(|it| it["bytes"].to_string());
    assert_eq!(bytes.collect::<Vec<_>>().join(" "), "8000 6000 30000");
}

#[test]
fn play_of_several_pages_has_a_run_for_each_and_says_what_the_client_had() {
    let page = "examples/page-minimal.json";
    let document = document(&["play", page, page, "--engine", "stack", "--think", "500", "--json"]);
    assert_valid("study.json", &document);
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!(runs.iter().map(|it| it["completed"] == true).collect::<Vec<_>>(), [true, true]);
    assert_eq!(
        (&runs[0]["reused"], &runs[1]["reused"]),
        (&Value::Null, &serde_json::json!([1, 2]))
    );
    assert_eq!(runs[1]["resources"][0]["requested_ms"], 0.0);
}

#[test]
fn corpus_stats_is_as_its_schema_says() {
    assert_valid("corpus-stats.json", &document(&["corpus", "stats", "--json"]));
}

#[test]
fn the_examples_and_the_bundled_pages_are_as_their_schemas_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(root.join(file)).expect(file)).expect(file)
    };
    assert_valid("scenario.json", &read("examples/late-stylesheet.json"));
    assert_valid("page.json", &read("examples/page-minimal.json"));
    assert_valid("page.json", &read("examples/download.json"));
    assert_valid("page.json", &read("examples/document-3mb.json"));
    assert_valid("page.json", &read("corpus/pages/gentelella-index.json"));
}

#[test]
fn the_ideal_engine_prints_the_same_twice_outside_provenance() {
    let results = || {
        let text = stdout_of(&[
            "compare",
            "--paper",
            "davies-meenan",
            "gentelella-index",
            "--schemes",
            "all",
            "--json",
        ]);
        let (_, results) = text.split_once("\n  \"runs\": [").expect("runs follow the provenance");
        results.to_owned()
    };
    let first = results();
    assert!(first.contains("\"summary\": ["), "the summary is among them");
    assert_eq!(first, results());
}

#[test]
fn the_qlog_commands_print_what_their_schemas_say() {
    let log = |name: &str| crate::data("qlog").join(name).to_str().expect("UTF-8").to_owned();
    let (client, server) = (log("client.sqlog"), log("server.sqlog"));
    for command in ["check", "streams", "index", "ribbon", "hol", "compare"] {
        let document = document(&["qlog", command, &client, &server, "--json"]);
        assert_valid(&format!("qlog-{command}.json"), &document);
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let again = directory.path().join("again.sqlog");
    let text = std::fs::read_to_string(&client).expect("a log");
    // A copy would be the same run.
    std::fs::write(&again, text.replace("\"time\":61.", "\"time\":60.")).expect("another run");
    let again = again.to_str().expect("UTF-8");
    let runs =
        [(&[&*client, &*server][..], false), (&[&*client], false), (&[&*client, again], true)];
    for (logs, compared) in runs {
        let document = document(&[&["qlog", "summary", "--json"], logs].concat());
        assert_valid("qlog-summary.json", &document);
        assert_eq!(document["moved"].is_array(), compared);
    }
    for logs in [&[&*server][..], &[&server, &server]] {
        let document = document(&[&["qlog", "limits", "--json"], logs].concat());
        assert_valid("qlog-limits.json", &document);
        let several = document["traces"].as_array().map_or(1, Vec::len);
        assert_eq!(several, logs.len());
    }
}

/// A table of the formats, with a link to each schema.
fn formats() -> String {
    let head = "<!-- Made from schemas/: UTMOST_BLESS=1 cargo test --test cli formats -->

# Formats

Files that utmost reads and writes, and the output of `--json`. A format's version rises when a reader of the version before would
misread it. [schemas/utmost.d.ts](../../schemas/utmost.d.ts) has the types for TypeScript.

| format | schema | what it is |
|---|---|---|
";
    let rows = schemas().into_iter().map(|(name, schema)| format_row(&name, &schema));
    std::iter::once(head.to_owned()).chain(rows).collect()
}

fn format_row(name: &str, schema: &Value) -> String {
    let format = schema["properties"]["format"]["const"].as_str().unwrap_or_default();
    let [title, about] = ["title", "description"].map(|it| schema[it].as_str().unwrap_or_default());
    let about = if about.is_empty() { title } else { about }.replace('|', "\\|");
    format!("| `{format}` | [{name}.json](../../schemas/{name}.json) | {about} |\n")
}

#[test]
fn the_reference_of_formats_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/formats.md");
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(file, formats()).expect("written");
    } else {
        let intact = std::fs::read_to_string(file).unwrap_or_default();
        assert!(intact == formats(), "docs/reference/formats.md is out of date: UTMOST_BLESS=1");
    }
}
