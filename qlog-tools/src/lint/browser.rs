//! What a browser noted, as a client's log: HAR files, and lists of DevTools events.
//!
//! Browsers note no packets. DevTools says when bytes of a response came, a HAR only from when to when; then they are
//! taken as spread evenly. Priorities are Chromium's five, which it sends as urgencies 0 to 4; what it marks
//! incremental is not noted, so that only urgencies are judged.

mod devtools;
mod har;

use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::timeline::{StreamFrame, Timeline, Transfer};
use crate::trace::{
    Packet, PacketEvent, PrioritySignal, RecoverySample, SignalKind, Space, Trace, Vantage,
};

/// How such traces say where they come from ([`Trace::format`]).
pub(super) const FORMATS: [&str; 2] = ["HAR", "DevTools"];
/// Larger files, unpacked, are not read: without its bodies no page load is so large.
pub const BYTES_MAX: u64 = 128 << 20;
/// More requests no page load has.
pub const REQUESTS_MAX: usize = 10_000;

/// More no response has; a file that says so is damaged.
const RESPONSE_BYTES_MAX: u64 = 1 << 40;
/// The longest text or number that is read; the ones needed are shorter.
const LEAF_BYTES: usize = 1 << 14;

/// More than [`REQUESTS_MAX`] requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {REQUESTS_MAX} requests: no page load has so many")]
pub struct TooManyRequests;

/// One trace for each HTTP/3 or HTTP/2 connection in `json`, an empty one when there is none; `None` when it is neither
/// a HAR nor a DevTools log. Memory is for what is looked at, not for all that is in the file.
pub fn read(file: &str, json: &[u8]) -> Result<Option<Vec<Trace>>, TooManyRequests> {
    let is_list = json.trim_ascii_start().starts_with(b"[");
    let format = FORMATS[usize::from(is_list)];
    let exchanges = if is_list { devtools::exchanges(json)? } else { har::exchanges(json)? };
    let Some(exchanges) = exchanges else { return Ok(None) };
    let mut connections: Vec<&str> = exchanges.iter().map(|it| &*it.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    if connections.is_empty() {
        let nothing = Trace { file: file.to_owned(), ..trace(file, format, "", &[]) };
        return Ok(Some(vec![nothing]));
    }
    let of = |connection: &str| -> Vec<&Exchange> {
        exchanges.iter().filter(|it| it.connection == connection).collect()
    };
    Ok(Some(connections.into_iter().map(|it| trace(file, format, it, &of(it))).collect()))
}

/// Part of a JSON document, not looked into.
type Part<'a> = Option<&'a RawValue>;

/// The object, or what else `T` is; `None` if it is none.
fn parsed<'a, T: serde::Deserialize<'a>>(part: Part<'a>) -> Option<T> {
    serde_json::from_str(part?.get()).ok()
}

fn text(part: Part<'_>) -> Option<String> {
    parsed(part.filter(|it| it.get().len() <= LEAF_BYTES))
}

fn number(part: Part<'_>) -> Option<f64> {
    parsed(part)
}

fn whole(part: Part<'_>) -> Option<u64> {
    parsed(part)
}

/// Gives each element of a JSON array to `each`, one at a time, until it returns false; `None` if it is not an array.
fn elements<'a>(json: &'a [u8], each: impl FnMut(&'a RawValue) -> bool) -> Option<()> {
    struct Elements<F>(F);
    impl<'a, F: FnMut(&'a RawValue) -> bool> Visitor<'a> for Elements<F> {
        type Value = ();
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'a>>(mut self, mut array: A) -> Result<(), A::Error> {
            while let Some(element) = array.next_element()? {
                if !(self.0)(element) {
                    break;
                }
            }
            while array.next_element::<IgnoredAny>()?.is_some() {}
            Ok(())
        }
    }
    serde_json::Deserializer::from_slice(json).deserialize_seq(Elements(each)).ok()
}

/// One request and its response.
#[derive(Debug, Clone, Default)]
struct Exchange {
    connection: String,
    url: String,
    sent_us: u64,
    /// From the request's end to the response's first byte.
    wait_us: Option<u64>,
    /// When, and which priority.
    priorities: Vec<(u64, String)>,
    /// When, and how many bytes.
    arrivals: Vec<(u64, u64)>,
}

fn trace(file: &str, format: &str, connection: &str, exchanges: &[&Exchange]) -> Trace {
    let mut trace = Trace {
        file: format!("{file}, connection {connection}"),
        format: Some(format.to_owned()),
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
            url: exchange.url.clone(),
            requested_us: exchange.sent_us,
            stream_bytes: Some(offset),
            ..Transfer::default()
        });
        for (time_us, value) in &exchange.priorities {
            let (time_us, how, value) = (*time_us, SignalKind::Applied, value.clone());
            trace.signals.push(PrioritySignal { time_us, element: stream, how, value });
        }
    }
    timeline.frames.sort_by_key(|frame| frame.time_us);
    // Arrivals in order of time stand for packets in order of sending.
    for (place, frame) in timeline.frames.iter().enumerate() {
        trace.frame_packets.push(u32::try_from(place).unwrap_or(u32::MAX));
        trace.packets.push(Packet {
            time_us: frame.time_us,
            event: PacketEvent::Received,
            space: Space::Application,
            number: Some(place as u64),
            bytes: 0,
        });
    }
    let shortest_us = exchanges.iter().filter_map(|it| it.wait_us).min();
    trace.recovery.push(RecoverySample {
        latest_rtt_ms: shortest_us.map(|wait_us| wait_us as f64 / 1000.0),
        ..RecoverySample::default()
    });
    trace.timeline = timeline;
    trace
}

/// Chromium's names, as it signals them (net/http, 2023).
fn urgency(priority: &str) -> Option<String> {
    let urgency = match priority {
        "VeryHigh" | "Highest" => 0,
        "High" => 1,
        "Medium" => 2,
        "Low" => 3,
        "VeryLow" | "Lowest" => 4,
        _ => return None,
    };
    Some(format!("u={urgency}"))
}

/// Whether responses of this protocol share a connection.
fn is_multiplexed(protocol: &str) -> bool {
    let protocol = protocol.to_ascii_lowercase();
    ["h3", "h2", "http/2", "http/3"].iter().any(|it| protocol.starts_with(it))
}

/// Milliseconds as whole microseconds; 0 if it is not a time.
fn us(ms: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let us = (ms * 1000.0).clamp(0.0, 9e15) as u64;
    us
}

#[cfg(test)]
mod tests {
    use super::super::{Allowance, Rules, lint};
    use super::*;

    /// A large image under way, and a stylesheet that is asked for at 200 ms and comes last, or at once.
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
            format!(r#"{{"method":"Network.dataReceived","params":{{"requestId":"{id}"}}}}"#)
        };
        let of = |count| (0..count).map(event).collect::<Vec<_>>().join(",");
        let devtools = |count| read("x", format!("[{}]", of(count)).as_bytes());
        assert!(devtools(REQUESTS_MAX).is_ok());
        assert_eq!(devtools(REQUESTS_MAX + 1).unwrap_err(), TooManyRequests);
    }
}
