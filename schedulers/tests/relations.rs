//! What single schemes promise, alone and compared with each other: the same order on any scenario.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod resources;
mod slots;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use schedulers::Given::{Always, Heard, Ignored, NoBrowserPriorities};
use schedulers::conformance::{self, Slot};
use schedulers::{
    Given, Kind, Resource, SCHEMES, Scheduler, Scheme, Signal, StreamId, find_scheme,
};
use slots::slots;
use std::collections::BTreeSet;

/// The stream that sends in each slot under a scheme of this name.
fn order(scheme: &str, slots: &[Slot]) -> Vec<Option<u64>> {
    conformance::order(&find_scheme(scheme).unwrap(), None, slots)
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

/// The pairs of schemes that `all` stands for whose orders are the same on each course, or on all but one of ten where a clock of
/// one node more decides between equals.
fn alike(orders: impl Fn(&Scheme) -> Option<Vec<Vec<Option<u64>>>>) -> Vec<String> {
    let all: Vec<_> = SCHEMES.iter().filter_map(|it| Some((&it.name, orders(it)?))).collect();
    let mut pairs = Vec::new();
    for (place, (one, own)) in all.iter().enumerate() {
        for (other, others) in &all[..place] {
            let same = own.iter().zip(others).filter(|(own, other)| own == other).count();
            if same * 10 >= own.len() * 8 {
                pairs.push(format!("{one} = {other}"));
            }
        }
    }
    pairs
}

#[test]
fn schemes_that_place_alike_are_declared_and_no_others_do() {
    let mut runner = TestRunner::deterministic();
    let courses: Vec<Vec<Slot>> =
        (0..60).map(|_| slots().new_tree(&mut runner).unwrap().current()).collect();
    let with = |browser: bool| {
        let mut courses = courses.clone();
        let requests = courses.iter_mut().flatten().filter_map(|it| it.request.as_mut());
        for (place, (resource, packets)) in requests.enumerate() {
            let urgency = u8::try_from(place % 8).unwrap();
            resource.browser = browser.then_some((urgency, place % 3 == 0));
            resource.body_bytes = Some(1400 * *packets);
        }
        courses
    };
    let known = |courses: &[Vec<Slot>]| {
        alike(|scheme| {
            Some(courses.iter().map(|it| conformance::order(scheme, None, it)).collect())
        })
    };
    let heard = |courses: &[Vec<Slot>]| {
        alike(|scheme| {
            let order = |slots: &Vec<Slot>| {
                Some(conformance::order(scheme, Some(scheme.client_half().ok()?), slots))
            };
            courses.iter().map(order).collect()
        })
    };
    let declared = |givens: &[Given]| -> Vec<String> {
        let of = |scheme: &Scheme| {
            let same = scheme.same_as.iter().filter(|it| givens.contains(&it.0));
            same.map(|it| format!("{} = {}", scheme.name, it.1)).collect::<Vec<_>>()
        };
        SCHEMES.iter().flat_map(of).collect()
    };
    assert_eq!(known(&with(true)), declared(&[Always, Ignored]));
    assert_eq!(known(&with(false)), declared(&[Always, Ignored, NoBrowserPriorities]));
    assert_eq!(heard(&with(true)), declared(&[Always, Heard]));
    assert_eq!(heard(&with(false)), declared(&[Always, Heard, NoBrowserPriorities]));
}
