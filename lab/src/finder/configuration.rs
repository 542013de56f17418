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

    /// The host of a page's route; `None`: any. A folder serves the same files under every name.
    pub(super) fn host_of<'a>(&self, page: &'a Page) -> Option<&'a str> {
        match self {
            Self::Folder(_) => None,
            _ => Some(http3::host(page.host(0))).filter(|it| !it.is_empty()),
        }
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
            Some(of) => text.push(route(page, site.host_of(of), of, "", &mut told)),
            None => text.push(format!("# page {}: {}\n", page.page, page.without_route())),
        }
    }
    for page in hints {
        text.push("\n".to_owned());
        text.extend(page.words().iter().map(|it| format!("# {it}\n")));
        if page.is_better {
            text.push(hinting(page, site.host_of(page.page()), &mut told));
        }
    }
    text.concat()
}

/// The routes alone, for pasting into an existing configuration.
pub fn routes(found: &[ByResource], site: &PolicySite) -> String {
    let (mut told, mut text) = (BTreeSet::new(), Vec::new());
    for page in found.iter().filter(|it| it.is_better && !it.resources.is_empty()) {
        text.extend(page.page().map(|of| route(page, site.host_of(of), of, "", &mut told)));
    }
    text.concat()
}

/// The route of a page's document, with the keys of its hints. A path has only one table in a file, from the first page with
/// it.
pub(super) fn route(
    found: &ByResource,
    host: Option<&str>,
    page: &Arc<Page>,
    hints: &str,
    told: &mut BTreeSet<String>,
) -> String {
    let path = page.resources.first().map_or("/", |it| it.url.as_str());
    let place = format!("{}{path}", host.unwrap_or_default());
    if !is_one_path(path) || !told.insert(format!("route {place}")) {
        return format!("# left out: no second route can be for {place}\n");
    }
    let signals = quoted(SignalUse::Override.name());
    let mut text = vec![format!(
        "[[route]]\n{}path = {}\nscheme = {}\nsignals = {signals}  # obey what browsers ask for, except for the following\n{hints}",
        host_key(host),
        quoted(path),
        quoted(OF_SITE)
    )];
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
        let host = host_key(host);
        text.push(format!("# has the template of {}\n", page.resources[0].url));
        text.push(format!(
            "[[route]]\n{host}path = {}\nscheme = {}\nsignals = {signals}\n",
            quoted(path),
            quoted(OF_SITE)
        ));
    }
    text.concat()
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
