//! The finder's results as advice for servers that send by RFC 9218.

use super::{ByHints, ByResource, ResourcePriority, SiteAnswer};
use crate::export::{Advice, Document, Line, NamedBy};
use corpus::Page;
use corpus::site::registrable_domain;
use push::Graph;
use schedulers::Priority;

/// Hidden resources that are named.
const NAMED: usize = 5;

/// The advice for servers that send by RFC 9218. Pages without a gain have no lines. `hints`: results for hints, if they were
/// loaded; then only hints with a gain are printed.
pub fn advice(answer: &SiteAnswer, found: &[ByResource], hints: Option<&[ByHints]>) -> Advice {
    let mut advice = Advice { nothing: answer.nothing(found), ..Advice::default() };
    advice.found.extend([answer.sentence.clone(), answer.certainty.clone()]);
    for by_resource in found {
        advice.found.extend(by_resource.words());
        advice.sent.extend(by_resource.page().into_iter().flat_map(|it| sent(it)));
        let Some(page) = by_resource.page().filter(|_| by_resource.is_better) else {
            continue;
        };
        let network = by_resource.moved_on().filter(|_| !by_resource.resources.is_empty());
        advice.found.extend(network.map(|it| {
            format!("{}: how far a line moves its response was measured on {it}.", page.name)
        }));
        advice.lines.extend(by_resource.resources.iter().map(|found| line(page, found)));
        advice.found.extend(hidden(page).filter(|_| hints.is_none()));
    }
    for page in hints.into_iter().flatten() {
        advice.found.extend(page.words());
        let path = page.page().resources.first().map(|it| it.url.clone());
        advice.documents.extend(path.filter(|_| page.is_better).map(|path| Document {
            host: http3::host(page.page().host(0)).to_owned(),
            path,
            links: page.links.clone(),
            early_hints: page.early_hints.clone(),
        }));
    }
    advice
}

/// The page's requests: host and path of each resource.
pub(super) fn sent(page: &Page) -> Vec<(String, String)> {
    let all = page.resources.iter();
    all.map(|it| (http3::host(page.host(it.id)).to_owned(), it.url.clone())).collect()
}

pub(super) fn line(page: &Page, found: &ResourcePriority) -> Line {
    let resource = &page.resources[found.id];
    let [authority, of_document] = [found.id, 0].map(|it| page.host(it));
    let [host, own] = [authority, of_document].map(http3::host);
    let is_of_site = host == own
        || registrable_domain(host).is_some_and(|it| registrable_domain(own) == Some(it));
    let url = if authority == of_document { resource.url.clone() } else { page.url(found.id) };
    Line {
        host: host.to_owned(),
        is_elsewhere: !is_of_site,
        path: resource.url.clone(),
        url,
        resource: resource.for_scheduler(),
        script: resource.script,
        named_by: NamedBy::of(page, found.id),
        priority: Priority::new(found.urgency, found.incremental),
        later_ms: Some(found.later_ms),
    }
}

/// Critical resources that are hidden from a browser that reads the page's document. Links could preload them, but were not loaded.
fn hidden(page: &Page) -> Option<String> {
    let path = page.resources.first()?.url.clone();
    let graph = Graph::of_page(page);
    let at = graph.nodes.iter().position(|it| it.path == path)?;
    let hidden: Vec<usize> = graph.hidden_and_critical(at);
    let mut named: Vec<String> = Vec::new();
    for node in hidden.iter().take(NAMED) {
        let path = &graph.nodes[*node].path;
        let id = page.resources.iter().position(|it| it.url == *path);
        named.push(match id.and_then(|id| NamedBy::of(page, id).words()) {
            Some(by) => format!("{path} (named by {by})"),
            None => path.clone(),
        });
    }
    if hidden.len() > NAMED {
        named.push(format!("and {} more", hidden.len() - NAMED));
    }
    let words = format!(
        "A browser that reads {path} does not see what is critical: {}. Links could preload that: `utmost find --with-hints` measures it.",
        named.join(", ")
    );
    (!hidden.is_empty()).then_some(words)
}
