//! The site that is recorded: its responses are delayed, compressed, and logged.

use crate::limits::COMPRESSED_BYTES_MAX;
use crate::locked;
use crate::setting::Setting;
use flate2::{Compression, write::GzEncoder};
use server::site::fields::{add, kept};
use server::site::{Body, Request, Response, Site};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The host under which pages are recorded; it resolves to this machine.
pub const HOST: &str = "www.page.test";

/// A site whose delays can be changed between loads.
pub struct RecordedSite {
    files: Arc<dyn Site>,
    state: Mutex<State>,
}

struct State {
    setting: Setting,
    requests: Vec<Requested>,
    compressed: BTreeMap<String, Option<Arc<[u8]>>>,
}

/// A request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requested {
    /// Path with query.
    pub path: String,
    /// The `priority` field.
    pub priority: Option<String>,
}

impl RecordedSite {
    /// The answers of `files`, delayed according to `setting`.
    pub fn new(files: Arc<dyn Site>, setting: Setting) -> Self {
        let state = State { setting, requests: Vec::new(), compressed: BTreeMap::new() };
        Self { files, state: Mutex::new(state) }
    }

    /// Begins another load with other delays and an empty request log.
    pub fn set(&self, setting: Setting) {
        let mut state = self.state();
        state.setting = setting;
        state.requests.clear();
    }

    /// The requests of this load.
    pub fn requests(&self) -> Vec<Requested> {
        self.state().requests.clone()
    }

    /// The number of requests in this load.
    pub fn request_count(&self) -> usize {
        self.state().requests.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl Site for RecordedSite {
    fn respond(&self, request: &Request) -> Response {
        // The response does not depend on the browser's codings.
        let fields = kept(&request.fields, |it| !matches!(it, "accept-encoding" | "range"));
        let plain = Request { fields: fields.collect(), ..request.clone() };
        let mut response = self.files.respond(&plain);
        let mut state = self.state();
        let kind = response.resource.kind;
        let delay_ms = state.setting.delay_ms(kind, &request.path);
        state.requests.push(Requested {
            path: request.path.clone(),
            priority: request.list("priority").map(Cow::into_owned),
        });
        if is_text(&response) {
            let compressed = state.compressed.entry(request.path.clone());
            if let Some(bytes) = compressed.or_insert_with(|| compress(&response.body)) {
                response.body = Body::Bytes(Arc::clone(bytes));
                add(&mut response.headers, [("content-encoding", "gzip")]);
            }
        }
        add(&mut response.headers, [("cache-control", "no-cache")]);
        let after = Duration::from_millis(delay_ms);
        response.ready = vec![(after, response.body.bytes())];
        response
    }
}

fn is_text(response: &Response) -> bool {
    let mime = response.fields("content-type").next();
    response.status == 200
        && mime.is_some_and(|mime| {
            ["text/", "javascript", "json", "xml"].iter().any(|it| mime.contains(it))
        })
}

/// The body as gzip, if that is smaller.
fn compress(body: &Body) -> Option<Arc<[u8]>> {
    if body.bytes() > COMPRESSED_BYTES_MAX {
        return None;
    }
    let mut plain = vec![0; usize::try_from(body.bytes()).ok()?];
    body.read_at(0, &mut plain).ok()?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&plain).ok()?;
    let bytes = encoder.finish().ok()?;
    (bytes.len() < plain.len()).then(|| Arc::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway::site::DirectorySite;
    use server::site::fields::fields;

    fn request(path: &str) -> Request {
        let fields = fields([("priority", "u=1, i")]);
        Request { fields, ..Request::get("page.test", path) }
    }

    #[test]
    fn responses_are_compressed_held_back_and_logged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a.css"), "a { color: red }\n".repeat(100))
            .expect("written");
        let setting = Setting::fitted(3).swap_remove(0);
        let files = DirectorySite::open(folder.path()).expect("a folder");
        let site = RecordedSite::new(Arc::new(files), setting);
        let response = site.respond(&request("/a.css"));
        assert_eq!(response.ready, [(Duration::from_millis(600), response.body.bytes())]);
        assert!(response.body.bytes() < 200);
        assert_eq!(response.fields("content-encoding").next(), Some("gzip"));
        assert_eq!(site.respond(&request("/missing.js")).status, 404);
        let requests = site.requests();
        assert_eq!(requests[0].priority.as_deref(), Some("u=1, i"));
        assert_eq!(requests[1].path, "/missing.js");
        site.set(Setting::fitted(3).swap_remove(1));
        assert_eq!(site.request_count(), 0);
    }
}
