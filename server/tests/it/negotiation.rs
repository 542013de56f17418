//! Which scheme a client gets: the server's, or the one for clients that negotiate, whether requests or SETTINGS
//! arrive first.

use crate::peers::{Peer, World, limits, options};
use crate::simulation::{Pushing, read_log};
use http3::{Extension, Settings, StreamId, priority_update};
use schedulers::find_scheme;
use server::{Options, SignalUse};
use std::collections::BTreeMap;
use std::path::Path;

/// A server under `fifo` that gives `bucket-html` to clients that negotiate: a script precedes an image there.
fn negotiating(signals: SignalUse) -> Options {
    let negotiated = Some(find_scheme("bucket-html").expect("a scheme"));
    Options { limits: limits(), negotiated, signals, ..options("fifo") }
}

fn offering(extensions: &[Extension]) -> Settings {
    Settings { extensions: extensions.iter().copied().collect(), ..Settings::default() }
}

/// An image and a script, which the server has after 40 ms.
const IMAGE: &str = "/60000/png/40";
const SCRIPT: &str = "/60000/js/40";

/// The order in which image (0) and script (4) arrived, and the scheme that was announced.
fn load(options: Options, settings: Settings, requests_first: bool) -> (Vec<u64>, Option<String>) {
    let mut world = World::new(options);
    let mut peer = Peer::with_settings(&world, 1, settings);
    peer.client.is_silent = requests_first;
    world.run_ms(20, &mut [&mut peer]);
    peer.get(0, IMAGE);
    peer.get(4, SCRIPT);
    world.run_ms(20, &mut [&mut peer]);
    peer.client.is_silent = false;
    world.run_ms(1_000, &mut [&mut peer]);
    (peer.order(), peer.scheme)
}

#[test]
fn a_client_that_negotiates_gets_the_scheme_for_such_clients_whichever_comes_first() {
    for requests_first in [false, true] {
        let (order, scheme) =
            load(negotiating(SignalUse::Ignore), offering(&Extension::ALL), requests_first);
        assert_eq!(order, [4, 0], "requests first: {requests_first}");
        assert_eq!(scheme.as_deref(), Some("bucket-html"));
    }
}

#[test]
fn for_a_client_that_does_not_negotiate_nothing_changes() {
    for requests_first in [false, true] {
        let options = negotiating(SignalUse::Ignore);
        let (order, scheme) = load(options, Settings::default(), requests_first);
        assert_eq!((order, scheme), (vec![0, 4], None), "requests first: {requests_first}");
    }
}

#[test]
fn a_server_with_a_scheme_of_its_own_announces_that_one() {
    let configured = Options { negotiated: None, ..negotiating(SignalUse::Ignore) };
    let (order, scheme) = load(configured, offering(&Extension::ALL), false);
    assert_eq!((order, scheme.as_deref()), (vec![0, 4], Some("fifo")));
}

#[test]
fn where_signals_place_a_client_must_be_able_to_say_the_byte() {
    let listens_only = offering(&[Extension::SchemeAnnouncement]);
    let (_, scheme) = load(negotiating(SignalUse::Obey), listens_only.clone(), false);
    assert_eq!(scheme.as_deref(), Some("fifo"));
    let (_, scheme) = load(negotiating(SignalUse::Obey), offering(&Extension::ALL), false);
    assert_eq!(scheme.as_deref(), Some("bucket-html"));
    let (_, scheme) = load(negotiating(SignalUse::Ignore), listens_only, false);
    assert_eq!(scheme.as_deref(), Some("bucket-html"));
}

#[test]
fn what_nobody_signalled_goes_in_order_of_request_at_urgency_3() {
    let negotiated = Some(find_scheme("bucket-html").expect("a scheme"));
    let options =
        Options { limits: limits(), negotiated, signals: SignalUse::Obey, ..options("rfc9218") };
    let mut world = World::new(options);
    let mut peer = Peer::new(&world, 1);
    world.run_ms(20, &mut [&mut peer]);
    // The kinds do not count: a server that obeys uses no knowledge of its own.
    for (stream, path) in [(0, IMAGE), (4, SCRIPT), (8, IMAGE), (12, SCRIPT), (16, SCRIPT)] {
        peer.get(stream, path);
    }
    peer.send_raw(2, &priority_update(StreamId(12), 2, false), false).expect("room");
    peer.send_raw(2, &priority_update(StreamId(0), 4, false), false).expect("room");
    world.run_ms(1_000, &mut [&mut peer]);
    assert_eq!(peer.order(), [12, 4, 8, 16, 0]);
}

/// RFC 9218, 5. Client: sends the field in several lines. Server: they are one field.
#[test]
fn several_lines_of_a_priority_field_are_one_9218_5() {
    let header = |value: &str| http3::Header::new(b"priority", value.as_bytes());
    let request = server::site::Request::from_headers(&[header("u=1"), header("i")]);
    let said = schedulers::Priority { urgency: Some(1), incremental: Some(true) };
    assert_eq!(request.priority(), Some(said));
}

fn logged(folder: &Path, options: Options, settings: Settings) -> Vec<serde_json::Value> {
    let mut world = World::new(Options { qlog_dir: Some(folder.to_owned()), ..options });
    let mut peer = Peer::with_settings(&world, 1, settings);
    peer.client.is_silent = true;
    world.run_ms(20, &mut [&mut peer]);
    peer.get(0, "/60000/png/40");
    world.run_ms(5, &mut [&mut peer]);
    peer.client.is_silent = false;
    world.run_ms(5, &mut [&mut peer]);
    peer.send_raw(2, &priority_update(StreamId(0), 1, true), false).expect("room");
    world.run_ms(500, &mut [&mut peer]);
    drop(world);
    read_log(folder)
}

#[test]
fn the_log_says_which_updates_came_and_which_scheme_took_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = logged(folder.path(), negotiating(SignalUse::Override), offering(&Extension::ALL));
    let data = |name: &str| {
        log.iter().filter(|it| it["name"] == name).map(|it| it["data"].clone()).collect::<Vec<_>>()
    };
    let updates: Vec<_> = data("http3:frame_parsed")
        .into_iter()
        .filter(|it| it["frame"]["frame_type"] == "priority_update")
        .collect();
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert_eq!(updates[0]["stream_id"], 2);
    assert_eq!(updates[0]["frame"]["stream_id"], 0);
    assert_eq!(updates[0]["frame"]["priority_field_value"], "u=1, i");
    assert_eq!(
        data("utmost:scheme"),
        ["fifo", "bucket-html"].map(|it| serde_json::json!({"name": it, "in_group": false}))
    );
    let opened = data("utmost:scheduler").iter().filter(|it| it["op"] == "opened").count();
    assert_eq!(opened, 2, "once for each scheduler");
}

/// Below the window of a push stream. All are available after 40 ms.
const PUSHED: [(&str, &str); 4] = [
    ("image", "/8000/png/40"),
    ("script", "/8000/js/40"),
    ("style", "/8000/css/40"),
    ("next", "/8000/html/40"),
];

/// The order of arrival of pushes that were promised in the order of [`PUSHED`].
fn pushed(options: Options, settings: Settings) -> String {
    let push = PUSHED.map(|(_, path)| path.to_owned()).into();
    let site = Pushing { document: "/100/html", push };
    let mut world = World::of(options, site);
    let mut peer = Peer::allowing(&world, ([127, 0, 0, 1], 5001).into(), settings, 20);
    world.run_ms(20, &mut [&mut peer]);
    peer.allow_pushes(10);
    peer.get(0, "/100/html");
    world.run_ms(1_000, &mut [&mut peer]);
    let names: BTreeMap<u64, &str> = (15..).step_by(4).zip(PUSHED.map(|(name, _)| name)).collect();
    let order = peer.order().into_iter().filter_map(|it| names.get(&it).copied());
    order.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_push_is_placed_by_what_it_is_under_every_scheme_that_knows_kinds() {
    let order = |scheme| {
        let options = Options { limits: limits(), signals: SignalUse::Ignore, ..options(scheme) };
        pushed(options, Settings::default())
    };
    assert_eq!(order("bucket-html"), "next script style image");
    assert_eq!(order("rfc9218"), "next script style image");
    assert_eq!(order("fifo"), "image script style next");
    // Some of these share the wire among what is equal to them, and whose last byte comes first is chance.
    for scheme in ["bucket", "dfifo", "firefox", "spdy", "p+", "s+"] {
        let order = order(scheme);
        assert!(order.find("script") < order.find("image"), "{scheme}: {order}");
    }
}

#[test]
fn a_push_to_a_client_that_negotiates_is_placed_by_what_it_is_for_the_client_says_nothing_of_it() {
    for signals in [SignalUse::Obey, SignalUse::Ignore, SignalUse::Override] {
        let order = pushed(negotiating(signals), offering(&Extension::ALL));
        assert_eq!(order, "next script style image", "{signals:?}");
    }
}
