//! What schemes promise of one another: the same order on any scenario.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use proptest::prelude::*;
use schedulers::{Kind, Resource, Scheduler, StreamId, find_scheme};

/// One slot: perhaps a request comes, perhaps a stream blocks or gets ready, and one packet goes.
#[derive(Debug, Clone)]
struct Slot {
    request: Option<(Resource, u64)>,
    toggled: Option<(u64, bool)>,
}

fn resource() -> impl Strategy<Value = Resource> {
    use Kind::{Css, Font, Html, Image, Js, Media, Other, Xhr};
    let kind = prop::sample::select(vec![Html, Css, Js, Font, Image, Media, Xhr, Other]);
    (kind, any::<[bool; 8]>()).prop_map(|(kind, facts)| Resource {
        kind,
        main: facts[0],
        in_head: facts[1],
        critical: facts[2],
        above_fold: facts[3],
        after_first_image: facts[4],
        asynchronous: facts[5],
        deferred: facts[6],
        preload: facts[7],
        ..Resource::default()
    })
}

fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let request = prop::option::weighted(0.3, (resource(), 1_u64..12));
    let toggled = prop::option::weighted(0.2, (0_u64..12, any::<bool>()));
    let slot = (request, toggled).prop_map(|(request, toggled)| Slot { request, toggled });
    prop::collection::vec(slot, 0..120)
}

/// Who sends in each slot.
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
