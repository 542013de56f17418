//! What clients signal over the wire, and what servers make of it, from the servers' logs.

use corpus::Page;
use gateway::site::RuledSite;
use lab::Metadata;
use lab::network::Network;
use lab::scenario::Scenario;
use lab::stack::{self, Ends};
use lab::wire;
use page_site::PageSite;
use qlog_tools::reader::read_file;
use qlog_tools::replay::Replay;
use qlog_tools::trace::Trace;
use schedulers::{
    Call, Element, Kind, Resource, SCHEMES, Scheduler, Scheme, Signal, StreamId, find_scheme,
};
use server::{Identity, Options, Pace, SignalUse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

fn page() -> Arc<Page> {
    let page = corpus::bundled("gentelella-index").expect("bundled").clone();
    Arc::new(page)
}

fn scheme(name: &str) -> Scheme {
    find_scheme(name).expect("a scheme")
}

/// A server fast enough for a test, and slow enough that the client knows its settings before it requests the second
/// resource.
fn options(scheme: Scheme, signals: SignalUse) -> Options {
    let pace = Pace { packet_bytes: 14_000, interval: std::time::Duration::from_millis(2) };
    Options { signals, ..Options::new(scheme).paced(pace) }
}

/// The calls of the server's scheduler in a load.
fn calls(options: Options, client: client::Options) -> Vec<Call> {
    calls_of(&page(), options, client)
}

fn calls_of(page: &Arc<Page>, options: Options, client: client::Options) -> Vec<Call> {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = folder.path();
    let scheme = options.scheme.clone();
    let options = Options { qlog_dir: Some(logs.to_owned()), ..options };
    let setup = wire::Setup { client, metadata: Metadata::Full, ..wire::Setup::new(options, logs) };
    let load = wire::load(page, setup).expect("a load").load;
    assert!(load.completed);
    let trace = read_file(&server_log(logs)).expect("a log");
    assert_replayed(&trace, &scheme);
    trace.scheduler_calls().iter().map(|it| it.call.clone().expect("a call")).collect()
}

/// The log names its scheme, and its calls, made again, give every pick of the log, and therefore every tree. In the last
/// tree nothing is left.
fn assert_replayed(trace: &Trace, scheme: &Scheme) {
    let mut replay = Replay::new(trace, None, None).expect("calls");
    let (of, tree) = replay.tree_at(u64::MAX).expect(&scheme.name).expect("a scheme");
    assert_eq!(of.name, scheme.name);
    let streams = tree.nodes.iter().filter(|it| it.element.stream().is_some() && it.ready);
    assert_eq!(streams.count(), 0, "{}: {tree}", scheme.name);
}

fn server_log(folder: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("readable").path());
    files
        .into_iter()
        .find(|it| it.to_string_lossy().ends_with("_server.sqlog"))
        .expect("a server's log")
}

fn signals(calls: &[Call]) -> Vec<Signal> {
    let signal = |it: &Call| match it {
        Call::Signal(signal) => Some(*signal),
        _ => None,
    };
    calls.iter().filter_map(signal).collect()
}

#[test]
fn what_every_schemes_client_says_reaches_an_obedient_server() {
    for scheme in SCHEMES.iter() {
        let Ok(mut half) = scheme.client_half() else { continue };
        // A priority field that says RFC 9218's defaults is left out. How often a group is weighed anew depends on time.
        let counts = |signals: &[Signal]| {
            let is_default = |it: &Signal| {
                matches!(it, Signal::Extensible { urgency: 3, incremental: false, .. })
            };
            signals.iter().filter(|it| it.stream().is_some() && !is_default(it)).count()
        };
        let mut said = 0;
        for (place, resource) in page().resources.iter().enumerate() {
            let stream = StreamId(place as u64 * 4);
            said += counts(&half.request(stream, &resource.for_scheduler()));
        }
        let client = client::Options { scheme: Some(scheme.clone()), ..client::Options::default() };
        let heard = signals(&calls(options(scheme.clone(), SignalUse::Obey), client));
        assert_eq!(counts(&heard), said, "{}: signals heard and said", scheme.name);
    }
}

/// The calls of the server's scheduler when the page of Davies and Meenan is loaded on the paper's network, in virtual time.
fn calls_in_virtual_time(scheme: &Scheme, signals: SignalUse) -> Vec<Call> {
    let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
    let folder = tempfile::tempdir().expect("a folder");
    let logs = folder.path();
    let network = Network::find("paper").expect("bundled");
    let identity = Identity::self_signed().expect("an identity");
    let options = Options { signals, ..Options::new(scheme.clone()) };
    let options = match network.pace() {
        Some(pace) => options.paced(pace),
        None => options,
    };
    let client = client::Options { scheme: Some(scheme.clone()), ..client::Options::default() };
    let ends = Ends { site: RuledSite::of(PageSite::new(Page::clone(&page))), client };
    let setup =
        stack::Setup { log_dir: Some(logs), ..stack::Setup::new(options, &network, &identity) };
    assert!(stack::load_between(&page, &ends, setup).expect("a load").load.completed);
    let trace = read_file(&server_log(logs)).expect("a log");
    trace.scheduler_calls().iter().map(|it| it.call.clone().expect("a call")).collect()
}

/// The streams in the order of their packets.
fn sent(calls: &[Call]) -> Vec<u64> {
    let sent = calls.iter().filter_map(|it| match it {
        Call::Sent(stream, _) => Some(stream.0),
        _ => None,
    });
    sent.collect()
}

/// Of the paper's eleven none differs, although the client knows half a round trip later what is complete.
#[test]
fn a_server_that_obeys_sends_in_the_order_of_the_schemes_that_clients_signal() {
    for scheme in schedulers::paper_schemes() {
        let placed = calls_in_virtual_time(scheme, SignalUse::Ignore);
        let signalled = calls_in_virtual_time(scheme, SignalUse::Obey);
        let knows = |call: &Call| matches!(call, Call::Open(_, it) if it.kind != Kind::Other);
        assert_eq!(placed.iter().filter(|it| knows(it)).count(), 9, "{}", scheme.name);
        assert_eq!(signalled.iter().filter(|it| knows(it)).count(), 0, "{}", scheme.name);
        assert_eq!(sent(&placed), sent(&signalled), "{}", scheme.name);
    }
}

/// A row of `docs/schemes.md`: the scheme, the placeholders of the paper's table, ours, other frames or fields, and how
/// many of them change a weight.
fn row(scheme: &Scheme) -> String {
    let heard = signals(&calls_in_virtual_time(scheme, SignalUse::Obey));
    let groups: Vec<Element> = heard
        .iter()
        .filter_map(|it| match it {
            Signal::Depend { element: element @ Element::Placeholder(_), .. } => Some(*element),
            _ => None,
        })
        .collect();
    let placeholders = groups.iter().collect::<BTreeSet<_>>().len();
    let weighed_anew = groups.len() - placeholders;
    let others = heard.len() - placeholders;
    let Scheme { name, placeholders: published, .. } = scheme;
    format!("| `{name}` | {published} | {placeholders} | {others} | {weighed_anew} |")
}

/// The page has nine requests. HIGH fills and empties twice under `p+` and once under `s+`.
#[test]
fn the_documented_signals_of_a_page_are_those_that_an_obedient_server_hears() {
    let rows: Vec<String> = schedulers::paper_schemes().iter().map(row).collect();
    let expected = [
        "| `rr` | 0 | 0 | 0 | 0 |",
        "| `wrr` | 0 | 0 | 9 | 0 |",
        "| `fifo` | 0 | 0 | 9 | 0 |",
        "| `dfifo` | 5 | 0 | 9 | 0 |",
        "| `firefox` | 6 | 6 | 9 | 0 |",
        "| `p+` | 3 | 3 | 13 | 4 |",
        "| `s+` | 8 | 8 | 11 | 2 |",
        "| `spdyrr` | 5 | 0 | 9 | 0 |",
        "| `bucket` | 0 | 0 | 9 | 0 |",
        "| `bucket-html` | 0 | 0 | 9 | 0 |",
        "| `zeroweight` | 0 | 0 | 9 | 0 |",
    ];
    assert_eq!(rows, expected);
    let documented = include_str!("../../../docs/schemes.md");
    assert!(documented.contains(&rows.join("\n")), "docs/schemes.md: {rows:#?}");
}

/// The scenarios of the repository in which the client sends no signals of its own.
const SCENARIOS: [&str; 1] = [include_str!("../../../examples/late-stylesheet.json")];

/// The stream of each packet. The server knows the resources, or the scheme's client signals their places.
fn scenario_order(scenario: &Scenario, scheme: &Scheme, is_signalled: bool) -> Vec<u64> {
    let mut scheduler = Scheduler::new(scheme);
    let mut client = scheme.client_half().expect("a client can signal it");
    let say = |scheduler: &mut Scheduler, signals: Vec<Signal>| {
        signals.into_iter().filter(|_| is_signalled).for_each(|it| scheduler.signal(it));
    };
    say(&mut scheduler, client.setup());
    let (mut left, mut order) = (BTreeMap::new(), Vec::new());
    for slot in 0..1000 {
        for request in scenario.requests.iter().filter(|it| it.arrival_slot == slot) {
            let stream = StreamId(request.stream);
            let unknown = Resource::default();
            scheduler.open(stream, if is_signalled { &unknown } else { &request.resource });
            say(&mut scheduler, client.request(stream, &request.resource));
            scheduler.set_ready(stream, true);
            left.insert(stream, request.bytes);
        }
        let Some(picked) = scheduler.pick() else { continue };
        let rest = left.get_mut(&picked).expect("open");
        let bytes = scenario.packet_bytes.min(*rest);
        *rest -= bytes;
        scheduler.sent(picked, bytes);
        order.push(picked.0);
        if *rest == 0 {
            scheduler.close(picked);
            say(&mut scheduler, client.closed(picked));
        }
    }
    order
}

#[test]
fn a_scenario_has_one_order_placed_by_the_server_and_signalled() {
    for json in SCENARIOS {
        let scenario = Scenario::parse(json, "scenario").expect("a scenario");
        for scheme in schedulers::paper_schemes() {
            let placed = scenario_order(&scenario, scheme, false);
            assert_eq!(placed.len(), 14, "{}", scheme.name);
            assert_eq!(placed, scenario_order(&scenario, scheme, true), "{}", scheme.name);
        }
    }
}

#[test]
fn a_server_that_ignores_signals_hears_none() {
    let client = client::Options { scheme: Some(scheme("firefox")), ..client::Options::default() };
    assert!(signals(&calls(options(scheme("firefox"), SignalUse::Ignore), client)).is_empty());
}

#[test]
fn a_client_without_a_scheme_adopts_the_servers() {
    let heard =
        signals(&calls(options(scheme("zeroweight"), SignalUse::Obey), client::Options::default()));
    let weight = |it: &Signal| match *it {
        Signal::Depend { weight, .. } => Some(weight),
        _ => None,
    };
    let weights: BTreeSet<u16> = heard.iter().filter_map(weight).collect();
    // Stylesheets, scripts, fonts, images.
    assert!(weights.is_superset(&BTreeSet::from([24, 254])), "{weights:?}");
}

#[test]
fn metadata_of_the_client_lets_an_ignorant_server_run_any_scheme() {
    let client = client::Options {
        scheme: Some(scheme("rr")),
        says: client::Says::Metadata,
        ..client::Options::default()
    };
    let calls = calls(options(scheme("bucket-html"), SignalUse::Obey), client);
    let opened: Vec<Resource> = calls
        .into_iter()
        .filter_map(|it| match it {
            Call::Open(_, resource) => Some(resource),
            _ => None,
        })
        .collect();
    let count = |kind| opened.iter().filter(|it| it.kind == kind).count();
    // As the page says: 1 document, 8 stylesheets, 25 scripts, 6 fonts, 2 images.
    let kinds = [Kind::Html, Kind::Css, Kind::Js, Kind::Font, Kind::Image];
    assert_eq!(kinds.map(count), [1, 8, 25, 6, 2]);
    assert!(opened.iter().any(|it| it.critical && it.in_head));
}

/// The scheduler's last call about each stream, as `stream:urgency` with `i` for incremental.
fn urgencies(use_of: SignalUse) -> String {
    let profile = client::profile::Profile::find("chrome-2023").expect("bundled");
    let page = profile.applied_to(corpus::bundled("davies-meenan").expect("bundled").clone());
    let client = client::Options { scheme: Some(scheme("rfc9218")), ..client::Options::default() };
    let calls = calls_of(&Arc::new(page), options(scheme("rfc9218"), use_of), client);
    let mut last = std::collections::BTreeMap::new();
    for signal in signals(&calls) {
        if let Signal::Extensible { stream, urgency, incremental } = signal {
            last.insert(stream, format!("{urgency}{}", if incremental { "i" } else { "" }));
        }
    }
    last.into_values().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_server_that_knows_the_hero_overrides_the_browsers_urgency_and_nothing_else() {
    // index.html, top.js, three hidden images, background, font, hero, bottom.js.
    assert_eq!(urgencies(SignalUse::Obey), "0i 1 3i 3i 3i 3i 0 3i 2");
    assert_eq!(urgencies(SignalUse::Override), "0i 1 3i 3i 3i 3i 0 1i 2");
}
