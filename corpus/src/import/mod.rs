//! Imports recordings of page loads as pages.
//!
//! No recording holds everything that a page states. Importers list their assumptions in notes.

mod capture;
pub(crate) mod derive;
mod importers;
mod network_log;
mod package_page;
mod resource_list;
mod resource_timing;
mod wprofx;

pub use importers::{IMPORTERS, Importer};

use crate::check::Problem;
use crate::page::{Page, Source, SourceKind};
use captures::{FILE_BYTES_MAX, json_text};
use flate2::read::MultiGzDecoder;
use ring::digest::{SHA256, digest};
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use thiserror::Error;

/// A page, and the assumptions made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The page; it passes [`check`].
    pub page: Page,
    /// The importer's assumptions, a sentence each.
    pub notes: Vec<String>,
}

/// Facts about a recording that it does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// The page's name.
    pub name: String,
    /// The subject of the recording.
    pub from: String,
    /// The licence of the recording or of the recorded site.
    pub licence: String,
    /// SHA-256 of the recording, in hex.
    pub sha256: Option<String>,
    /// Whether hosts and paths are renamed.
    pub addresses: Addresses,
    /// Which page load of a HAR file or `DevTools` log, from 1; `None`: the one with the most bytes.
    pub load: Option<usize>,
    /// The site to which the page belongs. `None`: derived from the host of its document, if the recording names hosts.
    pub site: Option<String>,
}

/// How assumptions begin on which answers about a page depend.
pub mod said {
    /// Only one of the recording's loads is the page.
    pub const SEVERAL_LOADS: &str = "the recording holds several loads";
    /// Sizes and times are a cache's.
    pub const FROM_CACHE: &str = "most of the page came from a cache";
    /// No server sends by priority over HTTP/1.
    pub const OVER_HTTP1: &str = "the page came over HTTP/1";
    /// Browsers use HTTP/2 and HTTP/3 only over https.
    pub const WITHOUT_HTTPS: &str = "the page came over http://";
}

/// Whether the hosts and paths of a browser's recording (HAR, `DevTools`) are renamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Addresses {
    /// Replaced by stand-ins, so that the page does not reveal its site.
    #[default]
    Renamed,
    /// Kept, so that results for the page apply to the site.
    Kept,
}

/// Why a recording cannot become a page. One line each.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ImportError {
    #[error("{0}: {1}")]
    Read(String, std::io::Error),
    #[error("{0}: holds more than {FILE_BYTES_MAX} bytes; cut the recording")]
    TooLarge(String),
    #[error("{0}")]
    Format(String),
    #[error("the recording does not make a page: {0}")]
    Wrong(Problem),
}

fn refuse<T>(cause: impl Into<String>) -> Result<T, ImportError> {
    Err(ImportError::Format(cause.into()))
}

/// A recording, its label, and access to the files beside it.
struct Recording<'a> {
    text: &'a str,
    label: Label,
    file_size: FileSize<'a>,
}

/// Finds the size of a file by its path in a resource list.
type FileSize<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Imports the recording in a file, plain or gzipped, in any of the formats of [`IMPORTERS`]. `label`: by default derived
/// from the file's name and contents.
pub fn import(path: &Path, label: Option<Label>) -> Result<Imported, ImportError> {
    let file = path.display().to_string();
    let opened = named_files::open(path).map_err(|cause| ImportError::Read(file.clone(), cause))?;
    let bytes = within_limit(opened, &file)?;
    let sha256 = Some(sha256_hex(&bytes));
    let text = json_text(unpacked(bytes, &file)?);
    let label = if let Some(label) = label {
        Label { sha256: label.sha256.or(sha256), ..label }
    } else {
        let from = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Label { from, sha256, ..Label::named(name_of(path)) }
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let file_size = &|path: &str| size_below(folder, path);
    match importers::import_any(Recording { text: &text, label, file_size }) {
        Err(ImportError::Format(cause)) => refuse(format!("{file}: {cause}")),
        imported => imported,
    }
}

/// Imports the recording in `text`, whose contents determine the format.
pub fn import_text(text: &str, label: Label) -> Result<Imported, ImportError> {
    let text = &json_text(text.as_bytes().to_vec());
    importers::import_any(Recording { text, label, file_size: &|_| None })
}

/// The size of a file whose path a resource list in `folder` contains.
fn size_below(folder: &Path, path: &str) -> Option<u64> {
    let path = path.split(['?', '#']).next()?.trim_start_matches('/');
    let safe = !path.is_empty() && path.split('/').all(|part| part != "..");
    let file = std::fs::metadata(folder.join(path)).ok().filter(|_| safe)?;
    Some(file.len()).filter(|_| file.is_file())
}

/// The bytes of a file, unpacked if they are gzipped.
pub fn unpacked(bytes: Vec<u8>, file: &str) -> Result<Vec<u8>, ImportError> {
    let [0x1f, 0x8b, ..] = bytes.as_slice() else { return Ok(bytes) };
    within_limit(MultiGzDecoder::new(&*bytes), file).map_err(|error| match error {
        ImportError::Read(file, cause) => ImportError::Format(format!(
            "{file}: its gzip data breaks off or is damaged ({cause}); copy or make the file again"
        )),
        other => other,
    })
}

fn within_limit(reader: impl Read, file: &str) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    let read = reader.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|cause| ImportError::Read(file.to_owned(), cause))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ImportError::TooLarge(file.to_owned()));
    }
    Ok(bytes)
}

/// The MIME type of a resource at `url`: the response's, unless it is empty or generic.
pub fn mime_of(said: &str, url: &str) -> String {
    derive::mime_for(said, "", url)
}

/// Derives the order of evaluation and the resources after the first image, and checks the page. Stores `notes`, the
/// assumptions, in the page's source.
pub fn completed(page: Page, notes: Vec<String>) -> Result<Page, ImportError> {
    derive::finish(page, notes).map(|it| it.page)
}

/// SHA-256 of `bytes`, in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The page name for a file name: without its extension, and without characters that a page's name must not contain.
pub fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = file.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".har");
    let name: String = stem
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || it == '.' { it } else { '-' })
        .collect();
    if name.is_empty() { "page".to_owned() } else { name }
}

impl Label {
    /// A page of this name, of a recording of which nothing else is known.
    pub fn named(name: String) -> Self {
        let (from, licence) = ("a recording".to_owned(), "unknown".to_owned());
        Self { name, from, licence, ..Self::default() }
    }

    fn into_source(self, kind: SourceKind) -> (String, Source) {
        let source = Source {
            site: self.site,
            sha256: self.sha256,
            ..Source::new(kind, self.from, &self.licence)
        };
        (self.name, source)
    }
}

#[cfg(test)]
mod tests {
    use super::unpacked;

    #[test]
    fn gzip_data_that_breaks_off_is_told_with_what_to_do() {
        let whole = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 75, 4, 0, 67, 190, 183, 232, 1, 0, 0, 0];
        let of = |bytes: &[u8]| unpacked(bytes.to_vec(), "a.gz").map_err(|it| it.to_string());
        assert_eq!(of(&whole), Ok(b"a".to_vec()));
        assert_eq!(of(b"a"), Ok(b"a".to_vec()));
        let cause = of(&whole[..12]).expect_err("cut");
        assert!(cause.starts_with("a.gz: its gzip data breaks off or is damaged ("), "{cause}");
        assert!(cause.ends_with("; copy or make the file again"), "{cause}");
    }
}
