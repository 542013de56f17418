//! The addresses that datagrams come from and go out from.

use crate::peers::{Peer, World, options};
use crate::simulation::Bodies;
use connection::{Endpoint, Path};
use server::event_loop::EventLoop;
use server::{Identity, Limits, Server};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

fn address(last: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, last], port))
}

#[test]
fn a_connection_answers_from_the_address_that_the_client_asked() {
    let mut world = World::new(options("fifo"));
    let first = Peer::new(&world, 1).first_datagram(&world);
    let path = Path { local: address(2, 4433), peer: address(1, 5001) };
    let now = world.now();
    world.server.receive(&mut first.clone(), path, now);
    let mut buffer = vec![0; 65_536];
    let answer = world.server.transmit(now, &mut buffer).map(|it| it.path);
    assert_eq!(answer, Some(path));
}

/// RFC 768: port 0 says that the sender expects no answer. The system refuses to send there.
#[test]
fn a_datagram_from_port_0_leaves_nothing_behind() {
    let mut world = World::new(options("fifo"));
    let first = Peer::new(&world, 1).first_datagram(&world);
    world.deliver(&first, address(9, 0));
    assert_eq!(world.server.connections(), 0);
    assert_eq!(world.replies(address(9, 0)), 0);
}

/// The first datagram of a client with its own version.
fn unknown_version() -> Vec<u8> {
    let mut datagram = vec![0; 1200];
    datagram[0] = 0xc0;
    datagram[1..5].copy_from_slice(&[0x1a, 0x2a, 0x3a, 0x4a]);
    (datagram[5], datagram[14]) = (8, 8);
    datagram
}

/// On sockets: a client that has connected its socket hears only the address that it asked.
#[test]
fn a_server_at_all_addresses_answers_from_the_one_that_was_asked() {
    let mut event_loop = EventLoop::bind("0.0.0.0:0".parse().expect("an address")).expect("a port");
    let bound = event_loop.local_addr().expect("bound");
    let identity = Identity::self_signed().expect("a certificate");
    let limits = Limits { drain: Duration::ZERO, ..Limits::default() };
    let options = server::Options { limits, ..options("fifo") };
    let mut server = Server::new(bound, &identity, Bodies, options).expect("a server");
    let stop = event_loop.stopper();
    let serving = std::thread::spawn(move || event_loop.run(&mut server).expect("no error"));
    let asks = |last| {
        let client = UdpSocket::bind(address(1, 0)).expect("a port");
        client.connect(address(last, bound.port())).expect("an address");
        client.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        client.send(&unknown_version()).expect("room");
        let mut answer = [0; 100];
        let bytes = client.recv(&mut answer).expect("an answer from the address that was asked");
        // Version 0: a Version Negotiation packet (RFC 9000, 17.2.1).
        (answer[1..5].to_vec(), bytes)
    };
    let (first, second) = (asks(1), asks(2));
    stop.stop();
    serving.join().expect("an end");
    assert_eq!(first.0, [0; 4]);
    assert_eq!(first, second);
}
