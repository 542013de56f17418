//! Priorities of single resources as a configuration for `utmost serve --config`.

use super::{ByHints, ByResource, ResourcePriority, SiteAnswer};
use crate::Metadata;
use crate::study::policy::{OF_SITE, facts_key, hint_keys, pages_key, quoted};
use corpus::{Page, PageResource};
use gateway::is_one_path;
use serde_json::Value;
use server::SignalUse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The source that a policy's server serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicySite {
    /// Pages: bundled names, or files.
    Pages(Vec<String>),
    /// The files below a folder.
    Folder(String),
    /// A backend, by its URL.
    Backend(String),
    /// A site known only to its owner, who must replace the placeholder.
    ToFillIn,
}

impl PolicySite {
    /// The keys of `[site]`.
    pub fn keys(&self) -> String {
        match self {
            Self::Pages(pages) => pages_key(pages),
            Self::Folder(folder) => format!("root = {}", quoted(folder)),
            Self::Backend(url) => format!("upstream = {}", quoted(url)),
            Self::ToFillIn => format!(
                "# FILL IN: the address of the server that makes your site, or in its place root = \"DIR\", the folder with your site's\n\
                 # files. utmost find --site URL|DIR writes it.\nupstream = {}",
                quoted(EXAMPLE)
            ),
        }
    }

    /// The host of a page's route; `None`: any. A folder serves the same files under every name, so a host is named only to tell it
    /// from the hosts of `others`.
    pub(super) fn host_of<'a>(&self, page: &'a Page, others: &[&Page]) -> Option<&'a str> {
        let host = http3::host(page.host(0));
        let is_alone = others.iter().all(|it| http3::host(it.host(0)) == host);
        let is_any = host.is_empty() || (is_alone && matches!(self, Self::Folder(_)));
        (!is_any).then_some(host)
    }
}

/// A placeholder for a backend that only the site's owner knows.
const EXAMPLE: &str = "http://127.0.0.1:8080";

/// The text of the file. Only pages with a gain have a route; all others are sent as browsers request. Hints and priorities
/// were not loaded together, so for a page that gains from both, the file has the larger gain.
pub fn policy(
    answer: &SiteAnswer,
    found: &[ByResource],
    hints: &[ByHints],
    site: &PolicySite,
    provenance: &Value,
) -> String {
    let keys = site.keys();
    let mut text = vec![format!(
        "# {}\n# {}\n#\n# Serve it with utmost serve --config FILE, or write it for another server with utmost find --from FILE --export SERVER.\n\
         # Pages without a table are sent as browsers ask for them.\n# {provenance}\n\n[site]\n{keys}\n\
         scheme = {}    # the most urgent response first (RFC 9218)\nsignals = {}      # obey what browsers ask for\n",
        answer.sentence,
        answer.certainty,
        quoted(OF_SITE),
        quoted(SignalUse::Obey.name()),
    )];
    let mut told = BTreeSet::new();
    let mut pages = pages_of(found);
    pages.extend(hints.iter().map(|it| it.page().as_ref()));
    for page in found {
        text.push("\n".to_owned());
        text.extend(page.words().iter().map(|it| format!("# {it}\n")));
        let hinted = hints.iter().find(|it| it.page == page.page && it.is_better);
        let is_behind = hinted.is_some_and(|it| it.speedup() > page.speedup());
        match page.page().filter(|_| page.is_better && !page.resources.is_empty()) {
            Some(_) if is_behind => {
                let why = "its hints, below, gain more, and both at once were not loaded";
                text.push(format!("# page {}: priorities are left out: {why}\n", page.page));
            }
            Some(of) => text.push(route(page, site.host_of(of, &pages), of, "", &mut told)),
            None => text.push(format!("# page {}: {}\n", page.page, page.without_route())),
        }
    }
    for page in hints {
        text.push("\n".to_owned());
        text.extend(page.words().iter().map(|it| format!("# {it}\n")));
        if page.is_better {
            text.push(hinting(page, site.host_of(page.page(), &pages), &mut told));
        }
    }
    text.concat()
}

/// The routes alone, for pasting into an existing configuration.
pub fn routes(found: &[ByResource], site: &PolicySite) -> String {
    let (mut told, mut text, pages) = (BTreeSet::new(), Vec::new(), pages_of(found));
    for page in found.iter().filter(|it| it.is_better && !it.resources.is_empty()) {
        text.extend(page.page().map(|of| route(page, site.host_of(of, &pages), of, "", &mut told)));
    }
    text.concat()
}

fn pages_of(found: &[ByResource]) -> Vec<&Page> {
    found.iter().filter_map(|it| Some(it.page()?.as_ref())).collect()
}

/// The route of a page's document, with the keys of its hints. A path has only one table in a file: it holds for all pages.
pub(super) fn route(
    found: &ByResource,
    host: Option<&str>,
    page: &Arc<Page>,
    hints: &str,
    told: &mut BTreeSet<String>,
) -> String {
    let path = page.resources.first().map_or("/", |it| it.url.as_str());
    let place = format!("{}{path}", host.unwrap_or_default());
    if !is_one_path(path) {
        return format!("# left out: no route can be for {place}\n");
    }
    let mut text = vec![if told.insert(format!("route {place}")) {
        let overriding = overriding(host, path);
        format!("{overriding}  # obey what browsers ask for, except for the following\n{hints}")
    } else {
        format!("# its route is above: {place}\n")
    }];
    for priority in &found.resources {
        let resource = &page.resources[priority.id];
        let path = resource.url.escape_default();
        text.push(match () {
            () if !is_one_path(&resource.url) => {
                format!("# left out: {path} cannot have a table\n")
            }
            () if told.insert(resource.url.clone()) => {
                table(resource, priority, &found.moved_text(priority))
            }
            () => format!("# {path}: its table above holds here, too\n"),
        });
    }
    for path in found.alike.iter().filter(|it| is_one_path(it)) {
        if told.insert(format!("route {}{path}", host.unwrap_or_default())) {
            text.push(format!("# has the template of {}\n", page.resources[0].url));
            text.push(overriding(host, path) + "\n");
        }
    }
    text.concat()
}

/// A route whose page takes the tables of the file.
fn overriding(host: Option<&str>, path: &str) -> String {
    let [path, scheme] = [path, OF_SITE].map(quoted);
    let signals = quoted(SignalUse::Override.name());
    format!("[[route]]\n{}path = {path}\nscheme = {scheme}\nsignals = {signals}", host_key(host))
}

/// The route of a document whose response has hints, unless it already has one.
fn hinting(found: &ByHints, host: Option<&str>, told: &mut BTreeSet<String>) -> String {
    let page = found.page();
    let path = page.resources.first().map_or("/", |it| it.url.as_str());
    let place = format!("{}{path}", host.unwrap_or_default());
    if !is_one_path(path) || !told.insert(format!("route {place}")) {
        return format!("# left out: {place} has a route above, or cannot have one\n");
    }
    let hints = hint_keys(&found.links, &found.early_hints);
    format!("[[route]]\n{}path = {}\n{hints}", host_key(host), quoted(path))
}

fn host_key(host: Option<&str>) -> String {
    host.map_or(String::new(), |it| format!("host = {}\n", quoted(it)))
}

fn table(resource: &PageResource, priority: &ResourcePriority, moved: &str) -> String {
    let facts = facts_key(Metadata::Browser.of(resource.for_scheduler()));
    let ResourcePriority { urgency, incremental, .. } = *priority;
    let shares = if incremental {
        "shares with others of its urgency"
    } else {
        "whole, before those that share"
    };
    format!(
        "[route.resource.{}]  # {moved}\n{facts}urgency = {urgency}  # from 0, first, to 7, last\nincremental = {incremental}  # {shares}\n",
        quoted(&resource.url)
    )
}

#[cfg(test)]
mod tests {
    use super::super::one_policy::tests::{gaining, page};
    use super::*;

    /// The text, and the routes and tables that the server reads from it.
    fn served(text: &str) -> (Vec<(Option<String>, String)>, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("policy.toml");
        std::fs::write(&file, format!("[site]\nroot = \".\"\n{text}")).expect("written");
        let config = gateway::Config::load(&file).expect("a configuration");
        let mut routes: Vec<_> = config.routes.into_iter().map(|it| (it.host, it.path)).collect();
        routes.dedup();
        (routes, config.directives.into_keys().collect())
    }

    #[test]
    fn documents_with_one_path_at_two_hosts_have_a_route_each_also_for_a_folder() {
        let images = [("/a.png", 9, false), ("/b.png", 9, true)];
        let pages = ["one.test", "two.test"].map(|host| page("", host, &images));
        let found = [gaining(&pages[0], 1.2, &[(1, 7)]), gaining(&pages[1], 1.2, &[(2, 0)])];
        let folder = PolicySite::Folder(".".to_owned());
        let (routes_of_both, tables) = served(&routes(&found, &folder));
        for host in ["one.test", "two.test"] {
            assert!(
                routes_of_both.contains(&(Some(host.to_owned()), "/".to_owned())),
                "{routes_of_both:?}"
            );
        }
        assert_eq!(tables, ["/a.png", "/b.png"]);
        let text = routes(&found[..1], &folder);
        assert!(
            !text.contains("host = "),
            "a folder with one host serves it under every name: {text}"
        );
    }

    #[test]
    fn two_recordings_of_one_document_share_its_route_and_lose_no_table() {
        let images = [("/a.png", 9, false), ("/b.png", 9, true)];
        let page = page("", "one.test", &images);
        let found = [gaining(&page, 1.2, &[(1, 7)]), gaining(&page, 1.2, &[(2, 0)])];
        let text = routes(&found, &PolicySite::ToFillIn);
        assert_eq!(text.matches("[[route]]").count(), 1, "{text}");
        assert_eq!(served(&text).1, ["/a.png", "/b.png"]);
    }
}
