//! Checks that a page must pass before it is served or played back.

use crate::discovery;
use crate::limits::{
    BODY_BYTES_MAX, DECODED_BYTES_MAX, PROBLEMS_MAX, RESOURCES_MAX, TIME_MS_MAX, URL_BYTES_MAX,
};
pub use crate::page::FORMAT;
use crate::page::{Announced, Event, Page, PageResource};
use schedulers::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One mistake in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place, as a path into the file: `resources[3].trigger.of`.
    pub place: String,
    /// The fault, and the remedy.
    pub cause: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.cause)
    }
}

/// All mistakes in `page`, at most a hundred. If there are none, the page can be served and played
/// back, and every resource will be discovered.
pub fn check(page: &Page) -> Vec<Problem> {
    let mut problems = Problems::default();
    check_top(page, &mut problems);
    if page.resources.len() > RESOURCES_MAX {
        return problems.0;
    }
    for (index, resource) in page.resources.iter().enumerate() {
        let mut here = Here { index, resource, page, problems: &mut problems };
        here.check_identity();
        here.check_sizes();
        here.check_role();
        here.check_trigger();
    }
    check_urls(page, &mut problems);
    if problems.0.is_empty()
        && let Some(circle) = discovery::circle(page)
    {
        let cause = format!("waits for itself ({}); break the cycle", discovery::describe(&circle));
        problems.add(format!("resources[{}].trigger", circle[0]), cause);
    }
    problems.0
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, place: impl Into<String>, cause: impl Into<String>) {
        if self.0.len() < PROBLEMS_MAX {
            self.0.push(Problem { place: place.into(), cause: cause.into() });
        }
    }
}

fn check_top(page: &Page, problems: &mut Problems) {
    if page.format != FORMAT {
        problems.add("format", format!("is {:?}; only {FORMAT:?} is understood", page.format));
    }
    if page.name.is_empty() || !page.name.bytes().all(is_name_byte) {
        let cause = format!("is {:?}; use lower-case letters, digits, dots and hyphens", page.name);
        problems.add("name", cause);
    }
    if !(0.0..=TIME_MS_MAX).contains(&page.commit_ms) {
        problems.add("commit_ms", format!("is not between 0 and {TIME_MS_MAX}; use milliseconds"));
    }
    if page.viewport.contains(&0) {
        problems.add("viewport", "has no area; give its width and height in CSS pixels");
    }
    if let Some(digest) = &page.source.sha256
        && (digest.len() != 64 || !digest.bytes().all(|it| it.is_ascii_hexdigit()))
    {
        problems.add("source.sha256", "is not 64 hexadecimal digits; correct it or leave it out");
    }
    check_recording(page, problems);
    check_origins(page, problems);
    let count = page.resources.len();
    if count == 0 {
        problems.add("resources", "is empty; a page has at least its document");
    }
    if count > RESOURCES_MAX {
        let cause = format!("has {count} entries; a page may have at most {RESOURCES_MAX}");
        problems.add("resources", cause);
    }
    let bytes = page.body_bytes();
    if bytes > BODY_BYTES_MAX {
        let cause = format!(
            "hold {bytes} body bytes together, more than fits in memory; \
             at most {BODY_BYTES_MAX} are allowed: make the largest smaller"
        );
        problems.add("resources", cause);
    }
}

fn check_recording(page: &Page, problems: &mut Problems) {
    let Some(recording) = &page.source.recording else { return };
    let unseen = recording.unseen_ms.iter().map(|it| ("unseen_ms", it));
    for (key, it) in unseen.chain([("left_out_ms", &recording.left_out_ms)]) {
        if ![it.p50, it.p90, it.max].iter().all(|ms| (0.0..=TIME_MS_MAX).contains(ms)) {
            let cause = "is not an error in milliseconds; use a number from 0 to";
            problems.add(format!("source.recording.{key}"), format!("{cause} {TIME_MS_MAX}"));
        }
    }
    if recording.loads == 0 {
        problems.add("source.recording.loads", "is 0; a recording has at least one load");
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
}

fn check_origins(page: &Page, problems: &mut Problems) {
    if page.origins.is_empty() {
        problems.add("origins", "is empty; name at least the host of the document");
    }
    let mut hosts = BTreeSet::new();
    for (index, origin) in page.origins.iter().enumerate() {
        let place = format!("origins[{index}].host");
        if origin.host.is_empty() || !origin.host.bytes().all(|byte| byte.is_ascii_graphic()) {
            problems.add(place, "is not a host name; use printable ASCII without spaces");
        } else if !hosts.insert(&origin.host) {
            problems.add(place, format!("{:?} is listed before; list it once", origin.host));
        }
    }
}

/// Checks that one URL of one origin is one resource, because the server identifies requests by it.
/// A page that fetches a URL twice lists the second fetch under another URL (for example with a
/// query), or omits it if a cache would have answered.
fn check_urls(page: &Page, problems: &mut Problems) {
    let mut first = BTreeMap::new();
    for (index, resource) in page.resources.iter().enumerate() {
        if let Some(before) = first.insert((resource.origin, resource.url.as_str()), index) {
            let cause = format!(
                "{:?} is the URL of resources[{before}] too, and a server distinguishes resources by URL; give one of them another, such as with a query",
                resource.url
            );
            problems.add(format!("resources[{index}].url"), cause);
        }
    }
}

struct Here<'a> {
    index: usize,
    resource: &'a PageResource,
    page: &'a Page,
    problems: &'a mut Problems,
}

/// Whether this is a path and query that every version of HTTP can carry.
fn is_target(url: &str) -> bool {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let is_of_query = |byte: u8| byte.is_ascii_graphic() && !b"\"#<>".contains(&byte);
    path.starts_with('/') && path.bytes().all(is_of_path) && query.bytes().all(is_of_query)
}

/// Whether the byte needs no percent-encoding in a path.
pub(crate) fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"#<>`".contains(&byte)
}

impl Here<'_> {
    fn wrong(&mut self, key: &str, cause: impl Into<String>) {
        self.problems.add(format!("resources[{}].{key}", self.index), cause);
    }

    fn check_identity(&mut self) {
        let it = self.resource;
        if it.id != self.index {
            self.wrong("id", format!("is {}; it must be the index, {}", it.id, self.index));
        }
        if !is_target(&it.url) || it.url.len() > URL_BYTES_MAX {
            let cause = format!(
                "must be a path that begins with a slash: printable ASCII, percent-encoded (`<`, `>`, \
                 a backtick in the path and a quotation mark in the query, too), without fragment, at \
                 most {URL_BYTES_MAX} bytes"
            );
            self.wrong("url", cause);
        }
        if it.origin >= self.page.origins.len() {
            let count = self.page.origins.len();
            self.wrong("origin", format!("is {}, but the page has {count} origins", it.origin));
        }
        if !(200..=599).contains(&it.status) {
            self.wrong("status", format!("is {}; use a final status, 200 to 599", it.status));
        }
        self.check_fields();
    }

    /// Checks texts that become header fields: a line break would split a field.
    fn check_fields(&mut self) {
        let it = self.resource;
        for (key, text) in
            [("mime", Some(&it.mime)), ("vary", it.vary.as_ref()), ("etag", it.etag.as_ref())]
        {
            if text.is_some_and(|text| !text.bytes().all(|byte| matches!(byte, b' '..=b'~'))) {
                self.wrong(
                    key,
                    "holds bytes that a header field may not hold; use printable ASCII",
                );
            }
        }
        let derived = Kind::of_mime(&it.mime);
        if derived != it.kind {
            let (is, says, mime) = (it.kind.name(), derived.name(), &it.mime);
            let cause =
                format!("is {is}, but the MIME type {mime:?} means {says}; correct one of them");
            self.wrong("kind", cause);
        }
    }

    fn check_sizes(&mut self) {
        let it = self.resource;
        if it.decoded_bytes.is_some_and(|bytes| bytes > DECODED_BYTES_MAX) {
            let cause = format!("is more than {DECODED_BYTES_MAX}; make it smaller");
            self.wrong("decoded_bytes", cause);
        }
        self.check_time("wait_ms", it.wait_ms);
        self.check_time("exec_ms", it.exec_ms);
        let mut before_ms = 0.0;
        for (number, chunk) in it.chunks.iter().enumerate() {
            let key = format!("chunks[{number}].at_ms");
            self.check_time(&key, chunk.at_ms);
            if chunk.at_ms < before_ms {
                self.wrong(
                    &key,
                    format!("is {}, before the previous chunk; sort them", chunk.at_ms),
                );
            }
            before_ms = chunk.at_ms;
        }
        let sum = it.chunks.iter().fold(0_u64, |sum, chunk| sum.saturating_add(chunk.bytes));
        if !it.chunks.is_empty() && sum != it.bytes {
            self.wrong("chunks", format!("hold {sum} bytes together, but `bytes` is {}", it.bytes));
        }
    }

    fn check_time(&mut self, key: &str, ms: f64) {
        if !(0.0..=TIME_MS_MAX).contains(&ms) {
            self.wrong(key, format!("is {ms}; use milliseconds from 0 to {TIME_MS_MAX}"));
        }
    }

    fn check_role(&mut self) {
        let it = self.resource;
        let (document, kind) = (self.index == 0, it.kind.name());
        if it.main != document {
            self.wrong("main", "must be true for the document, resources[0], and only for it");
        }
        if (it.trigger.on == Event::Nav) != document {
            self.wrong("trigger.on", "must be nav for the document, resources[0], and only for it");
        }
        if it.script.is_some() && it.kind != Kind::Js {
            self.wrong("script", format!("is for js, but the kind is {kind}; remove it"));
        }
        if it.hero && it.kind != Kind::Image {
            self.wrong("hero", format!("is for images, but the kind is {kind}; remove it"));
        }
        if it.announced.is_some() && document {
            self.wrong("announced", "is for what the document leads to; remove it");
        }
        if it.announced == Some(Announced::Push) && it.origin != self.page.resources[0].origin {
            self.wrong(
                "announced",
                "is \"push\", but only the document's own host can push; remove it",
            );
        }
        if it.browser.is_some_and(|browser| browser.urgency > 7) {
            self.wrong("browser.urgency", "is more than 7; RFC 9218 has 0 to 7");
        }
    }

    fn check_trigger(&mut self) {
        let trigger = &self.resource.trigger;
        let count = self.page.resources.len();
        if !trigger.delay_ms.is_finite() || trigger.delay_ms > TIME_MS_MAX {
            self.wrong("trigger.delay_ms", format!("is more than {TIME_MS_MAX}; use milliseconds"));
        }
        let mut needed = BTreeSet::new();
        for (number, &id) in trigger.needs.iter().enumerate() {
            let key = format!("trigger.needs[{number}]");
            if id >= count {
                self.wrong(&key, out_of_range(id, count));
            } else if !needed.insert(id) {
                self.wrong(&key, format!("is {id}, which is listed before; list it once"));
            }
        }
        match self.page.resources.get(trigger.of) {
            None => self.wrong("trigger.of", out_of_range(trigger.of, count)),
            Some(of) => self.check_event(of),
        }
    }

    fn check_event(&mut self, of: &PageResource) {
        let trigger = &self.resource.trigger;
        let wanted = match trigger.on {
            Event::CssImport | Event::CssApplied => Some(Kind::Css),
            Event::Exec | Event::Timer => Some(Kind::Js),
            _ => None,
        };
        if let Some(wanted) = wanted
            && of.kind != wanted
        {
            let (of, is, wanted) = (trigger.of, of.kind.name(), wanted.name());
            let cause = format!("is {of}, of kind {is}, but its event is one of {wanted}");
            self.wrong("trigger.of", cause);
        }
        let about_the_page =
            matches!(trigger.on, Event::Nav | Event::StyleApplied | Event::Dcl | Event::Load);
        if about_the_page && trigger.of != 0 {
            self.wrong("trigger.of", "must be 0 or absent: the event is one of the whole page");
        }
        match (trigger.on, trigger.byte) {
            (Event::Bytes, None) => self.wrong("trigger.byte", "is missing; `bytes` needs it"),
            (Event::Bytes, Some(byte)) if byte > of.decoded_len() => self.wrong(
                "trigger.byte",
                format!("is {byte}, but resource {} has {} decoded bytes", of.id, of.decoded_len()),
            ),
            (Event::Bytes, Some(_)) | (_, None) => {}
            (_, Some(_)) => self.wrong("trigger.byte", "is only for `bytes`; remove it"),
        }
    }
}

fn out_of_range(id: usize, count: usize) -> String {
    format!("is {id}, but the page has the resources 0 to {}", count.saturating_sub(1))
}
