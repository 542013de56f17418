//! Servers that share an address.

use crate::peers::{Peer, config, options};
use crate::rebinding::{Rebound, at};
use crate::simulation::{Bodies, Link};
use connection::{Endpoint, Path, Transmit};
use server::{Identity, Limits, Options, Server};
use simulator::World;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Two servers. The system gives them clients by the numbers of their ports: even ones to the first.
struct Two([Server; 2]);

impl Two {
    fn new(options: &Options) -> Self {
        let identity = Identity::self_signed().expect("a certificate");
        let address: SocketAddr = ([127, 0, 0, 1], 4433).into();
        let servers = Server::shards(&[address; 2], None, &identity, Bodies, options);
        let servers: Result<[Server; 2], _> = servers.expect("servers").try_into();
        Self(servers.unwrap_or_else(|it| panic!("{} servers", it.len())))
    }

    fn connections(&self) -> [usize; 2] {
        self.0.each_ref().map(Server::connections)
    }
}

impl Endpoint for Two {
    fn local_addr(&self) -> SocketAddr {
        self.0[0].local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.0[usize::from(path.peer.port() % 2)].receive(datagram, path, now);
        for server in &mut self.0 {
            server.on_arrivals(now);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.0.iter_mut().find_map(|it| it.transmit(now, out))
    }

    fn on_timeout(&mut self, now: Instant) {
        for server in &mut self.0 {
            server.on_timeout(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.iter().filter_map(Server::next_timeout).min()
    }
}

#[test]
fn a_download_goes_on_when_a_change_of_address_brings_its_client_to_another_shard() {
    let limits = Limits { addresses: 32, ..Limits::default() };
    let mut world =
        World::new(Two::new(&Options { limits, ..options("fifo") }), Link::CABLE.links());
    let peer = Peer::begin(at(0), &config(), world.now());
    let mut client = Rebound::new(peer);
    while !client.peer.is_established() {
        assert!(world.step(&mut [&mut client], None), "a handshake");
    }
    client.peer.get(0, "/2000000/png");
    for number in 1..=3 {
        world.run_for(Duration::from_millis(200), &mut [&mut client]);
        assert_eq!(client.peer.body_bytes(0), None, "the download is not complete");
        client.address = at(number);
        client.peer.client.connection.quic.send_ack_eliciting().expect("a path");
    }
    world.run_for(Duration::from_secs(10), &mut [&mut client]);
    assert_eq!(client.peer.body_bytes(0), Some(2_000_000));
    assert_eq!(world.server.connections(), [1, 0]);
}

#[test]
fn limits_on_connections_hold_for_all_shards_together() {
    let limits =
        Limits { connections_per_network: 3, idle: Duration::from_secs(30), ..Limits::default() };
    let links = Link::CABLE.links();
    let mut world = World::new(Two::new(&Options { limits, ..options("fifo") }), links);
    let mut come = |number| {
        let mut peer = Peer::begin(at(number), &config(), world.now());
        world.run_for(Duration::from_millis(500), &mut [&mut peer]);
        let is_in = peer.client.connection.is_connected() && !peer.client.connection.is_over();
        (is_in, world.server.connections())
    };
    assert_eq!(come(0), (true, [1, 0]));
    assert_eq!(come(1), (true, [1, 1]));
    assert_eq!(come(3), (true, [1, 2]));
    assert_eq!(come(2), (false, [1, 2]));
    assert_eq!(come(5), (false, [1, 2]));
}
