//! One suite over every scheme: what each scheduler keeps, whatever its policy.

use proptest::prelude::*;
use schedulers::{Element, Kind, Resource, SCHEMES, Scheduler, Scheme, Signal, StreamId};
use std::collections::BTreeMap;

/// A call of a server.
#[derive(Debug, Clone)]
enum Call {
    Open(u64, Resource),
    Signal(Signal),
    SetReady(u64, bool),
    /// Pick, and send this much of what was picked.
    Send(u64),
    /// Send without asking.
    SendAnyway(u64, u64),
    Close(u64),
}

fn stream() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (0_u64..12).prop_map(|index| 4 * index), 1 => any::<u64>()]
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::{Css, Font, Html, Image, Js, Media, Other, Xhr};
    prop::sample::select(vec![Html, Css, Js, Font, Image, Media, Xhr, Other])
}

fn resource() -> impl Strategy<Value = Resource> {
    let browser = prop::option::weighted(0.2, (any::<u8>(), any::<bool>()));
    (kind(), any::<[bool; 8]>(), browser).prop_map(|(kind, facts, browser)| Resource {
        kind,
        main: facts[0],
        in_head: facts[1],
        critical: facts[2],
        above_fold: facts[3],
        after_first_image: facts[4],
        asynchronous: facts[5],
        deferred: facts[6],
        preload: facts[7],
        id: None,
        browser,
        body_bytes: None,
    })
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        1 => Just(Element::Root),
        3 => (0_u64..9).prop_map(Element::Placeholder),
        1 => any::<u64>().prop_map(Element::Placeholder),
        6 => stream().prop_map(|id| Element::Stream(StreamId(id))),
    ]
}

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![
        (stream(), any::<u8>(), any::<bool>()).prop_map(|(id, urgency, incremental)| {
            Signal::Extensible { stream: StreamId(id), urgency, incremental }
        }),
        (element(), element(), any::<u16>(), any::<bool>()).prop_map(
            |(element, parent, weight, exclusive)| {
                Signal::Depend { element, parent, weight: weight % 300, exclusive }
            }
        ),
        (stream(), any::<u8>())
            .prop_map(|(id, byte)| Signal::Bucket { stream: StreamId(id), byte }),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (stream(), resource()).prop_map(|(id, resource)| Call::Open(id, resource)),
        2 => signal().prop_map(Call::Signal),
        4 => (stream(), any::<bool>()).prop_map(|(id, ready)| Call::SetReady(id, ready)),
        6 => (0_u64..3000).prop_map(Call::Send),
        1 => (stream(), any::<u64>()).prop_map(|(id, bytes)| Call::SendAnyway(id, bytes)),
        2 => stream().prop_map(Call::Close),
    ]
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(call(), 0..120)
}

fn scheme() -> impl Strategy<Value = &'static Scheme> {
    (0..SCHEMES.len()).prop_map(|index| &SCHEMES[index])
}

fn apply(scheduler: &mut Scheduler, call: &Call) {
    match call {
        Call::Open(id, resource) => scheduler.open(StreamId(*id), resource),
        Call::Signal(signal) => scheduler.signal(*signal),
        Call::SetReady(id, ready) => scheduler.set_ready(StreamId(*id), *ready),
        Call::Send(bytes) => {
            if let Some(picked) = scheduler.pick() {
                scheduler.sent(picked, *bytes);
            }
        }
        Call::SendAnyway(id, bytes) => scheduler.sent(StreamId(*id), *bytes),
        Call::Close(id) => scheduler.close(StreamId(*id)),
    }
}

/// What the caller knows: the open streams, and whether they are ready.
fn note(open: &mut BTreeMap<u64, bool>, call: &Call) {
    match call {
        Call::Open(id, _) => {
            open.entry(*id).or_insert(false);
        }
        Call::SetReady(id, ready) => {
            open.entry(*id).and_modify(|it| *it = *ready);
        }
        Call::Close(id) => {
            open.remove(id);
        }
        Call::Signal(_) | Call::Send(_) | Call::SendAnyway(..) => {}
    }
}

/// Sends `packets` packets from streams that never end; the bytes that each sent.
fn shares(scheduler: &mut Scheduler, packets: u32) -> BTreeMap<StreamId, u64> {
    let mut bytes = BTreeMap::new();
    for _ in 0..packets {
        let Some(picked) = scheduler.pick() else { break };
        scheduler.sent(picked, 1400);
        *bytes.entry(picked).or_default() += 1400;
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the calls: a pick is an open and ready stream, and there is one if any stream is.
    #[test]
    fn a_packet_goes_exactly_when_a_stream_is_ready(scheme in scheme(), calls in calls()) {
        let mut scheduler = Scheduler::new(scheme);
        let mut open = BTreeMap::new();
        for call in &calls {
            apply(&mut scheduler, call);
            note(&mut open, call);
            match scheduler.pick() {
                Some(picked) => prop_assert_eq!(open.get(&picked.0), Some(&true)),
                None => prop_assert!(!open.values().any(|ready| *ready)),
            }
        }
    }

    #[test]
    fn the_same_calls_give_the_same_picks(scheme in scheme(), calls in calls()) {
        let mut twins = (Scheduler::new(scheme), Scheduler::new(scheme));
        for call in &calls {
            apply(&mut twins.0, call);
            apply(&mut twins.1, call);
            prop_assert_eq!(twins.0.pick(), twins.1.pick());
            // To ask twice changes nothing.
            prop_assert_eq!(twins.0.pick(), twins.0.pick());
        }
    }

    /// A page is sent whole: each response gets exactly its bytes, in no more packets than they need.
    #[test]
    fn every_byte_is_sent_once(
        scheme in scheme(),
        page in prop::collection::vec((resource(), 1_u64..20_000), 1..20),
    ) {
        let mut scheduler = Scheduler::new(scheme);
        let mut left: BTreeMap<u64, u64> = BTreeMap::new();
        for (id, (resource, bytes)) in (0..).step_by(4).zip(&page) {
            scheduler.open(StreamId(id), resource);
            scheduler.set_ready(StreamId(id), true);
            left.insert(id, *bytes);
        }
        let packets: u64 = page.iter().map(|(_, bytes)| bytes.div_ceil(1400)).sum();
        for _ in 0..packets {
            let picked = scheduler.pick().unwrap();
            let rest = left.get_mut(&picked.0).unwrap();
            let bytes = 1400.min(*rest);
            *rest -= bytes;
            scheduler.sent(picked, bytes);
            if *rest == 0 {
                scheduler.close(picked);
            }
        }
        prop_assert!(left.values().all(|rest| *rest == 0));
        prop_assert_eq!(scheduler.pick(), None);
    }

    /// Two who are alike in all but their IDs are never more than a packet apart, or go in sequence.
    #[test]
    fn equals_share_equally_or_go_in_sequence(scheme in scheme(), resource in resource()) {
        let mut scheduler = Scheduler::new(scheme);
        let (first, second) = (StreamId(0), StreamId(4));
        let resource = Resource { main: false, ..resource };
        for stream in [first, second] {
            scheduler.open(stream, &resource);
            scheduler.set_ready(stream, true);
        }
        let bytes = shares(&mut scheduler, 101);
        let of = |stream| bytes.get(&stream).copied().unwrap_or(0_u64);
        let (first, second) = (of(first), of(second));
        prop_assert!(second == 0 || first.abs_diff(second) <= 1400, "{first} and {second}");
    }
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
        let mut scheduler = Scheduler::new(&schedulers::find_scheme(name).unwrap());
        for (id, kind) in (0..).step_by(4).zip(kinds) {
            scheduler.open(
                StreamId(id),
                &Resource { kind, main: kind == Kind::Html, ..Resource::default() },
            );
            scheduler.set_ready(StreamId(id), true);
        }
        let bytes = shares(&mut scheduler, packets);
        assert_eq!(bytes.len(), kinds.len(), "{name} serves all within {packets} packets");
    }
}

#[test]
fn early_signals_are_forgotten_from_the_lowest_stream_on() {
    let mut scheduler = Scheduler::new(&schedulers::find_scheme("rfc9218").unwrap());
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

#[test]
fn a_signal_for_a_closed_stream_does_not_open_it() {
    for scheme in SCHEMES.iter() {
        let mut scheduler = Scheduler::new(scheme);
        scheduler.open(StreamId(0), &Resource::default());
        scheduler.close(StreamId(0));
        scheduler.signal(Signal::Extensible { stream: StreamId(0), urgency: 0, incremental: true });
        scheduler.signal(Signal::Bucket { stream: StreamId(0), byte: 255 });
        scheduler.set_ready(StreamId(0), true);
        assert_eq!(scheduler.pick(), None, "{}", scheme.name);
    }
}
