//! Places that a command cannot write to, which it names before any work.

use crate::{data, only_line, utmost};
use std::fs;

/// Checks that a command refuses its last argument in one line that ends like this.
#[track_caller]
fn assert_refused(arguments: &[&str], expected: &str) {
    let line = only_line(&utmost(arguments).output().expect("the program runs"), 2);
    assert!(line.ends_with(expected), "{arguments:?}: {line}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let log = data("qlog").join("client.sqlog");
    let log = log.to_str().expect("UTF-8");
    for arguments in [
        &["serve", "--page", "davies-meenan", "--qlog"][..],
        &["play", "davies-meenan", "--qlog"],
        &["compare", "--paper", "davies-meenan", "--out"],
        &["merge", "nowhere", "--out"],
        &["order", "examples/late-stylesheet.json", "--scheme", "rr", "--qlog"],
        &["qlog", "report", log, "--figures"],
    ] {
        let flag = arguments[arguments.len() - 1];
        for place in [file.clone(), file.join("below")] {
            let place = place.to_str().expect("UTF-8");
            let expected = format!(
                "{place}: a file is in its place; {flag} takes a directory that you may write"
            );
            assert_refused(&[arguments, &[place]].concat(), &expected);
        }
    }
}

#[test]
fn a_file_in_no_folder_is_named_before_any_work() {
    let log = data("qlog").join("client.sqlog");
    let log = log.to_str().expect("UTF-8");
    for arguments in [
        &["qlog", "report", log, "-o"][..],
        &["qlog", "convert", log, "-o"],
        &["qlog", "export", log, "--series", "streams", "-o"],
        &["qlog", "compare", log, log, "-o"],
        &["qlog", "ribbon", log, "-o"],
        &["qlog", "hol", log, "-o"],
        &["qlog", "tree", log, "-o"],
        &["what-if", log, "--page-out"],
        &["compare", "davies-meenan", "--policy"],
        &["find", "davies-meenan", "--policy"],
        &["link", "--network", "3g", "--to", "127.0.0.1:9", "--log"],
        &["serve", "--page", "davies-meenan", "--access-log"],
        &["corpus", "graph", "davies-meenan", "-o"],
    ] {
        let flag = arguments[arguments.len() - 1];
        let expected = format!(
            "none/x.svg: there is no folder none; create it, or name another file with {flag}"
        );
        assert_refused(&[arguments, &["none/x.svg"]].concat(), &expected);
        let expected = format!("tests: is a folder; {flag} takes a file");
        if !arguments.contains(&"convert") {
            let line =
                only_line(&utmost(&[arguments, &["tests"]].concat()).output().expect("runs"), 2);
            assert!(
                line.contains(&expected) || line.contains(".svg or .png"),
                "{arguments:?}: {line}"
            );
        }
    }
}
