//! The engine against `utmost order`: the same requests in the same slots get the same packets.

use super::*;
use crate::scenario::{Request, Run, Scenario, run};
use schedulers::{Needs, SCHEMES};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The engine numbers streams by request, gives an empty body a packet, and packets have 1400 bytes.
fn as_the_engine_has_it(mut scenario: Scenario) -> Scenario {
    assert_eq!(scenario.packet_bytes, PACKET_BYTES);
    scenario.requests.retain(|it| it.bytes > 0);
    scenario.requests.sort_by_key(|it| it.arrival_slot);
    for (place, request) in scenario.requests.iter_mut().enumerate() {
        request.stream = place as u64 * 4;
    }
    scenario
}

/// A page of the scenario's resources. Its playback is not used.
fn page(scenario: &Scenario) -> Arc<Page> {
    let resource = |(id, request): (usize, &Request)| {
        let it = &request.resource;
        let script = match (it.asynchronous, it.deferred) {
            (true, _) => json!("async"),
            (_, true) => json!("defer"),
            _ => json!(null),
        };
        json!({
            "id": id, "url": format!("/{id}"), "kind": it.kind.name(), "mime": "", "bytes": request.bytes,
            "wait_ms": request.wait_slots * 10, "main": it.main, "in_head": it.in_head, "critical": it.critical,
            "above_fold": it.above_fold, "after_first_image": it.after_first_image, "preload": it.preload,
            "script": script, "trigger": {"on": "nav"}
        })
    };
    let page = json!({
        "format": "utmost-page/1", "name": scenario.name, "viewport": [1366, 768],
        "source": {"kind": "hand", "from": "a scenario", "licence": "as the scenario"},
        "origins": [{"host": "localhost", "party": "first"}],
        "resources": scenario.requests.iter().enumerate().map(resource).collect::<Vec<_>>(),
    });
    Arc::new(serde_json::from_value(page).expect("a page"))
}

/// The stream of each packet, as the engine's server decides: slot and stream.
fn packets(scenario: &Scenario, scheme: &Scheme) -> Vec<(u64, u64)> {
    let (page, network) = (page(scenario), Network::find("paper").expect("built in"));
    let clock = Clock::new(&network, PACKET_BYTES);
    let mut load = Simulation::new(&page, clock);
    let mut server = Server::new(&page, scheme, Metadata::Full);
    for (place, request) in scenario.requests.iter().enumerate() {
        load.request(place, 0, request.arrival_slot * 10_000);
    }
    let slots = run(scenario, scheme).iter().map(|it| it.first_slot + it.packets).max();
    let mut packets = Vec::new();
    for slot in 0..slots.unwrap_or(0) {
        load.slot = slot;
        let opened = load.open_requests(clock.time_us(slot));
        if let Some((resource, bytes)) = server.pick(&load, &opened) {
            load.send(resource, bytes);
            packets.push((slot, load.stream(resource)));
        }
    }
    packets
}

fn ordered(runs: &[Run]) -> Vec<(u64, u64)> {
    let slots = |it: &Run| {
        (it.first_slot..it.first_slot + it.packets).map(|slot| (slot, it.stream)).collect()
    };
    runs.iter().flat_map::<Vec<(u64, u64)>, _>(slots).collect()
}

#[test]
fn every_packet_of_the_example_is_the_one_that_order_says_under_every_scheme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    assert_agrees_with_order(&root.join("examples/late-stylesheet.json"));
}

#[test]
fn every_packet_of_the_golden_vectors_is_the_one_that_order_says_under_every_scheme() {
    let Some(folder) = fixtures::path("vectors") else { return };
    let paths = std::fs::read_dir(folder).expect("vectors").map(|it| it.expect("an entry").path());
    let numbered = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with(|first: char| first.is_ascii_digit())
    };
    paths.filter(numbered).for_each(|it| assert_agrees_with_order(&it));
}

fn assert_agrees_with_order(file: &Path) {
    let scenario = as_the_engine_has_it(Scenario::read(file).expect("a scenario"));
    // A scenario does not state the length of responses, by which `srpt` orders them.
    let blind = |it: &&Scheme| it.needs == Needs::Nothing && it.name != "srpt";
    for scheme in SCHEMES.iter().filter(blind) {
        let expected = ordered(&run(&scenario, scheme));
        assert!(packets(&scenario, scheme) == expected, "{} {}", scenario.name, scheme.name);
    }
}
