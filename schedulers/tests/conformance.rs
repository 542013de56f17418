//! One suite over every row of the registry, its variants and parameters included, none of them named here:
//! what each scheduler keeps, whatever its policy.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod operations;
mod resources;

use operations::{Call, apply, note};
use proptest::prelude::*;
use schedulers::{
    Element, GraphResource, Needs, PageGraph, REGISTRY, Resource, Scheduler, Scheme, Signal,
    StreamId, find_page_scheme,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

fn stream() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (0_u64..12).prop_map(|index| 4 * index), 1 => any::<u64>()]
}

/// Any resource, of which a browser may have signalled something, and page and size may be known.
fn resource() -> impl Strategy<Value = Resource> {
    let browser = prop::option::weighted(0.2, (any::<u8>(), any::<bool>()));
    let known = (prop::option::of(0_usize..14), prop::option::of(0_u64..20_000));
    (resources::resource(), browser, known).prop_map(|(resource, browser, (id, body_bytes))| {
        Resource { browser, id, body_bytes, ..resource }
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

/// Every row by its plain name if it has one, by the examples of its parameters and variants (words as `NAME:4` and
/// `@VARIANT` in what it says of them), for a page; and each of these guarded.
static ALL: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
    let resource = |id: usize| GraphResource {
        bytes: 1000 * id as u64,
        parents: (id > 0).then_some(id / 2).into_iter().collect(),
        ..GraphResource::default()
    };
    let graph = PageGraph { resources: (0..12).map(resource).collect() };
    let names = REGISTRY.iter().flat_map(names);
    let names = names.flat_map(|name| [format!("{name}@guard:3"), name]);
    names.map(|name| find_page_scheme(&name).unwrap().for_page(&graph)).collect()
});

fn names(row: &Scheme) -> Vec<String> {
    let plain = (row.needs != Needs::Parameter).then(|| row.name.clone());
    let with_parameter = format!("{}:", row.name);
    let examples = row.parameters.split([' ', ',']).filter_map(|word| {
        let word = word.trim_end_matches(':');
        let is_example = word.starts_with(&with_parameter);
        let variant = word.starts_with('@').then(|| format!("{}{word}", row.name));
        variant.or_else(|| is_example.then(|| word.to_owned()))
    });
    plain.into_iter().chain(examples).collect()
}

fn scheme() -> impl Strategy<Value = &'static Scheme> {
    (0..ALL.len()).prop_map(|index| &ALL[index])
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

    /// Two who are alike in all but their IDs are never more than a packet apart, or go in sequence, either first.
    #[test]
    fn equals_share_equally_or_go_in_sequence(scheme in scheme(), resource in resource()) {
        let mut scheduler = Scheduler::new(scheme);
        let (first, second) = (StreamId(0), StreamId(4));
        let resource = Resource { main: false, body_bytes: Some(1_000_000), ..resource };
        for stream in [first, second] {
            scheduler.open(stream, &resource);
            scheduler.set_ready(stream, true);
        }
        let bytes = shares(&mut scheduler, 101);
        let of = |stream| bytes.get(&stream).copied().unwrap_or(0_u64);
        let (first, second) = (of(first), of(second));
        let in_sequence = first == 0 || second == 0;
        let is_guarded = scheme.guard.is_some();
        prop_assert!(is_guarded || in_sequence || first.abs_diff(second) <= 1400, "{first} and {second}");
    }
}

#[test]
fn the_suite_covers_every_row_and_all_that_it_says_it_takes() {
    for row in REGISTRY.iter() {
        let names = names(row);
        assert!(!names.is_empty(), "{} needs an example in its parameters", row.name);
        assert!(row.parameters.is_empty() || names.len() > 1 || row.needs == Needs::Parameter);
    }
    assert!(ALL.len() >= 2 * REGISTRY.len());
}

/// A scheme that had to be named here would be one that the suite treats otherwise.
#[test]
fn the_suite_names_no_scheme() {
    let part_of_name = |it: char| it.is_ascii_alphanumeric() || "+-".contains(it);
    let words: BTreeSet<&str> = SOURCE.split(|it| !part_of_name(it)).collect();
    let named = REGISTRY.iter().filter(|row| words.contains(row.name.as_str()));
    assert_eq!(named.map(|row| &row.name).collect::<Vec<_>>(), [""; 0]);
}

/// This file.
const SOURCE: &str = include_str!("conformance.rs");

/// With a guard, whoever stays ready sends, whatever the order.
#[test]
fn under_a_guard_nobody_starves() {
    for scheme in ALL.iter().filter(|it| it.guard.is_some()) {
        let mut scheduler = Scheduler::new(scheme);
        for id in 0..20 {
            scheduler.open(StreamId(id), &Resource { main: id == 0, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
        }
        assert_eq!(shares(&mut scheduler, 60).len(), 20, "{}", scheme.name);
    }
}

#[test]
fn a_signal_for_a_closed_stream_does_not_open_it() {
    for scheme in ALL.iter() {
        let mut scheduler = Scheduler::new(scheme);
        scheduler.open(StreamId(0), &Resource::default());
        scheduler.close(StreamId(0));
        scheduler.signal(Signal::Extensible { stream: StreamId(0), urgency: 0, incremental: true });
        scheduler.signal(Signal::Bucket { stream: StreamId(0), byte: 255 });
        scheduler.set_ready(StreamId(0), true);
        assert_eq!(scheduler.pick(), None, "{}", scheme.name);
    }
}
