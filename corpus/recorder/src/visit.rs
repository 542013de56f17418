//! Visits a page on one of our servers with a browser, to test whether it requests the page's resources.

use crate::browser::{Chromium, Download, Quiet};
use crate::error::RecordError;
use crate::observe::{Observations, Report, observe};
use crate::session::LocalServer;
use crate::site::HOST;
use corpus::Page;
use server::site::{Request, Response, Site};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// After this long without a request, a page counts as finished.
const SILENCE: Duration = Duration::from_millis(1500);

/// The result of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visit {
    /// Requests for the page's own resources.
    pub asked: usize,
    /// Requests that used HTTP/3.
    pub over_http3: usize,
    /// Errors that are part of the page: its 404s.
    pub expected_errors: usize,
    /// URLs of the page that were not requested.
    pub missing: Vec<String>,
    /// Unexpected failures, and requests that are not in the page.
    pub wrong: Vec<String>,
}

impl Visit {
    /// Whether all requests used HTTP/3, and only the expected ones failed.
    pub fn is_well(&self) -> bool {
        self.missing.is_empty() && self.wrong.is_empty() && self.over_http3 == self.asked
    }
}

/// Counts the requests to another site.
struct Counted {
    site: Arc<dyn Site>,
    requests: AtomicUsize,
}

impl Site for Counted {
    fn respond(&self, request: &Request) -> Response {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.site.respond(request)
    }
}

/// Loads the document of `page` from `site` in Chromium.
pub fn visit(page: &Page, site: Arc<dyn Site>) -> Result<Visit, RecordError> {
    let site = Arc::new(Counted { site, requests: AtomicUsize::new(0) });
    let server = LocalServer::start(Arc::clone(&site) as Arc<dyn Site>)?;
    let chromium = Chromium::start(HOST, server.port, &server.pin)?;
    let origin = format!("https://{HOST}");
    let path = plain(&page.resources[0].url);
    let url = format!("{origin}{path}");
    let load = chromium.load(&url, &quiet(&|| site.requests.load(Ordering::SeqCst)), false)?;
    let capture = observe(&Observations {
        origin: &origin,
        path: &path,
        trace: &load.trace,
        report: &load.report,
        requests: &[],
    })?;
    let seen = capture.fetches.iter().map(|it| (it.path.as_str(), it.status, it.protocol.as_str()));
    Ok(compare(page, seen))
}

/// When the user of a page saw what, in milliseconds since the request for its document.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RenderTimes {
    /// The first contentful paint.
    pub first_render_ms: Option<f64>,
    /// `DOMContentLoaded`.
    pub dom_ready_ms: Option<f64>,
    /// The load event.
    pub load_ms: Option<f64>,
    /// The largest contentful paint, if it is a hero image of the page.
    pub hero_render_ms: Option<f64>,
    /// The `ByteIndex` of the resources above the fold, or of all if none are, with byte counts from the page. `None`: the
    /// browser did not get all of them.
    pub byte_index_ms: Option<f64>,
}

/// Loads the document of `page` in `chromium`, which was started for [`HOST`], optionally while the user downloads a file on
/// the same connection. `requests` returns the number of requests that reached the site.
pub fn render_times(
    chromium: &Chromium,
    page: &Page,
    beside: Option<&Download>,
    requests: &dyn Fn() -> usize,
) -> Result<RenderTimes, RecordError> {
    let (url, quiet) = (document(page), quiet(requests));
    let report = match beside {
        Some(download) => chromium.report_beside(download, &url, &quiet)?,
        None => chromium.report(&url, &quiet)?,
    };
    times(page, &report)
}

fn quiet(requests: &dyn Fn() -> usize) -> Quiet<'_> {
    Quiet { requests, waiting: &|| false, after: SILENCE }
}

/// The URL of the document when [`HOST`] serves `page`.
pub(crate) fn document(page: &Page) -> String {
    format!("https://{HOST}{}", plain(&page.resources[0].url))
}

/// The times in a report of `report.js`.
pub(crate) fn times(page: &Page, report: &str) -> Result<RenderTimes, RecordError> {
    let times = Report::read(report)?;
    let largest = times.largest.as_deref().and_then(plain_path);
    let is_hero = page.resources.iter().any(|it| it.hero && Some(plain(&it.url)) == largest);
    let since_request =
        |it: Option<f64>| it.map(|it| it - times.request_start).filter(|it| *it > 0.0);
    Ok(RenderTimes {
        first_render_ms: since_request(times.first_render),
        dom_ready_ms: since_request(times.dom_ready),
        load_ms: since_request(times.loaded),
        hero_render_ms: since_request(times.largest_render).filter(|_| is_hero),
        byte_index_ms: byte_index_ms(page, &times),
    })
}

fn byte_index_ms(page: &Page, times: &Report) -> Option<f64> {
    let bodies = times.bodies.iter();
    let ends: BTreeMap<String, f64> =
        bodies.filter_map(|it| Some((plain_path(&it.url)?, it.response_end))).collect();
    let has_fold = page.resources.iter().any(|it| it.above_fold);
    let counts = page.resources.iter().filter(|it| it.above_fold || !has_fold);
    let (mut bytes, mut byte_ms) = (0.0, 0.0);
    for resource in counts {
        let end = ends.get(&plain(&resource.url)).filter(|it| **it > 0.0)?;
        bytes += resource.bytes as f64;
        byte_ms += resource.bytes as f64 * (end - times.request_start);
    }
    (bytes > 0.0).then(|| byte_ms / bytes)
}

/// [`plain`] applied to the path of a URL.
pub(crate) fn plain_path(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    let query = url.query().map_or(String::new(), |it| format!("?{it}"));
    Some(plain(&format!("{}{query}", url.path())))
}

/// Compares a page with (path, status, protocol) of each request.
fn compare<'a>(page: &Page, seen: impl Iterator<Item = (&'a str, Option<u16>, &'a str)>) -> Visit {
    let mut expected: BTreeMap<String, (u16, bool)> =
        page.resources.iter().map(|it| (plain(&it.url), (it.status, false))).collect();
    let mut visit = Visit::default();
    for (path, status, protocol) in seen {
        let Some((expected_status, asked)) = expected.get_mut(&plain(path)) else {
            visit.wrong.push(format!("{path} does not belong to the page"));
            continue;
        };
        *asked = true;
        visit.asked += 1;
        visit.over_http3 += usize::from(protocol == "h3");
        if status != Some(*expected_status) {
            let status = status.map_or("nothing".to_owned(), |it| it.to_string());
            visit.wrong.push(format!("{path} has status {status}, not {expected_status}"));
        } else if *expected_status >= 400 {
            visit.expected_errors += 1;
        }
    }
    let missing = expected.into_iter().filter(|(_, (_, asked))| !asked);
    visit.missing = missing.map(|(url, _)| url).collect();
    visit
}

/// A URL without parts that differ between two fetches; times of day become zeros.
pub(crate) fn plain(url: &str) -> String {
    let url = crate::derive::without_numbers(url);
    let Some((path, query)) = url.split_once('?') else { return url };
    let kept: Vec<&str> = query.split('&').filter(|it| !it.starts_with("fetch=")).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_times_count_from_the_request_for_the_document() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(3);
        for (resource, bytes) in page.resources.iter_mut().zip([1000, 3000, 500]) {
            (resource.bytes, resource.above_fold) = (bytes, resource.id < 2);
            resource.hero = resource.id == 1;
        }
        let url = |id: usize| format!("https://a.test{}", page.resources[id].url);
        let report = |urls: [String; 2]| {
            let [one, two] = urls;
            format!(
                r#"{{"requestStart":40.5,"firstRender":100.5,"largest":"{two}","largestRender":200.5,"domReady":0,"loaded":240.5,"bodies":[
                {{"url":"{one}","responseEnd":140.5}},{{"url":"{two}","responseEnd":240.5}}]}}"#
            )
        };
        let expected = RenderTimes {
            first_render_ms: Some(60.0),
            dom_ready_ms: None,
            load_ms: Some(200.0),
            hero_render_ms: Some(160.0),
            byte_index_ms: Some(175.0),
        };
        assert_eq!(times(&page, &report([url(0), url(1)])).unwrap(), expected);
        let incomplete = times(&page, &report([url(0), url(2)])).unwrap();
        // The largest image is not a hero image of the page.
        assert_eq!(
            incomplete,
            RenderTimes { hero_render_ms: None, byte_index_ms: None, ..expected }
        );
    }

    #[test]
    fn a_visit_is_well_if_all_is_asked_for_over_http3_and_fails_as_the_page_says() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(3);
        page.resources[2].status = 404;
        let urls: Vec<String> = page.resources.iter().map(|it| it.url.clone()).collect();
        let seen = |status: u16, protocol: &'static str| {
            let all = [Some(200), Some(200), Some(status)];
            compare(&page, urls.iter().zip(all).map(move |(url, it)| (url.as_str(), it, protocol)))
        };
        let well = seen(404, "h3");
        assert!(well.is_well(), "{well:?}");
        assert_eq!((well.asked, well.expected_errors), (3, 1));
        assert!(!seen(404, "h2").is_well());
        assert_eq!(seen(500, "h3").wrong, [format!("{} has status 500, not 404", urls[2])]);
        let less = compare(&page, [(urls[0].as_str(), Some(200), "h3")].into_iter());
        assert_eq!(less.missing.len(), 2);
    }
}
