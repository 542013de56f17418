//! What clients over TCP may cost.

use super::clients::{fetch_1, over_2, plain, response, rest, secure};
use super::{Serving, bytes, folder};
use crate::fetch::Ask;
use server::{Event, Limits, Refusal};
use std::io::{BufReader, Write};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

fn within(limits: Limits) -> (tempfile::TempDir, Serving) {
    let (folder, site) = folder(&[("a", b"a"), ("large", &bytes(20_000_000))]);
    (folder, Serving::within(site, limits))
}

fn brief() -> Limits {
    Limits { idle: SECOND, head: SECOND, handshake: SECOND, stalled: SECOND, ..Limits::default() }
}

#[test]
fn a_head_may_have_a_thousand_fields_and_64_kib() {
    let (_folder, server) = within(Limits::default());
    let with = |count: usize, bytes: usize| {
        let value = "v".repeat(bytes);
        // The host field is one of them.
        let fields = (1..count).map(|_| ("x", value.clone())).collect();
        fetch_1(server.address, &Ask { fields, ..Ask::get("/a") }).status
    };
    assert_eq!([with(1000, 1), with(1001, 1), with(3000, 1)], [200, 431, 431]);
    assert_eq!([with(2, 50_000), with(2, 70_000)], [200, 431]);
}

#[test]
fn a_head_of_http_2_has_64_kib_at_most() {
    let (_folder, server) = within(Limits::default());
    let with = |count: usize, bytes: usize| {
        let fields = (0..count).map(|_| ("x", "v".repeat(bytes))).collect();
        let ask = Ask { fields, ..Ask::get("/a") };
        super::fetch_2(server.address, &[ask]).remove(0).status
    };
    assert_eq!([with(1000, 1), with(1001, 1)], [200, 431]);
    assert_eq!(with(70, 1000), 431);
}

#[test]
fn a_stalled_handshake_and_garbage_end_the_connection() {
    let (_folder, server) = within(brief());
    assert_eq!(rest(&mut plain(server.address)), b"");
    let mut stream = plain(server.address);
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    rest(&mut stream);
    let mut stream = secure(server.address);
    stream.write_all(&[0xff; 1000]).expect("sent");
    assert!(rest(&mut stream).starts_with(b"HTTP/1.1 400 "));
    assert_eq!(server.events.count(|it| matches!(it, Event::HandshakeGivenUp)), 1);
    assert_eq!(server.events.count(|it| matches!(it, Event::NotEntered)), 1);
}

#[test]
fn slow_heads_and_silence_end_the_connection() {
    let (_folder, server) = within(brief());
    assert_eq!(rest(&mut secure(server.address)), b"");
    let mut stream = secure(server.address);
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: ").expect("sent");
    assert_eq!(rest(&mut stream), b"");
    let mut stream = secure(server.address);
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    assert!(rest(&mut stream).ends_with(b"\r\n\r\na"));
    over_2(server.address, async |sender| {
        // The connection ends although its client has a handle.
        while let Ok(ready) = sender.clone().ready().await {
            drop(ready);
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(server.events.count(|it| matches!(it, Event::Closed { by: "timeout", .. })), 4);
}

#[test]
fn a_response_that_nobody_reads_is_given_up() {
    let (_folder, server) = within(brief());
    let mut stream = secure(server.address);
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let status = over_2(server.address, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        let head = super::clients::head_2(&Ask::get("/large"));
        let (response, _) = sender.send_request(head, true).expect("sent");
        let mut body = response.await.expect("a head").into_body();
        loop {
            // What has come is not released, so the window stays shut.
            match body.data().await {
                Some(Ok(_)) => {}
                end => return end.map(|it| it.map_err(|error| error.reason()).map(drop)),
            }
        }
    });
    assert_eq!(status, Some(Err(Some(h2::Reason::CANCEL))));
    // Two idle connections end one after another, which takes 2 s.
    assert_eq!([rest(&mut secure(server.address)), rest(&mut secure(server.address))], [b"", b""]);
    let got = response(&mut BufReader::new(stream), "GET");
    assert!(!got.finished, "{} bytes", got.body.len());
}

#[test]
fn a_client_has_so_many_connections_over_all_versions() {
    let (_folder, server) = within(Limits { connections_per_network: 2, ..Limits::default() });
    let (one, other) = (secure(server.address), secure(server.address));
    assert_eq!(rest(&mut plain(server.address)), b"");
    let refused = |it: &Event| matches!(it, Event::Refused(Refusal::Network));
    assert_eq!(server.events.count(refused), 1);
    drop((one, other));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the second client waits in real time")]
fn a_client_that_comes_again_too_soon_waits_for_its_turn() {
    let limits = Limits { tcp_handshakes_per_second: 1, ..Limits::default() };
    let (_folder, server) = within(limits);
    let start = Instant::now();
    let statuses = [(); 2].map(|()| fetch_1(server.address, &Ask::get("/a")).status);
    assert_eq!(statuses, [200, 200]);
    assert!(start.elapsed() >= SECOND, "{:?}", start.elapsed());
}

#[test]
fn a_client_that_would_wait_longer_than_a_handshake_may_take_is_refused() {
    let limits = Limits { tcp_handshakes_per_second: 1, handshake: SECOND, ..Limits::default() };
    let (_folder, server) = within(limits);
    let streams = [(); 10].map(|()| plain(server.address));
    assert_eq!(streams.map(|mut it| rest(&mut it)), [b""; 10]);
    assert!(server.events.count(|it| matches!(it, Event::Refused(Refusal::Network))) > 0);
}

#[test]
fn three_hundred_visitors_of_one_address_are_served() {
    let (_folder, server) = within(Limits::default());
    let statuses = (0..300).map(|_| fetch_1(server.address, &Ask::get("/a")).status);
    assert_eq!(statuses.filter(|it| *it == 200).count(), 300);
}

#[test]
fn heads_that_are_refused_again_and_again_end_a_connection_of_http_2() {
    // A refused head counts as 16 nuisances.
    let limits = Limits { nuisances: 50, nuisances_per_second: 0, ..Limits::default() };
    let (_folder, server) = within(limits);
    let fields = (0..1001).map(|_| ("x", "v".to_owned())).collect();
    let ask = Ask { fields, ..Ask::get("/a") };
    let refused = over_2(server.address, async |sender| {
        for refused in 0..100 {
            let Ok(mut sender) = sender.clone().ready().await else { return refused };
            let sent = sender.send_request(super::clients::head_2(&ask), true);
            let Ok((response, _)) = sent else { return refused };
            let Ok(response) = response.await else { return refused };
            assert_eq!(response.status(), 431);
        }
        100
    });
    // The fourth is one too many, whether its answer still goes or not.
    assert!((3..=4).contains(&refused), "{refused}");
    assert_eq!(fetch_1(server.address, &Ask::get("/a")).body, b"a");
}

#[test]
fn rapid_resets_end_the_connection() {
    let (_folder, server) = within(Limits { nuisances: 50, ..Limits::default() });
    let ended = over_2(server.address, async |sender| {
        for sent in 0..100_000 {
            let Ok(mut sender) = sender.clone().ready().await else { return sent };
            let head = super::clients::head_2(&Ask::get("/large"));
            let Ok((response, mut stream)) = sender.send_request(head, true) else { return sent };
            stream.send_reset(h2::Reason::CANCEL);
            drop(response);
            tokio::task::yield_now().await;
        }
        usize::MAX
    });
    assert!(ended < 100_000, "{ended}");
    assert_eq!(fetch_1(server.address, &Ask::get("/a")).body, b"a");
}
