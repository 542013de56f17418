//! The adapter to Firefox: starts it, loads pages, and returns its reports of their requests.

mod requests;
mod session;

use crate::browser::{REPORT, Trouble, VIEWPORT, Visited, failed};
use crate::error::RecordError;
use crate::installed::Kind;
use crate::limits::{START_MAX, STEP, WINDOW_OPENS};
use requests::fetches;
use serde_json::{Value, json};
use session::Session;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A running Firefox.
pub struct Firefox {
    process: Process,
    session: Session,
    /// Its profile, deleted when this is dropped.
    _profile: TempDir,
}

/// A process that is ended when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Firefox {
    /// Starts the browser. It accepts any certificate, speaks HTTP/3 from the first request on, and can reach only `host`, which
    /// leads to the port on this machine.
    pub fn start(host: &str, port: u16) -> Result<Self, RecordError> {
        let program = Kind::Firefox.tried_program()?;
        let profile = tempfile::tempdir().map_err(failed)?;
        fs::write(profile.path().join("user.js"), preferences(host, port)).map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["--headless", "--no-remote", "--remote-debugging-port=0", "--profile"]);
        command.arg(profile.path()).env("HOME", profile.path());
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process(silent.spawn().map_err(failed)?);
        let session = session(&mut process, profile.path()).map_err(failed)?;
        Ok(Self { process, session, _profile: profile })
    }

    /// Loads a page in a window that shares no state with earlier ones, until its load event has fired and nothing has been in
    /// progress for `silence`.
    pub fn visit(&mut self, url: &str, silence: Duration) -> Result<Visited, RecordError> {
        let visited = visit(&mut self.session, url, silence);
        visited.map_err(|error| match self.process.0.try_wait() {
            Ok(Some(status)) => failed(format!("it has ended: {status}")),
            _ => failed(error),
        })
    }
}

/// The settings of a profile: only the host is reachable, and Firefox makes no requests of its own.
fn preferences(host: &str, port: u16) -> String {
    // All other hosts lead to a port without a listener.
    const NOBODY: u16 = 9;
    let preferences = json!({
        "network.dns.localDomains": host,
        "network.dns.disableIPv6": true,
        "network.trr.mode": 5,
        "network.dns.upgrade_with_https_rr": false,
        "network.http.http3.alt-svc-mapping-for-testing": format!("{host};h3=:{port}"),
        "network.http.http3.force-use-alt-svc-mapping-for-testing": true,
        // Our certificate is nobody's.
        "network.http.http3.disable_when_third_party_roots_found": false,
        "network.proxy.type": 1,
        "network.proxy.http": "127.0.0.1",
        "network.proxy.http_port": NOBODY,
        "network.proxy.ssl": "127.0.0.1",
        "network.proxy.ssl_port": NOBODY,
        "network.proxy.no_proxies_on": host,
        "network.http.speculative-parallel-limit": 0,
        "network.captive-portal-service.enabled": false,
        "network.connectivity-service.enabled": false,
        "app.update.enabled": false,
        "datareporting.policy.dataSubmissionEnabled": false,
        "browser.chrome.site_icons": false,
        "privacy.reduceTimerPrecision": false,
    });
    let mut text = String::new();
    for (name, value) in preferences.as_object().into_iter().flatten() {
        // Writing to a string cannot fail.
        writeln!(text, "user_pref({}, {value});", Value::from(name.as_str())).ok();
    }
    text
}

/// Waits until the browser has written its port into its profile.
fn session(process: &mut Process, profile: &Path) -> Result<Session, Trouble> {
    let said = profile.join("WebDriverBiDiServer.json");
    let mut waited = Duration::ZERO;
    while waited < START_MAX {
        if let Some(status) = process.0.try_wait()? {
            return Err(format!("it has ended: {status}").into());
        }
        let server = fs::read(&said).ok().and_then(|it| serde_json::from_slice(&it).ok());
        let port = server.and_then(|it: Value| u16::try_from(it["ws_port"].as_u64()?).ok());
        if let Some(port) = port {
            return Session::begin(port);
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
    Err(format!("it did not start within {} s", START_MAX.as_secs()).into())
}

fn visit(session: &mut Session, url: &str, silence: Duration) -> Result<Visited, Trouble> {
    let context = session.call("browser.createUserContext", &json!({}))?["userContext"].take();
    let visited = visit_in(session, &context, url, silence);
    session.call("browser.removeUserContext", &json!({"userContext": context}))?;
    visited
}

fn visit_in(
    session: &mut Session,
    context: &Value,
    url: &str,
    silence: Duration,
) -> Result<Visited, Trouble> {
    let window = json!({"type": "tab", "userContext": context});
    let window = session.call("browsingContext.create", &window)?["context"].take();
    let [width, height] = VIEWPORT;
    let viewport = json!({"context": window, "viewport": {"width": width, "height": height}});
    session.call("browsingContext.setViewport", &viewport)?;
    std::thread::sleep(WINDOW_OPENS);
    session.forget();
    let navigation = json!({"context": window, "url": url, "wait": "none"});
    session.call("browsingContext.navigate", &navigation)?;
    // The requests show a load that does not end before the deadline.
    session.listen(silence)?;
    let expression =
        json!({"expression": REPORT, "target": {"context": window}, "awaitPromise": true});
    let report = session.call("script.evaluate", &expression)?;
    let fetches = fetches(session.events());
    let Some(report) = report["result"]["value"].as_str() else {
        return Err(format!("the page cannot be queried: {report}").into());
    };
    Ok(Visited { fetches, report: report.to_owned(), film: Vec::new() })
}
