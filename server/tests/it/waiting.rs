//! Responses that have to wait, for the server or for flow control: others are sent meanwhile, they
//! take back the wire when they can, and nothing is left behind.

use crate::simulation::{Client, Link, Seen, options, run};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use server::{CongestionControl, Options};
use std::time::Duration;

/// The streams in the order of arrival, runs of one stream joined: "4,0,4".
fn runs(seen: &Seen) -> String {
    let mut runs: Vec<u64> = seen.peer.arrivals.iter().map(|(stream, ..)| *stream).collect();
    runs.dedup();
    runs.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn a_response_that_is_thought_about_takes_the_wire_when_it_is_ready() {
    for scheme in ["fifo", "dfifo"] {
        let paths = [(0, "/60000/html/50"), (0, "/500000/png")];
        let (options, client) = (options(scheme), Client::with_id(8));
        let seen = run(options, Link::CABLE, client, &paths, Duration::from_secs(10));
        assert_eq!(runs(&seen), "4,0,4", "{scheme}");
    }
}

#[test]
fn half_a_body_leaves_the_wire_to_others_and_comes_first_again_with_its_second_half() {
    for scheme in ["fifo", "dfifo"] {
        let paths = [(0, "/60000/html/40/150"), (0, "/900000/png")];
        let (options, client) = (options(scheme), Client::with_id(8));
        let seen = run(options, Link::CABLE, client, &paths, Duration::from_secs(10));
        assert_eq!(runs(&seen), "4,0,4,0,4", "{scheme}");
    }
}

/// A window of 20 kB and a round trip of 50 ms give a stream less than a fifth of the link.
#[test]
fn a_stream_without_credit_holds_only_itself_back() {
    let client = Client { stream_receive_bytes: 20_000, ..Client::with_id(8) };
    let load = |paths| run(options("fifo"), Link::CABLE, client, paths, Duration::from_secs(10));
    let alone = load(&[(0, "/100000/png")]);
    let together = load(&[(0, "/100000/png"); 5]);
    assert_eq!((alone.peer.order().len(), together.peer.order().len()), (1, 5));
    let (alone, together) = (alone.duration, together.duration);
    assert!(together < alone * 3 / 2, "alone {alone:?}, five {together:?}");
}

/// A connection window of 30 kB and a round trip of 50 ms give 600 kB/s at best.
#[test]
fn a_connection_without_credit_goes_on_when_it_has_some() {
    let client = Client { receive_bytes: 30_000, ..Client::with_id(8) };
    let paths = [(0, "/100000/png"); 3];
    let seen = run(options("fifo"), Link::CABLE, client, &paths, Duration::from_secs(10));
    assert_eq!(seen.order(), "0,4,8");
    assert!(seen.duration < Duration::from_millis(1200), "{:?}", seen.duration);
}

/// A page load with every unusual property of a client or a link.
#[derive(Debug, Clone)]
struct Odd {
    scheme: &'static str,
    client: Client,
    send_buffer_bytes: u64,
    congestion_control: CongestionControl,
    lose_each: u64,
    lose_each_from_client: u64,
    requests: Vec<(u64, String)>,
}

fn client() -> impl Strategy<Value = Client> {
    let window = || prop_oneof![1_200_u64..4_000, 4_000_u64..50_000, 50_000_u64..2_000_000];
    (0_usize..=20, window(), window()).prop_map(
        |(id_bytes, receive_bytes, stream_receive_bytes)| Client {
            id_bytes,
            receive_bytes,
            stream_receive_bytes,
        },
    )
}

fn requests() -> impl Strategy<Value = Vec<(u64, String)>> {
    let bytes = prop_oneof![0_u64..3, 1_u64..3_000, 3_000_u64..60_000];
    let kind = prop::sample::select(vec!["html", "css", "js", "png"]);
    let wait = prop_oneof![
        Just(String::new()),
        (0_u32..200).prop_map(|it| format!("/{it}")),
        (0_u32..100, 0_u32..300).prop_map(|(first, more)| format!("/{first}/{}", first + more))
    ];
    let request = (0_u64..300, bytes, kind, wait)
        .prop_map(|(at_ms, bytes, kind, wait)| (at_ms, format!("/{bytes}/{kind}{wait}")));
    prop::collection::vec(request, 1..9).prop_map(|mut requests| {
        requests.sort_by_key(|(at_ms, _)| *at_ms);
        requests
    })
}

fn odd() -> impl Strategy<Value = Odd> {
    let scheme = prop::sample::select(vec!["rr", "wrr", "fifo", "dfifo", "bucket", "firefox"]);
    let buffer = prop_oneof![Just(0_u64), 1_u64..3_000, 3_000_u64..300_000];
    let congestion_control = prop::sample::select(vec![
        CongestionControl::Reno,
        CongestionControl::Cubic,
        CongestionControl::Bbr2,
    ]);
    let lose = || prop_oneof![Just(0_u64), 5_u64..60];
    (scheme, client(), buffer, congestion_control, lose(), lose(), requests()).prop_map(
        |(
            scheme,
            client,
            send_buffer_bytes,
            congestion_control,
            lose_each,
            lose_each_from_client,
            requests,
        )| Odd {
            scheme,
            client,
            send_buffer_bytes,
            congestion_control,
            lose_each,
            lose_each_from_client,
            requests,
        },
    )
}

fn assert_completes(odd: &Odd) {
    let Odd { scheme, client, send_buffer_bytes, congestion_control, .. } = *odd;
    let options = Options { send_buffer_bytes, congestion_control, ..options(scheme) };
    let link = Link {
        lose_each: odd.lose_each,
        lose_each_from_client: odd.lose_each_from_client,
        ..Link::CABLE
    };
    let requests: Vec<(u64, &str)> =
        odd.requests.iter().map(|(at_ms, path)| (*at_ms, path.as_str())).collect();
    let seen = run(options, link, client, &requests, Duration::from_secs(50));
    assert_eq!(seen.peer.order().len(), requests.len(), "{:?}", seen.peer);
    for (place, (_, path)) in requests.iter().enumerate() {
        let bytes: u64 = path.split('/').nth(1).expect("a size").parse().expect("a size");
        assert_eq!(seen.peer.came_bytes(place as u64 * 4), bytes, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(2019), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_completes_whatever_the_windows_ids_losses_and_buffers(odd in odd()) {
        assert_completes(&odd);
    }
}
