//! Who gets a connection: under load, clients prove their addresses before the server stores anything for them.

use crate::peers::{Peer, SERVER, World, limits, options};
use crate::simulation::Bodies;
use connection::{Endpoint, Path};
use http3::Settings;
use server::{Identity, Limits, Options, ResetKey, Server};
use simulator::Links;
use std::net::SocketAddr;
use std::time::Duration;

/// How many incomplete handshakes the server accepts.
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

/// quinn's first ID has 20 bytes, four more than that of our client. Limits as large as these take eight bytes more to
/// announce.
#[test]
fn what_is_announced_after_a_retry_packet_leaves_room_for_the_longest_first_id() {
    let idle = Duration::from_secs(2_000_000);
    let limits = Limits { addresses: 32, receive_bytes: 1 << 30, idle, ..limits() };
    let limits = Limits { handshakes: HANDSHAKES, ..limits };
    let reset_key = ResetKey::random();
    let mut world = World::new(Options { limits, reset_key, ..options("fifo") });
    flood(&mut world, 100);
    let mut peer = Peer::new(&world, 1);
    world.run_ms(50, &mut [&mut peer]);
    assert_eq!(world.server.connections(), HANDSHAKES + 1);
    peer.get(0, "/50000/png");
    world.run_ms(1_000, &mut [&mut peer]);
    assert_eq!(peer.body_bytes(0), Some(50_000));
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
    let limits = Limits { handshakes: HANDSHAKES, handshake: Duration::from_secs(60), ..limits() };
    let mut world = World::new(Options { limits, ..options("fifo") });
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

/// Bytes that the server sends in a minute for a first datagram, for each byte of it.
#[test]
fn a_client_that_never_answers_gets_three_times_its_bytes_at_most() {
    let limits = Limits { handshake: Duration::from_secs(60), ..limits() };
    let links = Links::immediate().logged();
    let mut world = World::over(links, Options { limits, ..options("fifo") }, Bodies);
    let first = Peer::new(&world, 1).first_datagram(&world);
    world.deliver(&first, elsewhere(1));
    world.run_ms(60_000, &mut []);
    let sent: u64 = world.links.take_log().iter().map(|it| it.bytes).sum();
    assert!(sent > 0 && sent <= 3 * first.len() as u64, "{sent} bytes for {}", first.len());
}

#[test]
fn a_handshake_that_takes_too_long_is_given_up() {
    let mut world = world();
    flood(&mut world, 3);
    world.run_ms(9_999, &mut []);
    assert_eq!(world.server.connections(), 3);
    world.run_ms(2, &mut []);
    assert_eq!((world.server.connections(), world.server.routes()), (0, 0));
}

/// `CONNECTION_REFUSED` of the transport (RFC 9000, 20.1), as `(code, is the application's)`.
const REFUSED: Option<(u64, bool)> = Some((2, false));

fn refusal(peer: &Peer) -> Option<(u64, bool)> {
    peer.client.connection.quic.peer_error().map(|it| (it.error_code, it.is_app))
}

#[test]
fn a_client_without_room_is_told_so_at_once() {
    let limits = Limits { connections: 2, ..limits() };
    let mut world = World::new(Options { limits, ..options("fifo") });
    let mut peers: Vec<Peer> = (0..3).map(|number| Peer::new(&world, number)).collect();
    for peer in &mut peers {
        world.run_ms(10, &mut [peer]);
    }
    let refusals: Vec<_> = peers.iter().map(refusal).collect();
    assert_eq!(refusals, [None, None, REFUSED]);
    assert_eq!(world.server.connections(), 2);
}

#[test]
fn a_client_of_another_protocol_is_told_at_once_9001_8_1() {
    let mut world = World::new(options("fifo"));
    let before = world.server.connections();
    let (here, now) = (SocketAddr::from(([127, 0, 0, 1], 7)), world.now());
    for protocol in ["h2", "smtp"] {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a version");
        config.set_application_protos(&[protocol.as_bytes()]).expect("a protocol");
        let id = quiche::ConnectionId::from_ref(&[7; 8]);
        let server = SocketAddr::from(SERVER);
        let mut client = quiche::connect(None, &id, here, server, &mut config).expect("a client");
        let mut buffer = [0; 1350];
        // The first message may need two datagrams.
        while let Ok((bytes, _)) = client.send(&mut buffer) {
            world.server.receive(&mut buffer[..bytes], Path { local: server, peer: here }, now);
        }
        while let Some(answer) = world.server.transmit(now, &mut buffer) {
            let info = quiche::RecvInfo { from: server, to: here };
            client.recv(&mut buffer[..answer.bytes], info).expect("read");
        }
        // `no_application_protocol`.
        assert_eq!(client.peer_error().map(|it| it.error_code), Some(0x178), "{protocol}");
    }
    world.run_ms(5_000, &mut []);
    assert_eq!(world.server.connections(), before, "they leave nothing behind");
}

#[test]
fn a_draining_server_refuses_new_clients_at_once() {
    let mut world = world();
    world.drain();
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    assert_eq!(refusal(&peer), REFUSED);
}

/// The refusal that a client at this address gets.
fn connect(world: &mut World, address: SocketAddr) -> Option<(u64, bool)> {
    let mut peer = Peer::at(world, address, Settings::default());
    world.run_ms(10, &mut [&mut peer]);
    refusal(&peer)
}

#[test]
fn one_client_leaves_room_for_others() {
    let limits = Limits { connections_per_network: 3, ..limits() };
    let mut world = World::new(Options { limits, ..options("fifo") });
    for number in 1..=3 {
        assert_eq!(connect(&mut world, elsewhere(number)), None);
    }
    assert_eq!(connect(&mut world, elsewhere(4)), REFUSED);
    assert_eq!(connect(&mut world, ([127, 0, 0, 8], 1).into()), None);
    // The idle timeout ends the first three.
    world.run_ms(60_000, &mut []);
    assert_eq!(connect(&mut world, elsewhere(5)), None);
}

#[test]
fn clients_that_shake_hands_at_once_have_no_more_than_their_share() {
    let limits = Limits { connections_per_network: 1, ..limits() };
    let mut world = World::new(Options { limits, ..options("fifo") });
    let mut peers = [1, 2].map(|it| Peer::at(&world, elsewhere(it), Settings::default()));
    let [one, other] = &mut peers;
    world.run_ms(10, &mut [one, other]);
    assert_eq!(peers.each_ref().map(refusal), [None, REFUSED]);
}

#[test]
fn clients_of_ipv4_have_shares_of_their_own_also_at_a_server_of_ipv6() {
    let limits = Limits { connections_per_network: 1, ..limits() };
    let mut world = World::new(Options { limits, ..options("fifo") });
    let refusals = ["[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1", "[::ffff:192.0.2.2]:2"]
        .map(|it| connect(&mut world, it.parse().expect("an address")));
    assert_eq!(refusals, [None, None, REFUSED]);
}

#[test]
fn a_client_of_an_earlier_run_learns_that_its_connection_is_gone() {
    let key = ResetKey::random().expect("randomness");
    let options = || Options { reset_key: Some(key.clone()), ..options("fifo") };
    let mut world = World::new(options());
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    let identity = Identity::self_signed().expect("a certificate");
    let address = world.server.local_addr();
    world.server = Server::new(address, &identity, Bodies, options()).expect("a server");
    peer.get(0, "/1/png");
    world.run_ms(10, &mut [&mut peer]);
    assert!(peer.client.connection.is_over());
}

#[test]
fn a_flood_of_unknown_packets_is_not_answered_without_limit() {
    let key = ResetKey::random();
    let mut world = World::new(Options { reset_key: key, ..options("fifo") });
    for _ in 0..1000 {
        world.deliver(&[0x40; 60], elsewhere(1));
    }
    assert_eq!(world.replies(elsewhere(1)), 100);
}
