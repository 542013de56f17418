//! W3C Resource Timing: the JSON of `performance.getEntries()`, which any page's console can print.

use super::derive::{extension, mime_for, typical_bytes};
use super::network_log::{PageLoad, page_of};
use super::{ImportError, Imported, Recording, refuse};
use captures::{Fetch, Load, each_entry, normal_url, text, whole, within_limit};
use schedulers::Kind;
use serde_json::Value;

pub(super) fn resource_timing(recording: Recording<'_>) -> Result<Imported, ImportError> {
    let mut entries = Entries::default();
    each_entry(recording.text.as_bytes(), |entry| entries.take(entry))
        .map_err(|error| ImportError::Format(format!("is not a list of entries: {error}")))?;
    let Entries { document, load_ms, mut fetches, hidden } = entries;
    let Some(document) = document else {
        return refuse("holds no entry of type `navigation`; export performance.getEntries()");
    };
    for fetch in &mut fetches {
        fetch.initiator_urls.push(document.clone());
    }
    let mut notes =
        vec!["the entries name no initiators: their kinds decide what asked for them".to_owned()];
    if hidden > 0 {
        notes.push(format!(
            "{hidden} responses of other origins hide their size (no Timing-Allow-Origin field): they \
             get the typical size of their kind"
        ));
    }
    let load = Load { fetches, load_ms, address: None };
    page_of(PageLoad { load, notes, ..PageLoad::default() }, recording.label)
}

#[derive(Default)]
struct Entries {
    document: Option<String>,
    load_ms: Option<f64>,
    fetches: Vec<Fetch>,
    /// Responses of undisclosed size.
    hidden: usize,
}

impl Entries {
    fn take(&mut self, entry: &Value) -> Result<(), String> {
        let is_document = entry["entryType"] == "navigation";
        if !is_document && entry["entryType"] != "resource" {
            return Ok(());
        }
        let mut fetch = fetch(entry);
        if is_document {
            self.document = Some(fetch.url.clone());
            self.load_ms = entry["loadEventStart"].as_f64().filter(|&it| it > 0.0);
        }
        if fetch.bytes == 0 {
            self.hidden += 1;
            let mime = mime_for(&fetch.mime, &fetch.used_as, &fetch.url);
            fetch.bytes = typical_bytes(Kind::of_mime(&mime));
            fetch.decoded_bytes = fetch.bytes;
        }
        self.fetches.push(fetch);
        within_limit(self.fetches.len())
    }
}

fn fetch(entry: &Value) -> Fetch {
    let url = normal_url(&text(&entry["name"]));
    let by = entry["initiatorType"].as_str().unwrap_or_default();
    let status = u16::try_from(whole(&entry["responseStatus"])).unwrap_or(0);
    Fetch {
        used_as: used_as(by, &url).to_owned(),
        url,
        method: "GET".to_owned(),
        requested_ms: entry["startTime"].as_f64().unwrap_or(f64::NAN),
        finished_ms: entry["responseEnd"].as_f64().filter(|&it| it > 0.0),
        mime: mime(entry, by),
        // Other origins hide it.
        status: if status == 0 { 200 } else { status },
        bytes: whole(&entry["encodedBodySize"]),
        // Other origins hide all sizes.
        from_cache: entry["transferSize"] == 0 && whole(&entry["encodedBodySize"]) > 0,
        protocol: text(&entry["nextHopProtocol"]),
        decoded_bytes: whole(&entry["decodedBodySize"]),
        blocking: entry["renderBlockingStatus"].as_str().map(|it| it == "blocking"),
        in_subframe: matches!(by, "iframe" | "frame"),
        ..Fetch::default()
    }
}

/// The MIME type. Older browsers do not state it; scripts usually fetch data.
fn mime(entry: &Value, by: &str) -> String {
    match (entry["contentType"].as_str(), by) {
        (Some(mime), _) if !mime.is_empty() => mime.to_owned(),
        (_, "xmlhttprequest" | "fetch" | "beacon") => "application/json".to_owned(),
        _ => String::new(),
    }
}

/// The `DevTools` term for the use of a resource. A `link` or `url()` does not state it, but the name
/// may.
fn used_as(by: &str, url: &str) -> &'static str {
    match (by, extension(url)) {
        ("navigation" | "iframe" | "frame", _) => "Document",
        ("script", _) | ("link", "js" | "mjs" | "cjs") => "Script",
        ("link" | "css", "woff" | "woff2" | "ttf" | "otf") => "Font",
        ("link", "png" | "jpg" | "jpeg" | "webp" | "avif" | "gif" | "svg") => "Image",
        ("link", _) | ("css", "css") => "Stylesheet",
        ("img" | "image" | "input" | "css", _) => "Image",
        ("video" | "audio" | "track", _) => "Media",
        ("xmlhttprequest", _) => "XHR",
        ("fetch" | "beacon", _) => "Fetch",
        _ => "Other",
    }
}
