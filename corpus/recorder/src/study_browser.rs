//! Chromium or Firefox as the browser of studies: engine `browser` of the lab.

use crate::bodies;
use crate::browser::{Chromium, Visited};
use crate::error::RecordError;
use crate::firefox::Firefox;
use crate::installed::Kind;
use crate::locked;
use crate::package::{self, Package};
use crate::setting::Setting;
use crate::site::HOST;
use crate::site::RecordedSite;
use crate::visit::{document, plain, plain_path, times};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use captures::Fetch;
use corpus::{Page, PageResource};
use gateway::site::DirectorySite;
use lab::browsing::{Browser, BrowserError, Entrance, ObservedLoad, ObservedResource};
use page_site::PageSite;
use server::site::{Request, Response, Site};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A load is over after this long without anything in progress.
const SILENCE: Duration = Duration::from_millis(500);

/// A browser, started at the first load and kept for all others.
pub struct StudyBrowser {
    kind: Kind,
    bodies: Bodies,
    version: OnceLock<Result<String, BrowserError>>,
    running: Mutex<Option<Running>>,
    sites: Mutex<BTreeMap<String, Arc<dyn Site>>>,
}

schedulers::named! {
    /// The files of the package that the page was recorded from, fetched again. Other pages are imitated.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Bodies {
        /// The files of the package that the page was recorded from, fetched again. Other pages are imitated.
        #[default]
        Real = "the pages' own files",
        /// Generated from the page: each resource is requested by the same one, and has about the same size.
        Imitated = "imitated pages",
    }
}

/// The browser and the bodies that [`Browser::description`] names; `None` if it does not describe a [`StudyBrowser`].
pub fn described(description: &str) -> Option<(Kind, Bodies)> {
    let (version, words) = description.split_once(", ")?;
    let bodies = Bodies::named(words)?;
    let kind = Kind::ALL.into_iter().find(|it| it.is_named_by(version))?;
    Some((kind, bodies))
}

struct Running {
    browser: Program,
    port: u16,
    public_key_pin: String,
}

enum Program {
    Chromium(Chromium),
    Firefox(Box<Firefox>),
}

impl Program {
    fn start(kind: Kind, port: u16, public_key_pin: &str) -> Result<Self, RecordError> {
        Ok(match kind {
            Kind::Chromium => Self::Chromium(Chromium::start(HOST, port, public_key_pin)?),
            Kind::Firefox => Self::Firefox(Box::new(Firefox::start(HOST, port)?)),
        })
    }

    fn visit(&mut self, url: &str, is_filmed: bool) -> Result<Visited, RecordError> {
        match self {
            Self::Chromium(it) if is_filmed => it.filmed_visit(url, SILENCE),
            Self::Chromium(it) => it.visit(url, SILENCE),
            Self::Firefox(_) if is_filmed => Err(RecordError::Browser(
                "Firefox records no pictures of a load with times; use Chromium for films".into(),
            )),
            Self::Firefox(it) => it.visit(url, SILENCE),
        }
    }
}

struct KnownFiles {
    files: RecordedSite,
    page: PageSite,
}

impl Site for KnownFiles {
    fn respond(&self, request: &Request) -> Response {
        let Response { resource, directive, .. } = self.page.respond(request);
        // Clears the log of requests, which is not read and would grow.
        self.files.set(Setting::default());
        Response { resource, directive, ..self.files.respond(request) }
    }
}

impl fmt::Debug for StudyBrowser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StudyBrowser")
            .field("kind", &self.kind)
            .field("bodies", &self.bodies)
            .finish_non_exhaustive()
    }
}

impl StudyBrowser {
    /// Nothing is started yet.
    pub fn new(kind: Kind, bodies: Bodies) -> Self {
        let version = OnceLock::new();
        Self { kind, bodies, version, running: Mutex::default(), sites: Mutex::default() }
    }

    /// Whether the browser gets the files from which `page` was recorded.
    pub fn has_files(&self, page: &Page) -> bool {
        let package = page.source.from.split_whitespace().next();
        self.bodies == Bodies::Real && package.is_some_and(|it| it.parse::<Package>().is_ok())
    }

    fn make_site(&self, page: &Page) -> Result<Arc<dyn Site>, RecordError> {
        let imitation = PageSite::new(page.clone());
        if !self.has_files(page) {
            return Ok(Arc::new(imitation.for_browsers()));
        }
        let fetched = bodies::package(page, &package::cache())?;
        let files = DirectorySite::open(&fetched.root)
            .map_err(|error| RecordError::at(&fetched.root, error))?;
        let files = RecordedSite::new(Arc::new(files), Setting::default());
        Ok(Arc::new(KnownFiles { files, page: imitation }))
    }

    fn visit(&self, page: &Page, entrance: Entrance<'_>) -> Result<Visited, RecordError> {
        let mut running = locked(&self.running);
        let Entrance { port, public_key_pin, is_filmed } = entrance;
        let mut fits =
            running.take().filter(|it| it.port == port && it.public_key_pin == public_key_pin);
        if fits.is_none() {
            let browser = Program::start(self.kind, port, public_key_pin)?;
            let public_key_pin = public_key_pin.to_owned();
            let mut it = Running { browser, port, public_key_pin };
            // A browser's first load is slower than all others.
            it.browser.visit(&document(page), false)?;
            fits = Some(it);
        }
        let visited = fits.as_mut().map(|it| it.browser.visit(&document(page), is_filmed));
        *running = fits;
        visited.unwrap_or_else(|| Err(RecordError::Browser("it did not start".into())))
    }
}

impl Browser for StudyBrowser {
    fn description(&self) -> Result<String, BrowserError> {
        let version =
            self.version.get_or_init(|| self.kind.version().map_err(Into::into)).clone()?;
        Ok(format!("{version}, {}", self.bodies.name()))
    }

    fn site(&self, page: &Page) -> Result<Arc<dyn Site>, BrowserError> {
        let mut sites = locked(&self.sites);
        if let Some(site) = sites.get(&page.name) {
            return Ok(Arc::clone(site));
        }
        let site = self.make_site(page)?;
        sites.insert(page.name.clone(), Arc::clone(&site));
        Ok(site)
    }

    fn load(&self, page: &Page, entrance: Entrance<'_>) -> Result<ObservedLoad, BrowserError> {
        Ok(seen(page, self.visit(page, entrance)?)?)
    }
}

impl From<RecordError> for BrowserError {
    fn from(error: RecordError) -> Self {
        Self(error.to_string())
    }
}

/// Base64, as HTML has pictures.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn seen(page: &Page, visited: Visited) -> Result<ObservedLoad, RecordError> {
    let mut by_path: BTreeMap<String, VecDeque<&Fetch>> = BTreeMap::new();
    for fetch in &visited.fetches {
        by_path.entry(plain_path(&fetch.url).unwrap_or_default()).or_default().push_back(fetch);
    }
    let mut seen = ObservedLoad::default();
    for resource in &page.resources {
        let url = &resource.url;
        let Some(fetch) = by_path.get_mut(&plain(url)).and_then(VecDeque::pop_front) else {
            seen.problems.push(format!("{url} was not requested"));
            continue;
        };
        seen.problems.extend(problem(resource, fetch));
        seen.resources.push(ObservedResource {
            id: resource.id,
            requested_ms: fetch.sent_ms.unwrap_or(fetch.requested_ms),
            arrivals: fetch.arrivals.clone(),
            finished_ms: ended_ms(fetch),
        });
    }
    seen.film = visited.film;
    let renders = times(page, &visited.report)?;
    let Some(document) = seen.resources.iter().find(|it| it.id == 0) else { return Ok(seen) };
    let start_ms = document.requested_ms;
    seen.first_render_ms = renders.first_render_ms.map(|ms| start_ms + ms);
    seen.dom_content_loaded_ms = renders.dom_ready_ms.map(|ms| start_ms + ms);
    seen.hero_render_ms = renders.hero_render_ms.map(|ms| start_ms + ms);
    seen.load_ms = renders.load_ms.map(|ms| start_ms + ms);
    Ok(seen)
}

/// The first difference from the page. The log marks a style sheet or script with an error status as failed, so all error
/// statuses count as equal.
fn problem(resource: &PageResource, fetch: &Fetch) -> Option<String> {
    let PageResource { url, status: expected, .. } = resource;
    let status = fetch.status;
    let is_expected_error = *expected >= 400 && status == 0;
    if fetch.protocol != "h3" {
        let protocol = if fetch.protocol.is_empty() { "no protocol" } else { &fetch.protocol };
        Some(format!("{url} came over {protocol}, not h3"))
    } else if status != *expected && !is_expected_error {
        Some(format!("{url} has status {status}, not {expected}"))
    } else {
        ended_ms(fetch).is_none().then(|| format!("{url} did not arrive"))
    }
}

/// When the last byte arrived. For a failed response, the log gives the arrival of its bytes or its head.
fn ended_ms(fetch: &Fetch) -> Option<f64> {
    let last = fetch.arrivals.last().map(|it| it.0);
    let head = fetch.sent_ms.zip(fetch.wait_ms).map(|(sent, wait)| sent + wait);
    fetch.finished_ms.or(last.or(head).filter(|_| fetch.status == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_names_a_browser_and_its_bodies() {
        for (said, expected) in [
            ("Chromium 156.0.7842.0, imitated pages", Some((Kind::Chromium, Bodies::Imitated))),
            (
                "Google Chrome 156.0.7842.0, the pages' own files",
                Some((Kind::Chromium, Bodies::Real)),
            ),
            ("Mozilla Firefox 153.0, imitated pages", Some((Kind::Firefox, Bodies::Imitated))),
            ("Mozilla Firefox 153.0, other pages", None),
            ("Lynx 2.9, imitated pages", None),
            ("Chromium 156.0.7842.0", None),
        ] {
            assert_eq!(described(said), expected, "{said}");
        }
    }

    #[test]
    fn an_expected_error_is_no_problem_and_ends_with_its_bytes() {
        let mut page = corpus::bundled("davies-meenan").unwrap().clone();
        page.resources.truncate(1);
        let fetch = |status, finished_ms| Fetch {
            status,
            finished_ms,
            sent_ms: Some(10.0),
            wait_ms: Some(5.0),
            protocol: "h3".to_owned(),
            arrivals: vec![(20.0, 9)],
            ..Fetch::default()
        };
        let found = fetch(200, Some(30.0));
        assert_eq!((problem(&page.resources[0], &found), ended_ms(&found)), (None, Some(30.0)));
        let cut = problem(&page.resources[0], &fetch(200, None));
        assert_eq!(cut.as_deref(), Some("/index.html did not arrive"));
        let failed = fetch(0, None);
        let failure = problem(&page.resources[0], &failed);
        assert_eq!(failure.as_deref(), Some("/index.html has status 0, not 200"));
        page.resources[0].status = 404;
        assert_eq!((problem(&page.resources[0], &failed), ended_ms(&failed)), (None, Some(20.0)));
        let bare = Fetch { arrivals: Vec::new(), ..failed };
        assert_eq!(ended_ms(&bare), Some(15.0));
    }
}
