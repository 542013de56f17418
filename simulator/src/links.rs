//! The two directions of a network, shared by all clients of a server.

use crate::link::{Link, LinkLogEntry, Profile, Way};
use std::net::SocketAddr;

/// Two links.
#[derive(Debug)]
pub struct Links {
    pub(crate) down: Link<Datagram>,
    pub(crate) up: Link<Datagram>,
    /// The seed of these links, and of the endpoints' transports.
    pub(crate) seed: u64,
    delivered: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Datagram {
    /// The client that sent it or will receive it.
    pub(crate) client: SocketAddr,
    pub(crate) bytes: Vec<u8>,
}

impl AsMut<[u8]> for Datagram {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Links {
    /// Empty links. The same seed gives the same links.
    pub fn new(down: &Profile, up: &Profile, seed: u64) -> Self {
        Self {
            down: Link::new(down, Way::Down, seed),
            up: Link::new(up, Way::Up, seed),
            seed,
            delivered: 0,
        }
    }

    /// Links over which everything arrives at once.
    pub fn immediate() -> Self {
        let profile = Profile::plain(f64::INFINITY, 0.0);
        Self::new(&profile, &profile, 0)
    }

    /// The same links with a log of every datagram.
    #[must_use]
    pub fn logged(self) -> Self {
        Self { down: self.down.logged(), up: self.up.logged(), ..self }
    }

    /// The fates of the datagrams since the last call: first to clients, then to the server.
    pub fn take_log(&mut self) -> Vec<LinkLogEntry> {
        let mut log = self.down.take_log();
        log.extend(self.up.take_log());
        log
    }

    /// Datagrams that arrived at either end.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The next datagram that has arrived by `now_ns`, to a client first.
    pub(crate) fn arrival(&mut self, way: Way, now_ns: u64) -> Option<Datagram> {
        let link = if way == Way::Down { &mut self.down } else { &mut self.up };
        let datagram = link.arrival(now_ns)?;
        self.delivered += 1;
        Some(datagram)
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        [self.down.next_ns(), self.up.next_ns()].into_iter().flatten().min()
    }
}
