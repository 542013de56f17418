//! A server that takes a random time to process each arriving datagram.
//!
//! Everything else is exact in virtual time. A download's next packets would always join a full queue at the very moment
//! when one of its own packets left, and packets of a later client would always find it full. Floyd and Jacobson describe
//! this effect (Traffic phase effects in packet-switched gateways, 1991) and its remedy: random processing times up to a
//! packet's transmission time at the bottleneck.

use crate::network::Network;
use connection::{Endpoint, Path, Transmit};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use server::Server;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const PACKET_BITS: f64 = 12_000.0;

/// The random stream of this server, apart from the links' and the flows'.
const CHANCE: u64 = 1001;

pub(super) struct BusyServer {
    server: Server,
    longest_ns: f64,
    chance: ChaCha8Rng,
    /// Datagrams being processed, and when each is done, in order.
    waiting: VecDeque<(Instant, Vec<u8>, Path)>,
}

impl BusyServer {
    /// `server` behind the bottleneck of `network`. The same seed gives the same times.
    pub(super) fn new(server: Server, network: &Network, seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        chance.set_stream(CHANCE);
        let longest_ns = PACKET_BITS / network.down.rate.mean() * 1e9;
        Self { server, longest_ns, chance, waiting: VecDeque::new() }
    }
}

impl Endpoint for BusyServer {
    fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        let share = f64::from(self.chance.next_u32()) / f64::from(u32::MAX);
        let done = now + Duration::from_nanos((share * self.longest_ns) as u64);
        let done = self.waiting.back().map_or(done, |it| it.0.max(done));
        self.waiting.push_back((done, datagram.to_vec(), path));
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.server.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        while self.waiting.front().is_some_and(|(done, ..)| *done <= now) {
            let Some((_, mut datagram, path)) = self.waiting.pop_front() else { break };
            self.server.receive(&mut datagram, path, now);
        }
        self.server.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let done = self.waiting.front().map(|it| it.0);
        self.server.next_timeout().into_iter().chain(done).min()
    }
}
