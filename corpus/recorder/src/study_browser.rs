//! Chromium as the browser of studies: engine `browser` of the lab.

use crate::bodies;
use crate::browser::{Chromium, HOST, Picture, Visited, installed_version};
use crate::error::RecordError;
use crate::package::{self, Package};
use crate::setting::Setting;
use crate::site::RecordedSite;
use crate::visit::{document, plain, plain_path, renders};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use captures::{Fetch, read_devtools};
use corpus::Page;
use lab::browsing::{Browser, BrowserError, Entrance, Seen, SeenFrame, SeenResource};
use page_site::PageSite;
use serde_json::Value;
use server::site::{DirectorySite, Request, Response, Site};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A load is over when nothing has been under way for this time.
const SILENCE: Duration = Duration::from_millis(500);

/// Chromium, started at the first load and kept for all others.
pub struct StudyBrowser {
    bodies: Bodies,
    version: OnceLock<Result<String, BrowserError>>,
    running: Mutex<Option<Running>>,
    sites: Mutex<BTreeMap<String, Arc<dyn Site>>>,
}

/// The bytes behind a page's resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bodies {
    /// The files of the package that the page was recorded from, fetched again. Other pages are imitated.
    #[default]
    Real,
    /// Made from what the page says: each resource is asked for by the same one, and has about as many bytes.
    Imitated,
}

struct Running {
    chromium: Chromium,
    port: u16,
    public_key_pin: String,
}

/// The files of a page, and what the page says of each.
struct KnownFiles {
    files: RecordedSite,
    page: PageSite,
}

impl Site for KnownFiles {
    fn respond(&self, request: &Request) -> Response {
        let Response { resource, directive, .. } = self.page.respond(request);
        self.files.set(Setting::default());
        Response { resource, directive, ..self.files.respond(request) }
    }
}

impl fmt::Debug for StudyBrowser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StudyBrowser").field("bodies", &self.bodies).finish_non_exhaustive()
    }
}

impl StudyBrowser {
    /// Nothing is started yet.
    pub fn new(bodies: Bodies) -> Self {
        let version = OnceLock::new();
        Self { bodies, version, running: Mutex::default(), sites: Mutex::default() }
    }

    /// Whether the browser gets the files that `page` was recorded from.
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
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Entrance { port, public_key_pin, is_filmed } = entrance;
        let mut fits =
            running.take().filter(|it| it.port == port && it.public_key_pin == public_key_pin);
        if fits.is_none() {
            let chromium = Chromium::start(HOST, port, public_key_pin)?;
            let public_key_pin = public_key_pin.to_owned();
            fits = Some(Running { chromium, port, public_key_pin });
            // The first load of a browser is slower than all others.
            if let Some(it) = &fits {
                it.chromium.visit(&document(page), SILENCE)?;
            }
        }
        let visited = fits.as_ref().map(|it| {
            let url = document(page);
            if is_filmed {
                it.chromium.filmed_visit(&url, SILENCE)
            } else {
                it.chromium.visit(&url, SILENCE)
            }
        });
        *running = fits;
        visited.unwrap_or_else(|| Err(RecordError::Browser("it did not start".into())))
    }
}

impl Browser for StudyBrowser {
    fn description(&self) -> Result<String, BrowserError> {
        let version =
            self.version.get_or_init(|| installed_version().map_err(Into::into)).clone()?;
        let bodies = match self.bodies {
            Bodies::Real => "the pages' own files",
            Bodies::Imitated => "imitated pages",
        };
        Ok(format!("{version}, {bodies}"))
    }

    fn site(&self, page: &Page) -> Result<Arc<dyn Site>, BrowserError> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = sites.get(&page.name) {
            return Ok(Arc::clone(site));
        }
        let site = self.make_site(page)?;
        sites.insert(page.name.clone(), Arc::clone(&site));
        Ok(site)
    }

    fn load(&self, page: &Page, entrance: Entrance<'_>) -> Result<Seen, BrowserError> {
        Ok(seen(page, &self.visit(page, entrance)?)?)
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

fn frame(picture: &Picture) -> SeenFrame {
    let Picture { time_ms, completeness, jpeg_base64 } = picture;
    let jpeg = STANDARD.decode(jpeg_base64).unwrap_or_default();
    SeenFrame { time_ms: *time_ms, completeness: *completeness, jpeg }
}

/// What the browser's log says of the page's resources.
fn seen(page: &Page, visited: &Visited) -> Result<Seen, RecordError> {
    let log = Value::from(visited.log.clone()).to_string();
    let capture = read_devtools(log.as_bytes())
        .map_err(|error| RecordError::Browser(format!("its log cannot be read: {error}")))?;
    let fetches = capture.loads.iter().flat_map(|it| &it.fetches);
    let mut by_path: BTreeMap<String, VecDeque<&Fetch>> = BTreeMap::new();
    for fetch in fetches {
        by_path.entry(plain_path(&fetch.url).unwrap_or_default()).or_default().push_back(fetch);
    }
    let mut seen = Seen::default();
    for resource in &page.resources {
        let url = &resource.url;
        let Some(fetch) = by_path.get_mut(&plain(url)).and_then(VecDeque::pop_front) else {
            seen.problems.push(format!("{url} was not requested"));
            continue;
        };
        if fetch.protocol != "h3" {
            let protocol = if fetch.protocol.is_empty() { "no protocol" } else { &fetch.protocol };
            seen.problems.push(format!("{url} came over {protocol}, not h3"));
        }
        if fetch.status != resource.status {
            let (status, expected) = (fetch.status, resource.status);
            seen.problems.push(format!("{url} gave {status}, not {expected}"));
        }
        if fetch.finished_ms.is_none() {
            seen.problems.push(format!("{url} did not come"));
        }
        seen.resources.push(SeenResource {
            id: resource.id,
            requested_ms: fetch.sent_ms.unwrap_or(fetch.requested_ms),
            arrivals: fetch.arrivals.clone(),
            finished_ms: fetch.finished_ms,
        });
    }
    seen.film = visited.film.iter().map(frame).collect();
    let renders = renders(&visited.report)?;
    let start_ms = seen.resources.iter().find(|it| it.id == 0).map(|it| it.requested_ms);
    let since = |ms: Option<f64>| ms.zip(start_ms).map(|(ms, start_ms)| start_ms + ms);
    seen.first_render_ms = since(renders.first_render_ms);
    seen.dom_content_loaded_ms = since(renders.dom_ready_ms);
    seen.load_ms = since(renders.load_ms);
    Ok(seen)
}
