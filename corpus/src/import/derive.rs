//! Rules that all importers share, for facts that recordings lack.

use super::{ImportError, Imported};
use crate::check::check;
use crate::page::{Event, Page, PageResource, Script, Trigger};
use schedulers::Kind;
use std::collections::BTreeMap;

/// Main-thread time of a script for each decoded byte, if it was not recorded: the median of 221 scripts of 59 pages
/// of packages, recorded on a desktop.
const SCRIPT_MS_PER_BYTE: f64 = 7e-5;
/// The same for a stylesheet, from 147.
const STYLESHEET_MS_PER_BYTE: f64 = 3e-5;

/// The most failed responses that a note names.
const FAILED_SHOWN: usize = 10;

/// The assumed main-thread time of a resource, in milliseconds, rounded to tenths.
pub(crate) fn typical_exec_ms(it: &PageResource) -> f64 {
    let ms_per_byte = match it.kind {
        Kind::Js => SCRIPT_MS_PER_BYTE,
        Kind::Css => STYLESHEET_MS_PER_BYTE,
        _ => 0.0,
    };
    (it.decoded_len() as f64 * ms_per_byte * 10.0).round() / 10.0
}

/// Bytes per request of the median page in 2024, by kind (HTTP Archive, Web Almanac).
pub(super) const fn typical_bytes(kind: Kind) -> u64 {
    match kind {
        Kind::Html => 18_000,
        Kind::Css => 10_000,
        Kind::Js => 25_000,
        Kind::Font => 33_000,
        Kind::Image => 40_000,
        Kind::Media => 300_000,
        Kind::Xhr | Kind::Other => 2_000,
    }
}

/// A MIME type from which servers and schemes recognize the kind that the browser used; recordings contain empty and
/// generic ones.
pub(super) fn mime_for(mime: &str, used_as: &str, url: &str) -> String {
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let printable = essence.bytes().all(|it| it.is_ascii_graphic());
    let generic =
        matches!(essence.as_str(), "" | "application/octet-stream" | "x-unknown" | "text/plain");
    // A browser shows such a document as a page, and schemes take only `text/html` for one.
    let is_xml =
        matches!(essence.as_str(), "application/xhtml+xml" | "application/xml" | "text/xml");
    if used_as == "Document" && is_xml {
        return "text/html".to_owned();
    }
    if !generic && printable {
        return essence;
    }
    match (used_as, extension(url)) {
        ("Document", _) => "text/html",
        ("Stylesheet", _) | (_, "css") => "text/css",
        ("Script", _) | (_, "js") => "text/javascript",
        (_, "woff") => "font/woff",
        ("Font", _) | (_, "woff2") => "font/woff2",
        ("Image", "svg") => "image/svg+xml",
        ("Image", _) => "image/png",
        ("Media", _) => "video/mp4",
        _ if essence.is_empty() || !printable => "application/octet-stream",
        _ => &essence,
    }
    .to_owned()
}

pub(super) fn extension(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once('.').map_or("", |(_, it)| it)
}

/// Derives the order of evaluation and the resources after the first image, and checks the page. Stores `notes`, the
/// assumptions, in the page's source.
pub(super) fn finish(mut page: Page, notes: Vec<String>) -> Result<Imported, ImportError> {
    set_after_first_image(&mut page.resources);
    finish_as_stated(page, notes)
}

/// The same for a page that already states which resources follow its first image.
pub(super) fn finish_as_stated(
    mut page: Page,
    mut notes: Vec<String>,
) -> Result<Imported, ImportError> {
    set_eval_order(&mut page.resources);
    notes.extend(failed(&page.resources));
    page.source.assumptions.clone_from(&notes);
    match check(&page).into_iter().next() {
        Some(problem) => Err(ImportError::Wrong(problem)),
        None => Ok(Imported { page, notes }),
    }
}

/// The responses that failed, in words. A browser receives their bodies, but shows none of them.
fn failed(resources: &[PageResource]) -> Option<String> {
    let failed = resources.iter().filter(|it| it.status >= 400);
    let names: Vec<String> =
        failed.map(|it| format!("{} (status {})", it.url, it.status)).collect();
    let shown = names.iter().take(FAILED_SHOWN).map(String::as_str);
    let more = if names.len() > FAILED_SHOWN { ", ..." } else { "" };
    let shown = shown.collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("responses that failed: {}: {shown}{more}", names.len()))
}

/// Sets the order of evaluation: the parser's order, scripts after the stylesheets before them, and deferred scripts
/// last.
pub(crate) fn set_eval_order(resources: &mut [PageResource]) {
    let mut order: Vec<(bool, u64, usize)> = Vec::new();
    for it in resources.iter() {
        let deferred = matches!(it.script, Some(Script::Defer | Script::Module));
        let in_order = it.critical && matches!(it.kind, Kind::Css | Kind::Js) || deferred;
        if in_order && it.trigger.on == Event::Bytes && it.trigger.of == 0 {
            order.push((deferred, it.trigger.byte.unwrap_or(0), it.id));
        }
    }
    order.sort_unstable();
    for (place, (_, _, id)) in (0..).zip(order) {
        resources[id].eval_order = Some(place);
    }
}

/// Marks the resources that the document references after its first image, and the resources they reference.
pub(crate) fn set_after_first_image(resources: &mut [PageResource]) {
    // A preloaded image stands elsewhere than its hint.
    let images = resources.iter().filter(|it| it.kind == Kind::Image && !it.preload);
    let in_document = images.filter(|it| it.trigger.of == 0);
    let Some(first) = in_document.filter_map(|it| it.trigger.byte).min() else { return };
    for id in 1..resources.len() {
        let behind = match resources[id].trigger {
            Trigger { of: 0, byte: Some(byte), .. } => byte > first,
            Trigger { of, .. } => of < id && resources[of].after_first_image,
        };
        resources[id].after_first_image = behind;
    }
}

/// Keeps the first fetch of each URL. Returns the index of the resource for each request of the recording.
pub(super) fn merge_fetches<'a>(keys: impl Iterator<Item = &'a str>) -> (Vec<usize>, usize) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut repeated = 0;
    let targets = keys.map(|key| {
        let next = first.len();
        let target = *first.entry(key).or_insert(next);
        repeated += usize::from(target != next);
        target
    });
    (targets.collect(), repeated)
}

/// When a resource appears in the recording, in milliseconds on one clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) discovered_ms: f64,
    pub(super) arrived_ms: f64,
}

/// Subtracts main-thread time from recorded delays: they count from the arrival of the needed resource, but a page's
/// delays count from its application.
pub(super) fn set_delays(resources: &mut [PageResource], seen: &[Seen]) {
    let begun: Vec<(f64, f64)> = executions(resources, seen);
    for id in 1..resources.len() {
        let trigger = &resources[id].trigger;
        let needed = trigger.needs.iter().map(|&it| begun[it].1);
        let event = match trigger.on {
            Event::CssApplied => begun[trigger.of].1,
            Event::Exec => begun[trigger.of].0,
            // Without any stylesheet, this event is the arrival of the document.
            Event::StyleApplied => begun[0].1,
            _ => continue,
        };
        let sheets = resources.iter().filter(|it| it.blocks_rendering());
        let sheets = sheets.filter(|it| trigger.on == Event::StyleApplied || it.id < trigger.of);
        let styled = sheets.map(|it| begun[it.id].1).filter(|_| trigger.on != Event::Exec);
        let met = needed.chain(styled).fold(event, f64::max);
        resources[id].trigger.delay_ms = delay_ms(met, seen[id].discovered_ms);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u64")]
pub(super) fn rounded(bytes: f64) -> u64 {
    bytes.max(0.0).round() as u64
}

/// The time between two moments, at least 0, in tenths.
pub(super) fn delay_ms(from_ms: f64, to_ms: f64) -> f64 {
    ((to_ms - from_ms).max(0.0) * 10.0).round() / 10.0
}

/// (begin, end) of each execution, from the recorded arrivals: critical resources in document order, the others on
/// arrival.
fn executions(resources: &[PageResource], seen: &[Seen]) -> Vec<(f64, f64)> {
    let mut idle_ms = f64::NEG_INFINITY;
    let mut spans = Vec::new();
    for (it, seen) in resources.iter().zip(seen) {
        let ordered = it.critical && it.id != 0 && it.trigger.on == Event::Bytes;
        let begin_ms = if ordered { seen.arrived_ms.max(idle_ms) } else { seen.arrived_ms };
        let end_ms = begin_ms + it.exec_ms;
        if ordered {
            idle_ms = end_ms;
        }
        spans.push((begin_ms, end_ms));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_responses_are_named_with_their_status() {
        let of = |urls: &[(&str, u16)]| {
            let resources = urls.iter().map(|(url, status)| PageResource {
                status: *status,
                ..PageResource::plain(0, (*url).to_owned(), String::new(), 9)
            });
            failed(&resources.collect::<Vec<_>>())
        };
        assert_eq!(of(&[("/", 200)]), None);
        assert_eq!(
            of(&[("/", 200), ("/a.css", 404), ("/b.js", 503)]).as_deref(),
            Some("responses that failed: 2: /a.css (status 404), /b.js (status 503)")
        );
        let many = of(&[("/a", 404); 11]).expect("a note");
        assert!(
            many.starts_with("responses that failed: 11: ") && many.ends_with("(status 404), ...")
        );
    }

    #[test]
    fn an_xml_document_is_html_and_other_xml_is_not() {
        let kind = |mime: &str, used_as: &str| Kind::of_mime(&mime_for(mime, used_as, "/"));
        assert_eq!(kind("application/xhtml+xml", "Document"), Kind::Html);
        assert_eq!(kind("text/xml; charset=utf-8", "Document"), Kind::Html);
        assert_eq!(kind("application/xml", "XHR"), Kind::Xhr);
    }
}
