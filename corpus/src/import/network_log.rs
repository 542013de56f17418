//! What HAR files and `DevTools` logs have in common: requests with times, sizes and initiators, and no
//! bodies. Names of hosts and resources are not kept: a page made from somebody's recording holds
//! sizes and relations only.

use super::{ImportError, Imported, Label, finish, merge_fetches, mime_for, plain_resource};
use crate::check::{FORMAT, RESOURCES_MAX};
use crate::page::{
    BrowserPriority, Event, Origin, Page, PageKind, PageResource, Party, Script, SourceKind,
};
use std::collections::BTreeMap;

/// The viewport of recordings that do not say theirs, in CSS pixels.
const VIEWPORT: [u32; 2] = [1366, 768];

/// One request of a recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Request {
    pub(super) url: String,
    pub(super) method: String,
    /// Milliseconds on the recording's clock.
    pub(super) requested_ms: f64,
    pub(super) finished_ms: Option<f64>,
    /// `DevTools`' word: Document, Stylesheet, Script, Font, Image, Media, XHR, Fetch, Other.
    pub(super) used_as: String,
    pub(super) mime: String,
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) decoded_bytes: u64,
    pub(super) initiator: Initiator,
    /// URL that the initiator names.
    pub(super) initiator_url: String,
    /// Chrome's name of the first priority.
    pub(super) priority: String,
    /// Chrome's word, when it is recorded.
    pub(super) blocking: Option<bool>,
    /// Raised while under way: Chrome does so with what turns out to be visible.
    pub(super) raised: bool,
}

/// Who asked for a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Initiator {
    Parser,
    Script,
    #[default]
    Other,
}

/// Makes a page of the requests of one page load.
pub(super) fn page_of(requests: Vec<Request>, label: Label) -> Result<Imported, ImportError> {
    let mut notes = Vec::new();
    let requests = keep_fetches(requests, &mut notes)?;
    let mut builder = Builder::new(&requests);
    for id in 0..requests.len() {
        builder.add(id);
    }
    builder.choose_hero();
    builder.spread_references();
    let Builder { resources, origins, unexplained, .. } = builder;
    notes.extend(assumptions(unexplained));
    let (name, source) = label.into_source(SourceKind::Imported);
    let format = FORMAT.to_owned();
    finish(Page { format, name, source, viewport: VIEWPORT, origins, resources }, notes)
}

fn assumptions(unexplained: usize) -> Vec<String> {
    let mut notes: Vec<String> = [
        "byte offsets: what the document refers to is spread evenly over it, in order of request",
        "wait_ms and exec_ms are 0: the recording does not separate them from the network",
        "a delay is the recorded time from the arrival of the initiator, or 0",
        "heroes: the largest image that the browser raised in priority while under way, if any",
        "scripts: a parser's script of low priority is taken for async, any other for blocking",
        "hosts and resources are renamed; the viewport is 1366x768",
    ]
    .map(str::to_owned)
    .to_vec();
    if unexplained > 0 {
        notes.push(format!(
            "{unexplained} resources without a known initiator follow the document's end"
        ));
    }
    notes
}

/// The document and the later GET requests of its load, each URL once, in order of request.
fn keep_fetches(
    mut requests: Vec<Request>,
    notes: &mut Vec<String>,
) -> Result<Vec<Request>, ImportError> {
    requests.sort_by(|a, b| a.requested_ms.total_cmp(&b.requested_ms));
    let all = requests.len();
    requests.retain(is_fetch);
    let is_document = |it: &Request| {
        it.status == 200
            && (it.used_as == "Document" || it.used_as.is_empty() && it.mime.contains("html"))
    };
    let Some(first) = requests.iter().position(is_document) else {
        return Err(ImportError::Format("holds no document that was delivered".to_owned()));
    };
    requests.drain(..first);
    let url = requests[0].url.clone();
    let again = requests.iter().skip(1).position(|it| it.used_as == "Document" && it.url == url);
    if let Some(again) = again {
        requests.truncate(again + 1);
        notes.push("the recording holds several loads; the first is kept".to_owned());
    }
    let (targets, repeated) = merge_fetches(requests.iter().map(|it| it.url.as_str()));
    let mut kept = 0;
    let mut position = 0;
    requests.retain(|_| {
        let new = targets[position] == kept;
        position += 1;
        kept += usize::from(new);
        new
    });
    if requests.len() > RESOURCES_MAX {
        let count = requests.len();
        return Err(ImportError::Format(format!(
            "holds {count} requests; cut it to {RESOURCES_MAX}"
        )));
    }
    let dropped = all - requests.len();
    if dropped > 0 {
        notes.push(format!(
            "{dropped} requests are left out: redirects, failures, other methods than GET, data URLs, \
             icons, other loads, and {repeated} repeated fetches"
        ));
    }
    Ok(requests)
}

fn is_fetch(it: &Request) -> bool {
    let icon = it.mime.contains("icon") || it.url.contains("favicon");
    let delivered = (200..600).contains(&it.status) && !(300..400).contains(&it.status);
    it.url.starts_with("http")
        && it.method == "GET"
        && delivered
        && !icon
        && it.requested_ms.is_finite()
}

struct Builder<'a> {
    requests: &'a [Request],
    ids: BTreeMap<&'a str, usize>,
    resources: Vec<PageResource>,
    origins: Vec<Origin>,
    hosts: BTreeMap<&'a str, usize>,
    unexplained: usize,
}

impl<'a> Builder<'a> {
    fn new(requests: &'a [Request]) -> Self {
        let ids = requests.iter().enumerate().map(|(id, it)| (it.url.as_str(), id)).collect();
        Self {
            requests,
            ids,
            resources: Vec::new(),
            origins: Vec::new(),
            hosts: BTreeMap::new(),
            unexplained: 0,
        }
    }

    fn add(&mut self, id: usize) {
        let request = &self.requests[id];
        let mime = mime_for(&request.mime, &request.used_as, &request.url);
        let mut it = plain_resource(id, String::new(), mime, request.bytes);
        it.url = if id == 0 { "/".to_owned() } else { format!("/r/{id}.{}", extension(&it)) };
        it.origin = self.origin(&request.url);
        it.status = request.status;
        it.decoded_bytes = Some(request.decoded_bytes.max(u64::from(request.bytes > 0)));
        it.browser = super::urgency_of(&request.priority).map(|urgency| BrowserPriority {
            urgency,
            incremental: matches!(it.kind, PageKind::Html | PageKind::Image | PageKind::Xhr),
        });
        set_role(&mut it, request);
        if id > 0 {
            self.set_trigger(&mut it, request);
        }
        self.resources.push(it);
    }

    fn origin(&mut self, url: &'a str) -> usize {
        let host = host_of(url);
        let next = self.hosts.len();
        let origin = *self.hosts.entry(host).or_insert(next);
        if origin == next {
            let own = site_of(host) == site_of(host_of(&self.requests[0].url));
            let party = if own { Party::First } else { Party::Third };
            self.origins.push(Origin { host: format!("host-{next}.test"), party });
        }
        origin
    }

    /// Follows the initiator when it is a resource requested before; the document's end otherwise.
    fn set_trigger(&mut self, it: &mut PageResource, request: &Request) {
        let known = self.ids.get(request.initiator_url.as_str()).copied();
        let of = known.filter(|&of| of < it.id);
        if of.is_none() {
            self.unexplained += 1;
        }
        let of = of.unwrap_or(0);
        let of_kind = self.resources[of].kind;
        it.trigger.of = of;
        it.trigger.on = match (request.initiator, of_kind) {
            (Initiator::Parser, _) if of == 0 && known.is_some() => Event::Bytes,
            (_, PageKind::Css) if it.kind == PageKind::Css => Event::CssImport,
            (_, PageKind::Css) => Event::CssApplied,
            (Initiator::Script, PageKind::Js) => Event::Exec,
            _ => Event::Complete,
        };
        let arrived_ms = self.requests[of].finished_ms.unwrap_or(request.requested_ms);
        if it.trigger.on == Event::Bytes {
            it.trigger.byte = Some(0);
        } else {
            let delay_ms = (request.requested_ms - arrived_ms).max(0.0);
            it.trigger.delay_ms = (delay_ms * 10.0).round() / 10.0;
        }
    }

    fn choose_hero(&mut self) {
        let requests = self.requests;
        let raised = self
            .resources
            .iter_mut()
            .filter(|it| it.kind == PageKind::Image && requests[it.id].raised);
        if let Some(hero) = raised.max_by_key(|it| it.bytes) {
            hero.hero = true;
            hero.above_fold = true;
        }
    }

    fn spread_references(&mut self) {
        let decoded = self.resources[0].decoded_len();
        let count = self.resources.iter().filter(|it| it.trigger.on == Event::Bytes).count() as u64;
        let references = self.resources.iter_mut().filter(|it| it.trigger.on == Event::Bytes);
        for (place, it) in (1..).zip(references) {
            let byte = u128::from(decoded) * place / (u128::from(count) + 1);
            it.trigger.byte = u64::try_from(byte).ok();
        }
    }
}

fn set_role(it: &mut PageResource, request: &Request) {
    let parser = request.initiator == Initiator::Parser;
    let urgent = matches!(request.priority.as_str(), "VeryHigh" | "Highest" | "High");
    let unknown = request.priority.is_empty();
    match it.kind {
        PageKind::Css => {
            it.critical = request.blocking.unwrap_or(parser && (urgent || unknown));
            it.in_head = parser && urgent;
        }
        PageKind::Js => {
            let sync = parser && (urgent || unknown || request.priority == "Medium");
            it.script = Some(if sync { Script::Sync } else { Script::Async });
            it.critical = sync && request.blocking.unwrap_or(true);
            it.in_head = parser && urgent;
        }
        _ => {}
    }
    it.above_fold |= it.critical || it.kind == PageKind::Font;
}

fn extension(it: &PageResource) -> &'static str {
    match it.kind {
        PageKind::Image => "img",
        PageKind::Other => "bin",
        kind => kind.name(),
    }
}

fn host_of(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}

/// The last two labels of a host name: good enough to tell whose it is.
fn site_of(host: &str) -> &str {
    let host = host.split(':').next().unwrap_or_default();
    host.rmatch_indices('.').nth(1).map_or(host, |(dot, _)| &host[dot + 1..])
}
