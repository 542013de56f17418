//! Attacks on a real server, and a soak of one, over loopback.

mod at_server;

use at_server::{at_proxy, at_server};
use gateway::site::RuledSite;
use server::site::{Body, Request, Response, Site};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stress::{File, Outcome, Soak, Soaked, StressError, Target, Visited, find, run, soak};

/// Bodies of as many bytes as their path states; one in this many is wrong.
#[derive(Default)]
struct Bodies {
    wrong_each: Option<u64>,
    served: AtomicU64,
    /// The only host that has them.
    host: Option<&'static str>,
}

impl Site for Bodies {
    fn respond(&self, request: &Request) -> Response {
        let number = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        let is_wrong = self.wrong_each.is_some_and(|it| number.is_multiple_of(it));
        if self.host.is_some_and(|it| it != request.authority) {
            return Response::empty(421);
        }
        let bytes = request.path.trim_start_matches('/').parse().unwrap_or(20_000);
        Response { body: Body::synthetic(bytes, 1 + u64::from(is_wrong)), ..Response::empty(200) }
    }
}

#[test]
fn each_broken_rule_of_http3_gets_its_code() {
    let outcome = at_server(RuledSite::of(Bodies::default()), |address| {
        let target = Target::new(address, vec![File::unknown("/")], None).expect("on this machine");
        let attack = find("malformed").expect("in the list");
        run(&target, attack, Duration::from_secs(3)).expect("carried out")
    });
    let expected = [(0x103, 1), (0x104, 1), (0x105, 4), (0x108, 1), (0x200, 1)];
    assert_eq!(outcome.attacked.codes, BTreeMap::from(expected));
}

#[test]
fn faults_of_http_2_end_their_connections_and_visitors_over_tcp_go_on() {
    at_server(RuledSite::of(Bodies::default()), |address| {
        let target = Target::new(address, vec![File::unknown("/")], None).expect("on this machine");
        assert!(target.answers_over_tcp().expect("a socket"));
        for (name, codes) in [
            ("h2-rapid-reset", &[0xb][..]),
            ("h2-continuations", &[0xb]),
            ("h2-many-fields", &[0xb]),
            ("tcp-garbage", &[]),
            ("tcp-comebacks", &[]),
        ] {
            let closed = |it: &Outcome| it.attacked.codes.keys().copied().collect::<Vec<_>>();
            let outcome = attacked(&target, name, |it| closed(it) == codes);
            assert_eq!(closed(&outcome), codes, "{name}");
            are_served(&outcome);
        }
    });
}

#[test]
fn heads_of_many_fields_and_gaps_end_their_connections_over_http_3() {
    at_server(RuledSite::of(Bodies::default()), |address| {
        let target = Target::new(address, vec![File::unknown("/")], None).expect("on this machine");
        for name in ["many-fields", "gaps"] {
            let closed = |it: &Outcome| it.attacked.codes.keys().copied().collect::<Vec<_>>();
            let outcome = attacked(&target, name, |it| closed(it) == [0x107]);
            assert_eq!(closed(&outcome), [0x107], "{name}");
            assert!(have_all_loaded(&outcome), "{name}: {outcome:?}");
        }
    });
}

/// The outcome of an attack that lasts a second, or longer if the machine is too busy for what is expected of it and of visitors.
fn attacked(target: &Target, name: &str, is_there: impl Fn(&Outcome) -> bool) -> Outcome {
    let attack = find(name).expect("in the list");
    let run = |seconds| run(target, attack, Duration::from_secs(seconds)).expect("carried out");
    let is_enough = |it: &Outcome| is_there(it) && have_all_loaded(it) && it.refused == 0;
    [1, 4, 16].into_iter().map(run).find(is_enough).unwrap_or_else(|| run(30))
}

/// Whether visitors of all versions loaded before, during and after an attack.
fn have_all_loaded(outcome: &Outcome) -> bool {
    outcome.visitors.iter().flat_map(Visited::phases).all(|it| it.responses > 0)
}

/// Visitors of all versions load before, during and after an attack over TCP.
fn are_served(outcome: &Outcome) {
    let protocols: Vec<&str> = outcome.visitors.iter().map(|it| it.protocol).collect();
    assert_eq!(protocols, ["HTTP/3", "HTTP/2", "HTTP/1.1"]);
    assert!(have_all_loaded(outcome), "{outcome:?}");
    assert_eq!(outcome.refused, 0, "{outcome:?}");
}

/// A target whose backend is this program, before a server that forwards WebSockets to it or not.
fn before_backend<T>(websockets: bool, attack: impl FnOnce(&Target) -> T) -> T {
    at_proxy(websockets, |server, backend| {
        let target = Target::new(server, vec![File::unknown("/")], None).expect("on this machine");
        attack(&target.before_backend_at(backend).expect("a free port"))
    })
}

#[test]
fn websockets_reach_the_backend_that_takes_part_and_visitors_go_on() {
    before_backend(true, |target| {
        for name in ["tunnels-garbage", "h2-tunnels-garbage", "h2-tunnels-unanswered"] {
            let outcome = attacked(target, name, |_| true);
            are_served(&outcome);
            let failures = outcome.failures.join("; ");
            assert!(!failures.contains("WebSocket") && !failures.contains("closed"), "{failures}");
        }
    });
}

#[test]
fn an_attack_on_websockets_says_when_none_reaches_the_backend_or_there_is_none() {
    let attack = find("tunnels-idle").expect("in the list");
    let outcome = before_backend(false, |target| run(target, attack, Duration::from_secs(1)));
    let failures = outcome.expect("carried out").failures.join("; ");
    assert!(failures.contains("no WebSocket reached the backend"), "{failures}");
    let alone = Target::new("127.0.0.1:1".parse().expect("an address"), Vec::new(), None);
    let refused = run(&alone.expect("on this machine"), attack, Duration::from_secs(1));
    let message = refused.expect_err("no backend").to_string();
    assert!(message.starts_with("tunnels-idle: needs a backend that participates"), "{message}");
}

/// A soak of four seconds, in which the server's process is this one.
fn soaked(site: Bodies) -> Soaked {
    at_server(RuledSite::of(site), |address| {
        let files = ["/300000", "/20000", "/0"].map(File::unknown).to_vec();
        let target = Target::new(address, files, Some(std::process::id()));
        let plan = Soak {
            length: Duration::from_secs(4),
            attacks: vec![find("rapid-reset").expect("in the list")],
            attack_length: Duration::from_secs(1),
            loss_percent: 2,
            patience: Duration::from_secs(30),
            moves: true,
            seed: 7,
        };
        soak(&target.expect("on this machine"), &plan, |_| {}).expect("carried out")
    })
}

#[test]
fn guests_of_a_soak_do_everything_and_find_nothing_wrong() {
    let soaked = soaked(Bodies::default());
    assert_eq!(soaked.failures, Vec::<String>::new());
    let seen = soaked.seen;
    let counts = [seen.bodies, seen.uploads, seen.cancelled, seen.resumed];
    assert!(counts.iter().all(|it| *it > 0), "{seen:?}");
    assert_eq!(soaked.rounds.len(), 2);
    assert!(soaked.rounds.iter().all(|it| it.memory_bytes > Some(1e6)), "{:?}", soaked.rounds);
}

#[test]
fn a_soak_sees_a_body_with_other_bytes_of_the_same_number() {
    let failures = soaked(Bodies { wrong_each: Some(20), ..Bodies::default() }).failures;
    assert!(failures.iter().any(|it| it.contains("x /20000: other bytes (20000)")), "{failures:?}");
}

#[test]
fn visitors_and_attackers_ask_for_the_host_that_is_named() {
    let site = Bodies { host: Some("example.com:8443"), ..Bodies::default() };
    let (named, unnamed) = at_server(RuledSite::of(site), |address| {
        let target = Target::new(address, vec![File::unknown("/")], None).expect("on this machine");
        let attack = find("rapid-reset").expect("in the list");
        let mut named = target.clone();
        named.authority = "example.com:8443".to_owned();
        [named, target].map(|it| run(&it, attack, Duration::from_secs(1))).into()
    });
    assert!(named.expect("carried out").visitors[0].during.responses > 0);
    assert!(matches!(unnamed, Err(StressError::NoFile { .. })));
}

#[test]
fn only_servers_on_this_machine_are_attacked() {
    let elsewhere = Target::new("192.0.2.1:443".parse().expect("an address"), Vec::new(), None);
    assert!(matches!(elsewhere, Err(StressError::Elsewhere(_))));
}
