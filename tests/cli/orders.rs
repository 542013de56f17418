//! `utmost order` on the scenario that its help names.

use crate::{only_line, stdout_of, utmost};

const SCENARIO: &str = "examples/late-stylesheet.json";

/// Scheme and order, one per line, without the table's spaces.
fn orders(schemes: &str) -> Vec<String> {
    let text = stdout_of(&["order", SCENARIO, "--scheme", schemes]);
    let lines = text.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect()
}

#[test]
fn a_late_stylesheet_waits_shares_or_goes_first_as_the_scheme_says() {
    assert_eq!(
        orders("rr,fifo,dfifo,wrr,bucket"),
        [
            "the order of packets: stream, or stream x packets in a row",
            "scheme order",
            "rr 0 4 8 0 4 8 0 4 8 12 0 4 12x2",
            "fifo 0x4 4x4 8x3 12x3",
            "dfifo 0x4 12x3 4x4 8x3",
            "wrr 0 4 8 0 4 8 12x3 0 4 8 0 4",
            "bucket 0x4 12x3 4 8 4 8 4 8 4",
        ]
    );
}

#[test]
fn all_schemes_send_every_byte_of_every_stream() {
    let document: serde_json::Value =
        serde_json::from_str(&stdout_of(&["order", SCENARIO, "--scheme", "all", "--json"]))
            .expect("JSON");
    let orders = document["orders"].as_object().expect("an object");
    assert_eq!(orders.len(), 20);
    for (scheme, runs) in orders {
        for (stream, packets) in [(0, 4), (4, 4), (8, 3), (12, 3)] {
            let runs = runs.as_array().expect("an array");
            let of_stream =
                runs.iter().filter(|it| it[1] == stream).map(|it| it[2].as_u64().expect("a count"));
            assert_eq!(of_stream.sum::<u64>(), packets, "stream {stream} under {scheme}");
        }
    }
}

#[test]
fn the_json_counts_slots_packets_and_the_last_packets_bytes() {
    let text = stdout_of(&["order", SCENARIO, "--scheme", "dfifo", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["scenario"], "late-stylesheet");
    assert_eq!(
        document["orders"].to_string(),
        r#"{"dfifo":[[0,0,4,1400],[4,12,3,200],[7,4,4,1400],[11,8,3,1400]]}"#
    );
}

#[test]
fn a_trace_shows_the_tree_at_each_moment() {
    let text = stdout_of(&["order", SCENARIO, "--scheme", "rr,dfifo", "--trace"]);
    let (_, trace) = text.split_once("\nthe tree under dfifo: ").expect("the tree");
    let (_, moments) = trace.split_once('\n').expect("a heading");
    let (_, late) = moments.split_once("slot 4: stream 12 opened\n").expect("the stylesheet");
    assert_eq!(
        late.split_once("slot 6").expect("the next moment").0,
        "  root 100%
    stream 12 (256)
    stream 4 (147) 100%
    stream 8 (147) 0%
slot 4: stream 12 ready
  root 100%
    stream 12 (256) 100%
    stream 4 (147) 0%
    stream 8 (147) 0%
"
    );
}

#[test]
fn figures_are_a_drawing_a_scheme_under_names_that_every_system_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let figures = folder.path().join("trees");
    let path = figures.to_str().expect("UTF-8");
    let text =
        stdout_of(&["order", SCENARIO, "--scheme", "p+,firefox", "--trace", "--figures", path]);
    assert!(text.ends_with(&format!("figures: {path}\n")), "{text}");
    for name in ["p_2B-tree.svg", "firefox-tree.svg"] {
        let svg = std::fs::read_to_string(figures.join(name)).expect(name);
        assert!(svg.starts_with("<svg ") && svg.contains(">stream 12</text>"), "{svg}");
    }
}

#[test]
fn figures_without_a_trace_are_bad_usage() {
    let output = utmost(&["order", SCENARIO, "--scheme", "rr", "--figures", "trees"]).output();
    assert_eq!(output.expect("the program runs").status.code(), Some(2));
}

#[test]
fn a_figure_has_a_panel_at_least() {
    let figures = ["order", SCENARIO, "--scheme", "rr", "--trace", "--figures", "trees"];
    let output = utmost(&[&figures[..], &["--panels", "0"]].concat()).output();
    let line = only_line(&output.expect("the program runs"), 2);
    assert!(line.contains("invalid value '0' for '--panels <N>'"), "{line}");
}

#[test]
fn a_scenario_goes_over_quic_and_its_log_has_the_trees() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = folder.path().to_str().expect("UTF-8");
    let scenario = "examples/trees/figure-5.json";
    let text = stdout_of(&["order", scenario, "--scheme", "tree@draft20", "--qlog", logs]);
    let log = text.lines().last().and_then(|it| it.strip_prefix("log: ")).expect("a log");
    assert!(log.ends_with("figure-5-tree_40draft20.sqlog"), "{log}");
    let tree = stdout_of(&["qlog", "tree", log, "--at", "29"]);
    let tree: Vec<&str> = tree.lines().skip(2).map(str::trim_end).collect();
    assert_eq!(tree, ["  root 100%", "    4 B (16) 50%", "    20 X (16) 50%", "      0 A (16) 0%"]);
}

#[test]
fn a_scenario_that_is_too_large_to_trace_is_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large.json");
    let json = r#"{"name": "large", "requests": [{"stream": 0, "bytes": 200000000, "resource": {"mime": ""}}]}"#;
    std::fs::write(&file, json).expect("written");
    let file = file.to_str().expect("UTF-8");
    let output = utmost(&["order", file, "--scheme", "rr", "--trace"]).output();
    let line = only_line(&output.expect("the program runs"), 2);
    assert!(
        line.contains(
            "scenario `large` under rr: at slot 100000 its trace has more than 100000 packets"
        ),
        "{line}"
    );
}
