//! The paper's figures of trees, from real connections: our client's signals in the frames of the drafts make the same
//! trees, in the server's log, that the scheduler makes of the scenario.

use lab::scenario::{Scenario, figure, over_quic, trace, tree_time_ms};
use qlog_tools::reader::read_file;
use qlog_tools::replay::Replay;
use qlog_tools::trace::Trace;
use schedulers::{Call, Element, Snapshot, SnapshotNode, find_scheme};
use std::path::PathBuf;

/// A scenario of `examples/trees`, its scheme, and how many trees of it are shown.
const FIGURES: [(&str, &str, usize); 10] = [
    ("figure-2-exclusive", "tree@draft20", 2),
    ("figure-2-non-exclusive", "tree@draft20", 2),
    ("figure-3-still-there", "tree@draft20", 4),
    ("figure-3-removed", "tree@draft20", 4),
    ("figure-4-b-first", "tree@draft20", 3),
    ("figure-4-c-first", "tree@draft20", 3),
    ("figure-5", "tree@draft20", 3),
    ("figure-6", "tree", 4),
    ("figure-9", "firefox", 1),
    ("figure-10", "zeroweight", 1),
];

fn scenario(name: &str) -> Scenario {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/trees");
    Scenario::read(&path.join(format!("{name}.json"))).expect("it is there")
}

/// The server's log of a scenario over QUIC.
fn log(scenario: &Scenario, scheme: &str) -> Trace {
    let folder = tempfile::tempdir().expect("a folder");
    let scheme = find_scheme(scheme).expect("a scheme");
    let log = over_quic(scenario, &scheme, folder.path()).expect("a connection");
    read_file(&log).expect("a log")
}

/// All but the ranks' numbers.
fn looks(tree: &Snapshot) -> Vec<(Element, Element, u16, bool, u64)> {
    let look = |it: &SnapshotNode| (it.element, it.parent, it.weight, it.ready, it.share.to_bits());
    tree.nodes.iter().map(look).collect()
}

#[test]
fn the_papers_figures_are_the_trees_of_real_connections() {
    for (name, scheme, panels) in FIGURES {
        let scenario = scenario(name);
        let log = log(&scenario, scheme);
        let mut replay = Replay::new(&log, None, None).expect("calls");
        let scheme = find_scheme(scheme).expect("a scheme");
        let figure = figure(&scenario, &scheme, &trace(&scenario, &scheme).expect("small"), panels);
        assert_eq!(figure.panels.len(), panels, "{name}");
        for panel in figure.panels {
            let slot = panel.when.strip_prefix("slot ").expect("a slot").parse().expect("a number");
            let (of, tree) = replay
                .tree_at(1000 * tree_time_ms(slot))
                .expect("the log's picks are those of its scheme")
                .expect("a scheduler");
            assert_eq!(of.name, scheme.name);
            assert_eq!(looks(&tree), looks(&panel.tree), "{name}, slot {slot}:\n{tree}");
        }
    }
}

#[test]
fn what_a_scenario_signals_is_said_in_frames() {
    let signals = |name: &str, scheme: &str| {
        let trace = log(&scenario(name), scheme);
        let calls = trace.scheduler_calls();
        calls.iter().filter(|it| matches!(it.call, Ok(Call::Signal(_)))).count()
    };
    assert_eq!(signals("figure-6", "tree"), 3);
    // One for each of the tree's six groups and eight resources, and one for each resource.
    assert_eq!(signals("figure-9", "firefox"), 14);
    assert_eq!(signals("figure-10", "zeroweight"), 8);
}
