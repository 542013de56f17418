//! The adapter to Chromium: starts it, loads pages, and returns DevTools' observations.

mod mirroring;
mod net_errors;
mod visiting;

pub use mirroring::Trust;
pub use visiting::Visited;

use crate::error::RecordError;
use crate::installed::Kind;
use crate::limits::{LOAD_MAX, STEP, TRACE_BYTES_MAX, TRACE_MAX, WINDOW_OPENS};
use headless_chrome::browser::context::Context;
use headless_chrome::browser::tab::Tab;
use headless_chrome::protocol::cdp::Browser::SetDownloadBehavior;
use headless_chrome::protocol::cdp::types::{Event, Method};
use headless_chrome::protocol::cdp::{Emulation, IO, Page, Tracing};
use headless_chrome::{Browser, LaunchOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Size of the window, in CSS pixels.
pub const VIEWPORT: [u32; 2] = [1366, 768];
const CATEGORIES: [&str; 5] = [
    "devtools.timeline",
    "disabled-by-default-devtools.timeline.stack",
    "loading",
    "blink.user_timing",
    "v8",
];
pub(crate) type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// The script that reports what the page shows, and when.
pub(crate) const REPORT: &str = include_str!("report.js");

/// A running Chromium.
pub struct Chromium {
    browser: Browser,
    version: String,
}

/// The results of a load.
#[derive(Debug)]
pub struct Load {
    /// The trace events.
    pub trace: Vec<Value>,
    /// The report of `report.js`.
    pub report: String,
    /// A picture of the window, as PNG.
    pub screenshot: Option<Vec<u8>>,
    /// Whether the load event fired and requests ended before the deadline.
    pub finished: bool,
}

/// Decides when a load is over.
pub struct Quiet<'a> {
    /// Requests so far.
    pub requests: &'a dyn Fn() -> usize,
    /// Whether some of them are unanswered.
    pub waiting: &'a dyn Fn() -> bool,
    /// The silence after the last request.
    pub after: Duration,
}

impl Chromium {
    /// Starts the browser. It accepts the certificate whose public key has this pin, speaks only HTTP/3, and can reach
    /// only `host`, which leads to the port on this machine.
    pub fn start(host: &str, port: u16, pin: &str) -> Result<Self, RecordError> {
        let pin = format!("--ignore-certificate-errors-spki-list={pin}");
        let rules = format!(
            "--host-resolver-rules=MAP {host} 127.0.0.1:{port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, \
             EXCLUDE localhost"
        );
        // It reaches only this machine, and must run in containers and as root.
        Self::with(false, &["--enable-quic", "--origin-to-force-quic-on=*", &pin, &rules])
    }

    fn with(sandbox: bool, arguments: &[&str]) -> Result<Self, RecordError> {
        let path = Kind::Chromium.tried_program()?;
        let arguments = ["--disable-field-trial-config"].iter().chain(arguments);
        let browser = Browser::new(LaunchOptions {
            path: Some(path),
            sandbox,
            ignore_certificate_errors: false,
            window_size: Some((VIEWPORT[0], VIEWPORT[1])),
            idle_browser_timeout: Duration::from_secs(120),
            args: arguments.map(OsStr::new).collect(),
            ..LaunchOptions::default()
        });
        let browser = browser.map_err(failed)?;
        let version = browser.get_version().map_err(failed)?.product.replace('/', " ");
        Ok(Self { browser, version })
    }

    /// Its name and version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Loads a page in a window that shares no state with earlier ones.
    pub fn load(&self, url: &str, quiet: &Quiet, screenshot: bool) -> Result<Load, RecordError> {
        self.in_new_window(|tab| load(tab, url, quiet, screenshot))
    }

    /// Loads a page in the same way but without tracing, which takes time, and returns the report of `report.js`.
    pub fn report(&self, url: &str, quiet: &Quiet) -> Result<String, RecordError> {
        self.in_new_window(|tab| report_of(tab, url, quiet))
    }

    /// The same, while the user downloads a file from another page of the site on the same connection.
    pub fn report_beside(
        &self,
        download: &Download,
        url: &str,
        quiet: &Quiet,
    ) -> Result<String, RecordError> {
        self.in_new_windows(|context| {
            let other = context.new_tab()?;
            call::<SetDownloadBehavior>(
                &other,
                json!({"behavior": "allow", "browserContextId": context.get_id(), "downloadPath": download.folder}),
            )?;
            // The navigation to a download answers late or never.
            call::<Page::Navigate>(&other, json!({"url": download.url})).ok();
            std::thread::sleep(download.head_start);
            report_of(&*new_tab(context)?, url, quiet)
        })
    }

    fn in_new_window<T>(
        &self,
        act: impl FnOnce(&Tab) -> Result<T, Trouble>,
    ) -> Result<T, RecordError> {
        self.in_new_windows(|context| act(&*new_tab(context)?))
    }

    /// Closes the windows that `act` opens.
    fn in_new_windows<T>(
        &self,
        act: impl FnOnce(&Context) -> Result<T, Trouble>,
    ) -> Result<T, RecordError> {
        let context = self.browser.new_context().map_err(failed)?;
        let done = act(&context);
        for tab in context.get_tabs().unwrap_or_default() {
            tab.close_target().ok();
        }
        done.map_err(failed)
    }
}

/// A file that a user downloads.
pub struct Download<'a> {
    /// Its address.
    pub url: &'a str,
    /// The folder for it.
    pub folder: &'a Path,
    /// How long it has been running when the page is requested.
    pub head_start: Duration,
}

/// A window that is ready for use. A new one still starts processes, which would compete with a load.
fn new_tab(context: &Context) -> Result<Arc<Tab>, Trouble> {
    let tab = context.new_tab()?;
    std::thread::sleep(WINDOW_OPENS);
    Ok(tab)
}

fn report_of(tab: &Tab, url: &str, quiet: &Quiet) -> Result<String, Trouble> {
    set_viewport(tab)?;
    let (loaded, _) = listen(tab)?;
    call::<Page::Navigate>(tab, json!({"url": url}))?;
    wait(quiet, &loaded);
    evaluated(tab, REPORT)
}

pub(crate) fn failed(error: impl std::fmt::Display) -> RecordError {
    RecordError::Browser(error.to_string().replace('\n', " "))
}

fn load(tab: &Tab, url: &str, quiet: &Quiet, screenshot: bool) -> Result<Load, Trouble> {
    set_viewport(tab)?;
    let (loaded, trace_streams) = listen(tab)?;
    start_trace(tab, &CATEGORIES)?;
    call::<Page::Navigate>(tab, json!({"url": url}))?;
    let finished = wait(quiet, &loaded);
    let report = evaluated(tab, REPORT)?;
    let trace = end_trace(tab, &trace_streams)?;
    let picture = screenshot.then(|| {
        tab.capture_screenshot(Page::CaptureScreenshotFormatOption::Png, None, None, true)
    });
    Ok(Load { trace, report, screenshot: picture.transpose()?, finished })
}

/// The string result of an expression in the page, once available; empty for other results.
fn evaluated(tab: &Tab, expression: &str) -> Result<String, Trouble> {
    let value = tab.evaluate(expression, true)?.value;
    Ok(value.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default())
}

fn call<M>(tab: &Tab, parameters: Value) -> Result<M::ReturnObject, Trouble>
where
    M: Method + Debug + Serialize + DeserializeOwned,
{
    Ok(tab.call_method(serde_json::from_value::<M>(parameters)?)?)
}

fn set_viewport(tab: &Tab) -> Result<(), Trouble> {
    let [width, height] = VIEWPORT;
    let screen =
        json!({"width": width, "height": height, "deviceScaleFactor": 1.0, "mobile": false});
    call::<Emulation::SetDeviceMetricsOverride>(tab, screen)?;
    Ok(())
}

type Streams = Receiver<Option<String>>;

fn listen(tab: &Tab) -> Result<(Arc<AtomicBool>, Streams), Trouble> {
    let loaded = Arc::new(AtomicBool::new(false));
    let (sender, streams) = channel();
    let loaded_inside = Arc::clone(&loaded);
    tab.add_event_listener(Arc::new(move |event: &Event| match event {
        Event::PageLoadEventFired(_) => loaded_inside.store(true, Ordering::SeqCst),
        Event::TracingComplete(complete) => {
            sender.send(complete.params.stream.clone()).ok();
        }
        _ => {}
    }))?;
    Ok((loaded, streams))
}

/// Waits until the load event has fired and no request was made for a while. Returns whether this happened before the
/// deadline.
fn wait(quiet: &Quiet, loaded: &AtomicBool) -> bool {
    let mut waited = Duration::ZERO;
    let (mut requests, mut calm) = (0, Duration::ZERO);
    while waited < LOAD_MAX {
        std::thread::sleep(STEP);
        waited += STEP;
        let now = (quiet.requests)();
        calm = if now == requests && !(quiet.waiting)() && loaded.load(Ordering::SeqCst) {
            calm + STEP
        } else {
            Duration::ZERO
        };
        requests = now;
        if calm >= quiet.after {
            return true;
        }
    }
    false
}

fn start_trace(tab: &Tab, categories: &[&str]) -> Result<(), Trouble> {
    let categories = json!({"includedCategories": categories, "excludedCategories": ["*"]});
    let trace = json!({"transferMode": "ReturnAsStream", "streamFormat": "json", "traceConfig": categories});
    call::<Tracing::Start>(tab, trace)?;
    Ok(())
}

fn end_trace(tab: &Tab, streams: &Streams) -> Result<Vec<Value>, Trouble> {
    tab.call_method(Tracing::End(None))?;
    let stream = streams.recv_timeout(TRACE_MAX)?.ok_or("the trace was lost")?;
    let mut text = String::new();
    loop {
        let handle = stream.clone();
        let part = tab.call_method(IO::Read { handle, offset: None, size: Some(1 << 20) })?;
        text.push_str(&part.data);
        if part.eof {
            break;
        }
        if text.len() > TRACE_BYTES_MAX {
            return Err("its trace is larger than 512 MiB".into());
        }
    }
    tab.call_method(IO::Close { handle: stream })?;
    let mut trace: Value = serde_json::from_str(&text)?;
    match trace["traceEvents"].take() {
        Value::Array(events) => Ok(events),
        _ => Err("its trace holds no events".into()),
    }
}
