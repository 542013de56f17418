//! From a folder or a package to a page: record, derive, judge.

use crate::capture::Capture;
use crate::derive::{self, Derived, Label, Miss};
use crate::error::RecordError;
use crate::package::{self, Package};
use crate::session::{self, Plan};
use crate::setting::Setting;
use corpus::Page;
use corpus::page::Spread;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Largest median and 90th percentile of the errors with which a page may be kept, in milliseconds.
pub const ERROR_MAX: Spread = Spread { p50: 50.0, p90: 150.0, max: f64::INFINITY };

/// What is to be recorded, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// A folder, or a package.
    pub source: String,
    /// The document's path on the site; none: what the package says, or `/`.
    pub entry: Option<String>,
    /// The page's name.
    pub name: String,
    /// Its licence.
    pub licence: String,
    /// How many settings.
    pub settings: usize,
    /// Loads under each setting.
    pub loads: usize,
    /// Take a picture.
    pub screenshot: bool,
}

/// The captures of a page: those that its trace is derived from, and those that it is judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// What they are of.
    pub from: String,
    /// SHA-256 of the package.
    pub sha256: Option<String>,
    /// Derived from.
    pub fitted: Vec<Capture>,
    /// Judged by.
    pub unseen: Vec<Capture>,
}

/// A page and how good it is.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The page.
    pub page: Page,
    /// What was left out or assumed.
    pub notes: Vec<String>,
    /// Errors under the settings that it was not derived from.
    pub unseen: Vec<Miss>,
}

/// Loads the page under all settings. Gives the captures and, if asked for, a picture (PNG).
pub fn capture(
    request: &Request,
    progress: &dyn Fn(&str),
) -> Result<(Captures, Option<Vec<u8>>), RecordError> {
    let site = site(request)?;
    let plan = Plan {
        entry: site.entry,
        settings: Setting::fitted(request.settings).into_iter().chain(Setting::unseen()).collect(),
        loads: request.loads,
        screenshot: request.screenshot,
    };
    let recording = session::record(&site.root, &plan, progress)?;
    let unseen: Vec<String> = Setting::unseen().into_iter().map(|it| it.name).collect();
    let (unseen, fitted) =
        recording.captures.into_iter().partition(|it| unseen.contains(&it.setting));
    let captures = Captures { from: site.from, sha256: site.sha256, fitted, unseen };
    Ok((captures, recording.screenshot))
}

struct Site {
    root: PathBuf,
    entry: String,
    from: String,
    sha256: Option<String>,
}

fn site(request: &Request) -> Result<Site, RecordError> {
    let folder = Path::new(&request.source);
    if folder.is_dir() {
        let entry = request.entry.clone().unwrap_or_else(|| "/".to_owned());
        let from = format!("the folder {}", folder.display());
        return Ok(Site { root: folder.to_owned(), entry: rooted(&entry), from, sha256: None });
    }
    if request.source.starts_with("http://") || request.source.starts_with("https://") {
        return Err(RecordError::Source(format!(
            "{}: a page is recorded from its files, so that their delays can be chosen; mirror it \
             first (wget --page-requisites --convert-links) and name the folder",
            request.source
        )));
    }
    if !request.source.contains(':') {
        return Err(RecordError::Source(format!(
            "{}: no such folder; name a folder, npm:NAME@VERSION/PATH or deb:NAME/PATH",
            request.source
        )));
    }
    let package: Package = request.source.parse()?;
    let fetched = package.fetch(&package::cache())?;
    let entry = rooted(request.entry.as_deref().unwrap_or(&package.entry));
    let from = format!("{} (archive {}), {entry}", request.source, fetched.archive);
    Ok(Site { root: fetched.root, entry, from, sha256: Some(fetched.sha256) })
}

fn rooted(entry: &str) -> String {
    format!("/{}", entry.trim_start_matches('/'))
}

/// Derives the page and judges it by the captures that it was not derived from.
pub fn page(captures: &Captures, name: &str, licence: &str) -> Result<Judged, RecordError> {
    let label = Label {
        name: name.to_owned(),
        from: captures.from.clone(),
        licence: licence.to_owned(),
        sha256: captures.sha256.clone(),
    };
    let Derived { mut page, notes } = derive::derive(&captures.fitted, &label)?;
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
    Ok(Judged { page, notes, unseen })
}

/// Refuses a page that does not predict its own recordings.
pub fn good_enough(page: &Page) -> Result<(), RecordError> {
    let Some(recording) = &page.source.recording else { return Ok(()) };
    let Spread { p50, p90, .. } = recording.left_out_ms;
    if p50 <= ERROR_MAX.p50 && p90 <= ERROR_MAX.p90 {
        return Ok(());
    }
    Err(RecordError::Unpredictable {
        p50_ms: p50,
        p90_ms: p90,
        p50_max_ms: ERROR_MAX.p50,
        p90_max_ms: ERROR_MAX.p90,
    })
}
