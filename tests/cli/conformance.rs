//! `docs/conformance.md` is true: the tests and codes that it names exist, and it names every test over the wire.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect(file)
}

/// Everything in backticks in the rows of the document's tables.
fn named() -> BTreeSet<String> {
    let text = read("docs/conformance.md");
    let rows = text.lines().filter(|it| it.starts_with('|'));
    rows.flat_map(|it| it.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The Rust files of this name in a crate.
fn sources(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|it| it.is_dir());
    let here = files.into_iter().filter(|it| it.file_name().is_some_and(|it| it == name));
    here.chain(folders.iter().flat_map(|it| sources(it, name))).collect()
}

/// The names of the tests of a Rust file, also of property tests.
fn tests_of(source: &str) -> BTreeSet<&str> {
    let after_marks = source.split("#[test]").skip(1);
    after_marks.filter_map(|it| it.trim_start().strip_prefix("fn ")?.split('(').next()).collect()
}

fn exists(path: &str) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let [folder, file, test] = parts[..] else { return false };
    ["src", "tests"].iter().map(|it| root().join(folder).join(it)).any(|folder| {
        let files = sources(&folder, &format!("{file}.rs"));
        files.iter().any(|it| tests_of(&fs::read_to_string(it).expect("a text")).contains(test))
    })
}

#[test]
fn the_tests_that_show_conformance_exist() {
    let tests: Vec<String> = named().into_iter().filter(|it| it.contains("::")).collect();
    assert!(tests.len() > 50, "{}", tests.len());
    let missing: Vec<&String> = tests.iter().filter(|it| !exists(it)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn the_codes_that_conformance_names_exist() {
    let known = read("http3/src/error.rs");
    let is_code = |it: &String| it.starts_with("H3_") || it.starts_with("QPACK_");
    let codes: Vec<String> = named().into_iter().filter(is_code).collect();
    assert!(codes.len() > 10, "{codes:?}");
    let unknown: Vec<&String> =
        codes.iter().filter(|it| !known.contains(&format!("\"{it}\""))).collect();
    assert_eq!(unknown, Vec::<&String>::new());
}

#[test]
fn every_rule_that_is_tested_over_the_wire_is_listed() {
    let source = read("server/tests/it/conformance.rs");
    let named = named();
    let is_listed = |it: &&str| named.contains(&format!("server::conformance::{it}"));
    let unlisted: Vec<&str> = tests_of(&source).into_iter().filter(|it| !is_listed(it)).collect();
    assert_eq!(unlisted, Vec::<&str>::new());
}
