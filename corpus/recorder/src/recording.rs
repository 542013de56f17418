//! From a folder, a package or a URL to a page: records, derives and judges.

use crate::browser::{Chromium, Trust};
use crate::capture::Capture;
use crate::derive::{self, Imported, Label};
use crate::error::{RecordError, refused};
use crate::limits::ERROR_MAX;
use crate::mirror::{self, Mirror};
use crate::package::{self, Package};
use crate::session::{self, Plan};
use crate::setting::Setting;
use crate::site::HOST;
use corpus::Page;
use gateway::site::DirectorySite;
use serde::{Deserialize, Serialize};
use server::site::Site;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

/// The page to record, and how to record it.
#[derive(Debug, Clone)]
pub struct Request {
    /// A folder, a package, or a URL.
    pub source: String,
    /// The document's path on the site; `None`: the path in the package or URL, or `/`.
    pub entry: Option<String>,
    /// How a URL is reached.
    pub trust: Trust,
    /// Number of settings.
    pub settings: usize,
    /// Loads under each setting.
    pub loads: usize,
    /// Whether the page is also loaded under settings that are not used for its derivation, in order to
    /// judge it.
    pub judged: bool,
    /// Whether to take a picture.
    pub screenshot: bool,
}

/// The format of [`Captures`].
pub const CAPTURES_FORMAT: &str = "utmost-captures/1";

fn captures_format() -> String {
    CAPTURES_FORMAT.to_owned()
}

/// The captures of a page: one group to derive its trace from, and one to judge it by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// [`CAPTURES_FORMAT`]. Old captures do not have this field.
    #[serde(default = "captures_format")]
    pub format: String,
    /// The source of the page.
    pub from: String,
    /// SHA-256 of the package.
    pub sha256: Option<String>,
    /// Differences between the recorded page and its original, one sentence each.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// The captures from which the page is derived.
    pub fitted: Vec<Capture>,
    /// The captures by which the page is judged.
    pub unseen: Vec<Capture>,
}

/// Loads the page under all settings. `progress` receives each step, and returns whether to go on. Returns the captures and, on request, a
/// picture (PNG).
pub fn capture(
    request: &Request,
    progress: &dyn Fn(&str) -> bool,
) -> Result<(Captures, Option<Vec<u8>>), RecordError> {
    let source = source(request, progress)?;
    let plan = Plan {
        host: source.host,
        entry: source.entry,
        settings: Setting::fitted(request.settings)
            .into_iter()
            .chain(request.judged.then(Setting::unseen).into_iter().flatten())
            .collect(),
        loads: request.loads,
        screenshot: request.screenshot,
    };
    let recording = session::record(source.site, &plan, progress).map_err(|error| match error {
        RecordError::Source(cause) => refused(&request.source, &cause),
        error => error,
    })?;
    let unseen: Vec<String> = Setting::unseen().into_iter().map(|it| it.name).collect();
    let (unseen, fitted) =
        recording.captures.into_iter().partition(|it| unseen.contains(&it.setting));
    let captures = Captures {
        format: captures_format(),
        from: source.from,
        sha256: source.sha256,
        assumptions: source.assumptions,
        fitted,
        unseen,
    };
    Ok((captures, recording.screenshot))
}

/// The site for the browser, and facts for the page.
struct Served {
    site: Arc<dyn Site>,
    host: String,
    entry: String,
    from: String,
    sha256: Option<String>,
    assumptions: Vec<String>,
}

fn source(request: &Request, progress: &dyn Fn(&str) -> bool) -> Result<Served, RecordError> {
    let folder = Path::new(&request.source);
    if folder.is_dir() {
        let entry = rooted(request.entry.as_deref().unwrap_or_default());
        return Ok(Served { from: "a folder of files".to_owned(), ..files(folder, entry)? });
    }
    if request.source.contains("://") {
        return mirrored(request, progress);
    }
    if !request.source.contains(':') {
        let cause = "no such folder; name a folder, a URL, npm:NAME@VERSION/PATH or deb:NAME/PATH";
        return Err(refused(&request.source, cause));
    }
    let package: Package = request.source.parse()?;
    let fetched = package.fetch(&package::cache())?;
    let entry = rooted(request.entry.as_deref().unwrap_or(&package.entry));
    let from = format!("{} (archive {}), {entry}", request.source, fetched.archive);
    Ok(Served { from, sha256: Some(fetched.sha256), ..files(&fetched.root, entry)? })
}

fn files(root: &Path, entry: String) -> Result<Served, RecordError> {
    let site = DirectorySite::open(root).map_err(|it| RecordError::Source(it.to_string()))?;
    Ok(Served {
        site: Arc::new(site),
        host: HOST.to_owned(),
        entry,
        from: String::new(),
        sha256: None,
        assumptions: Vec::new(),
    })
}

/// The page of a URL, from a mirror: its host answers once, then we do.
fn mirrored(request: &Request, progress: &dyn Fn(&str) -> bool) -> Result<Served, RecordError> {
    if request.entry.is_some() {
        return Err(refused(&request.source, "names the document itself; leave out --entry"));
    }
    mirror::page_url(&request.source)?;
    if !progress("mirroring the page") {
        return Err(RecordError::Stopped);
    }
    let chromium = Chromium::for_mirroring(&request.trust)?;
    let mirror = Mirror::new(&request.source, &chromium.answers(&request.source)?)?;
    // IP addresses cannot be redirected, and this machine's names need no redirection.
    let named = mirror.host.parse::<IpAddr>().is_err()
        && !mirror.host.starts_with('[')
        && mirror.host != "localhost";
    Ok(Served {
        host: if named { mirror.host.clone() } else { HOST.to_owned() },
        entry: mirror.entry.clone(),
        from: "a page of the web, mirrored".to_owned(),
        sha256: None,
        assumptions: mirror.assumptions.clone(),
        site: Arc::new(mirror),
    })
}

fn rooted(entry: &str) -> String {
    format!("/{}", entry.trim_start_matches('/'))
}

impl Captures {
    /// Each load by itself, under all settings, as a separate recording.
    pub fn by_load(&self) -> Vec<Self> {
        let settings: BTreeSet<&str> = self.fitted.iter().map(|it| &*it.setting).collect();
        let loads = self.fitted.chunks_exact(settings.len().max(1));
        loads
            .map(|load| Self { fitted: load.to_vec(), unseen: Vec::new(), ..self.clone() })
            .collect()
    }
}

/// Derives the page and judges it by captures that were not used for the derivation.
pub fn page(captures: &Captures, name: &str, licence: &str) -> Result<Imported, RecordError> {
    let label = Label {
        name: name.to_owned(),
        from: captures.from.clone(),
        licence: licence.to_owned(),
        sha256: captures.sha256.clone(),
        ..Label::default()
    };
    let Imported { mut page, notes } = derive::derive(&captures.fitted, &label)?;
    page.source.assumptions.splice(0..0, captures.assumptions.iter().cloned());
    let unseen = if captures.unseen.is_empty() {
        Vec::new()
    } else {
        derive::judge(&page, &captures.unseen)
    };
    if let Some(recording) = page.source.recording.as_mut().filter(|_| !unseen.is_empty()) {
        recording.unseen_settings = unseen.iter().map(|it| it.setting.clone()).collect();
        recording.unseen_settings.dedup();
        recording.unseen_ms = Some(derive::spread(&unseen));
    }
    Ok(Imported { page, notes })
}

/// Rejects a page that does not predict its own recordings.
pub fn good_enough(page: &Page) -> Result<(), RecordError> {
    let Some(recording) = &page.source.recording else { return Ok(()) };
    let left_out = recording.left_out_ms;
    if left_out.p50 <= ERROR_MAX.p50 && left_out.p90 <= ERROR_MAX.p90 {
        return Ok(());
    }
    Err(RecordError::Unpredictable(left_out))
}
