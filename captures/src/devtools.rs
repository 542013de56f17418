//! Chrome `DevTools` logs: events of the Network and Page domains with their parameters, as a list or one
//! on each line.

use crate::json::{each_entry, field, text, whole, within_limit};
use crate::limits::{STACK_MAX, UNREAD_MAX};
use crate::size::{Stated, body_sizes};
use crate::{Capture, Fetch, Initiator, Load, Priority, first_byte, normal_url};
use serde_json::Value;
use std::collections::BTreeMap;

/// The length of the frame headers around a response's head.
const FRAMES_BYTES: u64 = 64;

#[derive(Debug, Default)]
struct Log {
    events: usize,
    requests: BTreeMap<String, Logged>,
    redirects: BTreeMap<String, String>,
    /// The URL and the frame of the first document.
    document: Option<(String, Option<String>)>,
    load: usize,
    /// When each load after the first began.
    begun_ms: Vec<f64>,
    loads_ms: Vec<f64>,
    from_service_worker: usize,
    /// The address of the last largest contentful paint of each load; empty for a text.
    largest_paints: BTreeMap<usize, String>,
    unread: Vec<String>,
}

#[derive(Debug)]
struct Logged {
    place: usize,
    load: usize,
    fetch: Fetch,
    counts: Counts,
    /// The contents of the head.
    stated: Stated,
}

/// Byte counts that a log gives for one response.
#[derive(Debug, Default)]
struct Counts {
    /// Bytes on the wire by the end of the head; often just the head.
    at_head: u64,
    /// Body bytes on the wire after that.
    parts: u64,
    /// On the wire at the end.
    whole: u64,
    decoded: u64,
}

/// Reads a log; an error explains why it is not one.
pub fn read_devtools(json: &[u8]) -> Result<Capture, String> {
    let mut log = Log::default();
    if json.trim_ascii_start().starts_with(b"[") {
        each_entry(json, |event| log.take(event))?;
        return Ok(log.finish());
    }
    log.take_each(json)?;
    Ok(log.finish())
}

impl Log {
    /// Reads consecutive events, on one line each or on several. Skips a part that is not JSON up to the next line; fails if no part
    /// is JSON.
    fn take_each(&mut self, json: &[u8]) -> Result<(), String> {
        let mut at = 0;
        loop {
            at +=
                json[at..].iter().take_while(|it| it.is_ascii_whitespace() || **it == b',').count();
            let mut events = serde_json::Deserializer::from_slice(&json[at..]).into_iter();
            match events.next() {
                None => return Ok(()),
                Some(Ok(event)) => {
                    self.take(&event)?;
                    at += events.byte_offset();
                }
                Some(Err(error)) => {
                    let line = json[..at].split(|&it| it == b'\n').count();
                    let cause = format!("line {line}: is not JSON: {error}");
                    if self.events == 0 || self.unread.len() >= UNREAD_MAX {
                        return Err(cause);
                    }
                    self.unread.push(cause);
                    at += json[at..].iter().take_while(|it| **it != b'\n').count();
                }
            }
        }
    }

    /// Reads one event: `{method, params}`, or the same under the key `message`, where `ChromeDriver` writes it as a string.
    fn take(&mut self, event: &Value) -> Result<(), String> {
        self.events += 1;
        let written = event["message"].as_str().and_then(|it| serde_json::from_str(it).ok());
        let event = written.as_ref().unwrap_or(event);
        let event = event.get("message").unwrap_or(event);
        let parameters = &event["params"];
        let method = event["method"].as_str().unwrap_or_default();
        match method {
            "Page.loadEventFired" => self.loads_ms.extend(milliseconds(&parameters["timestamp"])),
            "PerformanceTimeline.timelineEventAdded" => self.note_paint(&parameters["event"]),
            _ => {}
        }
        let Some(id) = parameters["requestId"].as_str() else { return Ok(()) };
        if method == "Network.requestWillBeSent" {
            self.begin(id, parameters);
            return within_limit(self.requests.len());
        }
        if let Some(logged) = self.requests.get_mut(id) {
            if parameters["response"]["fromServiceWorker"] == true {
                self.from_service_worker += 1;
            }
            logged.follow(method, parameters);
        }
        Ok(())
    }

    /// Records a paint; each paint that is larger than all before has an event.
    fn note_paint(&mut self, event: &Value) {
        let main_frame = self.document.as_ref().and_then(|it| it.1.as_deref());
        let is_elsewhere = main_frame.is_some() && event["frameId"].as_str() != main_frame;
        if event["type"] == "largest-contentful-paint" && !is_elsewhere {
            self.largest_paints.insert(self.load, text(&event["lcpDetails"]["url"]));
        }
    }

    fn begin(&mut self, id: &str, parameters: &Value) {
        let mut fetch = Fetch { number: self.events, ..begun(parameters) };
        let frame = parameters["frameId"].as_str();
        if self.document.is_none() && fetch.used_as == "Document" {
            self.document = Some((fetch.url.clone(), frame.map(str::to_owned)));
        } else if !self.requests.contains_key(id) && self.is_navigation(&fetch, frame) {
            self.load += 1;
            self.begun_ms.push(fetch.requested_ms);
        }
        let main_frame = self.document.as_ref().and_then(|it| it.1.as_deref());
        fetch.in_subframe = frame.is_some() && frame != main_frame;
        let (mut place, mut load) = (self.events, self.load);
        if let Some(before) = self.requests.get(id) {
            // A redirect: the first and the last URL share one initiator.
            (place, load) = (before.place, before.load);
            self.redirects.insert(before.fetch.url.clone(), fetch.url.clone());
            if fetch.initiator == Initiator::Browser {
                fetch.initiator = before.fetch.initiator;
                fetch.initiator_urls.clone_from(&before.fetch.initiator_urls);
            }
        }
        let (counts, stated) = (Counts::default(), Stated::default());
        let logged = Logged { place, load, fetch, counts, stated };
        self.requests.insert(id.to_owned(), logged);
    }

    /// Whether a later document begins another load. Without frames, only a document with the same URL does:
    /// any other may be in a frame.
    fn is_navigation(&self, fetch: &Fetch, frame: Option<&str>) -> bool {
        let Some((url, main_frame)) = &self.document else { return false };
        let in_main_frame = match main_frame {
            Some(main_frame) => frame == Some(main_frame),
            None => fetch.url == *url,
        };
        fetch.used_as == "Document" && in_main_frame
    }

    fn finish(self) -> Capture {
        let mut requests: Vec<Logged> = self.requests.into_values().collect();
        requests.sort_by_key(|it| it.place);
        let stated: Vec<Stated> = requests.iter().map(Logged::stated).collect();
        let mut loads: Vec<Load> = Vec::new();
        for (mut logged, (stated, (bytes, size))) in
            requests.into_iter().zip(stated.iter().zip(body_sizes(&stated, false)))
        {
            logged.fetch.settle(bytes, size, stated);
            logged.fetch.from_cache |= logged.counts.whole == 0 && logged.counts.parts == 0;
            loads.resize_with(loads.len().max(logged.load + 1), Load::default);
            loads[logged.load].fetches.push(logged.fetch);
        }
        for (number, load) in loads.iter_mut().enumerate() {
            let mut fetches = load.fetches.iter();
            let document = fetches.find(|it| it.used_as == "Document" && it.status == 200);
            let start_ms = document.map_or(f64::NAN, |it| it.requested_ms);
            let end_ms = self.begun_ms.get(number).copied().unwrap_or(f64::INFINITY);
            let mut events = self.loads_ms.iter().copied();
            load.load_ms = events.find(|it| (start_ms..end_ms).contains(it));
            if let Some(url) = self.largest_paints.get(&number) {
                load.note_largest_paint(self.redirects.get(url).unwrap_or(url));
            }
        }
        let Self { redirects, from_service_worker, unread, .. } = self;
        Capture { loads, redirects, from_service_worker, unread }
    }
}

impl Logged {
    fn follow(&mut self, method: &str, parameters: &Value) {
        let fetch = &mut self.fetch;
        let time_ms = milliseconds(&parameters["timestamp"]);
        match method {
            "Network.responseReceived" => {
                let response = &parameters["response"];
                fetch.mime = text(&response["mimeType"]).to_ascii_lowercase();
                fetch.status = u16::try_from(whole(&response["status"])).unwrap_or(0);
                fetch.range = first_byte(&response["headers"], fetch.status);
                let caches = ["fromDiskCache", "fromPrefetchCache", "fromServiceWorker"];
                fetch.from_cache |=
                    fetch.status == 304 || caches.iter().any(|it| response[it] == true);
                self.counts.at_head = whole(&response["encodedDataLength"]);
                self.stated.note_head(&response["headers"], &fetch.method, fetch.status);
                self.stated.head = response["headersText"].as_str().map(|it| it.len() as u64);
                if fetch.used_as.is_empty() || fetch.used_as == "Other" {
                    fetch.used_as = text(&parameters["type"]);
                }
                note_connection(fetch, response);
            }
            // The raw head: the browser hides some fields from the other event.
            "Network.responseReceivedExtraInfo" => {
                let status = u16::try_from(whole(&parameters["statusCode"])).unwrap_or(0);
                fetch.from_cache |= status == 304;
                if status != 304 && !(300..400).contains(&status) {
                    self.stated.note_head(&parameters["headers"], &fetch.method, status);
                }
            }
            "Network.requestServedFromCache" => fetch.from_cache = true,
            "Network.dataReceived" => {
                let decoded = whole(&parameters["dataLength"]);
                self.counts.decoded = self.counts.decoded.saturating_add(decoded);
                let received = whole(&parameters["encodedDataLength"]);
                self.counts.parts = self.counts.parts.saturating_add(received);
                let bytes = if received > 0 { received } else { decoded };
                fetch.arrivals.extend(time_ms.filter(|_| bytes > 0).map(|it| (it, bytes)));
            }
            "Network.resourceChangedPriority" => {
                let priority = parameters["newPriority"].as_str().and_then(Priority::of_name);
                fetch.raised |= priority == Some(Priority::High);
                fetch.priorities.extend(time_ms.zip(priority));
            }
            "Network.loadingFinished" => {
                fetch.finished_ms = time_ms;
                self.counts.whole = whole(&parameters["encodedDataLength"]);
            }
            "Network.loadingFailed" => fetch.status = 0,
            _ => {}
        }
    }

    /// The log's sizes of a response. The bytes up to the end of the head are the head, unless they include the start of the body:
    /// then they exceed the head's text, or are all bytes on the wire. In logs from before 2017, the parts add up to more than the
    /// whole.
    fn stated(&self) -> Stated {
        let Counts { at_head, parts, whole, decoded } = self.counts;
        let whole = if whole == 0 && parts > 0 { at_head + parts } else { whole };
        let text = self.stated.head_text;
        let is_head = at_head < whole && (text == 0 || at_head <= text + FRAMES_BYTES);
        Stated {
            head: self.stated.head.or(Some(at_head).filter(|&it| is_head && it > 0)),
            body: Some(parts).filter(|&it| it > 0 && at_head.saturating_add(it) > whole),
            whole: Some(whole).filter(|&it| it > 0 && self.fetch.status != 304),
            decoded: Some(decoded).filter(|&it| it > 0),
            is_empty: self.stated.is_empty || matches!(self.fetch.status, 204 | 205),
            ..self.stated.clone()
        }
    }
}

fn begun(parameters: &Value) -> Fetch {
    let initiator = &parameters["initiator"];
    let request = &parameters["request"];
    let requested_ms = milliseconds(&parameters["timestamp"]).unwrap_or(f64::NAN);
    let priority = request["initialPriority"].as_str().and_then(Priority::of_name);
    Fetch {
        url: normal_url(&text(&request["url"])),
        method: text(&request["method"]),
        requested_ms,
        sent_ms: requested_ms.is_finite().then_some(requested_ms),
        used_as: text(&parameters["type"]),
        initiator: Initiator::of_type(initiator["type"].as_str()).unwrap_or(Initiator::Browser),
        initiator_urls: initiator_urls(initiator),
        place: initiator_place(initiator),
        referer: normal_url(&field(&request["headers"], "referer")),
        priority,
        priority_field: field(&request["headers"], "priority"),
        priorities: priority.map(|it| (requested_ms, it)).into_iter().collect(),
        preload: request["isLinkPreload"] == true,
        blocking: parameters["renderBlockingBehavior"].as_str().map(is_blocking),
        ..Fetch::default()
    }
}

fn note_connection(fetch: &mut Fetch, response: &Value) {
    fetch.protocol = text(&response["protocol"]);
    let connection = &response["connectionId"];
    fetch.connection = if connection.is_null() { String::new() } else { connection.to_string() };
    let timing = &response["timing"];
    let start_s = timing["requestTime"].as_f64();
    if let Some((start_s, send_ms)) = start_s.zip(timing["sendStart"].as_f64()) {
        fetch.sent_ms = Some(start_s * 1000.0 + send_ms);
        let send_end_ms = timing["sendEnd"].as_f64().unwrap_or(send_ms);
        fetch.wait_ms = timing["receiveHeadersEnd"].as_f64().map(|it| it - send_end_ms);
    }
}

/// Whether a term of Chrome or of tools based on it means that rendering or parsing is blocked: `InBodyParserBlocking`,
/// `in_body_parser_blocking`.
pub(crate) fn is_blocking(word: &str) -> bool {
    let word = word.replace('_', "").to_ascii_lowercase();
    matches!(word.as_str(), "blocking" | "inbodyparserblocking")
}

/// The `DevTools` term for a HAR file's term for a use: `document`, `xhr`.
pub(crate) fn used_as(word: &str) -> String {
    if word.eq_ignore_ascii_case("xhr") {
        return "XHR".to_owned();
    }
    let mut letters = word.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters.flat_map(char::to_lowercase)).collect()
}

/// The URL that the initiator names, and the URLs of its call stack, also across asynchronous calls.
pub(crate) fn initiator_urls(initiator: &Value) -> Vec<String> {
    let mut named = vec![&initiator["url"]];
    let mut stack = &initiator["stack"];
    for _ in 0..STACK_MAX {
        let frames = stack["callFrames"].as_array().into_iter().flatten();
        named.extend(frames.take(STACK_MAX).map(|frame| &frame["url"]));
        stack = &stack["parent"];
    }
    let mut urls: Vec<String> = Vec::new();
    for url in named.into_iter().filter_map(Value::as_str).map(normal_url) {
        if !url.is_empty() && !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

/// The place of the initiator: in a document's text, or the call.
pub(crate) fn initiator_place(initiator: &Value) -> Option<(u64, u64)> {
    place(initiator).or_else(|| place(&initiator["stack"]["callFrames"][0]))
}

/// Line and column, in a document's text or of a call.
fn place(of: &Value) -> Option<(u64, u64)> {
    of["lineNumber"].as_f64()?;
    Some((whole(&of["lineNumber"]), whole(&of["columnNumber"])))
}

/// Times are seconds in the protocol.
fn milliseconds(value: &Value) -> Option<f64> {
    value.as_f64().map(|seconds| seconds * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_not_the_body() {
        let body = |whole, at_head, parts| {
            let counts = Counts { whole, at_head, parts, decoded: 0 };
            let (fetch, stated) = (Fetch::default(), Stated::default());
            let logged = Logged { place: 0, load: 0, fetch, counts, stated };
            body_sizes(&[logged.stated()], false)[0].0
        };
        assert_eq!(body(1500, 300, 1200), 1200);
        assert_eq!(body(1500, 300, 0), 1200);
        // An old log counts the whole response as the head.
        assert_eq!(body(1500, 1500, 0), 1500);
        assert_eq!(body(1500, 1500, 1200), 1200);
    }

    /// Requests of documents as (URL, frame), and the URLs of each load.
    fn loads(documents: &[(&str, Option<&str>)]) -> Vec<String> {
        let event = |(id, (url, frame)): (usize, &(&str, Option<&str>))| {
            serde_json::json!({"method": "Network.requestWillBeSent", "params": {
                "requestId": id.to_string(), "type": "Document", "frameId": frame, "timestamp": id,
                "request": {"url": url}}})
        };
        let events: Vec<Value> = documents.iter().enumerate().map(event).collect();
        let capture = read_devtools(Value::from(events).to_string().as_bytes()).unwrap();
        let urls = |it: &Load| it.fetches.iter().map(|it| it.url.as_str()).collect();
        capture.loads.iter().map(urls).collect()
    }

    #[test]
    fn each_document_of_the_main_frame_begins_a_load() {
        let (main, inner) = (Some("main"), Some("inner"));
        assert_eq!(loads(&[("a", main), ("b", inner), ("c", main), ("d", inner)]), ["ab", "cd"]);
        assert_eq!(loads(&[("a", None), ("b", None), ("a", None)]), ["ab", "a"]);
    }
}
