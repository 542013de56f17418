//! Chrome `DevTools` logs: events of the Network and Page domains with their parameters, as a list or one
//! on each line.

use crate::json::{each_entry, text, whole, within_limit};
use crate::limits::STACK_MAX;
use crate::{Capture, Fetch, Initiator, Load, Priority, Size};
use serde_json::Value;
use std::collections::BTreeMap;

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
}

#[derive(Debug)]
struct Logged {
    place: usize,
    load: usize,
    fetch: Fetch,
    /// Bytes of the response's head, and of the parts of its body, on the wire.
    head_bytes: u64,
    received_bytes: u64,
}

/// Reads a log; an error says why it is not one.
pub fn read_devtools(json: &[u8]) -> Result<Capture, String> {
    let mut log = Log::default();
    if json.trim_ascii_start().starts_with(b"[") {
        each_entry(json, |event| log.take(event))?;
        return Ok(log.finish());
    }
    for (index, line) in json.split(|&it| it == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_suffix(b",").unwrap_or(line);
        if !line.is_empty() {
            let event = serde_json::from_slice(line)
                .map_err(|error| format!("line {}: is not JSON: {error}", index + 1))?;
            log.take(&event)?;
        }
    }
    Ok(log.finish())
}

impl Log {
    /// Takes in one event: `{method, params}`, or that under the key `message`.
    fn take(&mut self, event: &Value) -> Result<(), String> {
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
            // A redirect: the first and the last URL have one initiator.
            (place, load) = (before.place, before.load);
            self.redirects.insert(before.fetch.url.clone(), fetch.url.clone());
            if fetch.initiator == Initiator::Browser {
                fetch.initiator = before.fetch.initiator;
                fetch.initiator_urls.clone_from(&before.fetch.initiator_urls);
            }
        }
        let logged = Logged { place, load, fetch, head_bytes: 0, received_bytes: 0 };
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
        let mut loads: Vec<Load> = Vec::new();
        for logged in requests {
            loads.resize_with(loads.len().max(logged.load + 1), Load::default);
            loads[logged.load].fetches.push(logged.settled());
        }
        for (number, load) in loads.iter_mut().enumerate() {
            let document = |it: &&Fetch| it.used_as == "Document" && it.status == 200;
            let start_ms =
                load.fetches.iter().find(document).map_or(f64::NAN, |it| it.requested_ms);
            let end_ms = self.begun_ms.get(number).copied().unwrap_or(f64::INFINITY);
            let mut events = self.loads_ms.iter().copied();
            load.load_ms = events.find(|it| (start_ms..end_ms).contains(it));
        }
        let Self { redirects, from_service_worker, .. } = self;
        Capture { loads, redirects, from_service_worker }
    }
}

impl Logged {
    fn follow(&mut self, method: &str, parameters: &Value) {
        let fetch = &mut self.fetch;
        let time_ms = milliseconds(&parameters["timestamp"]);
        match method {
            "Network.responseReceived" => {
                let response = &parameters["response"];
                fetch.mime = text(&response["mimeType"]);
                fetch.status = u16::try_from(whole(&response["status"])).unwrap_or(0);
                self.head_bytes = whole(&response["encodedDataLength"]);
                if fetch.used_as.is_empty() || fetch.used_as == "Other" {
                    fetch.used_as = text(&parameters["type"]);
                }
                note_connection(fetch, response);
            }
            "Network.dataReceived" => {
                let decoded = whole(&parameters["dataLength"]);
                fetch.decoded_bytes = fetch.decoded_bytes.saturating_add(decoded);
                let received = whole(&parameters["encodedDataLength"]);
                self.received_bytes = self.received_bytes.saturating_add(received);
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
                let response = whole(&parameters["encodedDataLength"]);
                fetch.bytes = body_bytes(response, self.head_bytes, self.received_bytes);
            }
            "Network.loadingFailed" => fetch.status = 0,
            _ => {}
        }
    }

    /// The fetch, with the decoded size where a cache left none on the wire.
    fn settled(self) -> Fetch {
        let mut fetch = self.fetch;
        if fetch.bytes == 0 && fetch.decoded_bytes > 0 {
            fetch.bytes = fetch.decoded_bytes;
            fetch.size = Size::Decoded;
        } else if fetch.bytes == 0 && !matches!(fetch.status, 204 | 205) {
            fetch.size = Size::Unknown;
        }
        if fetch.decoded_bytes == 0 {
            fetch.decoded_bytes = fetch.bytes;
        }
        fetch
    }
}

fn begun(parameters: &Value) -> Fetch {
    let initiator = &parameters["initiator"];
    let request = &parameters["request"];
    let requested_ms = milliseconds(&parameters["timestamp"]).unwrap_or(f64::NAN);
    let priority = request["initialPriority"].as_str().and_then(Priority::of_name);
    Fetch {
        url: text(&request["url"]).split('#').next().unwrap_or_default().to_owned(),
        method: text(&request["method"]),
        requested_ms,
        sent_ms: requested_ms.is_finite().then_some(requested_ms),
        used_as: text(&parameters["type"]),
        initiator: Initiator::of_type(initiator["type"].as_str()).unwrap_or(Initiator::Browser),
        initiator_urls: initiator_urls(initiator),
        place: place(initiator).or_else(|| place(&initiator["stack"]["callFrames"][0])),
        referer: text(&request["headers"]["Referer"]),
        priority,
        priorities: priority.map(|it| (requested_ms, it)).into_iter().collect(),
        preload: request["isLinkPreload"] == true,
        blocking: parameters["renderBlockingBehavior"]
            .as_str()
            .map(|it| matches!(it, "Blocking" | "InBodyParserBlocking")),
        ..Fetch::default()
    }
}

fn note_connection(fetch: &mut Fetch, response: &Value) {
    fetch.protocol = text(&response["protocol"]);
    let connection = &response["connectionId"];
    fetch.connection = if connection.is_null() { String::new() } else { connection.to_string() };
    let timing = &response["timing"];
    let number = |key: &str| timing[key].as_f64();
    if let (Some(start_s), Some(send_ms)) = (number("requestTime"), number("sendStart")) {
        fetch.sent_ms = Some(start_s * 1000.0 + send_ms);
        let send_end_ms = number("sendEnd").unwrap_or(send_ms);
        fetch.wait_ms = number("receiveHeadersEnd").map(|it| it - send_end_ms);
    }
}

/// The body's share of a response. The head is counted separately since 2017. In older logs the size in the
/// head's event may be the size of the whole response.
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
pub(crate) fn initiator_urls(initiator: &Value) -> Vec<String> {
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
        assert_eq!(body_bytes(1500, 300, 1200), 1200);
        assert_eq!(body_bytes(1500, 300, 0), 1200);
        // An old log states the whole response with the head.
        assert_eq!(body_bytes(1500, 1500, 0), 1500);
        assert_eq!(body_bytes(1500, 1500, 1200), 1200);
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
