//! Responses that move from one connection of a client to another while they are being sent.

use crate::peers::{Peer, World, config, options};
use crate::simulation::{Bodies, Pushing};
use connection::ClientConfig;
use http3::{Code, Signal, StreamId};
use migration::{
    Destination, Kind, MIGRATE, Migrate, Name, Policy, Rest, Secret, SizeRule, Subject,
};
use server::site::Site;
use server::{Limits, Options, SignalUse};
use simulator::Links;
use simulator::link::{Profile, Queue, Reorder};
use std::path::Path;
use std::time::Duration;

const RTT_MS: f64 = 50.0;
/// Bytes of a response that stay at the source in these tests.
const FIRST_BYTES: u64 = 100_000;

/// A client that can move responses.
struct Moving {
    world: World,
    peer: Peer,
}

impl Moving {
    fn new(policy: Policy, down: &Profile) -> Self {
        let options = Options { migration: Some(policy), ..options("rr") };
        Self::under(options, Bodies, down)
    }

    fn under(options: Options, site: impl Site + 'static, down: &Profile) -> Self {
        let up = Profile::plain(1e9, RTT_MS / 2.0);
        let world = World::over(Links::new(down, &up, 0).logged(), options, site);
        let config = ClientConfig {
            migration: true,
            receive_bytes: 100_000_000,
            stream_receive_bytes: 10_000_000,
            ..config()
        };
        let peer = Peer::connect(&world, ([127, 0, 0, 1], 5000).into(), &config);
        let mut moving = Self { world, peer };
        moving.run_ms(300);
        assert!(moving.peer.client.destinations.is_agreed());
        moving
    }

    fn run_ms(&mut self, ms: u64) {
        self.world.run_ms(ms, &mut [&mut self.peer]);
    }

    fn open_spare(&mut self) {
        let now = self.world.now();
        self.peer.client.destinations.open_spare(&self.peer.client.connection, now);
        self.run_ms(300);
        assert_eq!(self.peer.client.destinations.open(), 1);
    }

    /// The virtual time at which `is_so`.
    fn when(&mut self, is_so: impl Fn(&Peer) -> bool) -> Duration {
        for _ in 0..20_000 {
            if is_so(&self.peer) {
                return self.world.elapsed();
            }
            self.world.run_for(Duration::from_micros(500), &mut [&mut self.peer]);
        }
        panic!("it does not happen: {:?}", self.peer);
    }

    fn moved_bytes(&self) -> u64 {
        self.peer.client.destinations.moved_bytes()
    }
}

fn link() -> Profile {
    Profile { queue: Queue::Bytes(125_000), ..Profile::plain(10e6, RTT_MS / 2.0) }
}

/// Moves everything above 500,000 bytes, after its first bytes.
fn large() -> Policy {
    let size = Some(SizeRule { above_bytes: 500_000, beside: 0 });
    Policy { size, after_bytes: FIRST_BYTES, ..Policy::default() }
}

#[test]
fn the_four_ways_to_move_take_0_1_2_and_2_round_trips() {
    // Whether the client starts, whether a connection is idle, round trips.
    for (by_client, has_idle, expected) in
        [(false, true, 0.0), (true, true, 1.0), (false, false, 2.0), (true, false, 2.0)]
    {
        // No queue forms, which would add to the round trips.
        let link = Profile::plain(200e6, RTT_MS / 2.0);
        let mut moving = Moving::new(if by_client { Policy::default() } else { large() }, &link);
        if has_idle {
            moving.open_spare();
        }
        if by_client {
            moving.peer.client.destinations.ask_after(FIRST_BYTES);
        }
        moving.peer.get(0, "/2000000/png");
        // The last byte before the decision; a server decides when it sends that byte.
        let decided = moving.when(|it| it.came_bytes(0) + 1400 >= FIRST_BYTES);
        let moved = moving.when(|it| it.client.destinations.moved_bytes() > 0);
        let rtts = moved.saturating_sub(decided).as_secs_f64() * 1e3 / RTT_MS;
        assert!((rtts - expected).abs() <= 0.3, "{rtts} instead of {expected} round trips");
        moving.when(|it| it.body_bytes(0) == Some(2_000_000));
        assert!(moving.peer.resets.is_empty());
    }
}

#[test]
fn a_response_moves_as_a_whole_before_its_first_byte() {
    let mut moving = Moving::new(Policy { after_bytes: 0, ..large() }, &link());
    moving.open_spare();
    moving.peer.get(0, "/2000000/png");
    moving.when(|it| it.body_bytes(0) == Some(2_000_000));
    assert!(moving.moved_bytes() > 2_000_000, "the head moves, too: {}", moving.moved_bytes());
    assert_eq!(moving.peer.statuses[&0], "200");
}

/// Reorders one datagram in twenty, and loses one in fifty.
fn bad_link() -> Profile {
    let reorder = Some(Reorder { share: 0.05, by_ms: 5.0 });
    Profile { drops: (50..10_000).step_by(50).collect(), reorder, ..link() }
}

#[test]
fn bodies_are_whole_under_loss_and_reordering() {
    for (by_client, has_idle) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut moving =
            Moving::new(if by_client { Policy::default() } else { large() }, &bad_link());
        if has_idle {
            moving.open_spare();
        }
        if by_client {
            moving.peer.client.destinations.ask_after(FIRST_BYTES);
        }
        // The peer checks every byte.
        for stream in [0, 4, 8] {
            moving.peer.get(stream, &format!("/{}/png", 1_000_000 + stream));
        }
        moving.when(|it| it.ended.len() == 3);
        let bytes = [0, 4, 8].map(|it| moving.peer.body_bytes(it));
        assert_eq!(bytes, [Some(1_000_000), Some(1_000_004), Some(1_000_008)]);
        assert!(moving.moved_bytes() > 500_000, "{}", moving.moved_bytes());
    }
}

#[test]
fn both_ends_can_start_at_once() {
    let mut moving = Moving::new(large(), &link());
    moving.open_spare();
    moving.peer.client.destinations.ask_after(FIRST_BYTES - 20_000);
    moving.peer.get(0, "/2000000/png");
    moving.when(|it| it.body_bytes(0) == Some(2_000_000));
    assert!(moving.moved_bytes() > 1_800_000, "{}", moving.moved_bytes());
}

#[test]
fn small_responses_stay_and_a_peer_without_the_extension_notices_nothing() {
    let mut moving = Moving::new(large(), &link());
    moving.open_spare();
    moving.peer.get(0, "/400000/png");
    moving.when(|it| it.body_bytes(0) == Some(400_000));
    assert_eq!(moving.moved_bytes(), 0);

    let options = Options { migration: Some(large()), ..options("rr") };
    let mut world = World::new(options);
    let mut peer = Peer::new(&world, 0);
    world.run_ms(100, &mut [&mut peer]);
    peer.get(0, "/2000000/png");
    world.run_ms(1000, &mut [&mut peer]);
    assert_eq!(peer.body_bytes(0), Some(2_000_000));
}

#[test]
fn a_response_comes_back_if_its_new_connection_fails() {
    let mut moving = Moving::new(large(), &link());
    moving.open_spare();
    moving.peer.get(0, "/2000000/png");
    moving.peer.get(4, "/400000/png");
    moving.when(|it| it.client.destinations.moved_bytes() > 300_000);
    moving.peer.client.destinations.close(Code::NoError, "a test");
    moving.when(|it| it.ended.len() == 2);
    assert_eq!([0, 4].map(|it| moving.peer.body_bytes(it)), [Some(2_000_000), Some(400_000)]);
    assert!(moving.peer.resets.is_empty());
    assert!(moving.moved_bytes() < 1_000_000, "{}", moving.moved_bytes());
}

#[test]
fn a_cancelled_response_ends_at_its_new_connection() {
    let mut moving = Moving::new(large(), &link());
    moving.open_spare();
    moving.peer.get(0, "/20000000/png");
    moving.when(|it| it.client.destinations.moved_bytes() > 300_000);
    moving.peer.client.cancel(StreamId(0));
    moving.run_ms(1000);
    let sent = moving.world.links.take_log().len();
    moving.run_ms(1000);
    let late = moving.world.links.take_log().len();
    assert!(sent > 100 && late < 10, "{sent} datagrams, then {late}");
    moving.peer.get(4, "/1000/png");
    moving.when(|it| it.body_bytes(4) == Some(1000));
}

#[test]
fn a_pushed_response_moves_after_its_promise() {
    let site = Pushing { document: "/5000/html", push: vec!["/2000000/png".into()] };
    let options = Options { migration: Some(large()), ..options("rr") };
    let mut moving = Moving::under(options, site, &link());
    moving.open_spare();
    moving.peer.allow_pushes(1);
    moving.run_ms(100);
    moving.peer.get(0, "/5000/html");
    moving.when(|it| it.ended.len() == 2);
    assert_eq!(moving.peer.promised.len(), 1);
    assert_eq!(moving.peer.body_bytes(15), Some(2_000_000));
    assert!(moving.moved_bytes() > 1_800_000, "{}", moving.moved_bytes());
}

#[test]
fn a_client_that_breaks_the_rules_loses_its_response_and_nothing_else() {
    // What it sends, and the code with which its response ends.
    let foreign = Destination::Named(Name::first(&Secret::new(&[9; 32])));
    let table = [
        ("to a foreign connection", foreign, Kind::Start, Code::Id),
        ("to any, as only servers may", Destination::Any, Kind::Start, Code::Id),
    ];
    for (what, destination, kind, code) in table {
        let mut moving = Moving::new(Policy::default(), &link());
        moving.peer.get(0, "/2000000/png");
        moving.peer.get(4, "/400000/png");
        moving.when(|it| it.came_bytes(0) > 100_000);
        let subject = Subject::Request(StreamId(0));
        let frame = Migrate { subject, destination, offset: 0, kind, rest: Rest::Nothing };
        moving.peer.send_raw(2, &frame.to_frame(), false).expect("room");
        moving.when(|it| it.body_bytes(4) == Some(400_000));
        moving.run_ms(1500);
        assert_eq!(moving.peer.resets.get(&0), Some(&code.value()), "{what}");
        assert_eq!(moving.peer.closed_with(), None, "{what}");
    }
}

#[test]
fn a_client_that_never_answers_loses_its_response_after_ten_seconds() {
    let mut moving = Moving::new(large(), &link());
    // It hears nothing of the server's control stream.
    moving.peer.client.unread = Some(StreamId(3));
    moving.peer.get(0, "/2000000/png");
    moving.peer.get(4, "/400000/png");
    moving.when(|it| it.body_bytes(4) == Some(400_000));
    moving.run_ms(9_000);
    assert!(moving.peer.resets.is_empty());
    moving.run_ms(2_000);
    assert_eq!(moving.peer.resets.get(&0), Some(&Code::GeneralProtocol.value()));
    moving.peer.get(8, "/1000/png");
    moving.when(|it| it.body_bytes(8) == Some(1000));
}

#[test]
fn a_frame_of_another_layout_closes_the_connection() {
    let mut moving = Moving::new(large(), &link());
    let frame = http3::whole_frame(MIGRATE, &[0; 3]);
    moving.peer.send_raw(2, &frame, false).expect("room");
    moving.run_ms(200);
    assert_eq!(moving.peer.closed_with(), Some(Code::Frame.value()));
}

#[test]
fn a_priority_moves_along_and_a_later_one_follows() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        migration: Some(large()),
        signals: SignalUse::Obey,
        qlog_dir: Some(folder.path().to_owned()),
        ..options("rfc9218")
    };
    let mut moving = Moving::under(options, Bodies, &link());
    moving.open_spare();
    moving.peer.get_with(0, "/2000000/png", "u=5");
    moving.when(|it| it.client.destinations.moved_bytes() > 100_000);
    let urgent = Signal::Extensible { stream: StreamId(0), urgency: 1, incremental: true };
    moving.peer.client.connection.signal(&urgent);
    moving.when(|it| it.ended.len() == 1);
    drop(moving);
    assert_eq!(signals(folder.path(), 0), "u=5 u=1,i");
    assert_eq!(signals(folder.path(), 15), "u=5 u=1,i", "on the continuation");
}

/// The signals about a stream that schedulers received, in the log of its connection.
fn signals(folder: &Path, stream: u64) -> String {
    let mut said = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder") {
        let log = std::fs::read_to_string(file.expect("a file").path()).expect("a log");
        let calls = log.lines().filter(|it| it.contains("\"op\":\"signalled\""));
        for call in calls {
            let call: serde_json::Value =
                serde_json::from_str(call.trim_start_matches('\u{1e}')).expect("JSON");
            let (on, signal) = (&call["data"]["stream"], &call["data"]["signal"]);
            if *on == stream {
                let incremental = if signal["incremental"] == true { ",i" } else { "" };
                said.push(format!("u={}{incremental}", signal["urgency"]));
            }
        }
    }
    said.join(" ")
}

#[test]
fn the_source_stays_open_while_its_response_takes_longer_elsewhere_than_the_idle_timeout() {
    let slow = Profile { queue: Queue::Bytes(50_000), ..Profile::plain(1e6, RTT_MS / 2.0) };
    let options = Options {
        migration: Some(large()),
        limits: Limits { idle: Duration::from_secs(10), ..Limits::default() },
        ..options("rr")
    };
    let mut moving = Moving::under(options, Bodies, &slow);
    moving.open_spare();
    moving.peer.get(0, "/4000000/png");
    moving.run_ms(40_000);
    assert_eq!(moving.peer.body_bytes(0), Some(4_000_000));
    assert!(moving.moved_bytes() > 3_800_000 && moving.peer.closed_with().is_none());
}

#[test]
fn of_many_large_responses_some_move_and_all_arrive() {
    for has_spare in [true, false] {
        let mut moving = Moving::new(Policy { after_bytes: 0, ..large() }, &link());
        if has_spare {
            moving.open_spare();
        }
        for stream in (0..240).step_by(4) {
            moving.peer.get(stream, "/510000/png");
        }
        moving.run_ms(40_000);
        assert_eq!(moving.peer.closed_with(), None);
        assert_eq!(moving.peer.ended.len(), 60);
        assert_eq!(moving.peer.client.destinations.open(), 7);
    }
}

/// The connection's credit is used up, so the server's answer cannot go.
#[test]
fn an_answer_without_credit_waits_in_silence() {
    let options = Options { migration: Some(Policy::default()), ..options("rr") };
    let up = Profile::plain(1e9, RTT_MS / 2.0);
    let mut world = World::over(Links::new(&link(), &up, 0).logged(), options, Bodies);
    let config = ClientConfig {
        migration: true,
        receive_bytes: 50_000,
        stream_receive_bytes: 50_000,
        windows_grow: false,
        ..config()
    };
    let mut peer = Peer::connect(&world, ([127, 0, 0, 1], 5000).into(), &config);
    world.run_ms(300, &mut [&mut peer]);
    peer.client.unread = Some(StreamId(0));
    peer.get(0, "/2000000/png");
    world.run_ms(1000, &mut [&mut peer]);
    let subject = Subject::Request(StreamId(4));
    let secret = peer.client.connection.secret().expect("the handshake is complete");
    let destination = Destination::Named(Name::next(&secret, &secret));
    let frame = Migrate { subject, destination, offset: 0, kind: Kind::Start, rest: Rest::Nothing };
    peer.send_raw(2, &frame.to_frame(), false).expect("room");
    world.links.take_log();
    world.run_ms(2000, &mut [&mut peer]);
    let datagrams = world.links.take_log().len();
    assert!(datagrams < 10, "{datagrams} datagrams");
}
