//! Requests and responses that a client keeps open without progress.

use crate::peers::{Peer, World, config, limits, options};
use connection::ClientConfig;
use http3::Code;
use server::Options;
use std::net::SocketAddr;

fn world() -> World {
    World::new(Options { limits: limits(), ..options("fifo") })
}

/// A client that gives each stream this much credit at first.
fn client(world: &World, stream_receive_bytes: u64) -> Peer {
    let address = SocketAddr::from(([127, 0, 0, 1], 6000));
    let config = ClientConfig { stream_receive_bytes, windows_grow: false, ..config() };
    Peer::connect(world, address, &config)
}

/// Lets seconds pass, in which the client sends a packet per second.
fn run_s(world: &mut World, seconds: u64, peers: &mut [&mut Peer]) {
    for _ in 0..seconds {
        for peer in peers.iter_mut() {
            peer.client.connection.quic.send_ack_eliciting().expect("open");
        }
        world.run_ms(1_000, peers);
    }
}

fn reset(peer: &Peer, stream: u64) -> Option<Code> {
    peer.resets.get(&stream).copied().and_then(Code::of)
}

#[test]
fn a_response_that_nobody_takes_is_given_up_after_a_minute() {
    let mut world = world();
    let (mut bad, mut good) = (client(&world, 1), Peer::new(&world, 1));
    world.run_ms(10, &mut [&mut bad, &mut good]);
    bad.client.unread = Some(http3::StreamId(0));
    bad.get(0, "/5000000/png");
    good.get(0, "/5000/html");
    run_s(&mut world, 55, &mut [&mut bad, &mut good]);
    assert_eq!(world.server.responses(), 1, "it is not overdue");
    run_s(&mut world, 20, &mut [&mut bad, &mut good]);
    assert_eq!(world.server.responses(), 0, "it is overdue");
    bad.client.unread = None;
    run_s(&mut world, 1, &mut [&mut bad, &mut good]);
    assert_eq!(reset(&bad, 0), Some(Code::RequestCancelled));
    assert_eq!(good.body_bytes(0), Some(5_000));
    assert_eq!(bad.closed_with(), None);
}

#[test]
fn a_client_that_takes_its_time_gets_its_response() {
    let mut world = world();
    let mut slow = client(&world, 20_000);
    world.run_ms(10, &mut [&mut slow]);
    slow.get(0, "/90000/png");
    // It reads 20 kB each 50 seconds.
    for _ in 0..5 {
        slow.client.unread = Some(http3::StreamId(0));
        run_s(&mut world, 49, &mut [&mut slow]);
        slow.client.unread = None;
        run_s(&mut world, 1, &mut [&mut slow]);
    }
    assert_eq!(slow.body_bytes(0), Some(90_000));
}

#[test]
fn a_response_that_is_not_made_yet_is_awaited() {
    let mut world = world();
    let mut peer = client(&world, 100_000);
    world.run_ms(10, &mut [&mut peer]);
    peer.get(0, "/1000/png/300000");
    run_s(&mut world, 301, &mut [&mut peer]);
    assert_eq!((reset(&peer, 0), peer.body_bytes(0)), (None, Some(1_000)));
}

#[test]
fn a_request_whose_head_does_not_come_is_given_up_after_ten_seconds() {
    let mut world = world();
    let (mut bad, mut good) = (Peer::new(&world, 2), Peer::new(&world, 1));
    world.run_ms(10, &mut [&mut bad, &mut good]);
    // HEADERS of 16,000 bytes, of which one comes each second.
    bad.send_raw(0, &[0x01, 0x7e, 0x80], false).expect("open");
    for _ in 0..9 {
        run_s(&mut world, 1, &mut [&mut bad, &mut good]);
        bad.send_raw(0, &[0], false).expect("not stopped");
    }
    run_s(&mut world, 10, &mut [&mut bad, &mut good]);
    assert_eq!(reset(&bad, 0), Some(Code::RequestIncomplete));
    assert!(bad.send_raw(0, &[0], false).is_err(), "nor is the rest of it taken");
    bad.get(4, "/1000/html");
    run_s(&mut world, 1, &mut [&mut bad, &mut good]);
    assert_eq!(bad.body_bytes(4), Some(1_000), "its other requests are answered");
}
