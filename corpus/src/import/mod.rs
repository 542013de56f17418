//! Recordings of page loads, made into pages.
//!
//! No recording holds all that a page states. What an importer had to assume, it says in its notes.

pub mod devtools;
pub mod har;
pub mod network_log;
pub mod package_page;

use crate::check::{Problem, check};
use crate::page::{Event, Page, PageKind, PageResource, Script, Source, SourceKind};
use flate2::read::GzDecoder;
use ring::digest::{SHA256, digest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use thiserror::Error;

/// Largest recording, in bytes, as a file and when decompressed.
pub const RECORDING_BYTES_MAX: u64 = 256 << 20;

/// A page and what was assumed to make it.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The page; it passes [`check`].
    pub page: Page,
    /// What the recording does not say and the importer assumed, a sentence each.
    pub notes: Vec<String>,
}

/// What a recording cannot say of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The page's name.
    pub name: String,
    /// What the recording is of.
    pub from: String,
    /// The licence of the recording or of what it is of.
    pub licence: String,
    /// SHA-256 of the recording, in hex.
    pub sha256: Option<String>,
}

/// Why a recording is not a page. One line each.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{file}: {cause}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The file is too large.
    #[error("{file}: holds more than {RECORDING_BYTES_MAX} bytes; cut the recording")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// It is not a recording.
    #[error("{0}")]
    Format(String),
    /// The recording made a page that is wrong.
    #[error("the recording does not make a page: {0}")]
    Wrong(Problem),
}

/// Imports the recording of a file: HAR, a `DevTools` network log, or a package page, also gzipped.
/// `label` is made from the file's name and contents where it is `None`.
pub fn import(path: &Path, label: Option<Label>) -> Result<Imported, ImportError> {
    let file = path.display().to_string();
    let bytes = bytes_of(path, &file)?;
    let sha256 = Some(sha256_hex(&bytes));
    let text = text_of(bytes, &file)?;
    let label = match label {
        Some(label) => Label { sha256: label.sha256.or(sha256), ..label },
        None => Label {
            name: name_of(path),
            from: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            licence: "unknown".to_owned(),
            sha256,
        },
    };
    import_text(&text, label).map_err(|error| match error {
        ImportError::Format(cause) => ImportError::Format(format!("{file}: {cause}")),
        error => error,
    })
}

/// Imports the recording in `text`, telling its format by its outermost keys.
pub fn import_text(text: &str, label: Label) -> Result<Imported, ImportError> {
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) => match lines_of(text) {
            Some(lines) => Value::Array(lines),
            None => return Err(ImportError::Format(format!("is not JSON: {error}"))),
        },
    };
    if value.get("log").is_some() {
        har::har(&value, label)
    } else if value.get("res").is_some() {
        package_page::package_page(value, label)
    } else if value.is_array() {
        devtools::devtools(&value, label)
    } else {
        let cause = "is neither HAR (key `log`) nor a DevTools log (a list of {method, params}) \
                     nor a package page (key `res`)";
        Err(ImportError::Format(cause.to_owned()))
    }
}

/// A log with one JSON object on each line.
fn lines_of(text: &str) -> Option<Vec<Value>> {
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| serde_json::from_str(it.trim_end_matches(',')).ok()).collect()
}

fn bytes_of(path: &Path, file: &str) -> Result<Vec<u8>, ImportError> {
    let fail = |cause| ImportError::Read { file: file.to_owned(), cause };
    let mut bytes = Vec::new();
    let reader = File::open(path).map_err(fail)?;
    reader.take(RECORDING_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    within_limit(bytes, file)
}

fn text_of(bytes: Vec<u8>, file: &str) -> Result<String, ImportError> {
    let fail = |cause| ImportError::Read { file: file.to_owned(), cause };
    let plain = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let reader = GzDecoder::new(bytes.as_slice()).take(RECORDING_BYTES_MAX + 1);
        { reader }.read_to_end(&mut plain).map_err(fail)?;
        within_limit(plain, file)?
    } else {
        bytes
    };
    String::from_utf8(plain).map_err(|_| ImportError::Format(format!("{file}: is not UTF-8")))
}

fn within_limit(bytes: Vec<u8>, file: &str) -> Result<Vec<u8>, ImportError> {
    if bytes.len() as u64 > RECORDING_BYTES_MAX {
        return Err(ImportError::TooLarge { file: file.to_owned() });
    }
    Ok(bytes)
}

/// SHA-256 of `bytes`, in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The file's name up to its first extension, as a page name.
fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = file.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".har");
    let name: String = stem
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || it == '.' { it } else { '-' })
        .collect();
    if name.is_empty() { "page".to_owned() } else { name }
}

impl Label {
    fn into_source(self, kind: SourceKind) -> (String, Source) {
        let source = Source {
            kind,
            from: self.from,
            licence: self.licence,
            sha256: self.sha256,
            recording: None,
        };
        (self.name, source)
    }
}

/// A MIME type by which servers and schemes know the kind that the browser used the resource as;
/// recordings hold empty and generic ones.
fn mime_for(mime: &str, used_as: &str, url: &str) -> String {
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let generic =
        matches!(essence.as_str(), "" | "application/octet-stream" | "x-unknown" | "text/plain");
    if !generic {
        return essence;
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let extension = path.rsplit_once('.').map_or("", |(_, it)| it);
    match (used_as, extension) {
        ("Document", _) => "text/html",
        ("Stylesheet", _) | (_, "css") => "text/css",
        ("Script", _) | (_, "js") => "text/javascript",
        (_, "woff") => "font/woff",
        ("Font", _) | (_, "woff2") => "font/woff2",
        ("Image", "svg") => "image/svg+xml",
        ("Image", _) => "image/png",
        ("Media", _) => "video/mp4",
        _ if essence.is_empty() => "application/octet-stream",
        _ => &essence,
    }
    .to_owned()
}

/// Chrome's name of a priority as the urgency that it sends for it (measured over HTTP/3).
fn urgency_of(priority: &str) -> Option<u8> {
    match priority {
        "VeryHigh" | "Highest" => Some(0),
        "High" => Some(1),
        "Medium" => Some(2),
        "Low" => Some(3),
        "VeryLow" | "Lowest" => Some(4),
        _ => None,
    }
}

/// Derives what follows from the rest of the page, and checks it.
fn finish(mut page: Page, notes: Vec<String>) -> Result<Imported, ImportError> {
    set_eval_order(&mut page.resources);
    set_after_first_image(&mut page.resources);
    match check(&page).into_iter().next() {
        Some(problem) => Err(ImportError::Wrong(problem)),
        None => Ok(Imported { page, notes }),
    }
}

/// What the parser meets is evaluated in its order, a script after the stylesheets before it;
/// deferred scripts come last.
fn set_eval_order(resources: &mut [PageResource]) {
    let mut order: Vec<(bool, u64, usize)> = Vec::new();
    for it in resources.iter() {
        let deferred = matches!(it.script, Some(Script::Defer | Script::Module));
        let in_order = it.critical && matches!(it.kind, PageKind::Css | PageKind::Js) || deferred;
        if in_order && it.trigger.on == Event::Bytes && it.trigger.of == 0 {
            order.push((deferred, it.trigger.byte.unwrap_or(0), it.id));
        }
    }
    order.sort_unstable();
    for (place, (_, _, id)) in (0..).zip(order) {
        resources[id].eval_order = Some(place);
    }
}

/// What the document refers to behind its first image, and what such resources refer to.
fn set_after_first_image(resources: &mut [PageResource]) {
    let place = |it: &PageResource| it.trigger.byte.filter(|_| it.trigger.of == 0);
    let images = resources.iter().filter(|it| it.kind == PageKind::Image);
    let Some(first) = images.filter_map(place).min() else { return };
    for id in 1..resources.len() {
        let it = &resources[id];
        let behind = match place(it) {
            Some(byte) => byte > first,
            None => it.trigger.of < id && resources[it.trigger.of].after_first_image,
        };
        resources[id].after_first_image = behind;
    }
}

/// A resource of which nothing is known but what every resource has.
fn plain_resource(id: usize, url: String, mime: String, bytes: u64) -> PageResource {
    let kind = PageKind::from(schedulers::Kind::of_mime(&mime));
    let on = if id == 0 { Event::Nav } else { Event::Complete };
    PageResource {
        id,
        url,
        origin: 0,
        kind,
        mime,
        status: 200,
        bytes,
        decoded_bytes: None,
        wait_ms: 0.0,
        chunks: Vec::new(),
        script: None,
        in_head: false,
        preload: false,
        lazy: false,
        fetchpriority: None,
        after_first_image: false,
        main: id == 0,
        critical: id == 0,
        above_fold: id == 0,
        hero: false,
        eval_order: None,
        exec_ms: 0.0,
        vary: None,
        etag: None,
        browser: None,
        trigger: crate::page::Trigger { on, of: 0, byte: None, needs: Vec::new(), delay_ms: 0.0 },
    }
}

/// Keeps the first fetch of each URL. Returns where each request of the recording went.
fn merge_fetches<'a>(keys: impl Iterator<Item = &'a str>) -> (Vec<usize>, usize) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut repeated = 0;
    let targets = keys.map(|key| {
        let next = first.len();
        let target = *first.entry(key).or_insert(next);
        repeated += usize::from(target != next);
        target
    });
    (targets.collect(), repeated)
}
