//! Pages of dropped files: page files, recordings and logs.

use crate::commands::find::page_of_file;
use crate::limits::DROPPED_MAX;
use ::corpus::Page;
use ::serve::Failure;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct DroppedPages(BTreeMap<String, Arc<Page>>);

impl DroppedPages {
    /// A bundled page or a dropped one by its name.
    pub(super) fn find(&self, name: &str) -> Result<Arc<Page>, Failure> {
        let bundled = ::corpus::bundled(name).cloned().map(Arc::new);
        let found = bundled.or_else(|| self.0.get(name).cloned());
        found.ok_or_else(|| Failure::BadInput(format!("{name}: no such page; drop its file again")))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Keeps the page, and returns its name.
    pub(super) fn add(&mut self, mut page: Page) -> Result<String, Failure> {
        if ::corpus::bundled(&page.name).is_some() {
            page.name.push_str("-dropped");
        }
        if self.0.len() >= DROPPED_MAX && !self.0.contains_key(&page.name) {
            return Err(Failure::BadInput(format!("{DROPPED_MAX} dropped pages at most")));
        }
        let name = page.name.clone();
        self.0.insert(name.clone(), Arc::new(page));
        Ok(name)
    }
}

/// The page in a file's bytes. The readers need a file, which is deleted afterwards.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Page, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::elsewhere)?;
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || ".-_".contains(*it);
    let name: String = name.chars().filter(is_plain).collect();
    let file =
        folder.path().join(format!("{}{name}", if name.starts_with('.') { "page" } else { "" }));
    std::fs::write(&file, bytes).map_err(Failure::elsewhere)?;
    let place = format!("{}/", folder.path().display());
    page_of_file(&file).map_err(|error| Failure::BadInput(error.to_string().replace(&place, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_recordings_and_logs_are_told_apart_by_what_is_in_them() {
        let page = ::corpus::bundled_text("davies-meenan").expect("bundled");
        assert_eq!(read("../../x.json", page.as_bytes()).expect("a page").name, "davies-meenan");
        let entry = |url: &str, started: &str| {
            format!(
                r#"{{"startedDateTime":"2026-01-01T00:00:0{started}Z","time":100,"request":{{"method":"GET","url":"https://a.test{url}","headers":[]}},"response":{{"status":200,"headers":[],"content":{{"size":5000,"mimeType":"text/html"}},"bodySize":5000}},"timings":{{"send":0,"wait":10,"receive":90}}}}"#
            )
        };
        let har =
            format!(r#"{{"log":{{"entries":[{},{}]}}}}"#, entry("/", "0.0"), entry("/b", "0.2"));
        let read_har = read("my shop<b>.har", har.as_bytes()).expect("a recording");
        assert_eq!((&*read_har.name, read_har.resources.len()), ("myshopb", 2));
        let error = read("x.har", b"nonsense").expect_err("not a recording").to_string();
        assert!(error.starts_with("x.har") && !error.contains("/tmp"), "{error}");
    }

    #[test]
    fn a_dropped_page_takes_the_place_of_no_bundled_one() {
        let mut pages = DroppedPages::default();
        let page = ::corpus::bundled("davies-meenan").expect("bundled").clone();
        assert_eq!(pages.add(page).expect("kept"), "davies-meenan-dropped");
        assert!(pages.find("davies-meenan-dropped").is_ok());
    }
}
