//! Loads a page once, as a user would, and returns its requests from the `DevTools` log.

use super::{
    Chromium, Quiet, REPORT, Trouble, call, end_trace, evaluated, listen, set_viewport,
    start_trace, wait,
};
use crate::error::RecordError;
use crate::limits::{LOG_EVENTS_MAX, PICTURES_MAX};
use crate::locked;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use captures::{Fetch, read_devtools};
use headless_chrome::browser::tab::Tab;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Network, Page};
use lab::browsing::FilmFrame;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A load, with the browser's observations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visited {
    /// The requests, in order.
    pub fetches: Vec<Fetch>,
    /// The report of `report.js`.
    pub report: String,
    /// Pictures of the window, with times on the requests' clock; empty if none were taken.
    pub film: Vec<FilmFrame>,
}

#[derive(Default)]
struct Log {
    events: Vec<Value>,
    open: BTreeSet<String>,
}

impl Chromium {
    /// Loads a page in a window that shares no state with earlier ones, until its load event has fired and nothing has been in
    /// progress for `silence`. Does not trace, because that takes time.
    pub fn visit(&self, url: &str, silence: Duration) -> Result<Visited, RecordError> {
        self.in_new_window(|tab| visit(tab, url, silence))
    }

    /// The same with pictures of the window.
    pub fn filmed_visit(&self, url: &str, silence: Duration) -> Result<Visited, RecordError> {
        let mut visited = self.in_new_window(|tab| {
            let (_, streams) = listen(tab)?;
            start_trace(tab, &[PICTURES])?;
            let visited = visit(tab, url, silence)?;
            let film = pictures(&end_trace(tab, &streams)?);
            Ok(Visited { film, ..visited })
        })?;
        let progress = self.in_new_window(|tab| visual_progress(tab, &visited.film))?;
        for (picture, completeness) in visited.film.iter_mut().zip(progress) {
            picture.completeness = completeness;
        }
        Ok(visited)
    }
}

/// The category of pictures in a trace.
const PICTURES: &str = "disabled-by-default-devtools.screenshot";
const PROGRESS: &str = include_str!("progress.js");

fn pictures(trace: &[Value]) -> Vec<FilmFrame> {
    let mut all: Vec<FilmFrame> = trace.iter().filter_map(picture).take(PICTURES_MAX).collect();
    all.sort_by(|one, other| one.time_ms.total_cmp(&other.time_ms));
    all
}

fn picture(event: &Value) -> Option<FilmFrame> {
    let jpeg = STANDARD.decode(event["args"]["snapshot"].as_str()?).unwrap_or_default();
    let time_ms = event["ts"].as_f64()? / 1000.0;
    Some(FilmFrame { time_ms, completeness: 0.0, jpeg })
}

/// The browser decodes its pictures itself.
fn visual_progress(tab: &Tab, film: &[FilmFrame]) -> Result<Vec<f64>, Trouble> {
    let pictures: Vec<String> = film.iter().map(|it| STANDARD.encode(&it.jpeg)).collect();
    let pictures = serde_json::to_string(&pictures)?;
    let progress = evaluated(tab, &format!("({PROGRESS})({pictures})"))?;
    Ok(serde_json::from_str(&progress)?)
}

fn visit(tab: &Tab, url: &str, silence: Duration) -> Result<Visited, Trouble> {
    set_viewport(tab)?;
    let (loaded, _) = listen(tab)?;
    let log = Arc::new(Mutex::new(Log::default()));
    let inside = Arc::clone(&log);
    tab.add_event_listener(Arc::new(move |event: &Event| locked(&inside).note(event)))?;
    call::<Network::Enable>(tab, json!({}))?;
    call::<Page::Navigate>(tab, json!({"url": url}))?;
    let quiet = Quiet {
        requests: &|| locked(&log).events.len(),
        waiting: &|| !locked(&log).open.is_empty(),
        after: silence,
    };
    // The log shows a load that does not end before the deadline.
    wait(&quiet, &loaded);
    let report = evaluated(tab, REPORT)?;
    let log = std::mem::take(&mut locked(&log).events);
    let mut capture = read_devtools(Value::from(log).to_string().as_bytes())?;
    let fetches = capture.loads.iter_mut().flat_map(|it| std::mem::take(&mut it.fetches)).collect();
    Ok(Visited { fetches, report, film: Vec::new() })
}

impl Log {
    fn note(&mut self, event: &Event) {
        match event {
            Event::NetworkRequestWillBeSent(it) => {
                // Data URLs and the like are not sent to a server.
                if !it.params.request.url.starts_with("http") {
                    return;
                }
                self.open.insert(it.params.request_id.clone());
                self.keep("Network.requestWillBeSent", &it.params);
            }
            Event::NetworkResponseReceived(it) => self.keep("Network.responseReceived", &it.params),
            Event::NetworkDataReceived(it) => self.keep("Network.dataReceived", &it.params),
            Event::NetworkLoadingFinished(it) => {
                self.open.remove(&it.params.request_id);
                self.keep("Network.loadingFinished", &it.params);
            }
            Event::NetworkLoadingFailed(it) => {
                self.open.remove(&it.params.request_id);
                self.keep("Network.loadingFailed", &it.params);
            }
            Event::PageLoadEventFired(it) => self.keep("Page.loadEventFired", &it.params),
            _ => {}
        }
    }

    fn keep(&mut self, method: &str, parameters: &impl Serialize) {
        if self.events.len() < LOG_EVENTS_MAX {
            self.events.push(json!({"method": method, "params": parameters}));
        }
    }
}
