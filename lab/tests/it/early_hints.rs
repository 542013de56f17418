//! Early hints and `Link` fields from end to end, over quiche in virtual time.

use corpus::Page;
use lab::link::Profile;
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use schedulers::find_scheme;
use server::site::{PageSite, PushRoute, PushingSite, Request, Response, Site};
use server::{Identity, Options};
use std::sync::Arc;

const RTT_MS: f64 = 100.0;

const LINKS: &str = "</style.css>; rel=preload; as=style, </app.js>; rel=preload; as=script; nopush, \
                     <https://other.example/x.js>; rel=preload; as=script";

/// A document whose making takes a while, a style sheet, and a script that the style sheet brings.
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

/// A site whose document has fields of its own.
struct Document {
    inner: PageSite,
    fields: Vec<(&'static str, &'static str)>,
}

impl Site for Document {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.inner.respond(request);
        if request.path == "/" {
            let fields = self.fields.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            response.headers.extend(fields);
        }
        response
    }
}

fn load(wait_ms: f64, fields: &[(&'static str, &'static str)]) -> StackLoad {
    let page = page(wait_ms);
    let network = Network {
        name: "hinted".into(),
        server_pace: false,
        down: Profile::plain(1e9, RTT_MS / 2.0),
        up: Profile::plain(1e9, RTT_MS / 2.0),
    };
    let inner = PageSite::new(Page::clone(&page));
    let site = Arc::new(Document { inner, fields: fields.to_vec() });
    let route = PushRoute { path: "*".into(), ..PushRoute::default() };
    let client = client::Options::default();
    let ends = Ends { site: Arc::new(PushingSite::new(site, vec![route])), client };
    let options = Options::new(find_scheme("rfc9218").expect("a scheme"));
    let identity = Identity::self_signed().expect("a certificate");
    let load =
        load_between(&page, &ends, Setup::new(options, &network, &identity)).expect("a load");
    assert_eq!(load.problems, Vec::<String>::new());
    load
}

/// When the last resource was there, in round trips from the client's first packet.
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
