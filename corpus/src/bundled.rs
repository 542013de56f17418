//! The pages that are compiled in.

use crate::page::Page;
use std::sync::OnceLock;

const TEXTS: &[(&str, &str)] = &[
    ("agency-index", include_str!("../pages/agency-index.json")),
    ("davies-meenan", include_str!("../pages/davies-meenan.json")),
    ("fomantic-homepage", include_str!("../pages/fomantic-homepage.json")),
    ("gentelella-index", include_str!("../pages/gentelella-index.json")),
    ("lighthouse-intercom", include_str!("../pages/lighthouse-intercom.json")),
];

/// The names of the bundled pages, in alphabetical order.
pub fn bundled_names() -> Vec<&'static str> {
    TEXTS.iter().map(|&(name, _)| name).collect()
}

/// The bundled page of this name.
pub fn bundled(name: &str) -> Option<&'static Page> {
    static PAGES: OnceLock<Vec<Option<Page>>> = OnceLock::new();
    let pages = PAGES
        .get_or_init(|| TEXTS.iter().map(|&(name, text)| Page::parse(text, name).ok()).collect());
    let index = TEXTS.iter().position(|&(it, _)| it == name)?;
    pages[index].as_ref()
}

/// The text of the bundled page of this name: what its SHA-256 is taken of.
pub fn bundled_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|&&(it, _)| it == name).map(|&(_, text)| text)
}
