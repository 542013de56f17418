//! The pages of a connection, one of which has its own scheme and use of signals. Like a directory and a backend, the
//! site does not know which of its responses are documents.

use crate::peers::{Peer, World, limits, options};
use crate::simulation::Bodies;
use gateway::site::{Directive, Rule, RuledSite};
use http3::{Extension, Settings};
use schedulers::{Metadata, Priority, find_scheme};
use server::{Options, SignalUse};

/// The document of the page with a route, and of one without.
const ROUTED: &str = "/3000/html";
const PLAIN: &str = "/3001/html";

/// For each page: the path, and the urgency that the client signals. All are available after 40 ms.
const NEEDED: [(&str, &str, &str); 3] = [
    ("image", "/60000/png/40", "u=0"),
    ("script", "/60001/js/40", "u=2"),
    ("hero", "/60002/png/40", "u=5"),
];

/// Orders of [`NEEDED`]. The server knows that the hero is above the fold, and obeys on pages without a route.
const BY_KNOWLEDGE: &str = "hero script image";
const BY_SIGNALS: &str = "image script hero";

struct Visitor {
    world: World,
    peer: Peer,
}

impl Visitor {
    /// Of a site with a page whose scheme uses the server's facts.
    fn new() -> Self {
        let page = Rule {
            path: ROUTED.to_owned(),
            scheme: find_scheme("bucket-html").ok(),
            signals: Some(SignalUse::Ignore),
            ..Rule::default()
        };
        let facts = Metadata::parse(b"kind=image, above-fold");
        let hero = Directive { facts, ..Directive::default() };
        let site = RuledSite::new(Bodies, vec![page]);
        Self::of(site.directing([("/60002/png/40".to_owned(), hero)].into()))
    }

    /// Of a site with a page that obeys signals, except for one image, which comes last.
    fn of_directed_page() -> Self {
        let (path, signals) = (ROUTED.to_owned(), Some(SignalUse::Override));
        let page = Rule { path, signals, ..Rule::default() };
        let last = Directive { priority: Priority::new(7, false), ..Directive::default() };
        let site = RuledSite::new(Bodies, vec![page]);
        Self::of(site.directing([("/60000/png/40".to_owned(), last)].into()))
    }

    fn of(site: RuledSite) -> Self {
        let signals = SignalUse::Obey;
        let options = Options { limits: limits(), signals, ..options("rfc9218") };
        let mut world = World::of(options, site);
        let listening = Settings {
            extensions: [Extension::SchemeAnnouncement].into_iter().collect(),
            ..Settings::default()
        };
        let mut peer = Peer::with_settings(&world, 1, listening);
        world.run_ms(20, &mut [&mut peer]);
        Self { world, peer }
    }

    fn ask(&mut self, path: &str, priority: &str) -> u64 {
        let stream = self.peer.client.connection.next_request().0;
        self.peer.get_with(stream, path, priority);
        stream
    }

    /// Loads a document and what its page needs. Returns the order of arrival.
    fn load(&mut self, document: &str) -> String {
        self.ask(document, "u=0, i");
        self.world.run_ms(10, &mut [&mut self.peer]);
        self.load_needed()
    }

    fn load_needed(&mut self) -> String {
        let streams = NEEDED.map(|(name, path, urgency)| (self.ask(path, urgency), name));
        self.world.run_ms(1_000, &mut [&mut self.peer]);
        let name = |it: u64| streams.iter().find(|(stream, _)| *stream == it).map(|it| it.1);
        self.peer.order().into_iter().filter_map(name).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn a_page_with_a_route_is_ordered_by_the_servers_facts_and_the_next_one_by_signals_again() {
    let mut visitor = Visitor::new();
    let pages = [PLAIN, ROUTED, PLAIN, ROUTED];
    let orders = pages.map(|it| visitor.load(it));
    assert_eq!(orders, [BY_SIGNALS, BY_KNOWLEDGE, BY_SIGNALS, BY_KNOWLEDGE]);
    let named = visitor.peer.heads.iter().filter_map(|it| it.split("utmost-scheme: ").nth(1));
    let named: Vec<&str> = named.map(str::trim_end).collect();
    assert_eq!(named, ["bucket-html", "rfc9218", "bucket-html"], "where the scheme changes");
}

#[test]
fn a_page_that_begins_beside_another_one_joins_it_in_scheme_and_use_of_signals() {
    for (first, second, expected) in [(ROUTED, PLAIN, BY_KNOWLEDGE), (PLAIN, ROUTED, BY_SIGNALS)] {
        let mut visitor = Visitor::new();
        visitor.load(first);
        // Still in progress when the next document is requested: the server has it in a second.
        visitor.ask("/1000/png/1000", "u=7");
        assert_eq!(visitor.load(second), expected, "{second} beside {first}");
        assert_eq!(visitor.load(second), if second == PLAIN { BY_SIGNALS } else { BY_KNOWLEDGE });
    }
}

/// A browser's first visit begins over HTTP/2, and it asks for the rest over HTTP/3.
#[test]
fn a_directive_holds_on_its_page_and_on_a_connection_without_a_document_but_on_no_other_page() {
    let loaded = |documents: &[&str]| {
        let mut visitor = Visitor::of_directed_page();
        for document in documents {
            visitor.ask(document, "u=0, i");
            visitor.world.run_ms(10, &mut [&mut visitor.peer]);
        }
        visitor.load_needed()
    };
    let directed = "script hero image";
    let orders = [&[ROUTED][..], &[], &[PLAIN], &[PLAIN, ROUTED]].map(loaded);
    assert_eq!(orders, [directed, directed, BY_SIGNALS, directed]);
}

#[test]
fn a_document_in_a_frame_belongs_to_the_page_around_it() {
    let mut visitor = Visitor::new();
    assert_eq!(visitor.load(ROUTED), BY_KNOWLEDGE);
    let fields = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
    let stream = visitor.peer.client.connection.next_request();
    assert!(visitor.peer.client.get(stream, "localhost", PLAIN, &fields));
    visitor.world.run_ms(100, &mut [&mut visitor.peer]);
    assert_eq!(visitor.load_needed(), BY_KNOWLEDGE);
}
