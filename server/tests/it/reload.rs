//! A server that continues with another certificate and site, and one that ends.

use crate::peers::{Peer, World, limits, options};
use http3::Code;
use server::site::{Request, Response, Site};
use server::{Identity, Options};

struct Gone;

impl Site for Gone {
    fn respond(&self, _: &Request) -> Response {
        Response::empty(410)
    }
}

fn options_of_server() -> Options {
    Options { limits: limits(), ..options("fifo") }
}

#[test]
fn a_reload_is_for_new_connections_and_drops_none() {
    let mut world = World::new(options_of_server());
    let mut before = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut before]);
    before.get(0, "/1000/html/100");
    world.run_ms(10, &mut [&mut before]);
    let identity = Identity::self_signed().expect("a certificate");
    world.server.reload(&identity, Gone, options_of_server()).expect("reloaded");
    let mut after = Peer::new(&world, 2);
    world.run_ms(200, &mut [&mut before, &mut after]);
    before.get(4, "/2000/html");
    after.get(0, "/1000/html");
    world.run_ms(200, &mut [&mut before, &mut after]);
    assert_eq!((before.body_bytes(0), before.body_bytes(4)), (Some(1_000), Some(2_000)));
    assert_eq!(after.statuses[&0], "410");
    let certificate = |it: &Peer| it.client.connection.quic.peer_cert().map(<[u8]>::to_vec);
    assert!(certificate(&after).is_some() && certificate(&before) != certificate(&after));
}

#[test]
fn a_request_to_a_server_that_ends_is_rejected_at_once() {
    let mut world = World::new(options_of_server());
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    peer.get(0, "/1000/html/500");
    world.run_ms(10, &mut [&mut peer]);
    world.drain();
    peer.get(4, "/1000/html");
    world.run_ms(1, &mut [&mut peer]);
    let rejected = peer.resets.get(&4).copied().and_then(Code::of);
    assert_eq!((peer.goaway, rejected), (Some(4), Some(Code::RequestRejected)));
    world.run_ms(500, &mut [&mut peer]);
    assert_eq!(peer.body_bytes(0), Some(1_000), "what came before is answered");
    assert!(world.is_drained());
}

/// How long, in ms, a server drains if its client has done `what` and then nothing for five
/// seconds.
fn drains_within(what: impl Fn(&mut World, &mut Peer)) -> u64 {
    let mut world = World::new(options_of_server());
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    what(&mut world, &mut peer);
    world.run_ms(5_000, &mut [&mut peer]);
    world.drain();
    let mut ms = 0;
    while !world.is_drained() {
        world.run_ms(1, &mut [&mut peer]);
        ms += 1;
    }
    ms
}

#[test]
fn an_idle_connection_does_not_delay_the_end() {
    let nothing = drains_within(|_, _| {});
    let one = drains_within(|_, peer| peer.get(0, "/1000/html"));
    let many = drains_within(|_, peer| (0..100).for_each(|it| peer.get(it * 4, "/5000/png")));
    let cancelled = |world: &mut World, peer: &mut Peer| {
        peer.get(0, "/500000/png");
        peer.get(4, "/500000/png");
        world.run_ms(1, &mut [peer]);
        peer.stop(0);
        peer.stop(4);
    };
    let cancelled = drains_within(cancelled);
    let unread = |_: &mut World, peer: &mut Peer| {
        peer.client.unread = Some(http3::StreamId(0));
        peer.get(0, "/1000/html");
    };
    let unread = drains_within(unread);
    let uploading = |_: &mut World, peer: &mut Peer| {
        assert!(peer.try_post(0, "/1000/html"));
    };
    let uploading = drains_within(uploading);
    let half_a_head = |_: &mut World, peer: &mut Peer| {
        peer.send_raw(0, &[0x01, 0x7e, 0x80], false).expect("open");
    };
    let half_a_head = drains_within(half_a_head);
    let all = [nothing, one, many, cancelled, unread, uploading, half_a_head];
    assert_eq!(all, [1; 7]);
}
