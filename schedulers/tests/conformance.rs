//! One suite over every row of the registry, with its variants and parameters, none of them named here: the rules
//! that each scheduler keeps, whatever its policy.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod resources;

use proptest::prelude::*;
use schedulers::conformance::{
    Act, CHECKS, bytes_go_once, calls_decide, closed_stays_closed, equals_are_equal,
    nobody_starves, packets_go_when_ready,
};
use schedulers::{
    Element, GraphResource, Halves, Needs, PageGraph, Place, REGISTRY, Resource, Scheme,
    ServerHalf, Signal, StreamId, Tree, find_page_scheme,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;

fn stream() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (0_u64..12).prop_map(|index| 4 * index), 1 => any::<u64>()]
}

/// Any resource, for which a browser may have signalled something, and whose page and size may be known.
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

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (stream(), resource()).prop_map(|(id, resource)| Act::Open(id, resource)),
        2 => signal().prop_map(Act::Signal),
        4 => (stream(), any::<bool>()).prop_map(|(id, ready)| Act::SetReady(id, ready)),
        6 => (0_u64..3000).prop_map(Act::Send),
        1 => (stream(), any::<u64>()).prop_map(|(id, bytes)| Act::SendAnyway(id, bytes)),
        2 => stream().prop_map(Act::Close),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 0..120)
}

/// Every row by its plain name if it has one, by the examples of its parameters and variants (words such as
/// `NAME:4` and `@VARIANT` in their descriptions), for a page; and each of these guarded.
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

/// A broken rule fails the case.
fn holds(result: Result<(), String>) -> Result<(), TestCaseError> {
    result.map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the calls: a pick is an open and ready stream, and there is one if any stream is.
    #[test]
    fn a_packet_goes_exactly_when_a_stream_is_ready(scheme in scheme(), acts in acts()) {
        holds(packets_go_when_ready(scheme, &acts))?;
    }

    #[test]
    fn the_same_calls_give_the_same_picks(scheme in scheme(), acts in acts()) {
        holds(calls_decide(scheme, &acts))?;
    }

    /// A page is sent completely: each response gets exactly its bytes, in no more packets than they need.
    #[test]
    fn every_byte_is_sent_once(
        scheme in scheme(),
        page in prop::collection::vec((resource(), 1_u64..20_000), 1..20),
    ) {
        holds(bytes_go_once(scheme, &page))?;
    }

    /// Two responses that are alike except for their IDs are never more than a packet apart, or are sent in
    /// sequence, either one first.
    #[test]
    fn equals_share_equally_or_go_in_sequence(scheme in scheme(), resource in resource()) {
        holds(equals_are_equal(scheme, &resource))?;
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
        assert_eq!(nobody_starves(scheme), Ok(()), "{}", scheme.name);
    }
}

#[test]
fn a_signal_for_a_closed_stream_does_not_open_it() {
    for scheme in ALL.iter() {
        assert_eq!(closed_stays_closed(scheme), Ok(()), "{}", scheme.name);
    }
}

/// All but the last: `tests/signals.rs` says which schemes keep that one.
#[test]
fn the_seeded_checks_hold_for_every_row() {
    for scheme in ALL.iter() {
        for check in &CHECKS[..6] {
            assert_eq!(check.run(scheme, 20), Ok(()), "{}: {}", scheme.name, check.rule);
        }
    }
}

/// Gives the response on stream 0 less than others that are like it.
struct Unfair;

impl ServerHalf for Unfair {
    fn opened(&mut self, nodes: &mut Tree, stream: StreamId, _resource: &Resource) {
        let weight = if stream.0 == 0 { 16 } else { 64 };
        nodes.put(Element::Stream(stream), Place::DEFAULT.weight(weight));
    }
}

#[test]
fn the_seeded_checks_name_the_rule_that_a_scheme_breaks() {
    let unfair = Scheme::new("unfair", "", "", |_, _| Ok(Halves::of_server("", Unfair)));
    let broken = CHECKS.iter().filter(|it| it.run(&unfair, 20).is_err()).map(|it| it.rule);
    assert_eq!(
        broken.collect::<Vec<_>>(),
        ["two responses that are alike share equally or go in sequence"]
    );
}
