//! A client's mistakes cost at most its connection: another client is served meanwhile.

use crate::peers::{Peer, World, limits, options};
use crate::simulation::Bodies;
use connection::Endpoint;
use http3::{Code, StreamId};
use server::{Limits, Options};
use simulator::Links;
use simulator::link::Profile;

const BODY_BYTES: u64 = 300_000;

/// A world with a good client that has begun to load, and a bad one that has connected. Datagrams take a millisecond, so
/// that the load lasts.
fn world(limits: Limits) -> (World, Peer, Peer) {
    let millisecond = Profile::plain(f64::INFINITY, 1.0);
    let links = Links::new(&millisecond, &millisecond, 0);
    let mut world = World::over(links, Options { limits, ..options("fifo") }, Bodies);
    let (mut good, mut bad) = (Peer::new(&world, 1), Peer::new(&world, 2));
    world.run_ms(50, &mut [&mut good, &mut bad]);
    good.get(0, &format!("/{BODY_BYTES}/png"));
    world.run_ms(1, &mut [&mut good]);
    (world, good, bad)
}

/// The good client gets its body and another one.
fn assert_served(world: &mut World, good: &mut Peer) {
    good.get(8, "/5000/html");
    world.run_ms(3_000, &mut [good]);
    assert_eq!(good.body_bytes(0), Some(BODY_BYTES));
    assert_eq!(good.body_bytes(8), Some(5_000));
}

fn assert_closed(bad: &Peer, code: Code) {
    assert_eq!(bad.closed_with().and_then(Code::of), Some(code));
}

#[test]
fn garbage_with_the_id_of_a_connection_does_not_end_it() {
    let (mut world, mut good, mut other) = world(limits());
    // Whoever sees a datagram on its way knows the ID, and not the keys.
    for peer in [&good, &other] {
        let id = peer.client.connection.quic.destination_id();
        let datagram = [&[0x40][..], id.as_ref(), &[7; 1150]].concat();
        for _ in 0..1000 {
            world.deliver_noise(&datagram);
        }
    }
    other.get(0, "/5000/html");
    world.run_ms(3_000, &mut [&mut good, &mut other]);
    assert_eq!((other.closed_with(), other.body_bytes(0)), (None, Some(5_000)));
    assert_served(&mut world, &mut good);
}

#[test]
fn a_client_of_many_tiny_requests_is_served() {
    let (mut world, _, mut client) = world(Limits { nuisances: 1_000_000, ..limits() });
    for request in 0..20_000 {
        client.get(4 * request, "/1/html");
        world.run_ms(3, &mut [&mut client]);
        assert_eq!(client.body_bytes(4 * request), Some(1));
    }
    assert_eq!((client.goaway, client.closed_with()), (None, None));
}

#[test]
fn a_client_whose_packets_carry_next_to_nothing_is_asked_away_and_told_why_at_the_end() {
    let (mut world, mut good, mut bad) = world(limits());
    // A HEADERS frame of 8,000 bytes, a byte a packet.
    let mut send = |bad: &mut Peer, bytes: &[u8]| {
        bad.client.connection.quic.stream_send(0, bytes, false).ok();
        world.run_ms(1, &mut [bad]);
    };
    send(&mut bad, &[0x01, 0x5f, 0x40]);
    let mut sent = 0;
    while bad.goaway.is_none() && sent < 8_000 {
        send(&mut bad, &[0]);
        sent += 1;
    }
    assert!((3_000..8_000).contains(&sent), "{sent}");
    world.run_ms(100, &mut [&mut bad]);
    assert_closed(&bad, Code::ExcessiveLoad);
    assert_served(&mut world, &mut good);
}

#[test]
fn garbage_makes_no_connection() {
    let (mut world, mut good, mut bad) = world(limits());
    let before = (world.server.connections(), world.server.routes());
    let mut first = Peer::new(&world, 3).first_datagram(&world);
    let mut random: u64 = 1;
    for bytes in (0..1400).step_by(7) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let noise: Vec<u8> = (0..bytes).map(|it| (random >> (it % 57)).to_le_bytes()[0]).collect();
        world.deliver_noise(&noise);
        world.deliver_noise(&first[..bytes.min(first.len() - 1)]);
    }
    // Looks like a first datagram, and cannot be decrypted.
    let last = first.len() - 1;
    first[last] ^= 1;
    world.deliver_noise(&first);
    assert_eq!((world.server.connections(), world.server.routes()), before);
    world.run_ms(10, &mut [&mut good, &mut bad]);
    assert_served(&mut world, &mut good);
}

#[test]
fn addresses_that_do_not_answer_leave_no_logs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let qlog_dir = Some(folder.path().to_owned());
    let mut world = World::new(Options { qlog_dir, limits: limits(), ..options("fifo") });
    for number in 3..103 {
        let mut spoofed = Peer::new(&world, number);
        let datagram = spoofed.first_datagram(&world);
        world.deliver(&datagram, spoofed.local_addr());
    }
    let mut real = Peer::new(&world, 1);
    world.run_ms(120_000, &mut [&mut real]);
    let logs = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!((logs, real.is_established()), (1, true));
}

#[test]
fn an_unknown_version_is_answered_only_where_the_datagram_is_large() {
    let (mut world, mut good, _) = world(limits());
    let mut first = Peer::new(&world, 3).first_datagram(&world);
    first[1..5].copy_from_slice(&[0x1a, 0x2a, 0x3a, 0x4a]);
    let address = Peer::new(&world, 3).local_addr();
    world.deliver(&first[..1199], address);
    assert_eq!(world.replies(address), 0);
    world.deliver(&first, address);
    assert_eq!(world.replies(address), 1);
    assert_served(&mut world, &mut good);
}

#[test]
fn a_client_that_vanishes_leaves_nothing_behind() {
    let (mut world, mut good, mut bad) = world(limits());
    bad.get(0, "/5000000/png");
    world.run_ms(20, &mut [&mut good, &mut bad]);
    assert_served(&mut world, &mut good);
    drop(bad);
    drop(good);
    world.run_ms(120_000, &mut []);
    assert_eq!((world.server.connections(), world.server.routes()), (0, 0));
    assert_eq!(world.server.next_timeout(), None, "and no timer");
}

#[test]
fn a_stream_that_is_never_read_holds_back_only_itself() {
    let (mut world, mut good, mut bad) = world(limits());
    bad.client.unread = Some(StreamId(0));
    bad.get(0, "/90000000/png");
    bad.get(4, "/200000/png");
    world.run_ms(3_000, &mut [&mut good, &mut bad]);
    assert_eq!(bad.body_bytes(4), Some(200_000), "its own other response");
    assert_served(&mut world, &mut good);
}

/// RFC 9114, 10.5. Client: floods with frames, resets or priority signals. Server: `H3_EXCESSIVE_LOAD`.
#[test]
fn thousands_of_requests_taken_back_cost_the_connection() {
    let (mut world, mut good, mut bad) = world(limits());
    for round in 0..100 {
        for place in 0..40 {
            let stream = (round * 40 + place) * 4;
            if bad.try_get(stream, "/1000000/png") {
                bad.reset(stream);
            }
        }
        world.run_ms(10, &mut [&mut good, &mut bad]);
    }
    assert_closed(&bad, Code::ExcessiveLoad);
    assert_served(&mut world, &mut good);
}

#[test]
fn a_page_that_is_left_costs_nothing() {
    let (mut world, mut good, mut bad) = world(limits());
    for stream in (0..400).step_by(4) {
        bad.get(stream, "/1000000/png");
    }
    world.run_ms(50, &mut [&mut good, &mut bad]);
    for stream in (0..400).step_by(4) {
        bad.stop(stream);
    }
    world.run_ms(200, &mut [&mut good, &mut bad]);
    bad.get(400, "/200000/png");
    world.run_ms(3_000, &mut [&mut good, &mut bad]);
    assert_eq!(bad.closed_with(), None);
    assert_eq!(bad.body_bytes(400), Some(200_000));
    assert_served(&mut world, &mut good);
}

#[test]
fn a_flood_of_priority_updates_costs_the_connection() {
    let (mut world, mut good, mut bad) = world(limits());
    bad.get(0, "/5000000/png");
    let update = http3::priority_update(StreamId(0), 1, false);
    for _ in 0..100 {
        bad.send_raw(2, &update.repeat(40), false).ok();
        world.run_ms(10, &mut [&mut good, &mut bad]);
    }
    assert_closed(&bad, Code::ExcessiveLoad);
    assert_served(&mut world, &mut good);
}

/// RFC 9114, 10.5. Client: floods with frames, resets or priority signals. Server: `H3_EXCESSIVE_LOAD`.
#[test]
fn a_flood_of_frames_without_meaning_costs_the_connection() {
    let (mut world, mut good, mut bad) = world(limits());
    for _ in 0..100 {
        // Type 0x21 is reserved for exercise (RFC 9114, 7.2.8); no payload.
        bad.send_raw(2, &[0x21, 0].repeat(2_000), false).ok();
        world.run_ms(10, &mut [&mut good, &mut bad]);
    }
    assert_closed(&bad, Code::ExcessiveLoad);
    assert_served(&mut world, &mut good);
}

#[test]
fn what_breaks_the_protocol_costs_the_connection() {
    let cases: [(&str, u64, &[u8], Code); 5] = [
        ("two control streams", 14, &[0, 4, 0], Code::StreamCreation),
        ("SETTINGS twice", 2, &[4, 0], Code::FrameUnexpected),
        ("DATA before HEADERS", 0, &[0, 1, 65], Code::FrameUnexpected),
        ("a dynamic table", 6, &[0x3f, 0xe1, 0x1f], Code::QpackEncoderStream),
        ("SETTINGS on a request stream", 0, &[4, 0], Code::FrameUnexpected),
    ];
    for (name, stream, bytes, code) in cases {
        let (mut world, mut good, mut bad) = world(limits());
        bad.send_raw(stream, bytes, false).ok();
        world.run_ms(200, &mut [&mut good, &mut bad]);
        assert_eq!(bad.closed_with().and_then(Code::of), Some(code), "{name}");
        assert_served(&mut world, &mut good);
    }
}

/// RFC 9114, 6.2.1. Client: ends, resets or stops a control stream. Server: `H3_CLOSED_CRITICAL_STREAM`.
/// RFC 9204, 4.2. Client: ends, resets or stops one of them. Server: `H3_CLOSED_CRITICAL_STREAM`.
#[test]
fn whoever_stops_or_resets_a_control_or_qpack_stream_is_disconnected() {
    for stream in [3, 7, 11, 2, 6, 10] {
        let (mut world, mut good, mut bad) = world(limits());
        if stream % 4 == 3 {
            bad.stop(stream);
        } else {
            bad.client.connection.quic.stream_shutdown(stream, quiche::Shutdown::Write, 0).ok();
        }
        world.run_ms(200, &mut [&mut good, &mut bad]);
        assert_closed(&bad, Code::ClosedCriticalStream);
        assert_served(&mut world, &mut good);
    }
}

#[test]
fn any_bytes_on_any_stream_harm_nobody_else() {
    let (mut world, mut good, _) = world(limits());
    let mut random: u64 = 7;
    for seed in 0..60 {
        let mut bad = Peer::new(&world, 10 + seed);
        world.run_ms(20, &mut [&mut good, &mut bad]);
        for stream in [0, 4, 2, 6, 10, 14, 18] {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let noise: Vec<u8> =
                (0..40).map(|it| (random >> (it % 50)).to_le_bytes()[0] & 0x4f).collect();
            bad.send_raw(stream, &noise, random >> 63 == 1).ok();
        }
        world.run_ms(20, &mut [&mut good, &mut bad]);
    }
    assert_served(&mut world, &mut good);
}

#[test]
fn a_response_that_is_stopped_half_way_leaves_the_others_alone() {
    let (mut world, mut good, mut bad) = world(limits());
    bad.get(0, "/50000000/png");
    bad.get(4, "/400000/png");
    world.run_ms(100, &mut [&mut good, &mut bad]);
    bad.stop(0);
    world.run_ms(3_000, &mut [&mut good, &mut bad]);
    assert_eq!(bad.body_bytes(4), Some(400_000));
    assert_served(&mut world, &mut good);
}

#[test]
fn more_stopped_requests_than_the_limit_of_streams_do_not_leak() {
    let (mut world, mut good, mut bad) = world(Limits { streams: 10, ..limits() });
    for stream in (0..400).step_by(4) {
        // The server has an hour to think about each.
        assert!(bad.try_get(stream, "/1000/png/3600000"), "stream {stream} is allowed");
        world.run_ms(5, &mut [&mut good, &mut bad]);
        bad.stop(stream);
        world.run_ms(20, &mut [&mut good, &mut bad]);
    }
    bad.get(400, "/1000/png");
    world.run_ms(500, &mut [&mut good, &mut bad]);
    assert_eq!(bad.body_bytes(400), Some(1_000));
    assert_served(&mut world, &mut good);
}

/// RFC 9114, 4.1. Client: still sends its request when the response is complete. Server: `STOP_SENDING` with `H3_NO_ERROR`.
#[test]
fn an_upload_is_stopped_without_an_error_once_its_response_has_gone() {
    let (mut world, mut good, mut bad) = world(limits());
    for stream in (0..40).step_by(4) {
        assert!(bad.try_post(stream, "/1000/html"), "stream {stream} is allowed");
        world.run_ms(20, &mut [&mut good, &mut bad]);
        assert_eq!(bad.body_bytes(stream), Some(1_000), "stream {stream}");
        let mut stopped = None;
        for _ in 0..20 {
            // One DATA frame of 1000 bytes.
            stopped = stopped.or(bad
                .send_raw(stream, &[&[0, 0x43, 0xe8][..], &[7; 1000]].concat(), false)
                .err());
            world.run_ms(10, &mut [&mut good, &mut bad]);
        }
        let no_error = quiche::Error::StreamStopped(Code::NoError.value());
        assert_eq!(stopped, Some(no_error), "stream {stream}");
    }
    assert_eq!(bad.closed_with(), None);
    assert_served(&mut world, &mut good);
}

/// RFC 9114, 5.2. Server: our own GOAWAY never grows; later requests get `H3_REQUEST_REJECTED`.
#[test]
fn a_draining_server_finishes_responses_and_takes_no_more() {
    let (mut world, mut good, mut idle) = world(limits());
    world.run_ms(1, &mut [&mut good, &mut idle]);
    world.drain();
    good.get(4, "/1000/html");
    let mut late = Peer::new(&world, 3);
    assert!(!world.is_drained());
    world.run_ms(2_000, &mut [&mut good, &mut idle, &mut late]);
    assert_eq!(
        good.body_bytes(0),
        Some(BODY_BYTES),
        "was under way; closed {:?}",
        good.closed_with()
    );
    assert_eq!(good.body_bytes(4), None, "came after GOAWAY");
    assert_eq!(good.resets.get(&4), Some(&Code::RequestRejected.value()));
    assert_eq!(good.goaway, Some(4));
    assert_closed(&good, Code::NoError);
    assert_closed(&idle, Code::NoError);
    assert!(!late.is_established());
    assert!(world.is_drained());
}

#[test]
fn a_head_request_gets_no_body_and_others_go_on() {
    let (mut world, mut good, mut bad) = world(limits());
    assert!(bad.request(0, "HEAD", "/5000/html/30", true));
    assert!(bad.request(4, "GET", "/7000/html", true));
    world.run_ms(500, &mut [&mut good, &mut bad]);
    assert_eq!((bad.body_bytes(0), bad.body_bytes(4)), (Some(0), Some(7_000)));
    assert_served(&mut world, &mut good);
}
