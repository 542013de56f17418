//! HTTP Archive 1.2 files: of browsers, of sitespeed.io's tools and of `WebPageTest`.

use crate::devtools::initiator_urls;
use crate::json::{each_element, text, whole, within_limit};
use crate::{Capture, Fetch, Initiator, Load, Priority, Size};
use jiff::civil::{DateTime, datetime};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    pages: Vec<Value>,
    #[serde(deserialize_with = "read_entries")]
    entries: Vec<Entry>,
}

struct Entry {
    page: String,
    fetch: Fetch,
    redirect: Option<String>,
}

fn read_entries<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Entry>, D::Error> {
    let mut entries = Vec::new();
    each_element(from, |value| {
        entries.push(entry(value, entries.len() + 1));
        within_limit(entries.len())
    })?;
    Ok(entries)
}

/// Reads a HAR file; an error says why it is not one.
pub fn read_har(json: &[u8]) -> Result<Capture, String> {
    let File { log } = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let mut capture = Capture::default();
    let mut pages: Vec<String> = Vec::new();
    for Entry { page, fetch, redirect } in log.entries {
        if let Some(to) = redirect {
            capture.redirects.insert(fetch.url.clone(), to);
        }
        let known = pages.iter().position(|it| *it == page);
        let load = known.unwrap_or_else(|| {
            let load_ms = load_ms(&log.pages, &page);
            capture.loads.push(Load { fetches: Vec::new(), load_ms });
            pages.push(page);
            pages.len() - 1
        });
        capture.loads[load].fetches.push(fetch);
    }
    Ok(capture)
}

fn load_ms(pages: &[Value], id: &str) -> Option<f64> {
    let page = pages.iter().find(|it| it["id"] == *id)?;
    let start_ms = milliseconds(page["startedDateTime"].as_str()?)?;
    let load_ms = page["pageTimings"]["onLoad"].as_f64().filter(|&it| it > 0.0)?;
    Some(start_ms + load_ms)
}

fn entry(entry: &Value, number: usize) -> Entry {
    let (request, response) = (&entry["request"], &entry["response"]);
    let content = &response["content"];
    let requested_ms = milliseconds(&text(&entry["startedDateTime"])).unwrap_or(f64::NAN);
    let (bytes, size) = body_bytes(entry, response);
    let decoded_bytes = whole(&content["size"]);
    let of_name = |key: &str| entry[key].as_str().and_then(Priority::of_name);
    let (last, first) = (of_name("_priority"), of_name("_initialPriority"));
    let first = first.or(last);
    let (initiator, initiator_urls) = initiator(entry);
    let to = text(&response["redirectURL"]);
    let timing = |key: &str| entry["timings"][key].as_f64().filter(|&ms| ms > 0.0);
    let before = ["blocked", "dns", "connect", "send"].into_iter().filter_map(timing);
    let sent_ms = requested_ms + before.sum::<f64>();
    Entry {
        page: text(&entry["pageref"]),
        redirect: to.starts_with("http").then_some(to),
        fetch: Fetch {
            number,
            url: text(&request["url"]).split('#').next().unwrap_or_default().to_owned(),
            method: text(&request["method"]),
            requested_ms,
            sent_ms: sent_ms.is_finite().then_some(sent_ms),
            wait_ms: timing("wait"),
            receive_ms: timing("receive"),
            finished_ms: entry["time"].as_f64().map(|it| requested_ms + it),
            connection: Some(text(&entry["connection"])).filter(|it| it != "0").unwrap_or_default(),
            protocol: text(&response["httpVersion"]),
            mime: text(&content["mimeType"]),
            status: u16::try_from(whole(&response["status"])).unwrap_or(0),
            bytes,
            size,
            decoded_bytes: if decoded_bytes == 0 { bytes } else { decoded_bytes },
            initiator,
            initiator_urls,
            place: place(entry),
            referer: field(request, "referer"),
            priority: first,
            priorities: last.or(first).map(|it| (sent_ms, it)).into_iter().collect(),
            raised: first != last && last == Some(Priority::High),
            ..Fetch::default()
        },
    }
}

/// The standard's field, `WebPageTest`'s, the whole response's without its head, or the decoded size. A 0 alone states nothing:
/// browsers write it for what a cache answered. A body is empty where a response consists of its head, where the size on the wire
/// and the decoded size are both 0, or where its status says so.
fn body_bytes(entry: &Value, response: &Value) -> (u64, Size) {
    let stated = [&response["bodySize"], &entry["_objectSize"]];
    let with_head = [&response["_transferSize"], &entry["_bytesIn"]].map(whole);
    let head = whole(&response["headersSize"]);
    let bodies = with_head.into_iter().map(|it| it.saturating_sub(head));
    if let Some(bytes) = stated.into_iter().map(whole).chain(bodies).find(|&it| it > 0) {
        return (bytes, Size::Recorded);
    }
    let decoded = &response["content"]["size"];
    let is_zero = |it: &Value| it.as_f64() == Some(0.0);
    let is_empty = stated.into_iter().any(is_zero) && is_zero(decoded)
        || matches!(whole(&response["status"]), 204 | 205);
    match whole(decoded) {
        0 if is_empty || with_head.iter().any(|&it| it > 0) => (0, Size::Recorded),
        0 => (0, Size::Unknown),
        bytes => (bytes, Size::Decoded),
    }
}

/// Chrome's object, in the entry or (as text) in `_initiator_detail`, or the URL alone.
fn initiator(entry: &Value) -> (Initiator, Vec<String>) {
    let detail = entry["_initiator_detail"].as_str();
    let detail: Value = detail.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    let object = if detail.is_object() { &detail } else { &entry["_initiator"] };
    let mut urls = initiator_urls(object);
    let named = entry["_initiator"].as_str().filter(|it| !it.is_empty());
    if let Some(url) = named
        && urls.is_empty()
    {
        urls.push(url.to_owned());
    }
    let name = object["type"].as_str().or_else(|| entry["_initiator_type"].as_str());
    (Initiator::of_type(name).unwrap_or_default(), urls)
}

/// Lines and columns of HAR files are counted from 1.
fn place(entry: &Value) -> Option<(u64, u64)> {
    let number = |key: &str| {
        let value = &entry[key];
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let line = number("_initiator_line")?.checked_sub(1)?;
    Some((line, number("_initiator_column").unwrap_or(0)))
}

fn field(request: &Value, name: &str) -> String {
    let fields = request["headers"].as_array().into_iter().flatten();
    let named = |it: &&Value| it["name"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(name));
    fields.filter(named).map(|it| text(&it["value"])).next().unwrap_or_default()
}

/// `2016-07-08T09:10:11.123Z` as milliseconds since the last day of 1999. All dates of a file are taken to be in one zone.
fn milliseconds(date: &str) -> Option<f64> {
    let time = date.find('T')? + 1;
    let is_clock = |it: char| it.is_ascii_digit() || matches!(it, ':' | '.');
    let end = date[time..].find(|it| !is_clock(it)).map_or(date.len(), |end| time + end);
    let at: DateTime = date[..end].parse().ok()?;
    let since = at.duration_since(datetime(1999, 12, 31, 0, 0, 0, 0));
    Some(since.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn har(dates: &[&str]) -> Vec<f64> {
        let entries: Vec<String> =
            dates.iter().map(|it| format!(r#"{{"startedDateTime":"{it}"}}"#)).collect();
        let json = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
        let capture = read_har(json.as_bytes()).unwrap();
        capture.loads[0].fetches.iter().map(|it| it.requested_ms).collect()
    }

    #[test]
    fn a_load_goes_on_over_midnight_and_the_end_of_a_month_and_a_year() {
        for (before, after) in [
            ("2026-01-05T23:59:59.900Z", "2026-01-06T00:00:00.100Z"),
            ("2024-02-29T23:59:59.900+01:00", "2024-03-01T00:00:00.100+01:00"),
            ("2025-12-31T23:59:59.900-08:00", "2026-01-01T00:00:00.100-08:00"),
        ] {
            let times = har(&[before, after]);
            assert!((times[1] - times[0] - 200.0).abs() < 0.5, "{before}");
        }
        let day_ms = 86_400_000.0;
        assert_eq!(har(&["2000-01-02T00:00:01Z"]), [2.0 * day_ms + 1000.0]);
    }

    #[test]
    fn a_wrong_date_is_not_a_number() {
        let wrong = ["yesterday", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-01T1:2"];
        assert!(har(&wrong).iter().all(|it| it.is_nan()));
    }

    #[test]
    fn each_page_of_a_file_is_a_load() {
        let entry = |page: &str, bytes: u64| {
            format!(r#"{{"pageref":"{page}","response":{{"bodySize":{bytes}}}}}"#)
        };
        let entries = [entry("a", 10), entry("b", 200), entry("a", 5)].join(",");
        let capture = read_har(format!(r#"{{"log":{{"entries":[{entries}]}}}}"#).as_bytes());
        let bytes: Vec<u64> = capture.unwrap().loads.iter().map(Load::bytes).collect();
        assert_eq!(bytes, [15, 200]);
    }
}
