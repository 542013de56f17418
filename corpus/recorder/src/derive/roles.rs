//! The facts about each resource, except its trigger.

use super::table::{Key, Table, keys};
use crate::capture::{Capture, Element, Fetch};
use corpus::PageResource;
use corpus::page::Script;
use lab::study::statistics::median;
use schedulers::{Kind, Priority};
use serde_json::json;
use std::collections::BTreeMap;

/// The minimum share of the viewport that makes an image a hero.
const HERO_SHARE_MIN: f64 = 0.05;

/// The resources of a table, in order, and the representative fetch of each.
pub(crate) fn resources(captures: &[Capture], table: &Table) -> (Vec<PageResource>, Vec<Fetch>) {
    let mut samples: BTreeMap<Key, &Fetch> = BTreeMap::new();
    for capture in captures {
        for (key, fetch) in keys(capture).into_iter().zip(&capture.fetches) {
            samples.entry(key).or_insert(fetch);
        }
    }
    let fetches: Vec<Fetch> = table.keys.iter().map(|it| samples[it].clone()).collect();
    let reader = Reader { captures, first: &captures[0] };
    let mut resources: Vec<PageResource> = table
        .keys
        .iter()
        .zip(&fetches)
        .enumerate()
        .map(|(id, (key, fetch))| reader.resource(id, key, fetch))
        .collect();
    set_turns(&mut resources, &fetches, &captures[0]);
    (resources, fetches)
}

struct Reader<'a> {
    captures: &'a [Capture],
    first: &'a Capture,
}

impl Reader<'_> {
    fn resource(&self, id: usize, key: &Key, fetch: &Fetch) -> PageResource {
        let mime = mime(fetch);
        let kind = Kind::of_mime(&mime);
        let element = self.first.elements.iter().find(|it| it.path == fetch.path);
        let blocking = matches!(
            fetch.render_blocking.as_deref(),
            Some("blocking" | "in_body_parser_blocking" | "potentially_blocking")
        );
        let by_parser = reference(fetch, self.first).is_some();
        let code = matches!(kind, Kind::Css | Kind::Js);
        let script = (kind == Kind::Js).then(|| script(element, by_parser, blocking));
        let critical = code && blocking && !matches!(script, Some(Script::Async));
        let status = fetch.status.unwrap_or(404);
        let is_image = kind == Kind::Image;
        let hero = is_image && self.is_hero(&fetch.path);
        let visible = is_image && status < 400 && self.is_visible(&fetch.path);
        let priority = Priority::parse(fetch.priority.as_deref().unwrap_or_default().as_bytes());
        let tag_and_mode = element.map(|it| (it.tag.as_str(), it.mode.as_str()));
        PageResource {
            status,
            decoded_bytes: (fetch.decoded_bytes != fetch.bytes).then_some(fetch.decoded_bytes),
            script,
            in_head: element.is_some_and(|it| it.in_head) && by_parser,
            preload: fetch.preload,
            lazy: tag_and_mode == Some(("img", "lazy")),
            prefetch: tag_and_mode == Some(("link", "prefetch")),
            fetchpriority: element
                .and_then(|it| serde_json::from_value(json!(it.fetchpriority)).ok()),
            after_first_image: self.is_after_first_image(fetch),
            critical,
            above_fold: id == 0 || critical || kind == Kind::Font || hero || visible,
            hero,
            exec_ms: if code { self.work_ms(&fetch.path) } else { 0.0 },
            browser: Some(priority.unwrap_or_default().into()),
            ..PageResource::plain(id, url(key), mime, fetch.bytes)
        }
    }

    /// Whether it is the image of the largest contentful paint, or a large one. A background must be both.
    fn is_hero(&self, path: &str) -> bool {
        self.holds_for_most(|capture| {
            let is_largest = capture.largest_paint.as_deref() == Some(path);
            match capture.boxes.iter().find(|seen| seen.path == path) {
                Some(seen) if seen.background => is_largest && seen.share >= HERO_SHARE_MIN,
                Some(seen) => is_largest || seen.share >= HERO_SHARE_MIN,
                None => is_largest,
            }
        })
    }

    /// Whether a visitor sees the image without scrolling; backgrounds included.
    fn is_visible(&self, path: &str) -> bool {
        self.holds_for_most(|load| load.boxes.iter().any(|it| it.path == path && it.share > 0.0))
    }

    fn holds_for_most(&self, is_so: impl Fn(&Capture) -> bool) -> bool {
        self.captures.iter().filter(|it| is_so(it)).count() * 2 > self.captures.len()
    }

    fn is_after_first_image(&self, fetch: &Fetch) -> bool {
        let document = &self.first.document;
        let first = document.find("<img").map(|it| end_of_tag(document, it));
        reference(fetch, self.first).zip(first).is_some_and(|(at, first)| at > first)
    }

    fn work_ms(&self, path: &str) -> f64 {
        let sums = self.captures.iter().map(|capture| {
            capture.work.iter().filter(|it| it.path == path).map(|it| it.duration_ms).sum()
        });
        let ms = median(&sums.collect::<Vec<f64>>()).unwrap_or(0.0);
        (ms * 10.0).round() / 10.0
    }
}

pub(crate) fn url(key: &Key) -> String {
    let path: String =
        key.path.chars().map(|it| if it.is_ascii_graphic() { it } else { '_' }).collect();
    match (key.number, path.contains('?')) {
        (0, _) => path,
        (number, true) => format!("{path}&fetch={}", number + 1),
        (number, false) => format!("{path}?fetch={}", number + 1),
    }
}

/// The MIME type of a response. For an error, or if the browser used it as another type, the type of that use.
fn mime(fetch: &Fetch) -> String {
    let used = match fetch.used_as.as_str() {
        "Document" => "text/html",
        "Stylesheet" | "CSSStyleSheet" => "text/css",
        "Script" => "text/javascript",
        "Image" => "image/png",
        "Font" => "font/woff2",
        "Media" => "video/mp4",
        "XHR" | "Fetch" | "XMLHttpRequest" => "application/json",
        "Manifest" => "application/manifest+json",
        _ => "application/octet-stream",
    };
    let kind = Kind::of_mime;
    let told = fetch.status.is_some_and(|it| (200..300).contains(&it))
        && !fetch.mime.is_empty()
        && (kind(&fetch.mime) == kind(used)
            || matches!(kind(used), Kind::Xhr | Kind::Other | Kind::Media));
    if told { fetch.mime.clone() } else { used.to_owned() }
}

fn script(element: Option<&Element>, by_parser: bool, blocking: bool) -> Script {
    let mode = element.filter(|it| it.tag == "script").map(|it| it.mode.as_str());
    match mode {
        Some("module") => Script::Module,
        Some("defer") if by_parser => Script::Defer,
        Some("") if by_parser => Script::Sync,
        None if by_parser && blocking => Script::Sync,
        _ => Script::Async,
    }
}

/// Sets the order of evaluation. Blocking stylesheets and scripts are evaluated in document order: first those
/// that its parser waits for, then deferred ones. Imports of a stylesheet have its turn.
fn set_turns(resources: &mut [PageResource], fetches: &[Fetch], first: &Capture) {
    let mut turns: Vec<(bool, usize, usize)> = resources
        .iter()
        .filter_map(|resource| {
            let deferred = matches!(resource.script, Some(Script::Defer | Script::Module));
            let sync = resource.script == Some(Script::Sync);
            let ordered = deferred || resource.blocks_rendering() || sync;
            let at = reference(&fetches[resource.id], first).filter(|_| ordered)?;
            Some((deferred, at, resource.id))
        })
        .collect();
    turns.sort_unstable();
    for (turn, (_, _, id)) in turns.into_iter().enumerate() {
        resources[id].eval_order = u32::try_from(turn).ok();
    }
    for id in 1..resources.len() {
        if resources[id].kind == Kind::Css && resources[id].eval_order.is_none() {
            let by = fetches[id].initiator.path.as_deref();
            let parent = fetches.iter().position(|it| Some(it.path.as_str()) == by);
            let parent = parent.filter(|&it| resources[it].kind == Kind::Css);
            resources[id].eval_order = parent.and_then(|it| resources[it].eval_order);
        }
    }
}

/// Where in the document the reference to a resource ends; `None` if it has another cause. While the document is
/// parsed, browsers also name the parser and its place for requests of scripts.
pub(crate) fn reference(fetch: &Fetch, first: &Capture) -> Option<usize> {
    let by = &fetch.initiator;
    let document = first.fetches.first().map(|it| it.path.as_str());
    if by.kind != "parser" || by.path.as_deref() != document {
        return None;
    }
    let (line, column) = by.place?;
    let end = offset(&first.document, line, column)?;
    let start = first.document[..end].rfind('<')?;
    first.document[start..end].contains(last_part(&fetch.path)).then_some(end)
}

/// The last non-empty part of a path, without its query.
pub(crate) fn last_part(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Byte offset in a text of a line and column (from 0, in UTF-16 units); `None` beyond its end.
pub(crate) fn offset(text: &str, line: u64, column: u64) -> Option<usize> {
    let mut start = 0;
    for _ in 0..line {
        start += text[start..].find('\n')? + 1;
    }
    let mut units = 0;
    for (at, letter) in text[start..].char_indices() {
        if units >= column {
            return Some(start + at);
        }
        units += letter.len_utf16() as u64;
    }
    Some(text.len())
}

fn end_of_tag(text: &str, start: usize) -> usize {
    text[start..].find('>').map_or(text.len(), |it| start + it + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_in_utf_16() {
        let text = "ab\nc\u{1f600}d<x>\n";
        assert_eq!(offset(text, 0, 1), Some(1));
        assert_eq!(offset(text, 1, 3), Some(text.find('d').expect("there")));
        assert_eq!(offset(text, 9, 0), None);
    }
}
