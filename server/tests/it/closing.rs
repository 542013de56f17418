//! A client that leaves before it knows that its handshake is confirmed.

use crate::peers::{Peer, World, options};
use connection::{Endpoint, Path, Transmit};
use http3::Code;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// It receives nothing from the end of its handshake on, and leaves when its next timer fires. Then it receives
/// again.
struct Leaving {
    peer: Peer,
    has_left: bool,
    datagrams_after: usize,
}

impl Leaving {
    fn has_gone(&self) -> bool {
        self.peer.client.connection.is_over()
    }
}

impl Endpoint for Leaving {
    fn local_addr(&self) -> SocketAddr {
        self.peer.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        if self.has_left || !self.peer.is_established() {
            self.peer.receive(datagram, path, now);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        let transmit = self.peer.transmit(now, out)?;
        self.datagrams_after += usize::from(self.has_left);
        assert!(self.datagrams_after < 100, "datagrams without end");
        Some(transmit)
    }

    fn on_timeout(&mut self, now: Instant) {
        let is_due = self.peer.next_timeout().is_some_and(|it| it <= now);
        self.peer.on_timeout(now);
        if is_due && self.peer.is_established() && !self.has_left {
            self.peer.client.connection.close(Code::NoError, "");
            self.has_left = true;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.peer.next_timeout()
    }
}

#[test]
fn a_client_that_owes_probes_of_the_handshake_leaves_with_few_datagrams_and_the_server_learns_it() {
    let mut world = World::new(options("rr"));
    let peer = Peer::new(&world, 1);
    let mut client = Leaving { peer, has_left: false, datagrams_after: 0 };
    world.run_for(Duration::from_secs(2), &mut [&mut client]);
    assert!(client.has_left && client.has_gone());
    assert!((1..=4).contains(&client.datagrams_after), "{}", client.datagrams_after);
    assert_eq!(world.server.connections(), 0);
}
