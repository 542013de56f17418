//! HTTP Archive 1.2 files: of browsers, of sitespeed.io's tools and of `WebPageTest`.

use crate::devtools::{initiator_place, initiator_urls, is_blocking, used_as};
use crate::json::{each_element, field, json_cause, number, size, text, whole, within_limit};
use crate::size::{Stated, body_sizes};
use crate::{Capture, Fetch, Initiator, Load, Priority, first_byte, normal_url};
use jiff::Timestamp;
use jiff::civil::{DateTime, datetime};
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;

/// If the page's own start time is further than this from its first request, the clock has another zone or is wrong, and the
/// first request counts as the start.
const CLOCKS_DIFFER_MS_MAX: f64 = 600_000.0;
/// 1999-12-31 in milliseconds since 1970.
const EPOCH_MS: f64 = 946_598_400_000.0;
/// Versions of Firefox whose `bodySize` includes the head.
const FIREFOX_COUNTS_HEADS: std::ops::RangeInclusive<u32> = 43..=146;

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    creator: Value,
    #[serde(default)]
    pages: Value,
    #[serde(deserialize_with = "read_entries")]
    entries: Vec<Entry>,
}

struct Entry {
    page: String,
    /// The requesting frame, as sitespeed.io (`_frameId`) or `WebPageTest` (`_frame_id`) writes it; empty if unknown.
    frame: String,
    fetch: Fetch,
    stated: Stated,
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

/// Reads a HAR file; an error explains why it is not one.
pub fn read_har(json: &[u8]) -> Result<Capture, String> {
    let File { log: Log { creator, pages, mut entries } } =
        serde_json::from_slice(json).map_err(|error| json_cause(&error.to_string()))?;
    let stated: Vec<Stated> = entries.iter().map(|it| it.stated.clone()).collect();
    let sizes = body_sizes(&stated, counts_heads(&creator));
    for (entry, (bytes, size)) in entries.iter_mut().zip(sizes) {
        entry.fetch.settle(bytes, size, &entry.stated);
    }
    mark_subframes(&mut entries);
    let pages = pages.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut capture = Capture::default();
    let mut names: Vec<String> = Vec::new();
    for Entry { page, fetch, redirect, .. } in entries {
        if let Some(to) = redirect {
            capture.redirects.insert(fetch.url.clone(), to);
        }
        // A single page owns all entries, even those that do not name it.
        let page = if page.is_empty() && pages.len() == 1 { text(&pages[0]["id"]) } else { page };
        let known = names.iter().position(|it| *it == page);
        let load = known.unwrap_or_else(|| {
            capture.loads.push(Load::default());
            names.push(page);
            names.len() - 1
        });
        capture.loads[load].fetches.push(fetch);
    }
    for (load, name) in capture.loads.iter_mut().zip(names) {
        if let Some(page) = pages.iter().find(|page| text(&page["id"]) == name) {
            note_page(load, page);
        }
    }
    Ok(capture)
}

fn counts_heads(creator: &Value) -> bool {
    let version = text(&creator["version"]);
    let major = version.split('.').next().and_then(|it| it.parse().ok());
    creator["name"] == "Firefox" && major.is_some_and(|it| FIREFOX_COUNTS_HEADS.contains(&it))
}

/// Marks requests from frames other than the frame of the page's first request.
fn mark_subframes(entries: &mut [Entry]) {
    let mut first: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for Entry { page, frame, fetch, .. } in entries.iter().filter(|entry| !entry.frame.is_empty()) {
        let earliest = first.entry(page.clone()).or_insert((f64::INFINITY, frame.clone()));
        if fetch.requested_ms < earliest.0 {
            *earliest = (fetch.requested_ms, frame.clone());
        }
    }
    for entry in entries.iter_mut().filter(|entry| !entry.frame.is_empty()) {
        let own = first.get(&entry.page);
        entry.fetch.in_subframe = own.is_some_and(|(_, own)| *own != entry.frame);
    }
}

/// Adds the load times that a page states.
fn note_page(load: &mut Load, page: &Value) {
    let first_ms = load.fetches.iter().map(|it| it.requested_ms).fold(f64::NAN, f64::min);
    let start_ms = milliseconds(&page["startedDateTime"])
        .filter(|it| (it - first_ms).abs() <= CLOCKS_DIFFER_MS_MAX)
        .unwrap_or(first_ms);
    let load_ms = number(&page["pageTimings"]["onLoad"]).filter(|&it| it > 0.0);
    load.load_ms = load_ms.map(|it| start_ms + it).filter(|it| it.is_finite());
    let keys = ["_final_url", "_url", "_URL", "title"].into_iter();
    let mut urls = keys.filter_map(|key| Url::parse(&text(&page[key])).ok());
    let url = urls.find(|it| matches!(it.scheme(), "http" | "https"));
    load.address = url.map(|it| normal_url(it.as_str()));
    let largest = text(&page["_LargestContentfulPaintImageURL"]);
    if page["_LargestContentfulPaintType"] != "text" {
        load.note_largest_paint(&largest);
    }
}

fn entry(entry: &Value, number_in_file: usize) -> Entry {
    let (request, response) = (&entry["request"], &entry["response"]);
    let content = &response["content"];
    let url = normal_url(&text(&request["url"]));
    let method = text(&request["method"]);
    let mime = text(&content["mimeType"]).to_ascii_lowercase();
    let status = u16::try_from(whole(&response["status"])).unwrap_or(0);
    let requested_ms = milliseconds(&entry["startedDateTime"]).unwrap_or(f64::NAN);
    let [last, first] = ["_priority", "_initialPriority"].map(|key| {
        let name = [&entry[key], &request[key]].into_iter().find_map(Value::as_str);
        name.and_then(Priority::of_name)
    });
    let timing = |key: &str| number(&entry["timings"][key]).filter(|&ms| ms > 0.0);
    let before = ["blocked", "dns", "connect", "send"].into_iter().filter_map(timing);
    let sent_ms = requested_ms + before.sum::<f64>();
    // Chrome's initiator object, from the entry or (as a string) from another field.
    let detail = entry["_initiator_detail"].as_str().and_then(|it| serde_json::from_str(it).ok());
    let object = detail.filter(Value::is_object).unwrap_or_else(|| entry["_initiator"].clone());
    let (initiator, initiator_urls) = initiator(entry, &object);
    let kind = ["_resourceType", "_request_type"].into_iter().find_map(|it| entry[it].as_str());
    let fetch = Fetch {
        number: number_in_file,
        requested_ms,
        sent_ms: sent_ms.is_finite().then_some(sent_ms),
        wait_ms: timing("wait"),
        receive_ms: timing("receive"),
        finished_ms: number(&entry["time"]).map(|it| requested_ms + it),
        connection: connection(entry, &url),
        protocol: text(&response["httpVersion"]),
        used_as: used_as(kind.unwrap_or_default()),
        status,
        range: first_byte(&response["headers"], status),
        from_cache: is_from_cache(entry, status),
        initiator,
        initiator_urls,
        place: initiator_place(&object).or_else(|| place(entry)),
        referer: normal_url(&field(&request["headers"], "referer")),
        priority: first.or(last),
        priorities: last.or(first).map(|it| (sent_ms, it)).into_iter().collect(),
        priority_field: field(&request["headers"], "priority"),
        // Images begin low or medium.
        raised: last == Some(Priority::High)
            && first.map_or(mime.starts_with("image/"), |it| it != Priority::High),
        preload: [entry, request].iter().any(|it| it["_isLinkPreload"] == true),
        blocking: entry["_renderBlocking"].as_str().map(is_blocking),
        url,
        method,
        mime,
        ..Fetch::default()
    };
    let stated = stated(entry, &fetch);
    let frame = ["_frameId", "_frame_id"].into_iter().find_map(|it| entry[it].as_str());
    Entry {
        page: text(&entry["pageref"]),
        frame: frame.unwrap_or_default().to_owned(),
        redirect: redirect(response, &fetch),
        fetch,
        stated,
    }
}

/// The sizes of an entry. Browsers write 0 for cached responses, so 0 alone means nothing. A body is empty if both its wire size
/// and its decoded size are 0, or if its status implies it.
fn stated(entry: &Value, fetch: &Fetch) -> Stated {
    let response = &entry["response"];
    let content = &response["content"];
    let bodies = [&response["bodySize"], &entry["_objectSize"]];
    let saved =
        size(&content["compression"]).and_then(|it| whole(&content["size"]).checked_sub(it));
    let mut stated = Stated {
        head: size(&response["headersSize"]),
        body: bodies.into_iter().find_map(size).or(saved).filter(|&it| it > 0),
        whole: [&response["_transferSize"], &entry["_bytesIn"]].into_iter().find_map(size),
        decoded: number(&content["size"]).filter(|&it| it >= 0.0).map(|_| whole(&content["size"])),
        is_empty: number(&content["size"]) == Some(0.0)
            && bodies.into_iter().any(|it| number(it) == Some(0.0))
            || matches!(fetch.status, 204 | 205),
        ..Stated::default()
    };
    if stated.head.is_none() && stated.body == stated.whole {
        // chrome-har does not know the head over HTTP/2, and counts the whole response as body.
        stated.body = None;
    }
    stated.note_head(&response["headers"], &fetch.method, fetch.status);
    if fetch.status == 304 {
        // A body larger than a head belongs to the cached response; everything else on the wire belongs to this answer.
        let head = stated.head.unwrap_or(stated.head_text);
        let decoded = stated.decoded.unwrap_or(0);
        stated.body = stated.body.filter(|&it| head < it && it <= decoded.saturating_add(head));
        stated.whole = None;
    }
    if let Some(unpacked) = size(&entry["_objectSizeUncompressed"]) {
        stated.decoded = Some(unpacked);
    }
    stated
}

fn is_from_cache(entry: &Value, status: u16) -> bool {
    let response = &entry["response"];
    let said =
        [&entry["_fromCache"], &entry["_fromDiskCache"], &response["_fetchedViaServiceWorker"]];
    let is_said =
        said.into_iter().any(|it| *it == true || it.as_str().is_some_and(|it| !it.is_empty()));
    let transfer = number(&response["_transferSize"]);
    // Safari's word.
    let is_elsewhere = entry["_fetchType"].as_str().is_some_and(|it| it != "Network Load");
    status == 304 || transfer == Some(0.0) || transfer.is_none() && (is_elsewhere || is_said)
}

/// The target of a redirect. Some writers give it only in the Location field.
fn redirect(response: &Value, fetch: &Fetch) -> Option<String> {
    let mut to = text(&response["redirectURL"]);
    if to.is_empty() && (300..400).contains(&fetch.status) && fetch.status != 304 {
        to = field(&response["headers"], "location");
    }
    let to = Some(to).filter(|it| !it.is_empty())?;
    let to = Url::parse(&fetch.url).and_then(|from| from.join(&to)).map_or(to, Into::into);
    Some(normal_url(&to))
}

/// The connection. Firefox and newer versions of Chrome write the port in its place.
fn connection(entry: &Value, url: &str) -> String {
    let [own, standard] = ["_connectionId", "connection"].map(|key| text(&entry[key]));
    let id = if own.is_empty() { standard } else { own };
    let url = Url::parse(url).ok();
    let port = url.as_ref().and_then(Url::port_or_known_default);
    match url.as_ref().and_then(Url::host_str) {
        _ if id == "0" => String::new(),
        Some(host) if port.is_some_and(|it| id == it.to_string()) => format!("{host}:{id}"),
        _ => id,
    }
}

/// The initiator from Chrome's object, or from the URL alone.
fn initiator(entry: &Value, object: &Value) -> (Initiator, Vec<String>) {
    let mut urls = initiator_urls(object);
    let named = entry["_initiator"].as_str().filter(|it| !it.is_empty());
    if let Some(url) = named
        && urls.is_empty()
    {
        urls.push(normal_url(url));
    }
    let name = object["type"].as_str().or_else(|| entry["_initiator_type"].as_str());
    (Initiator::of_type(name).unwrap_or_default(), urls)
}

/// sitespeed.io and `WebPageTest` count lines from 1.
fn place(entry: &Value) -> Option<(u64, u64)> {
    number(&entry["_initiator_line"])?;
    let line = whole(&entry["_initiator_line"]).checked_sub(1)?;
    Some((line, whole(&entry["_initiator_column"])))
}

/// `2016-07-08T09:10:11.123+02:00`, or milliseconds since 1970, as milliseconds since the last day of 1999. A date without a zone
/// counts as UTC.
fn milliseconds(date: &Value) -> Option<f64> {
    if let Some(since_1970_ms) = date.as_f64() {
        return Some(since_1970_ms - EPOCH_MS);
    }
    let date = date.as_str()?.trim();
    let at = match date.parse::<Timestamp>() {
        Ok(at) => Offset::UTC.to_datetime(at),
        Err(_) => without_zone(date)?,
    };
    Some(at.duration_since(datetime(1999, 12, 31, 0, 0, 0, 0)).as_secs_f64() * 1000.0)
}

fn without_zone(date: &str) -> Option<DateTime> {
    let time = date.find(['T', ' '])? + 1;
    let after = date[time..].find(|it: char| !it.is_ascii_digit() && !matches!(it, ':' | '.'));
    let end = after.map_or(date.len(), |end| time + end);
    date[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

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
    fn what_another_frame_asked_for_than_the_first_request_is_of_a_subframe() {
        for key in ["_frameId", "_frame_id"] {
            let entry = |frame: &str, second: u32| {
                format!(r#"{{"{key}":"{frame}","startedDateTime":"2026-01-05T10:00:0{second}Z"}}"#)
            };
            let entries =
                [entry("AD", 2), entry("TOP", 1), entry("TOP", 3), entry("", 4)].join(",");
            let capture = read_har(format!(r#"{{"log":{{"entries":[{entries}]}}}}"#).as_bytes());
            let fetches = capture.unwrap().loads[0].fetches.clone();
            let marked: Vec<bool> = fetches.iter().map(|it| it.in_subframe).collect();
            assert_eq!(marked, [true, false, false, false], "{key}");
        }
    }

    #[test]
    fn a_revalidated_body_is_as_large_as_firefox_states_and_not_as_a_head() {
        let entry = |body: i64| {
            format!(
                r#"{{"response":{{"status":304,"bodySize":{body},"headersSize":386,"content":{{"size":23866}}}}}}"#
            )
        };
        let entries = [entry(5509), entry(380), entry(-1), entry(30_000)].join(",");
        let capture = read_har(format!(r#"{{"log":{{"entries":[{entries}]}}}}"#).as_bytes());
        let fetches = capture.unwrap().loads[0].fetches.clone();
        let bytes: Vec<(u64, Size)> = fetches.iter().map(|it| (it.bytes, it.size)).collect();
        let decoded = (23_866, Size::Decoded);
        assert_eq!(bytes, [(5509, Size::Recorded), decoded, decoded, decoded]);
    }

    #[test]
    fn each_page_of_a_file_is_a_load() {
        let entry = |page: &str, bytes: u64| {
            format!(r#"{{"pageref":"{page}","response":{{"bodySize":{bytes}}}}}"#)
        };
        let entries = [entry("a", 10), entry("b", 200), entry("a", 5)].join(",");
        let capture = read_har(format!(r#"{{"log":{{"entries":[{entries}]}}}}"#).as_bytes());
        let bytes = |it: &Load| it.fetches.iter().map(|it| it.bytes).sum();
        let bytes: Vec<u64> = capture.unwrap().loads.iter().map(bytes).collect();
        assert_eq!(bytes, [15, 200]);
    }

    #[test]
    fn what_is_no_har_is_refused_without_the_names_of_types() {
        let cause = |text: &str| read_har(text.as_bytes()).unwrap_err();
        assert_eq!(
            cause(r#"{"log":null}"#),
            "null, where an object with keys is expected at line 1 column 11"
        );
        assert_eq!(cause("[]"), "a list, where an object with keys is expected at line 1 column 2");
    }
}
