//! Chrome `DevTools` logs: a list of events of the Network and Page domains with their parameters.

use super::network_log::{Initiator, PageLoad, Priority, Request, page_of};
use super::recognize::within_entries;
use super::{ImportError, Imported, Label};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most frames of a call stack that are read, and most stacks behind asynchronous calls.
const STACK_MAX: usize = 32;

/// Such a log, taken in event by event.
#[derive(Debug, Default)]
pub(super) struct DevtoolsLog {
    events: usize,
    /// By request ID: place of the first event, and what is known so far.
    requests: BTreeMap<String, (usize, Request)>,
    redirects: BTreeMap<String, String>,
    /// The frame of the first document.
    main_frame: Option<String>,
    /// Load events, on the log's clock.
    loads_ms: Vec<f64>,
    workers: usize,
}

impl DevtoolsLog {
    /// Takes in one event: `{method, params}`, or that under the key `message`.
    pub(super) fn take(&mut self, event: &Value) -> Result<(), String> {
        self.events += 1;
        let event = event.get("message").unwrap_or(event);
        let parameters = &event["params"];
        let method = event["method"].as_str().unwrap_or_default();
        if method == "Page.loadEventFired" {
            self.loads_ms.extend(milliseconds(&parameters["timestamp"]));
        }
        let Some(id) = parameters["requestId"].as_str() else { return Ok(()) };
        if method == "Network.requestWillBeSent" {
            self.begin(id, parameters);
            return within_entries(self.requests.len());
        }
        if let Some((_, request)) = self.requests.get_mut(id) {
            if parameters["response"]["fromServiceWorker"] == true {
                self.workers += 1;
            }
            follow(request, method, parameters);
        }
        Ok(())
    }

    fn begin(&mut self, id: &str, parameters: &Value) {
        let mut request = begun(parameters);
        let mut place = self.events;
        if let Some((first, before)) = self.requests.get(id) {
            place = *first;
            // A redirect: who asked for the first URL asked for the last.
            self.redirects.insert(before.url.clone(), request.url.clone());
            if request.initiator == Initiator::Browser {
                request.initiator = before.initiator;
                request.initiator_urls.clone_from(&before.initiator_urls);
            }
        }
        let frame = parameters["frameId"].as_str();
        if self.main_frame.is_none() && request.used_as == "Document" {
            self.main_frame = frame.map(str::to_owned);
        }
        request.in_subframe = frame.is_some() && frame != self.main_frame.as_deref();
        self.requests.insert(id.to_owned(), (place, request));
    }

    /// The page of the first load.
    pub(super) fn finish(self, label: Label) -> Result<Imported, ImportError> {
        if self.requests.is_empty() {
            let cause = "holds no event Network.requestWillBeSent; is it a DevTools log?";
            return Err(ImportError::Format(cause.to_owned()));
        }
        let mut requests: Vec<(usize, Request)> = self.requests.into_values().collect();
        requests.sort_by_key(|it| it.0);
        let mut requests: Vec<Request> = requests.into_iter().map(|it| it.1).collect();
        let document = requests.iter().find(|it| it.used_as == "Document" && it.status == 200);
        let start_ms = document.map_or(f64::NAN, |it| it.requested_ms);
        let load_ms = self.loads_ms.into_iter().find(|&it| it >= start_ms);
        for it in &mut requests {
            it.settle_size();
        }
        let mut notes = Vec::new();
        if self.workers > 0 {
            notes.push(format!(
                "{} responses came from a service worker: the page is taken as without one",
                self.workers
            ));
        }
        if load_ms.is_none() {
            notes.push("the log has no load event: nothing is taken to wait for it".to_owned());
        }
        page_of(PageLoad { requests, redirects: self.redirects, load_ms, notes }, label)
    }
}

impl Request {
    /// What a cache answered has no size on the wire.
    fn settle_size(&mut self) {
        if self.bytes == 0 && self.decoded_bytes > 0 {
            self.bytes = self.decoded_bytes;
            self.bytes_assumed = true;
        }
        self.decoded_bytes = if self.decoded_bytes == 0 { self.bytes } else { self.decoded_bytes };
    }
}

fn begun(parameters: &Value) -> Request {
    let initiator = &parameters["initiator"];
    let kind = match initiator["type"].as_str() {
        Some("parser") => Initiator::Parser,
        Some("script") => Initiator::Script,
        _ => Initiator::Browser,
    };
    let request = &parameters["request"];
    let line = initiator["lineNumber"].as_f64().is_some();
    let place = (whole(&initiator["lineNumber"]), whole(&initiator["columnNumber"]));
    Request {
        url: text(&request["url"]).split('#').next().unwrap_or_default().to_owned(),
        method: text(&request["method"]),
        requested_ms: milliseconds(&parameters["timestamp"]).unwrap_or(f64::NAN),
        used_as: text(&parameters["type"]),
        initiator: kind,
        initiator_urls: initiator_urls(initiator),
        place: if line { Some(place) } else { stack_place(initiator) },
        referer: text(&request["headers"]["Referer"]),
        priority: request["initialPriority"].as_str().and_then(Priority::of_name),
        preload: request["isLinkPreload"] == true,
        blocking: parameters["renderBlockingBehavior"]
            .as_str()
            .map(|it| matches!(it, "Blocking" | "InBodyParserBlocking")),
        ..Request::default()
    }
}

fn follow(request: &mut Request, method: &str, parameters: &Value) {
    match method {
        "Network.responseReceived" => {
            let response = &parameters["response"];
            request.mime = text(&response["mimeType"]);
            request.status = u16::try_from(whole(&response["status"])).unwrap_or(0);
            request.head_bytes = whole(&response["encodedDataLength"]);
            if request.used_as.is_empty() || request.used_as == "Other" {
                request.used_as = text(&parameters["type"]);
            }
        }
        "Network.dataReceived" => {
            let decoded = whole(&parameters["dataLength"]);
            request.decoded_bytes = request.decoded_bytes.saturating_add(decoded);
            let received = whole(&parameters["encodedDataLength"]);
            request.received_bytes = request.received_bytes.saturating_add(received);
        }
        "Network.resourceChangedPriority" => {
            request.raised |= parameters["newPriority"].as_str() == Some("High");
        }
        "Network.loadingFinished" => {
            request.finished_ms = milliseconds(&parameters["timestamp"]);
            let whole = whole(&parameters["encodedDataLength"]);
            request.bytes = body_bytes(whole, request.head_bytes, request.received_bytes);
        }
        "Network.loadingFailed" => request.status = 0,
        _ => {}
    }
}

/// The body's share of a response. The head is counted separately since 2017. In older logs the size in the head's
/// event may be the size of the whole response.
fn body_bytes(response: u64, head: u64, received: u64) -> u64 {
    if head < response {
        response - head
    } else if received > 0 {
        received
    } else {
        response
    }
}

/// The URL that the initiator names, and those of its call stack, also behind asynchronous calls.
pub(super) fn initiator_urls(initiator: &Value) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    let mut add = |url: &Value| {
        if let Some(url) = url.as_str()
            && !url.is_empty()
            && !urls.iter().any(|it| it == url)
        {
            urls.push(url.to_owned());
        }
    };
    add(&initiator["url"]);
    let mut stack = &initiator["stack"];
    for _ in 0..STACK_MAX {
        for frame in stack["callFrames"].as_array().into_iter().flatten().take(STACK_MAX) {
            add(&frame["url"]);
        }
        stack = &stack["parent"];
    }
    urls
}

/// The place of the innermost call, which counts when it is in a document's text.
fn stack_place(initiator: &Value) -> Option<(u64, u64)> {
    let frame = &initiator["stack"]["callFrames"][0];
    frame["lineNumber"].as_f64()?;
    Some((whole(&frame["lineNumber"]), whole(&frame["columnNumber"])))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Seconds on the wire of the protocol.
fn milliseconds(value: &Value) -> Option<f64> {
    value.as_f64().map(|seconds| seconds * 1000.0)
}

/// A size that may be written as a float or be negative for "unknown".
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(super) fn whole(value: &Value) -> u64 {
    value.as_f64().unwrap_or(0.0).clamp(0.0, 1e12) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_not_the_body() {
        assert_eq!(body_bytes(1500, 300, 1200), 1200);
        assert_eq!(body_bytes(1500, 300, 0), 1200);
        // An old log states the whole response with the head.
        assert_eq!(body_bytes(1500, 1500, 0), 1500);
        assert_eq!(body_bytes(1500, 1500, 1200), 1200);
    }
}
