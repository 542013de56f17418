//! The frequently requested files of a directory: checked once a second, opened once, shared by all
//! responses.

use super::codings::Coding;
use super::types;
use crate::limits::{FILE_IS_FRESH, KEPT_FILE_BYTES};
use hyper::header::HeaderValue;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use schedulers::Kind;
use server::FileLimits;
use server::http_date::http_date;
use server::site::contents::{Budget, Contents, Version};
use server::site::fields::value;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The number of files that the cache is sized for; it accepts more.
const FILES_EXPECTED: usize = 1024;

type Files = Cache<String, Arc<HotFile>, Weight>;

/// A cache from request paths to files below a directory.
pub(super) struct HotFiles {
    root: PathBuf,
    files: Mutex<Files>,
    budget: Arc<Budget>,
}

#[derive(Debug, Clone)]
pub(super) struct HotFile {
    pub(super) contents: Arc<Contents>,
    pub(super) version: Version,
    pub(super) tag: HeaderValue,
    /// `last-modified`.
    pub(super) changed: HeaderValue,
    pub(super) mime: HeaderValue,
    pub(super) kind: Kind,
    /// The codings of files beside it that are not older.
    pub(super) coded: Vec<Coding>,
    /// Its place, with symbolic links resolved.
    place: PathBuf,
    /// When it was last checked; `None` if unknown.
    checked: Option<Instant>,
}

impl HotFile {
    fn is_fresh(&self, now: Option<Instant>) -> bool {
        let age = now.zip(self.checked).map(|(now, at)| now.saturating_duration_since(at));
        age.is_some_and(|it| it < FILE_IS_FRESH)
    }
}

impl HotFiles {
    /// The files below `root`, a directory without symbolic links in its path.
    pub(super) fn new(root: PathBuf, limits: FileLimits) -> Self {
        // Kept files take at most half of the descriptors.
        let descriptor = (limits.kept_bytes / (limits.descriptors as u64 / 2).max(1)).max(1);
        let files = Cache::with_weighter(FILES_EXPECTED, limits.kept_bytes, Weight { descriptor });
        let budget = Arc::new(Budget::new(limits));
        Self { root, files: Mutex::new(files), budget }
    }

    /// The file at `path`, which begins with `/`, if it lies below the root after resolving symbolic links.
    pub(super) fn find(&self, path: &str, now: Option<Instant>) -> io::Result<Arc<HotFile>> {
        let kept = self.kept(path);
        if let Some(file) = kept.as_ref().filter(|it| it.is_fresh(now)) {
            return Ok(Arc::clone(file));
        }
        let found = self.look(path, kept, now);
        match &found {
            Ok(file) => self.keep(path, file),
            Err(_) => drop(self.files.lock().remove(path)),
        }
        found
    }

    /// Checks the file system: returns the kept file if it is unchanged, otherwise the present one.
    fn look(
        &self,
        path: &str,
        kept: Option<Arc<HotFile>>,
        now: Option<Instant>,
    ) -> io::Result<Arc<HotFile>> {
        let place = self.root.join(path.trim_start_matches('/')).canonicalize()?;
        let own_path = place.strip_prefix(&self.root).map_err(|_| ErrorKind::NotFound)?;
        // A link must not reveal a file that its own name would hide.
        if own_path.iter().any(is_hidden) {
            return Err(ErrorKind::NotFound.into());
        }
        let own_path = own_path.to_str().map(|it| format!("/{it}")).filter(|it| it != path);
        // Other paths may lead to the same file; they share it.
        let same = own_path.as_ref().and_then(|it| self.kept(it));
        let version = Version::of(&std::fs::metadata(&place)?);
        let mut kept = kept.into_iter().chain(same);
        let file = match kept.find(|it| it.version == version && it.place == place) {
            Some(kept) => {
                HotFile { checked: now, coded: coded(&place, &version), ..HotFile::clone(&kept) }
            }
            None => self.open(place, now)?,
        };
        let file = Arc::new(file);
        if let Some(own_path) = own_path {
            self.keep(&own_path, &file);
        }
        Ok(file)
    }

    fn kept(&self, path: &str) -> Option<Arc<HotFile>> {
        self.files.lock().get(path).cloned()
    }

    fn keep(&self, path: &str, file: &Arc<HotFile>) {
        self.files.lock().insert(path.to_owned(), Arc::clone(file));
    }

    fn open(&self, place: PathBuf, now: Option<Instant>) -> io::Result<HotFile> {
        let (contents, version) = self.budget.open(&place)?;
        let (mime, kind) = mime(&place, &contents, version.bytes);
        Ok(HotFile {
            tag: value(version.etag(&contents)),
            changed: value(http_date(version.changed())),
            contents: Arc::new(contents),
            version,
            mime: value(mime),
            kind,
            coded: coded(&place, &version),
            place,
            checked: now,
        })
    }
}

/// Whether a name in a path is hidden: it begins with a dot (`.git`, `.env`), and is not the one of RFC 8615.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") && name != ".well-known"
}

/// The type of a file. If a text's beginning is UTF-8, the type states it.
fn mime(file: &Path, contents: &Contents, bytes: u64) -> (String, Kind) {
    let mime = types::of(file).unwrap_or("application/octet-stream");
    let kind = Kind::of_mime(mime);
    let mut begin = vec![0; usize::try_from(bytes).map_or(TEXT_BYTES, |it| it.min(TEXT_BYTES))];
    let says_charset = types::is_text(mime)
        && contents.read_at(0, &mut begin).is_ok()
        && std::str::from_utf8(&begin).map_or_else(|it| it.error_len().is_none(), |_| true);
    let charset = if says_charset { "; charset=utf-8" } else { "" };
    (format!("{mime}{charset}"), kind)
}

/// Bytes of a text that are examined.
const TEXT_BYTES: usize = 64 << 10;

/// The codings of files beside this one that are not older, such as `a.css.br` beside `a.css`.
fn coded(place: &Path, version: &Version) -> Vec<Coding> {
    let is_there = |coding: &Coding| {
        let mut beside = place.as_os_str().to_owned();
        beside.push(coding.ending());
        let found = std::fs::metadata(beside).ok().filter(Metadata::is_file);
        found.is_some_and(|it| !version.is_newer_than(&Version::of(&it)))
    };
    Coding::ALL.into_iter().filter(is_there).collect()
}

/// The cost of a kept file, in bytes of memory.
#[derive(Clone)]
struct Weight {
    /// The cost of an open file.
    descriptor: u64,
}

impl Weighter<String, Arc<HotFile>> for Weight {
    fn weight(&self, path: &String, file: &Arc<HotFile>) -> u64 {
        let bytes = |contents: u64| contents + path.len() as u64 + KEPT_FILE_BYTES;
        file.contents.memory_bytes().map_or(self.descriptor, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Duration;
    use tempfile::TempDir;

    const LARGE: usize = 300 << 10;

    fn limits() -> FileLimits {
        FileLimits { descriptors: 8, ..FileLimits::default() }
    }

    fn folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("a path").join("root");
        fs::create_dir(&root).expect("created");
        (folder, root)
    }

    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn start() -> Instant {
        Instant::now()
    }

    fn text(file: &HotFile) -> String {
        let mut bytes = vec![0; usize::try_from(file.version.bytes).expect("a size")];
        file.contents.read_at(0, &mut bytes).expect("in range");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn an_edited_or_replaced_file_is_served_new_within_a_second() {
        let (_folder, root) = folder();
        let (at, start) = (root.join("a.css"), start());
        let after = |ms| Some(start + Duration::from_millis(ms));
        fs::write(&at, "old").expect("written");
        let files = HotFiles::new(root.clone(), limits());
        let old = files.find("/a.css", after(0)).expect("found");
        fs::write(&at, "edited").expect("written");
        assert_eq!(text(&files.find("/a.css", after(999)).expect("found")), "old");
        let edited = files.find("/a.css", after(1000)).expect("found");
        assert_eq!((text(&edited).as_str(), text(&old).as_str()), ("edited", "old"));
        fs::write(root.join("other"), "moved!").expect("written");
        fs::rename(root.join("other"), &at).expect("renamed");
        assert_eq!(text(&files.find("/a.css", after(2000)).expect("found")), "moved!");
        fs::remove_file(&at).expect("removed");
        assert!(files.find("/a.css", after(3000)).is_err());
        assert!(files.find("/a.css", after(3000)).is_err(), "nothing is kept of it");
    }

    #[test]
    fn nothing_is_trusted_without_a_time() {
        let (_folder, root) = folder();
        fs::write(root.join("a"), "old").expect("written");
        let files = HotFiles::new(root.clone(), limits());
        files.find("/a", None).expect("found");
        fs::write(root.join("a"), "edited").expect("written");
        assert_eq!(text(&files.find("/a", None).expect("found")), "edited");
    }

    #[test]
    fn a_link_that_comes_to_lead_outside_is_not_followed_for_more_than_a_second() {
        let (_folder, root) = folder();
        let start = start();
        fs::write(root.join("../secret"), "no").expect("written");
        fs::write(root.join("a"), "yes").expect("written");
        symlink("a", root.join("link")).expect("linked");
        let files = HotFiles::new(root.clone(), limits());
        files.find("/link", Some(start)).expect("found");
        fs::remove_file(root.join("link")).expect("removed");
        symlink("../secret", root.join("link")).expect("linked");
        assert!(files.find("/link", Some(start + Duration::from_secs(1))).is_err());
    }

    #[test]
    fn a_link_shows_nothing_that_its_own_name_would_hide() {
        let (_folder, root) = folder();
        for folder in [".git", ".well-known"] {
            fs::create_dir(root.join(folder)).expect("created");
            fs::write(root.join(folder).join("a"), folder).expect("written");
        }
        symlink(".git", root.join("git")).expect("linked");
        symlink(".well-known", root.join("known")).expect("linked");
        let files = HotFiles::new(root, limits());
        assert_eq!(files.find("/git/a", None).expect_err("hidden").kind(), ErrorKind::NotFound);
        assert_eq!(text(&files.find("/known/a", None).expect("found")), ".well-known");
    }

    #[test]
    fn a_link_that_takes_the_place_of_a_file_before_it_is_opened_is_not_followed() {
        let (_folder, root) = folder();
        fs::write(root.join("../secret"), "no").expect("written");
        symlink("../secret", root.join("a")).expect("linked");
        let files = HotFiles::new(root.clone(), limits());
        // The file as it was found before.
        let error = files.open(root.join("a"), None).expect_err("a link");
        assert_eq!(error.raw_os_error(), Some(nix::errno::Errno::ELOOP as i32));
    }

    #[test]
    fn all_responses_of_a_file_share_one_descriptor_on_whatever_path() {
        let (_folder, root) = folder();
        let start = start();
        fs::write(root.join("large"), vec![0; LARGE]).expect("written");
        symlink("large", root.join("link")).expect("linked");
        let files = HotFiles::new(root, limits());
        let responses: Vec<_> = (0..250)
            .map(|ms| Some(start + Duration::from_millis(ms * 10)))
            .flat_map(|now| ["/large", "/link"].map(|it| files.find(it, now).expect("found")))
            .collect();
        assert_eq!((responses.len(), files.budget.open_files()), (500, 1));
    }

    #[test]
    fn beyond_the_budget_of_descriptors_large_files_wait_and_small_ones_do_not() {
        let (_folder, root) = folder();
        for name in ["1", "2", "3", "4"] {
            fs::write(root.join(name), vec![0; LARGE]).expect("written");
        }
        fs::write(root.join("small"), "small").expect("written");
        // Nothing is kept, so a descriptor is released with its last response.
        let files = HotFiles::new(root, FileLimits { descriptors: 3, kept_bytes: 0, ..limits() });
        let mut open: Vec<_> =
            ["/1", "/2", "/3"].map(|it| files.find(it, None).expect("found")).into();
        let kind = files.find("/4", None).expect_err("too many").kind();
        assert_eq!(kind, ErrorKind::QuotaExceeded);
        assert!(files.find("/small", None).is_ok());
        open.pop();
        assert!(files.find("/4", None).is_ok());
    }

    #[test]
    fn small_files_take_descriptors_once_their_memory_is_used_up() {
        let (_folder, root) = folder();
        for name in ["1", "2", "3"] {
            fs::write(root.join(name), "12345").expect("written");
        }
        let limits = FileLimits { descriptors: 1, kept_bytes: 0, memory_bytes: 5, ..limits() };
        let files = HotFiles::new(root, limits);
        let found = ["/1", "/2", "/3"].map(|it| files.find(it, None));
        let memory = found.each_ref().map(|it| Some(it.as_ref().ok()?.contents.memory_bytes()));
        assert_eq!(memory, [Some(Some(5)), Some(None), None]);
    }

    #[test]
    fn kept_files_take_half_of_the_descriptors_at_most() {
        let (_folder, root) = folder();
        let paths: Vec<String> = (0..20).map(|it| format!("/{it}")).collect();
        for path in &paths {
            fs::write(root.join(&path[1..]), vec![0; LARGE]).expect("written");
        }
        let files = HotFiles::new(root, limits());
        for path in &paths {
            assert!(files.find(path, None).is_ok(), "{path}");
        }
        assert!(files.budget.open_files() <= 4, "{}", files.budget.open_files());
    }
}
