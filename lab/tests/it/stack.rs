//! The engine `stack`: the real cores over the lab's links, in virtual time.

use corpus::Page;
use lab::ideal::Conditions;
use lab::network::Network;
use lab::stack::{Setup, StackLoad, load};
use lab::study::RunRecord;
use lab::{ideal, wire};
use qlog_tools::metrics::find;
use schedulers::find_scheme;
use server::{CongestionControl, Identity, Options};
use simulator::link::LinkLogEntry;
use std::path::Path;
use std::sync::Arc;

fn bundled(name: &str) -> Arc<Page> {
    Arc::new(corpus::bundled(name).expect("bundled").clone())
}

fn options(scheme: &str, network: &Network) -> Options {
    let options = Options::new(find_scheme(scheme).expect("a scheme"));
    match network.pace() {
        Some(pace) => options.paced(pace),
        None => options,
    }
}

fn loaded(
    page: &Arc<Page>,
    network: &str,
    seed: u64,
    options: impl FnOnce(&Network) -> Options,
) -> StackLoad {
    kept(page, network, seed, options, None)
}

fn kept(
    page: &Arc<Page>,
    network: &str,
    seed: u64,
    options: impl FnOnce(&Network) -> Options,
    log_dir: Option<&Path>,
) -> StackLoad {
    let network = Network::find(network).expect("built in");
    let identity = Identity::self_signed().expect("a certificate");
    let options = options(&network);
    let setup = Setup { seed, log_dir, ..Setup::new(options, &network, &identity) };
    let loaded = load(page, setup).expect("a load");
    assert!(loaded.problems.is_empty(), "{}: {:?}", network.name, loaded.problems);
    assert!(loaded.load.completed, "{}", network.name);
    loaded
}

#[test]
fn every_network_completes_its_page() {
    let page = bundled("gentelella-index");
    for name in Network::names() {
        let run = loaded(&page, name, 7, |it| options("dfifo", it));
        let record = RunRecord::of_load(&page, &run.load);
        println!("{name}: {:.0} ms, {} datagrams", record.duration_ms, run.datagrams);
        assert_eq!(record.resources.len(), page.resources.len(), "{name}");
        assert!(record.resources.iter().all(|it| it.complete_ms.is_some()), "{name}");
    }
}

/// The fate of every datagram of a load on `cable`, where chance affects only the transport.
fn verdicts(seed: u64) -> Vec<LinkLogEntry> {
    let folder = tempfile::tempdir().expect("a folder");
    let page = bundled("gentelella-index");
    kept(&page, "cable", seed, |it| options("dfifo", it), Some(folder.path())).verdicts
}

#[test]
fn two_loads_with_one_seed_are_the_same_to_the_nanosecond() {
    let first = verdicts(3);
    assert!(first.len() > 900, "{}", first.len());
    assert!(first == verdicts(3), "a datagram had another time, size or fate");
    assert!(first != verdicts(4), "quiche skipped the same packet numbers with another seed");
}

/// Loads of every sixth page of the kept results under schemes of three kinds, on the lossy networks.
#[test]
fn pages_complete_under_loss_whatever_the_seed() {
    for page in corpus::kept_pages().into_iter().step_by(6) {
        let page = Arc::new(page.clone());
        for (seed, (network, scheme)) in
            [("cable-lossy", "rr"), ("3g-lossy", "dfifo"), ("interop-corruptrate", "bucket-html")]
                .into_iter()
                .enumerate()
        {
            loaded(&page, network, seed as u64, |it| options(scheme, it));
        }
    }
}

/// Without a link's rate, delay and loss in between, only the transport's own doings remain: a header each
/// response, a packet that arrives as its tick begins and not as it ends.
#[test]
fn on_the_papers_network_stack_and_ideal_agree() {
    let network = Network::find("paper").expect("built in");
    for page in ["gentelella-index", "davies-meenan"].map(bundled) {
        for scheme in ["rr", "fifo", "dfifo", "bucket-html"] {
            let stack = loaded(&page, "paper", 0, |it| options(scheme, it));
            let ideal = ideal::load(
                &page,
                &find_scheme(scheme).expect("a scheme"),
                &network,
                Conditions::default(),
            );
            let all = |load| RunRecord::of_load(&page, load).byte_index().all.expect("complete");
            let ratio = all(&stack.load) / all(&ideal);
            println!("{} {scheme}: stack / ideal = {ratio:.4}", page.name);
            assert!((0.96..1.04).contains(&ratio), "{} {scheme}: {ratio}", page.name);
        }
    }
}

/// What the user sees, as the client logs it and as the engine without a transport computes it. Scripts still run when the
/// last byte of `gentelella-index` has come.
#[test]
fn the_clients_log_says_when_the_page_was_shown() {
    let network = Network::find("paper").expect("built in");
    for (page, metrics) in [
        ("gentelella-index", &["first_render", "speed_index", "dom_content_loaded", "load"][..]),
        ("davies-meenan", &["first_render", "hero_render", "speed_index", "load"]),
    ] {
        let page = bundled(page);
        let logged = loaded(&page, "paper", 0, |it| options("fifo", it)).load;
        let scheme = find_scheme("fifo").expect("a scheme");
        let computed = ideal::load(&page, &scheme, &network, Conditions::default());
        let [logged, computed] = [&logged, &computed].map(|it| RunRecord::of_load(&page, it));
        for name in metrics {
            let metric = find(name).expect("a metric");
            let of = |run: &RunRecord| run.metrics.get(metric).all.expect(name);
            let ratio = of(&logged) / of(&computed);
            assert!((0.96..1.04).contains(&ratio), "{} {name}: {ratio}", page.name);
        }
    }
}

/// A page of one body of 6 MB, over 25 Mbit/s with a round trip of 50 ms and a queue of one
/// bandwidth-delay product: 1.95 s at the link's rate, and a window of 10 packets would take 22 s.
#[test]
fn the_window_grows_on_cable_under_every_congestion_control() {
    let page = Arc::new(Page::parse(LARGE, "LARGE").expect("a page"));
    for congestion_control in
        [CongestionControl::Reno, CongestionControl::Cubic, CongestionControl::Bbr2]
    {
        let run =
            loaded(&page, "cable", 0, |it| Options { congestion_control, ..options("rr", it) });
        let duration_ms = RunRecord::of_load(&page, &run.load).duration_ms;
        println!("{}: {duration_ms:.0} ms", congestion_control.name());
        assert!(duration_ms > 1950.0, "faster than the link: {duration_ms}");
        assert!(duration_ms < 3000.0, "{}: {duration_ms}", congestion_control.name());
    }
}

const LARGE: &str = r#"{
  "format": "utmost-page/1", "name": "large", "viewport": [1366, 768],
  "source": {"kind": "hand", "from": "this test", "licence": "MIT OR Apache-2.0"},
  "origins": [{"host": "large.test", "party": "first"}],
  "resources": [{"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 6000000, "main": true,
    "critical": true, "above_fold": true, "trigger": {"on": "nav"}}]
}"#;

/// 1 % of the datagrams are lost, each by itself: a loss is no sign of a full queue there.
#[test]
fn under_random_loss_bbr_carries_a_download_faster_than_cubic_whatever_is_lost() {
    let page = Arc::new(Page::parse(LARGE, "LARGE").expect("a page"));
    for seed in 0..5 {
        let [bbr_ms, cubic_ms] = [CongestionControl::Bbr2, CongestionControl::Cubic].map(|it| {
            let options =
                |network: &Network| Options { congestion_control: it, ..options("rr", network) };
            let run = loaded(&page, "cable-lossy", seed, options);
            RunRecord::of_load(&page, &run.load).duration_ms
        });
        println!("{bbr_ms:.0} and {cubic_ms:.0} ms");
        assert!(bbr_ms < cubic_ms, "{bbr_ms} and {cubic_ms}");
    }
}

/// A style sheet that the client asks for after a second, alone or in the middle of a download of lower urgency.
#[test]
fn beside_a_download_an_urgent_response_takes_no_longer_than_on_an_empty_connection() {
    let took_ms = |download: &str| {
        let page = Page::parse(&URGENT.replace("DOWNLOAD", download), "URGENT").expect("a page");
        let page = Arc::new(page);
        let run = loaded(&page, "cable", 0, |it| options("rfc9218", it));
        let record = RunRecord::of_load(&page, &run.load);
        let style = record.resources.iter().find(|it| it.url.ends_with("late.css")).expect("it");
        style.complete_ms.expect("complete") - style.requested_ms
    };
    let alone_ms = took_ms("");
    let beside_ms = took_ms(DOWNLOAD);
    println!("{alone_ms:.1} ms alone, {beside_ms:.1} ms beside the download");
    assert!(alone_ms > 50.0, "a round trip: {alone_ms}");
    assert!(beside_ms < alone_ms + 3.0, "{alone_ms} and {beside_ms}");
}

const URGENT: &str = r#"{
  "format": "utmost-page/1", "name": "urgent", "viewport": [1366, 768],
  "source": {"kind": "hand", "from": "this test", "licence": "MIT OR Apache-2.0"},
  "origins": [{"host": "urgent.test", "party": "first"}],
  "resources": [{"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 2000, "main": true,
      "critical": true, "above_fold": true, "trigger": {"on": "nav"}},
    {"id": 1, "url": "/late.css", "kind": "css", "mime": "text/css", "bytes": 8000, "browser": {"urgency": 0},
      "trigger": {"on": "complete", "of": 0, "delay_ms": 1000}}DOWNLOAD]
}"#;

const DOWNLOAD: &str = r#",
    {"id": 2, "url": "/download.png", "kind": "image", "mime": "image/png", "bytes": 6000000,
      "browser": {"urgency": 5}, "trigger": {"on": "complete", "of": 0}}"#;

#[test]
fn a_load_outlives_a_blackhole() {
    let page = Arc::new(Page::parse(LARGE, "LARGE").expect("a page"));
    let run = loaded(&page, "interop-blackhole", 0, |it| options("rr", it));
    let duration_ms = RunRecord::of_load(&page, &run.load).duration_ms;
    println!("{duration_ms:.0} ms");
    // 4.8 s at the link's rate, and a little more for headers and slow start: it is not over after 5 s.
    assert!(duration_ms > 7000.0, "{duration_ms}");
}

#[test]
fn the_same_seed_loses_the_same_datagrams_under_every_scheme() {
    use simulator::link::{Cause, Verdict, Way};
    let page = bundled("gentelella-index");
    let lost = |scheme: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let run = kept(&page, "cable-lossy", 5, |it| options(scheme, it), Some(folder.path()));
        assert!(folder.path().join("client.sqlog").exists());
        let lines = std::fs::read_to_string(folder.path().join("links.jsonl")).expect("verdicts");
        assert_eq!(lines.lines().count(), run.verdicts.len());
        let lost = run.verdicts.iter().filter(|it| {
            it.way == Way::Down
                && it.number <= 300
                && it.verdict == Verdict::Dropped { cause: Cause::Loss }
        });
        lost.map(|it| it.number).collect::<Vec<_>>()
    };
    let first = lost("rr");
    assert!(!first.is_empty());
    assert_eq!(first, lost("fifo"));
}

#[test]
fn loads_on_several_threads_have_clocks_of_their_own() {
    let threads: Vec<_> = (0..4)
        .map(|seed| {
            std::thread::spawn(move || {
                let page = bundled("gentelella-index");
                let run = loaded(&page, "3g", seed, |it| options("fifo", it));
                RunRecord::of_load(&page, &run.load).duration_ms
            })
        })
        .collect();
    let durations: Vec<f64> = threads.into_iter().map(|it| it.join().expect("no panic")).collect();
    let spread =
        durations.iter().fold(0.0_f64, |most, it| most.max((it / durations[0] - 1.0).abs()));
    // The network leaves nothing to chance; what differs is what TLS and quiche draw.
    assert!(spread < 0.1, "{durations:?}");
}

#[test]
fn a_relay_in_real_time_carries_a_page_and_delays_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = bundled("gentelella-index");
    let network = Network::find("interop").expect("built in");
    let setup = wire::Setup {
        links: Some((&network, 1)),
        ..wire::Setup::new(options("dfifo", &network), folder.path())
    };
    let on_wire = wire::load(&page, setup).expect("a load").load;
    assert!(on_wire.completed);
    let record = RunRecord::of_load(&page, &on_wire);
    let first_byte_ms = record.resources[0].first_byte_ms.expect("complete");
    assert!(first_byte_ms > 30.0, "a round trip: {first_byte_ms}");
    let stack = loaded(&page, "interop", 1, |it| options("dfifo", it));
    println!(
        "wire {:.0} ms, stack {:.0} ms",
        record.duration_ms,
        RunRecord::of_load(&page, &stack.load).duration_ms
    );
}

/// Without a client; what is refused comes back as a notice, and the relay goes on.
#[test]
fn a_relay_says_once_that_nobody_listens_and_stops_when_told() {
    use lab::relay::{Notice, Relay};
    use std::net::UdpSocket;
    let any = "127.0.0.1:0";
    let free = UdpSocket::bind(any).expect("a socket");
    let nobody = free.local_addr().expect("an address");
    drop(free);
    let network = Network::find("loopback").expect("built in");
    let mut relay =
        Relay::bind(any.parse().expect("an address"), nobody, network, 0).expect("a relay");
    let (address, stop) = (relay.local_addr().expect("bound"), relay.stopper());
    let (told, notices) = std::sync::mpsc::channel();
    let relaying = std::thread::spawn(move || relay.run(&mut |it| told.send(it).expect("heard")));
    let client = UdpSocket::bind(any).expect("a socket");
    let mut seen = Vec::new();
    while !seen.contains(&Notice::Refused(nobody)) {
        client.send_to(b"hello", address).expect("sent");
        seen.extend(notices.recv_timeout(std::time::Duration::from_millis(20)));
    }
    stop.stop();
    relaying.join().expect("no panic").expect("no error");
    seen.extend(notices.try_iter());
    let client = client.local_addr().expect("bound");
    assert_eq!(seen, [Notice::Client(client), Notice::Refused(nobody)]);
}
