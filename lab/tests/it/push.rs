//! Server push from end to end, over quiche in virtual time.

mod caching;

use client::HttpCache;
use corpus::Page;
use gateway::site::{Pushing, Rule, RuledSite};
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use lab::study::{Plan, RunRecord, Settings, engines, run};
use lab::{Contender, Metadata};
use page_site::PageSite;
use push::{Gate, Policy};
use schedulers::{Language, Needs, REGISTRY, Scheme, find_scheme};
use server::{Identity, Options, SignalUse};
use std::sync::Arc;

/// A document that refers to `resources` in its head, each of 10,000 bytes, and thinks for `wait_ms`.
fn page(resources: usize, wait_ms: f64) -> Arc<Page> {
    let mut page = serde_json::json!({
        "format": "utmost-page/1", "name": "pushed",
        "source": {"kind": "hand", "from": "a test", "licence": "MIT"},
        "viewport": [1366, 768],
        "origins": [{"host": "site.example", "party": "first"}],
        "resources": [{"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 5000, "main": true,
            "wait_ms": wait_ms, "trigger": {"on": "nav"}}],
    });
    for id in 1..=resources {
        let resource = serde_json::json!({"id": id, "url": format!("/{id}.js"), "kind": "js", "mime": "text/javascript",
            "bytes": 10_000, "in_head": true, "trigger": {"on": "bytes", "of": 0, "byte": 1000}});
        page["resources"].as_array_mut().expect("a list").push(resource);
    }
    Arc::new(serde_json::from_value(page).expect("a page"))
}

fn pushing(page: &Page) -> Pushing {
    Pushing {
        push: page.resources[1..].iter().map(|it| it.url.clone()).collect(),
        ..Pushing::default()
    }
}

struct Case {
    page: Arc<Page>,
    /// What accompanies the response at `path`.
    pushing: Pushing,
    path: &'static str,
    other_rules: Vec<Rule>,
    client: client::Options,
    network: Network,
    scheme: Scheme,
    signals: SignalUse,
}

impl Case {
    fn new(page: Arc<Page>) -> Self {
        let client = client::Options { pushes: 50, ..client::Options::default() };
        let network = Network::find("3g").expect("built in");
        let (pushing, path) = (pushing(&page), "/");
        let (other_rules, signals) = (Vec::new(), SignalUse::Ignore);
        let scheme = find_scheme("rfc9218").expect("a scheme");
        Self { page, pushing, path, other_rules, client, network, scheme, signals }
    }

    fn rules(&self) -> Vec<Rule> {
        let own = Rule::pushing(self.path, self.pushing.clone());
        [vec![own], self.other_rules.clone()].concat()
    }

    fn load(&self, seed: u64) -> StackLoad {
        let site = Arc::new(PageSite::new(Page::clone(&self.page)));
        let ends = Ends { site: RuledSite::new(site, self.rules()), client: self.client.clone() };
        let identity = Identity::self_signed().expect("a certificate");
        let options = Options { signals: self.signals, ..Options::new(self.scheme.clone()) };
        let setup = Setup { seed, ..Setup::new(options, &self.network, &identity) };
        load_between(&self.page, &ends, setup).expect("a load")
    }
}

/// When the last byte of the document, and of all, arrived, in milliseconds.
fn done_ms(load: &StackLoad) -> [f64; 2] {
    let last = |only: fn(u64) -> bool| {
        let frames = load.load.timeline.frames.iter().filter(|it| only(it.stream));
        frames.map(|it| it.time_us).max().unwrap_or(0) as f64 / 1000.0
    };
    [last(|stream| stream == 0), last(|_| true)]
}

#[test]
fn a_pushed_script_saves_a_round_trip() {
    let pushed = Case::new(page(1, 0.0));
    let mut asked = Case::new(page(1, 0.0));
    asked.client.pushes = 0;
    let (pushed, asked) = (pushed.load(1), asked.load(1));
    assert_eq!((&pushed.problems, &pushed.outcome.pushed), (&Vec::new(), &vec![(1, true)]));
    assert_eq!((&asked.problems, &asked.outcome.pushed), (&Vec::new(), &Vec::new()));
    let paths: Vec<&str> =
        pushed.load.timeline.transfers.iter().map(|it| it.url.as_str()).collect();
    assert_eq!(
        paths,
        ["https://site.example/", "https://site.example/1.js"],
        "the log tells of it"
    );
    let saved_ms = done_ms(&asked)[1] - done_ms(&pushed)[1];
    assert!((100.0..220.0).contains(&saved_ms), "{saved_ms}");
}

/// The window of the path is no use beyond what the client takes on the connection (rule 1, "the true cwnd may be artificially limited
/// by the client's receive window").
#[test]
fn a_policy_pushes_no_more_than_the_client_takes_on_the_connection() {
    let pushed = |receive_bytes: u64| {
        let mut case = Case::new(page(12, 0.0));
        let graph = push::Graph::of_page(&case.page);
        case.pushing = Pushing {
            policy: Some(Policy::Push),
            graph: Some(Arc::new(graph)),
            max_concurrent_pushes: Some(50),
            ..Pushing::default()
        };
        case.client.transport.receive_bytes = receive_bytes;
        case.client.transport.windows_grow = false;
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new());
        load.outcome.pushed.len()
    };
    // An initial window of ten packets takes the document of 5 KB, one script of 10 KB, and the one that just exceeds it.
    assert_eq!([1_000_000, 10_000, 5_000].map(pushed), [1, 1, 0]);
}

/// A link that reorders, delays and loses; the load's seed determines its random events.
fn reordering() -> Network {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("reordering.toml");
    let text = "rate = 5_000_000\ndelay_ms = 20\nqueue = { packets = 100 }\nloss = 0.01\n\
                jitter = { share = 0.25, later = [1, 3] }\nreorder = { share = 0.2, by_ms = 15 }\n";
    std::fs::write(&file, text).expect("written");
    Network::find(file.to_str().expect("UTF-8")).expect("a network")
}

/// 1,000 loads over a link that reorders: a promise comes before the bytes that refer to what it promises, whatever
/// overtakes what, so that nothing is both pushed and asked for.
#[test]
fn no_promised_resource_is_asked_for_however_packets_are_reordered() {
    let mut case = Case::new(page(4, 5.0));
    case.network = reordering();
    let (mut pushed_to, mut overtaken) = (0, 0);
    for seed in 0..1000 {
        let load = case.load(seed);
        assert_eq!(load.problems, Vec::<String>::new(), "seed {seed}");
        let used = load.outcome.pushed.iter().filter(|(_, used)| *used).count();
        assert_eq!(
            (used, load.outcome.refused_pushes),
            (load.outcome.pushed.len(), 0),
            "seed {seed}"
        );
        // Each resource came once: by a push, otherwise by a request.
        let streams: Vec<u64> = load.load.timeline.transfers.iter().map(|it| it.stream).collect();
        let asked = streams.iter().filter(|it| it.is_multiple_of(4)).count();
        assert_eq!((streams.len(), asked), (5, 5 - used), "seed {seed}");
        // The server may not push where the client's leave to do so comes behind its request.
        assert!(matches!(used, 0 | 4), "seed {seed}: {used}");
        pushed_to += usize::from(used == 4);
        let is_own = |stream: u64| [3, 7, 11].contains(&stream);
        let mut frames = load.load.timeline.frames.iter().filter(|it| !is_own(it.stream));
        overtaken += usize::from(frames.next().is_some_and(|it| it.stream != 0));
    }
    assert!(pushed_to > 950, "{pushed_to}");
    assert!(
        overtaken > 0,
        "in some loads a push's bytes overtake its promise, or nothing was tested"
    );
}

#[test]
fn what_the_client_has_cached_is_refused_and_needs_no_request() {
    let mut case = Case::new(page(3, 0.0));
    case.client.cache = HttpCache::fresh([case.page.url(2)]);
    let load = case.load(1);
    assert_eq!((load.problems, load.outcome.pushed), (Vec::new(), vec![(1, true), (3, true)]));
    assert_eq!(load.outcome.refused_pushes, 1);
}

#[test]
fn a_repeat_visit_is_pushed_nothing_that_is_cached() {
    let mut case = Case::new(page(8, 0.0));
    case.pushing.evidence.cache_digest = true;
    case.client.cache_digest = true;
    let first = case.load(1);
    assert_eq!((first.problems, first.outcome.pushed.len()), (Vec::new(), 8));
    case.client.cache = HttpCache::fresh((1..=8).map(|it| case.page.url(it)));
    let second = case.load(2);
    assert_eq!((second.problems, second.outcome.pushed), (Vec::new(), Vec::new()));
    assert_eq!(second.outcome.refused_pushes, 0, "nothing was even promised");
    // Without the digest all would be: refused, for they are cached.
    case.client.cache_digest = false;
    assert_eq!(case.load(3).outcome.refused_pushes, 8);
}

#[test]
fn a_first_visit_cookie_ends_the_pushes() {
    let mut case = Case::new(page(3, 0.0));
    case.pushing.push_when = push::visits::PushWhen::CookieAbsent("session".into());
    let first = case.load(1);
    case.client.cookies = first.outcome.cookies;
    assert_eq!((first.outcome.pushed.len(), case.load(2).outcome.pushed.len()), (3, 0));
}

#[test]
fn no_more_pushes_than_the_operator_allows_are_under_way() {
    let mut case = Case::new(page(6, 0.0));
    case.pushing.max_concurrent_pushes = Some(2);
    assert_eq!(case.load(1).outcome.pushed, [(1, true), (2, true)]);
}

#[test]
fn a_strict_gate_keeps_pushes_behind_a_document_that_comes_late() {
    let document_ms = |gate| {
        let mut case = Case::new(page(10, 50.0));
        case.pushing.gate = gate;
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new());
        done_ms(&load)[0]
    };
    let (strict, preempt) = (document_ms(Some(Gate::Strict)), document_ms(Some(Gate::Preempt)));
    let eager = document_ms(Some(Gate::EagerFifo(435_000)));
    assert!(strict < preempt && preempt < eager, "{strict} {preempt} {eager}");
}

#[test]
fn handlers_in_random_order_put_some_pushes_before_a_document_and_the_others_after_it() {
    let document_ms = |gate| {
        let mut case = Case::new(page(6, 0.0));
        case.pushing.gate = Some(gate);
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new(), "{gate:?}");
        assert_eq!(load.outcome.pushed.len(), 6, "{gate:?}");
        done_ms(&load)[0]
    };
    let alone_ms = document_ms(Gate::Strict);
    let delays_ms: Vec<f64> = (0..20).map(|it| document_ms(Gate::Shuffle(it)) - alone_ms).collect();
    let least = delays_ms.iter().copied().fold(f64::INFINITY, f64::min);
    let most = delays_ms.iter().copied().fold(0.0, f64::max);
    // Six pushes of 10,000 bytes take 360 ms at 1360 kbit/s, and a window holds 13,500 bytes.
    assert!((-5.0..5.0).contains(&least) && (200.0..700.0).contains(&most), "{delays_ms:?}");
}

/// The paths of all responses, in the order of completion.
fn order(load: &StackLoad) -> Vec<String> {
    let timeline = &load.load.timeline;
    let deliveries = timeline.deliveries();
    let complete = timeline.transfers.iter().zip(&deliveries).map(|(transfer, delivery)| {
        (delivery.complete_us, transfer.url.trim_start_matches("https://site.example").to_owned())
    });
    let mut complete: Vec<_> = complete.collect();
    complete.sort();
    complete.into_iter().map(|(_, path)| path).collect()
}

/// A document; two images that it pushes; a script that it also names, which is requested and more urgent than an image.
fn siblings(script_urgency: Option<u8>) -> Case {
    let mut page = Page::clone(&page(3, 0.0));
    for id in [1, 2] {
        let image = &mut page.resources[id];
        (image.kind, image.mime) = (schedulers::Kind::Image, "image/png".into());
        image.bytes = 40_000;
    }
    page.resources[3].browser =
        script_urgency.map(|urgency| corpus::page::BrowserPriority { urgency, incremental: false });
    let mut case = Case::new(Arc::new(page));
    case.pushing.push.truncate(2);
    case.client.scheme = Some(find_scheme("rfc9218").expect("a scheme"));
    case
}

#[test]
fn where_clients_decide_pushes_stand_after_their_document_and_before_what_is_asked_for_later() {
    let mut case = siblings(None);
    case.signals = SignalUse::Obey;
    assert_eq!(order(&case.load(1)), ["/", "/1.js", "/2.js", "/3.js"]);
    // The client makes the script as urgent as the document: that takes precedence.
    let mut case = siblings(Some(0));
    case.signals = SignalUse::Obey;
    assert_eq!(order(&case.load(1)), ["/", "/3.js", "/1.js", "/2.js"]);
}

/// When a script is complete of which the server pushes as many as the client accepts, in milliseconds. The document names it before
/// seven images.
fn script_ms(scheme: &Scheme, pushes: u64) -> f64 {
    let mut page = Page::clone(&page(8, 0.0));
    page.resources[1].bytes = 40_000;
    for image in &mut page.resources[2..] {
        (image.kind, image.mime) = (schedulers::Kind::Image, "image/png".into());
        image.bytes = 60_000;
    }
    let mut case = Case::new(Arc::new(page));
    case.pushing.push.truncate(1);
    (case.client.pushes, case.client.scheme) = (pushes, Some(scheme.clone()));
    (case.scheme, case.signals) = (scheme.clone(), SignalUse::Obey);
    let load = case.load(1);
    assert_eq!((&load.problems, load.outcome.pushed.len() as u64), (&Vec::new(), pushes));
    let timeline = &load.load.timeline;
    let mut transfers = timeline.transfers.iter().zip(timeline.deliveries());
    let script = transfers.find(|(it, _)| it.url.ends_with("/1.js")).expect("a transfer");
    script.1.complete_us.expect("complete") as f64 / 1000.0
}

#[test]
fn under_every_scheme_of_the_tree_a_pushed_script_comes_before_one_that_is_asked_for() {
    let of_tree = |it: &&Scheme| it.signals == Language::Tree && it.needs == Needs::Nothing;
    for scheme in REGISTRY.iter().filter(of_tree) {
        let (pushed_ms, asked_ms) = (script_ms(scheme, 1), script_ms(scheme, 0));
        assert!(pushed_ms < asked_ms, "{}: {pushed_ms}, {asked_ms}", scheme.name);
    }
}

#[test]
fn where_the_server_knows_kinds_a_script_overtakes_pushed_images() {
    assert_eq!(order(&siblings(None).load(1))[..2], ["/", "/3.js"]);
}

#[test]
fn what_a_link_field_preloads_is_asked_for_at_once_and_only_once() {
    let mut page = Page::clone(&page(2, 1.0));
    page.resources[2].trigger =
        serde_json::from_value(serde_json::json!({"on": "timer", "of": 1})).expect("a trigger");
    let page = Arc::new(page);
    let done_ms = |hints: Vec<String>| {
        let mut case = Case::new(Arc::clone(&page));
        case.pushing.push.clear();
        case.pushing.early_hints = hints;
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new());
        assert_eq!(load.load.timeline.transfers.len(), 3);
        done_ms(&load)[1]
    };
    let hinted = done_ms(vec!["</2.js>; rel=preload; as=script".into()]);
    let saved_ms = done_ms(Vec::new()) - hinted;
    assert!((100.0..260.0).contains(&saved_ms), "{saved_ms}");
    done_ms(vec![
        "</1.js>; rel=preload; as=script, </2.js>; rel=preload; as=script".into(),
        "</2.js>; rel=preload; as=script".into(),
    ]);
}

/// A document that names a script and a stylesheet; the stylesheet's image would be pushed with it.
#[test]
fn nothing_is_pushed_in_the_middle_of_a_load_while_more_urgent_responses_wait() {
    let pushed = |script_bytes: u64| {
        let mut page = Page::clone(&page(3, 0.0));
        page.resources[1].bytes = script_bytes;
        let sheet = &mut page.resources[2];
        (sheet.kind, sheet.mime) = (schedulers::Kind::Css, "text/css".into());
        sheet.bytes = 200;
        let image = &mut page.resources[3];
        (image.kind, image.mime) = (schedulers::Kind::Image, "image/png".into());
        image.in_head = false;
        image.trigger = serde_json::from_value(serde_json::json!({"on": "css_applied", "of": 2}))
            .expect("a trigger");
        let mut case = Case::new(Arc::new(page));
        let graph = Arc::new(push::Graph::of_page(&case.page));
        case.path = "/2.js";
        case.pushing =
            Pushing { policy: Some(push::Policy::Push), graph: Some(graph), ..Pushing::default() };
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new());
        load.outcome.pushed
    };
    assert!(pushed(200_000).is_empty(), "the script is under way");
    assert_eq!(pushed(1), [(3, true)]);
}

/// The time of a packet on `paper`.
const PACKET_MS: f64 = 10.0;

/// The server paces: with congestion control, a promise of a few bytes changes what bbr2 measures at its start, and so the
/// document's time by 100 ms in either direction.
#[test]
fn no_push_behind_a_gate_makes_a_bundled_document_later() {
    let pages = ["lighthouse-cnn", "generated-large", "agency-index"]
        .map(|it| Arc::new(corpus::bundled(it).expect("bundled").clone()));
    let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("known")).to_vec();
    let network = Network::find("paper").expect("built in");
    let settings = Settings {
        pushes: vec![Policy::NoOpt, Policy::Push],
        gates: vec![Gate::Preempt, Gate::Strict, Gate::Throttle(8900)],
        ..Settings::on(network.clone(), engines::STACK)
    };
    let plan = Plan::new(pages.to_vec(), schemes, engines::STACK, network);
    let study = run(
        &Plan { settings, metadata: Metadata::Full, jobs: 2, ..plan },
        serde_json::Value::Null,
        &|| (),
    );
    let runs = study.expect("a study").runs;
    let document_ms = |load: &RunRecord| {
        let document = load.resources.iter().find(|it| it.id == 0);
        document.and_then(|it| it.complete_ms).expect("a document")
    };
    for load in &runs {
        let is_plain = |it: &&RunRecord| it.setting.push == Some(Policy::NoOpt);
        let same = |it: &&RunRecord| it.page == load.page && it.scheme == load.scheme;
        let plain = document_ms(runs.iter().filter(is_plain).find(same).expect("without pushes"));
        let later_ms = document_ms(load) - plain;
        let allowed_ms = (plain * 0.02).max(PACKET_MS);
        let RunRecord { page, scheme, setting, .. } = load;
        assert!(later_ms <= allowed_ms, "{page} {scheme} {:?}: {later_ms}", setting.gate);
    }
}
