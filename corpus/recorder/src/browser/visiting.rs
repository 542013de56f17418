//! Loads a page once, as a user would, and hands back the `DevTools` log of its requests.

use super::{Chromium, STEP, Trouble, call, report, set_viewport};
use crate::error::RecordError;
use crate::limits::{LOAD_MAX, LOG_EVENTS_MAX};
use headless_chrome::browser::tab::Tab;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Network, Page};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A load, and what the browser said of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visited {
    /// Events of `DevTools`' domain Network, as its protocol writes them.
    pub log: Vec<Value>,
    /// The report of `report.js`.
    pub report: String,
}

/// What has happened so far.
#[derive(Default)]
struct Log {
    events: Vec<Value>,
    /// The requests that are under way.
    open: BTreeSet<String>,
    is_loaded: bool,
}

impl Chromium {
    /// Loads a page in a window that shares nothing with earlier ones, until its load event has fired and nothing has been under way
    /// for `silence`. Nothing is traced, because that takes time.
    pub fn visit(&self, url: &str, silence: Duration) -> Result<Visited, RecordError> {
        self.in_new_window(|tab| visit(tab, url, silence))
    }
}

fn visit(tab: &Tab, url: &str, silence: Duration) -> Result<Visited, Trouble> {
    set_viewport(tab)?;
    let log = Arc::new(Mutex::new(Log::default()));
    let inside = Arc::clone(&log);
    tab.add_event_listener(Arc::new(move |event: &Event| locked(&inside).note(event)))?;
    call::<Network::Enable>(tab, json!({}))?;
    call::<Page::Navigate>(tab, json!({"url": url}))?;
    let (mut waited, mut calm, mut events) = (Duration::ZERO, Duration::ZERO, 0);
    while waited < LOAD_MAX && calm < silence {
        std::thread::sleep(STEP);
        waited += STEP;
        let log = locked(&log);
        let is_calm = log.is_loaded && log.open.is_empty() && log.events.len() == events;
        calm = if is_calm { calm + STEP } else { Duration::ZERO };
        events = log.events.len();
    }
    let report = report(tab)?;
    let log = std::mem::take(&mut locked(&log).events);
    Ok(Visited { log, report })
}

fn locked(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    fn note(&mut self, event: &Event) {
        match event {
            Event::NetworkRequestWillBeSent(it) => {
                // Data URLs and the like are asked of nobody.
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
            Event::PageLoadEventFired(it) => {
                self.is_loaded = true;
                self.keep("Page.loadEventFired", &it.params);
            }
            _ => {}
        }
    }

    fn keep(&mut self, method: &str, parameters: &impl Serialize) {
        if self.events.len() < LOG_EVENTS_MAX {
            self.events.push(json!({"method": method, "params": parameters}));
        }
    }
}
