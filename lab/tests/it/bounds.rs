//! The brackets and the lower bound, beside brute force on random small pages.

mod brute_force;
mod random_page;

use brute_force::{Range, brute_force};
use corpus::Page;
use lab::bounds::{
    Bracket, Effort, anti_oracle, is_monotone, lower_bound_ms, oracle, packets_of, replay,
};
use lab::ideal::Conditions;
use lab::network::Network;
use lab::study::{Engine, Plan, RunRecord, engines, run};
use lab::{Contender, Load, ideal};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedulers::SCHEMES;
use std::sync::Arc;

/// Pages that are compared with brute force.
const PAGES: usize = 300;
/// Enough for branch and bound to finish on each of them.
const EFFORT: Effort = Effort { nodes: 500_000, steps: 50 };
/// Indices are sums of whole microseconds divided once.
const TOLERANCE_MS: f64 = 1e-6;

fn atf_ms(page: &Page, load: &Load) -> f64 {
    RunRecord::of_load(page, load).byte_index().atf.expect("something is above the fold")
}

/// Bundled pages of every source and size; searching all of them takes minutes.
fn bundled() -> Vec<Arc<Page>> {
    [
        "agency-index",
        "davies-meenan",
        "fomantic-homepage",
        "gentelella-index",
        "lighthouse-intercom",
        "case-study-1",
        "landing-home",
    ]
    .into_iter()
    .filter_map(corpus::bundled)
    .map(|it| Arc::new(it.clone()))
    .collect()
}

fn network(name: &str) -> Network {
    Network::find(name).expect("built in")
}

/// The results of all searches on one page.
struct Judged {
    page: Arc<Page>,
    network: Network,
    bound_ms: f64,
    best: Bracket,
    worst: Bracket,
    all: Range,
}

fn judge(seed: u64) -> Judged {
    let (page, network) = random_page::page(seed);
    Judged {
        bound_ms: lower_bound_ms(&page, &network).expect("a bound"),
        best: oracle(&page, &network, EFFORT).expect("a best order"),
        worst: anti_oracle(&page, &network, EFFORT).expect("a worst order"),
        all: brute_force(&page, &network, 0),
        page,
        network,
    }
}

#[test]
fn on_small_pages_the_brackets_are_those_of_brute_force_and_hold_every_scheme() {
    let (mut gaps, mut orders, mut loose) = (Vec::new(), 0, 0);
    for seed in 0..PAGES as u64 {
        let Judged { page, network, bound_ms, best, worst, all } = judge(seed);
        let text = || format!("page {seed}, {network:?}: {}", page.to_text());
        assert!(best.proven && worst.proven, "{}", text());
        assert!((best.index_ms - all.least_ms).abs() < TOLERANCE_MS, "{best:?} {all:?} {}", text());
        assert!(
            (worst.index_ms - all.most_ms).abs() < TOLERANCE_MS,
            "{worst:?} {all:?} {}",
            text()
        );
        assert!(bound_ms <= best.index_ms + TOLERANCE_MS, "{bound_ms} {best:?} {}", text());
        for scheme in SCHEMES.iter() {
            let index_ms =
                atf_ms(&page, &ideal::load(&page, scheme, &network, Conditions::default()));
            assert!(index_ms >= best.index_ms - TOLERANCE_MS, "{} {}", scheme.name, text());
            assert!(index_ms <= worst.index_ms + TOLERANCE_MS, "{} {}", scheme.name, text());
        }
        gaps.push(best.index_ms / bound_ms);
        orders += all.orders;
        loose += usize::from(best.index_ms < worst.index_ms - TOLERANCE_MS);
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let most = gaps.iter().copied().fold(1.0, f64::max);
    println!(
        "{PAGES} pages, {orders} orders; on {loose} the order matters; \
         oracle / lower bound: mean {mean:.4}, most {most:.4}"
    );
    assert!(loose > PAGES / 2, "pages on which the order matters");
}

#[test]
fn an_empty_slot_never_leads_below_the_lower_bound_and_never_helps_on_a_monotone_page() {
    let (mut gained, mut monotone) = (0, 0);
    for seed in 0..100 {
        let (page, network) = random_page::page(seed);
        let bound_ms = lower_bound_ms(&page, &network).expect("a bound");
        let (idle, busy) = (brute_force(&page, &network, 1), brute_force(&page, &network, 0));
        assert!(bound_ms <= idle.least_ms + TOLERANCE_MS, "page {seed}");
        let helps = idle.least_ms < busy.least_ms - TOLERANCE_MS;
        assert!(!helps || !is_monotone(&page, &network), "page {seed}: {}", page.to_text());
        gained += usize::from(helps);
        monotone += usize::from(is_monotone(&page, &network));
    }
    println!("of 100 pages {monotone} are monotone; on {gained} an empty slot helps");
    assert!(monotone > 20);
}

#[test]
fn a_bracket_loads_as_it_says() {
    for seed in 0..50 {
        let Judged { page, network, best, worst, .. } = judge(seed);
        for bracket in [best, worst] {
            let load = replay(&page, &network, &bracket.schedule, "bracket");
            assert!(load.completed);
            assert!((atf_ms(&page, &load) - bracket.index_ms).abs() < TOLERANCE_MS);
        }
    }
}

#[test]
fn a_replayed_order_is_the_load_of_the_engine_packet_by_packet() {
    let random = (0..100).map(random_page::page);
    let pages = bundled()
        .into_iter()
        .flat_map(|it| ["paper", "3g", "cable"].map(|name| (Arc::clone(&it), network(name))));
    for (page, network) in random.chain(pages) {
        for scheme in SCHEMES.iter() {
            let load = ideal::load(&page, scheme, &network, Conditions::default());
            let order = packets_of(&page, &load);
            let replayed = replay(&page, &network, &order, &scheme.name);
            assert_eq!(replayed.timeline, load.timeline, "{} under {}", page.name, scheme.name);
            assert_eq!(replayed.completed, load.completed);
        }
    }
}

#[test]
fn on_bundled_pages_bound_oracle_schemes_and_anti_oracle_come_in_this_order() {
    let effort = Effort { nodes: 500, steps: 100 };
    for (page, network) in
        bundled().iter().flat_map(|it| ["paper", "cable"].map(|name| (it, network(name))))
    {
        let bound_ms = lower_bound_ms(page, &network).expect("a bound");
        let best = oracle(page, &network, effort).expect("a best order");
        let worst = anti_oracle(page, &network, effort).expect("a worst order");
        println!(
            "{} {}: bound {bound_ms:.1}, oracle {:.1}, anti-oracle {:.1}",
            network.name, page.name, best.index_ms, worst.index_ms
        );
        assert!(bound_ms <= best.index_ms + TOLERANCE_MS, "{}", page.name);
        for scheme in SCHEMES.iter() {
            let index_ms =
                atf_ms(page, &ideal::load(page, scheme, &network, Conditions::default()));
            assert!(best.index_ms <= index_ms + TOLERANCE_MS, "{} {}", page.name, scheme.name);
            assert!(worst.index_ms >= index_ms - TOLERANCE_MS, "{} {}", page.name, scheme.name);
        }
    }
}

#[test]
fn no_random_order_of_a_bundled_page_is_below_its_lower_bound() {
    for (page, seed) in bundled().iter().flat_map(|it| (0..20).map(move |seed| (it, seed))) {
        let network = network("3g");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let packets = page.resources.iter().map(|it| it.bytes / 1400 + 1).sum::<u64>();
        let order: Vec<usize> =
            (0..packets).map(|_| random.random_range(0..page.resources.len())).collect();
        let load = replay(page, &network, &order, "random");
        assert!(load.completed);
        let bound_ms = lower_bound_ms(page, &network).expect("a bound");
        assert!(bound_ms <= atf_ms(page, &load) + TOLERANCE_MS, "{} {seed}", page.name);
    }
}

fn plan(contenders: &[&str], engine: &'static dyn Engine, send_buffer_bytes: u64) -> Plan {
    let found = contenders.iter().map(|it| Contender::find(it).expect("known"));
    let mut plan = Plan::new(vec![bundled().remove(1)], found.collect(), engine, network("paper"));
    plan.settings.send_buffers_bytes = vec![send_buffer_bytes];
    Plan { jobs: 2, ..plan }
}

#[test]
fn a_study_on_ideal_has_brackets_bounds_and_regret() {
    let plan = plan(&["rr", "oracle", "anti-oracle"], engines::IDEAL, 0);
    let study = run(&plan, serde_json::json!({}), &|| ()).expect("a study");
    let atf = |place: usize| study.runs[place].byte_index().atf.expect("above the fold");
    assert!(atf(1) < atf(0) && atf(0) < atf(2));
    assert!(study.runs.iter().all(|it| it.completed && it.lower_bound.atf <= Some(atf(1))));
    let regret = |place: usize| study.summary[place].mean_regret.atf.expect("a bound");
    assert!(1.0 <= regret(1) && regret(1) < regret(0) && regret(0) < regret(2));
}

#[test]
fn a_study_says_of_brackets_alone_whether_they_are_proven() {
    let small = Arc::new(Page::parse(KNOWN_AT_ONCE, "PAGE").expect("a valid page"));
    let plan = plan(&["rr", "oracle", "anti-oracle"], engines::IDEAL, 0);
    let study = run(&Plan { pages: vec![small], ..plan }, serde_json::json!({}), &|| ());
    let study = study.expect("a study");
    let runs: Vec<_> = study.runs.iter().map(|it| it.proven).collect();
    assert_eq!(runs, [None, Some(true), Some(true)]);
    assert_eq!(study.page_summary.iter().map(|it| it.proven).collect::<Vec<_>>(), runs);
    let pages: Vec<_> = study.summary.iter().map(|it| it.proven_pages).collect();
    assert_eq!(pages, [None, Some(1), Some(1)]);
}

#[test]
fn brackets_refuse_what_they_are_not_searched_for() {
    let problem =
        |plan: &Plan| run(plan, serde_json::json!({}), &|| ()).expect_err("refused").to_string();
    assert_eq!(
        problem(&plan(&["rr", "oracle"], engines::WIRE, 0)),
        "`oracle` is an order of packets, which engine wire cannot promise: use --engine ideal"
    );
    assert_eq!(
        problem(&plan(&["rr", "anti-oracle"], engines::IDEAL, 14_000)),
        "`anti-oracle` is defined only without a send buffer: use --send-buffer 0"
    );
}

#[test]
fn brackets_are_the_same_from_run_to_run() {
    let page = bundled().remove(0);
    let effort = Effort { nodes: 100, steps: 50 };
    let brackets = || {
        (oracle(&page, &network("paper"), effort), anti_oracle(&page, &network("paper"), effort))
    };
    assert_eq!(brackets(), brackets());
}

/// A document of one packet and two images above the fold, of one and two packets, all known at once.
const KNOWN_AT_ONCE: &str = r#"{
  "format": "utmost-page/1", "name": "small", "viewport": [1366, 768],
  "source": {"kind": "hand", "from": "this test", "licence": "MIT OR Apache-2.0"},
  "origins": [{"host": "small.test", "party": "first"}],
  "resources": [
    {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 1400, "main": true, "trigger": {"on": "nav"}},
    {"id": 1, "url": "/a.png", "kind": "image", "mime": "image/png", "bytes": 2800, "above_fold": true,
     "trigger": {"on": "complete", "of": 0}},
    {"id": 2, "url": "/b.png", "kind": "image", "mime": "image/png", "bytes": 1400, "above_fold": true,
     "trigger": {"on": "complete", "of": 0}},
    {"id": 3, "url": "/c.png", "kind": "image", "mime": "image/png", "bytes": 1400,
     "trigger": {"on": "complete", "of": 0}}
  ]
}"#;

#[test]
fn of_images_known_at_once_the_best_order_sends_those_above_the_fold_whole_and_the_worst_ends_them_last()
 {
    let page = Arc::new(Page::parse(KNOWN_AT_ONCE, "PAGE").expect("a valid page"));
    let paper = network("paper");
    // 10 ms for the document; then 30 and 40 ms, or 20 and 40 ms: (2 * 30 + 40) / 3 = (20 + 2 * 40) / 3.
    let best = oracle(&page, &paper, EFFORT).expect("a best order");
    assert!((best.index_ms - 100.0 / 3.0).abs() < TOLERANCE_MS, "{best:?}");
    assert!((lower_bound_ms(&page, &paper).expect("a bound") - 100.0 / 3.0).abs() < TOLERANCE_MS);
    // The image below the fold and a packet of the larger one first: 40 and 50 ms.
    let worst = anti_oracle(&page, &paper, EFFORT).expect("a worst order");
    assert!((worst.index_ms - 140.0 / 3.0).abs() < TOLERANCE_MS, "{worst:?}");
}

#[test]
fn a_page_with_nothing_above_the_fold_has_no_bounds() {
    let below = KNOWN_AT_ONCE.replace(r#""above_fold": true,"#, "");
    let page = Arc::new(Page::parse(&below, "PAGE").expect("a valid page"));
    assert_eq!(lower_bound_ms(&page, &network("paper")), None);
    assert_eq!(oracle(&page, &network("paper"), EFFORT), None);
}
