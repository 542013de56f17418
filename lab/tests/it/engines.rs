//! Pages on the engines: the order and the times of completion.

use client::HttpVersion;
use corpus::Page;
use lab::ideal::Conditions;
use lab::network::Network;
use lab::study::{Engine, Plan, RunRecord, Settings, engines, run};
use lab::{Contender, Load, StreamMigration, ideal, wire};
use qlog_tools::metrics::{METRICS, find};
use schedulers::{find_scheme, paper_schemes};
use server::{CongestionControl, Options};
use std::sync::Arc;

/// A document of 2 packets; a script and an image of 3 packets each, found in its first and second half; a
/// stylesheet of 1 packet found when the script has run.
const PAGE: &str = r#"{
  "format": "utmost-page/1", "name": "small", "viewport": [1366, 768],
  "source": {"kind": "hand", "from": "this test", "licence": "MIT OR Apache-2.0"},
  "origins": [{"host": "small.test", "party": "first"}],
  "resources": [
    {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 2800, "main": true, "critical": true,
     "above_fold": true, "trigger": {"on": "nav"}},
    {"id": 1, "url": "/a.js", "kind": "js", "mime": "text/javascript", "bytes": 4200, "script": "sync",
     "in_head": true, "critical": true, "above_fold": true, "exec_ms": 5, "trigger": {"on": "bytes", "of": 0, "byte": 1000}},
    {"id": 2, "url": "/b.png", "kind": "image", "mime": "image/png", "bytes": 4200,
     "trigger": {"on": "bytes", "of": 0, "byte": 2000}},
    {"id": 3, "url": "/c.css", "kind": "css", "mime": "text/css", "bytes": 1400, "critical": true, "above_fold": true,
     "trigger": {"on": "timer", "of": 1}}
  ]
}"#;

fn page() -> Arc<Page> {
    Arc::new(Page::parse(PAGE, "PAGE").expect("a valid page"))
}

fn load(page: &Arc<Page>, scheme: &str, send_buffer_bytes: u64) -> Load {
    let network = Network::find("paper").expect("built in");
    ideal::load(
        page,
        &find_scheme(scheme).expect("a scheme"),
        &network,
        Conditions { send_buffer_bytes, ..Conditions::default() },
    )
}

/// The resource whose packet went in each tick: `0,0,1,...`.
fn order(page: &Page, load: &Load) -> String {
    let of = |stream: u64| {
        let url =
            &load.timeline.transfers.iter().find(|it| it.stream == stream).expect("asked for").url;
        page.resources
            .iter()
            .position(|it| url.ends_with(&it.url))
            .expect("of the page")
            .to_string()
    };
    load.timeline.frames.iter().map(|it| of(it.stream)).collect::<Vec<_>>().join(",")
}

fn completions_ms(page: &Page, load: &Load) -> Vec<(usize, f64)> {
    let run = RunRecord::of_load(page, load);
    run.resources.iter().map(|it| (it.id, it.complete_ms.expect("complete"))).collect()
}

#[test]
fn first_in_first_out_sends_whole_responses_in_the_order_of_discovery() {
    let page = page();
    let load = load(&page, "fifo", 0);
    assert!(load.completed);
    // The image is found at 20 ms, while the script has the wire; the stylesheet 5 ms after the script.
    assert_eq!(order(&page, &load), "0,0,1,1,1,2,2,2,3");
    assert_eq!(completions_ms(&page, &load), [(0, 20.0), (1, 50.0), (2, 80.0), (3, 90.0)]);
}

/// First render, hero render, `SpeedIndex`, DOM ready and load, in milliseconds.
fn render_times_ms(run: &RunRecord) -> [Option<f64>; 5] {
    ["first_render", "hero_render", "speed_index", "dom_content_loaded", "load"]
        .map(|it| run.metrics.get(find(it).expect("a metric")).all)
}

#[test]
fn a_page_is_shown_earlier_when_its_late_stylesheet_comes_before_its_image() {
    let page = page();
    let times = |scheme| render_times_ms(&RunRecord::of_load(&page, &load(&page, scheme, 0)));
    // The script runs from 50 to 55 and asks for the stylesheet; the document is the only region above the fold.
    // What is rendered is seen a frame later.
    assert_eq!(times("fifo"), [Some(106.667), None, Some(106.667), Some(55.0), Some(90.0)]);
    assert_eq!(times("dfifo"), [Some(86.667), None, Some(86.667), Some(55.0), Some(90.0)]);
}

#[test]
fn a_late_stylesheet_interrupts_the_image_under_dynamic_fifo() {
    let page = page();
    let load = load(&page, "dfifo", 0);
    // Found at 55 ms, it has the tick of 60 ms.
    assert_eq!(order(&page, &load), "0,0,1,1,1,2,3,2,2");
}

#[test]
fn bytes_in_the_send_buffer_go_before_a_stylesheet_that_comes_later() {
    let page = page();
    let load = load(&page, "dfifo", 4200);
    assert_eq!(order(&page, &load), "0,0,1,1,1,2,2,2,3");
}

#[test]
fn round_robin_takes_turns() {
    let page = page();
    let load = load(&page, "rr", 0);
    assert_eq!(order(&page, &load), "0,0,1,1,2,1,2,2,3");
}

#[test]
fn a_response_that_the_server_waits_for_lets_others_go_and_takes_the_wire_back() {
    let waiting = PAGE.replace(
        r#""above_fold": true, "exec_ms": 5,"#,
        r#""above_fold": true, "exec_ms": 5, "wait_ms": 20, "chunks": [{"at_ms": 20, "bytes": 1400}, {"at_ms": 45, "bytes": 2800}],"#,
    );
    let page = Arc::new(Page::parse(&waiting, "PAGE").expect("a valid page"));
    let load = load(&page, "dfifo", 0);
    // Asked for at 10 ms: the script's first packet is there at 30 ms, the rest at 55 ms.
    assert_eq!(order(&page, &load), "0,0,2,1,2,2,1,1,3");
}

#[test]
fn an_empty_body_takes_a_packet_and_completes() {
    let empty =
        PAGE.replace(r#""bytes": 1400, "critical""#, r#""bytes": 0, "status": 404, "critical""#);
    let page = Arc::new(Page::parse(&empty, "PAGE").expect("a valid page"));
    let load = load(&page, "fifo", 0);
    assert!(load.completed);
    assert_eq!(completions_ms(&page, &load).last(), Some(&(3, 90.0)));
}

#[test]
fn delay_counts_once_up_and_once_down() {
    let page = page();
    let mut network = Network::find("paper").expect("built in");
    (network.up.delay_ms, network.down.delay_ms) = (100.0, 100.0);
    let load = ideal::load(
        &page,
        &find_scheme("fifo").expect("a scheme"),
        &network,
        Conditions::default(),
    );
    // The document's first packet: request 100 ms, one tick, 100 ms back.
    assert_eq!(load.timeline.frames[0].time_us, 210_000);
    assert_eq!(completions_ms(&page, &load)[0], (0, 220.0));
}

#[test]
fn jitter_is_seeded_and_holds_bytes_back_without_losing_any() {
    let page = page();
    let network = Network::find("paper-jitter").expect("built in");
    let fifo = find_scheme("fifo").expect("a scheme");
    let load =
        |seed| ideal::load(&page, &fifo, &network, Conditions { seed, ..Conditions::default() });
    let offsets = |seed| {
        load(seed).timeline.frames.iter().map(|it| (it.stream, it.offset)).collect::<Vec<_>>()
    };
    let in_order = offsets_of_paper(&page);
    let disturbed = (0..20).filter(|seed| offsets(*seed) != in_order).count();
    // Each of nine packets is held with a probability of one in four, but the last has none to follow.
    assert!((10..=20).contains(&disturbed), "{disturbed} of 20");
    for seed in 0..20 {
        assert!(load(seed).completed);
        assert_eq!(load(seed).timeline, load(seed).timeline);
        let mut sorted = offsets(seed);
        sorted.sort_unstable();
        let mut expected = in_order.clone();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
    }
}

fn offsets_of_paper(page: &Arc<Page>) -> Vec<(u64, u64)> {
    load(page, "fifo", 0).timeline.frames.iter().map(|it| (it.stream, it.offset)).collect()
}

#[test]
fn ideal_refuses_a_network_that_loses() {
    let network = Network::find("cable-lossy").expect("built in");
    let settings = Settings::on(network, engines::IDEAL);
    let plan = Plan { settings, ..plan(vec![page()], engines::IDEAL) };
    let error = run(&plan, serde_json::json!({}), &|| ()).expect_err("loss");
    assert!(error.to_string().contains("loss; engine ideal knows only"), "{error}");
}

#[test]
fn a_study_on_stack_pairs_its_seeds() {
    let network = Network::find("cable-lossy").expect("built in");
    let all = plan(vec![page()], engines::STACK);
    let settings = Settings::on(network, engines::STACK);
    let plan = Plan { settings, seeds: vec![0, 1, 2], jobs: 2, ..all };
    let study = run(&plan, serde_json::json!({}), &|| ()).expect("a study");
    assert_eq!(study.runs.len(), 33);
    assert!(study.runs.iter().all(|it| it.completed && it.engine == engines::STACK));
    assert_eq!(study.summary[0].mean_speedup.all, Some(1.0), "rr against itself");
    assert!(study.summary.iter().all(|it| it.pages == 1));
}

fn plan(pages: Vec<Arc<Page>>, engine: &'static dyn Engine) -> Plan {
    let schemes = paper_schemes().iter().cloned().map(Contender::from).collect();
    let network = Network::find("paper").expect("built in");
    Plan { jobs: 16, ..Plan::new(pages, schemes, engine, network) }
}

#[test]
fn a_study_on_ideal_is_the_same_from_run_to_run_on_every_bundled_page() {
    let pages = || {
        corpus::bundled_names()
            .into_iter()
            .filter_map(corpus::bundled)
            .cloned()
            .map(Arc::new)
            .collect()
    };
    let study =
        || run(&plan(pages(), engines::IDEAL), serde_json::json!({}), &|| ()).expect("a study");
    let (first, second) = (study(), study());
    assert!(first.runs.iter().all(|it| it.completed));
    assert_eq!(
        serde_json::to_string(&first).expect("JSON"),
        serde_json::to_string(&second).expect("JSON")
    );
}

#[test]
fn every_scheme_takes_the_same_time_and_only_the_order_differs() {
    let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
    let study =
        run(&plan(vec![page], engines::IDEAL), serde_json::json!({}), &|| ()).expect("a study");
    let durations: Vec<f64> = study.runs.iter().map(|it| it.duration_ms).collect();
    assert!(durations.iter().all(|it| (it - durations[0]).abs() < 20.0), "{durations:?}");
}

#[test]
fn a_page_comes_whole_over_real_sockets_and_its_log_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page();
    let options = Options {
        qlog_dir: Some(folder.path().to_owned()),
        ..Options::new(find_scheme("dfifo").expect("a scheme"))
    };
    let setup = wire::Setup::new(options, folder.path());
    let load = wire::load(&page, setup).expect("a load").load;
    assert!(load.completed);
    let run = RunRecord::of_load(&page, &load);
    let mut bytes: Vec<(usize, u64)> = run.resources.iter().map(|it| (it.id, it.bytes)).collect();
    bytes.sort_unstable();
    assert_eq!(bytes, [(0, 2800), (1, 4200), (2, 4200), (3, 1400)]);
    assert!(run.byte_index().all.is_some() && run.byte_index().atf.is_some());
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        2,
        "a client's log and a server's"
    );
}

/// The four resources and what is known of them, whatever carries them.
#[test]
fn a_page_has_the_same_causes_and_metrics_over_each_version() {
    let loads = HttpVersion::ALL.map(|http| {
        let folder = tempfile::tempdir().expect("a folder");
        let scheme = find_scheme("dfifo").expect("a scheme");
        let mut setup = wire::Setup::new(Options::new(scheme), folder.path());
        setup.client.http = http;
        let load = wire::load(&page(), setup).expect("a load").load;
        let run = RunRecord::of_load(&page(), &load);
        let mut bytes: Vec<_> = run.resources.iter().map(|it| (it.id, it.bytes)).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, [(0, 2800), (1, 4200), (2, 4200), (3, 1400)]);
        let asked = |id| {
            let of = run.resources.iter().find(|it| it.id == id);
            of.expect("a resource of the page").requested_ms
        };
        assert!((1..4).all(|it| asked(it) > asked(0)), "the document names them, HTTP/{http}");
        let known = METRICS.iter().filter(|it| run.metrics.get(it).all.is_some());
        known.map(|it| it.name).collect::<Vec<_>>()
    });
    assert!(loads[2].contains(&"byte_index") && loads[2].contains(&"load"), "{loads:?}");
    assert_eq!((&loads[0], &loads[1]), (&loads[2], &loads[2]));
}

/// A small image that is asked for while a large one fills the server's send buffer.
#[test]
fn small_responses_come_earlier_where_a_large_one_migrates() {
    let mut page = Page::clone(&page());
    page.resources[2].bytes = 5_000_000;
    page.resources[3].trigger.delay_ms = 500.0;
    let mut plan = plan(vec![Arc::new(page)], engines::STACK);
    plan.schemes.retain(|it| it.name() == "fifo");
    plan.baseline = "fifo".to_owned();
    plan.settings = Settings {
        migrations: StreamMigration::ALL.to_vec(),
        send_buffers_bytes: vec![1_000_000],
        ..Settings::on(Network::find("cable").expect("built in"), engines::STACK)
    };
    let study = run(&plan, serde_json::json!({}), &|| ()).expect("a study");
    let waits = study.runs.iter().map(|run| {
        let small = run.resources.iter().find(|it| it.id == 3).expect("the stylesheet");
        let name = run.setting.migration.map(StreamMigration::name);
        let round_trips = (small.complete_ms.expect("complete") - small.requested_ms) / 50.0;
        format!("{} {round_trips:.0}", name.unwrap_or_default())
    });
    assert_eq!(waits.collect::<Vec<_>>(), ["none 26", "MigSW 3", "MigSP 2", "MigCP 2"]);
}

#[test]
fn each_version_of_http_crosses_the_same_link() {
    if let Err(error) = wire::check_namespaces() {
        return fixtures::skip(&error.to_string());
    }
    let network = Network::find("cable").expect("built in");
    let mut plan = plan(vec![page()], engines::WIRE);
    plan.schemes.retain(|it| ["rr", "fifo"].contains(&it.name()));
    plan.settings = Settings {
        http_versions: HttpVersion::ALL.to_vec(),
        congestion_controls: vec![CongestionControl::Cubic],
        ..Settings::on(network, engines::WIRE)
    };
    let study = run(&plan, serde_json::json!({}), &|| ()).expect("a study");
    let unfinished: Vec<_> = study.runs.iter().filter_map(|it| it.unfinished.as_ref()).collect();
    assert!(unfinished.is_empty(), "{unfinished:?}");
    for version in HttpVersion::ALL {
        let mut runs = study.runs.iter().filter(|it| it.setting.http == Some(version));
        // The document names the script, and the script the stylesheet: three round trips of 50 ms.
        assert!(runs.all(|it| it.duration_ms >= 150.0), "HTTP/{version}");
    }
}
