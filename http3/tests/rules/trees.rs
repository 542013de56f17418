//! The tree of the drafts: the meaning of each frame, and a server's reaction.

use crate::extensions::{BUCKETS, TREES, below, offering, on_control, pair, say, server, stream};
use crate::peer::*;
use http3::{Code, Event, Extension, Limits, Role, Session, Signal, StreamId};
use proptest::prelude::*;
use schedulers::{Element, Resource, Scheduler, find_scheme};

#[test]
fn the_tree_is_said_in_the_first_form_in_use_that_can_say_it() {
    let form = |extensions: &[Extension], signal: &Signal| {
        let (_, bytes) = pair(extensions, extensions).0.signal(signal)?;
        Extension::ALL.into_iter().find(|it| bytes.starts_with(&varint(it.codepoint())))
    };
    let plain = below(stream(4), Element::Root, 16);
    assert_eq!(form(&TREES, &plain), Some(Extension::TreeDraft22));
    assert_eq!(form(&TREES[..2], &plain), Some(Extension::TreeDraft20));
    assert_eq!(form(&BUCKETS, &plain), None);
    let weightless = below(stream(4), Element::Root, 0);
    assert_eq!(form(&TREES, &weightless), Some(Extension::TreeZeroWeight));
    assert_eq!(form(&TREES[..1], &weightless), None);
    let exclusive =
        Signal::Depend { element: stream(4), parent: Element::Root, weight: 16, exclusive: true };
    assert_eq!(form(&TREES[..2], &exclusive), None);
    assert_eq!(form(&TREES, &exclusive), Some(Extension::TreeDraft22));
}

#[test]
fn a_placeholder_is_said_only_if_the_server_has_it() {
    let (client, mut server) = pair(&TREES, &TREES);
    let heard = say(&client, &mut server, below(Element::Placeholder(1), Element::Root, 201));
    assert_eq!(heard.as_deref(), Some("p1 below root 201"));
    assert_eq!(client.signal(&below(Element::Placeholder(2), Element::Root, 1)), None);
    assert_eq!(client.signal(&below(stream(0), Element::Placeholder(2), 1)), None);
    assert_eq!(client.signal(&below(Element::Root, stream(0), 1)), None);
    assert_eq!(client.signal(&below(stream(0), stream(0), 1)), None);
}

/// The `PRIORITY` frame of draft 20 that begins a request stream.
fn first_frame(payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0xa5, 0x39, 0x63, 0x40, length], payload].concat()
}

#[test]
fn the_current_stream_of_draft_20_is_the_one_that_its_frame_begins() {
    let (_, mut server) = pair(&TREES[..1], &TREES[..1]);
    let first = first_frame(&[0xc0, 0, 31]);
    server.receive(StreamId(4), &[first, get("")].concat(), true).unwrap();
    assert_eq!(events(&mut server), "headers 4, 4 below 0 32, finished 4");
}

#[test]
fn what_came_on_the_control_stream_before_wins_over_the_request_streams_frame_draft_20() {
    let (client, mut server) = pair(&TREES[..1], &TREES[..1]);
    let heard = say(&client, &mut server, below(stream(4), Element::Root, 9));
    assert_eq!(heard.as_deref(), Some("4 below root 9"));
    let first = first_frame(&[0xf0, 31]);
    server.receive(StreamId(4), &first, false).unwrap();
    server.receive(StreamId(4), &get(""), true).unwrap();
    assert_eq!(events(&mut server), "headers 4, finished 4");
}

#[test]
fn a_request_streams_own_frame_is_kept_though_no_other_signal_may_wait() {
    let limits = Limits { waiting_priority_updates: 0, ..Limits::default() };
    let mut server = Session::new(Role::Server, offering(&TREES), limits);
    let (client, _) = pair(&TREES[..1], &TREES);
    server.receive(CLIENT_CONTROL, &client.opening()[0].1, false).unwrap();
    server.poll();
    let first = first_frame(&[0xf0, 31]);
    server.receive(StreamId(4), &first, false).unwrap();
    server.receive(StreamId(4), &get(""), true).unwrap();
    assert_eq!(events(&mut server), "headers 4, 4 below root 32, finished 4");
    let heard = say(&client, &mut server, below(stream(8), Element::Root, 32));
    assert_eq!(heard.as_deref(), Some(""));
    server.receive(StreamId(8), &get(""), true).unwrap();
    assert_eq!(events(&mut server), "headers 8, finished 8");
}

#[test]
fn a_request_streams_frame_that_overtakes_the_clients_settings_is_ignored() {
    let mut server = Session::new(Role::Server, offering(&TREES), Limits::default());
    let tree = frame(Extension::TreeDraft20.codepoint(), &[0xf0, 15]);
    server.receive(REQUEST, &[tree, get("")].concat(), true).unwrap();
    assert_eq!(events(&mut server), "headers 0, finished 0");
}

#[test]
fn priority_begins_its_request_stream_or_is_unexpected_draft_20() {
    let tree = frame(Extension::TreeDraft20.codepoint(), &[0xf0, 15]);
    for before in [get(""), tree.clone()] {
        let bytes = [before, tree.clone()].concat();
        let outcome = server(&TREES).receive(REQUEST, &bytes, false);
        assert_connection_error(outcome, Code::FrameUnexpected);
    }
    let after_unknown = [frame(GREASE, &[1]), tree].concat();
    assert_eq!(server(&TREES).receive(REQUEST, &after_unknown, false), Ok(()));
}

#[test]
fn a_tree_frame_of_wrong_types_or_layout_is_a_frame_error() {
    // The current stream, and the root, on the control stream; IDs that are missing or too many; streams
    // that are no requests.
    for payload in [
        &[0xf0, 15][..],
        &[],
        &[0x30],
        &[0x30, 0, 15, 0],
        &[0x30, 1, 15],
        &[0x00, 0, 2, 15],
        &[0; 19],
    ] {
        for extension in TREES {
            let outcome = on_control(&mut server(&TREES), extension, payload);
            assert_connection_error(outcome, Code::Frame);
        }
    }
    // Another element than the current stream, a parent that comes later, on a request stream.
    for payload in [&[0x30, 0, 15][..], &[0xb0, 0, 15], &[0xc0, 4, 15], &[0xc0, 0, 15]] {
        let bytes = frame(Extension::TreeDraft20.codepoint(), payload);
        let outcome = server(&TREES).receive(REQUEST, &bytes, false);
        assert_connection_error(outcome, Code::Frame);
    }
}

#[test]
fn elements_beyond_the_limits_are_an_id_error_draft_22() {
    let limit = Limits::default().concurrent_requests;
    let request = |id: u64| [vec![0x30], varint(id), vec![15]].concat();
    let beyond: [&[u8]; 5] =
        [&request(4 * limit), &[0xb0, 2, 15], &[0x20, 0, 2, 15], &[0x70, 0, 15], &[0x10, 0, 0, 15]];
    for extension in TREES {
        for payload in beyond {
            let outcome = on_control(&mut server(&TREES), extension, payload);
            assert_connection_error(outcome, Code::Id);
        }
        for payload in [request(4 * (limit - 1)).as_slice(), &[0xb0, 1, 15], &[0x20, 0, 1, 15]] {
            assert_eq!(on_control(&mut server(&TREES), extension, payload), Ok(()));
        }
    }
    let outcome = server(&TREES).receive(
        REQUEST,
        &frame(Extension::TreeDraft20.codepoint(), &[0xe0, 2, 15]),
        false,
    );
    assert_connection_error(outcome, Code::Id);
}

#[test]
fn tree_signals_do_not_wait_for_their_requests_so_that_all_are_told_in_order() {
    let (client, mut server) = pair(&TREES, &TREES);
    for weight in [1, 2] {
        let heard = say(&client, &mut server, below(stream(4), Element::Placeholder(0), weight));
        assert_eq!(heard, Some(format!("4 below p0 {weight}")));
    }
    server.receive(StreamId(4), &get(""), false).unwrap();
    assert_eq!(events(&mut server), "headers 4");
    let heard = say(&client, &mut server, below(stream(4), stream(8), 3));
    assert_eq!(heard.as_deref(), Some("4 below 8 3"), "a parent need not be there");
    server.forget(StreamId(4));
    let heard = say(&client, &mut server, below(stream(4), Element::Root, 4));
    assert_eq!(heard.as_deref(), Some(""), "the request is over");
}

#[test]
fn tree_signals_about_more_requests_to_come_than_the_limit_are_dropped() {
    let limits = Limits { waiting_priority_updates: 2, ..Limits::default() };
    let (client, _) = pair(&TREES, &TREES);
    let mut server = Session::new(Role::Server, offering(&TREES), limits);
    server.receive(CLIENT_CONTROL, &client.opening()[0].1, false).unwrap();
    server.poll();
    let heard = |server: &mut Session, id| {
        say(&client, server, below(stream(id), Element::Root, 7)).unwrap()
    };
    assert_eq!(heard(&mut server, 4), "4 below root 7");
    assert_eq!(heard(&mut server, 8), "8 below root 7");
    assert_eq!(heard(&mut server, 12), "", "one too many");
    assert_eq!(heard(&mut server, 8), "8 below root 7", "known ones may be moved again");
    server.receive(StreamId(4), &get(""), true).unwrap();
    assert_eq!(events(&mut server), "headers 4, finished 4");
    assert_eq!(heard(&mut server, 12), "12 below root 7", "one has come");
    server.stream_reset(StreamId(8), 0x10c).unwrap();
    assert_eq!(events(&mut server), "reset 8 0x10c");
    assert_eq!(heard(&mut server, 16), "16 below root 7", "one never will");
}

/// The tree of draft 22 after signals and requests arrived in the order of `early`: all signals first, or
/// each request before its signal.
fn tree_after(signals: &[Signal], early: bool) -> String {
    let (client, mut server) = pair(&TREES, &TREES);
    let mut scheduler = Scheduler::new(&find_scheme("tree").unwrap());
    let ask = |server: &mut Session, signal: &Signal| {
        if let Some(id) = signal.stream().filter(|it| server.headers_frame_bytes(*it).is_none()) {
            server.receive(id, &get(""), false).unwrap();
        }
    };
    for signal in signals {
        if !early {
            ask(&mut server, signal);
        }
        let (control, bytes) = client.signal(signal).unwrap();
        server.receive(control, &bytes, false).unwrap();
    }
    for signal in signals {
        ask(&mut server, signal);
    }
    while let Some(event) = server.poll() {
        match event {
            Event::Headers { stream, .. } => {
                scheduler.open(stream, &Resource::default());
                scheduler.set_ready(stream, true);
            }
            Event::Priority(signal) => scheduler.signal(signal),
            _ => {}
        }
    }
    scheduler.tree().to_string()
}

fn exclusive(element: Element, parent: Element) -> Signal {
    Signal::Depend { element, parent, weight: 16, exclusive: true }
}

#[test]
fn exclusive_insertions_that_overtake_their_requests_make_the_tree_of_their_frames_draft_22() {
    let chain = [
        exclusive(stream(0), Element::Root),
        exclusive(stream(4), stream(0)),
        exclusive(stream(8), stream(0)),
        // Moves a node that has been inserted once already: the latest of each stream alone would lose that
        // stream 8 has been below stream 0 in the meantime.
        exclusive(stream(4), Element::Root),
        exclusive(stream(12), stream(4)),
    ];
    let chain_of_four = "root 100%\n  stream 4 (16) 100%\n    stream 12 (16) 0%\n      \
                         stream 0 (16) 0%\n        stream 8 (16) 0%";
    for early in [true, false] {
        assert_eq!(tree_after(&chain, early), format!("{chain_of_four}\n  orphans (16)\n"));
    }
}

#[test]
fn a_tree_signal_about_a_push_is_checked_and_reported() {
    let mut server = server(&TREES);
    server.receive(CLIENT_CONTROL, &frame(MAX_PUSH_ID, &[3]), false).unwrap();
    server.promise(&fields(PROMISED)).unwrap();
    on_control(&mut server, Extension::TreeDraft22, &[0x70, 0, 15]).unwrap();
    assert_eq!(events(&mut server), "Push(PushId(0)) below Element(Root)");
    let outcome = on_control(&mut server, Extension::TreeDraft22, &[0x70, 1, 15]);
    assert_connection_error(outcome, Code::Id);
}

fn tree_signal() -> impl Strategy<Value = Signal> {
    let parent = prop_oneof![
        4 => (0u64..5).prop_map(|index| stream(4 * index)),
        1 => (0u64..2).prop_map(Element::Placeholder),
        1 => Just(Element::Root),
    ];
    (0u64..5, parent, 1u16..=256, any::<bool>())
        .prop_map(|(index, parent, weight, exclusive)| Signal::Depend {
            element: stream(4 * index),
            parent,
            weight,
            exclusive,
        })
        .prop_filter(
            "an element is not below itself",
            |it| !matches!(it, Signal::Depend { element, parent, .. } if element == parent),
        )
}

proptest! {
    #[test]
    fn tree_signals_make_one_tree_whether_or_not_they_overtake_their_requests(
        signals in proptest::collection::vec(tree_signal(), 0..16),
    ) {
        prop_assert_eq!(tree_after(&signals, true), tree_after(&signals, false));
    }
}
