//! Converts events of `WebDriver` `BiDi` (W3C, module network) to fetches of a recording.

use captures::{Fetch, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Progress {
    has_loaded: bool,
    open: BTreeSet<String>,
}

impl Progress {
    pub(super) fn take(&mut self, event: &Value) {
        let id = event["params"]["request"]["request"].as_str().unwrap_or_default();
        match event["method"].as_str() {
            Some("network.beforeRequestSent") => {
                self.open.insert(id.to_owned());
            }
            Some("network.responseCompleted" | "network.fetchError") => {
                self.open.remove(id);
            }
            Some("browsingContext.load") => self.has_loaded = true,
            _ => {}
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.has_loaded && self.open.is_empty()
    }
}

/// The requests over the network, in order. Times are in milliseconds on the browser's clock.
pub(super) fn fetches(events: &[Value]) -> Vec<Fetch> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fetches: Vec<Fetch> = Vec::new();
    for (number, event) in (1..).zip(events) {
        let request = &event["params"]["request"];
        let (Some(id), Some(url)) = (request["request"].as_str(), request["url"].as_str()) else {
            continue;
        };
        // Data URLs and the like are not sent to a server.
        if !url.starts_with("http") {
            continue;
        }
        let place = *places.entry(id).or_insert_with(|| {
            let url = url.split('#').next().unwrap_or_default().to_owned();
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            fetches.push(Fetch { number, url, method, ..Fetch::default() });
            fetches.len() - 1
        });
        tell(&mut fetches[place], event);
    }
    fetches
}

fn tell(fetch: &mut Fetch, event: &Value) {
    let timings = &event["params"]["request"]["timings"];
    if let Some(requested_ms) = moment_ms(timings, "requestTime") {
        fetch.requested_ms = requested_ms;
    }
    let response = &event["params"]["response"];
    if event["method"] != "network.responseCompleted" || response.is_null() {
        return;
    }
    let (sent, first) = (moment_ms(timings, "requestStart"), moment_ms(timings, "responseStart"));
    let last = moment_ms(timings, "responseEnd");
    fetch.sent_ms = sent;
    fetch.wait_ms = sent.zip(first).map(|(sent, first)| first - sent);
    fetch.receive_ms = first.zip(last).map(|(first, last)| last - first);
    fetch.finished_ms = last;
    let status = response["status"].as_u64().and_then(|it| u16::try_from(it).ok());
    fetch.status = status.unwrap_or_default();
    fetch.bytes = response["bodySize"].as_u64().unwrap_or_default();
    (fetch.protocol, fetch.mime) = (text(&response["protocol"]), text(&response["mimeType"]));
}

/// `None` for a moment that has not been reached, which is stated as 0.
fn moment_ms(timings: &Value, name: &str) -> Option<f64> {
    timings[name].as_f64().filter(|it| *it > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(method: &str, id: &str, url: &str, timings: [f64; 4], response: &Value) -> Value {
        let [asked, sent, first, last] = timings;
        json!({"method": method, "params": {
            "request": {"request": id, "url": url, "method": "GET", "timings": {
                "requestTime": asked, "requestStart": sent, "responseStart": first, "responseEnd": last}},
            "response": response}})
    }

    #[test]
    fn a_request_has_the_times_of_its_end_and_a_failed_one_has_no_status() {
        let made = [100.0, 0.0, 0.0, 0.0];
        let none = Value::Null;
        let found =
            json!({"status": 200, "protocol": "h3", "bodySize": 900, "mimeType": "text/css"});
        let events = [
            event("network.beforeRequestSent", "1", "https://a.test/a.css#x", made, &none),
            event("network.beforeRequestSent", "2", "https://b.test/", made, &none),
            event("network.beforeRequestSent", "3", "data:text/css,", made, &none),
            event(
                "network.responseCompleted",
                "1",
                "https://a.test/a.css#x",
                [100.0, 110.0, 130.0, 150.0],
                &found,
            ),
            event("network.fetchError", "2", "https://b.test/", made, &none),
        ];
        let rows: Vec<String> = fetches(&events)
            .iter()
            .map(|it| {
                format!(
                    "{} {:?} {:?} {:?} {}",
                    it.url, it.sent_ms, it.wait_ms, it.finished_ms, it.status
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                "https://a.test/a.css Some(110.0) Some(20.0) Some(150.0) 200",
                "https://b.test/ None None None 0"
            ]
        );
    }

    #[test]
    fn a_load_is_idle_once_it_has_fired_and_every_request_has_ended() {
        let mut progress = Progress::default();
        let none = Value::Null;
        let mut after = |method: &str, id: &str| {
            progress.take(&event(method, id, "https://a.test/", [1.0; 4], &none));
            progress.is_idle()
        };
        assert!(!after("network.beforeRequestSent", "1"));
        assert!(!after("browsingContext.load", ""));
        assert!(!after("network.beforeRequestSent", "2"));
        assert!(!after("network.responseCompleted", "1"));
        assert!(after("network.fetchError", "2"));
    }
}
