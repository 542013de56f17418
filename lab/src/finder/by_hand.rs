//! Changes to a page by hand, instead of by a search: priorities of responses, preloads, early hints and pushes.

use super::advice::{line, sent};
use super::configuration::{PolicySite, route};
use super::{ByResource, ResourcePriority};
use crate::bounds;
use crate::export::{Advice, Document};
use crate::network::Network;
use crate::study::policy::{OF_SITE, hint_keys, list_key, quoted};
use crate::study::{Plan, RunRecord, StudyError, page_sha256};
use corpus::Page;
use corpus::page::{Announced, BrowserPriority, Event, Trigger};
use push::Graph;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The changes. Resources are identified by their IDs in the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByHand {
    /// Priorities that replace the browsers' signals.
    pub priorities: BTreeMap<usize, BrowserPriority>,
    /// Resources that the first byte of the document preloads.
    pub preloads: BTreeSet<usize>,
    /// Resources that early hints name.
    pub early_hints: BTreeSet<usize>,
    /// Resources that are pushed with the document.
    pub pushes: BTreeSet<usize>,
    /// Whether a resource is a hero image: a fact that a recording can lack.
    pub heroes: BTreeMap<usize, bool>,
}

impl ByHand {
    /// The priorities that a search on the engine `ideal` finds for the plan's first page, on its networks. No loads on `stack` judge
    /// them, unlike the orders of [`super::by_resource()`]. Calls `go_on` before each load; after the first false, returns the result so
    /// far.
    pub fn searched(plan: &Plan, go_on: &dyn Fn() -> bool) -> Result<Self, StudyError> {
        let settings = plan.settings.each().into_iter();
        let networks = settings.map(|(network, it)| it.network_of(network));
        let networks = networks.map(|it| it.map(|it| it.for_ideal()));
        let networks: Vec<Network> = networks.collect::<Result<_, _>>()?;
        let pages = &plan.pages[..1];
        let usual = bounds::usual(&pages[0]);
        let found = bounds::priorities(pages, &networks, go_on);
        let found = found.map_or(usual.clone(), |it| it.priorities);
        let changed = found.into_iter().enumerate().filter(|(id, it)| usual[*id] != *it);
        Ok(Self { priorities: changed.collect(), ..Self::default() })
    }

    /// The page with these changes, under another name. Rejects resources that the page lacks, and values that a page cannot have.
    pub fn page(&self, page: &Page, name: &str) -> Result<Arc<Page>, StudyError> {
        let mut changed = Page { name: name.to_owned(), ..page.clone() };
        let sets = [&self.preloads, &self.early_hints, &self.pushes].into_iter().flatten();
        let named = self.priorities.keys().chain(sets).chain(self.heroes.keys());
        if let Some(id) = named.max().filter(|it| **it >= page.resources.len()) {
            return Err(StudyError::Impossible(format!("{}: has no resource {id}", page.name)));
        }
        for (id, priority) in &self.priorities {
            changed.resources[*id].browser = Some(*priority);
        }
        for id in self.preloads.iter().filter(|it| **it != 0) {
            let on_first_byte =
                Trigger { on: Event::Bytes, of: 0, byte: Some(0), ..Trigger::default() };
            changed.resources[*id].preload = true;
            changed.resources[*id].trigger = on_first_byte;
        }
        let hinted = self.early_hints.iter().map(|id| (id, Announced::EarlyHint));
        let pushed = self.pushes.iter().map(|id| (id, Announced::Push));
        for (id, how) in hinted.chain(pushed) {
            changed.resources[*id].announced = Some(how);
        }
        for (id, is_hero) in &self.heroes {
            let resource = &mut changed.resources[*id];
            resource.hero = *is_hero;
            resource.above_fold |= *is_hero;
        }
        match corpus::check(&changed).first() {
            None => Ok(Arc::new(changed)),
            Some(problem) => Err(StudyError::Impossible(format!("{}: {problem}", page.name))),
        }
    }

    /// The advice for servers that send by RFC 9218. `loads`: of the page without and with the changes; `found`: the findings, in
    /// sentences.
    pub fn advice(&self, page: &Arc<Page>, loads: [&RunRecord; 2], found: Vec<String>) -> Advice {
        let lines = self.changed(page, loads).into_iter();
        let document = Document {
            host: http3::host(page.host(0)).to_owned(),
            path: page.resources.first().map_or("/", |it| &*it.url).to_owned(),
            links: links(page, &self.preloads),
            early_hints: links(page, &self.early_hints),
        };
        let is_nothing = document.links.is_empty() && document.early_hints.is_empty();
        let documents = if is_nothing { Vec::new() } else { vec![document] };
        let lines = lines.map(|it| line(page, &it)).collect();
        Advice { found, lines, documents, sent: sent(page), ..Advice::default() }
    }

    /// The same as a configuration for `utmost serve --config`; `why` becomes its first comment.
    pub fn policy(
        &self,
        page: &Arc<Page>,
        loads: [&RunRecord; 2],
        site: &PolicySite,
        why: &str,
    ) -> String {
        let found = ByResource::by_hand(page, self.changed(page, loads));
        let hints = hint_keys(&links(page, &self.preloads), &links(page, &self.early_hints));
        let pushes: Vec<String> =
            self.pushes.iter().map(|id| page.resources[*id].url.clone()).collect();
        let keys = list_key("push", &pushes) + hints.as_str();
        let route = route(&found, site.host_of(page, &[]), page, &keys, &mut BTreeSet::new());
        format!(
            "# {why}\n# Serve it with utmost serve --config FILE.\n\n[site]\n{}\nscheme = {}\nsignals = \"obey\"\n\n{route}",
            site.keys(),
            quoted(OF_SITE)
        )
    }

    /// The priorities that differ from browsers' signals, the resources that move most first.
    fn changed(&self, page: &Page, [now, by_hand]: [&RunRecord; 2]) -> Vec<ResourcePriority> {
        let usual = bounds::usual(page);
        let mut changed = Vec::new();
        for (&id, priority) in self.priorities.iter().filter(|(id, it)| usual[**id] != **it) {
            let BrowserPriority { urgency, incremental } = *priority;
            let [from_ms, to_ms] = [now, by_hand].map(|it| complete_ms(it, id));
            let later_ms = to_ms.zip(from_ms).map_or(0.0, |(to_ms, from_ms)| to_ms - from_ms);
            let url = page.url(id);
            changed.push(ResourcePriority { id, url, urgency, incremental, later_ms });
        }
        changed.sort_by(|one, other| other.later_ms.abs().total_cmp(&one.later_ms.abs()));
        changed
    }
}

fn links(page: &Page, ids: &BTreeSet<usize>) -> Vec<String> {
    let graph = Graph::of_page(page);
    let nodes = ids.iter().filter_map(|id| graph.find(page.host(*id), &page.resources[*id].url));
    nodes.map(|it| graph.nodes[it].preload(page.host(0))).collect()
}

fn complete_ms(run: &RunRecord, id: usize) -> Option<f64> {
    run.resources.iter().find(|it| it.id == id).and_then(|it| it.complete_ms)
}

impl ByResource {
    /// Priorities that nobody judged.
    fn by_hand(page: &Arc<Page>, resources: Vec<ResourcePriority>) -> Self {
        Self {
            page: page.name.clone(),
            page_sha256: page_sha256(page),
            is_better: true,
            resources,
            assumptions: page.source.assumptions.clone(),
            of: Some(Arc::clone(page)),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Server;
    use schedulers::Kind;

    fn page() -> Arc<Page> {
        Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone())
    }

    fn loads() -> [RunRecord; 2] {
        [RunRecord::default(), RunRecord::default()]
    }

    #[test]
    fn what_is_changed_by_hand_is_in_the_page_and_nothing_else() {
        let before = page();
        let images = before.resources.iter().filter(|it| it.kind == Kind::Image);
        let id = images.map(|it| it.id).next_back().expect("an image");
        let text = format!(
            r#"{{"priorities":{{"{id}":{{"urgency":0}}}},"preloads":[{id}],"heroes":{{"{id}":true}}}}"#
        );
        let by_hand: ByHand = serde_json::from_str(&text).expect("changes");
        let after = by_hand.page(&before, "other").expect("a page");
        let mut expected = bounds::usual(&before);
        expected[id] = BrowserPriority { urgency: 0, incremental: false };
        assert_eq!(bounds::usual(&after), expected);
        let resource = &after.resources[id];
        assert!(resource.preload && resource.hero && resource.above_fold);
        assert_eq!((resource.trigger.on, resource.trigger.byte), (Event::Bytes, Some(0)));
        assert_eq!(ByHand::default().page(&before, "davies-meenan").expect("a page"), before);
    }

    #[test]
    fn a_search_raises_the_late_hero() {
        let page = Arc::new(corpus::bundled("case-study-1").expect("bundled").clone());
        let hero = page.resources.iter().find(|it| it.hero).expect("a hero").id;
        let network = Network::find("3g").expect("built in");
        let scheme = crate::Contender::find("rfc9218").expect("known");
        let plan = Plan::new(vec![page], vec![scheme], crate::study::engines::IDEAL, network);
        let found = ByHand::searched(&plan, &|| true).expect("found");
        assert_eq!(found.priorities.keys().collect::<Vec<_>>(), [&hero]);
        assert_eq!(found.priorities[&hero].urgency, 0);
        let stopped = ByHand::searched(&plan, &|| false).expect("found");
        assert_eq!(stopped, ByHand::default());
    }

    #[test]
    fn a_resource_that_the_page_lacks_is_refused() {
        let by_hand = ByHand { preloads: [9999].into(), ..ByHand::default() };
        let error = by_hand.page(&page(), "other").expect_err("no such resource").to_string();
        assert_eq!(error, "davies-meenan: has no resource 9999");
    }

    #[test]
    fn lines_for_servers_and_the_policy_say_the_same() {
        let page = page();
        let last = page.resources.len() - 1;
        let priority = BrowserPriority { urgency: 1, incremental: true };
        let by_hand = ByHand {
            priorities: [(last, priority)].into(),
            preloads: [last].into(),
            early_hints: [last - 1].into(),
            pushes: [last - 2].into(),
            ..ByHand::default()
        };
        let [now, then] = &loads();
        let advice = by_hand.advice(&page, [now, then], Vec::new());
        let nginx: Server = "nginx".parse().expect("known");
        let (path, text) = (&page.resources[last].url, nginx.export(&advice));
        assert!(text.contains(&format!("{path}\" \"u=1, i\";")), "{text}");
        assert!(text.contains(&format!("<{path}>; rel=preload")), "{text}");
        let policy = by_hand.policy(&page, [now, then], &PolicySite::ToFillIn, "by hand");
        assert!(policy.contains("urgency = 1") && policy.contains("rel=preload"), "{policy}");
        let [hinted, pushed] = [last - 1, last - 2].map(|it| &page.resources[it].url);
        assert!(policy.contains(&format!("early_hints = [\"<{hinted}>")), "{policy}");
        assert!(policy.contains(&format!("push = [\"{pushed}\"]")), "{policy}");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("policy.toml");
        std::fs::write(&file, policy).expect("written");
        gateway::Config::load(&file).expect("a configuration");
    }
}
