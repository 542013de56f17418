//! Connections that are ordered as one, and clients that are not admitted.

use crate::peers::{Peer, World, limits, options};
use connection::Endpoint;
use http3::Settings;
use server::{Experiments, Options, Pace};
use std::net::SocketAddr;
use std::time::Duration;

const GROUP: u64 = 0x1234_5678_9abc;

fn grouped(group: u64) -> Settings {
    Settings { connection_group: Some(group), ..Settings::default() }
}

fn world(group_connections: usize) -> World {
    let experiments = Experiments { group_connections, ..Experiments::default() };
    // The links of a world are without limit, so each connection sends one packet a millisecond.
    let pace = Pace { packet_bytes: 1400, interval: Duration::from_millis(1) };
    World::new(Options { experiments, limits: limits(), ..options("fifo") }.paced(pace))
}

/// The first connection requests a large file, then the second a small one. Returns whether the large
/// one was complete when the small one arrived.
fn waits_for_the_first(world: &mut World, first: &mut Peer, second: &mut Peer) -> bool {
    world.run_ms(20, &mut [first, second]);
    first.get(0, "/500000/png");
    world.run_ms(1, &mut [first, second]);
    second.get(0, "/50000/png");
    for _ in 0..3_000 {
        world.run_ms(1, &mut [first, second]);
        if second.body_bytes(0).is_some() {
            break;
        }
    }
    assert_eq!(second.body_bytes(0), Some(50_000));
    let waited = first.body_bytes(0).is_some();
    world.run_ms(10_000, &mut [first, second]);
    assert_eq!(first.body_bytes(0), Some(500_000));
    waited
}

#[test]
fn connections_of_one_group_send_in_one_order() {
    let mut world = world(6);
    let mut first = Peer::with_settings(&world, 1, grouped(GROUP));
    let mut second = Peer::with_settings(&world, 2, grouped(GROUP));
    assert!(waits_for_the_first(&mut world, &mut first, &mut second));
}

#[test]
fn connections_that_name_no_group_or_another_one_do_not_wait_for_each_other() {
    for settings in [Settings::default(), grouped(GROUP + 1), grouped(7)] {
        let mut world = world(6);
        let mut first = Peer::with_settings(&world, 1, grouped(GROUP));
        let mut second = Peer::with_settings(&world, 2, settings);
        assert!(!waits_for_the_first(&mut world, &mut first, &mut second));
    }
}

#[test]
fn who_knows_the_name_of_a_group_but_has_another_address_is_not_in_it() {
    let mut world = world(6);
    let mut first = Peer::with_settings(&world, 1, grouped(GROUP));
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], 5002));
    let mut second = Peer::at(&world, elsewhere, grouped(GROUP));
    assert!(!waits_for_the_first(&mut world, &mut first, &mut second));
}

#[test]
fn a_group_takes_no_more_connections_than_its_limit() {
    for group_connections in [0, 1] {
        let mut world = world(group_connections);
        let mut first = Peer::with_settings(&world, 1, grouped(GROUP));
        let mut second = Peer::with_settings(&world, 2, grouped(GROUP));
        assert!(!waits_for_the_first(&mut world, &mut first, &mut second));
    }
}

#[test]
fn a_connection_that_vanishes_holds_the_others_of_its_group_back_for_a_moment_only() {
    let mut world = world(6);
    let mut first = Peer::with_settings(&world, 1, grouped(GROUP));
    let mut second = Peer::with_settings(&world, 2, grouped(GROUP));
    world.run_ms(20, &mut [&mut first, &mut second]);
    first.get(0, "/500000/png");
    world.run_ms(1, &mut [&mut first, &mut second]);
    drop(first);
    second.get(0, "/300000/png");
    world.run_ms(1_500, &mut [&mut second]);
    assert_eq!(second.body_bytes(0), Some(300_000));
    world.run_ms(120_000, &mut []);
    assert_eq!((world.server.connections(), world.server.next_timeout()), (0, None));
}
