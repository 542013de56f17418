//! HAR 1.2 with the fields that Chromium and `WebPageTest` add (`connection`, `_priority`).

use serde_json::Value;

use super::{Exchange, RESPONSE_BYTES_MAX, is_multiplexed, urgency, us};

/// A response's bytes are taken as coming in so many parts, evenly over the time in which it was received.
const PARTS: u64 = 100;

pub(super) fn exchanges(entries: &[Value]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = entries.iter().filter_map(exchange).collect();
    exchanges.sort_by_key(|it| it.sent_us);
    exchanges
}

fn exchange(entry: &Value) -> Option<Exchange> {
    let protocol = entry["response"]["httpVersion"].as_str()?;
    let connection = entry["connection"].as_str().filter(|id| !id.is_empty() && *id != "0")?;
    if !is_multiplexed(protocol) {
        return None;
    }
    let started_us = milliseconds_of_day(entry["startedDateTime"].as_str()?)?;
    let timing =
        |name: &str| entry["timings"][name].as_f64().filter(|ms| *ms > 0.0).unwrap_or_default();
    let before_ms: f64 = ["blocked", "dns", "connect", "send"].iter().map(|it| timing(it)).sum();
    let sent_us = us(started_us + before_ms);
    let first_us = sent_us + us(timing("wait"));
    let receive_us = us(timing("receive"));
    let bytes = ["_transferSize", "bodySize", "_bytesIn"]
        .iter()
        .find_map(|it| entry["response"][it].as_u64())?
        .min(RESPONSE_BYTES_MAX);
    let parts = PARTS.min(bytes / 1000 + 1);
    let part =
        |n: u64| (first_us + receive_us * n / parts, bytes * (n + 1) / parts - bytes * n / parts);
    let priority =
        entry["_priority"].as_str().or(entry["_initialPriority"].as_str()).and_then(urgency);
    Some(Exchange {
        connection: connection.to_owned(),
        url: entry["request"]["url"].as_str().unwrap_or_default().to_owned(),
        sent_us,
        wait_us: Some(us(timing("wait"))),
        priorities: priority.map(|value| (sent_us, value)).into_iter().collect(),
        arrivals: (0..parts).map(part).filter(|it| it.1 > 0).collect(),
    })
}

/// The milliseconds since midnight of `2018-04-20T11:16:53.436Z`: entries of one page load are compared only with
/// each other. A load over midnight is cut in two.
fn milliseconds_of_day(text: &str) -> Option<f64> {
    let clock = text.split_once('T')?.1;
    let mut parts = clock.splitn(3, ':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let seconds = parts.next()?;
    let end = seconds.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(seconds.len());
    let seconds: f64 = seconds[..end].parse().ok()?;
    Some(((hours * 60.0 + minutes) * 60.0 + seconds) * 1000.0)
}
