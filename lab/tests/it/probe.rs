//! The probe against servers whose order is known.

use client::Verify;
use client::probe::Patience;
use corpus::Page;
use lab::probe::{Effort, Finding, Target, Verdict, judge, run_all};
use page_site::PageSite;
use schedulers::find_scheme;
use server::event_loop::EventLoop;
use server::{Identity, Options, Server, SignalUse};
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

/// What the probe finds out about a server of ours.
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
    let target = Target {
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
    };
    let effort = Effort { repeats: 5, others: 4, response_time: Duration::from_millis(20) };
    let runs = run_all(&target, effort, |_| ());
    stop.stop();
    serving.join().expect("no panic").expect("served");
    judge(&runs.expect("measured"))
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

/// What the client lets the server send before it has read: an eighth of a response. On a busy machine so much may be on
/// its way in every run.
const WINDOW_BYTES: f64 = 37_500.0;

#[test]
fn committed_bytes_are_those_of_the_send_buffer() {
    for send_buffer_bytes in [0, 16_384, 150_000] {
        let options = Options {
            signals: SignalUse::Obey,
            send_buffer_bytes,
            ..Options::new(find_scheme("rfc9218").expect("a scheme"))
        };
        let committed = finding_of(options).committed_bytes.expect("it prioritizes");
        let expected = send_buffer_bytes as f64;
        let limits = 0.8 * expected..=1.2 * expected + WINDOW_BYTES;
        assert!(limits.contains(&(committed as f64)), "{send_buffer_bytes}: {committed:?}");
    }
}
