//! What single schemes promise, and what they promise of one another: the same order on any scenario.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod resources;

use proptest::prelude::*;
use resources::resource;
use schedulers::{Kind, Resource, Scheduler, Signal, StreamId, find_scheme};
use std::collections::BTreeSet;

/// One slot: perhaps a request comes, perhaps a stream blocks or gets ready, and one packet goes.
#[derive(Debug, Clone)]
struct Slot {
    request: Option<(Resource, u64)>,
    toggled: Option<(u64, bool)>,
}

fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let request = prop::option::weighted(0.3, (resource(), 1_u64..12));
    let toggled = prop::option::weighted(0.2, (0_u64..12, any::<bool>()));
    let slot = (request, toggled).prop_map(|(request, toggled)| Slot { request, toggled });
    prop::collection::vec(slot, 0..120)
}

/// The stream that sends in each slot.
fn order(scheme: &str, slots: &[Slot]) -> Vec<Option<u64>> {
    let mut scheduler = Scheduler::new(&find_scheme(scheme).unwrap());
    let mut left = Vec::new();
    let mut order = Vec::new();
    for slot in slots {
        if let Some((resource, packets)) = slot.request {
            let stream = StreamId(left.len() as u64);
            left.push(packets);
            scheduler.open(stream, &resource);
            scheduler.set_ready(stream, true);
        }
        if let Some((stream, ready)) = slot.toggled {
            scheduler.set_ready(StreamId(stream), ready);
        }
        let picked = scheduler.pick();
        if let Some(stream) = picked {
            scheduler.sent(stream, 1400);
            let left = &mut left[usize::try_from(stream.0).unwrap()];
            *left -= 1;
            if *left == 0 {
                scheduler.close(stream);
            }
        }
        order.push(picked.map(|it| it.0));
    }
    order
}

/// The schemes in which every ready response has a share, and the packets within which its turn comes.
/// The least weight of `wrr` is 8 among 256s.
#[test]
fn where_weights_promise_a_share_nobody_starves() {
    let kinds = [
        Kind::Html,
        Kind::Css,
        Kind::Js,
        Kind::Font,
        Kind::Image,
        Kind::Media,
        Kind::Xhr,
        Kind::Other,
    ];
    for (name, packets) in [("rr", 8), ("wrr", 200), ("firefox", 100_000)] {
        let mut scheduler = Scheduler::new(&find_scheme(name).unwrap());
        for (id, kind) in (0..).step_by(4).zip(kinds) {
            scheduler.open(
                StreamId(id),
                &Resource { kind, main: kind == Kind::Html, ..Resource::default() },
            );
            scheduler.set_ready(StreamId(id), true);
        }
        let mut served = BTreeSet::new();
        for _ in 0..packets {
            let picked = scheduler.pick().unwrap();
            scheduler.sent(picked, 1400);
            served.insert(picked);
        }
        assert_eq!(served.len(), kinds.len(), "{name} serves all within {packets} packets");
    }
}

#[test]
fn early_signals_are_forgotten_from_the_lowest_stream_on() {
    let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
    for id in 0..10_000 {
        scheduler.signal(Signal::Extensible {
            stream: StreamId(id),
            urgency: 0,
            incremental: false,
        });
    }
    scheduler.open(StreamId(0), &Resource::default());
    scheduler.open(StreamId(9_999), &Resource::default());
    scheduler.set_ready(StreamId(0), true);
    scheduler.set_ready(StreamId(9_999), true);
    assert_eq!(scheduler.pick(), Some(StreamId(9_999)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strict_is_bucket(slots in slots()) {
        prop_assert_eq!(order("strict", &slots), order("bucket", &slots));
    }

    #[test]
    fn one_way_is_fifo(slots in slots()) {
        prop_assert_eq!(order("kway:1", &slots), order("fifo", &slots));
    }

    #[test]
    fn many_ways_are_round_robin(slots in slots()) {
        prop_assert_eq!(order("kway:1000", &slots), order("rr", &slots));
    }

    #[test]
    fn quiche_is_the_default_of_rfc9218(slots in slots()) {
        prop_assert_eq!(order("rfc9218@quiche", &slots), order("rfc9218", &slots));
    }
}
