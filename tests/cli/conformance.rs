//! `docs/conformance.md`, and tables of `docs/serve-backend.md`, are made from the doc comments of the tests that show them.

use crate::made_tables::{assert_made, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

/// The crates whose tests name rules.
const CRATES: [&str; 4] = ["http3", "schedulers", "server", "gateway"];

const SPECIFICATIONS: [(&str, &str); 5] = [
    ("9114", "HTTP/3"),
    ("9204", "QPACK"),
    ("9218", "priorities"),
    ("9220", "WebSockets over HTTP/3"),
    ("8441", "WebSockets over HTTP/2"),
];

/// A rule: the sections that have it, what a client does, and what the server does. A comment of a test states it as: "RFC
/// 9114, 7.2.4. Client: sends SETTINGS twice. Server: `H3_FRAME_UNEXPECTED`."
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    order: Vec<u32>,
    sections: String,
    client: String,
    server: String,
}

impl Rule {
    fn parse(text: &str) -> Self {
        let (rule, server) = text.split_once(". Server: ").expect(text);
        let (sections, client) = rule.split_once(". Client: ").unwrap_or((rule, ""));
        let first = sections.split([',', ' ']).next().unwrap_or_default();
        Self {
            order: first.split('.').map(|it| it.parse().expect(text)).collect(),
            sections: sections.to_owned(),
            client: client.to_owned(),
            server: server.trim_end_matches('.').to_owned(),
        }
    }
}

/// The tests of each rule, by RFC.
type Rules = BTreeMap<String, BTreeMap<Rule, Vec<String>>>;

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|it| it.is_dir());
    let here = files.into_iter().filter(|it| it.extension().is_some_and(|it| it == "rs"));
    let mut files: Vec<_> = here.chain(folders.iter().flat_map(|it| rust_files(it))).collect();
    files.sort();
    files
}

/// The tests of a Rust file with the lines of their doc comments.
fn tests_of(source: &str) -> Vec<(&str, Vec<&str>)> {
    let mut lines = source.lines().map(str::trim);
    let mut about = Vec::new();
    let mut tests = Vec::new();
    while let Some(line) = lines.next() {
        match line.strip_prefix("///") {
            Some(text) => about.push(text.trim()),
            None if line == "#[test]" => {
                let name = lines.find_map(|it| it.strip_prefix("fn ")).unwrap_or_default();
                let name = name.split('(').next().unwrap_or_default();
                tests.push((name, std::mem::take(&mut about)));
            }
            None if line.starts_with("#[") => {}
            None => about.clear(),
        }
    }
    tests
}

/// The parts of a doc comment that begin with a line with this beginning, without that beginning.
fn parts_of(comment: &[&str], beginning: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut is_part = false;
    for line in comment {
        let is_other = ["RFC ", "Row of "].iter().any(|it| line.starts_with(it));
        if let Some(rest) = line.strip_prefix(beginning) {
            parts.push(rest.to_owned());
            is_part = true;
        } else if is_other || line.is_empty() {
            is_part = false;
        } else if let (true, Some(last)) = (is_part, parts.last_mut()) {
            last.extend([" ", line]);
        }
    }
    parts
}

/// The rules in a doc comment, each after its RFC.
fn rules_of(comment: &[&str]) -> Vec<(String, Rule)> {
    let parts = parts_of(comment, "RFC ").into_iter();
    let rules = parts.filter(|it| it.contains(". Server: ")).map(|text| {
        let (rfc, rule) = text.split_once(", ").expect(&text);
        (rfc.to_owned(), Rule::parse(rule))
    });
    rules.collect()
}

fn rules() -> Rules {
    let mut all = Rules::new();
    let folders = CRATES.iter().flat_map(|it| ["src", "tests"].map(|part| (*it, part)));
    for (name, part) in folders {
        for file in rust_files(&Path::new(crate::REPOSITORY).join(name).join(part)) {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for (test, comment) in tests_of(&fs::read_to_string(&file).expect("a text")) {
                for (rfc, rule) in rules_of(&comment) {
                    let tests = all.entry(rfc).or_default().entry(rule).or_default();
                    tests.push(format!("`{name}::{stem}::{test}`"));
                }
            }
        }
    }
    all
}

#[test]
fn made_tables_have_every_rule_that_a_test_names() {
    let mut rules = rules();
    let tables = SPECIFICATIONS.map(|(rfc, about)| {
        let rows = rules.remove(rfc).expect(rfc).into_iter().map(|(rule, tests)| {
            let Rule { sections, client, server, .. } = rule;
            format!("| {sections} | {client} | {server} | {} |\n", tests.join(", "))
        });
        let head = "| section | a client | the server | test |\n|---|---|---|---|\n";
        format!("\n## RFC {rfc}: {about}\n\n{head}{}", rows.collect::<String>())
    });
    assert_eq!(rules.into_keys().collect::<Vec<_>>(), Vec::<String>::new());
    assert_made("docs/conformance.md", "the tests", &tables.concat());
}

#[test]
fn made_tables_have_every_row_about_backends() {
    for (file, first) in [("troubles.rs", "the backend"), ("versions/websockets.rs", "event")] {
        let source = read(&format!("gateway/tests/upstream/{file}"));
        let beginning = format!("Row of docs/serve-backend.md, {first} | the client gets: ");
        let tests = tests_of(&source).into_iter();
        let rows = tests.flat_map(|it| parts_of(&it.1, &beginning));
        let rows = rows.map(|it| format!("| {} |\n", it.trim_end_matches('.')));
        let rows = rows.collect::<String>();
        let made = format!("| {first} | the client gets |\n|---|---|\n{rows}");
        assert_made("docs/serve-backend.md", &format!("the tests of `{first}`"), &made);
    }
}

#[test]
fn the_codes_that_rules_name_exist() {
    let known = read("http3/src/error.rs");
    let rules = rules();
    let servers = rules.values().flat_map(|it| it.keys()).map(|it| &it.server);
    let names = servers.flat_map(|it| it.split('`').skip(1).step_by(2));
    let codes: BTreeSet<_> =
        names.filter(|it| it.starts_with("H3_") || it.starts_with("QPACK_")).collect();
    assert!(codes.len() > 10, "{codes:?}");
    let unknown: Vec<_> =
        codes.into_iter().filter(|it| !known.contains(&format!("\"{it}\""))).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

#[test]
fn every_test_over_the_wire_names_its_rule() {
    let folder = Path::new(crate::REPOSITORY).join("server/tests/it");
    let files =
        iter::once(folder.join("conformance.rs")).chain(rust_files(&folder.join("conformance")));
    for file in files {
        let source = fs::read_to_string(&file).expect("a text");
        let tests = tests_of(&source);
        assert!(!tests.is_empty(), "{}", file.display());
        let without = tests.iter().filter(|it| rules_of(&it.1).is_empty()).map(|it| it.0);
        assert_eq!(without.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
