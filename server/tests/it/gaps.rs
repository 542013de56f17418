//! The transport's data after gaps in streams is charged while it is held.

use crate::peers::{Peer, World, options};
use crate::simulation::Bodies;
use connection::{Endpoint, PIECE_BYTES};
use http3::Code;
use server::account::{Account, Charge, Ledger, Share};
use server::client::Client;
use simulator::Links;
use simulator::link::Profile;
use std::sync::Arc;

/// A client that may send many packets at once, because it has uploaded much, and what clients are charged.
fn world() -> (World, Peer, Arc<Ledger>) {
    let millisecond = Profile::plain(f64::INFINITY, 1.0);
    let links = Links::new(&millisecond, &millisecond, 0);
    let mut world = World::over(links, options("fifo"), Bodies);
    let mut peer = Peer::new(&world, 1);
    world.run_ms(50, &mut [&mut peer]);
    assert!(peer.try_post(0, "/1000/html/3600000"));
    peer.send_raw(0, &http3::data_frame_header(1_000_000), false).expect("credit");
    for _ in 0..20 {
        // As much as there is credit for.
        peer.send_raw(0, &vec![7; 20_000], false).ok();
        world.run_ms(1, &mut [&mut peer]);
    }
    world.run_ms(500, &mut [&mut peer]);
    let ledger = world.server.common().ledger;
    (world, peer, ledger)
}

/// Another account of the same client.
fn account(ledger: &Arc<Ledger>) -> Account {
    Account::new(ledger, Client::at(Some([127, 0, 0, 1].into())))
}

/// The client sends this many packets with a byte of a head each, and every second one is lost.
fn send_with_gaps(world: &mut World, peer: &mut Peer, packets: usize) {
    let head = [&[0x01, 0x5f, 0x40][..], &vec![0; packets]].concat();
    let mut buffer = vec![0; 1500];
    for (place, byte) in head.iter().take(packets).enumerate() {
        peer.client.connection.quic.stream_send(4, &[*byte], false).expect("credit");
        while let Some(sent) = peer.client.connection.transmit(&mut buffer) {
            if place % 2 == 0 {
                world.deliver(&buffer[..sent.bytes], peer.local_addr());
            }
        }
    }
}

#[test]
fn pieces_behind_gaps_are_charged_until_the_gaps_are_filled() {
    let (mut world, mut peer, ledger) = world();
    send_with_gaps(&mut world, &mut peer, 401);
    // The first can be read.
    assert_eq!(ledger.bytes(Charge::Pieces), 200 * (PIECE_BYTES + 1));
    world.run_ms(3_000, &mut [&mut peer]);
    assert_eq!((ledger.bytes(Charge::Pieces), peer.closed_with()), (0, None));
}

#[test]
fn a_connection_that_is_gone_holds_no_pieces() {
    let (mut world, mut peer, ledger) = world();
    send_with_gaps(&mut world, &mut peer, 401);
    drop(peer);
    world.run_ms(60_000, &mut []);
    assert_eq!(ledger.bytes(Charge::Pieces), 0);
}

/// Others of its address hold the client's part.
#[test]
fn where_a_client_holds_its_part_a_connection_may_have_32_kib_behind_gaps() {
    for (packets, expected) in [(241, None), (401, Some(Code::ExcessiveLoad))] {
        let (mut world, mut peer, ledger) = world();
        let others = account(&ledger);
        let held: Vec<Share> =
            std::iter::from_fn(|| others.hold(Charge::Pieces, 512 << 10)).collect();
        assert_eq!((held.len(), ledger.bytes(Charge::Pieces)), (48, 24 << 20));
        send_with_gaps(&mut world, &mut peer, packets);
        world.run_ms(50, &mut [&mut peer]);
        assert_eq!(peer.closed_with().and_then(Code::of), expected, "{packets}");
        assert_eq!(ledger.bytes(Charge::Pieces), 24 << 20, "no more for all");
    }
}
