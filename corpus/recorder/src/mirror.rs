//! A page of the web as a site of our own, built from the responses that a browser received.
//!
//! A mirror holds the answers of one host. Like a folder, it omits other hosts.

use crate::error::{RecordError, refused};
use crate::limits::MIRROR_BYTES_MAX;
use schedulers::{Kind, Resource};
use server::site::{Body, Request, Response, Site};
use std::collections::BTreeMap;
use std::sync::Arc;
use url::{Position, Url};

/// A request of the browser and its response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// With scheme, host and query.
    pub url: String,
    /// `GET`.
    pub method: String,
    /// Where it redirects to.
    pub redirect: Option<String>,
    /// HTTP status; `None` if the request failed.
    pub status: Option<u16>,
    /// The `content-type` field, or the browser's guess.
    pub mime: String,
    /// The decoded body; `None` if the browser did not keep it.
    pub body: Option<Vec<u8>>,
    /// Whether a service worker answered.
    pub from_worker: bool,
}

/// The answers of a host, by path with query.
#[derive(Debug)]
pub struct Mirror {
    /// The document's path.
    pub entry: String,
    /// The host, without a port.
    pub host: String,
    /// The differences from the original, one sentence each, without host names.
    pub assumptions: Vec<String>,
    answers: BTreeMap<String, Stored>,
}

#[derive(Debug, Clone)]
struct Stored {
    status: u16,
    mime: String,
    body: Arc<[u8]>,
}

/// The answers of a load by URL, without fragments.
type Answers<'a> = BTreeMap<Url, &'a Answer>;

/// Parses the URL of a public page that a browser can load.
pub fn page_url(text: &str) -> Result<Url, RecordError> {
    let url = plain(text)
        .filter(|it| matches!(it.scheme(), "http" | "https"))
        .ok_or_else(|| refused(text, "is not a page of a server; name an http or https URL"))?;
    if !url.username().is_empty() {
        let cause = "contains a user name; record public pages without it";
        return Err(refused(text, cause));
    }
    Ok(url)
}

/// Whether two URLs have the same host, whatever their ports.
pub fn same_host(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(plain);
    one.zip(other).is_some_and(|(one, other)| one.has_host() && one.host() == other.host())
}

impl Mirror {
    /// The page at `url`, from all requests of its load, in order. Errors name what a mirror cannot hold: documents
    /// of other hosts, HTTP errors, POST requests, service workers.
    pub fn new(url: &str, answers: &[Answer]) -> Result<Self, RecordError> {
        let page = page_url(url)?;
        let by_url: Answers<'_> =
            answers.iter().rev().filter_map(|it| Some((plain(&it.url)?, it))).collect();
        let document = document(url, &page, &by_url)?;
        let target = page_url(&document.url)?;
        let mut mirror = Self {
            entry: path_of(&target),
            host: target.host_str().unwrap_or_default().to_owned(),
            assumptions: Vec::new(),
            answers: BTreeMap::new(),
        };
        let mut left = Left::default();
        for answer in answers {
            let asked = plain(&answer.url).filter(|it| it.authority() == target.authority());
            if let Some(asked) = asked {
                mirror.keep(answer, &asked, &by_url, &mut left)?;
            }
        }
        mirror.assumptions = left.sentences();
        let bytes: usize = mirror.answers.values().map(|it| it.body.len()).sum();
        if bytes > MIRROR_BYTES_MAX {
            let cause = format!("holds {bytes} bytes; a mirror may hold {MIRROR_BYTES_MAX}");
            return Err(refused(url, &cause));
        }
        Ok(mirror)
    }

    fn keep(
        &mut self,
        answer: &Answer,
        asked: &Url,
        by_url: &Answers<'_>,
        left: &mut Left,
    ) -> Result<(), RecordError> {
        let url = asked.as_str();
        if answer.method != "GET" {
            let cause =
                format!("is requested with {}; only GET can be answered again", answer.method);
            return Err(refused(url, &(cause + ": record a page without it")));
        }
        if answer.from_worker {
            return Err(refused(url, "is answered by a service worker; record a page without one"));
        }
        let end = end_of_redirects(answer, by_url)?;
        if plain(&end.url).is_none_or(|target| target.authority() != asked.authority()) {
            let cause = "redirects to another host; mirror the site by hand (wget --page-requisites \
                         --convert-links) and name the folder";
            return Err(refused(url, cause));
        }
        left.redirects += usize::from(answer.redirect.is_some());
        let Some(status) = end.status else {
            left.failed += 1;
            return Ok(());
        };
        let body = end.body.clone().unwrap_or_else(|| {
            left.bodiless += usize::from((200..300).contains(&status));
            Vec::new()
        });
        // The page used only this part of the file, so the part becomes the file.
        let status = if status == 206 { 200 } else { status };
        let stored = Stored { status, mime: end.mime.clone(), body: Arc::from(body) };
        self.answers.entry(path_of(asked)).or_insert(stored);
        Ok(())
    }

    /// The answer for this path, or for one that differs only in a time of day in its query.
    fn find(&self, path: &str) -> Option<&Stored> {
        self.answers.get(path).or_else(|| {
            let wanted = crate::derive::without_numbers(path);
            let mut others = self.answers.iter();
            let same = others.find(|(other, _)| crate::derive::without_numbers(other) == wanted);
            same.map(|(_, stored)| stored)
        })
    }
}

impl Site for Mirror {
    fn respond(&self, request: &Request) -> Response {
        if request.method != "GET" {
            return Response::empty(405);
        }
        let Some(stored) = self.find(&request.path) else { return Response::empty(404) };
        if stored.status >= 300 {
            return Response::empty(stored.status);
        }
        Response {
            status: stored.status,
            headers: server::site::fields::fields([
                ("content-type", stored.mime.as_str()),
                // For a page loaded without TLS, upgrades the references to its own host.
                ("content-security-policy", "upgrade-insecure-requests"),
            ]),
            body: Body::Bytes(Arc::clone(&stored.body)),
            resource: Resource {
                kind: Kind::of_mime(&stored.mime),
                body_bytes: Some(stored.body.len() as u64),
                ..Resource::default()
            },
            ..Response::empty(200)
        }
    }
}

/// Counts the answers that a mirror could not adopt.
#[derive(Default)]
struct Left {
    redirects: usize,
    failed: usize,
    bodiless: usize,
}

impl Left {
    fn sentences(&self) -> Vec<String> {
        let counted = [
            (self.redirects, "redirects on the same host are answered by their targets"),
            (self.failed, "requests failed and are answered by 404"),
            (self.bodiless, "responses whose bodies the browser did not keep are answered empty"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        counted.map(|(count, what)| format!("{count} {what}")).collect()
    }
}

/// The answer that holds the page's document.
fn document<'a>(url: &str, page: &Url, by_url: &Answers<'a>) -> Result<&'a Answer, RecordError> {
    let first = by_url.get(page).ok_or_else(|| refused(url, "was never requested"))?;
    let end = end_of_redirects(first, by_url)?;
    if !same_host(&first.url, &end.url) {
        return Err(refused(url, &format!("leads to another host; record {} itself", end.url)));
    }
    match end.status {
        None => Err(refused(url, "did not answer; does it exist?")),
        Some(200) if Kind::of_mime(&end.mime) == Kind::Html => Ok(end),
        Some(200) => Err(refused(url, &format!("is {}; only HTML is a page", end.mime))),
        Some(status) => Err(refused(url, &format!("answers {status}; name a page that exists"))),
    }
}

fn end_of_redirects<'a>(
    answer: &'a Answer,
    by_url: &Answers<'a>,
) -> Result<&'a Answer, RecordError> {
    let mut end = answer;
    let mut steps = 0;
    while let Some(to) = &end.redirect {
        let next = plain(to).and_then(|it| by_url.get(&it));
        end = match next {
            Some(next) if steps <= by_url.len() => next,
            _ => return Err(refused(&answer.url, "redirects endlessly")),
        };
        steps += 1;
    }
    Ok(end)
}

/// A URL without its fragment.
fn plain(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    url.set_fragment(None);
    Some(url)
}

fn path_of(url: &Url) -> String {
    url[Position::BeforePath..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://www.shop.example/";

    fn answer(url: &str, mime: &str, body: &str) -> Answer {
        Answer {
            url: url.to_owned(),
            method: "GET".to_owned(),
            status: Some(200),
            mime: mime.to_owned(),
            body: Some(body.into()),
            ..Answer::default()
        }
    }

    fn redirect(from: &str, to: &str) -> Answer {
        let redirect = Some(to.to_owned());
        Answer { status: Some(302), redirect, body: None, ..answer(from, "", "") }
    }

    fn page() -> Vec<Answer> {
        vec![
            answer(PAGE, "text/html; charset=utf-8", "<html>"),
            answer("https://www.shop.example/a.css?v=2", "text/css", "a {}"),
            answer("https://cdn.example/b.js", "text/javascript", "b"),
        ]
    }

    fn error(url: &str, more: Vec<Answer>) -> String {
        let answers: Vec<Answer> = page().into_iter().chain(more).collect();
        Mirror::new(url, &answers).expect_err("refused").to_string()
    }

    fn got(mirror: &Mirror, path: &str) -> (u16, u64) {
        let response = mirror.respond(&Request::get("www.page.test", path));
        (response.status, response.body.bytes())
    }

    #[test]
    fn a_mirror_answers_as_the_host_did_and_leaves_out_other_hosts() {
        let mirror = Mirror::new("https://www.shop.example", &page()).expect("a mirror");
        assert_eq!((mirror.host.as_str(), mirror.entry.as_str()), ("www.shop.example", "/"));
        assert_eq!(got(&mirror, "/"), (200, 6));
        assert_eq!(got(&mirror, "/a.css?v=2"), (200, 4));
        assert_eq!(got(&mirror, "/a.css"), (404, 0));
        assert_eq!(got(&mirror, "/b.js"), (404, 0));
        let style = mirror.respond(&Request::get("", "/a.css?v=2"));
        assert_eq!(style.resource.kind, Kind::Css);
        assert_eq!(mirror.assumptions, Vec::<String>::new());
    }

    #[test]
    fn a_time_of_day_in_a_query_is_any_time() {
        let url = "https://www.shop.example/data.json?_=1795243635064";
        let more = [answer(url, "application/json", "{}")];
        let answers: Vec<Answer> = page().into_iter().chain(more).collect();
        let mirror = Mirror::new(PAGE, &answers).expect("a mirror");
        assert_eq!(got(&mirror, "/data.json?_=1795243699999"), (200, 2));
    }

    #[test]
    fn errors_failures_and_lost_bodies_stay_what_they_are() {
        let gone = Answer {
            status: Some(410),
            body: None,
            ..answer("https://www.shop.example/gone.png", "", "")
        };
        let failed = Answer {
            status: None,
            body: None,
            ..answer("https://www.shop.example/cut.png", "", "")
        };
        let lost =
            Answer { body: None, ..answer("https://www.shop.example/film.mp4", "video/mp4", "") };
        let answers: Vec<Answer> = page().into_iter().chain([gone, failed, lost]).collect();
        let mirror = Mirror::new(PAGE, &answers).expect("a mirror");
        assert_eq!(got(&mirror, "/gone.png"), (410, 0));
        assert_eq!(got(&mirror, "/cut.png"), (404, 0));
        assert_eq!(got(&mirror, "/film.mp4"), (200, 0));
        assert_eq!(
            mirror.assumptions,
            [
                "1 requests failed and are answered by 404",
                "1 responses whose bodies the browser did not keep are answered empty"
            ]
        );
    }

    #[test]
    fn redirects_on_the_host_are_answered_by_their_targets() {
        let answers = vec![
            redirect("http://www.shop.example/", "https://www.shop.example/"),
            redirect(PAGE, "https://www.shop.example/en/"),
            answer("https://www.shop.example/en/", "text/html", "<html>"),
        ];
        let mirror = Mirror::new("http://www.shop.example/#top", &answers).expect("a mirror");
        assert_eq!(mirror.entry, "/en/");
        assert_eq!(got(&mirror, "/"), (200, 6));
        assert!(mirror.assumptions[0].starts_with("2 redirects on the same host"));
    }

    #[test]
    fn a_url_that_cannot_be_mirrored_is_rejected_by_name() {
        for (url, cause) in [
            ("data:text/html,x", "is not a page of a server; name an http or https URL"),
            ("file:///etc/passwd", "is not a page of a server; name an http or https URL"),
            ("ftp://a/x", "is not a page of a server; name an http or https URL"),
            ("https://me:secret@a/x", "contains a user name; record public pages without it"),
            ("https://www.shop.example/none", "was never requested"),
            ("https://www.shop.example/a.css?v=2", "is text/css; only HTML is a page"),
        ] {
            assert_eq!(error(url, Vec::new()), format!("{url}: {cause}"));
        }
    }

    #[test]
    fn a_page_that_cannot_be_mirrored_is_rejected_by_name() {
        let url = "https://www.shop.example/x";
        let other = "https://elsewhere.example/";
        let status = |status| Answer { status, ..answer(url, "text/html", "") };
        let posted = Answer { method: "POST".to_owned(), ..answer(url, "", "") };
        let worker = Answer { from_worker: true, ..answer(url, "", "") };
        for (page, more, cause) in [
            (url, vec![status(Some(404))], "answers 404; name a page that exists"),
            (url, vec![status(None)], "did not answer; does it exist?"),
            (
                url,
                vec![redirect(url, other), answer(other, "text/html", "")],
                "leads to another host; record https://elsewhere.example/ itself",
            ),
            (url, vec![redirect(url, url)], "redirects endlessly"),
            (
                PAGE,
                vec![redirect(url, other), answer(other, "image/png", "")],
                "redirects to another host; mirror the site by hand (wget --page-requisites \
                 --convert-links) and name the folder",
            ),
            (
                PAGE,
                vec![posted],
                "is requested with POST; only GET can be answered again: record a page without it",
            ),
            (PAGE, vec![worker], "is answered by a service worker; record a page without one"),
        ] {
            assert_eq!(error(page, more), format!("{url}: {cause}"));
        }
    }
}
