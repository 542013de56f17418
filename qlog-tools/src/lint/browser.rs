//! A browser's recording as a client's log: HAR files and DevTools logs.
//!
//! Browsers do not record packets. A DevTools log states when bytes of a response arrived. A HAR file only states
//! the beginning and the end, so its bytes are spread evenly over that time. Priorities are the `priority` fields of
//! requests, or Chromium's five, which it sends as urgencies 0 to 4 and without `i`, so only urgencies are judged.

use std::collections::BTreeMap;

use captures::{Capture, Fetch, Size, read_devtools, read_har};

use crate::assembly::StreamFrame;
use crate::saturating_cast::to_u64;
use crate::timeline::{Timeline, Transfer};
use crate::trace::{Header, PrioritySignal, SignalKind, Trace, Vantage};

/// [`Trace::format`] of such traces.
pub(super) const FORMATS: [&str; 2] = ["HAR", "DevTools"];
/// Larger files are not read.
pub use captures::{FILE_BYTES_MAX as BYTES_MAX, json_text};

/// Most requests that are judged.
pub const REQUESTS_MAX: usize = 10_000;

/// The most bytes of a response; a file that states more is damaged.
const RESPONSE_BYTES_MAX: u64 = 1 << 40;
/// The assumed number of parts of a HAR file's response, of at least 1000 bytes each.
const PARTS_MAX: u64 = 100;

/// One trace for each HTTP/3 or HTTP/2 connection in `json`, or an empty trace if there is none. `None` if it
/// is neither a HAR file nor a DevTools log. An error says that it has more than [`REQUESTS_MAX`] requests.
pub fn read(file: &str, json: &[u8]) -> Result<Option<Vec<Trace>>, String> {
    let is_list = json.trim_ascii_start().starts_with(b"[");
    let format = FORMATS[usize::from(is_list)];
    let capture = if is_list { read_devtools(json) } else { read_har(json) };
    let Ok(Capture { loads, .. }) = capture else { return Ok(None) };
    let fetches: Vec<&Fetch> = loads.iter().flat_map(|it| &it.fetches).collect();
    if fetches.len() > REQUESTS_MAX {
        return Err(format!("more than {REQUESTS_MAX} requests: no page load has that many"));
    }
    let mut connections: BTreeMap<&str, Vec<Exchange<'_>>> = BTreeMap::new();
    for exchange in fetches.into_iter().filter_map(exchange) {
        connections.entry(&exchange.fetch.connection).or_default().push(exchange);
    }
    if connections.is_empty() {
        let nothing = Trace { file: file.to_owned(), ..trace(file, format, "", Vec::new()) };
        return Ok(Some(vec![nothing]));
    }
    let traces = connections.into_iter().map(|(id, exchanges)| trace(file, format, id, exchanges));
    Ok(Some(traces.collect()))
}

/// A response over a shared connection.
struct Exchange<'a> {
    fetch: &'a Fetch,
    sent_us: u64,
    /// When bytes arrived, and how many.
    arrivals: Vec<(u64, u64)>,
}

fn exchange(fetch: &Fetch) -> Option<Exchange<'_>> {
    // Others do not share a connection.
    let protocol = fetch.protocol.to_ascii_lowercase();
    let is_shared = ["h3", "h2", "http/2", "http/3"].iter().any(|it| protocol.starts_with(it));
    if fetch.connection.is_empty() || !is_shared {
        return None;
    }
    let sent_us = us(fetch.sent_ms?);
    let arrived = fetch.arrivals.iter();
    let mut arrivals: Vec<(u64, u64)> =
        arrived.map(|(at_ms, bytes)| (us(*at_ms), RESPONSE_BYTES_MAX.min(*bytes))).collect();
    if arrivals.is_empty() && fetch.size == Size::Recorded {
        arrivals = evenly(fetch, sent_us);
    }
    (!arrivals.is_empty()).then_some(Exchange { fetch, sent_us, arrivals })
}

/// The bytes of a response, spread over its duration.
fn evenly(fetch: &Fetch, sent_us: u64) -> Vec<(u64, u64)> {
    let first_us = sent_us + us(fetch.wait_ms.unwrap_or_default());
    let receive_us = us(fetch.receive_ms.unwrap_or_default());
    let bytes = fetch.bytes.min(RESPONSE_BYTES_MAX);
    let count = PARTS_MAX.min(bytes / 1000 + 1);
    let parts = (0..count).map(|place| {
        let part_bytes = bytes * (place + 1) / count - bytes * place / count;
        (first_us + receive_us * place / count, part_bytes)
    });
    parts.filter(|(_, bytes)| *bytes > 0).collect()
}

fn trace(file: &str, format: &str, connection: &str, mut exchanges: Vec<Exchange<'_>>) -> Trace {
    exchanges.sort_by_key(|it| it.sent_us);
    let mut trace = Trace {
        file: format!("{file}, connection {connection}"),
        header: Header { format: Some(format.to_owned()), ..Header::default() },
        vantage: Vantage::Client,
        ..Trace::default()
    };
    let mut timeline = Timeline::default();
    for (place, exchange) in exchanges.iter().enumerate() {
        let stream = 4 * place as u64;
        let mut offset = 0;
        for &(time_us, bytes) in &exchange.arrivals {
            timeline.frames.push(StreamFrame { time_us, stream, offset, bytes });
            offset = offset.saturating_add(bytes);
        }
        timeline.transfers.push(Transfer {
            stream,
            url: exchange.fetch.url.clone(),
            requested_us: exchange.sent_us,
            stream_bytes: Some(offset),
            ..Transfer::default()
        });
        trace.signals.extend(signals(exchange, stream));
    }
    timeline.frames.sort_by_key(|frame| frame.time_us);
    // Arrivals in order of time stand for packets in order of sending.
    for (number, frame) in (0..).zip(&timeline.frames) {
        trace.arrivals.push(*frame, Some(number));
        trace.packets.get_or_insert_default().received.add(number, number);
    }
    let waits_ms = exchanges.iter().filter_map(|it| it.fetch.wait_ms);
    trace.recovery.get_or_insert_default().longest_rtt.latest_ms = waits_ms.min_by(f64::total_cmp);
    trace.timeline = timeline;
    trace
}

/// Why JSON that begins like a HAR file is not valid.
pub fn har_error(json: &[u8]) -> Option<String> {
    read_har(json).err()
}

/// The `priority` field of a request and the browser's own later priorities; without a field, also its first one.
fn signals(exchange: &Exchange<'_>, element: u64) -> Vec<PrioritySignal> {
    let Fetch { priority_field, priorities, .. } = exchange.fetch;
    let mut signals = Vec::new();
    if !priority_field.is_empty() {
        let (time_us, value) = (exchange.sent_us, priority_field.clone());
        signals.push(PrioritySignal { time_us, element, how: SignalKind::Request, value });
    }
    for (at_ms, priority) in priorities {
        let time_us = us(*at_ms);
        if priority_field.is_empty() || time_us > exchange.sent_us {
            let value = format!("u={}", priority.urgency());
            signals.push(PrioritySignal { time_us, element, how: SignalKind::Applied, value });
        }
    }
    signals
}

/// Milliseconds as whole microseconds; 0 for anything that is not a time.
fn us(ms: f64) -> u64 {
    to_u64((ms * 1000.0).clamp(0.0, 9e15))
}

#[cfg(test)]
mod tests {
    use super::super::{Allowance, Rules, lint};
    use super::*;

    /// A large image in progress, and a stylesheet that is requested at 200 ms and arrives last, or at once.
    fn devtools(stylesheet_ms: u64) -> String {
        let mut events = Vec::new();
        for (id, at, priority) in [("image", 0.0, "Low"), ("css", 0.2, "VeryHigh")] {
            events.push(format!(r#"{{"method":"Network.requestWillBeSent","params":{{"requestId":"{id}","timestamp":{at},"request":{{"url":"https://a.test/{id}","initialPriority":"{priority}"}}}}}}"#));
            events.push(format!(r#"{{"method":"Network.responseReceived","params":{{"requestId":"{id}","timestamp":{},"response":{{"protocol":"h3","connectionId":7,"timing":{{"requestTime":{at},"sendStart":0,"sendEnd":0,"receiveHeadersEnd":20}}}}}}}}"#, at + 0.02));
        }
        let data = |id: &str, ms: u64| {
            format!(
                r#"{{"method":"Network.dataReceived","params":{{"requestId":"{id}","timestamp":{},"encodedDataLength":9000,"dataLength":9000}}}}"#,
                ms as f64 / 1000.0
            )
        };
        events.extend((0..100).map(|n| data("image", 20 + 10 * n)));
        events.push(data("css", stylesheet_ms));
        format!("[{}]", events.join(","))
    }

    fn violations(json: &str) -> usize {
        let traces = read("log", json.as_bytes()).unwrap().unwrap();
        assert_eq!(traces.len(), 1);
        let lint = lint(&traces[0], None, &Rules::Rfc9218, Allowance::default());
        assert_eq!(lint.cannot_judge, None);
        lint.violations.len()
    }

    #[test]
    fn a_stylesheet_that_waits_for_an_image_is_found_in_a_devtools_log() {
        assert!(violations(&devtools(1100)) > 50);
        assert_eq!(violations(&devtools(230)), 0);
    }

    #[test]
    fn a_har_tells_when_a_response_came_but_not_its_packets() {
        let entry = |url: &str, start: &str, wait: u64, receive: u64, priority: &str| {
            format!(
                r#"{{"startedDateTime":"2026-01-01T00:00:0{start}Z","connection":"9","_priority":"{priority}","request":{{"url":"{url}"}},"response":{{"httpVersion":"h3","_transferSize":300000}},"timings":{{"blocked":0,"send":0,"wait":{wait},"receive":{receive}}}}}"#
            )
        };
        let har = |css_wait| {
            let entries = [
                entry("/i.png", "0.000", 20, 2000, "Low"),
                entry("/a.css", "0.200", css_wait, 10, "VeryHigh"),
            ];
            format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","))
        };
        assert!(violations(&har(1810)) > 50);
        assert_eq!(violations(&har(25)), 0);
    }

    #[test]
    fn a_har_without_connections_says_what_lacks() {
        let entry = r#"{"startedDateTime":"2026-01-01T00:00:00Z","response":{"httpVersion":"h3","_transferSize":3},"timings":{"wait":1}}"#;
        for entries in ["", entry] {
            let har = format!(r#"{{"log":{{"entries":[{entries}]}}}}"#);
            let traces = read("log", har.as_bytes()).unwrap().unwrap();
            let lint = lint(&traces[0], None, &Rules::Rfc9218, Allowance::default());
            assert!(lint.cannot_judge.unwrap().contains("with its `connection`"));
        }
    }

    #[test]
    fn a_load_goes_on_over_midnight() {
        let entry = |url: &str, start: &str, wait: u64, receive: u64, priority: &str| {
            format!(
                r#"{{"startedDateTime":"{start}Z","connection":"9","_priority":"{priority}","request":{{"url":"{url}"}},"response":{{"httpVersion":"h3","_transferSize":300000}},"timings":{{"wait":{wait},"receive":{receive}}}}}"#
            )
        };
        let entries = [
            entry("/i.png", "2026-01-31T23:59:59.900", 20, 2000, "LOWEST"),
            entry("/a.css", "2026-02-01T00:00:00.100", 1810, 10, "HIGHEST"),
        ];
        let har = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
        assert!(violations(&har) > 50, "the stylesheet waits for the image");
    }

    #[test]
    fn a_port_is_not_a_connection_and_the_field_of_a_request_is_a_priority() {
        // Firefox.
        let entry = |url: &str, start: &str, wait: u64, receive: u64, field: &str| {
            format!(
                r#"{{"startedDateTime":"2026-01-01T00:00:0{start}Z","connection":"443","request":{{"url":"https://{url}","headers":[{{"name":"Priority","value":"{field}"}}]}},"response":{{"httpVersion":"HTTP/2","headersSize":500,"bodySize":300000}},"timings":{{"wait":{wait},"receive":{receive}}}}}"#
            )
        };
        let entries = [
            entry("a.test/i.png", "0.000", 20, 2000, "u=5, i"),
            entry("a.test/a.css", "0.200", 1810, 10, "u=2"),
            entry("b.test/b.css", "0.200", 20, 10, "u=2"),
        ];
        let har = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
        let traces = read("log", har.as_bytes()).unwrap().unwrap();
        let names: Vec<&str> = traces.iter().map(|it| it.file.as_str()).collect();
        assert_eq!(names, ["log, connection a.test:443", "log, connection b.test:443"]);
        let lint = lint(&traces[0], None, &Rules::Rfc9218, Allowance::default());
        assert_eq!(lint.cannot_judge, None);
        assert!(lint.violations.len() > 50, "the stylesheet waits for the image");
    }

    #[test]
    fn other_json_is_neither() {
        for other in [
            "{\"qlog_version\":\"0.3\",\"traces\":[]}",
            "nonsense",
            "[1,2",
            "{\"log\":{\"entries\":",
        ] {
            assert!(read("x", other.as_bytes()).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn more_requests_than_a_page_has_are_refused() {
        let event = |id: usize| {
            format!(r#"{{"method":"Network.requestWillBeSent","params":{{"requestId":"{id}"}}}}"#)
        };
        let of = |count| (0..count).map(event).collect::<Vec<_>>().join(",");
        let devtools = |count| read("x", format!("[{}]", of(count)).as_bytes());
        assert!(devtools(REQUESTS_MAX).is_ok());
        assert!(
            devtools(REQUESTS_MAX + 1).is_err_and(|it| it.starts_with("more than 10000 requests"))
        );
    }
}
