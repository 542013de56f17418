//! The send loop keeps the congestion window growing and its packets full.

use crate::simulation::{Client, Link, options, run};
use server::{CongestionControl, Options};
use std::time::Duration;

/// Three bodies of 2 MB over 20 Mbit/s with a round trip of 50 ms: 2.4 s at the link's rate. A window
/// that stays at its initial size takes 20 s and more; a loop that sends what just fits, 10,000 packets.
#[test]
fn the_window_grows_and_packets_are_full_under_every_congestion_control_and_id_length() {
    for congestion_control in
        [CongestionControl::Reno, CongestionControl::Cubic, CongestionControl::Bbr2]
    {
        for id_bytes in [0, 8, 20] {
            let options = Options { congestion_control, ..options("rr") };
            let paths = [(0, "/2000000/png"), (0, "/2000000/png"), (0, "/2000000/png")];
            let client = Client::with_id(id_bytes);
            let seen = run(options, Link::CABLE, client, &paths, Duration::from_secs(30));
            let name = congestion_control.name();
            println!(
                "{name} id {id_bytes}: {:?}, {} datagrams, {} runts, {} at once",
                seen.duration, seen.datagrams, seen.runts, seen.burst
            );
            assert_eq!(
                [0, 4, 8].map(|it| seen.peer.came_bytes(it)).iter().sum::<u64>(),
                6_000_000,
                "{name} {id_bytes}"
            );
            assert!(
                seen.duration < Duration::from_millis(2900),
                "{name} {id_bytes}: {:?}",
                seen.duration
            );
            assert!(seen.datagrams < 5200, "{name} {id_bytes}: {} datagrams", seen.datagrams);
            assert!(seen.runts < 450, "{name} {id_bytes}: {} runts", seen.runts);
            assert!(seen.burst <= 15, "{name} {id_bytes}: {} datagrams at once", seen.burst);
        }
    }
}

/// 20 MB over a link whose queue holds 1 MB. Under cubic the queue fills; bbr2 leaves it empty but for its probes.
#[test]
fn a_long_download_under_bbr2_leaves_the_queue_of_the_link_almost_empty() {
    for (bits_per_second, one_way_ms) in [(5e6, 25.0), (10e6, 25.0), (10e6, 40.0), (40e6, 10.0)] {
        let link = Link { bits_per_second, one_way_ms, queue_bytes: 1_000_000, ..Link::CABLE };
        let client = Client::with_id(16);
        let paths = [(0, "/20000000/png")];
        let seen = run(options("rr"), link, client, &paths, Duration::from_secs(60));
        let products = seen.queued.as_secs_f64() * 1e3 / (2.0 * one_way_ms);
        println!("{bits_per_second} bit/s, {one_way_ms} ms: {products:.2}, {:?}", seen.duration);
        assert!(
            products < 0.5,
            "{bits_per_second}, {one_way_ms}: {products} bandwidth-delay products"
        );
    }
}
