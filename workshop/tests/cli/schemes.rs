//! Schemes against pages that are hard for them, and beside their twins.

use crate::schemas::assert_valid;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;
use std::fs;

#[test]
fn the_orders_beside_a_twin_and_the_costs_are_told() {
    let compared = |file: &str, more: &[&str]| -> Value {
        let text = stdout_of(&[&["twin", file, "--json"], more].concat());
        let document = serde_json::from_str(&text).expect("JSON");
        assert_valid("twin.json", &document);
        document
    };
    let dfifo = compared("examples/schemes/dfifo.toml", &[]);
    assert_eq!(dfifo["twin"], "dfifo");
    assert_eq!(dfifo["orders"].as_array().map(Vec::len), Some(2));
    assert_eq!(dfifo["costs"][0]["scheme"], "dfifo");
    assert_eq!(dfifo["costs"][1]["scheme"], "my-dfifo");
    let script = compared("examples/schemes/srpt.toml", &["--beside", "fifo"]);
    assert_eq!(script["costs"][0]["scheme"], "fifo");
}

#[test]
fn a_scheme_that_is_not_like_its_twin_is_told_where_it_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.toml");
    let repository = std::path::Path::new(crate::REPOSITORY);
    let fifo = fs::read_to_string(repository.join("examples/schemes/fifo.toml")).expect("a text");
    fs::write(&file, fifo.replace("sequential", "shared")).expect("written");
    let output = utmost(&["twin", file.to_str().expect("UTF-8")]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("course 0: slot"), "{printed}");
    assert!(printed.contains("a packet differs on "), "{printed}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = "x.toml: its orders differ from its twin's in 2 of 2 comparisons";
    assert!(stderr.trim_end().ends_with(told), "{stderr}");
}

#[test]
fn a_page_for_a_search_is_small_and_replaces_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("hard.json");
    let out = out.to_str().expect("UTF-8");
    let refused = |page: &str, expected: &str| {
        let arguments = ["adversary", "fifo", page, "--seed", "1", "-o", out];
        let line = only_line(&utmost(&arguments).output().expect("it runs"), 2);
        assert!(line.starts_with(&format!("utmost-workshop: {expected}")), "{line}");
    };
    refused("davies-meenan", "davies-meenan: has ");
    refused("nosuch-page", "no bundled page is named \"nosuch-page\"");
    fs::write(out, "a recording").expect("written");
    refused("examples/page-minimal.json", &format!("{out}: File exists"));
    assert_eq!(fs::read_to_string(out).expect("a text"), "a recording");
}
