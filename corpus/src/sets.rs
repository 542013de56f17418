//! Named sets of bundled pages, so that adding a page to the bundle does not change results.

use crate::bundled::{bundled, bundled_names};
use crate::page::Page;
use crate::read::PageError;
use std::collections::BTreeSet;
use std::path::Path;

const SIGN: char = '@';

/// The pages behind the kept results, one name per line.
const FIRST_60: &str = include_str!("../sets/first-60.txt");

/// A named set of bundled pages.
#[derive(Debug, Clone, Copy)]
pub struct PageSet {
    /// Its name.
    pub name: &'static str,
    /// Its purpose, in a line.
    pub about: &'static str,
    has: fn(&str) -> bool,
}

/// All sets.
pub const SETS: &[PageSet] = &[
    PageSet { name: "all", about: "All bundled pages", has: |_| true },
    PageSet {
        name: "first-60",
        about: "The pages on which the kept results rest; never changed",
        has: |name| FIRST_60.lines().any(|it| it == name),
    },
    PageSet {
        name: "web",
        about: "Pages of 25 public sites, grown to the sizes of the web's pages",
        has: |name| name.starts_with("web-"),
    },
];

impl PageSet {
    /// The set of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SETS.iter().find(|it| it.name == name)
    }

    /// The set with exactly these pages.
    pub fn of(names: &BTreeSet<&str>) -> Option<&'static Self> {
        SETS.iter().find(|set| set.names().iter().copied().collect::<BTreeSet<_>>() == *names)
    }

    /// The names of its pages, in alphabetical order.
    pub fn names(&self) -> Vec<&'static str> {
        bundled_names().into_iter().filter(|it| (self.has)(it)).collect()
    }

    /// Its pages, by their names.
    pub fn pages(&self) -> Vec<&'static Page> {
        self.names().into_iter().filter_map(bundled).collect()
    }
}

/// The pages of `first-60`, which the kept results use.
pub fn kept_pages() -> Vec<&'static Page> {
    PageSet::find("first-60").map(PageSet::pages).unwrap_or_default()
}

/// The page that an argument names: a path if it contains `/` or ends in `.json`, otherwise a bundled page.
pub fn page(argument: &str) -> Result<Page, PageError> {
    let path = Path::new(argument);
    if argument.contains('/') || path.extension().is_some_and(|extension| extension == "json") {
        return Page::load(path);
    }
    bundled(argument)
        .cloned()
        .ok_or_else(|| PageError::Unknown { name: argument.to_owned(), names: bundled_names() })
}

/// The pages that an argument names: a set's if it begins with `@`, a folder's, otherwise the single page that
/// [`page`] finds.
pub fn pages(argument: &str) -> Result<Vec<Page>, PageError> {
    names(argument)?.iter().map(|it| page(it)).collect()
}

/// The arguments, with sets and folders replaced by the names of their pages.
pub fn spelled_out(arguments: &[String]) -> Result<Vec<String>, PageError> {
    let all: Result<Vec<Vec<String>>, PageError> = arguments.iter().map(|it| names(it)).collect();
    Ok(all?.concat())
}

/// The names of the pages that an argument stands for. A bundled page has precedence over a folder of the same
/// name.
fn names(argument: &str) -> Result<Vec<String>, PageError> {
    let folder = Path::new(argument);
    match argument.strip_prefix(SIGN) {
        Some(name) => Ok(known(name)?.names().into_iter().map(str::to_owned).collect()),
        None if folder.is_dir() && bundled(argument).is_none() => files_in(folder),
        None => Ok(vec![argument.to_owned()]),
    }
}

fn files_in(folder: &Path) -> Result<Vec<String>, PageError> {
    let place = folder.display().to_string();
    let entries =
        std::fs::read_dir(folder).map_err(|cause| PageError::Read(place.clone(), cause))?;
    let paths = entries.filter_map(|it| Some(it.ok()?.path()));
    let pages = paths.filter(|it| it.extension().is_some_and(|end| end == "json") && it.is_file());
    let mut pages: Vec<String> = pages.map(|it| it.display().to_string()).collect();
    pages.sort_unstable();
    if pages.is_empty() { Err(PageError::NoPages(place)) } else { Ok(pages) }
}

fn known(name: &str) -> Result<&'static PageSet, PageError> {
    PageSet::find(name).ok_or_else(|| PageError::UnknownSet {
        name: name.to_owned(),
        known: SETS.iter().map(|it| it.name).collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_the_kept_results_are_sixty_from_42_sites_and_all_bundled() {
        let pages = kept_pages();
        assert_eq!((pages.len(), FIRST_60.lines().count()), (60, 60));
        let sites: std::collections::BTreeSet<&str> = pages.iter().map(|it| it.site()).collect();
        assert_eq!(sites.len(), 42);
    }

    #[test]
    fn the_pages_of_the_kept_results_have_the_bytes_that_they_had() {
        let texts = PageSet::find("first-60").unwrap().names().into_iter();
        let texts: String = texts.filter_map(crate::bundled_text).collect();
        assert_eq!(
            crate::sha256_hex(texts.as_bytes()),
            "993958ae9a9b4ec6df4eaf10b0dc90ae17b4423a2bb526a105ef70f1b79d59fd"
        );
    }

    #[test]
    fn a_set_is_named_with_a_sign_and_an_unknown_one_is_told_the_others() {
        assert_eq!(pages("@first-60").unwrap().len(), 60);
        assert_eq!(pages("@all").unwrap().len(), bundled_names().len());
        assert_eq!(pages("davies-meenan").unwrap()[0].name, "davies-meenan");
        let mixed = spelled_out(&["page.json".to_owned(), "@web".to_owned()]).unwrap();
        assert_eq!((mixed.len(), mixed[0].as_str()), (51, "page.json"));
        let error = pages("@last-60").unwrap_err().to_string();
        assert!(
            error.starts_with(
                "@last-60: no set of bundled pages has this name; use one of all, first-60, web"
            ),
            "{error}"
        );
    }
}
