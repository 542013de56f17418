//! `WProfX`, the tool behind the paper's dependencies: a list with an entry `{id, objs}` for each URL, then
//! `Rendering`, `Painting`, `Deps`, `Netlog`, and the critical path (github.com/jnejati/WProfX).
//!
//! Works around two defects of its files. `transferSize` holds only the last chunk of a body, so the total
//! falls short of the bytes that its own `Netlog` counted; the difference is divided among the resources in
//! proportion to their bodies' transfer times. And no edge leads from a stylesheet to a font or image; such
//! edges are inferred.

use super::derive::rounded;
use super::network_log::{PageLoad, page_of};
use super::{ImportError, Imported, Label, Recording, refuse};
use captures::{Fetch, Initiator, Load, Size, each_entry, text, whole, within_limit};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn wprofx(recording: Recording<'_>) -> Result<Imported, ImportError> {
    let mut log = WprofxLog::default();
    each_entry(recording.text.as_bytes(), |entry| log.take(entry))
        .map_err(|error| ImportError::Format(format!("is not a list of events: {error}")))?;
    log.finish(recording.label)
}

#[derive(Debug, Default)]
struct WprofxLog {
    fetches: Vec<Download>,
    /// Main-thread time in milliseconds by URL of the script or stylesheet.
    exec_ms: BTreeMap<String, f64>,
    /// Begin and end of each parsing of a document's text.
    parsing_ms: Vec<(f64, f64)>,
    /// Bytes that arrived on all sockets.
    socket_bytes: u64,
    critical_path: BTreeSet<String>,
}

#[derive(Debug)]
struct Download {
    activity: String,
    body_ms: f64,
    script: Option<String>,
    request: Fetch,
}

impl WprofxLog {
    fn take(&mut self, entry: &Value) -> Result<(), String> {
        match entry["id"].as_str() {
            Some("Netlog") => {
                let counts = ["sockets_bytes_in", "ssl_sockets_bytes_in"];
                self.socket_bytes = counts.iter().map(|&it| whole(&entry[it])).sum();
            }
            Some("Rendering" | "Painting" | "Deps") => {}
            _ => {
                for object in entry["objs"].as_array().into_iter().flatten() {
                    self.take_object(object);
                }
                let path = entry["criticalPath"].as_array().into_iter().flatten();
                self.critical_path.extend(path.filter_map(Value::as_str).map(str::to_owned));
            }
        }
        within_limit(self.fetches.len())
    }

    fn take_object(&mut self, object: &Value) {
        let activity = text(&object["activityId"]);
        let (Some(start_ms), Some(end_ms)) =
            (object["startTime"].as_f64(), object["endTime"].as_f64())
        else {
            return;
        };
        match activity.split('_').next() {
            Some("Networking") => {
                let mut fetch = fetch(object, activity, start_ms, end_ms);
                fetch.request.number = self.fetches.len() + 1;
                self.fetches.push(fetch);
            }
            Some("Scripting") => self.execute(text(&object["url"]), end_ms - start_ms),
            Some("Loading") => match object["styleSheetUrl"].as_str() {
                Some(sheet) => self.execute(sheet.to_owned(), end_ms - start_ms),
                None => self.parsing_ms.push((start_ms, end_ms)),
            },
            _ => {}
        }
    }

    fn execute(&mut self, url: String, ms: f64) {
        *self.exec_ms.entry(url).or_default() += ms.max(0.0);
    }

    fn finish(mut self, label: Label) -> Result<Imported, ImportError> {
        if self.fetches.is_empty() {
            return refuse("holds no object Networking_*; is it a WProfX file?");
        }
        let mut notes = vec![
            "stylesheets' fonts and images: the file has no edges to them; a font that no script asked \
             for waits for the latest stylesheet, an image that was asked for while no document was \
             parsed for all stylesheets"
                .to_owned(),
            "critical: stylesheets and scripts on the recorded critical path, and what blocks by its \
             place before the first image"
                .to_owned(),
            "exec_ms is recorded; decoded sizes are not: they are taken to be those on the wire"
                .to_owned(),
        ];
        notes.push(self.settle_sizes());
        let document = self.fetches[0].request.url.clone();
        let Self { fetches, exec_ms, parsing_ms, critical_path, .. } = self;
        let requests = fetches.into_iter().map(|fetch| {
            let Download { activity, script, mut request, .. } = fetch;
            if request.bytes == 0 {
                request.size = Size::Unknown;
            }
            request.exec_ms = Some(exec_ms.get(&request.url).copied().unwrap_or(0.0));
            if critical_path.contains(&activity) {
                request.blocking = Some(true);
            }
            let at_ms = request.requested_ms;
            let parsed = parsing_ms.iter().any(|&(from, to)| (from..=to).contains(&at_ms));
            let image = request.mime.starts_with("image/");
            (request.initiator, request.initiator_urls) = match script {
                Some(url) => (Initiator::Script, vec![url]),
                // It lacks a place that others have: the parser was elsewhere.
                None if image && !parsed => (Initiator::Parser, vec![document.clone()]),
                None => (Initiator::Unknown, vec![document.clone()]),
            };
            request.outside_text = image && !parsed;
            request
        });
        let load = Load { fetches: requests.collect(), ..Load::default() };
        page_of(PageLoad { load, notes, ..PageLoad::default() }, label)
    }

    /// Distributes the bytes that the sockets received beyond all stated sizes. Returns a note about it.
    fn settle_sizes(&mut self) -> String {
        let sum = self.fetches.iter().map(|it| it.request.bytes).fold(0, u64::saturating_add);
        let missing = self.socket_bytes.saturating_sub(sum);
        let body_ms: f64 = self.fetches.iter().map(|it| it.body_ms).sum();
        if missing == 0 || body_ms <= 0.0 {
            return "sizes: those stated, which hold only the last chunk of each body; the file has no \
                    count of the sockets' bytes to correct them by"
                .to_owned();
        }
        for it in &mut self.fetches {
            let share = missing as f64 * it.body_ms / body_ms;
            it.request.bytes = it.request.bytes.saturating_add(rounded(share));
            it.request.decoded_bytes = it.request.bytes;
        }
        format!(
            "sizes: the stated ones hold only the last chunk of each body ({sum} bytes); the {missing} \
             bytes more that the sockets received are shared in proportion to the time that bodies took"
        )
    }
}

fn fetch(object: &Value, activity: String, start_ms: f64, end_ms: f64) -> Download {
    let bytes = whole(&object["transferSize"]);
    let received_ms = object["responseReceivedTime"].as_f64().unwrap_or(end_ms);
    let script = object["fromScript"].as_str().filter(|it| !it.is_empty() && *it != "Null");
    Download {
        activity,
        body_ms: (end_ms - received_ms).max(0.0),
        script: script.map(str::to_owned),
        request: Fetch {
            url: text(&object["url"]),
            method: "GET".to_owned(),
            requested_ms: start_ms,
            finished_ms: Some(end_ms),
            mime: text(&object["mimeType"]),
            status: u16::try_from(whole(&object["statusCode"])).unwrap_or(0),
            bytes,
            decoded_bytes: bytes,
            ..Fetch::default()
        },
    }
}
