//! HTTP Archive 1.2 files: of browsers, of sitespeed.io's tools and of `WebPageTest`.

use super::devtools::{text, whole};
use super::network_log::{Initiator, PageLoad, Priority, Request, page_of};
use super::recognize::{Entries, within_entries};
use super::{ImportError, Imported, Label};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    pages: Vec<Value>,
    #[serde(default, deserialize_with = "read_entries")]
    entries: Vec<Entry>,
}

struct Entry {
    page: String,
    request: Request,
    redirect: Option<String>,
    names_initiator: bool,
}

fn read_entries<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Entry>, D::Error> {
    let fill = |list: &mut Vec<Entry>, value: &Value| {
        list.push(entry(value));
        within_entries(list.len())
    };
    from.deserialize_seq(Entries { list: Vec::new(), fill })
}

/// Imports the first page load of a HAR file.
pub(super) fn har(text: &str, label: Label) -> Result<Imported, ImportError> {
    let File { log } = serde_json::from_str(text)
        .map_err(|error| ImportError::Format(format!("is not a HAR file: {error}")))?;
    let Some(page) = log.entries.first().map(|it| it.page.clone()) else {
        return Err(ImportError::Format("log.entries: is missing or empty".to_owned()));
    };
    let load_ms = load_ms(&log.pages, &page);
    let entries: Vec<Entry> = log.entries.into_iter().filter(|it| it.page == page).collect();
    let mut notes = Vec::new();
    if !entries.iter().any(|it| it.names_initiator) {
        notes.push(
            "the file names no initiators: everything is taken to be in the document, but what a \
             Referer field, the kind or the load event says otherwise of"
                .to_owned(),
        );
    }
    let undated = entries.iter().filter(|it| !it.request.requested_ms.is_finite()).count();
    if undated > 0 {
        notes.push(format!(
            "requests left out, because their startedDateTime is not a date: {undated}"
        ));
    }
    let mut redirects = BTreeMap::new();
    let mut requests = Vec::new();
    for it in entries {
        if let Some(to) = it.redirect {
            redirects.insert(it.request.url.clone(), to);
        }
        requests.push(it.request);
    }
    page_of(PageLoad { requests, redirects, load_ms, notes }, label)
}

/// The load event of the page that the first entry belongs to.
fn load_ms(pages: &[Value], id: &str) -> Option<f64> {
    let page = pages.iter().find(|it| it["id"] == *id)?;
    let start_ms = milliseconds_of_month(page["startedDateTime"].as_str()?)?;
    let load_ms = page["pageTimings"]["onLoad"].as_f64().filter(|&it| it > 0.0)?;
    Some(start_ms + load_ms)
}

fn entry(entry: &Value) -> Entry {
    let (request, response) = (&entry["request"], &entry["response"]);
    let content = &response["content"];
    let requested_ms = milliseconds_of_month(&text(&entry["startedDateTime"])).unwrap_or(f64::NAN);
    let decoded_bytes = whole(&content["size"]);
    let recorded = body_bytes(entry, response);
    let bytes = recorded.unwrap_or(decoded_bytes);
    let first = entry["_initialPriority"].as_str().or_else(|| entry["_priority"].as_str());
    let last = entry["_priority"].as_str();
    let (initiator, initiator_urls) = initiator(entry);
    let to = text(&response["redirectURL"]);
    Entry {
        page: text(&entry["pageref"]),
        names_initiator: !initiator_urls.is_empty(),
        redirect: to.starts_with("http").then_some(to),
        request: Request {
            url: text(&request["url"]).split('#').next().unwrap_or_default().to_owned(),
            method: text(&request["method"]),
            requested_ms,
            finished_ms: entry["time"].as_f64().map(|it| requested_ms + it),
            mime: text(&content["mimeType"]),
            status: u16::try_from(whole(&response["status"])).unwrap_or(0),
            bytes,
            bytes_assumed: recorded.is_none() && bytes > 0,
            decoded_bytes: if decoded_bytes == 0 { bytes } else { decoded_bytes },
            initiator,
            initiator_urls,
            place: place(entry),
            referer: field(request, "referer"),
            priority: first.and_then(Priority::of_name),
            raised: first != last && last.and_then(Priority::of_name) == Some(Priority::High),
            ..Request::default()
        },
    }
}

/// The standard's field, `WebPageTest`'s, or the whole response's without its head.
fn body_bytes(entry: &Value, response: &Value) -> Option<u64> {
    let stated = [&response["bodySize"], &entry["_objectSize"]];
    let with_head = [&response["_transferSize"], &entry["_bytesIn"]];
    let head = whole(&response["headersSize"]);
    let bodies = with_head.into_iter().map(whole).map(|it| it.saturating_sub(head));
    stated.into_iter().map(whole).chain(bodies).find(|&it| it > 0)
}

/// Chrome's object, in the entry or (as text) in `_initiator_detail`, or the URL alone.
fn initiator(entry: &Value) -> (Initiator, Vec<String>) {
    let detail = entry["_initiator_detail"].as_str();
    let detail: Value = detail.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    let object = if detail.is_object() { &detail } else { &entry["_initiator"] };
    let mut urls = super::devtools::initiator_urls(object);
    let named = entry["_initiator"].as_str().filter(|it| !it.is_empty());
    if let Some(url) = named
        && urls.is_empty()
    {
        urls.push(url.to_owned());
    }
    let kind = match object["type"].as_str().or_else(|| entry["_initiator_type"].as_str()) {
        Some("parser") => Initiator::Parser,
        Some("script") => Initiator::Script,
        Some(_) => Initiator::Browser,
        None => Initiator::Unknown,
    };
    (kind, urls)
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

/// The value of a request field.
fn field(request: &Value, name: &str) -> String {
    let fields = request["headers"].as_array().into_iter().flatten();
    let named = |it: &&Value| it["name"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(name));
    fields.filter(named).map(|it| text(&it["value"])).next().unwrap_or_default()
}

/// `2016-07-08T09:10:11.123Z` as milliseconds since a month's beginning; page loads do not last for days.
fn milliseconds_of_month(date: &str) -> Option<f64> {
    let (day, time) = date.split_once('T')?;
    let day: f64 = day.rsplit_once('-')?.1.parse().ok()?;
    let time = time.trim_end_matches('Z');
    let time = time.split_once(['+', '-']).map_or(time, |(time, _)| time);
    let mut parts = time.split(':').map(str::parse::<f64>);
    let (hours, minutes, seconds) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some((((day * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds) * 1000.0)
}
