//! Loads a page of the web once and returns every response, for a [`crate::mirror::Mirror`].

use super::net_errors::explained;
use super::{Chromium, Quiet, Trouble, call, listen, set_viewport, wait};
use crate::error::RecordError;
use crate::limits::MIRROR_BYTES_MAX;
use crate::locked;
use crate::mirror::{Answer, same_host};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use headless_chrome::browser::tab::Tab;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Network, Page};
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// After this long without a response, a page counts as finished.
const SILENCE: Duration = Duration::from_millis(1500);

/// How a server of the web is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// The pin of a certificate that no authority has signed, such as a test server's.
    pub pin: Option<String>,
    /// HTTP/3 only: for a server that does not listen on TCP.
    pub http3: bool,
}

#[derive(Default)]
struct Log {
    asked: Vec<Asked>,
    events: usize,
}

struct Asked {
    id: String,
    answer: Answer,
    done: bool,
}

impl Chromium {
    /// Starts a browser that can reach the web. It runs in its sandbox, except as root, where Chromium
    /// has none.
    pub fn for_mirroring(trust: &Trust) -> Result<Self, RecordError> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
        let pin =
            trust.pin.as_ref().map(|it| format!("--ignore-certificate-errors-spki-list={it}"));
        let mut arguments: Vec<&str> = pin.iter().map(String::as_str).collect();
        if trust.http3 {
            arguments.extend(["--enable-quic", "--origin-to-force-quic-on=*"]);
        }
        Self::with(!root, &arguments)
    }

    /// All requests of a page load, in order, with their results; only the page's own host has bodies.
    pub fn answers(&self, url: &str) -> Result<Vec<Answer>, RecordError> {
        let answers = self.in_new_window(|tab| answers(tab, url))?;
        answers.ok_or_else(|| RecordError::never_silent(&format!("{url}:")))
    }
}

/// `None`: it did not finish before the deadline.
fn answers(tab: &Tab, url: &str) -> Result<Option<Vec<Answer>>, Trouble> {
    set_viewport(tab)?;
    let log = Arc::new(Mutex::new(Log::default()));
    let (loaded, _) = listen(tab)?;
    let inside = Arc::clone(&log);
    tab.add_event_listener(Arc::new(move |event: &Event| locked(&inside).note(event)))?;
    let most = MIRROR_BYTES_MAX;
    let buffers = json!({"maxTotalBufferSize": most, "maxResourceBufferSize": most});
    call::<Network::Enable>(tab, buffers)?;
    let error = call::<Page::Navigate>(tab, json!({"url": url}))?.error_text;
    if let Some(error) = error {
        let log = locked(&log);
        let answers: Vec<Answer> = log.asked.iter().map(|it| it.answer.clone()).collect();
        // A browser does not accept every answer as a page; the mirror explains the reason better.
        let answered = answers.iter().any(|it| it.status.is_some());
        let failed = || format!("{url}: {}", explained(&error)).into();
        return if answered { Ok(Some(answers)) } else { Err(failed()) };
    }
    let quiet = Quiet {
        requests: &|| locked(&log).events,
        waiting: &|| locked(&log).asked.iter().any(|it| !it.done),
        after: SILENCE,
    };
    if !wait(&quiet, &loaded) {
        return Ok(None);
    }
    let mut asked = std::mem::take(&mut locked(&log).asked);
    for Asked { id, answer, .. } in &mut asked {
        if same_host(&answer.url, url)
            && answer.redirect.is_none()
            && let Some((body, is_text)) = body(tab, id)
        {
            answer.mime.push_str(if is_text { "; charset=utf-8" } else { "" });
            answer.body = Some(body);
        }
    }
    Ok(Some(asked.into_iter().map(|it| it.answer).collect()))
}

impl Log {
    fn note(&mut self, event: &Event) {
        match event {
            Event::NetworkRequestWillBeSent(it) => {
                let it = &it.params;
                if let Some(response) = &it.redirect_response {
                    self.answered(&it.request_id, response);
                    self.done(&it.request_id);
                    if let Some(last) = self.last(&it.request_id) {
                        last.answer.redirect = Some(it.request.url.clone());
                    }
                }
                self.ask(it.request_id.clone(), &it.request);
            }
            Event::NetworkResponseReceived(it) => {
                self.answered(&it.params.request_id, &it.params.response);
            }
            Event::NetworkLoadingFinished(it) => self.done(&it.params.request_id),
            Event::NetworkLoadingFailed(it) => self.done(&it.params.request_id),
            Event::NetworkDataReceived(_) => {}
            _ => return,
        }
        self.events += 1;
    }

    fn ask(&mut self, id: String, request: &Network::Request) {
        // Data URLs and the like are not sent to a server.
        if !request.url.starts_with("http") {
            return;
        }
        let (url, method) = (request.url.clone(), request.method.clone());
        let answer = Answer { url, method, ..Answer::default() };
        self.asked.push(Asked { id, answer, done: false });
    }

    fn last(&mut self, id: &str) -> Option<&mut Asked> {
        self.asked.iter_mut().rev().find(|it| it.id == id)
    }

    fn answered(&mut self, id: &str, response: &Network::Response) {
        let Some(asked) = self.last(id) else { return };
        asked.answer.status = u16::try_from(response.status).ok();
        asked.answer.mime.clone_from(&response.mime_type);
        asked.answer.from_worker = response.from_service_worker == Some(true);
    }

    fn done(&mut self, id: &str) {
        if let Some(asked) = self.last(id) {
            asked.done = true;
        }
    }
}

/// The decoded body of a response, and whether it is text (in UTF-8); `None` if the browser kept no
/// body.
fn body(tab: &Tab, id: &str) -> Option<(Vec<u8>, bool)> {
    let got = tab.call_method(Network::GetResponseBody { request_id: id.to_owned() }).ok()?;
    if got.base_64_encoded {
        Some((STANDARD.decode(got.body).ok()?, false))
    } else {
        Some((got.body.into_bytes(), true))
    }
}
