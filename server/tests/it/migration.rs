//! Responses that move from one connection of a client to another while they are being sent.

use crate::peers::{Peer, World, config, options};
use connection::ClientConfig;
use migration::{Policy, SizeRule};
use server::Options;
use simulator::Links;
use simulator::link::{Profile, Queue};
use std::time::Duration;

const RTT_MS: f64 = 50.0;
/// Bytes of a response that stay at the source in these tests.
const FIRST_BYTES: u64 = 100_000;

/// A client that can move responses.
struct Moving {
    world: World,
    peer: Peer,
}

impl Moving {
    fn new(policy: Policy, down: Profile) -> Self {
        let options = Options { migration: Some(policy), ..options("rr") };
        let up = Profile::plain(1e9, RTT_MS / 2.0);
        let world = World::over(Links::new(&down, &up, 0), options, crate::simulation::Bodies);
        let config = ClientConfig {
            migration: true,
            receive_bytes: 100_000_000,
            stream_receive_bytes: 10_000_000,
            ..config()
        };
        let peer = Peer::connect(&world, ([127, 0, 0, 1], 5000).into(), &config);
        let mut moving = Self { world, peer };
        moving.run_ms(300);
        assert!(moving.peer.client.destinations.is_agreed());
        moving
    }

    fn run_ms(&mut self, ms: u64) {
        self.world.run_ms(ms, &mut [&mut self.peer]);
    }

    fn open_spare(&mut self) {
        let now = self.world.now();
        self.peer.client.destinations.open_spare(&self.peer.client.connection, now);
        self.run_ms(300);
        assert_eq!(self.peer.client.destinations.open(), 1);
    }

    /// The virtual time at which `is_so`.
    fn when(&mut self, is_so: impl Fn(&Peer) -> bool) -> Duration {
        for _ in 0..20_000 {
            if is_so(&self.peer) {
                return self.world.elapsed();
            }
            self.world.run_for(Duration::from_micros(500), &mut [&mut self.peer]);
        }
        panic!("it does not happen: {:?}", self.peer);
    }

    fn moved_bytes(&self) -> u64 {
        self.peer.client.destinations.moved_bytes()
    }
}

fn link() -> Profile {
    Profile { queue: Queue::Bytes(125_000), ..Profile::plain(10e6, RTT_MS / 2.0) }
}

/// Moves everything above 500,000 bytes, after its first bytes.
fn large() -> Policy {
    let size = Some(SizeRule { above_bytes: 500_000, beside: 0 });
    Policy { size, after_bytes: FIRST_BYTES, ..Policy::default() }
}

#[test]
fn the_four_ways_to_move_take_0_1_2_and_2_round_trips() {
    // Whether the client starts, whether a connection is idle, round trips.
    for (by_client, has_idle, expected) in
        [(false, true, 0.0), (true, true, 1.0), (false, false, 2.0), (true, false, 2.0)]
    {
        // No queue forms, which would add to the round trips.
        let link = Profile::plain(200e6, RTT_MS / 2.0);
        let mut moving = Moving::new(if by_client { Policy::default() } else { large() }, link);
        if has_idle {
            moving.open_spare();
        }
        if by_client {
            moving.peer.client.destinations.ask_after(FIRST_BYTES);
        }
        moving.peer.get(0, "/2000000/png");
        // The last byte before the decision; a server decides when it sends that byte.
        let decided = moving.when(|it| it.came_bytes(0) + 1400 >= FIRST_BYTES);
        let moved = moving.when(|it| it.client.destinations.moved_bytes() > 0);
        let rtts = (moved - decided).as_secs_f64() * 1e3 / RTT_MS;
        assert!((rtts - expected).abs() <= 0.3, "{rtts} instead of {expected} round trips");
        moving.when(|it| it.body_bytes(0) == Some(2_000_000));
        assert!(moving.peer.resets.is_empty());
    }
}

#[test]
fn a_response_moves_as_a_whole_before_its_first_byte() {
    let mut moving = Moving::new(Policy { after_bytes: 0, ..large() }, link());
    moving.open_spare();
    moving.peer.get(0, "/2000000/png");
    moving.when(|it| it.body_bytes(0) == Some(2_000_000));
    assert!(moving.moved_bytes() > 2_000_000, "the head moves, too: {}", moving.moved_bytes());
    assert_eq!(moving.peer.statuses[&0], "200");
}
