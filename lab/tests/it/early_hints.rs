//! Early hints and `Link` fields from end to end, over quiche in virtual time.

use corpus::Page;
use gateway::site::{Pushing, Rule, RuledSite};
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use schedulers::find_scheme;
use server::site::fields::add;
use server::site::{Request, Response, Site};
use server::{Identity, Options};
use simulator::link::Profile;
use std::path::Path;
use std::sync::Arc;

const RTT_MS: f64 = 100.0;

const LINKS: &str = "</style.css>; rel=preload; as=style, </app.js>; rel=preload; as=script; nopush, \
                     <https://other.example/x.js>; rel=preload; as=script";

/// A document that takes time to make, a style sheet, and a script that the style sheet references.
fn page(wait_ms: f64) -> Arc<Page> {
    let page = serde_json::json!({
        "format": "utmost-page/1", "name": "hinted",
        "source": {"kind": "hand", "from": "a test", "licence": "MIT"},
        "viewport": [1366, 768],
        "origins": [{"host": "site.example", "party": "first"}],
        "resources": [
            {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 500, "main": true,
                "wait_ms": wait_ms, "trigger": {"on": "nav"}},
            {"id": 1, "url": "/style.css", "kind": "css", "mime": "text/css", "bytes": 300, "in_head": true,
                "trigger": {"on": "bytes", "of": 0, "byte": 100}},
            {"id": 2, "url": "/app.js", "kind": "js", "mime": "text/javascript", "bytes": 300,
                "trigger": {"on": "complete", "of": 1}},
        ],
    });
    Arc::new(serde_json::from_value(page).expect("a page"))
}

/// Fields of responses.
type Fields = [(&'static str, &'static str)];

/// A site with its own fields on the responses of one path, or of all (`*`).
struct WithFields {
    inner: PageSite,
    path: &'static str,
    fields: Vec<(&'static str, &'static str)>,
}

impl Site for WithFields {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.inner.respond(request);
        if self.path == "*" || request.path == self.path {
            add(&mut response.headers, self.fields.iter().copied());
        }
        response
    }
}

/// The server of the page: every path has a route, which hints at what its response preloads.
fn site(page: &Page, path: &'static str, fields: &Fields) -> RuledSite {
    let inner = PageSite::new(Page::clone(page));
    let site = WithFields { inner, path, fields: fields.to_vec() };
    RuledSite::new(site, vec![Rule::pushing("*", Pushing::default())])
}

fn load(wait_ms: f64, fields: &Fields) -> StackLoad {
    let page = page(wait_ms);
    load_from(&page, site(&page, "/", fields), None)
}

fn load_from(page: &Arc<Page>, site: RuledSite, log_dir: Option<&Path>) -> StackLoad {
    let network = Network {
        name: "hinted".into(),
        server_pace: false,
        down: Profile::plain(1e9, RTT_MS / 2.0),
        up: Profile::plain(1e9, RTT_MS / 2.0),
    };
    let ends = Ends { site, client: client::Options::default() };
    let options = Options::new(find_scheme("rfc9218").expect("a scheme"));
    let identity = Identity::self_signed().expect("a certificate");
    let setup = Setup { log_dir, ..Setup::new(options, &network, &identity) };
    let load = load_between(page, &ends, setup).expect("a load");
    assert_eq!(load.problems, Vec::<String>::new());
    load
}

/// When the last resource was complete, in round trips from the client's first packet.
fn done_rtt(load: &StackLoad) -> f64 {
    let complete = load.load.timeline.deliveries().into_iter().filter_map(|it| it.complete_us);
    complete.max().expect("it came") as f64 / 1000.0 / RTT_MS
}

fn assert_near(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 0.05, "{measured}, not {expected}");
}

#[test]
fn a_link_field_on_the_response_saves_the_chain_behind_it() {
    assert_near(done_rtt(&load(0.0, &[])), 4.0);
    let linked = load(0.0, &[("link", LINKS)]);
    assert_eq!((&linked.outcome.preloaded, linked.outcome.early_hints), (&vec![1, 2], 0));
    assert_near(done_rtt(&linked), 3.0);
}

#[test]
fn early_hints_use_the_time_in_which_the_document_is_made() {
    assert_near(done_rtt(&load(100.0, &[])), 5.0);
    let hinted = load(100.0, &[("link", LINKS)]);
    assert_eq!((&hinted.outcome.preloaded, hinted.outcome.early_hints), (&vec![1, 2], 1));
    assert_near(done_rtt(&hinted), 3.0);
}

#[test]
fn what_is_there_at_once_is_not_hinted_before() {
    assert_eq!(load(0.0, &[("link", LINKS)]).outcome.early_hints, 0);
}

#[test]
fn only_the_document_is_hinted_at_and_once() {
    let mut page = Page::clone(&page(100.0));
    page.resources[1].wait_ms = 100.0;
    page.resources[2].wait_ms = 100.0;
    let page = Arc::new(page);
    let load = load_from(&page, site(&page, "*", &[("link", LINKS)]), None);
    // All responses take time and preload something: the style sheet's and the script's have no 103 before them.
    assert_eq!((load.outcome.early_hints, load.outcome.statuses.len()), (1, 3));
}

#[test]
fn what_no_browser_navigates_to_gets_no_hints() {
    let page = page(100.0);
    let site = site(&page, "*", &[("link", LINKS)]);
    let hints = |path: &str, mode: Option<&str>| {
        let mut request = Request::get("site.example", path);
        add(&mut request.fields, mode.map(|it| ("sec-fetch-mode", it)));
        site.respond(&request).ahead.hints.len()
    };
    let modes = [None, Some("navigate"), Some("no-cors"), Some("cors"), Some("same-origin")];
    assert_eq!(modes.map(|it| hints("/", it)), [1, 1, 0, 0, 0]);
    assert_eq!([None, Some("no-cors")].map(|it| hints("/style.css", it)), [0, 0]);
}

/// Name and value of each field of the responses in a client's log, the status first.
fn responses(log: &str) -> Vec<Vec<(String, String)>> {
    let events = log.split(['\u{1e}', '\n']).filter_map(|it| serde_json::from_str(it).ok());
    let headers = events.filter_map(|it: serde_json::Value| {
        let is_response = it["name"].as_str().is_some_and(|it| it.ends_with("frame_parsed"));
        is_response.then(|| it["data"]["frame"]["headers"].as_array().cloned()).flatten()
    });
    let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
    headers
        .map(|it| it.iter().map(|it| (text(&it["name"]), text(&it["value"]))).collect())
        .collect()
}

#[test]
fn a_103_has_links_and_nothing_else() {
    let page = page(100.0);
    let fields = [
        ("content-security-policy", "default-src 'self'"),
        ("set-cookie", "a=1"),
        ("cache-control", "no-store"),
        ("link", LINKS),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    load_from(&page, site(&page, "/", &fields), Some(folder.path()));
    let log = std::fs::read_to_string(folder.path().join("client.sqlog")).expect("a log");
    let responses = responses(&log);
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(responses[0], [field(":status", "103"), field("link", LINKS)]);
    let is_final = |it: &&Vec<(String, String)>| it[0] == field(":status", "200");
    let document = responses.iter().find(is_final).expect("a response");
    for (name, value) in fields {
        // Credentials are not logged.
        let value = if name == "set-cookie" { "redacted" } else { value };
        assert!(document.contains(&field(name, value)), "{name} is on the response itself");
    }
}
