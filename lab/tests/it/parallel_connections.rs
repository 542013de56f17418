//! A page load over several connections.

#[path = "../../examples/parallel_connections/mod.rs"]
mod loads;

use corpus::Page;
use lab::network::Network;
use lab::study::RunRecord;
use loads::{Setup, load};
use qlog_tools::timeline::Timeline;
use schedulers::find_scheme;
use server::{Identity, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn by_turns(_: &Page, resource: usize) -> usize {
    resource
}

/// A load over three connections that lose packets.
fn lossy() -> (Arc<Page>, Timeline) {
    let page = Arc::new(corpus::bundled("gentelella-index").expect("bundled").clone());
    let network = Network::find("cable-lossy").expect("built in");
    let identity = Identity::self_signed().expect("a certificate");
    let setup = Setup {
        options: Options::new(find_scheme("rr").expect("a scheme")),
        network: &network,
        seed: 1,
        identity: &identity,
        connections: 3,
        split: by_turns,
        grouped: false,
    };
    let load = load(&page, setup).expect("a load");
    assert!(load.completed);
    let record = RunRecord::of_load(&page, &load);
    assert!(record.resources.iter().all(|it| it.complete_ms.is_some()));
    (page, load.timeline)
}

#[test]
fn streams_of_several_connections_have_ids_of_their_own() {
    let (page, timeline) = lossy();
    let streams: BTreeSet<u64> = timeline.transfers.iter().map(|it| it.stream).collect();
    assert_eq!(streams.len(), page.resources.len());
    assert!(streams.iter().all(|it| it.is_multiple_of(4)), "request streams: {streams:?}");
    let connections: BTreeSet<u64> = streams.iter().map(|it| it / 4 % 3).collect();
    assert_eq!(connections, [0, 1, 2].into());
}

#[test]
fn frames_are_those_of_packets_in_the_order_in_which_these_came() {
    let (_, timeline) = lossy();
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut behind_a_gap = 0;
    for frame in &timeline.frames {
        let end = ends.entry(frame.stream).or_default();
        behind_a_gap += usize::from(frame.offset > *end);
        *end = (*end).max(frame.offset + frame.bytes);
    }
    assert!(behind_a_gap > 0, "a lost packet leaves a gap");
    assert!(timeline.frames.is_sorted_by_key(|it| it.time_us));
    for transfer in &timeline.transfers {
        // A stream carries a header section before the body.
        assert!(transfer.stream_bytes > transfer.body_bytes, "{transfer:?}");
    }
}
