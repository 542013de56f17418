//! Retry under load: clients prove their addresses before the server keeps anything for them.

use crate::peers::{Peer, World, limits, options};
use connection::{Endpoint, Path};
use server::{Limits, Options};
use std::net::SocketAddr;

/// How many incomplete handshakes the server takes.
const HANDSHAKES: usize = 4;

fn world() -> World {
    let limits = Limits { handshakes: HANDSHAKES, ..limits() };
    World::new(Options { limits, ..options("fifo") })
}

fn elsewhere(number: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 9], number))
}

/// First datagrams of clients that never answer.
fn flood(world: &mut World, count: u16) {
    for number in 0..count {
        let first = Peer::new(world, 100).first_datagram(world);
        world.deliver(&first, elsewhere(number + 1));
    }
}

/// What a client sends after the server's Retry packet.
fn datagram_with_token(world: &mut World, peer: &mut Peer) -> Vec<u8> {
    let first = peer.first_datagram(world);
    let (now, address) = (world.now(), peer.local_addr());
    let server = world.server.local_addr();
    world.server.receive(&mut first.clone(), Path { local: server, peer: address }, now);
    let mut buffer = vec![0; 65_536];
    let transmit = world.server.transmit(now, &mut buffer).expect("a Retry packet");
    assert_eq!(transmit.path, Path { local: server, peer: address });
    peer.receive(&mut buffer[..transmit.bytes], Path { local: address, peer: server }, now);
    let again = peer.first_datagram(world);
    assert_ne!(again, first);
    again
}

#[test]
fn a_flood_of_first_datagrams_leaves_no_more_than_the_limit_and_a_client_still_gets_through() {
    let mut world = world();
    flood(&mut world, 100);
    assert_eq!(world.server.connections(), HANDSHAKES);
    assert_eq!(world.server.routes(), 2 * HANDSHAKES);
    let mut good = Peer::new(&world, 1);
    world.run_ms(50, &mut [&mut good]);
    assert_eq!(world.server.connections(), HANDSHAKES + 1);
    good.get(0, "/50000/png");
    world.run_ms(1_000, &mut [&mut good]);
    assert_eq!(good.body_bytes(0), Some(50_000));
}

#[test]
fn without_load_a_client_need_not_prove_anything() {
    let mut world = world();
    for number in 0..20 {
        let mut peer = Peer::new(&world, number);
        world.run_ms(10, &mut [&mut peer]);
    }
    assert_eq!(world.server.connections(), 20, "complete handshakes do not count");
    let first = Peer::new(&world, 50).first_datagram(&world);
    world.deliver(&first, elsewhere(1));
    assert_eq!(world.server.connections(), 21);
}

#[test]
fn a_token_that_is_forged_late_or_from_another_address_makes_no_connection() {
    let mut world = world();
    flood(&mut world, 4);
    world.run_ms(1, &mut []);
    let mut peer = Peer::new(&world, 1);
    let address = peer.local_addr();
    let good = datagram_with_token(&mut world, &mut peer);
    // The token follows the IDs of 16 bytes, and has a length of two bytes.
    let token = 1 + 4 + 1 + 16 + 1 + usize::from(good[22]) + 2;
    let mut forged = good.clone();
    forged[token + 20] ^= 1;
    world.deliver(&forged, address);
    world.deliver(&good, elsewhere(77));
    assert_eq!(world.server.connections(), HANDSHAKES);
    world.deliver(&good, address);
    assert_eq!(world.server.connections(), HANDSHAKES + 1);
    world.run_ms(1, &mut []);
    let mut late = Peer::new(&world, 2);
    let datagram = datagram_with_token(&mut world, &mut late);
    world.run_ms(10_000, &mut []);
    world.deliver(&datagram, late.local_addr());
    assert_eq!(world.server.connections(), HANDSHAKES + 1);
}
