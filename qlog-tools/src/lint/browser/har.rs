//! HAR 1.2 with the fields that Chromium and `WebPageTest` add (`connection`, `_priority`).

use serde::Deserialize;

use super::{
    Exchange, Part, REQUESTS_MAX, RESPONSE_BYTES_MAX, TooManyRequests, elements, is_multiplexed,
    number, parsed, text, urgency, us, whole,
};

/// A response's bytes are taken as coming in so many parts, evenly over the time in which it was received.
const PARTS: u64 = 100;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    started_date_time: Part<'a>,
    #[serde(borrow)]
    connection: Part<'a>,
    #[serde(borrow, rename = "_priority")]
    priority: Part<'a>,
    #[serde(borrow, rename = "_initialPriority")]
    initial_priority: Part<'a>,
    #[serde(borrow)]
    request: Part<'a>,
    #[serde(borrow)]
    response: Part<'a>,
    #[serde(borrow)]
    timings: Part<'a>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    url: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    #[serde(borrow)]
    http_version: Part<'a>,
    #[serde(borrow, rename = "_transferSize")]
    transfer_size: Part<'a>,
    #[serde(borrow)]
    body_size: Part<'a>,
    #[serde(borrow, rename = "_bytesIn")]
    bytes_in: Part<'a>,
}

#[derive(Deserialize, Default)]
struct Timings<'a> {
    #[serde(borrow)]
    blocked: Part<'a>,
    #[serde(borrow)]
    dns: Part<'a>,
    #[serde(borrow)]
    connect: Part<'a>,
    #[serde(borrow)]
    send: Part<'a>,
    #[serde(borrow)]
    wait: Part<'a>,
    #[serde(borrow)]
    receive: Part<'a>,
}

/// `None` if it is not a HAR.
pub(super) fn exchanges(json: &[u8]) -> Result<Option<Vec<Exchange>>, TooManyRequests> {
    let Ok(file) = serde_json::from_slice::<File<'_>>(json) else { return Ok(None) };
    let Some(entries) = file.log.entries else { return Ok(None) };
    let mut exchanges: Vec<Exchange> = Vec::new();
    let all = elements(entries.get().as_bytes(), |entry| {
        exchanges.extend(parsed(Some(entry)).and_then(|entry| exchange(&entry)));
        exchanges.len() <= REQUESTS_MAX
    });
    if exchanges.len() > REQUESTS_MAX {
        return Err(TooManyRequests);
    }
    exchanges.sort_by_key(|it| it.sent_us);
    Ok(all.map(|()| exchanges))
}

fn exchange(entry: &Entry<'_>) -> Option<Exchange> {
    let response: Response<'_> = parsed(entry.response)?;
    let connection = text(entry.connection).filter(|id| !id.is_empty() && id != "0")?;
    if !is_multiplexed(&text(response.http_version)?) {
        return None;
    }
    let started_us = milliseconds_of_day(&text(entry.started_date_time)?)?;
    let timings: Timings<'_> = parsed(entry.timings).unwrap_or_default();
    let timing = |part: Part<'_>| number(part).filter(|ms| *ms > 0.0).unwrap_or_default();
    let before = [timings.blocked, timings.dns, timings.connect, timings.send];
    let before_ms: f64 = before.into_iter().map(timing).sum();
    let sent_us = us(started_us + before_ms);
    let wait_us = us(timing(timings.wait));
    let first_us = sent_us + wait_us;
    let receive_us = us(timing(timings.receive));
    let sizes = [response.transfer_size, response.body_size, response.bytes_in];
    let bytes = sizes.into_iter().find_map(whole)?.min(RESPONSE_BYTES_MAX);
    let parts = PARTS.min(bytes / 1000 + 1);
    let part =
        |n: u64| (first_us + receive_us * n / parts, bytes * (n + 1) / parts - bytes * n / parts);
    let priority = text(entry.priority).or_else(|| text(entry.initial_priority));
    let priority = priority.and_then(|it| urgency(&it));
    let request: Option<Request<'_>> = parsed(entry.request);
    Some(Exchange {
        connection,
        url: request.and_then(|it| text(it.url)).unwrap_or_default(),
        sent_us,
        wait_us: Some(wait_us),
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
