//! The pages that are compiled in.

use crate::page::Page;
use std::sync::OnceLock;

/// (name, text), of all files of `pages/`, in alphabetical order.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

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

/// The text of the bundled page with this name. Its SHA-256 is computed from it.
pub fn bundled_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|&&(it, _)| it == name).map(|&(_, text)| text)
}
