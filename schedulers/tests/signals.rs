//! Schemes as clients signal them: the orders that a server derives from the signals, and their number.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod resources;
mod slots;

use proptest::prelude::*;
use schedulers::conformance::signals_say_the_order;
use schedulers::{
    ClientHalf, Element, Kind, Language, Needs, REGISTRY, Resource, Scheme, SchemeError, Signal,
    StreamId, find_page_scheme, find_scheme, paper_schemes,
};
use slots::slots;

/// A client half of this scheme.
fn client(scheme: &str) -> Box<dyn ClientHalf> {
    find_scheme(scheme).unwrap().client_half().unwrap()
}

fn of_kind(kind: Kind) -> Resource {
    Resource { kind, ..Resource::default() }
}

/// A signal in short: `4 below 0!, weight 16`, where `!` is exclusive and `p1` a placeholder.
fn short(signal: &Signal) -> String {
    let name = |element: Element| match element {
        Element::Root => "root".to_owned(),
        Element::Placeholder(id) => format!("p{id}"),
        Element::Stream(stream) => stream.0.to_string(),
    };
    match *signal {
        Signal::Depend { element, parent, weight, exclusive } => {
            let exclusive = if exclusive { "!" } else { "" };
            format!("{} below {}{exclusive}, weight {weight}", name(element), name(parent))
        }
        Signal::Extensible { stream, urgency, incremental } => {
            format!("{} u={urgency}{}", stream.0, if incremental { ", i" } else { "" })
        }
        Signal::Bucket { stream, byte } => format!("{} bucket {byte}", stream.0),
    }
}

fn said(signals: &[Signal]) -> Vec<String> {
    signals.iter().map(short).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of the paper's eleven none differs.
    #[test]
    fn the_papers_schemes_give_the_same_order_placed_by_the_server_and_signalled(slots in slots()) {
        for scheme in paper_schemes() {
            prop_assert_eq!(signals_say_the_order(scheme, &slots), Ok(()), "{}", scheme.name);
        }
    }

    #[test]
    fn so_do_the_others_that_a_client_can_signal(slots in slots()) {
        for name in OTHERS {
            let scheme = find_scheme(name).unwrap();
            prop_assert!(scheme.client_half().is_ok());
            prop_assert_eq!(signals_say_the_order(&scheme, &slots), Ok(()), "{}", scheme.name);
        }
    }
}

/// All but two: `tree` has an order only where clients signal, and under `weighted-incremental` a response counts at the
/// default urgency until its signal arrives, which shifts the turns of others by a packet.
const OTHERS: [&str; 14] = [
    "firefox@quicker",
    "rfc9218",
    "rfc9218@h2o",
    "rfc9218@nghttp3",
    "rfc9218@quicgo",
    "strict",
    "spdy",
    "bucket7",
    "mixed",
    "mixed:75",
    "kway:3",
    "lifo",
    "random:1",
    "dfifo@guard:5",
];

#[test]
fn dfifo_inserts_a_request_after_the_last_open_one_of_its_class_or_a_higher_one() {
    let mut client = client("dfifo");
    let mut request = |id, kind| said(&client.request(StreamId(id), &of_kind(kind)));
    assert_eq!(request(0, Kind::Html), ["0 below root!, weight 256"]);
    assert_eq!(request(4, Kind::Image), ["4 below 0!, weight 147"]);
    assert_eq!(request(8, Kind::Media), ["8 below 4!, weight 110"]);
    assert_eq!(request(12, Kind::Css), ["12 below 0!, weight 256"]);
    assert_eq!(request(16, Kind::Js), ["16 below 12!, weight 220"]);
    for id in [0, 12, 16] {
        assert_eq!(client.closed(StreamId(id)), []);
    }
    let late = client.request(StreamId(20), &of_kind(Kind::Css));
    assert_eq!(said(&late), ["20 below root!, weight 256"]);
}

#[test]
fn parallel_plus_weighs_normal_anew_when_high_fills_and_when_it_empties() {
    let mut client = client("p+");
    let groups =
        ["p0 below root, weight 256", "p1 below root, weight 256", "p2 below root, weight 1"];
    assert_eq!(said(&client.setup()), groups);
    let mut request = |id, resource| said(&client.request(StreamId(id), &resource));
    let normal = Resource { after_first_image: true, ..of_kind(Kind::Js) };
    assert_eq!(
        request(0, of_kind(Kind::Html)),
        ["p1 below root, weight 1", "0 below p0, weight 256"]
    );
    assert_eq!(request(4, of_kind(Kind::Css)), ["4 below 0, weight 256"]);
    assert_eq!(request(8, normal), ["8 below p1, weight 183"]);
    assert_eq!(request(12, of_kind(Kind::Image)), ["12 below p2, weight 110"]);
    assert_eq!(said(&client.closed(StreamId(0))), [""; 0]);
    assert_eq!(said(&client.closed(StreamId(4))), ["p1 below root, weight 256"]);
    assert_eq!(said(&client.closed(StreamId(8))), [""; 0]);
}

#[test]
fn serial_plus_has_a_line_in_high_and_one_in_medium() {
    let mut client = client("s+");
    assert_eq!(client.setup().len(), 8);
    let mut request = |id, resource| said(&client.request(StreamId(id), &resource));
    let head = |kind| Resource { in_head: true, ..of_kind(kind) };
    assert_eq!(request(0, of_kind(Kind::Html)), ["0 below p4, weight 32"]);
    assert_eq!(request(4, head(Kind::Css)), ["p1 below root, weight 1", "4 below p0, weight 16"]);
    assert_eq!(request(8, of_kind(Kind::Js)), ["8 below p1, weight 16"]);
    assert_eq!(request(12, head(Kind::Js)), ["12 below 4, weight 16"]);
    assert_eq!(request(16, of_kind(Kind::Xhr)), ["16 below 8, weight 16"]);
}

#[test]
fn kway_lets_the_next_share_when_one_is_complete() {
    let mut client = client("kway:2");
    let mut request = |id| said(&client.request(StreamId(id), &Resource::default()));
    assert_eq!([request(0), request(4)], [["0 u=3, i"], ["4 u=3, i"]]);
    assert_eq!([request(8), request(12)], [["8 u=4"], ["12 u=4"]]);
    assert_eq!(said(&client.closed(StreamId(4))), ["8 u=3, i"]);
    assert_eq!(said(&client.closed(StreamId(8))), ["12 u=3, i"]);
    assert_eq!(client.closed(StreamId(0)), []);
}

/// Placeholders, signals with six requests that are open at once, and signals when they close in order.
#[test]
fn a_client_signals_each_request_and_each_other_priority_that_it_causes() {
    let kinds = [Kind::Html, Kind::Css, Kind::Js, Kind::Font, Kind::Image, Kind::Image];
    let count = |scheme: &Scheme| {
        let mut half = scheme.client_half().unwrap();
        let groups = half.setup().len();
        let ids = || (0..).step_by(4).map(StreamId);
        let requests = ids().zip(kinds).map(|(id, kind)| half.request(id, &of_kind(kind)).len());
        let requests: usize = requests.sum();
        let closings: usize = ids().take(kinds.len()).map(|id| half.closed(id).len()).sum();
        (scheme.name.clone(), [groups, requests, closings])
    };
    let counts: Vec<(String, [usize; 3])> = paper_schemes().iter().map(count).collect();
    let expected = [
        ("rr", [0, 0, 0]),
        ("wrr", [0, 6, 0]),
        ("fifo", [0, 6, 0]),
        ("dfifo", [0, 6, 0]),
        ("firefox", [6, 6, 0]),
        ("p+", [3, 7, 1]),
        ("s+", [8, 7, 1]),
        ("spdyrr", [0, 6, 0]),
        ("bucket", [0, 6, 0]),
        ("bucket-html", [0, 6, 0]),
        ("zeroweight", [0, 6, 0]),
    ];
    assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
}

#[test]
fn every_scheme_is_signalled_in_the_form_that_its_row_says() {
    for row in REGISTRY.iter() {
        let name = match row.needs {
            Needs::Parameter => format!("{}:1", row.name),
            Needs::Nothing | Needs::Page => row.name.clone(),
        };
        let scheme = find_page_scheme(&name).unwrap().for_page(&schedulers::PageGraph::default());
        let form = match scheme.client_half() {
            Err(SchemeError::Unsignalled { .. }) => Language::None,
            Err(other) => panic!("{other}"),
            Ok(mut half) => match half.request(StreamId(0), &Resource::default()).first() {
                None => Language::Silence,
                Some(Signal::Depend { .. }) => Language::Tree,
                Some(Signal::Bucket { .. }) => Language::Bucket,
                Some(Signal::Extensible { .. }) => Language::Priority,
            },
        };
        assert_eq!(form, row.signals, "{name}");
    }
}

#[test]
fn a_scheme_that_no_client_can_signal_says_why_and_which_can() {
    let message = |name: &str| find_scheme(name).unwrap().client_half().err().unwrap().to_string();
    assert_eq!(
        message("srpt"),
        "no client can signal scheme `srpt`: a client does not know when it makes a request how long the response is; these can be \
         signalled: rr, wrr, fifo, dfifo, firefox, p+, s+, spdyrr, bucket, bucket-html, zeroweight, rfc9218, strict, \
         spdy, bucket7, weighted-incremental, mixed, kway, lifo, random, tree"
    );
    for name in ["p+@quicker", "s+@quicker"] {
        assert!(message(name).contains(
            "a client does not know when its server has sent the 50 packets after which a group weighs more"
        ));
    }
}
