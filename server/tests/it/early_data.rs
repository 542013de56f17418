//! Requests in early data (0-RTT; RFC 8470).

use crate::peers::{Peer, World, options};
use connection::Endpoint;
use server::Options;

/// A server, and what it gave a client for its return.
fn world(early_data: bool) -> (World, Vec<u8>) {
    let mut world = World::new(Options { early_data, ..options("fifo") });
    let mut first = Peer::new(&world, 1);
    world.run_ms(50, &mut [&mut first]);
    let session = first.session();
    (world, session)
}

/// What a returning client gets for a request in its first flight, and whether that was before the handshake was
/// complete.
fn answer(early_data: bool, method: &str) -> (Option<String>, Option<u64>) {
    let (mut world, session) = world(early_data);
    let mut second = Peer::returning(&world, 2, &session);
    let hello = second.first_datagram(&world);
    assert!(second.request(0, method, "/100/html", true));
    world.deliver(&hello, second.local_addr());
    world.run_ms(50, &mut [&mut second]);
    (second.statuses.get(&0).cloned(), second.body_bytes(0))
}

#[test]
fn a_safe_request_in_early_data_is_answered() {
    assert_eq!(answer(true, "GET"), (Some("200".into()), Some(100)));
}

/// RFC 9114, 10.9. Client: sends an unsafe request in early data. Server: status 425.
#[test]
fn a_request_that_does_something_is_told_to_come_again_8470_5_2() {
    for method in ["POST", "PUT", "DELETE", "PATCH", "get"] {
        assert_eq!(answer(true, method), (Some("425".into()), Some(0)), "{method}");
    }
}

#[test]
fn by_default_there_is_no_early_data_and_a_request_waits_for_the_handshake() {
    assert_eq!(answer(false, "GET"), (Some("200".into()), Some(100)));
    assert_eq!(answer(false, "POST"), (Some("200".into()), Some(100)));
}

#[test]
fn after_the_handshake_any_method_is_the_sites_business() {
    let (mut world, session) = world(true);
    let mut second = Peer::returning(&world, 2, &session);
    world.run_ms(50, &mut [&mut second]);
    assert!(second.request(0, "POST", "/100/html", true));
    world.run_ms(50, &mut [&mut second]);
    assert_eq!(second.statuses.get(&0).map(String::as_str), Some("200"));
}
