//! The real bodies of a recorded page: fetched again from its package, checked, never kept with the page.

use crate::error::RecordError;
use crate::package::{Fetched, Package};
use corpus::Page;
use percent_encoding::percent_decode_str;
use std::path::{Component, Path, PathBuf};

/// Fetches the package that a page was recorded from. Fails if the package has another hash.
pub fn package(page: &Page, cache: &Path) -> Result<Fetched, RecordError> {
    let refused = |cause: &str| RecordError::Source(format!("page {}: {cause}", page.name));
    let named = page.source.from.split_whitespace().next().unwrap_or_default();
    let other = "was not recorded from a package; only packages can be fetched again";
    let package: Package = named.parse().map_err(|_| refused(other))?;
    let fetched = package.fetch(cache)?;
    match &page.source.sha256 {
        Some(digest) if *digest == fetched.sha256 => Ok(fetched),
        Some(digest) => Err(refused(&format!(
            "was recorded from an archive with SHA-256 {digest}, but {named} now has {}",
            fetched.sha256
        ))),
        None => Err(refused("does not give the SHA-256 of its package; record it again")),
    }
}

/// Copies the files of a page from its package to `to`, so that a server can serve them. Returns their number. Does not
/// create files that the page lists as missing. Fails if a different file already exists.
pub fn copy(page: &Page, fetched: &Fetched, to: &Path) -> Result<usize, RecordError> {
    let mut copied = 0;
    for resource in page.resources.iter().filter(|resource| resource.status == 200) {
        let Some(relative) = file_of(&resource.url) else { continue };
        let (source, target) = (fetched.root.join(&relative), to.join(&relative));
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder).map_err(|error| RecordError::at(folder, error))?;
        }
        let bytes = std::fs::read(&source).map_err(|error| RecordError::at(&source, error))?;
        if target.exists() && std::fs::read(&target).ok().as_ref() != Some(&bytes) {
            let cause = "is there already and differs from the package's; name an empty folder";
            return Err(RecordError::at(&target, cause));
        }
        std::fs::write(&target, bytes).map_err(|error| RecordError::at(&target, error))?;
        copied += 1;
    }
    Ok(copied)
}

/// The file below a root for a URL path; `None` if the path leads outside the root.
fn file_of(url: &str) -> Option<PathBuf> {
    let plain = url.split('?').next()?.strip_prefix('/')?;
    let decoded = percent_decode_str(plain).decode_utf8().ok()?;
    let mut path = PathBuf::from(decoded.as_ref());
    if decoded.is_empty() || decoded.ends_with('/') {
        path.push("index.html");
    }
    path.components().all(|it| matches!(it, Component::Normal(_))).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_means_a_file_below_the_root_or_none() {
        let file = |url| file_of(url).map(|it| it.display().to_string());
        assert_eq!(file("/dist/").as_deref(), Some("dist/index.html"));
        assert_eq!(file("/a%20b.css?v=1").as_deref(), Some("a b.css"));
        assert_eq!(file("/").as_deref(), Some("index.html"));
        for outside in ["/../etc/passwd", "/%2e%2e/x", "//etc/passwd", "a"] {
            assert_eq!(file(outside), None, "{outside}");
        }
    }

    #[test]
    fn files_are_copied_below_a_folder_and_never_replace_different_ones() {
        let (from, to) = [(); 2].map(|()| tempfile::tempdir().expect("a folder")).into();
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(1);
        page.resources[0].url = "/home/?v=2".to_owned();
        std::fs::create_dir(from.path().join("home")).expect("made");
        std::fs::write(from.path().join("home/index.html"), "<html>").expect("written");
        let root = from.path().to_owned();
        let fetched = Fetched { root, sha256: String::new(), archive: String::new() };
        for _ in 0..2 {
            assert_eq!(copy(&page, &fetched, to.path()).expect("copied"), 1);
        }
        let copied = to.path().join("home/index.html");
        assert_eq!(std::fs::read(&copied).expect("there"), b"<html>");
        std::fs::write(&copied, "mine").expect("written");
        let error = copy(&page, &fetched, to.path()).expect_err("refused").to_string();
        assert!(error.ends_with("differs from the package's; name an empty folder"), "{error}");
        assert_eq!(std::fs::read(&copied).expect("there"), b"mine");
    }

    /// Those that the command visits by default.
    #[test]
    fn the_pages_of_the_bench_in_browsers_are_bundled_and_from_packages() {
        let command = include_str!("../../../benches/pages/run");
        let list = command.split("PAGES = (").nth(1).and_then(|it| it.split(')').next());
        let names: Vec<&str> = list
            .expect("a list")
            .split([',', '"', '\n', ' '])
            .filter(|it| !it.is_empty())
            .collect();
        assert_eq!(names.len(), 10);
        for name in names {
            let page = corpus::bundled(name).expect("bundled");
            let from = page.source.from.split_whitespace().next().unwrap_or_default();
            assert!(from.parse::<Package>().is_ok(), "{name} is from {from}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_has_no_package() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let error = package(page, Path::new("/nowhere")).expect_err("no package").to_string();
        assert_eq!(
            error,
            "page davies-meenan: was not recorded from a package; only packages can be fetched again"
        );
    }
}
