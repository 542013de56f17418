//! The sizes of datagrams over paths that carry more or less.

use crate::peers::{Peer, World, options};
use connection::{Endpoint, Path, Transmit};
use server::Options;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A client behind a path that carries datagrams up to some size. It records the sizes of those that arrive.
struct Narrow {
    peer: Peer,
    most: usize,
    came: Vec<usize>,
}

impl Narrow {
    fn new(world: &World, most: usize) -> Self {
        Self { peer: Peer::new(world, 1), most, came: Vec::new() }
    }
}

impl Endpoint for Narrow {
    fn local_addr(&self) -> SocketAddr {
        self.peer.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        if datagram.len() <= self.most {
            self.came.push(datagram.len());
            self.peer.receive(datagram, path, now);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.peer.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.peer.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.peer.next_timeout()
    }
}

/// The sizes of the datagrams of a response, after the path was probed for `probing_ms`.
fn sizes(options: Options, most: usize, probing_ms: u64, path: &str) -> Vec<usize> {
    let mut world = World::new(options);
    let mut client = Narrow::new(&world, most);
    world.run_for(Duration::from_millis(probing_ms), &mut [&mut client]);
    client.came.clear();
    client.peer.get(0, path);
    world.run_for(Duration::from_secs(20), &mut [&mut client]);
    assert_eq!(client.peer.statuses.get(&0).map(String::as_str), Some("200"));
    let bytes = path.split('/').nth(1).and_then(|it| it.parse().ok());
    assert_eq!(client.peer.body_bytes(0), bytes);
    client.came
}

fn longest(sizes: &[usize]) -> usize {
    sizes.iter().copied().max().unwrap_or_default()
}

fn over_networks() -> Options {
    options("fifo").over_networks()
}

#[test]
fn a_path_is_asked_for_what_it_carries() {
    assert_eq!(longest(&sizes(over_networks(), 1500, 1_000, "/100000/png")), 1452);
}

#[test]
fn a_narrow_path_is_found_out_and_loses_nothing_but_probes() {
    let sizes_over = |most| sizes(over_networks(), most, 10, "/3000000/png");
    let narrow = longest(&sizes_over(1300));
    assert!((1290..=1300).contains(&narrow), "{narrow}");
    assert_eq!(longest(&sizes_over(1200)), 1200);
}

#[test]
fn without_probes_datagrams_have_the_size_that_was_set() {
    let sizes = sizes(options("fifo"), 1500, 1_000, "/100000/png");
    assert!((1340..=1350).contains(&longest(&sizes)), "{}", longest(&sizes));
}

#[test]
fn the_datagrams_of_a_response_are_equally_long_so_that_they_travel_as_one_batch() {
    // The first one after an arrival carries an acknowledgement, or has room for one. The last one carries the rest.
    let sizes = sizes(over_networks(), 1500, 1_000, "/30000/png");
    let data: Vec<usize> = sizes.iter().copied().filter(|it| *it > 300).collect();
    let shapes: Vec<String> = data
        .chunk_by(|one, next| one == next)
        .map(|run| format!("{} x {}", run.len(), run[0]))
        .collect();
    assert_eq!(shapes.join(", "), "1 x 1440, 9 x 1449, 1 x 1435, 10 x 1449, 1 x 521");
}
