//! Our extensions: what both sides must have offered, the bucket byte, the announced scheme, floods.

use crate::peer::*;
use http3::{Code, Error, Event, Extension, Limits, Role, Session, Settings, Signal, StreamId};
use proptest::prelude::*;
use schedulers::Element;

pub(crate) const TREES: [Extension; 3] =
    [Extension::TreeDraft20, Extension::TreeZeroWeight, Extension::TreeDraft22];
pub(crate) const BUCKETS: [Extension; 2] =
    [Extension::BucketJanuary2019, Extension::BucketJune2019];

/// Settings that offer `extensions`, and two placeholders.
pub(crate) fn offering(extensions: &[Extension]) -> Settings {
    Settings {
        extensions: extensions.iter().copied().collect(),
        placeholders: 2,
        ..Settings::default()
    }
}

/// A client and a server that received each other's settings, and reported them.
pub(crate) fn pair(client: &[Extension], server: &[Extension]) -> (Session, Session) {
    let mut client = Session::new(Role::Client, offering(client), Limits::default());
    let mut server = Session::new(Role::Server, offering(server), Limits::default());
    for (stream, bytes) in client.opening() {
        server.receive(stream, &bytes, false).unwrap();
    }
    for (stream, bytes) in server.opening() {
        client.receive(stream, &bytes, false).unwrap();
    }
    while client.poll().is_some() || server.poll().is_some() {}
    (client, server)
}

/// A server whose client offers the same extensions.
pub(crate) fn server(extensions: &[Extension]) -> Session {
    pair(extensions, extensions).1
}

pub(crate) fn on_control(
    server: &mut Session,
    extension: Extension,
    payload: &[u8],
) -> Result<(), Error> {
    server.receive(CLIENT_CONTROL, &frame(extension.codepoint(), payload), false)
}

pub(crate) fn below(element: Element, parent: Element, weight: u16) -> Signal {
    Signal::Depend { element, parent, weight, exclusive: false }
}

pub(crate) fn stream(id: u64) -> Element {
    Element::Stream(StreamId(id))
}

/// What `server` receives when `client` sends.
pub(crate) fn say(client: &Session, server: &mut Session, signal: Signal) -> Option<String> {
    let (stream, bytes) = client.signal(&signal)?;
    server.receive(stream, &bytes, false).unwrap();
    Some(events(server))
}

#[test]
fn each_side_learns_what_the_other_offers() {
    let (client, server) = pair(&TREES, &[Extension::TreeDraft22, Extension::BucketJune2019]);
    for session in [&client, &server] {
        assert!(session.in_use(Extension::TreeDraft22));
        assert!(!session.in_use(Extension::TreeDraft20));
        assert!(!session.in_use(Extension::BucketJune2019));
    }
    assert_eq!(client.peer_settings().unwrap().placeholders, 2);
    assert!(client.peer_settings().unwrap().extensions.contains(&Extension::BucketJune2019));
}

#[test]
fn a_frame_that_not_both_offered_is_ignored_like_an_unknown_one_9114_9() {
    let all = Extension::ALL;
    for (clients, servers) in [(&[][..], &all[..]), (&all[..], &[][..]), (&[][..], &[][..])] {
        let (mut client, mut server) = pair(clients, servers);
        for extension in all {
            let wrong = frame(extension.codepoint(), &[7; 300]);
            assert_eq!(server.receive(CLIENT_CONTROL, &wrong, false), Ok(()));
            assert_eq!(client.receive(SERVER_CONTROL, &wrong, false), Ok(()));
            assert_eq!(server.receive(REQUEST, &wrong, false), Ok(()));
            assert_eq!(client.receive(REQUEST, &wrong, false), Ok(()));
        }
        server.receive(REQUEST, &get(""), true).unwrap();
        assert_eq!(events(&mut server), "headers 0, finished 0");
        assert_eq!(events(&mut client), "");
    }
}

#[test]
fn an_extension_frame_before_settings_is_missing_settings_9114_6_2_1() {
    for extension in Extension::ALL {
        let mut server = Session::new(Role::Server, offering(&Extension::ALL), Limits::default());
        let bytes = [vec![0x00], frame(extension.codepoint(), &[0])].concat();
        assert_connection_error(
            server.receive(CLIENT_CONTROL, &bytes, false),
            Code::MissingSettings,
        );
    }
}

#[test]
fn rfc_9218_can_always_be_said() {
    let (client, mut server) = pair(&[], &[]);
    server.receive(REQUEST, &get(""), false).unwrap();
    let signal = Signal::Extensible { stream: REQUEST, urgency: 1, incremental: true };
    let heard = say(&client, &mut server, signal);
    assert_eq!(heard.as_deref(), Some("headers 0, priority 0 u=1 i=true"));
    let unheard = Session::new(Role::Client, Settings::default(), Limits::default());
    assert_eq!(unheard.signal(&signal), client.signal(&signal));
}

#[test]
fn a_server_signals_nothing() {
    let (_, server) = pair(&Extension::ALL, &Extension::ALL);
    let signal = below(stream(0), Element::Root, 16);
    assert_eq!(server.signal(&signal), None);
}

#[test]
fn what_is_of_the_control_stream_is_unexpected_elsewhere_draft_22() {
    for extension in
        [Extension::TreeDraft22, Extension::BucketJanuary2019, Extension::SchemeAnnouncement]
    {
        let bytes = frame(extension.codepoint(), &[0x30, 0, 15]);
        let outcome = server(&Extension::ALL).receive(REQUEST, &bytes, false);
        assert_connection_error(outcome, Code::FrameUnexpected);
    }
}

#[test]
fn signals_from_a_server_are_unexpected() {
    for extension in [TREES.as_slice(), &BUCKETS[..1]].concat() {
        for place in [SERVER_CONTROL, REQUEST] {
            let (mut client, _) = pair(&Extension::ALL, &Extension::ALL);
            let bytes = frame(extension.codepoint(), &[0x30, 0, 15]);
            assert_connection_error(client.receive(place, &bytes, false), Code::FrameUnexpected);
        }
    }
}

#[test]
fn the_bucket_byte_comes_as_it_was_said_in_the_revision_in_use() {
    for revision in BUCKETS {
        let (client, mut server) = pair(&[revision], &BUCKETS);
        assert!(client.in_use(revision) && server.in_use(revision));
        server.receive(REQUEST, &get(""), false).unwrap();
        let signal = Signal::Bucket { stream: REQUEST, byte: 0xff };
        let heard = say(&client, &mut server, signal);
        assert_eq!(heard.as_deref(), Some("headers 0, bucket 0 255"));
        let early = Signal::Bucket { stream: StreamId(4), byte: 7 };
        assert_eq!(say(&client, &mut server, early).as_deref(), Some(""));
        server.receive(StreamId(4), &get(""), false).unwrap();
        assert_eq!(events(&mut server), "headers 4, bucket 4 7");
    }
    assert_eq!(pair(&[], &BUCKETS).0.signal(&Signal::Bucket { stream: REQUEST, byte: 1 }), None);
}

#[test]
fn a_bucket_frame_of_another_length_is_a_frame_error_and_of_another_id_an_id_error() {
    let limit = Limits::default().concurrent_requests;
    let beyond = [varint(4 * limit), vec![1]].concat();
    let cases: [(&[u8], Code); 6] = [
        (&[], Code::Frame),
        (&[0], Code::Frame),
        (&[0, 1, 2], Code::Frame),
        (&[0; 10], Code::Frame),
        (&[2, 1], Code::Id),
        (&beyond, Code::Id),
    ];
    for (payload, code) in cases {
        let outcome = on_control(&mut server(&BUCKETS), Extension::BucketJanuary2019, payload);
        assert_connection_error(outcome, code);
    }
}

#[test]
fn a_scheme_is_announced_once_to_a_client_that_offered_to_listen() {
    let both = [Extension::SchemeAnnouncement];
    let (mut client, mut server) = pair(&both, &both);
    assert_eq!(server.announce_scheme("no name"), None);
    let (stream, bytes) = server.announce_scheme("firefox@quicker").unwrap();
    assert_eq!((stream, &bytes[4..6]), (SERVER_CONTROL, &b"\x0ff"[..]));
    client.receive(stream, &bytes, false).unwrap();
    assert_eq!(events(&mut client), "scheme firefox@quicker");
    assert_eq!(server.announce_scheme("fifo"), None);
    assert_eq!(client.announce_scheme("fifo"), None);
    assert_connection_error(client.receive(stream, &bytes, false), Code::FrameUnexpected);
    let (_, mut deaf) = pair(&[], &both);
    assert_eq!(deaf.announce_scheme("fifo"), None);
}

#[test]
fn a_scheme_announced_wrongly_is_an_error() {
    let both = [Extension::SchemeAnnouncement];
    let name = |name: &[u8]| frame(both[0].codepoint(), name);
    for wrong in [&b""[..], b"a b", b"\xff", &[b'a'; 65]] {
        let (mut client, _) = pair(&both, &both);
        assert_connection_error(client.receive(SERVER_CONTROL, &name(wrong), false), Code::Frame);
    }
    let (_, mut server) = pair(&both, &both);
    let outcome = server.receive(CLIENT_CONTROL, &name(b"fifo"), false);
    assert_connection_error(outcome, Code::FrameUnexpected);
}

#[test]
fn a_flood_of_signals_costs_its_sender_the_connection() {
    let limits = Limits::default();
    let (client, mut server) = pair(&Extension::ALL, &Extension::ALL);
    server.receive(REQUEST, &get(""), false).unwrap();
    let signals = [
        Signal::Extensible { stream: REQUEST, urgency: 1, incremental: false },
        below(REQUEST_NODE, Element::Placeholder(0), 16),
        below(Element::Placeholder(1), Element::Placeholder(0), 16),
        Signal::Bucket { stream: REQUEST, byte: 1 },
    ]
    .map(|signal| client.signal(&signal).unwrap());
    let allowed = limits.signals + limits.signals_per_request;
    for (control, bytes) in signals.iter().cycle().take(usize::try_from(allowed).unwrap()) {
        assert_eq!(server.receive(*control, bytes, false), Ok(()));
    }
    let outcome = server.receive(signals[0].0, &signals[0].1, false);
    assert_connection_error(outcome, Code::ExcessiveLoad);
}

const REQUEST_NODE: Element = Element::Stream(REQUEST);

fn any_signal() -> impl Strategy<Value = Signal> {
    let node = || {
        prop_oneof![
            (0u64..3).prop_map(|index| stream(4 * index)),
            (0u64..3).prop_map(Element::Placeholder),
            Just(Element::Root),
        ]
    };
    let depend = (node(), node(), 0u16..=257, any::<bool>());
    prop_oneof![
        (0u64..3, any::<u8>())
            .prop_map(|(index, byte)| Signal::Bucket { stream: StreamId(4 * index), byte }),
        (0u64..3, 0u8..8, any::<bool>()).prop_map(|(index, urgency, incremental)| {
            Signal::Extensible { stream: StreamId(4 * index), urgency, incremental }
        }),
        depend.prop_map(|(element, parent, weight, exclusive)| Signal::Depend {
            element,
            parent,
            weight,
            exclusive,
        }),
    ]
}

proptest! {
    #[test]
    fn what_a_client_says_comes_back_as_it_was_said(
        signal in any_signal(),
        offers in proptest::sample::subsequence(Extension::ALL.to_vec(), 0..=6),
    ) {
        let (client, mut server) = pair(&offers, &offers);
        for request in 0..3 {
            server.receive(StreamId(4 * request), &get(""), false).unwrap();
            server.poll();
        }
        if let Some((control, bytes)) = client.signal(&signal) {
            prop_assert_eq!(server.receive(control, &bytes, false), Ok(()));
            let is_for_logs = |it: &Event| matches!(it, Event::PriorityUpdate { .. });
            let told: Vec<Event> = std::iter::from_fn(|| server.poll()).collect();
            prop_assert_eq!(told.last(), Some(&Event::Priority(signal)));
            prop_assert!(told[..told.len() - 1].iter().all(is_for_logs));
        }
    }

    #[test]
    fn any_extension_frame_is_taken_or_refused(
        frames in proptest::collection::vec(
            (0usize..6, proptest::collection::vec(any::<u8>(), 0..20), any::<bool>()), 0..12),
        offers in proptest::sample::subsequence(Extension::ALL.to_vec(), 0..=6),
    ) {
        let (mut client, mut server) = pair(&offers, &Extension::ALL);
        for (which, payload, on_request) in frames {
            let bytes = frame(Extension::ALL[which].codepoint(), &payload);
            let _ = server.receive(if on_request { REQUEST } else { CLIENT_CONTROL }, &bytes, false);
            let _ = client.receive(if on_request { REQUEST } else { SERVER_CONTROL }, &bytes, false);
        }
        let heard = std::iter::from_fn(|| server.poll()).count();
        prop_assert!(heard <= 12);
    }
}
