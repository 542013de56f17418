//! Turns a browser's trace events and its own report into a [`Capture`], without conclusions.

use crate::capture::{Capture, Element, Fetch, ImageBox, Initiator, Work};
use crate::error::RecordError;
use crate::site::Requested;
use captures::text;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The traces of a load.
#[derive(Debug, Clone)]
pub struct Observations<'a> {
    /// `https://host:port`, without a slash.
    pub origin: &'a str,
    /// Path of the document.
    pub path: &'a str,
    /// The trace, as DevTools writes it.
    pub trace: &'a [Value],
    /// The report of `report.js`.
    pub report: &'a str,
    /// The requests that the server saw.
    pub requests: &'a [Requested],
}

/// The report of `report.js`. Times are 0 for events that have not happened.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Report {
    boxes: Vec<ImageBox>,
    elements: Vec<Element>,
    /// The URL and time of the largest painted image or text, if it is an image.
    pub(crate) largest: Option<String>,
    pub(crate) largest_render: Option<f64>,
    pub(crate) request_start: f64,
    pub(crate) first_render: Option<f64>,
    pub(crate) dom_ready: Option<f64>,
    pub(crate) loaded: Option<f64>,
    pub(crate) bodies: Vec<Body>,
    service_worker: bool,
    url: String,
}

/// A resource that the browser has.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Body {
    pub(crate) url: String,
    encoded: u64,
    decoded: u64,
    pub(crate) response_end: f64,
}

impl Report {
    pub(crate) fn read(text: &str) -> Result<Self, RecordError> {
        serde_json::from_str(text)
            .map_err(|error| RecordError::Browser(format!("its report cannot be read: {error}")))
    }
}

/// Reads the traces of a load. Leaves the setting and the document's name empty. Errors name what cannot be recorded: redirects of the
/// document, service workers, a load that never began.
pub fn observe(seen: &Observations) -> Result<Capture, RecordError> {
    let report = Report::read(seen.report)?;
    if report.service_worker {
        let cause = "a service worker answers its requests; record it without (a trace of what a \
                     worker answers says nothing about a server)";
        return Err(RecordError::Page(cause.into()));
    }
    let reader = Reader::new(seen, &report)?;
    let fetches = reader.fetches(&report);
    if fetches.is_empty() {
        return Err(RecordError::Page(format!("{} was never requested", seen.path)));
    }
    let shown = reader.own_path(&report.url);
    if shown.as_deref() != Some(seen.path) || fetches[0].path != seen.path {
        let (path, url) = (seen.path, &report.url);
        return Err(RecordError::Page(format!("{path} led to {url}; record that page itself")));
    }
    Ok(Capture {
        document_arrivals: reader.document_arrivals(),
        work: reader.work(),
        dom_ready_ms: reader.mark("MarkDOMContent"),
        load_ms: reader.mark("MarkLoad"),
        largest_paint: report.largest.as_deref().and_then(|it| reader.own_path(it)),
        boxes: reader.boxes(&report),
        elements: reader.elements(&report),
        other_hosts: reader.other_hosts(),
        fetches,
        ..Capture::default()
    })
}

struct Reader<'a> {
    seen: &'a Observations<'a>,
    events: Vec<&'a Value>,
    /// The time of the document's request, in the trace's microseconds.
    start_us: f64,
    /// (encoded, decoded) body bytes by path, for each fetch that has any.
    bodies: BTreeMap<String, Vec<(u64, u64)>>,
    /// `priority` fields by path.
    priorities: BTreeMap<&'a str, Vec<Option<&'a str>>>,
}

impl<'a> Reader<'a> {
    fn new(seen: &'a Observations<'a>, report: &Report) -> Result<Self, RecordError> {
        let url = format!("{}{}", seen.origin, seen.path);
        let mut starts = seen.trace.iter().filter(|event| event["name"] == "navigationStart");
        let navigation = starts
            .find(|start| start["args"]["data"]["documentLoaderURL"] == url)
            .ok_or_else(|| RecordError::Browser(format!("it never navigated to {url}")))?;
        let (process, frame) = (&navigation["pid"], &navigation["args"]["frame"]);
        let own = seen.trace.iter().filter(|event| {
            let named = &event["args"]["data"]["frame"];
            event["pid"] == *process && (named.is_null() || named == frame)
        });
        let mut events: Vec<&Value> = own.collect();
        events.sort_by(|a, b| time_us(a).total_cmp(&time_us(b)));
        let mut reader = Self {
            seen,
            events,
            start_us: time_us(navigation) + report.request_start * 1000.0,
            bodies: BTreeMap::new(),
            priorities: BTreeMap::new(),
        };
        for body in &report.bodies {
            if let Some(path) = reader.own_path(&body.url) {
                reader.bodies.entry(path).or_default().push((body.encoded, body.decoded));
            }
        }
        for it in seen.requests {
            reader.priorities.entry(&it.path).or_default().push(it.priority.as_deref());
        }
        Ok(reader)
    }

    fn ms(&self, time_us: f64) -> f64 {
        rounded((time_us - self.start_us) / 1000.0)
    }

    /// The path of a URL of the page's own host, without its fragment.
    fn own_path(&self, url: &str) -> Option<String> {
        let path = url.strip_prefix(self.seen.origin)?;
        let path = path.split('#').next().unwrap_or_default();
        path.starts_with('/').then(|| path.to_owned())
    }

    fn own_path_in(&self, url: &Value) -> Option<String> {
        self.own_path(url.as_str()?)
    }

    fn named(&self, name: &'static str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().copied().filter(move |it| it["name"] == name)
    }

    fn by_request(&self, name: &'static str) -> BTreeMap<&'a str, &'a Value> {
        self.named(name)
            .filter_map(|it| Some((it["args"]["data"]["requestId"].as_str()?, it)))
            .collect()
    }

    fn fetches(&self, report: &Report) -> Vec<Fetch> {
        let responses = self.by_request("ResourceReceiveResponse");
        let finishes = self.by_request("ResourceFinish");
        let icons = self.icons(report);
        let mut seen_of_path: BTreeMap<String, usize> = BTreeMap::new();
        let mut fetches = Vec::new();
        for event in self.named("ResourceSendRequest") {
            let data = &event["args"]["data"];
            let id = data["requestId"].as_str().unwrap_or_default();
            let Some(path) = self.own_path_in(&data["url"]) else { continue };
            let Some(finish) = finishes.get(id) else { continue };
            let response = responses.get(id).map(|it| &it["args"]["data"]);
            let cached = response.is_some_and(|it| it["fromCache"] == true);
            if cached || icons.contains(&path) {
                continue;
            }
            let number = seen_of_path.entry(path.clone()).or_default();
            fetches.push(self.fetch(event, &path, *number, response, finish));
            *number += 1;
        }
        fetches
    }

    /// The paths that browsers request as the page's icon.
    fn icons(&self, report: &Report) -> Vec<String> {
        let icons =
            report.elements.iter().filter(|it| it.tag == "link" && it.mode.contains("icon"));
        let mut paths: Vec<String> = icons.filter_map(|it| self.own_path(&it.path)).collect();
        paths.push("/favicon.ico".to_owned());
        paths
    }

    fn fetch(
        &self,
        event: &Value,
        path: &str,
        number: usize,
        response: Option<&Value>,
        finish: &Value,
    ) -> Fetch {
        let data = &event["args"]["data"];
        let document = data["resourceType"] == "Document";
        let finish_data = &finish["args"]["data"];
        let finished_us =
            finish_data["finishTime"].as_f64().map_or_else(|| time_us(finish), |it| it * 1e6);
        let priorities = self.priorities.get(path);
        let priority = priorities.and_then(|it| it.get(number).or(it.last()).copied()).flatten();
        let bodies = self.bodies.get(path);
        let body = bodies.and_then(|it| it.get(number).or(it.last()).copied());
        let (bytes, decoded_bytes) = body.unwrap_or_else(|| {
            let bytes = finish_data["decodedBodyLength"].as_u64().unwrap_or(0);
            (bytes, bytes)
        });
        Fetch {
            path: path.to_owned(),
            used_as: text(&data["resourceType"]),
            mime: response.map(|it| text(&it["mimeType"])).unwrap_or_default(),
            status: response
                .and_then(|it| it["statusCode"].as_u64())
                .and_then(|it| u16::try_from(it).ok())
                .filter(|&it| it >= 200),
            protocol: response.map(|it| text(&it["protocol"])).unwrap_or_default(),
            bytes,
            decoded_bytes,
            discovered_ms: if document { 0.0 } else { self.ms(time_us(event)) },
            finished_ms: self.ms(finished_us),
            render_blocking: data["renderBlocking"].as_str().map(str::to_owned),
            preload: data["isLinkPreload"] == true,
            priority: priority.map(str::to_owned),
            initiator: self.initiator(&data["initiator"], &data["stackTrace"]),
        }
    }

    fn initiator(&self, value: &Value, trace: &Value) -> Initiator {
        let place = value["lineNumber"].as_u64().zip(value["columnNumber"].as_u64());
        let mut stack: Vec<String> = Vec::new();
        for frames in [trace, &value["stackTrace"], &value["stack"]["callFrames"]] {
            let frames = frames.as_array().map(Vec::as_slice).unwrap_or_default();
            stack.extend(frames.iter().filter_map(|frame| self.own_path_in(&frame["url"])));
        }
        stack.dedup();
        Initiator {
            kind: text(&value["type"]),
            fetched_by: value["fetchType"].as_str().map(str::to_owned),
            path: self.own_path_in(&value["url"]),
            place,
            stack,
        }
    }

    fn document_arrivals(&self) -> Vec<(f64, u64)> {
        let document = self
            .named("ResourceSendRequest")
            .find(|it| it["args"]["data"]["resourceType"] == "Document");
        let id = document.map(|it| &it["args"]["data"]["requestId"]);
        let mut bytes = 0;
        self.named("ResourceReceivedData")
            .filter(|it| Some(&it["args"]["data"]["requestId"]) == id)
            .map(|event| {
                bytes += event["args"]["data"]["encodedDataLength"].as_u64().unwrap_or(0);
                (self.ms(time_us(event)), bytes)
            })
            .collect()
    }

    fn work(&self) -> Vec<Work> {
        let works = self.events.iter().filter_map(|event| {
            let data = &event["args"]["data"];
            let url = match event["name"].as_str()? {
                "EvaluateScript" => &data["url"],
                "ParseAuthorStyleSheet" => &data["styleSheetUrl"],
                "v8.evaluateModule" => &event["args"]["fileName"],
                _ => return None,
            };
            Some(Work {
                path: self.own_path_in(url)?,
                begin_ms: self.ms(time_us(event)),
                duration_ms: rounded(event["dur"].as_f64().unwrap_or(0.0) / 1000.0),
            })
        });
        works.collect()
    }

    fn mark(&self, name: &'static str) -> Option<f64> {
        let at = self.named(name).find(|event| {
            let data = &event["args"]["data"];
            let mut starts = self.named("navigationStart").map(|start| &start["args"]["frame"]);
            data["isOutermostMainFrame"] == true && starts.any(|frame| *frame == data["frame"])
        })?;
        Some(self.ms(time_us(at))).filter(|&it| it >= 0.0)
    }

    fn boxes(&self, report: &Report) -> Vec<ImageBox> {
        let mut boxes: BTreeMap<String, ImageBox> = BTreeMap::new();
        for it in &report.boxes {
            let Some(path) = self.own_path(&it.path) else { continue };
            let seen = ImageBox { path: path.clone(), ..it.clone() };
            let kept = boxes.entry(path).or_insert_with(|| seen.clone());
            if (!seen.background, seen.share) > (!kept.background, kept.share) {
                *kept = seen;
            }
        }
        for kept in boxes.values_mut() {
            kept.share = (kept.share * 1e4).round() / 1e4;
        }
        boxes.into_values().collect()
    }

    fn elements(&self, report: &Report) -> Vec<Element> {
        let own = report.elements.iter().filter_map(|element| {
            Some(Element { path: self.own_path(&element.path)?, ..element.clone() })
        });
        own.collect()
    }

    fn other_hosts(&self) -> Vec<String> {
        let urls = self
            .named("ResourceSendRequest")
            .filter_map(|it| it["args"]["data"]["url"].as_str())
            .filter(|it| it.starts_with("http") && self.own_path(it).is_none());
        let hosts: BTreeSet<&str> = urls.filter_map(|it| it.split('/').nth(2)).collect();
        hosts.into_iter().map(str::to_owned).collect()
    }
}

fn time_us(event: &Value) -> f64 {
    event["ts"].as_f64().unwrap_or(0.0)
}

/// Rounds to a tenth of a millisecond, which is finer than repeated loads agree.
fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
