//! Several pages on one connection, on the engine `stack`.

use client::{HttpCache, NextPage};
use corpus::Page;
use gateway::site::{Pushing, Rule, RuledSite};
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use lab::study::{Plan, Settings, engines, run};
use lab::{Contender, Navigation};
use page_site::PageSite;
use schedulers::find_scheme;
use server::CongestionControl::{Bbr2, Cubic, Reno};
use server::site::fields::add;
use server::site::{Request, Response, Site};
use server::{Identity, Options};
use simulator::link::Profile;
use std::sync::Arc;
use std::time::Duration;

const RTT_MS: f64 = 100.0;
const SECOND: Duration = Duration::from_secs(1);

/// A page of `site.example`: a document at `path`, whose head refers to scripts of 1000 bytes.
fn page(path: &str, bytes: u64, scripts: &[&str]) -> Arc<Page> {
    let mut page = serde_json::json!({
        "format": "utmost-page/1", "name": path,
        "source": {"kind": "hand", "from": "a test", "licence": "MIT"},
        "viewport": [1366, 768],
        "origins": [{"host": "site.example", "party": "first"}],
        "resources": [{"id": 0, "url": path, "kind": "html", "mime": "text/html", "bytes": bytes, "main": true,
            "trigger": {"on": "nav"}}],
    });
    for (id, url) in (1..).zip(scripts) {
        let script = serde_json::json!({"id": id, "url": url, "kind": "js", "mime": "text/javascript", "bytes": 1000,
            "etag": format!("\"{url}\""), "in_head": true, "trigger": {"on": "bytes", "of": 0, "byte": 1}});
        page["resources"].as_array_mut().expect("a list").push(script);
    }
    Arc::new(serde_json::from_value(page).expect("a page"))
}

struct Case {
    pages: Vec<Arc<Page>>,
    think: Duration,
    site: RuledSite,
    options: Options,
    client: client::Options,
}

impl Case {
    fn new(pages: &[Arc<Page>], site: impl Site + 'static) -> Self {
        Self {
            pages: pages.to_vec(),
            think: SECOND,
            site: RuledSite::new(site, Vec::new()),
            options: Options::new(find_scheme("fifo").expect("a scheme")),
            client: client::Options { pushes: 10, ..client::Options::default() },
        }
    }

    fn load(&self) -> Vec<Navigation> {
        let network = Network {
            name: "test".into(),
            server_pace: false,
            down: Profile::plain(1e9, RTT_MS / 2.0),
            up: Profile::plain(1e9, RTT_MS / 2.0),
        };
        let next = |page: &Arc<Page>| NextPage { page: Arc::clone(page), think: self.think };
        let then: Vec<NextPage> = self.pages[1..].iter().map(next).collect();
        let client = client::Options { then: then.clone(), ..self.client.clone() };
        let ends = Ends { site: self.site.clone(), client };
        let identity = Identity::self_signed().expect("a certificate");
        let setup = Setup::new(self.options.clone(), &network, &identity);
        let StackLoad { load, problems, outcome, .. } =
            load_between(&self.pages[0], &ends, setup).expect("a load");
        assert_eq!(problems, [""; 0]);
        assert!(load.completed);
        let pages = Navigation::all(&self.pages[0], &then, &load.timeline, outcome);
        assert_eq!(pages.len(), self.pages.len());
        assert!(pages.iter().all(|it| it.load.completed && it.outcome.completed));
        pages
    }
}

fn site(pages: &[Arc<Page>]) -> PageSite {
    PageSite::of(pages.iter().map(|it| Page::clone(it)).collect())
}

/// What was sent over the network for a page: the paths, with pushes marked.
fn fetched(page: &Navigation) -> Vec<String> {
    let mark = |stream: u64| if stream.is_multiple_of(4) { "" } else { "*" };
    let path = |url: &str| url.trim_start_matches("https://site.example").to_owned();
    let transfers = page.load.timeline.transfers.iter();
    transfers.map(|it| format!("{}{}", mark(it.stream), path(&it.url))).collect()
}

fn all_fetched(pages: &[Navigation]) -> Vec<String> {
    pages.iter().map(|it| fetched(it).join(" ")).collect()
}

/// When a page began, and when the last byte of its responses arrived, in milliseconds of the connection.
fn times_ms(page: &Navigation) -> [f64; 2] {
    let timeline = &page.load.timeline;
    let last_us = timeline.deliveries().iter().filter_map(|it| it.complete_us).max();
    [timeline.start_us(), last_us].map(|it| it.expect("requests") as f64 / 1000.0)
}

#[test]
fn a_page_uses_what_an_earlier_one_fetched_as_long_as_it_is_fresh() {
    let pages = [page("/1", 1000, &["/a.js", "/b.js"]), page("/2", 1000, &["/b.js", "/c.js"])];
    let pages_of = |fresh_s| Case::new(&pages, site(&pages).fresh_for(fresh_s)).load();
    let fresh = pages_of(60);
    assert_eq!(all_fetched(&fresh), ["/1 /a.js /b.js", "/2 /c.js"]);
    assert_eq!(fresh[1].outcome.cached, [1]);
    assert_eq!(fresh[0].outcome.cached, [0; 0]);
}

#[test]
fn an_expired_copy_is_validated_and_without_a_tag_fetched_again() {
    let mut pages = [page("/1", 1000, &["/a.js", "/b.js"]), page("/2", 1000, &["/a.js", "/b.js"])];
    for page in &mut pages {
        Arc::make_mut(page).resources[2].etag = None;
    }
    let mut case = Case::new(&pages, site(&pages).fresh_for(10));
    case.think = 9 * SECOND;
    assert_eq!(all_fetched(&case.load()), ["/1 /a.js /b.js", "/2"]);
    case.think = 11 * SECOND;
    let late = case.load();
    assert_eq!(all_fetched(&late), ["/1 /a.js /b.js", "/2 /a.js /b.js"]);
    assert_eq!(late[1].outcome.validated, [1], "the server said 304");
    assert_eq!([1, 2].map(|it| late[1].outcome.statuses[&it]), [304, 200]);
}

/// Sets cookies with the first page's document, and returns in `x-cookie` which ones came back.
struct WithCookies(PageSite);

impl Site for WithCookies {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.0.respond(request);
        let set = ["short=1; Path=/; Max-Age=10", "long=1; Path=/; Max-Age=1000", "own=1; Path=/1"];
        if request.path == "/1" {
            add(&mut response.headers, set.map(|it| ("set-cookie", it)));
        }
        // A response that has another status is a problem of the page, which shows its request's cookies.
        let came = request.field("cookie").unwrap_or_default();
        add(&mut response.headers, [("etag", format!("\"{came}\""))]);
        response
    }
}

/// The cookies that the request for the second page carried.
fn cookies_after(think: Duration) -> String {
    let pages = [page("/1", 1000, &[]), page("/2", 1000, &[])];
    let mut case = Case::new(&pages, WithCookies(site(&pages)));
    case.think = think;
    let pages = case.load();
    let url = pages[1].page.url(0);
    let cookies = &pages[1].outcome.cookies;
    cookies.field(&url).unwrap_or_default()
}

#[test]
fn cookies_go_with_the_next_page_by_their_path_until_they_expire() {
    assert_eq!(cookies_after(9 * SECOND), "long=1; short=1");
    assert_eq!(cookies_after(11 * SECOND), "long=1");
}

/// A first page that pushes a script of the second.
fn pushing_ahead(pages: &[Arc<Page>], fresh_s: u64) -> Case {
    let mut case = Case::new(pages, site(pages).fresh_for(fresh_s));
    let push = Pushing { push: vec!["/b.js".into()], ..Pushing::default() };
    case.site = RuledSite::new(site(pages).fresh_for(fresh_s), vec![Rule::pushing("/1", push)]);
    case
}

#[test]
fn what_was_pushed_during_one_page_is_used_by_a_later_one_once() {
    let pages =
        [page("/1", 1000, &["/a.js"]), page("/2", 1000, &["/b.js"]), page("/3", 1000, &["/b.js"])];
    // With a freshness of 0 the HTTP cache keeps nothing: what is used comes from the push cache.
    let loaded = pushing_ahead(&pages, 0).load();
    assert_eq!(all_fetched(&loaded), ["/1 /a.js", "/2", "/3 /b.js"]);
    assert_eq!(loaded.iter().map(|it| it.outcome.pushed.len()).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(loaded[1].outcome.pushed, [(1, true)]);
    assert_eq!(loaded[2].outcome.validated, [1]);
    let kept = pushing_ahead(&pages, 60).load();
    assert_eq!(all_fetched(&kept), ["/1 /a.js", "/2", "/3"]);
    assert_eq!(kept[2].outcome.cached, [1]);
}

#[test]
fn a_fresh_copy_wins_over_a_push_which_is_refused() {
    let pages = [page("/1", 1000, &["/a.js"]), page("/2", 1000, &["/b.js"])];
    let mut case = pushing_ahead(&pages, 60);
    case.client.cache = HttpCache::fresh([pages[1].url(1)]);
    let loaded = case.load();
    assert_eq!(all_fetched(&loaded), ["/1 /a.js", "/2"]);
    assert_eq!((loaded[0].outcome.refused_pushes, &loaded[1].outcome.cached), (1, &vec![1]));
}

#[test]
fn a_push_that_no_page_needs_is_refused() {
    let pages = [page("/1", 1000, &["/a.js"]), page("/2", 1000, &["/c.js"])];
    let mut site_pages = pages.to_vec();
    site_pages.push(page("/3", 1000, &["/b.js"]));
    let case = Case { pages: pages.to_vec(), ..pushing_ahead(&site_pages, 60) };
    let loaded = case.load();
    assert_eq!(loaded[0].outcome.refused_pushes, 1);
    assert!(loaded.iter().all(|it| it.outcome.pushed.is_empty()));
}

#[test]
fn the_time_between_a_load_and_the_next_navigation_is_exact() {
    let pages = [page("/1", 1000, &["/a.js"]), page("/2", 1000, &["/b.js"])];
    for think in [Duration::ZERO, Duration::from_micros(123_456), 20 * SECOND] {
        let mut case = Case::new(&pages, site(&pages));
        case.think = think;
        let loaded = case.load();
        let [[_, loaded_ms], [began_ms, _]] = [0, 1].map(|it| times_ms(&loaded[it]));
        assert!((began_ms - loaded_ms - think.as_secs_f64() * 1000.0).abs() < 0.0011, "{think:?}");
    }
}

/// The round trips that a document of 200 KB takes as the second page, after a first one of this size.
fn round_trips(first_bytes: u64, think: Duration, change: impl Fn(&mut Options)) -> String {
    let pages = [page("/1", first_bytes, &[]), page("/2", 200_000, &[])];
    let mut case = Case::new(&pages, site(&pages));
    case.think = think;
    change(&mut case.options);
    let [began_ms, loaded_ms] = times_ms(&case.load()[1]);
    format!("{:.0}", (loaded_ms - began_ms) / RTT_MS)
}

#[test]
fn the_window_is_larger_after_the_traffic_of_a_page() {
    // 13,500 bytes at first, doubled each round trip; bbr2 paces, too.
    let trips = [Cubic, Reno, Bbr2].map(|cc| {
        [1000, 1_000_000].map(|bytes| round_trips(bytes, SECOND, |it| it.congestion_control = cc))
    });
    assert_eq!(trips, [["5", "1"], ["5", "1"], ["6", "1"]]);
}

#[test]
fn after_a_pause_the_window_is_the_initial_one_again_where_the_server_resets_it() {
    let reset = |cc| {
        move |it: &mut Options| {
            (it.congestion_control, it.idle_reset) = (cc, true);
        }
    };
    // A probe timeout is 125 ms here, with what round trips vary by.
    let trips = |think| [Cubic, Reno, Bbr2].map(|cc| round_trips(1_000_000, think, reset(cc)));
    assert_eq!(trips(Duration::ZERO), ["1", "1", "1"], "there is no pause");
    assert_eq!(trips(SECOND), ["5", "5", "1"], "bbr2 paces instead");
}

#[test]
fn a_study_of_a_warm_connection_counts_only_the_page_itself() {
    let page = page("/", 100_000, &["/a.js"]);
    let network = Network::find("cable").expect("built in");
    let settings = Settings {
        warm_ups_bytes: vec![0, 300_000],
        ..Settings::on(network.clone(), engines::STACK)
    };
    let schemes = vec![Contender::from(find_scheme("fifo").expect("a scheme"))];
    let plan = Plan { settings, ..Plan::new(vec![page], schemes, engines::STACK, network) };
    let study = run(&plan, serde_json::Value::Null, &|| ()).expect("a study");
    let [cold, warm] = &study.runs[..] else { panic!("{}", study.runs.len()) };
    for load in [cold, warm] {
        let ids: Vec<usize> = load.resources.iter().map(|it| it.id).collect();
        assert_eq!((load.completed, ids), (true, vec![0, 1]));
        assert_eq!(load.resources[0].requested_ms.to_string(), "0");
    }
    assert_eq!([cold, warm].map(|it| it.setting.warm_up_bytes), [Some(0), Some(300_000)]);
    // 100 KB take 32 ms at 25 Mbit/s.
    assert_eq!([cold, warm].map(|it| format!("{:.0}", it.duration_ms)), ["224", "101"]);
}
