//! The probe against servers whose order is known.

use client::Verify;
use client::probe::{Fetch, Patience};
use corpus::Page;
use lab::probe::{Effort, Finding, Target, Verdict, judge, run_all, run_all_by};
use page_site::PageSite;
use schedulers::find_scheme;
use server::event_loop::EventLoop;
use server::{Identity, Options, Server, SignalUse};
use simulator::link::Profile;
use simulator::{Links, World};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const PAGE: &str = r#"{
  "format": "utmost-page/1", "name": "one", "viewport": [1366, 768],
  "source": {"kind": "hand", "from": "this test", "licence": "MIT OR Apache-2.0"},
  "origins": [{"host": "one.test", "party": "first"}],
  "resources": [{"id": 0, "url": "/big", "kind": "html", "mime": "text/html", "bytes": 300000, "main": true,
    "critical": true, "above_fold": true, "trigger": {"on": "nav"}}]
}"#;

/// The probe's result for one of our servers.
fn finding(scheme: &str, signals: SignalUse) -> Finding {
    finding_of(Options { signals, ..Options::new(find_scheme(scheme).expect("a scheme")) })
}

fn finding_of(options: Options) -> Finding {
    let mut event_loop =
        EventLoop::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a socket");
    let address = event_loop.local_addr().expect("an address");
    let stop = event_loop.stopper();
    let site = Arc::new(PageSite::new(Page::parse(PAGE, "PAGE").expect("a valid page")));
    let identity = Identity::self_signed().expect("an identity");
    let mut server = Server::new(address, &identity, site, options).expect("a server");
    let serving = std::thread::spawn(move || event_loop.run(&mut server));
    let target = target(address);
    let effort = Effort { repeats: 5, others: 4, response_time: Duration::from_millis(20) };
    let runs = run_all(&target, effort, |_| ());
    stop.stop();
    serving.join().expect("no panic").expect("served");
    judge(&runs.expect("measured"))
}

fn target(address: SocketAddr) -> Target {
    Target {
        host: "localhost".to_owned(),
        port: address.port(),
        address,
        paths: vec!["/big".to_owned()],
        body_bytes: 300_000,
        rtt: Duration::ZERO,
        patience: Patience {
            verify: Verify::Nobody,
            connect_within: Duration::from_secs(10),
            within: Duration::from_secs(30),
        },
    }
}

#[test]
fn a_server_that_obeys_prioritizes() {
    let finding = finding("rfc9218", SignalUse::Obey);
    assert_eq!(finding.verdict, Verdict::Prioritizes, "{finding:?}");
}

#[test]
fn servers_that_ignore_signals_do_not() {
    for scheme in ["rr", "fifo", "lifo"] {
        let finding = finding(scheme, SignalUse::Ignore);
        assert_eq!(finding.verdict, Verdict::DoesNot, "{scheme}: {finding:?}");
    }
}

/// The probe's result for a server with this send buffer, in virtual time: 50 Mbit/s and 20 ms.
fn committed_bytes(send_buffer_bytes: u64) -> u64 {
    let body_bytes = if send_buffer_bytes < 200_000 { 300_000 } else { 1_200_000 };
    let page = PAGE.replace("300000", &body_bytes.to_string());
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 4433));
    let target = Target {
        address,
        port: address.port(),
        body_bytes,
        rtt: Duration::from_millis(20),
        ..target(address)
    };
    let identity = Identity::self_signed().expect("an identity");
    let carry_out = |plan| {
        let options = Options {
            signals: SignalUse::Obey,
            send_buffer_bytes,
            ..Options::new(find_scheme("rfc9218").expect("a scheme"))
        };
        let page = Page::parse(&page, "PAGE").expect("a valid page");
        let server = Server::new(address, &identity, Arc::new(PageSite::new(page)), options);
        let link = Profile::plain(50e6, 10.0);
        let mut world = World::new(server.expect("a server"), Links::new(&link, &link, 0));
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 5000));
        let mut fetch = Fetch::connect(plan, local, address, &target.patience, world.now())
            .expect("a connection");
        while !fetch.is_over() && world.step(&mut [&mut fetch], None) {}
        Ok(fetch.fetched())
    };
    let effort = Effort { repeats: 2, others: 4, response_time: Duration::from_secs(1) };
    let runs = run_all_by(&target, effort, carry_out, |_| ()).expect("measured");
    let finding = judge(&runs);
    finding.committed_bytes.unwrap_or_else(|| panic!("it prioritizes: {finding:?}"))
}

#[test]
fn committed_bytes_are_those_of_the_send_buffer_within_a_fifth() {
    let committed = committed_bytes(0);
    assert!(committed <= 2 * 1350, "two packets: {committed}");
    for send_buffer_bytes in [16_384, 150_000, 1_000_000] {
        let committed = committed_bytes(send_buffer_bytes) as f64;
        let share = committed / send_buffer_bytes as f64;
        assert!((0.8..=1.2).contains(&share), "{send_buffer_bytes}: {committed}");
    }
}
