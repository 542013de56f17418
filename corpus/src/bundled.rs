//! The pages that are compiled in.

use crate::page::Page;
use std::sync::OnceLock;

/// (name, text), of all files of `pages/`, in alphabetical order.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The names of the bundled pages, in alphabetical order.
pub fn bundled_names() -> Vec<&'static str> {
    TEXTS.iter().map(|&(name, _)| name).collect()
}

/// The bundled page of this name. Each is parsed on first use.
pub fn bundled(name: &str) -> Option<&'static Page> {
    static PAGES: [OnceLock<Option<Page>>; TEXTS.len()] = [const { OnceLock::new() }; TEXTS.len()];
    let place = TEXTS.iter().position(|&(it, _)| it == name)?;
    PAGES[place].get_or_init(|| Page::parse(TEXTS[place].1, name).ok()).as_ref()
}

/// The text of the bundled page with this name, from which its SHA-256 is computed.
pub fn bundled_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|&&(it, _)| it == name).map(|&(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::SITES;

    #[test]
    fn the_pages_of_a_site_are_bundled_and_belong_to_one() {
        let mut pages: Vec<&str> = SITES.lines().flat_map(|it| it.split(' ').skip(1)).collect();
        assert!(pages.iter().all(|it| bundled(it).is_some()), "{pages:?}");
        pages.sort_unstable();
        assert!(pages.windows(2).all(|it| it[0] != it[1]));
    }
}
