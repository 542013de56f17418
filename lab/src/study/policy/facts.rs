//! The facts that a study's server knew about a page's resources, for the site's server.

use super::Choice;
use super::configuration::{facts_key, quoted};
use crate::Metadata;
use crate::push_and_hints::PushAndHints;
use corpus::{Page, PageResource};
use gateway::is_one_path;
use server::SignalUse;
use server::site::{Request, Response, Site};
use std::collections::BTreeMap;

/// The facts of pages about the paths of a site. A path has only one table, whichever page requests it.
#[derive(Default)]
pub(crate) struct Facts {
    /// The keys of each path's table, and the first page that has the path.
    told: BTreeMap<String, (String, String)>,
}

impl Facts {
    /// Tables for the resources on the host of the page's document. Omits paths of earlier pages, and comments on
    /// contradictions.
    pub(crate) fn tables(&mut self, page: &Page, choice: &Choice, metadata: Metadata) -> String {
        let site = PushAndHints::default().site(page, metadata);
        let mut tables = Vec::new();
        for PageResource { id, url, .. } in &page.resources {
            if page.host(*id) != page.host(0) || !is_one_path(url) {
                continue;
            }
            let keys = keys(&site.respond(&Request::get(page.host(*id), url)), choice.signals);
            match self.told.get(url) {
                None if keys.is_empty() => {}
                None => {
                    tables.push(format!("[route.resource.{}]\n{keys}", quoted(url)));
                    self.told.insert(url.clone(), (keys, page.name.clone()));
                }
                Some((told, _)) if *told == keys => {}
                Some((_, first)) => {
                    let here = if keys.is_empty() { "nothing" } else { keys.trim_end() };
                    let here = here.replace('\n', ", ");
                    let cause = format!("is that of page {first}; this page has: {here}");
                    tables.push(format!("# {url} {cause}\n"));
                }
            }
        }
        tables.concat()
    }
}

/// The keys of a resource's table, from the facts of the study's server.
fn keys(response: &Response, signals: SignalUse) -> String {
    let facts = facts_key(response.resource);
    let directive = response.directive.filter(|_| signals == SignalUse::Override);
    let directive = directive.unwrap_or_default();
    let urgency = directive.urgency.map(|it| format!("urgency = {it}\n"));
    let incremental = directive.incremental.map(|it| format!("incremental = {it}\n"));
    [Some(facts), urgency, incremental].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> Page {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.name = name.to_owned();
        page
    }

    fn choice(signals: SignalUse) -> Choice {
        Choice {
            page: String::new(),
            scheme: "bucket-html".to_owned(),
            signals,
            push_and_hints: PushAndHints::default(),
            name: String::new(),
            found: Vec::new(),
        }
    }

    fn tables(metadata: Metadata, signals: SignalUse) -> String {
        Facts::default().tables(&page("a"), &choice(signals), metadata)
    }

    #[test]
    fn the_site_learns_what_the_study_knew_and_no_more() {
        let hero = |metadata, signals| {
            let text = tables(metadata, signals);
            let table = text.split("[route.resource.").find(|it| it.contains("hero"));
            table.expect("a hero").split_once('\n').expect("lines").1.to_owned()
        };
        let (ignore, over) = (SignalUse::Ignore, SignalUse::Override);
        assert_eq!(hero(Metadata::None, ignore), "facts = \"kind=image\"\n");
        let full = hero(Metadata::Full, ignore);
        assert!(full.contains("kind=image") && full.contains("above-fold"), "{full}");
        assert!(!hero(Metadata::Browser, ignore).contains("above-fold"));
        // Only a server that overrides clients' signals used the page's facts about its hero.
        assert_eq!(hero(Metadata::Full, over), format!("{full}urgency = 1\n"));
    }

    #[test]
    fn a_path_has_one_table_and_a_page_that_disagrees_a_comment() {
        let mut facts = Facts::default();
        let choice = choice(SignalUse::Ignore);
        let first = facts.tables(&page("first"), &choice, Metadata::Full);
        assert!(first.contains("[route.resource.\"/top.js\"]\n"), "{first}");
        assert_eq!(facts.tables(&page("same"), &choice, Metadata::Full), "");
        let mut other = page("other");
        let script = other.resources.iter_mut().find(|it| it.url == "/top.js").expect("a script");
        script.in_head = !script.in_head;
        let text = facts.tables(&other, &choice, Metadata::Full);
        assert!(text.starts_with("# /top.js is that of page first; this page has: facts = "));
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
