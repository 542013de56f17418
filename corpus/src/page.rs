//! The page format `utmost-page/1`.

use schedulers::{GraphResource, Kind, PageGraph, Priority};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The only supported version of the page format.
pub const FORMAT: &str = "utmost-page/1";
/// The default viewport, in CSS pixels.
const VIEWPORT: [u32; 2] = [1366, 768];

/// A page: its resources and how each is discovered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// `utmost-page/1`.
    pub format: String,
    /// The page's name, as used on the command line.
    pub name: String,
    /// Its origin.
    pub source: Source,
    /// Width and height of the viewport, in CSS pixels.
    pub viewport: [u32; 2],
    /// The hosts that serve its resources.
    pub origins: Vec<Origin>,
    /// The time in milliseconds from the first byte of the document until the browser reads it: it commits to the navigation, and gives
    /// the page a process.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commit_ms: f64,
    /// The resources by ID; 0 is the document.
    pub resources: Vec<PageResource>,
}

/// The origin of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// How it was made.
    pub kind: SourceKind,
    /// Its origin: a package and version, a recording, a paper.
    pub from: String,
    /// The licence of its origin.
    pub licence: String,
    /// The site or template that it shares with other pages, so that studies do not count similar pages as independent. By default it
    /// shares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// SHA-256 of the file from which it was made, in hex, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Assumptions about facts that the source lacks, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// How a recorded page was recorded, and how well it predicts its recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
}

/// How a page was recorded. Errors are errors of discovery times, in milliseconds, when the page is played back with the arrivals of a
/// recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The browser, with its version.
    pub browser: String,
    /// The delays under which it was loaded, one string for each setting.
    pub settings: Vec<String>,
    /// Loads under all these settings together.
    pub loads: usize,
    /// Errors under each setting, predicted from the others alone.
    pub left_out_ms: Spread,
    /// Settings that were not used for the derivation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen_settings: Vec<String>,
    /// Errors under these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_ms: Option<Spread>,
}

/// How errors are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The largest.
    pub max: f64,
}

/// How a page was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Recorded in a browser by us.
    Recorded,
    /// Imported from somebody's recording.
    Imported,
    /// Made by a seeded generator.
    Generated,
    /// Made by hand.
    Hand,
}

/// A host that serves resources of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Host name.
    pub host: String,
    /// The party that the host belongs to.
    pub party: Party,
}

/// The party that a host belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// The site's own host.
    First,
    /// Another party's host.
    Third,
}

/// One resource of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the page format")]
pub struct PageResource {
    /// Index in the page; 0 is the document.
    pub id: usize,
    /// Path on its origin, beginning with a slash.
    pub url: String,
    /// Index into the page's origins.
    #[serde(default)]
    pub origin: usize,
    /// The kind that the page's author assigns.
    #[serde(with = "crate::kind")]
    pub kind: Kind,
    /// MIME type.
    pub mime: String,
    /// HTTP status; a 404 can be part of a page.
    #[serde(default = "ok", skip_serializing_if = "is_ok")]
    pub status: u16,
    /// Bytes of the body on the wire.
    pub bytes: u64,
    /// Bytes of the decoded body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded_bytes: Option<u64>,
    /// Milliseconds until the server has the response's first byte.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: f64,
    /// The pieces in which the server gets the body; empty: it has the whole body after `wait_ms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<Chunk>,
    /// How a script is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// Referenced in the document's head.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_head: bool,
    /// Asked for by a preload hint.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preload: bool,
    /// How the server announces it with the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<Announced>,
    /// Loaded lazily: the load event does not wait for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lazy: bool,
    /// Requested by a prefetch hint, for a page that may come next.
    #[serde(default, skip_serializing_if = "is_false")]
    pub prefetch: bool,
    /// The `fetchpriority` attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetchpriority: Option<FetchPriority>,
    /// Referenced after the first image of the document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub after_first_image: bool,
    /// The main document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub main: bool,
    /// On the critical path: for a stylesheet, it blocks rendering; for a script, it blocks the
    /// parser or the rendering.
    #[serde(default, skip_serializing_if = "is_false")]
    pub critical: bool,
    /// In the above-the-fold set.
    #[serde(default, skip_serializing_if = "is_false")]
    pub above_fold: bool,
    /// A hero image.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hero: bool,
    /// Order of evaluation on the main thread, for CSS and JS: it waits for all smaller ones. Without it, the resource waits for no
    /// other and is evaluated in order of completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_order: Option<u32>,
    /// Milliseconds of main-thread time to apply (CSS) or execute (JS) it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exec_ms: f64,
    /// The `Vary` response field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vary: Option<String>,
    /// The `ETag` response field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The priority that the recording browser signalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<BrowserPriority>,
    /// How it is discovered.
    pub trigger: Trigger,
}

/// A piece of a body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// Milliseconds from the request until the server has it.
    pub at_ms: f64,
    /// Its bytes on the wire.
    pub bytes: u64,
}

/// How a server announces a resource before the document names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Announced {
    /// Early hints name it while the document takes time.
    EarlyHint,
    /// The server pushes it.
    Push,
}

/// How a script is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of the HTML attributes")]
pub enum Script {
    Sync,
    Async,
    Defer,
    Module,
}

/// The `fetchpriority` attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the values of the HTML attribute")]
pub enum FetchPriority {
    High,
    Low,
    Auto,
}

/// A browser's signal, in RFC 9218's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserPriority {
    /// 0 (first) to 7 (last).
    pub urgency: u8,
    /// Whether the response is useful in parts.
    #[serde(default)]
    pub incremental: bool,
}

impl From<Priority> for BrowserPriority {
    fn from(said: Priority) -> Self {
        Self { urgency: said.urgency_or_default(), incremental: said.incremental_or_default() }
    }
}

/// How a resource is discovered: `delay_ms` after its event and after all `needs` are applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The event.
    pub on: Event,
    /// The resource that the event concerns; 0 for `nav`, `style_applied`, `dcl` and `load`.
    #[serde(default)]
    pub of: usize,
    /// For `bytes`: the number of decoded bytes of `of` that must have arrived in order (the end of the reference in its text).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// Resources that must also be applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<usize>,
    /// Milliseconds from the event to the discovery.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delay_ms: f64,
}

/// The event that a discovery waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// t0, for the document only.
    Nav,
    /// A decoded byte of `of` has arrived in order.
    Bytes,
    /// `of` has fully arrived.
    #[default]
    Complete,
    /// `of`, a stylesheet, has fully arrived and is then parsed (the delay).
    CssImport,
    /// `of` and every earlier render-blocking stylesheet are applied.
    CssApplied,
    /// Every render-blocking stylesheet is applied.
    StyleApplied,
    /// Script `of` has begun to execute.
    Exec,
    /// Script `of`'s execution has ended.
    Timer,
    /// `DOMContentLoaded`: the document and all sync and defer scripts are applied.
    Dcl,
    /// The load event.
    Load,
}

impl Source {
    /// A source without a recording, file, site or assumptions.
    pub fn new(kind: SourceKind, from: String, licence: &str) -> Self {
        let (licence, assumptions) = (licence.to_owned(), Vec::new());
        Self { kind, from, licence, site: None, sha256: None, assumptions, recording: None }
    }
}

impl Origin {
    /// The site's own host.
    pub fn own(host: impl Into<String>) -> Self {
        Self { host: host.into(), party: Party::First }
    }
}

impl Page {
    /// A page that the browser reads at once, with a viewport of 1366 by 768 pixels.
    pub fn new(
        name: String,
        source: Source,
        origins: Vec<Origin>,
        resources: Vec<PageResource>,
    ) -> Self {
        let format = FORMAT.to_owned();
        Self { format, name, source, viewport: VIEWPORT, origins, commit_ms: 0.0, resources }
    }

    /// Body bytes on the wire.
    pub fn body_bytes(&self) -> u64 {
        self.resources.iter().fold(0, |sum, it| it.bytes.saturating_add(sum))
    }

    /// The site or template that it shares with other pages, by default its own name.
    pub fn site(&self) -> &str {
        let said = self.source.site.as_deref();
        said.or_else(|| crate::site::shared_site(&self.name)).unwrap_or(&self.name)
    }

    /// The host that serves a resource; `localhost` if the page does not name its origin.
    pub fn host(&self, resource: usize) -> &str {
        let origin = self.origins.get(self.resources[resource].origin);
        origin.map_or("localhost", |it| it.host.as_str())
    }

    /// The whole URL of a resource.
    pub fn url(&self, resource: usize) -> String {
        format!("https://{}{}", self.host(resource), self.resources[resource].url)
    }

    /// The resource at this URL, in the form of [`Page::url`].
    pub fn find(&self, url: &str) -> Option<usize> {
        self.resources.iter().map(|it| it.id).find(|it| self.url(*it) == url)
    }

    /// The part of the page that a scheme may look ahead to: which resources must be complete before which are requested.
    pub fn graph(&self) -> PageGraph {
        let resources = self.resources.iter().map(|resource| {
            let trigger = &resource.trigger;
            let exec = Duration::from_secs_f64(resource.exec_ms / 1000.0);
            let of = (trigger.on != Event::Nav).then_some(trigger.of);
            GraphResource {
                bytes: resource.bytes,
                exec_us: exec.as_micros().try_into().unwrap_or(u64::MAX),
                parents: of.into_iter().chain(trigger.needs.iter().copied()).collect(),
                above_fold: resource.above_fold,
            }
        });
        PageGraph { resources: resources.collect() }
    }
}

impl PageResource {
    /// A resource with only the mandatory properties. Number 0 is the document.
    pub fn plain(id: usize, url: String, mime: String, bytes: u64) -> Self {
        let on = if id == 0 { Event::Nav } else { Event::Complete };
        let is_document = id == 0;
        Self {
            id,
            url,
            kind: Kind::of_mime(&mime),
            mime,
            status: ok(),
            bytes,
            main: is_document,
            critical: is_document,
            above_fold: is_document,
            trigger: Trigger { on, ..Trigger::default() },
            ..Self::default()
        }
    }

    /// Whether the document's text references it.
    pub fn is_in_text(&self) -> bool {
        self.trigger.on == Event::Bytes && self.trigger.of == 0 && self.id != 0
    }

    /// The facts that a scheduler may know about this resource.
    pub fn for_scheduler(&self) -> schedulers::Resource {
        schedulers::Resource {
            id: Some(self.id),
            kind: self.kind,
            main: self.main,
            in_head: self.in_head,
            critical: self.critical,
            above_fold: self.above_fold,
            after_first_image: self.after_first_image,
            asynchronous: self.script == Some(Script::Async),
            deferred: matches!(self.script, Some(Script::Defer | Script::Module)),
            preload: self.preload,
            lazy: self.lazy,
            prefetch: self.prefetch,
            browser: self.browser.map(|it| (it.urgency, it.incremental)),
            body_bytes: Some(self.bytes),
        }
    }
}

fn ok() -> u16 {
    200
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_ok(status: &u16) -> bool {
    *status == 200
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}
