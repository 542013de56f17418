//! Chrome `DevTools` logs: a list of `Network.*` events with their parameters.

use super::network_log::{Initiator, Request, page_of};
use super::{ImportError, Imported, Label};
use serde_json::Value;
use std::collections::BTreeMap;

/// Imports the first page load of such a log.
pub fn devtools(log: &Value, label: Label) -> Result<Imported, ImportError> {
    let events = log.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut requests: BTreeMap<&str, (usize, Request)> = BTreeMap::new();
    for (position, event) in events.iter().enumerate() {
        let event = event.get("message").unwrap_or(event);
        let parameters = &event["params"];
        let Some(id) = parameters["requestId"].as_str() else { continue };
        let method = event["method"].as_str().unwrap_or_default();
        if method == "Network.requestWillBeSent" {
            let place = requests.get(id).map_or(position, |it| it.0);
            requests.insert(id, (place, begun(parameters)));
        } else if let Some((_, request)) = requests.get_mut(id) {
            follow(request, method, parameters);
        }
    }
    if requests.is_empty() {
        let cause = "holds no event Network.requestWillBeSent; is it a DevTools log?";
        return Err(ImportError::Format(cause.to_owned()));
    }
    let mut requests: Vec<(usize, Request)> = requests.into_values().collect();
    requests.sort_by_key(|it| it.0);
    page_of(requests.into_iter().map(|it| it.1).collect(), label)
}

fn begun(parameters: &Value) -> Request {
    let initiator = &parameters["initiator"];
    let kind = match initiator["type"].as_str() {
        Some("parser") => Initiator::Parser,
        Some("script") => Initiator::Script,
        _ => Initiator::Other,
    };
    let request = &parameters["request"];
    Request {
        url: text(&request["url"]),
        method: text(&request["method"]),
        requested_ms: milliseconds(&parameters["timestamp"]).unwrap_or(f64::NAN),
        used_as: text(&parameters["type"]),
        initiator: kind,
        initiator_url: initiator_url(initiator),
        priority: text(&request["initialPriority"]),
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
            let status = response["status"].as_u64().unwrap_or(0);
            request.status = u16::try_from(status).unwrap_or(0);
            if request.used_as.is_empty() || request.used_as == "Other" {
                request.used_as = text(&parameters["type"]);
            }
        }
        "Network.dataReceived" => {
            let bytes = parameters["dataLength"].as_u64().unwrap_or(0);
            request.decoded_bytes = request.decoded_bytes.saturating_add(bytes);
        }
        "Network.resourceChangedPriority" => {
            request.raised |= parameters["newPriority"].as_str() == Some("High");
        }
        "Network.loadingFinished" => {
            request.finished_ms = milliseconds(&parameters["timestamp"]);
            request.bytes = whole(&parameters["encodedDataLength"]);
        }
        "Network.loadingFailed" => request.status = 0,
        _ => {}
    }
}

/// The URL that the initiator names, or else the script of the topmost frame that has one.
fn initiator_url(initiator: &Value) -> String {
    if let Some(url) = initiator["url"].as_str().filter(|it| !it.is_empty()) {
        return url.to_owned();
    }
    let mut stack = &initiator["stack"];
    for _ in 0..32 {
        let frames = stack["callFrames"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = frames.iter().filter_map(|it| it["url"].as_str()).find(|it| !it.is_empty());
        if let Some(url) = named {
            return url.to_owned();
        }
        stack = &stack["parent"];
    }
    String::new()
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
