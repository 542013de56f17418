//! A policy as advice for other servers.

use super::advice::{Advice, Document, INDEX, Line, NamedBy, Nothing};
use crate::limits::DOCUMENT_BYTES_MAX;
use corpus::Page;
use corpus::page::Script;
use gateway::{Config, ConfigRoute, ConfigSite};
use schedulers::{Priority, Resource};
use server::SignalUse;
use std::path::Path;

/// The priorities, links and early hints of a configuration for `utmost serve`, such as from `compare --policy` and `find
/// --policy`. Notes what no other server can do, such as schemes.
pub fn of_policy(config: &Config) -> Advice {
    let hosts: Vec<&str> = config.routes.iter().filter_map(|it| it.host.as_deref()).collect();
    // A directive applies to a path on all hosts of the file.
    let one = hosts.first().filter(|first| hosts.iter().all(|it| it == *first));
    let host = one.filter(|it| !is_of_bundled(config, it)).map_or("", |it| it).to_owned();
    let namers = Namers::of(config);
    let said = config.directives.iter().filter(|(_, it)| it.priority != Priority::default());
    let mut lines = Vec::new();
    for (path, it) in said {
        let resource = it.facts.refine(&Resource::default());
        lines.push(Line {
            host: host.clone(),
            is_elsewhere: false,
            path: path.clone(),
            url: path.clone(),
            script: script(&resource),
            resource,
            named_by: namers.of_path(path),
            priority: it.priority,
            later_ms: None,
        });
    }
    // The most urgent first, because the file does not record how far they move.
    lines.sort_by_key(|it| it.priority.urgency_or_default());
    Advice {
        found: config.routes.iter().filter_map(untold).collect(),
        lines,
        documents: config.routes.iter().filter_map(|it| document(it, &host)).collect(),
        sent: namers.sent(),
        nothing: Nothing::OfPolicy,
    }
}

/// Whether the host belongs to a bundled page, and so does not exist.
fn is_of_bundled(config: &Config, host: &str) -> bool {
    let ConfigSite::Pages(pages) = &config.site else { return false };
    pages.iter().filter_map(|it| corpus::bundled(it)).any(|it| http3::host(it.host(0)) == host)
}

/// Where to look up what references a resource.
enum Namers {
    Pages(Vec<Page>),
    /// The texts of the documents with routes in the policy, as far as they can be read.
    Documents(Vec<String>),
    /// A backend makes the documents.
    Unknown,
}

impl Namers {
    fn of(config: &Config) -> Self {
        match &config.site {
            ConfigSite::Pages(pages) => {
                Self::Pages(pages.iter().filter_map(|it| corpus::page(it).ok()).collect())
            }
            ConfigSite::Root(root) => {
                let texts = config.routes.iter().filter_map(|it| document_text(root, &it.path));
                Self::Documents(texts.collect())
            }
            ConfigSite::Upstream(_) => Self::Unknown,
        }
    }

    /// The requests of the pages, at any host.
    fn sent(&self) -> Vec<(String, String)> {
        let Self::Pages(pages) = self else { return Vec::new() };
        let all = pages.iter().flat_map(|it| &it.resources);
        all.map(|it| (String::new(), it.url.clone())).collect()
    }

    fn of_path(&self, path: &str) -> NamedBy {
        match self {
            Self::Pages(pages) => {
                for page in pages {
                    let id = page.resources.iter().position(|it| it.url == path);
                    if let Some(id) = id {
                        return NamedBy::of(page, id);
                    }
                }
                NamedBy::default()
            }
            Self::Documents(texts) => {
                let name = path.split('?').next().and_then(|it| it.rsplit('/').next());
                let is_there = texts.is_empty()
                    || texts.iter().any(|it| it.contains(name.unwrap_or_default()));
                if is_there { NamedBy::Document } else { NamedBy::Other }
            }
            Self::Unknown => NamedBy::Other,
        }
    }
}

/// The text of a document below a folder.
fn document_text(root: &Path, path: &str) -> Option<String> {
    let path = path.trim_start_matches('/');
    let index = if path.is_empty() || path.ends_with('/') { INDEX } else { "" };
    let file = root.join(format!("{path}{index}"));
    let is_short = file.metadata().is_ok_and(|it| it.len() <= DOCUMENT_BYTES_MAX);
    is_short.then(|| std::fs::read_to_string(file).ok()).flatten()
}

/// A policy records of a module only that it is deferred.
fn script(resource: &Resource) -> Option<Script> {
    let deferred = resource.deferred.then_some(Script::Defer);
    deferred.or(resource.asynchronous.then_some(Script::Async))
}

fn document(route: &ConfigRoute, host: &str) -> Option<Document> {
    let pushing = route.pushing.as_ref()?;
    let path = route.path.clone();
    let (links, early_hints) = (pushing.links.clone(), pushing.early_hints.clone());
    let is_said = !links.is_empty() || !early_hints.is_empty();
    is_said.then(|| Document { host: host.to_owned(), path, links, early_hints })
}

/// The order of a page that no other server can express.
fn untold(route: &ConfigRoute) -> Option<String> {
    let scheme = route.scheme.as_ref().filter(|_| route.signals == Some(SignalUse::Ignore))?;
    let path = &route.path;
    Some(format!(
        "The policy sends {path} under {}, which only utmost can. `utmost find --export` searches priorities of resources \
         that come near the best order.",
        scheme.name
    ))
}
