//! Early data (0-RTT) from end to end, over quiche in virtual time.

use client::{EarlyData, SavedSession};
use corpus::Page;
use gateway::site::{Pushing, Rule, RuledSite};
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use schedulers::find_scheme;
use server::{Identity, Options, TicketKey};
use simulator::link::Profile;
use std::sync::Arc;

/// A document that refers to a style sheet.
fn page() -> Arc<Page> {
    let page = serde_json::json!({
        "format": "utmost-page/1", "name": "returning",
        "source": {"kind": "hand", "from": "a test", "licence": "MIT"},
        "viewport": [1366, 768],
        "origins": [{"host": "site.example", "party": "first"}],
        "resources": [
            {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 500, "main": true,
                "trigger": {"on": "nav"}},
            {"id": 1, "url": "/style.css", "kind": "css", "mime": "text/css", "bytes": 300, "in_head": true,
                "trigger": {"on": "bytes", "of": 0, "byte": 100}},
        ],
    });
    Arc::new(serde_json::from_value(page).expect("a page"))
}

const RTT_MS: f64 = 100.0;

/// A server of today: its options and its pushes.
#[derive(Clone)]
struct Case {
    options: Options,
    pushing: Pushing,
    identity: Identity,
}

impl Case {
    fn new() -> Self {
        let options = Options::new(find_scheme("rfc9218").expect("a scheme"));
        Self {
            options: Options {
                early_data: true,
                ticket_key: Some(TicketKey::new([1; TicketKey::BYTES])),
                ..options
            },
            pushing: Pushing::default(),
            identity: Identity::self_signed().expect("a certificate"),
        }
    }

    fn load(&self, session: Option<SavedSession>) -> StackLoad {
        let network = Network {
            name: "returning".into(),
            server_pace: false,
            down: Profile::plain(1e9, RTT_MS / 2.0),
            up: Profile::plain(1e9, RTT_MS / 2.0),
        };
        let page = page();
        let site = Arc::new(PageSite::new(Page::clone(&page)));
        let ends = Ends {
            site: RuledSite::new(site, vec![Rule::pushing("/", self.pushing.clone())]),
            client: client::Options { pushes: 10, session, ..client::Options::default() },
        };
        let setup = Setup::new(self.options.clone(), &network, &self.identity);
        let load = load_between(&page, &ends, setup).expect("a load");
        assert_eq!(load.problems, Vec::<String>::new());
        load
    }

    fn session(&self) -> Option<SavedSession> {
        let first = self.load(None);
        assert_eq!(first.outcome.early_data, EarlyData::Unsent);
        first.outcome.session
    }
}

/// When each resource was complete, in round trips from the client's first packet.
fn complete_rtt(load: &StackLoad) -> Vec<f64> {
    let timeline = &load.load.timeline;
    let complete = timeline.deliveries().into_iter().map(|it| it.complete_us.expect("it came"));
    complete.map(|it| it as f64 / 1000.0 / RTT_MS).collect()
}

fn assert_near(measured: &[f64], expected: &[f64]) {
    let near = measured.iter().zip(expected).all(|(it, other)| (it - other).abs() < 0.05);
    assert!(near && measured.len() == expected.len(), "{measured:?}, not {expected:?}");
}

#[test]
fn a_returning_client_has_everything_a_round_trip_earlier() {
    let case = Case::new();
    let first = case.load(None);
    assert_near(&complete_rtt(&first), &[2.0, 3.0]);
    let second = case.load(first.outcome.session);
    assert_eq!(second.outcome.early_data, EarlyData::Accepted);
    assert_near(&complete_rtt(&second), &[1.0, 2.0]);
}

#[test]
fn pushes_answer_early_data_too() {
    let mut case = Case::new();
    case.pushing.push = vec!["/style.css".into()];
    let second = case.load(case.session());
    assert_eq!((second.outcome.early_data, second.outcome.pushed.len()), (EarlyData::Accepted, 1));
    assert_near(&complete_rtt(&second), &[1.0, 1.0]);
}

#[test]
fn a_server_with_another_ticket_key_or_smaller_limits_answers_after_the_handshake() {
    let case = Case::new();
    let mut other = case.clone();
    other.options.ticket_key = Some(TicketKey::new([2; TicketKey::BYTES]));
    let mut own = case.clone();
    own.options.ticket_key = None;
    let mut smaller = case.clone();
    smaller.options.limits.streams = 100;
    for server in [other, own, smaller] {
        let load = server.load(case.session());
        assert_eq!(load.outcome.early_data, EarlyData::Rejected);
        // The handshake; a round trip until the requests count as lost and go again; and theirs.
        assert_near(&complete_rtt(&load), &[3.0, 4.0]);
        assert!(load.outcome.session.is_some(), "and a new session");
    }
}

#[test]
fn after_refused_early_data_the_server_still_may_push() {
    let mut case = Case::new();
    case.pushing.push = vec!["/style.css".into()];
    let session = case.session();
    case.options.ticket_key = None;
    let load = case.load(session);
    assert_eq!((load.outcome.early_data, load.outcome.pushed.len()), (EarlyData::Rejected, 1));
    assert_near(&complete_rtt(&load), &[3.0, 3.0]);
}

#[test]
fn a_server_that_takes_no_early_data_gives_no_session_for_it() {
    let mut case = Case::new();
    case.options.early_data = false;
    let load = case.load(case.session());
    assert_eq!(load.outcome.early_data, EarlyData::Unsent);
    assert_near(&complete_rtt(&load), &[2.0, 3.0]);
}
