//! `utmost qlog tree`: the tree from a server's log.

use crate::schemas::assert_valid;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;

const LOG: &str = "tests/cli/data/tree_server.sqlog";

#[test]
fn nodes_have_the_names_of_the_log_and_of_the_scheme() {
    let text = stdout_of(&["qlog", "tree", LOG, "--at", "2"]);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "element (weight), the share of the connection for it and all below it",
            "at 2 ms, firefox",
            "  root 100%",
            "    LEADERS (201) 100%",
            "      FOLLOWERS (1)",
            "      0 site.css (32) 100%",
            "    UNBLOCKED (101)",
            "    BACKGROUND (1)",
            "      SPECULATIVE (1)",
            "    URGENT (240)",
        ]
    );
    // The busiest moment is the first at which most streams are ready.
    assert_eq!(stdout_of(&["qlog", "tree", LOG]), text);
}

#[test]
fn its_json_is_as_its_schema_says_and_its_figure_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let figures = folder.path().to_str().expect("UTF-8");
    let text = stdout_of(&["qlog", "tree", LOG, "--at", "4,0", "--json", "--figures", figures]);
    let document: Value = serde_json::from_str(&text).expect("one JSON document and nothing else");
    assert_valid("qlog-tree.json", &document);
    let first = &document["trees"][0];
    assert_eq!((&first["at_ms"], &first["scheme"]), (&0.0.into(), &"firefox".into()));
    let svg = std::fs::read_to_string(folder.path().join("tree_server-tree.svg")).expect("drawn");
    assert!(svg.contains(">UNBLOCKED</text>"));
    let out = folder.path().join("trees.png");
    stdout_of(&["qlog", "tree", LOG, "-o", out.to_str().expect("UTF-8")]);
    assert!(std::fs::read(out).expect("drawn").starts_with(b"\x89PNG"));
}

#[test]
fn a_log_without_a_scheduler_or_of_another_scheme_is_refused() {
    let error = |arguments: &[&str]| only_line(&utmost(arguments).output().expect("runs"), 2);
    let other = error(&["qlog", "tree", LOG, "--scheme", "fif"]);
    assert_eq!(other, "utmost: no scheme is named `fif`; near it: fifo, dfifo, lifo");
    let time = error(&["qlog", "tree", LOG, "--at", "now"]);
    assert!(time.contains("`now` is not a time; use milliseconds, for example 120"), "{time}");
    let late = error(&["qlog", "tree", LOG, "--at", "2,5000"]);
    let reason = "--at 5000 is after the log's end: its last event is at 4 ms";
    assert_eq!(late, format!("utmost: {LOG}: {reason}"));
    let missing = error(&["qlog", "tree", "tests/cli/data/none.sqlog"]);
    assert!(missing.starts_with("utmost: tests/cli/data/none.sqlog: "), "{missing}");
}
