//! The tree at each moment of a scenario.

use lab::scenario::{Moment, Request, Scenario, run, trace};
use schedulers::{Element, SCHEMES, StreamId, find_scheme};

fn late_stylesheet() -> Scenario {
    Scenario::parse(include_str!("../../../examples/late-stylesheet.json"), "late.json")
        .expect("it is there")
}

fn small() -> Scenario {
    let json = r#"{"name": "small", "packet_bytes": 1000, "requests": [
        {"stream": 0, "bytes": 2000, "resource": {"mime": "image/png"}},
        {"stream": 4, "bytes": 0, "resource": {"mime": "image/png"}},
        {"stream": 8, "arrival_slot": 1, "wait_slots": 1, "bytes": 1000, "resource": {"mime": "text/css"}}]}"#;
    Scenario::parse(json, "small.json").expect("it is there")
}

fn written(scenario: &Scenario, scheme: &str) -> String {
    let moments = trace(scenario, &find_scheme(scheme).expect("it is there")).expect("it is there");
    let written = moments.iter().map(|it| format!("{}: {}\n{}", it.slot, it.what, it.tree));
    written.collect::<Vec<_>>().concat()
}

#[test]
fn a_trace_shows_the_tree_after_each_thing_that_happens() {
    assert_eq!(
        written(&small(), "rr"),
        "\
0: stream 0 opened
root
  stream 0 (16)
0: stream 4 opened and closed, empty
root
  stream 0 (16)
0: stream 0 ready
root 100%
  stream 0 (16) 100%
1: stream 8 opened
root 100%
  stream 0 (16) 100%
  stream 8 (16)
1: stream 0 closed
root
  stream 8 (16)
2: stream 8 ready
root 100%
  stream 8 (16) 100%
2: stream 8 closed
root
"
    );
}

#[test]
fn followers_of_firefox_get_one_part_in_33_beside_a_stylesheet() {
    let trace = written(&late_stylesheet(), "firefox");
    let (_, from) = trace.split_once("4: stream 12 ready\n").expect("it is there");
    assert_eq!(
        from.split_once("6: ").expect("it is there").0,
        "\
root 100%
  placeholder 0 (201) 100%
    placeholder 1 (1) 3%
      stream 0 (22) 1%
      stream 4 (22) 1%
      stream 8 (22) 1%
    stream 12 (32) 97%
  placeholder 2 (101)
  placeholder 3 (1)
    placeholder 4 (1)
  placeholder 5 (240)
"
    );
}

#[test]
fn a_packet_that_changes_the_order_is_a_moment() {
    let json = r#"{"name": "restored", "packet_bytes": 1000, "requests": [
        {"stream": 0, "bytes": 1000, "resource": {"mime": "text/css", "in_head": true, "critical": true}},
        {"stream": 4, "bytes": 60000, "resource": {"mime": "image/png"}},
        {"stream": 8, "bytes": 60000, "resource": {"mime": "font/woff2"}}]}"#;
    let scenario = Scenario::parse(json, "a.json").expect("it is there");
    let packets = |scheme: &str| -> Vec<String> {
        let moments =
            trace(&scenario, &find_scheme(scheme).expect("it is there")).expect("it is there");
        let written = moments.iter().map(|it| format!("{}: {}", it.slot, it.what));
        written.filter(|it| it.contains("sent")).collect()
    };
    assert_eq!(packets("fifo"), Vec::<String>::new());
    // 50 packets after the last of the highest group, which is sent whole in slot 60.
    assert_eq!(packets("p+@quicker"), ["110: stream 4 sent 1000 bytes"]);
}

#[test]
fn every_scheme_sends_in_each_slot_one_who_had_a_share() {
    let scenario = late_stylesheet();
    for scheme in SCHEMES.iter() {
        let moments = trace(&scenario, scheme).expect("it is there");
        for run in run(&scenario, scheme) {
            for slot in run.first_slot..run.first_slot + run.packets {
                let node = tree_at(&moments, slot, run.stream);
                assert!(node > 0.0, "{}: stream {} in slot {slot}", scheme.name, run.stream);
            }
        }
    }
}

/// The share of a stream when the packet of a slot is decided.
fn tree_at(moments: &[Moment], slot: u64, stream: u64) -> f64 {
    let is_before =
        |it: &&Moment| it.slot < slot || (it.slot == slot && it.what.is_before_packet());
    let tree = &moments.iter().rfind(is_before).expect("it is there").tree;
    let element = Element::Stream(StreamId(stream));
    tree.nodes.iter().find(|it| it.element == element).expect("it is there").own_share
}

#[test]
fn a_trace_that_nobody_could_read_is_refused() {
    let mut scenario = small();
    let image = scenario.requests[0].clone();
    scenario.requests = (0..2000).map(|n| Request { stream: 4 * n, ..image.clone() }).collect();
    let error =
        trace(&scenario, &find_scheme("fifo").expect("it is there")).unwrap_err().to_string();
    assert_eq!(
        error,
        "scenario `small` under fifo: at slot 0 its trace has more than 400000 nodes in its trees: trace a scenario with fewer requests or bytes"
    );
    scenario.requests.truncate(1);
    scenario.requests[0].bytes = 100_001_000;
    let error =
        trace(&scenario, &find_scheme("fifo").expect("it is there")).unwrap_err().to_string();
    assert!(error.contains("at slot 100000 its trace has more than 100000 packets"), "{error}");
    scenario.requests[0].bytes = 1;
    let one = scenario.requests[0].clone();
    let apart = |n: u64| Request { stream: 4 * n, arrival_slot: 10 * n, ..one.clone() };
    scenario.requests = (0..1334).map(apart).collect();
    let error =
        trace(&scenario, &find_scheme("fifo").expect("it is there")).unwrap_err().to_string();
    assert!(error.contains("at slot 13330 its trace has more than 4000 moments"), "{error}");
}
