//! RFC 9218, sections 11 and 13: what concerns a server beyond the order of one connection's responses.

use crate::peers::{Peer, World, options};
use gateway::site::{DirectorySite, RuledSite};
use http3::{Header, StreamId};
use page_site::PageSite;
use server::site::{Request, Site};
use server::{Options, Pace};
use std::time::Duration;

/// One packet per millisecond and connection, so that the order is visible.
fn paced(scheme: &str) -> Options {
    let pace = Pace { packet_bytes: 1400, interval: Duration::from_millis(1) };
    options(scheme).paced(pace)
}

fn connect_fields(more: &[(&str, &str)]) -> Vec<Header> {
    let fields = [(":method", "CONNECT"), (":authority", "a.example:443")];
    let all = fields.iter().chain(more);
    all.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect()
}

/// 11: what CONNECT would carry has a priority like a response. Here nothing is carried: no site is a proxy.
///
/// RFC 9114, 4.4. Client: sends a correct CONNECT. Server: status 405: no site is a proxy.
#[test]
fn sites_refuse_connect_with_405_and_say_what_they_take_9110_15_5_6() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = corpus::bundled("davies-meenan").expect("bundled").clone();
    let sites: [Box<dyn Site>; 2] = [
        Box::new(PageSite::new(page)),
        Box::new(DirectorySite::open(folder.path()).expect("a directory")),
    ];
    for site in sites {
        let response = site.respond(&Request::from_headers(&connect_fields(&[])));
        assert_eq!(response.status, 405);
        assert_eq!(response.fields("allow").collect::<Vec<_>>(), ["GET, HEAD"]);
        assert_eq!(response.headers.len(), 1);
    }
}

/// 11: a CONNECT that claims the highest urgency and stays open is answered, and leaves the others alone.
#[test]
fn a_refused_connect_that_stays_open_holds_nobody_back_9218_11() {
    let page = corpus::bundled("davies-meenan").expect("bundled").clone();
    let document = page.resources[0].clone();
    let mut world = World::of(paced("rfc9218"), RuledSite::of(PageSite::new(page)));
    let mut peer = Peer::new(&world, 1);
    peer.takes_any_body = true;
    world.run_ms(20, &mut [&mut peer]);
    let fields = connect_fields(&[("priority", "u=0, i")]);
    let sent = peer.client.connection.request(StreamId(0), &fields, false);
    assert_eq!(sent, Ok(true));
    peer.get(4, &document.url);
    world.run_ms(1000, &mut [&mut peer]);
    assert_eq!(peer.statuses, [(0, "405".to_owned()), (4, "200".to_owned())].into());
    assert_eq!((peer.body_bytes(0), peer.body_bytes(4)), (Some(0), Some(document.bytes)));
    assert_eq!(peer.closed_with(), None);
}

/// 11, RFC 8441 and 9220: extended CONNECT is used only where the server's settings offer it; ours do not.
///
/// RFC 9218, 11. Client: sends an extended CONNECT that was not offered. Server: `H3_MESSAGE_ERROR` on the stream.
#[test]
fn an_extended_connect_that_was_not_offered_is_a_malformed_message_9220_3() {
    let mut world = World::new(paced("rfc9218"));
    let mut peer = Peer::new(&world, 1);
    world.run_ms(20, &mut [&mut peer]);
    let fields =
        connect_fields(&[(":protocol", "websocket"), (":scheme", "https"), (":path", "/chat")]);
    let sent = peer.client.connection.request(StreamId(0), &fields, false);
    assert_eq!(sent, Ok(true));
    world.run_ms(1000, &mut [&mut peer]);
    assert_eq!(peer.resets.get(&0), Some(&0x10e), "H3_MESSAGE_ERROR");
    assert_eq!(peer.closed_with(), None);
}

/// 13: urgencies order the responses of a connection; between connections they mean nothing.
#[test]
fn the_urgency_of_one_connection_takes_nothing_from_another_9218_13() {
    let mut world = World::new(paced("rfc9218"));
    let (mut background, mut urgent) = (Peer::new(&world, 1), Peer::new(&world, 2));
    world.run_ms(20, &mut [&mut background, &mut urgent]);
    background.get_with(0, "/300000/png", "u=7");
    urgent.get_with(0, "/300000/png", "u=0");
    world.run_ms(150, &mut [&mut background, &mut urgent]);
    let came = [background.came_bytes(0), urgent.came_bytes(0)];
    assert!(came[0].abs_diff(came[1]) <= 2 * 1400, "{came:?}");
    assert!(came[0] > 150_000, "{came:?}");
}
