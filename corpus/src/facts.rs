//! The facts of a page, one row each, for queries and for the page columns of studies. `docs/corpus.md` lists them.

use crate::discovery;
use crate::page::{Origin, Page, PageResource, Party, SourceKind};
use schedulers::Kind;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct WordFact {
    pub(crate) name: &'static str,
    pub(crate) is: fn(&Page) -> bool,
}

/// A number that a page has.
#[derive(Debug)]
pub struct NumberFact {
    /// Its name in queries, files and tables. A share ends in `_share` and lies between 0 and 1.
    pub name: &'static str,
    /// Its meaning, in a few words, as the subject of a sentence.
    pub about: &'static str,
    /// Its value. The page must be valid.
    pub of: fn(&Page) -> f64,
}

#[derive(Debug)]
pub(crate) struct TextFact {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&Page) -> &str,
}

pub(crate) static WORDS: [WordFact; 7] = [
    WordFact { name: "all", is: |_| true },
    WordFact { name: "recorded", is: |it| it.source.kind == SourceKind::Recorded },
    WordFact { name: "imported", is: |it| it.source.kind == SourceKind::Imported },
    WordFact { name: "generated", is: |it| it.source.kind == SourceKind::Generated },
    WordFact { name: "hand", is: |it| it.source.kind == SourceKind::Hand },
    WordFact { name: "hero", is: |it| it.resources.iter().any(|it| it.hero) },
    WordFact { name: "third_party", is: |it| origins(it).any(|it| it.party == Party::Third) },
];

/// All numbers, in the order of columns.
pub static NUMBERS: [NumberFact; 13] = [
    number("resources", "the number of resources", |it| it.resources.len() as f64),
    number("body_bytes", "the bytes of all bodies", |it| it.body_bytes() as f64),
    number("hosts", "the number of hosts", |page| {
        origins(page).map(|it| &it.host).collect::<BTreeSet<_>>().len() as f64
    }),
    number("depth", "the longest chain of discoveries", |it| discovery::depth(it) as f64),
    number("atf_resources", "the number of resources above the fold", |page| {
        page.resources.iter().filter(|it| it.above_fold).count() as f64
    }),
    number("atf_share", "the share of bytes above the fold", |page| {
        share_of_bytes(page, |it| it.above_fold)
    }),
    number("heroes", "the number of hero images", |page| {
        page.resources.iter().filter(|it| it.hero).count() as f64
    }),
    number(
        "late_share",
        "the share of resources that the document's text does not name",
        late_share,
    ),
    number("html_share", "the share of bytes that are HTML", |it| share_of_kind(it, Kind::Html)),
    number("css_share", "the share of bytes that are stylesheets", |it| {
        share_of_kind(it, Kind::Css)
    }),
    number("js_share", "the share of bytes that are scripts", |it| share_of_kind(it, Kind::Js)),
    number("font_share", "the share of bytes that are fonts", |it| share_of_kind(it, Kind::Font)),
    number("image_share", "the share of bytes that are images", |it| {
        share_of_kind(it, Kind::Image)
    }),
];

pub(crate) static TEXTS: [TextFact; 2] =
    [TextFact { name: "name", of: |it| &it.name }, TextFact { name: "site", of: Page::site }];

pub(crate) fn names() -> Vec<&'static str> {
    let words = WORDS.iter().map(|it| it.name);
    let numbers = NUMBERS.iter().map(|it| it.name);
    words.chain(numbers).chain(TEXTS.iter().map(|it| it.name)).collect()
}

const fn number(name: &'static str, about: &'static str, of: fn(&Page) -> f64) -> NumberFact {
    NumberFact { name, about, of }
}

/// The origins of resources; a generated page can have others.
fn origins(page: &Page) -> impl Iterator<Item = &Origin> {
    page.resources.iter().filter_map(|it| page.origins.get(it.origin))
}

/// The share of the body bytes in resources that satisfy a condition; 0 for a page without bytes.
fn share_of_bytes(page: &Page, is_like_this: impl Fn(&PageResource) -> bool) -> f64 {
    let bytes: u64 = page.resources.iter().filter(|it| is_like_this(it)).map(|it| it.bytes).sum();
    bytes as f64 / page.body_bytes().max(1) as f64
}

fn share_of_kind(page: &Page, kind: Kind) -> f64 {
    share_of_bytes(page, |it| it.kind == kind)
}

/// The share of the resources other than the document that its text does not reference; 0 for a document alone.
fn late_share(page: &Page) -> f64 {
    let behind = page.resources.len() - 1;
    let named = page.resources.iter().filter(|it| it.is_in_text()).count();
    (behind - named) as f64 / behind.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled;

    #[test]
    fn a_page_says_how_its_bytes_are_shared_out_and_what_is_known_late() {
        // 9 resources, 1,580,000 bytes. A test of the queries has the counts.
        let page = bundled("davies-meenan").unwrap();
        let value = |name: &str| NUMBERS.iter().find(|it| it.name == name).map(|it| (it.of)(page));
        let kinds = ["html", "css", "js", "font", "image"];
        let shares = kinds.map(|it| value(&format!("{it}_share")).unwrap());
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        assert_eq!(value("heroes"), Some(1.0));
        assert_eq!(value("late_share"), Some(0.0));
        assert_eq!(value("atf_share"), Some(260.0 / 1580.0));
    }

    #[test]
    fn a_host_counts_only_with_a_resource() {
        let mut page = bundled("davies-meenan").unwrap().clone();
        let unused = Origin { host: "unused.test".to_owned(), ..page.origins[0].clone() };
        page.origins.push(Origin { party: Party::Third, ..unused });
        let hosts = NUMBERS.iter().find(|it| it.name == "hosts").map(|it| (it.of)(&page));
        assert_eq!(hosts, Some(1.0));
        let third_party = WORDS.iter().find(|it| it.name == "third_party").map(|it| (it.is)(&page));
        assert_eq!(third_party, Some(false));
    }

    #[test]
    fn shares_lie_between_0_and_1_on_every_bundled_page() {
        for page in crate::bundled_names().into_iter().filter_map(bundled) {
            for fact in NUMBERS.iter().filter(|it| it.name.ends_with("_share")) {
                let share = (fact.of)(page);
                assert!((0.0..=1.0).contains(&share), "{} of {}: {share}", fact.name, page.name);
            }
        }
    }
}
