//! Selects the requests of a recording that belong to the page.

use super::ImportError;
use super::faults::{leave_out, name, named};
use super::parts::join;
use crate::import::derive::extension;
use crate::import::{Addresses, refuse};
use crate::limits::RESOURCES_MAX;
use captures::{Fetch, Load, Size};
use std::collections::{BTreeMap, BTreeSet};

/// The document and the later GET requests of its load, without duplicate URLs, in order of request.
pub(super) fn keep_fetches(
    load: Load,
    redirects: &BTreeMap<String, String>,
    addresses: Addresses,
    notes: &mut Vec<String>,
) -> Result<Vec<Fetch>, ImportError> {
    let Load { mut fetches, address, .. } = load;
    fetches.sort_by(|a, b| a.requested_ms.total_cmp(&b.requested_ms));
    let address = address.map(|it| behind_redirects(it, redirects));
    let document = document(&fetches, address.as_deref())?;
    let (url, begun_ms) = (document.url.clone(), document.requested_ms);
    let requests = leave_out(fetches, &url, begun_ms, addresses, notes)?;
    let unanswered = unanswered(&requests, addresses);
    let (mut requests, omitted): (Vec<Fetch>, Vec<Fetch>) =
        requests.into_iter().partition(is_fetch);
    let first = requests.iter().position(|it| it.url == url && is_delivered(it)).unwrap_or(0);
    let early: Vec<Fetch> = requests.drain(..first).collect();
    let (requests, repeated) = join(requests, notes);
    if requests.len() > RESOURCES_MAX {
        let count = requests.len();
        return refuse(format!("holds {count} resources; cut it to {RESOURCES_MAX}"));
    }
    notes.extend(left_out(&omitted, repeated));
    if !early.is_empty() {
        let names = named(&early.iter().collect::<Vec<_>>(), addresses);
        notes.push(format!("requests left out because they came before the document's: {names}"));
    }
    notes.extend(unanswered);
    Ok(requests)
}

/// The requests that no page has, counted by reason.
fn left_out(omitted: &[Fetch], repeated: usize) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fetch in omitted {
        *counts.entry(reason(fetch)).or_default() += 1;
    }
    if repeated > 0 {
        counts.insert("repeated fetches", repeated);
    }
    let all: usize = counts.values().sum();
    let requests = if all == 1 { "request is" } else { "requests are" };
    let named: Vec<String> = counts.iter().map(|(reason, it)| format!("{reason} ({it})")).collect();
    (all > 0).then(|| format!("{all} {requests} left out: {}", named.join(", ")))
}

/// Why it is not a fetch of a page.
fn reason(it: &Fetch) -> &'static str {
    match it {
        _ if it.url.starts_with("data:") => "data URLs",
        _ if !it.url.starts_with("http") => "addresses that are not http or https",
        _ if !is_get(it) => "other methods than GET",
        _ if is_icon(it) => "icons",
        _ if (300..400).contains(&it.status) => "redirects",
        _ if it.status == 0 => "requests without an answer",
        _ => "answers without a body",
    }
}

/// The requests that got no answer, such as blocked ones, in words. Others for the same address may have got one.
fn unanswered(requests: &[Fetch], addresses: Addresses) -> Option<String> {
    let answered: BTreeSet<&str> =
        requests.iter().filter(|it| it.status != 0).map(|it| &*it.url).collect();
    let mut lost: Vec<&Fetch> =
        requests.iter().filter(|it| is_request(it) && it.status == 0).collect();
    lost.retain(|it| !answered.contains(&*it.url));
    let names = named(&lost, addresses);
    (!lost.is_empty()).then(|| format!("requests left out because they got no answer: {names}"))
}

/// The body bytes of a load that were on the wire and would be kept.
pub(crate) fn kept_bytes(load: &Load, redirects: &BTreeMap<String, String>) -> u64 {
    let kept = keep_fetches(load.clone(), redirects, Addresses::Renamed, &mut Vec::new());
    let kept = kept.unwrap_or_default();
    let on_the_wire = kept.iter().filter(|it| it.size == Size::Recorded && !it.from_cache);
    on_the_wire.fold(0, |sum, it| it.bytes.saturating_add(sum))
}

fn behind_redirects(mut address: String, redirects: &BTreeMap<String, String>) -> String {
    for _ in 0..20 {
        let Some(to) = redirects.get(&address) else { break };
        address.clone_from(to);
    }
    address
}

/// The first document: at the page's own address, or used as a document according to the browser, or the first HTML, preferably
/// without a Referer, because frames have one. If it failed, another request for the same address may have succeeded. Errors name
/// it.
fn document<'a>(fetches: &'a [Fetch], address: Option<&str>) -> Result<&'a Fetch, ImportError> {
    let requests: Vec<&Fetch> = fetches.iter().filter(|it| is_request(it)).collect();
    let answers: Vec<&Fetch> = requests.iter().copied().filter(|it| is_answer(it.status)).collect();
    let addressed = answers.iter().copied().find(|it| Some(&*it.url) == address && is_html(it));
    let Some(first) = addressed.or_else(|| guessed_document(&answers)) else {
        return Err(no_document(fetches, &requests));
    };
    let delivered = answers.iter().copied().find(|it| it.url == first.url && is_delivered(it));
    delivered.ok_or_else(|| refusal(first))
}

/// Why none of the requests may be one for a document.
fn no_document(fetches: &[Fetch], requests: &[&Fetch]) -> ImportError {
    let asked_for = requests.iter().find(|it| it.used_as == "Document" || it.mime.contains("html"));
    let mut undated = fetches.iter().filter(|it| !it.requested_ms.is_finite());
    match undated.find(|it| it.url.starts_with("http") && is_html(it)) {
        Some(undated) if asked_for.is_none() => ImportError::Format(format!(
            "{}: its startedDateTime is not a date; without the document's date, nothing is known of the page",
            name(undated, Addresses::Kept)
        )),
        _ => asked_for.map_or_else(|| without_document(fetches), |it| refusal(it)),
    }
}

/// Names what the recording holds in place of a document.
fn without_document(fetches: &[Fetch]) -> ImportError {
    let first = fetches.first().map_or(String::new(), |it| {
        let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
        format!(
            "; its first, {}, is a {} with status {} and the type {}",
            name(it, Addresses::Kept),
            or(&it.method, "GET"),
            it.status,
            or(&it.mime, "unknown")
        )
    });
    ImportError::Format(format!(
        "holds no document that was delivered: no request is a GET of http or https that HTML answers{first}; record the page in a \
         browser, from its first request on"
    ))
}

fn guessed_document<'a>(answers: &[&'a Fetch]) -> Option<&'a Fetch> {
    let own: Vec<&Fetch> = answers.iter().copied().filter(|it| !it.in_subframe).collect();
    let used = own.iter().find(|it| it.used_as == "Document");
    let html = own.iter().filter(|it| it.used_as.is_empty() && it.mime.contains("html"));
    used.or_else(|| html.min_by_key(|it| !it.referer.is_empty())).copied()
}

/// Why the request for a document did not deliver one.
fn refusal(document: &Fetch) -> ImportError {
    let name = name(document, Addresses::Kept);
    ImportError::Format(match document.status {
        0 => format!("{name}: the document did not come; record the page again when it loads"),
        status => format!(
            "{name}: the document came with status {status}; record the page again when it loads"
        ),
    })
}

/// Whether it may be a page: failures often lack a type.
fn is_html(it: &Fetch) -> bool {
    it.used_as == "Document" || it.mime.contains("html") || it.mime.is_empty()
}

fn is_request(it: &Fetch) -> bool {
    it.url.starts_with("http") && is_get(it) && !is_icon(it) && it.requested_ms.is_finite()
}

fn is_get(it: &Fetch) -> bool {
    it.method.is_empty() || it.method.eq_ignore_ascii_case("GET")
}

fn is_answer(status: u16) -> bool {
    matches!(status, 200..=299 | 304 | 400..=599) && !matches!(status, 204 | 205)
}

fn is_delivered(it: &Fetch) -> bool {
    it.status < 400 && is_answer(it.status)
}

fn is_fetch(it: &Fetch) -> bool {
    is_request(it) && matches!(it.status, 200..=299 | 304 | 400..=599)
}

/// Whether it is an icon, by its type or its path, unless the path has another type. A host may be named after icons.
fn is_icon(it: &Fetch) -> bool {
    const IMAGES: [&str; 7] = ["ico", "png", "svg", "gif", "jpg", "jpeg", "webp"];
    let path = it.url.splitn(4, '/').nth(3).unwrap_or_default();
    let is_image = it.mime.starts_with("image/") || IMAGES.contains(&extension(path));
    it.mime.contains("icon") || path.contains("favicon") && is_image
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(url: &str, status: u16, mime: &str) -> Fetch {
        let (url, mime, method) = (url.to_owned(), mime.to_owned(), "GET".to_owned());
        Fetch { url, status, mime, method, bytes: 9, ..Fetch::default() }
    }

    fn page(fetches: Vec<Fetch>, address: Option<&str>) -> String {
        let load = Load { fetches, address: address.map(str::to_owned), ..Load::default() };
        match keep_fetches(load, &BTreeMap::new(), Addresses::Kept, &mut Vec::new()) {
            Ok(kept) => kept.iter().map(|it| it.url.as_str()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_icon_is_one_by_its_path_and_not_by_its_host() {
        let of = |url: &str, mime: &str| is_icon(&fetch(url, 200, mime));
        assert!(of("http://a.test/favicon.ico", "text/html"));
        assert!(of("http://a.test/favicons/32.png?v=1", "application/octet-stream"));
        assert!(of("http://a.test/x", "image/vnd.microsoft.icon"));
        assert!(!of("http://favicons.test/a.png", "image/png"));
        assert!(!of("http://a.test/favicon/", "text/html"));
        assert!(!of("http://a.test/favicon.js", "text/javascript"));
    }

    #[test]
    fn the_page_is_at_the_address_that_the_recording_names() {
        let frame = fetch("http://ads.test/f", 200, "text/html");
        let own = fetch("http://a.test/", 200, "text/html");
        let both = vec![frame, own];
        assert_eq!(page(both.clone(), Some("http://a.test/")), "http://a.test/");
        assert_eq!(page(both.clone(), None), "http://ads.test/f http://a.test/");
        assert_eq!(page(both, Some("http://elsewhere.test/")), "http://ads.test/f http://a.test/");
    }

    #[test]
    fn a_frame_has_a_referer() {
        let referer = "http://a.test/".to_owned();
        let frame = Fetch { referer, ..fetch("http://ads.test/f", 200, "text/html") };
        let own = fetch("http://a.test/", 200, "text/html");
        assert_eq!(page(vec![frame.clone(), own], None), "http://a.test/");
        assert_eq!(page(vec![frame], None), "http://ads.test/f");
    }

    #[test]
    fn a_document_without_a_date_is_named_as_the_cause() {
        let undated = Fetch { requested_ms: f64::NAN, ..fetch("http://a.test/", 200, "text/html") };
        let image = fetch("http://a.test/a.jpg", 200, "image/jpeg");
        assert_eq!(
            page(vec![undated, image], None),
            "request 0 (http://a.test/): its startedDateTime is not a date; without the document's date, nothing is known of the page"
        );
    }

    #[test]
    fn a_request_without_an_answer_is_named_unless_another_try_got_one() {
        let document = fetch("http://a.test/", 200, "text/html");
        let tried = |url: &str, status| fetch(url, status, "image/jpeg");
        let fetches = vec![
            document,
            tried("http://a.test/lost.jpg", 0),
            tried("http://a.test/b.jpg", 0),
            tried("http://a.test/b.jpg", 200),
        ];
        let mut notes = Vec::new();
        let load = Load { fetches, ..Load::default() };
        let kept = keep_fetches(load, &BTreeMap::new(), Addresses::Kept, &mut notes);
        assert_eq!(kept.expect("a page").len(), 2);
        assert_eq!(
            notes[1],
            "requests left out because they got no answer: 1: request 0 (http://a.test/lost.jpg)"
        );
    }

    #[test]
    fn a_document_that_failed_is_named_unless_a_second_try_did_not() {
        let failed = fetch("http://a.test/", 503, "text/html");
        let frame = fetch("http://ads.test/f", 200, "text/html");
        let cause = page(vec![failed.clone(), frame.clone()], None);
        assert!(cause.contains("(http://a.test/): the document came with status 503"), "{cause}");
        let cause = page(vec![fetch("http://a.test/", 0, "text/html")], None);
        assert_eq!(
            cause,
            "request 0 (http://a.test/): the document did not come; record the page again when it loads"
        );
        let again = fetch("http://a.test/", 200, "text/html");
        assert_eq!(page(vec![failed, again, frame], None), "http://a.test/ http://ads.test/f");
    }

    #[test]
    fn what_no_page_has_is_counted_by_its_reason_and_an_early_request_is_named() {
        let dated = |url: &str, requested_ms| Fetch { requested_ms, ..fetch(url, 200, "text/css") };
        let post = Fetch { method: "POST".to_owned(), ..fetch("http://a.test/p", 200, "") };
        let fetches = vec![
            dated("http://a.test/early.css", -60_000.0),
            fetch("http://a.test/", 200, "text/html"),
            post,
            fetch("data:text/css,a", 200, "text/css"),
            fetch("http://a.test/old", 301, ""),
            dated("//a.test/b.css", 1.0),
            dated("http://a.test/a.css", 2.0),
            dated("http://a.test/a.css", 3.0),
        ];
        let mut notes = Vec::new();
        let load = Load { fetches, ..Load::default() };
        let kept = keep_fetches(load, &BTreeMap::new(), Addresses::Kept, &mut notes);
        assert_eq!(kept.expect("a page").len(), 2);
        assert_eq!(
            notes,
            [
                "requests left out because their addresses have no scheme, such as https: 1: request 0 (//a.test/b.css)",
                "4 requests are left out: data URLs (1), other methods than GET (1), redirects (1), repeated fetches (1)",
                "requests left out because they came before the document's: 1: request 0 (http://a.test/early.css)",
            ]
        );
    }

    #[test]
    fn a_recording_without_a_document_is_told_by_its_first_request_and_with_what_to_do() {
        let post = Fetch { method: "POST".to_owned(), ..fetch("http://a.test/", 200, "text/html") };
        let told = "holds no document that was delivered: no request is a GET of http or https that HTML answers; its first, request \
                    0 (http://a.test/), is a POST with status 200 and the type text/html; record the page in a browser, from its \
                    first request on";
        assert_eq!(page(vec![post], None), told);
        let json = page(vec![fetch("http://a.test/a", 200, "application/json")], None);
        assert!(json.contains("is a GET with status 200 and the type application/json"), "{json}");
        let file = page(vec![fetch("file:///a.html", 200, "text/html")], None);
        assert!(file.contains("request 0 (file:///a.html)"), "{file}");
    }
}
