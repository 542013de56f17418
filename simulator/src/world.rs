//! A server, its clients, the links between them, and the time.

use crate::limits::TIME_MAX;
use crate::link::Way;
use crate::links::{Datagram, Links};
use connection::{Endpoint, Path};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

/// A server, the links to its clients, and the time.
///
/// The thread's clock is virtual during the lifetime of the world, and transports' random numbers follow from the links'
/// seed. A thread has one world at a time, and clients are created after it. The owner of the clients passes them to each
/// call.
pub struct World<S> {
    /// The server.
    pub server: S,
    /// The links.
    pub links: Links,
    epoch: Instant,
    elapsed: Duration,
    /// Datagrams to addresses without a client.
    undelivered: BTreeMap<SocketAddr, (u64, u64)>,
    buffer: Vec<u8>,
    _virtual_time: VirtualTime,
}

/// The thread's clock when a world begins.
const START_NS: u64 = 1_000_000_000;

impl<S: Endpoint> World<S> {
    /// A world in its initial state.
    #[expect(clippy::disallowed_methods, reason = "the thread's clock is virtual")]
    pub fn new(server: S, links: Links) -> Self {
        let virtual_time = VirtualTime::start(START_NS, links.seed);
        Self {
            server,
            links,
            epoch: Instant::now(),
            elapsed: Duration::ZERO,
            undelivered: BTreeMap::new(),
            buffer: vec![0; 65_536],
            _virtual_time: virtual_time,
        }
    }

    /// Virtual time since the world began.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The present.
    pub fn now(&self) -> Instant {
        self.epoch + self.elapsed
    }

    /// Lets all endpoints send, then continues to the next event, or to `wakeup` if that is earlier.
    ///
    /// Returns `false` if nothing is left to happen, or nothing before [`TIME_MAX`].
    pub fn step(&mut self, clients: &mut [impl Endpoint], wakeup: Option<Duration>) -> bool {
        self.send(clients);
        match self.next_event(clients).into_iter().chain(wakeup).min() {
            Some(next) if next < TIME_MAX => {
                // Everything due at this moment has been done: a timer that fires and stays due must not stop the clock.
                self.advance(clients, next.max(self.elapsed + Duration::from_nanos(1)));
                true
            }
            _ => false,
        }
    }

    /// Lets `duration` pass.
    pub fn run_for(&mut self, duration: Duration, clients: &mut [impl Endpoint]) {
        let end = self.elapsed + duration;
        while self.elapsed < end && self.step(clients, Some(end)) {}
        self.send(clients);
    }

    /// Delivers a datagram to the server directly, without the links.
    pub fn deliver(&mut self, datagram: &[u8], from: SocketAddr) {
        let path = Path { local: self.server.local_addr(), peer: from };
        let now = self.now();
        self.server.receive(&mut datagram.to_vec(), path, now);
    }

    /// The number of datagrams that the server sent to an address without a client.
    pub fn undelivered(&self, to: SocketAddr) -> u64 {
        self.undelivered.get(&to).copied().unwrap_or_default().0
    }

    /// The same in bytes.
    pub fn undelivered_bytes(&self, to: SocketAddr) -> u64 {
        self.undelivered.get(&to).copied().unwrap_or_default().1
    }

    fn send(&mut self, clients: &mut [impl Endpoint]) {
        let (now, now_ns) = (self.now(), nanoseconds(self.elapsed));
        for endpoint in clients {
            let client = endpoint.local_addr();
            while let Some(transmit) = endpoint.transmit(now, &mut self.buffer) {
                for datagram in transmit.datagrams(&self.buffer) {
                    self.links.up.offer(now_ns, Datagram { client, bytes: datagram.to_vec() });
                }
            }
        }
        while let Some(transmit) = self.server.transmit(now, &mut self.buffer) {
            for datagram in transmit.datagrams(&self.buffer) {
                let datagram = Datagram { client: transmit.path.peer, bytes: datagram.to_vec() };
                self.links.down.offer(now_ns, datagram);
            }
        }
    }

    fn next_event(&self, clients: &[impl Endpoint]) -> Option<Duration> {
        let timers = clients.iter().filter_map(Endpoint::next_timeout);
        let timers = timers.chain(self.server.next_timeout());
        let timers = timers.map(|it| it.saturating_duration_since(self.epoch));
        timers.chain(self.links.next_ns().map(Duration::from_nanos)).min()
    }

    fn advance(&mut self, clients: &mut [impl Endpoint], elapsed: Duration) {
        self.elapsed = elapsed;
        let now_ns = nanoseconds(elapsed);
        virtual_clock::set_ns(START_NS + now_ns);
        let (now, server) = (self.now(), self.server.local_addr());
        while let Some(Datagram { client, mut bytes }) = self.links.arrival(Way::Down, now_ns) {
            if let Some(endpoint) = clients.iter_mut().find(|other| other.local_addr() == client) {
                let path = Path { local: client, peer: server };
                endpoint.receive(&mut bytes, path, now);
            } else {
                let (datagrams, sum_bytes) = self.undelivered.entry(client).or_default();
                *datagrams += 1;
                *sum_bytes += bytes.len() as u64;
            }
        }
        while let Some(Datagram { client, mut bytes }) = self.links.arrival(Way::Up, now_ns) {
            self.server.receive(&mut bytes, Path { local: server, peer: client }, now);
        }
        for endpoint in clients {
            endpoint.on_timeout(now);
        }
        self.server.on_timeout(now);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
