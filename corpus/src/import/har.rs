//! HTTP Archive 1.2 files: of browsers, of sitespeed.io's tools and of `WebPageTest`.

use super::devtools::{text, whole};
use super::network_log::{Initiator, Request, page_of};
use super::{ImportError, Imported, Label};
use serde_json::Value;

/// Imports the first page load of a HAR file.
pub fn har(file: &Value, label: Label) -> Result<Imported, ImportError> {
    let entries = file["log"]["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(first) = entries.first() else {
        return Err(ImportError::Format("log.entries: is missing or empty".to_owned()));
    };
    let load = &first["pageref"];
    let requests: Vec<Request> =
        entries.iter().filter(|it| it["pageref"] == *load).map(request).collect();
    let document = requests.iter().find(|it| it.status == 200).map(|it| it.url.clone());
    let mut imported = page_of(with_initiators(requests, document.as_deref()), label)?;
    if first["_initiator"].is_null() && entries.iter().all(|it| it["_initiator"].is_null()) {
        imported.notes.push(
            "the file names no initiators: everything is taken to be in the document".to_owned(),
        );
    }
    Ok(imported)
}

fn request(entry: &Value) -> Request {
    let (request, response) = (&entry["request"], &entry["response"]);
    let content = &response["content"];
    let requested_ms = text(&entry["startedDateTime"]);
    let requested_ms = milliseconds_of_day(&requested_ms).unwrap_or(f64::NAN);
    let decoded_bytes = whole(&content["size"]);
    let transferred = [&response["bodySize"], &response["_transferSize"], &entry["_bytesIn"]];
    let bytes = transferred.into_iter().map(whole).find(|&it| it > 0).unwrap_or(decoded_bytes);
    let mime = text(&content["mimeType"]);
    Request {
        url: text(&request["url"]).split('#').next().unwrap_or_default().to_owned(),
        method: text(&request["method"]),
        requested_ms,
        finished_ms: entry["time"].as_f64().map(|it| requested_ms + it),
        used_as: String::new(),
        initiator: initiator(entry),
        initiator_url: initiator_url(&entry["_initiator"]),
        priority: ["_initialPriority", "_priority"]
            .iter()
            .map(|key| text(&entry[*key]))
            .find(|it| !it.is_empty())
            .unwrap_or_default(),
        status: u16::try_from(whole(&response["status"])).unwrap_or(0),
        decoded_bytes: if decoded_bytes == 0 { bytes } else { decoded_bytes },
        bytes,
        mime,
        ..Request::default()
    }
}

/// Chrome's object, or the URL alone.
fn initiator_url(initiator: &Value) -> String {
    let named = initiator.as_str().or_else(|| initiator["url"].as_str()).or_else(|| {
        initiator["stack"]["callFrames"].as_array()?.iter().find_map(|it| it["url"].as_str())
    });
    named.unwrap_or_default().to_owned()
}

fn initiator(entry: &Value) -> Initiator {
    let kind = entry["_initiator"]["type"].as_str().or_else(|| entry["_initiator_type"].as_str());
    match kind {
        Some("parser") => Initiator::Parser,
        Some("script") => Initiator::Script,
        Some(_) => Initiator::Other,
        None if initiator_url(&entry["_initiator"]).contains(".js") => Initiator::Script,
        None => Initiator::Parser,
    }
}

/// Where no entry names an initiator, the document is it.
fn with_initiators(mut requests: Vec<Request>, document: Option<&str>) -> Vec<Request> {
    if requests.iter().all(|it| it.initiator_url.is_empty()) {
        for it in &mut requests {
            document.unwrap_or_default().clone_into(&mut it.initiator_url);
        }
    }
    requests
}

/// `2016-07-08T09:10:11.123Z` as milliseconds since a midnight; page loads do not last for days.
fn milliseconds_of_day(date: &str) -> Option<f64> {
    let (day, time) = date.split_once('T')?;
    let day: f64 = day.rsplit_once('-')?.1.parse().ok()?;
    let time = time.trim_end_matches('Z');
    let time = time.split_once(['+']).map_or(time, |(time, _)| time);
    let time = time.split_once('-').map_or(time, |(time, _)| time);
    let mut parts = time.split(':').map(str::parse::<f64>);
    let (hours, minutes, seconds) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some((((day * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds) * 1000.0)
}
