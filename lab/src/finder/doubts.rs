//! Reasons to doubt an answer about a page whatever its loads show, and the facts of its recording about the present server.

use super::others::{Others, SURE_SHARE_MAX};
use super::words::listed;
use corpus::Page;
use corpus::import::said::{FROM_CACHE, OVER_HTTP1, WITHOUT_HTTPS};

/// Why no loads make an answer for the page sure.
pub(super) fn doubts(page: &Page) -> Vec<String> {
    let cached = said(page, &[FROM_CACHE]);
    let own = failures(page).into_iter().chain(cached).map(|it| format!("{}: {it}", page.name));
    Others::of(page).doubt().into_iter().chain(own).collect()
}

/// Why the present server cannot send the page by priority today, and what the answer is then for.
pub(super) fn without_priorities(page: &Page) -> Option<String> {
    let cause = said(page, &[OVER_HTTP1, WITHOUT_HTTPS])?;
    Some(format!(
        " But {}: {cause}. The answer is for a server that sends it over HTTP/2 or HTTP/3; --baseline-server names which one.",
        page.name
    ))
}

fn said(page: &Page, beginnings: &[&str]) -> Option<String> {
    let mut assumptions = page.source.assumptions.iter();
    assumptions.find(|it| beginnings.iter().any(|begin| it.starts_with(begin))).cloned()
}

/// The responses that failed, if they are most of the page.
fn failures(page: &Page) -> Option<String> {
    let (mut bytes, mut failed_bytes, mut names) = (0, 0, Vec::new());
    for resource in &page.resources {
        bytes += resource.bytes;
        if resource.status >= 400 {
            failed_bytes += resource.bytes;
            names.push(format!("{} (status {})", resource.url, resource.status));
        }
    }
    let of_bytes = failed_bytes as f64 / bytes.max(1) as f64;
    let of_responses = names.len() as f64 / page.resources.len().max(1) as f64;
    (of_bytes > SURE_SHARE_MAX || of_responses > SURE_SHARE_MAX).then(|| {
        format!(
            "{} of {} responses ({:.0} % of the bytes) failed: {}; record the page again when it loads",
            names.len(),
            page.resources.len(),
            100.0 * of_bytes,
            listed(names.iter().map(String::as_str))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(3);
        page.resources.iter_mut().for_each(|it| it.bytes = 100);
        page
    }

    #[test]
    fn a_page_of_failed_responses_is_in_doubt_and_one_with_a_few_is_not() {
        let mut page = page();
        assert_eq!(doubts(&page), Vec::<String>::new());
        page.resources[2].status = 404;
        assert_eq!(doubts(&page), Vec::<String>::new());
        page.resources[2].bytes = 1800;
        let url = page.resources[2].url.clone();
        let doubt = format!(
            "davies-meenan: 1 of 3 responses (90 % of the bytes) failed: {url} (status 404); record the page again when it loads"
        );
        assert_eq!(doubts(&page), [doubt]);
        page.resources[2].bytes = 1;
        page.resources[1].status = 500;
        assert!(doubts(&page)[0].contains("2 of 3 responses (50 % of the bytes) failed"));
    }

    #[test]
    fn a_page_from_a_cache_is_in_doubt() {
        let mut page = page();
        let note = format!("{FROM_CACHE} (3 of 3 responses)");
        page.source.assumptions.push(note.clone());
        assert_eq!(doubts(&page), [format!("davies-meenan: {note}")]);
    }

    #[test]
    fn a_page_over_http1_is_one_that_no_server_sends_by_priority_today() {
        let mut page = page();
        assert_eq!(without_priorities(&page), None);
        page.source.assumptions.push(format!("{OVER_HTTP1}, which has no priorities"));
        assert_eq!(
            without_priorities(&page).as_deref(),
            Some(
                " But davies-meenan: the page came over HTTP/1, which has no priorities. The answer is for a server that sends it over \
                 HTTP/2 or HTTP/3; --baseline-server names which one."
            )
        );
    }
}
