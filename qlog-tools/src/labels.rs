//! Short names of resources and streams.

use crate::alignment::path_of;
use crate::page_resources::PageResource;
use crate::short_texts::shorten;
use std::collections::BTreeSet;

/// Names of resources in one legend. Last parts of paths that several have do not tell them apart.
pub struct Labels<'a> {
    shared: BTreeSet<&'a str>,
}

impl<'a> Labels<'a> {
    /// For the legend of these resources.
    pub fn of(all: &'a [PageResource]) -> Self {
        let mut known = BTreeSet::new();
        let names = all.iter().map(|it| short_name(&it.url));
        Self { shared: names.filter(|it| !known.insert(*it)).collect() }
    }

    /// The name of one of them, at most `characters` long: in a figure of logs its streams and what fits of its path,
    /// else the last part of its path, or what fits of the path if several have the same last part.
    pub fn label(&self, resource: &PageResource, characters: usize) -> String {
        if !resource.streams.is_empty() {
            return stream_label(&ids(&resource.streams), &resource.url, characters);
        }
        let name = short_name(&resource.url);
        if self.shared.contains(name) {
            return short_url(&resource.url, characters);
        }
        shorten(name, characters)
    }
}

/// `4`, or `4,8` if logs differ; with more than two, the first.
fn ids(streams: &[u64]) -> String {
    match streams {
        [one] => one.to_string(),
        [one, other] => format!("{one},{other}"),
        [first, ..] => format!("{first},\u{2026}"),
        [] => String::new(),
    }
}

/// `4 /a/…/hero.jpg`: the whole stream ID, and as much of the URL as fits.
pub fn stream_label(id: &str, url: &str, characters: usize) -> String {
    if url.is_empty() || url == format!("stream {id}") {
        return id.to_owned();
    }
    let room = characters.saturating_sub(id.chars().count() + 1).max(4);
    format!("{id} {}", short_url(url, room))
}

/// The path of a URL in at most `characters`. Drops the least informative parts first: the query, then folders from the
/// left of the file name, then the middle of the name itself.
pub fn short_url(url: &str, characters: usize) -> String {
    let path = path_of(url);
    if fits(path, characters) {
        return path.to_owned();
    }
    let bare = path.split(['?', '#']).next().unwrap_or_default();
    let mark = if bare.len() < path.len() { "?\u{2026}" } else { "" };
    let whole = format!("{bare}{mark}");
    if fits(&whole, characters) {
        return whole;
    }
    let name = file_name(bare);
    let alone = with_folders("", name, mark);
    if !fits(&alone, characters) {
        return shorten(name, characters);
    }
    let folders = &bare[..bare.len() - name.len()];
    let wider = folders.match_indices('/').map(|it| with_folders(&folders[..=it.0], name, mark));
    wider.take_while(|it| fits(it, characters)).last().unwrap_or(alone)
}

fn fits(text: &str, characters: usize) -> bool {
    text.chars().nth(characters).is_none()
}

fn with_folders(folders: &str, name: &str, mark: &str) -> String {
    format!("{folders}\u{2026}/{}{mark}", name.trim_start_matches('/'))
}

/// The last part with its closing slash, if it has one.
fn file_name(path: &str) -> &str {
    let end = path.trim_end_matches('/');
    let start = end.rfind('/').map_or(0, |slash| slash + 1);
    &path[start..]
}

/// The last part of a URL's path; `/` for a path without parts.
pub fn short_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() { "/" } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_name_is_the_last_part_of_the_path() {
        assert_eq!(short_name("https://a.test/x/hero.jpg?w=3#f"), "hero.jpg");
        assert_eq!(short_name("/"), "/");
        assert_eq!(short_name("/news/"), "news");
        assert_eq!(short_name("stream 4"), "stream 4");
    }

    #[test]
    fn resources_of_a_page_with_the_same_last_part_have_their_paths() {
        let of = |url: &str| PageResource {
            url: url.to_owned(),
            kind: schedulers::Kind::Js,
            above_fold: false,
            body_bytes: None,
            streams: Vec::new(),
        };
        let all = ["https://a.test/x/main.js", "https://a.test/y/main.js", "/z/one.js"].map(of);
        let labels = Labels::of(&all);
        let labels = all.each_ref().map(|it| labels.label(it, 20));
        assert_eq!(labels, ["/x/main.js", "/y/main.js", "one.js"]);
    }

    #[test]
    fn a_path_loses_its_query_then_folders_then_the_middle_of_its_name() {
        let url = "https://a.test/static/images/2026/hero-large.jpg?w=300";
        let at = |characters| short_url(url, characters);
        assert_eq!(at(60), "/static/images/2026/hero-large.jpg?w=300");
        assert_eq!(at(38), "/static/images/2026/hero-large.jpg?\u{2026}");
        assert_eq!(at(33), "/static/images/\u{2026}/hero-large.jpg?\u{2026}");
        assert_eq!(at(26), "/static/\u{2026}/hero-large.jpg?\u{2026}");
        assert_eq!(at(18), "\u{2026}/hero-large.jpg?\u{2026}");
        assert_eq!(at(10), "hero-\u{2026}.jpg");
    }

    #[test]
    fn a_stream_keeps_its_number() {
        assert_eq!(stream_label("4", "https://a.test/index.html", 20), "4 /index.html");
        assert_eq!(stream_label("4", "/a/very/long/index.html", 16), "4 /\u{2026}/index.html");
        assert_eq!(stream_label("4", "stream 4", 20), "4");
        assert_eq!(stream_label("4", "", 20), "4");
        assert_eq!(stream_label("8", "/news/", 20), "8 /news/");
    }

    #[test]
    fn logs_that_differ_share_a_name() {
        assert_eq!([&[4][..], &[4, 8], &[4, 8, 0]].map(ids), ["4", "4,8", "4,\u{2026}"]);
    }

    proptest! {
        #[test]
        fn no_name_is_longer_than_its_room(url in ".{0,60}|(/[a-z]{0,5}){0,8}(\\?[a-z]{0,9})?", characters in 4_usize..40) {
            prop_assert!(short_url(&url, characters).chars().count() <= characters);
        }
    }
}
