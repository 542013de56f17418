//! The page of a log.

use super::causes::{Happened, Response, causes};
use super::{link, visits};
use crate::ideal::micros;
use crate::network::Network;
use corpus::import::{ImportError, completed, mime_of};
use corpus::page::{
    BrowserPriority, Event, Origin, Page, PageResource, Script, Source, SourceKind, Trigger,
};
use qlog_tools::link_facts::{LinkFacts, arrivals};
use qlog_tools::metrics::{BySet, Completions};
use qlog_tools::timeline::{Delivery, Transfer};
use qlog_tools::trace::{Trace, TransferDetails, Vantage};
use qlog_tools::views::no_streams;
use schedulers::{Kind, Priority};
use server::CongestionControl;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use url::Url;

/// Why logs cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum WhatIfError {
    #[error(
        "{0}: a server's log shows what was sent, not what arrived; name the client's log of this load"
    )]
    NotTheClients(String),
    #[error("{0}: {1}")]
    Empty(String, &'static str),
    #[error(
        "{0}: its times go back by {1:.0} ms: the order of events cannot be told; record a log with one clock, each event after the one \
         before it (`utmost qlog check` shows where it goes back)"
    )]
    Backwards(String, f64),
    #[error("{0}: requests other URLs than {1}; name logs of one page")]
    AnotherPage(String, String),
    #[error("{0}: {1}")]
    NoPage(String, ImportError),
}

/// A page and a link, derived from logs of one page.
#[derive(Debug, Clone)]
pub struct Derived {
    /// The page. If several requests precede the first byte of the document, its resource 0 is a stand-in for the cause of these
    /// requests.
    pub page: Arc<Page>,
    /// Whether resource 0 is a stand-in.
    pub has_stand_in: bool,
    /// The link of the first log: several candidates, until [`super::fitted`] has chosen one.
    pub networks: Vec<Network>,
    /// The server's initial window in packets: those that arrived in the first round trip, at least the usual ten.
    pub initial_window_packets: usize,
    /// How the server fills the link.
    pub sender: Sender,
    /// The load of the first log.
    pub recorded: Recorded,
    /// Its arrivals.
    pub(super) came: Arrivals,
    /// The facts that the logs lack, a sentence each.
    pub assumptions: Vec<String>,
    /// How well the page repeats the log over the link that [`super::fitted`] has chosen.
    pub repeated: Option<Repeated>,
}

/// How a server limits the data in flight. A client's log does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// By this congestion control.
    Controlled(CongestionControl),
    /// The number of bytes in flight while there are any to send: the most that became readable within a round trip of the log.
    /// Over a link that forwards bytes at the logged times, the server's congestion control and its losses are part of the link.
    UnderWay(u64),
}

/// The order that is closest to a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeated {
    /// As [`super::Replay::order`].
    pub order: String,
    /// As [`super::Replay::differs`].
    pub differs: f64,
}

impl Derived {
    /// The link that is most likely until another is chosen.
    pub fn network(&self) -> &Network {
        &self.networks[0]
    }
}

/// The facts that a log shows about its load.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// When each resource was complete, in ms from the first request, by its ID in the page.
    pub complete_ms: BTreeMap<usize, f64>,
    /// The `ByteIndex` in ms.
    pub byte_index_ms: BySet,
}

impl Recorded {
    /// The record of a load that began this much later than its log. Completions already count from its own first request.
    fn earlier(self, shift_us: u64) -> Self {
        let shift_ms = shift_us as f64 / 1000.0;
        Self { byte_index_ms: self.byte_index_ms.map(|it| Some(it - shift_ms)), ..self }
    }
}

/// Why the link cannot be determined.
const TOO_LITTLE: &str = "too little arrived to derive the link; name the log of a load of at least some packets, in which it measured \
                          round trips";

const NOTHING_WHOLE: &str =
    "holds no whole response: it ends before the first one did; name the log of a load that ended";

/// Times may decrease by this much, in milliseconds, because multi-threaded programs swap events that are close together.
const BACK_MS: f64 = 5.0;

/// The largest decrease of arrival times in a log, in milliseconds.
fn backwards_ms(trace: &Trace) -> f64 {
    let (mut latest_us, mut back_us) = (0, 0);
    for frame in &trace.timeline.frames {
        latest_us = latest_us.max(frame.time_us);
        back_us = back_us.max(latest_us - frame.time_us);
    }
    back_us as f64 / 1000.0
}

/// The transfers of one page of a log, and notes about the others.
fn visit(
    trace: &Trace,
    transfers: &[Transferred<'_>],
    happened: &Happened,
) -> (Range<usize>, Option<String>) {
    let start_us = transfers[0].0.requested_us;
    let mut visited: Vec<visits::Visited<'_>> = Vec::new();
    for ((transfer, _), response) in transfers.iter().zip(&happened.responses) {
        let path = transfer.url.split(['?', '#']).next().unwrap_or_default();
        let is_named = ["/", ".html", ".htm"].iter().any(|it| path.ends_with(it));
        visited.push(visits::Visited {
            url: &transfer.url,
            is_document: response.kind == Kind::Html || response.kind == Kind::Other && is_named,
            requested_us: transfer.requested_us,
            complete_us: start_us + micros(response.complete_ms),
            bytes: transfer.body_bytes_or_stream().unwrap_or_default(),
        });
    }
    visits::largest(&visited, &trace.timeline.navigations_us)
}

/// The document that represents the cause of simultaneous requests.
const STAND_IN: &str = "/stand-in-for-what-came-before";

/// Derives page and link. The first log is the load; others of the same page only help to find causes. `above_fold` gives the
/// URLs of the resources that a visitor sees first.
pub fn derive(
    traces: &[Trace],
    above_fold: Option<&dyn Fn(&str) -> bool>,
) -> Result<Derived, WhatIfError> {
    let [first, others @ ..] = traces else {
        return Err(WhatIfError::Empty("no log".to_owned(), "name one"));
    };
    let mut assumptions = Vec::new();
    let (mut transfers, happened) = happened_in(first, &mut assumptions)?;
    let (visit, said) = visit(first, &transfers, &happened);
    assumptions.extend(said);
    let end_us = transfers.get(visit.end).map(|it| it.0.requested_us);
    let shift_us = transfers[visit.start].0.requested_us - transfers[0].0.requested_us;
    transfers = transfers[visit.clone()].to_vec();
    let mut all = vec![happened.part(visit)];
    for other in others {
        let (its, happened) = happened_in(other, &mut Vec::new())?;
        all.push(
            matched(&transfers, &its, happened)
                .ok_or_else(|| WhatIfError::AnotherPage(other.label(), first.label()))?,
        );
    }
    let facts =
        LinkFacts::of(first).ok_or_else(|| WhatIfError::Empty(first.label(), TOO_LITTLE))?;
    let page = page_of(first, &transfers, &all, facts.round_trip_ms, above_fold, assumptions)?;
    let has_stand_in = page.resources[0].url == STAND_IN;
    let networks = link::networks(&first.label(), &facts);
    let assumptions = page.source.assumptions.clone();
    let recorded =
        recorded(first, &transfers, usize::from(has_stand_in), above_fold).earlier(shift_us);
    let start_us = transfers[0].0.requested_us;
    let mut datagrams = Vec::new();
    for (us, bytes) in arrivals(first) {
        if us >= start_us && end_us.is_none_or(|end_us| us < end_us) {
            datagrams.push(((us - start_us) as f64 / 1000.0, bytes));
        }
    }
    let came = Arrivals {
        datagrams,
        readable: all[0].readable(),
        waits: all[0].responses.iter().map(|it| (it.requested_ms, it.complete_ms)).collect(),
    };
    Ok(Derived {
        page: Arc::new(page),
        has_stand_in,
        networks,
        initial_window_packets: came.first_flight(facts.round_trip_ms).clamp(WINDOW, WINDOW_MAX),
        sender: Sender::Controlled(CongestionControl::Bbr2),
        recorded,
        came,
        assumptions,
        repeated: None,
    })
}

/// The arrivals in a log. Times in ms from the first request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arrivals {
    /// Time and bytes of each datagram.
    pub(super) datagrams: Vec<(f64, u64)>,
    /// Time and size of body bytes that became readable, that is, after all earlier parts of their response.
    pub(super) readable: Vec<(f64, u64)>,
    /// Each request, and the end of its response.
    pub(super) waits: Vec<(f64, f64)>,
}

/// The usual initial window (RFC 9002, 7.2), and the largest plausible one.
const WINDOW: usize = 10;
const WINDOW_MAX: usize = 64;

impl Arrivals {
    /// Datagrams in less than a round trip after the first.
    fn first_flight(&self, round_trip_ms: f64) -> usize {
        let Some((first_ms, _)) = self.datagrams.first() else { return 0 };
        self.datagrams.iter().filter(|it| it.0 < first_ms + 0.8 * round_trip_ms).count()
    }

    /// The most bytes that became readable within this time.
    pub(super) fn most_readable(&self, ms: f64) -> u64 {
        let (mut bytes, mut most, mut first) = (0, 0, 0);
        for (at_ms, more) in &self.readable {
            bytes += more;
            while self.readable[first].0 < at_ms - ms {
                bytes -= self.readable[first].1;
                first += 1;
            }
            most = most.max(bytes);
        }
        most
    }
}

/// A complete transfer, and its response's details.
type Transferred<'a> = (&'a Transfer, &'a TransferDetails);

/// The transfers of a log in the order of their requests, and their times.
fn happened_in<'a>(
    trace: &'a Trace,
    assumptions: &mut Vec<String>,
) -> Result<(Vec<Transferred<'a>>, Happened), WhatIfError> {
    if trace.vantage == Vantage::Server {
        return Err(WhatIfError::NotTheClients(trace.label()));
    }
    let back_ms = backwards_ms(trace);
    if back_ms > BACK_MS {
        return Err(WhatIfError::Backwards(trace.label(), back_ms));
    }
    let all = trace.timeline.transfers.iter().zip(&trace.details);
    let deliveries: BTreeMap<u64, Delivery> =
        trace.timeline.deliveries().into_iter().map(|it| (it.stream, it)).collect();
    // A response without its end is excluded from both lists.
    let whole = all.filter(|(transfer, details)| {
        !details.pushed
            && transfer.cancel.is_none()
            && deliveries.get(&transfer.stream).is_some_and(|it| it.complete_us.is_some())
    });
    let mut whole: Vec<Transferred<'a>> = whole.collect();
    let left_out = trace.timeline.transfers.len() - whole.len();
    if left_out > 0 {
        assumptions.push(format!(
            "{left_out} of {} responses are left out: they were pushed, cancelled, or are not whole in the log",
            trace.timeline.transfers.len()
        ));
    }
    if whole.is_empty() {
        let cause = no_streams(trace).unwrap_or(NOTHING_WHOLE);
        return Err(WhatIfError::Empty(trace.label(), cause));
    }
    whole.sort_by_key(|it| (it.0.requested_us, it.0.stream));
    let start_us = whole[0].0.requested_us;
    let responses = whole.iter().filter_map(|(transfer, details)| {
        let delivery = deliveries.get(&transfer.stream)?;
        // The headers of further DATA frames, and trailers, do not belong to the body.
        let body_bytes = transfer.body_bytes.unwrap_or(u64::MAX);
        let arrived = delivery.steps.iter().map(|step| {
            let readable = step.readable_bytes.saturating_sub(transfer.body_offset);
            (ms_since(start_us, step.time_us), readable.min(body_bytes))
        });
        Some(Response {
            kind: kind(transfer, details),
            requested_ms: ms_since(start_us, transfer.requested_us),
            arrived: arrived.collect(),
            complete_ms: ms_since(start_us, delivery.complete_us?),
        })
    });
    let responses = responses.collect();
    Ok((whole, Happened { responses }))
}

fn ms_since(start_us: u64, us: u64) -> f64 {
    us.saturating_sub(start_us) as f64 / 1000.0
}

/// The events of another log, in the order of the first log's transfers.
fn matched(
    first: &[Transferred<'_>],
    other: &[Transferred<'_>],
    happened: Happened,
) -> Option<Happened> {
    let mut by_url: BTreeMap<&str, Vec<Response>> = BTreeMap::new();
    for ((transfer, _), response) in other.iter().zip(happened.responses) {
        by_url.entry(&transfer.url).or_default().push(response);
    }
    let mut responses = Vec::new();
    for (transfer, _) in first {
        let same = by_url.get_mut(&*transfer.url).filter(|it| !it.is_empty())?;
        responses.push(same.remove(0));
    }
    Some(Happened { responses })
}

fn mime(transfer: &Transfer, details: &TransferDetails) -> String {
    mime_of(details.content_type.as_deref().unwrap_or_default(), &transfer.url)
}

fn kind(transfer: &Transfer, details: &TransferDetails) -> Kind {
    Kind::of_mime(&mime(transfer, details))
}

fn page_of(
    trace: &Trace,
    transfers: &[Transferred<'_>],
    all: &[Happened],
    round_trip_ms: f64,
    above_fold: Option<&dyn Fn(&str) -> bool>,
    mut assumptions: Vec<String>,
) -> Result<Page, WhatIfError> {
    let first_byte_ms = all[0].responses[0].first_byte_ms();
    let needs_stand_in = all[0].responses[1..].iter().any(|it| it.requested_ms < first_byte_ms);
    let mut resources: Vec<PageResource> = Vec::new();
    if needs_stand_in {
        resources.push(PageResource::plain(0, STAND_IN.to_owned(), "text/html".to_owned(), 1));
        assumptions.push(
            "several requests came before the first byte of the first response: a document of one byte represents the cause of the requests"
                .to_owned(),
        );
    }
    let shift = resources.len();
    let mut taken = BTreeSet::new();
    let causes = causes(all, needs_stand_in);
    for (place, ((transfer, details), trigger)) in transfers.iter().zip(causes).enumerate() {
        let mime = mime(transfer, details);
        let bytes = transfer.body_bytes_or_stream().unwrap_or_default();
        let url = url_of(transfer, &mut taken);
        let mut it = PageResource::plain(place + shift, url, mime, bytes);
        it.wait_ms = all[0].think_ms(place, round_trip_ms);
        it.trigger = shifted(trigger, shift, it.id);
        it.browser = details.priority.as_deref().map(priority);
        it.above_fold = above_fold.map_or(it.id == 0, |is_seen| is_seen(&transfer.url));
        set_role(&mut it);
        resources.push(it);
    }
    if !needs_stand_in {
        resources[0].trigger = Trigger { on: Event::Nav, ..Trigger::default() };
        resources[0].above_fold |= above_fold.is_none();
    }
    assumptions.extend(says_nothing_of(trace, above_fold.is_some(), all.len()));
    let source = Source::new(SourceKind::Recorded, trace.label(), "unknown");
    let origins = vec![Origin::own(host(transfers))];
    let page = Page::new("log".to_owned(), source, origins, resources);
    completed(page, assumptions).map_err(|error| WhatIfError::NoPage(trace.label(), error))
}

/// The trigger with the page's IDs; only resource 0 has [`Event::Nav`].
fn shifted(mut trigger: Trigger, shift: usize, id: usize) -> Trigger {
    if trigger.on == Event::Nav && id > 0 {
        return Trigger { on: Event::Bytes, of: 0, byte: Some(0), ..trigger };
    }
    trigger.of += shift;
    trigger
}

/// Sets the facts that a browser would know, as far as they follow from its kind and its cause.
fn set_role(it: &mut PageResource) {
    let by_parser = it.trigger.on == Event::Bytes && it.trigger.of == 0;
    match it.kind {
        Kind::Css => (it.in_head, it.critical) = (by_parser, by_parser),
        Kind::Js => {
            it.script = Some(if by_parser { Script::Sync } else { Script::Async });
            it.critical = by_parser;
        }
        _ => {}
    }
}

fn priority(said: &str) -> BrowserPriority {
    Priority::parse(said.as_bytes()).unwrap_or_default().into()
}

/// The path of a request; a second request for the same path gets a query.
fn url_of(transfer: &Transfer, taken: &mut BTreeSet<String>) -> String {
    let path = match Url::parse(&transfer.url) {
        Ok(url) => url[url::Position::BeforePath..url::Position::AfterQuery].to_owned(),
        Err(_) if transfer.url.starts_with('/') => transfer.url.clone(),
        Err(_) => format!("/stream-{}", transfer.stream),
    };
    let joint = if path.contains('?') { '&' } else { '?' };
    let path = if taken.contains(&path) {
        format!("{path}{joint}stream={}", transfer.stream)
    } else {
        path
    };
    taken.insert(path.clone());
    path
}

fn host(transfers: &[Transferred<'_>]) -> String {
    let url = transfers.iter().find_map(|it| Url::parse(&it.0.url).ok());
    let host = url.as_ref().and_then(Url::host_str);
    host.unwrap_or("localhost").to_owned()
}

fn says_nothing_of(trace: &Trace, has_set: bool, logs: usize) -> Vec<String> {
    let mut notes = vec![format!(
        "a log does not show why a client makes a request: the cause of a request is the last event before it that can be one{}",
        if logs > 1 { format!(", and that fits all {logs} logs") } else { String::new() }
    )];
    if !has_set {
        notes.push(
            "what is above the fold is unknown: name it with --page or --set to have it counted"
                .to_owned(),
        );
    }
    if trace.details.iter().all(|details| details.content_type.is_none()) {
        notes.push(
            "the log has no content types: kinds follow from the endings of paths".to_owned(),
        );
    }
    notes
}

fn recorded(
    trace: &Trace,
    transfers: &[Transferred<'_>],
    shift: usize,
    above_fold: Option<&dyn Fn(&str) -> bool>,
) -> Recorded {
    let start_us = transfers[0].0.requested_us;
    let complete_ms = transfers.iter().enumerate().filter_map(|(place, (transfer, ..))| {
        let complete_us = trace.stream(transfer.stream)?.complete_us?;
        Some((place + shift, ms_since(start_us, complete_us)))
    });
    let kept: BTreeSet<u64> = transfers.iter().map(|it| it.0.stream).collect();
    let all = Completions::of_trace(trace, |it| kept.contains(&it.stream));
    let atf = above_fold.map(|is_atf| {
        Completions::of_trace(trace, |it| kept.contains(&it.stream) && is_atf(&it.url))
    });
    let byte_index_ms = BySet {
        all: all.ok().map(|it| it.byte_index_ms()),
        atf: atf.and_then(Result::ok).map(|it| it.byte_index_ms()),
    };
    Recorded { complete_ms: complete_ms.collect(), byte_index_ms }
}
