//! Data that a page's server sends before requests: pushes and hints with the document, as rules of the site.

use crate::Metadata;
use crate::metadata::LimitedSite;
use corpus::Page;
use corpus::page::{Announced, PageResource};
use gateway::site::{Pushing, Rule, RuledSite, as_many_as_fit};
use page_site::PageSite;
use push::{Gate, Graph, Policy};
use serde::{Deserialize, Serialize};
use server::site::Site;
use std::sync::Arc;

/// The number of pushes that a client allows, if it accepts any.
pub const PUSHES: u64 = 100;

schedulers::named! {
    /// The resources that a document's response names before the document itself.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Hints {
        /// Nothing.
        #[default]
        None = "none",
        /// Its `Link` fields name critical resources that are hidden from a browser that reads the document. While the
        /// document takes time, early hints name them, too.
        Preload = "preload",
        /// While the document takes time, early hints name everything critical.
        EarlyHints = "early-hints",
    }
}

/// Pushes and hints that precede a page's resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PushAndHints {
    /// The push policy; `None`: nothing is pushed.
    pub policy: Option<Policy>,
    /// When pushed bytes may be sent.
    pub gate: Option<Gate>,
    /// The hints in the document's response.
    pub hints: Hints,
}

impl PushAndHints {
    /// Whether it has no effect on the server.
    pub fn is_nothing(&self) -> bool {
        self.policy.is_none_or(|it| it == Policy::NoOpt) && self.hints == Hints::None
    }

    /// How many pushes the client allows that loads this page.
    pub fn client_pushes(&self, page: &Page) -> u64 {
        let pushes = self.policy.is_some_and(Policy::pushes)
            || page.resources.iter().any(|it| it.announced == Some(Announced::Push));
        if pushes { PUSHES } else { 0 }
    }

    /// `page` as a site with these pushes and hints that gives its server only the facts in `metadata`.
    pub fn site(&self, page: &Page, metadata: Metadata) -> RuledSite {
        self.site_of(&[page], None, metadata)
    }

    /// The same for several pages. Their responses other than documents stay fresh for `fresh_s` seconds, if given.
    pub fn site_of(&self, pages: &[&Page], fresh_s: Option<u64>, metadata: Metadata) -> RuledSite {
        let site = PageSite::of(pages.iter().copied().cloned().collect());
        let site = match fresh_s {
            Some(seconds) => site.fresh_for(seconds),
            None => site,
        };
        self.site_with(pages, Arc::new(site), metadata)
    }

    /// The same, where `inner` answers.
    pub fn site_with(
        &self,
        pages: &[&Page],
        inner: Arc<dyn Site>,
        metadata: Metadata,
    ) -> RuledSite {
        let rules = pages.iter().flat_map(|it| self.pushing(it));
        let rules = rules.map(|(path, pushing)| Rule::pushing(&path, pushing)).collect();
        RuledSite::new(LimitedSite { inner, metadata }, rules)
    }

    /// The rules for the page's document, with what the page itself has announced, and for all else if something goes with that, too: each
    /// with its path.
    pub fn pushing(&self, page: &Page) -> Vec<(String, Pushing)> {
        let is_announced = page.resources.iter().any(|it| it.announced.is_some());
        let Some(document) = page.resources.first().filter(|_| is_announced || !self.is_nothing())
        else {
            return Vec::new();
        };
        let graph = Arc::new(Graph::of_page(page));
        let (links, mut early_hints) = self.links(&graph, &document.url);
        let host = page.host(0);
        let hinted = announced(page, Announced::EarlyHint);
        let hinted = hinted.filter_map(|it| graph.find(page.host(it.id), &it.url));
        early_hints.extend(hinted.map(|it| graph.nodes[it].preload(host)));
        let push = announced(page, Announced::Push).map(|it| it.url.clone()).collect();
        let policy = self.policy.filter(|it| *it != Policy::NoOpt);
        let rest = Pushing {
            policy,
            graph: policy.map(|_| Arc::clone(&graph)),
            gate: self.gate,
            ..Pushing::default()
        };
        let own = Pushing { push, links, early_hints, ..rest.clone() };
        let mut rules = vec![(document.url.clone(), own)];
        if policy == Some(Policy::Push) && graph.edges.iter().any(|edge| edge.from != 0) {
            rules.push(("/*".to_owned(), rest));
        }
        rules
    }

    /// `Link` values of the document's response, and of early hints alone.
    fn links(&self, graph: &Graph, document: &str) -> (Vec<String>, Vec<String>) {
        let Some(at) = graph.nodes.iter().position(|node| node.path == document) else {
            return Default::default();
        };
        match self.hints {
            Hints::None => Default::default(),
            Hints::Preload => (preloads(graph, at, &graph.hidden_and_critical(at)), Vec::new()),
            Hints::EarlyHints => {
                let mut critical = graph.descendants(at);
                critical.retain(|it| graph.nodes[*it].critical);
                (Vec::new(), preloads(graph, at, &critical))
            }
        }
    }
}

fn announced(page: &Page, how: Announced) -> impl Iterator<Item = &PageResource> {
    page.resources.iter().filter(move |it| it.announced == Some(how))
}

/// `Link` values that name `nodes` for the document `at`.
fn preloads(graph: &Graph, at: usize, nodes: &[usize]) -> Vec<String> {
    let host = &graph.nodes[at].host;
    as_many_as_fit(nodes.iter().map(|it| graph.nodes[*it].preload(host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(push_and_hints: PushAndHints) -> Vec<(String, Pushing)> {
        push_and_hints.pushing(corpus::bundled("agency-index").expect("bundled"))
    }

    #[test]
    fn what_does_nothing_has_no_rules() {
        assert!(rules(PushAndHints::default()).is_empty());
        assert!(
            rules(PushAndHints { policy: Some(Policy::NoOpt), ..PushAndHints::default() })
                .is_empty()
        );
    }

    #[test]
    fn what_a_page_announces_goes_with_its_document() {
        let mut page = corpus::bundled("agency-index").expect("bundled").clone();
        page.resources[1].announced = Some(Announced::Push);
        page.resources[2].announced = Some(Announced::EarlyHint);
        let nothing = PushAndHints::default();
        let (path, pushing) = nothing.pushing(&page).remove(0);
        assert_eq!((path, nothing.client_pushes(&page)), (page.resources[0].url.clone(), PUSHES));
        assert_eq!(pushing.push, [page.resources[1].url.clone()]);
        let hint = format!("<{}>; rel=preload", page.resources[2].url);
        assert!(pushing.early_hints[0].starts_with(&hint), "{:?}", pushing.early_hints);
        page.resources[1].announced = None;
        assert_eq!(nothing.client_pushes(&page), 0);
    }

    #[test]
    fn a_policy_has_a_rule_for_the_document_and_push_one_for_all_else() {
        let paths = |policy| -> Vec<String> {
            let policy = Some(policy);
            rules(PushAndHints { policy, ..PushAndHints::default() })
                .into_iter()
                .map(|it| it.0)
                .collect()
        };
        assert_eq!(paths(Policy::Push), ["/index.html", "/*"]);
        assert_eq!(paths(Policy::PushAndPreload), ["/index.html"]);
    }

    #[test]
    fn a_response_preloads_what_is_hidden_and_early_hints_name_all_that_is_critical() {
        let links = |hints| {
            let (_, pushing) = rules(PushAndHints { hints, ..PushAndHints::default() }).remove(0);
            [pushing.links.len(), pushing.early_hints.len()]
        };
        assert_eq!([Hints::Preload, Hints::EarlyHints].map(links), [[4, 0], [0, 10]]);
    }
}
