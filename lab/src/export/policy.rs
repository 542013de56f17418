//! What a policy says, as advice for other servers.

use super::advice::{Advice, Document, Line, NamedBy};
use corpus::page::Script;
use schedulers::{Priority, Resource};
use server::{Config, ConfigRoute, SignalUse};

/// The priorities, links and early hints of a configuration of `utmost serve`, such as `compare --policy` and `find --policy` write
/// it. What no other server can do, a scheme, is said.
pub fn of_policy(config: &Config) -> Advice {
    let hosts: Vec<&str> = config.routes.iter().filter_map(|it| it.host.as_deref()).collect();
    // A directive is for a path on all hosts of the file.
    let host = match hosts.split_first() {
        Some((first, rest)) if rest.iter().all(|it| it == first) => (*first).to_owned(),
        _ => String::new(),
    };
    let said = config.directives.iter().filter(|(_, it)| it.priority != Priority::default());
    let mut lines: Vec<Line> = said
        .map(|(path, it)| {
            let resource = it.facts.refine(&Resource::default());
            Line {
                host: host.clone(),
                path: path.clone(),
                script: script(&resource),
                resource,
                named_by: NamedBy::Document,
                priority: it.priority,
                later_ms: None,
            }
        })
        .collect();
    // The most urgent first, as what moves them was not kept.
    lines.sort_by_key(|it| it.priority.urgency_or_default());
    Advice {
        found: config.routes.iter().filter_map(untold).collect(),
        lines,
        documents: config.routes.iter().filter_map(|it| document(it, &host)).collect(),
    }
}

/// A policy says of a module that it is deferred, and no more.
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

/// The order of a page that no other server can be told.
fn untold(route: &ConfigRoute) -> Option<String> {
    let scheme = route.scheme.as_ref().filter(|_| route.signals == Some(SignalUse::Ignore))?;
    let path = &route.path;
    Some(format!(
        "The policy sends {path} under {scheme}, which only utmost can. `utmost find --export` searches priorities of resources \
         that come near the best order."
    ))
}
