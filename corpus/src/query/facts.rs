//! The facts that queries ask about, a row each. `docs/corpus.md` lists them.

use crate::discovery;
use crate::page::{Page, Party, SourceKind};
use std::collections::BTreeSet;

/// Something that a page is or is not.
#[derive(Debug)]
pub(super) struct WordFact {
    pub(super) name: &'static str,
    pub(super) is: fn(&Page) -> bool,
}

/// A number that a page has.
#[derive(Debug)]
pub(super) struct NumberFact {
    pub(super) name: &'static str,
    pub(super) of: fn(&Page) -> u64,
}

/// A text that a page has.
#[derive(Debug)]
pub(super) struct TextFact {
    pub(super) name: &'static str,
    pub(super) of: fn(&Page) -> &str,
}

pub(super) static WORDS: [WordFact; 7] = [
    WordFact { name: "all", is: |_| true },
    WordFact { name: "recorded", is: |it| it.source.kind == SourceKind::Recorded },
    WordFact { name: "imported", is: |it| it.source.kind == SourceKind::Imported },
    WordFact { name: "generated", is: |it| it.source.kind == SourceKind::Generated },
    WordFact { name: "hand", is: |it| it.source.kind == SourceKind::Hand },
    WordFact { name: "hero", is: |it| it.resources.iter().any(|it| it.hero) },
    WordFact { name: "third_party", is: |it| it.origins.iter().any(|it| it.party == Party::Third) },
];

pub(super) static NUMBERS: [NumberFact; 5] = [
    NumberFact { name: "resources", of: |it| it.resources.len() as u64 },
    NumberFact { name: "body_bytes", of: Page::body_bytes },
    NumberFact {
        name: "atf_resources",
        of: |it| it.resources.iter().filter(|it| it.above_fold).count() as u64,
    },
    NumberFact {
        name: "hosts",
        of: |it| it.origins.iter().map(|it| &it.host).collect::<BTreeSet<_>>().len() as u64,
    },
    NumberFact { name: "depth", of: |it| discovery::depth(it) as u64 },
];

pub(super) static TEXTS: [TextFact; 2] =
    [TextFact { name: "name", of: |it| &it.name }, TextFact { name: "site", of: Page::site }];

pub(super) fn names() -> Vec<&'static str> {
    let words = WORDS.iter().map(|it| it.name);
    let numbers = NUMBERS.iter().map(|it| it.name);
    words.chain(numbers).chain(TEXTS.iter().map(|it| it.name)).collect()
}
