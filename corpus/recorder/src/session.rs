//! Recording: our server, a browser, and one load after another.

use crate::browser::{Chromium, Load, Quiet, Trouble, VIEWPORT};
use crate::capture::Capture;
use crate::error::{RecordError, refused};
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::observe::{Observations, observe};
use crate::setting::Setting;
use crate::site::RecordedSite;
use gateway::site::RuledSite;
use schedulers::find_scheme;
use server::event_loop::{EventLoop, Stop};
use server::site::{Request, Response, Site};
use server::{Identity, Options, Server, SignalUse};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// After this long without a request, a page counts as finished.
const SILENCE: Duration = Duration::from_millis(700);
/// The port that the browser sees, so that links that name the host also lead to the server.
const HTTPS_PORT: u16 = 443;
/// Large enough that a page on this machine waits only for its delays.
const INITIAL_WINDOW_PACKETS: usize = 1000;

/// A server on this machine, in a thread of its own.
pub struct LocalServer {
    /// Its port, or the port of a relay in front of it.
    pub port: u16,
    /// The pin of its certificate's public key.
    pub pin: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl LocalServer {
    /// Serves `site` on a free port and obeys clients' RFC 9218 signals.
    pub fn start(site: Arc<dyn Site>) -> Result<Self, RecordError> {
        Self::start_with(RuledSite::of(site), |options| {
            options.initial_window_packets = INITIAL_WINDOW_PACKETS;
        })
    }

    /// The same with the server's own initial congestion window, after `change` has adapted the options.
    pub fn start_with(
        site: RuledSite,
        change: impl FnOnce(&mut Options),
    ) -> Result<Self, RecordError> {
        Self::serve(site, change).map_err(|error| RecordError::Server(error.to_string()))
    }

    fn serve(site: RuledSite, change: impl FnOnce(&mut Options)) -> Result<Self, Trouble> {
        let identity = Identity::self_signed()?;
        let pin = identity.public_key_pin()?;
        let mut event_loop = EventLoop::bind(([127, 0, 0, 1], 0).into())?;
        let address = event_loop.local_addr()?;
        let mut options = Options {
            alt_svc_port: Some(HTTPS_PORT),
            signals: SignalUse::Obey,
            ..Options::new(find_scheme("rfc9218")?)
        };
        options.limits.drain = Duration::ZERO;
        change(&mut options);
        let mut server = Server::new(address, &identity, site, options)?;
        let stop = event_loop.stopper();
        let thread = std::thread::spawn(move || {
            // Unfinished loads report its errors.
            event_loop.run(&mut server).ok();
        });
        Ok(Self { port: address.port(), pin, stop, thread: Some(thread) })
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// The page to record, and the loads.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The host name of the site in the browser.
    pub host: String,
    /// The document's path on the site, with a slash.
    pub entry: String,
    /// The settings, each with its own delays.
    pub settings: Vec<Setting>,
    /// Loads under each setting.
    pub loads: usize,
    /// Whether to take a picture.
    pub screenshot: bool,
}

/// The captures of all loads, and a picture.
#[derive(Debug)]
pub struct Recording {
    /// In the plan's order: the loads of the first setting first.
    pub captures: Vec<Capture>,
    /// PNG.
    pub screenshot: Option<Vec<u8>>,
}

/// Loads the page of a site as planned. `progress` receives each load, and returns whether to go on.
pub fn record(
    files: Arc<dyn Site>,
    plan: &Plan,
    progress: &dyn Fn(&str) -> bool,
) -> Result<Recording, RecordError> {
    let document = document(files.as_ref(), plan)?;
    let first = plan.settings.first().cloned();
    let first = first.ok_or_else(|| RecordError::Source("no setting to record under".into()))?;
    let site = Arc::new(RecordedSite::new(files, first));
    let server = LocalServer::start(Arc::clone(&site) as Arc<dyn Site>)?;
    let chromium = Chromium::start(&plan.host, server.port, &server.pin)?;
    let origin = format!("https://{}", plan.host);
    let url = format!("{origin}{}", plan.entry);
    let mut recording = Recording { captures: Vec::new(), screenshot: None };
    // The first load warms up: the browser compiles parts of itself, and the site compresses its bodies.
    load(&chromium, &site, &url, &plan.settings[0], false)?;
    for number in 0..plan.loads {
        for setting in &plan.settings {
            if !progress(&format!("load {} of {}: {}", number + 1, plan.loads, setting.name)) {
                return Err(RecordError::Stopped);
            }
            let picture = plan.screenshot && recording.screenshot.is_none();
            let load = load(&chromium, &site, &url, setting, picture)?;
            recording.screenshot = recording.screenshot.or(load.screenshot);
            let observed = observe(&Observations {
                origin: &origin,
                path: &plan.entry,
                trace: &load.trace,
                report: &load.report,
                requests: &site.requests(),
            });
            recording.captures.push(Capture {
                setting: setting.name.clone(),
                browser: chromium.version().to_owned(),
                viewport: VIEWPORT,
                document: document.clone(),
                ..observed?
            });
        }
    }
    Ok(recording)
}

fn load(
    chromium: &Chromium,
    site: &RecordedSite,
    url: &str,
    setting: &Setting,
    screenshot: bool,
) -> Result<Load, RecordError> {
    site.set(setting.clone());
    let quiet = Quiet {
        requests: &|| site.request_count(),
        waiting: &|| false,
        after: SILENCE + Duration::from_millis(setting.delay_max_ms()),
    };
    let load = chromium.load(url, &quiet, screenshot)?;
    if load.finished { Ok(load) } else { Err(RecordError::never_silent("it")) }
}

fn document(files: &dyn Site, plan: &Plan) -> Result<String, RecordError> {
    let text = document_text(&files.respond(&Request::get(&plan.host, &plan.entry)));
    text.map_err(|cause| refused(&plan.entry, &cause))
}

fn document_text(response: &Response) -> Result<String, String> {
    if response.status != 200 {
        return Err("no such file on the site; name the document with --entry".to_owned());
    }
    let bytes = response.body.bytes();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(format!("holds {bytes} bytes; a document may hold {DOCUMENT_BYTES_MAX}"));
    }
    let mut text = vec![0; usize::try_from(bytes).unwrap_or_default()];
    response.body.read_at(0, &mut text).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
