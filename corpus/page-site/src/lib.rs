//! A site that imitates recorded pages: each response has the recorded size, delay and header fields.
//!
//! The bodies are synthetic. A client that plays the page back gets letters; a browser gets HTML, CSS and scripts
//! whose references make it request the same resources for the same reasons ([`PageSite::for_browsers`]).

mod markup;

use corpus::{Page, PageResource};
use markup::Made;
use server::site::fields::fields;
use server::site::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use server::site::{Request, Response, Site};
use std::collections::BTreeMap;
use std::time::Duration;

/// Serves pages under all their host names.
pub struct PageSite {
    pages: Vec<Page>,
    by_host_and_path: BTreeMap<(String, String), Place>,
    by_path: BTreeMap<String, Place>,
    /// Bodies for browsers, by page and resource.
    made: Vec<Vec<Made>>,
    /// How long a client may reuse a response other than a page's document. `None`: responses do not state it.
    fresh_s: Option<u64>,
}

/// A page and one of its resources.
type Place = (usize, usize);

impl PageSite {
    /// A site of one page for clients that play it back: bodies are letters.
    pub fn new(page: Page) -> Self {
        Self::of(vec![page])
    }

    /// A site with more than one page. If two resources have the same URL, the earlier page's is served.
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
        Self { pages, by_host_and_path, by_path, made: Vec::new(), fresh_s: None }
    }

    /// The same, also for browsers, which it recognizes by `user-agent`: they get HTML, CSS and scripts with
    /// references that make them request the page's resources for the same reasons.
    #[must_use]
    pub fn for_browsers(self) -> Self {
        let bodies = self
            .pages
            .iter()
            .map(|page| (0..page.resources.len()).map(|id| markup::body(page, id)).collect());
        Self { made: bodies.collect(), ..self }
    }

    /// The same, but responses other than documents state that they stay fresh for this number of seconds.
    #[must_use]
    pub fn fresh_for(self, seconds: u64) -> Self {
        Self { fresh_s: Some(seconds), ..self }
    }

    fn body(&self, (page, id): Place, resource: &PageResource, request: &Request) -> Made {
        // Markup can need more bytes than a small resource has; a playback needs the recorded size.
        let is_browser = request.field("user-agent").is_some_and(|it| it.starts_with("Mozilla/"));
        let made = self.made.get(page).and_then(|it| it.get(id)).filter(|_| is_browser);
        made.cloned().unwrap_or_else(|| Made::letters(&[], resource))
    }

    /// Finds a resource. Clients that reach the server by its address do not name a page's host; for them the path
    /// decides.
    fn find(&self, request: &Request) -> Option<(Place, &PageResource)> {
        let key = (request.host().to_owned(), request.path.clone());
        let place = self.by_host_and_path.get(&key).or_else(|| self.by_path.get(&request.path));
        let (page, id) = *place?;
        Some(((page, id), self.pages.get(page)?.resources.get(id)?))
    }
}

impl Site for PageSite {
    fn respond(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::only_get_and_head();
        }
        let Some((place, resource)) = self.find(request) else { return Response::empty(404) };
        let fresh_s = self.fresh_s.filter(|_| !resource.main);
        let Made { body, gzip } = self.body(place, resource, request);
        let lines = [
            (CONTENT_TYPE, Some(resource.mime.clone())),
            (ETAG, resource.etag.clone()),
            (CACHE_CONTROL, fresh_s.map(|it| format!("max-age={it}"))),
            (CONTENT_ENCODING, gzip.then(|| "gzip".to_owned())),
            (VARY, resource.vary.clone()),
        ];
        let headers = fields(lines.into_iter().filter_map(|(name, it)| it.map(|it| (name, it))));
        Response {
            headers,
            ready: ready(resource, body.bytes()),
            body,
            resource: resource.for_scheduler(),
            // Browsers do not know which image is the hero.
            directive: resource
                .hero
                .then_some(schedulers::Priority { urgency: Some(1), incremental: None }),
            ..Response::empty(resource.status)
        }
    }
}

fn ready(resource: &PageResource, body_bytes: u64) -> Vec<(Duration, u64)> {
    let wait = after_ms(resource.wait_ms);
    if resource.chunks.is_empty() {
        return vec![(wait, body_bytes)];
    }
    let mut bytes = 0;
    let mut steps = vec![(wait, 0)];
    for chunk in &resource.chunks {
        bytes += chunk.bytes;
        steps.push((wait.max(after_ms(chunk.at_ms)), bytes));
    }
    // The last piece has all remaining bytes: markup may have to be larger than the page states.
    steps.extend(steps.last().map(|&(at, _)| (at, body_bytes)));
    steps
}

fn after_ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.max(0.0) / 1000.0)
}
