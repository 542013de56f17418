//! Clients that request too many pushes: their cost is bounded.

use crate::peers::{Peer, World, options};
use crate::simulation::Pushing;
use http3::{Code, Extension, PushId, Settings, Signal, StreamId};
use schedulers::Element;
use server::{Options, Pace, SignalUse};
use std::time::Duration;

const PUSHED_BYTES: u64 = 2_000;

/// The largest `MAX_PUSH_ID` (RFC 9000, 16).
const ALL_IDS: u64 = 1 << 62;

/// A server that pushes 100 resources with each document, and a client that lets it open this many streams.
fn world(unidirectional_streams: u64) -> (World, Peer) {
    let push = (0..100).map(|it| format!("/{PUSHED_BYTES}/css/0/{it}")).collect();
    let site = Pushing { document: "/5000/html", push };
    let mut world = World::of(options("fifo"), site);
    let address = ([127, 0, 0, 1], 5001).into();
    let mut peer = Peer::allowing(&world, address, Settings::default(), unidirectional_streams);
    world.run_ms(50, &mut [&mut peer]);
    (world, peer)
}

/// RFC 9114, 4.6. Client: allows pushes. Server: no more than these, each ID once.
#[test]
fn a_client_that_allows_all_push_ids_gets_ten_at_a_time_and_each_resource_once() {
    let (mut world, mut peer) = world(1_000);
    peer.allow_pushes(ALL_IDS);
    let mut promised = Vec::new();
    for request in 0..15 {
        peer.get(4 * request, &format!("/5000/html?{request}"));
        world.run_ms(100, &mut [&mut peer]);
        promised.push(peer.promised.len());
    }
    assert_eq!(promised[0], 10, "as many as the operator allows at a time");
    assert!(promised.windows(2).all(|it| it[1] - it[0] <= 10), "{promised:?}");
    assert_eq!(promised.last(), Some(&100), "and none twice");
    assert_eq!(peer.closed_with(), None);
}

/// A client that orders everything but the push: the document and an image of 1 MB are children of the root. Then it may send
/// `then` on its control stream. Returns how long the push takes after the document, in milliseconds.
fn pushed_after_document_ms(then: Option<Vec<u8>>) -> u128 {
    let site = Pushing { document: "/5000/html", push: vec!["/20000/css".into()] };
    let pace = Pace { packet_bytes: 1400, interval: Duration::from_millis(1) };
    let options = Options { signals: SignalUse::Obey, ..options("tree") }.paced(pace);
    let mut world = World::of(options, site);
    let settings = Settings { extensions: [Extension::TreeDraft22].into(), ..Settings::default() };
    let mut peer = Peer::with_settings(&world, 1, settings);
    world.run_ms(20, &mut [&mut peer]);
    peer.allow_pushes(1);
    for (stream, path) in [(0, "/1000000/png"), (4, "/5000/html")] {
        let element = Element::Stream(StreamId(stream));
        let root = Signal::Depend { element, parent: Element::Root, weight: 16, exclusive: false };
        assert!(peer.client.connection.signal(&root));
        peer.get(stream, path);
    }
    world.run_ms(10, &mut [&mut peer]);
    if let Some(frame) = then {
        peer.send_raw(2, &frame, false).expect("room");
    }
    world.run_ms(2000, &mut [&mut peer]);
    assert_eq!(peer.order(), [4, 15, 0]);
    (peer.ended[1].1 - peer.ended[0].1).as_millis()
}

/// The order in which responses end: a document that is over before its client can place it, its push, and an image of 1 MB
/// that the client places beside the document.
fn order_after_a_late_word(scheme: &schedulers::Scheme, parent: Element) -> Vec<u64> {
    let site = Pushing { document: "/5000/html", push: vec!["/20000/css".into()] };
    let pace = Pace { packet_bytes: 1400, interval: Duration::from_millis(1) };
    let options = Options { signals: SignalUse::Obey, ..options(&scheme.name) }.paced(pace);
    let mut world = World::of(options, site);
    let extensions = [Extension::TreeDraft22, Extension::TreeZeroWeight].into();
    let settings = Settings { extensions, ..Settings::default() };
    let mut peer = Peer::with_settings(&world, 1, settings);
    world.run_ms(20, &mut [&mut peer]);
    peer.allow_pushes(1);
    peer.get(0, "/5000/html");
    world.run_ms(8, &mut [&mut peer]);
    assert_eq!(peer.order(), [0], "{}", scheme.name);
    for stream in [0, 4] {
        let element = Element::Stream(StreamId(stream));
        let word = Signal::Depend { element, parent, weight: 16, exclusive: false };
        assert!(peer.client.connection.signal(&word));
    }
    peer.get(4, "/1000000/png");
    world.run_ms(2000, &mut [&mut peer]);
    peer.order()
}

#[test]
fn a_push_goes_where_its_document_belongs_though_the_client_says_so_after_its_end() {
    let of_tree = |it: &&schedulers::Scheme| it.signals == schedulers::Language::Tree;
    let plain = |it: &&schedulers::Scheme| it.needs == schedulers::Needs::Nothing;
    let schemes: Vec<_> = schedulers::REGISTRY.iter().filter(of_tree).filter(plain).collect();
    assert!(schemes.len() > 5);
    let waits = |it: &schedulers::Scheme| order_after_a_late_word(it, Element::Root) != [0, 15, 4];
    let waiting: Vec<&str> = schemes.iter().filter(|it| waits(it)).map(|it| &*it.name).collect();
    assert_eq!(waiting, [""; 0]);
}

#[test]
fn under_a_tree_a_push_depends_on_its_document_and_does_not_wait_for_all_others() {
    let pushed_ms = pushed_after_document_ms(None);
    assert!((25..35).contains(&pushed_ms), "15 packets in every second millisecond: {pushed_ms}");
}

#[test]
fn the_clients_word_about_a_push_in_the_tree_overrides_the_servers() {
    // A PRIORITY frame of draft 22: push 0 below the root with weight 1, beside the image with 16.
    let payload = [0x70, 0, 0];
    let frame = http3::whole_frame(Extension::TreeDraft22.codepoint(), &payload);
    let pushed_ms = pushed_after_document_ms(Some(frame));
    assert!((200..260).contains(&pushed_ms), "15 packets, every seventeenth: {pushed_ms}");
}

#[test]
fn a_client_that_lets_the_server_open_no_stream_gets_its_document_all_the_same() {
    for allowed in [0, 2, 3] {
        let (mut world, mut peer) = world(allowed);
        peer.allow_pushes(ALL_IDS);
        peer.get(0, "/5000/html");
        world.run_ms(100, &mut [&mut peer]);
        assert_eq!((peer.body_bytes(0), peer.promised.len()), (Some(5_000), 0), "{allowed}");
    }
}

#[test]
fn a_promise_is_made_only_where_there_is_a_stream_for_it() {
    let (mut world, mut peer) = world(8);
    peer.allow_pushes(ALL_IDS);
    peer.get(0, "/5000/html");
    world.run_ms(100, &mut [&mut peer]);
    // Three of the eight are the control stream and QPACK's.
    assert_eq!(peer.promised.len(), 5);
    assert_eq!(peer.body_bytes(0), Some(5_000));
}

/// RFC 9114, 7.2.3. Client: cancels a promised push. Server: does not send it, or no further.
#[test]
fn a_client_that_cancels_every_push_makes_room_and_nothing_else() {
    let (mut world, mut peer) = world(1_000);
    peer.allow_pushes(ALL_IDS);
    for request in 0..10 {
        peer.get(4 * request, &format!("/5000/html?{request}"));
        world.run_ms(1, &mut [&mut peer]);
        for push in peer.promised.split_off(0) {
            peer.cancel_push(push);
        }
        world.run_ms(100, &mut [&mut peer]);
        assert_eq!(peer.body_bytes(4 * request), Some(5_000));
    }
    assert_eq!(peer.closed_with(), None);
}

#[test]
fn a_client_that_does_nothing_but_cancel_is_cut_off() {
    let (mut world, mut peer) = world(1_000);
    peer.allow_pushes(ALL_IDS);
    peer.get(0, "/5000/html");
    world.run_ms(50, &mut [&mut peer]);
    for _ in 0..2_000 {
        peer.cancel_push(PushId(0));
    }
    world.run_ms(50, &mut [&mut peer]);
    assert_eq!(peer.closed_with().and_then(Code::of), Some(Code::ExcessiveLoad));
}

#[test]
fn a_push_that_was_not_promised_cannot_be_cancelled_9114_7_2_3() {
    let (mut world, mut peer) = world(1_000);
    peer.allow_pushes(ALL_IDS);
    peer.cancel_push(PushId(7));
    world.run_ms(50, &mut [&mut peer]);
    assert_eq!(peer.closed_with().and_then(Code::of), Some(Code::Id));
}
