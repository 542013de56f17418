//! Pages of the corpus as a site: the right sizes at the right times, with synthetic bodies.

use super::{Body, Request, Response, Site};
use corpus::{Page, PageResource};
use std::collections::BTreeMap;
use std::time::Duration;

/// Serves pages, under all the host names that they know.
pub struct PageSite {
    pages: Vec<Page>,
    by_host_and_path: BTreeMap<(String, String), Place>,
    by_path: BTreeMap<String, Place>,
}

/// A page, and a resource of it.
type Place = (usize, usize);

impl PageSite {
    /// A site of one page.
    pub fn new(page: Page) -> Self {
        Self::of(vec![page])
    }

    /// A site of several pages; what two of them have at the same place is the first's.
    pub fn of(pages: Vec<Page>) -> Self {
        let mut by_host_and_path = BTreeMap::new();
        let mut by_path = BTreeMap::new();
        for (page, known) in pages.iter().enumerate().rev() {
            for resource in known.resources.iter().rev() {
                let host = known.origins.get(resource.origin).map_or("", |it| it.host.as_str());
                let place = (page, resource.id);
                by_host_and_path.insert((host.to_owned(), resource.url.clone()), place);
                by_path.insert(resource.url.clone(), place);
            }
        }
        Self { pages, by_host_and_path, by_path }
    }

    /// Clients that reach the server by its address name no host of a page: then the path decides.
    fn find(&self, request: &Request) -> Option<&PageResource> {
        let key = (request.host().to_owned(), request.path.clone());
        let place = self.by_host_and_path.get(&key).or_else(|| self.by_path.get(&request.path));
        let (page, id) = *place?;
        self.pages.get(page)?.resources.get(id)
    }
}

impl Site for PageSite {
    fn respond(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response {
                headers: vec![("allow", "GET, HEAD".to_owned())],
                ..Response::error(405)
            };
        }
        let Some(resource) = self.find(request) else { return Response::error(404) };
        let mut headers = vec![("content-type", resource.mime.clone())];
        headers.extend(resource.etag.clone().map(|it| ("etag", it)));
        headers.extend(resource.vary.clone().map(|it| ("vary", it)));
        Response {
            status: resource.status,
            headers,
            body: Body::Synthetic { bytes: resource.bytes, seed: resource.id as u64 },
            resource: resource.for_scheduler(),
            ready: ready(resource),
            // Browsers do not know which image is the hero.
            directive: resource
                .hero
                .then_some(http3::Priority { urgency: Some(1), incremental: None }),
            scheme: None,
        }
    }
}

fn ready(resource: &PageResource) -> Vec<(Duration, u64)> {
    let after = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
    let wait = after(resource.wait_ms);
    if resource.chunks.is_empty() {
        return vec![(wait, resource.bytes)];
    }
    let mut bytes = 0;
    let mut steps = vec![(wait, 0)];
    for chunk in &resource.chunks {
        bytes += chunk.bytes;
        steps.push((wait.max(after(chunk.at_ms)), bytes));
    }
    steps
}
