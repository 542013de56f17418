//! The pages of a log: a client that stays on a site loads several over the same connection.

use std::ops::Range;

/// A response, in the order of requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visited<'a> {
    pub(super) url: &'a str,
    /// Whether it can be a page's document.
    pub(super) is_document: bool,
    pub(super) requested_us: u64,
    pub(super) complete_us: u64,
    pub(super) bytes: u64,
}

/// The responses of one page in a log, and notes about the others: the page with the most bytes. A page begins with a logged
/// navigation, or with a document requested while nothing was in progress.
pub(super) fn largest(
    visited: &[Visited<'_>],
    navigations_us: &[u64],
) -> (Range<usize>, Option<String>) {
    let starts = starts(visited, navigations_us);
    let ends = starts.iter().skip(1).copied().chain([visited.len()]);
    let pages: Vec<Range<usize>> =
        starts.iter().copied().zip(ends).map(|(from, to)| from..to).collect();
    let pages_bytes = pages.iter().map(|it| visited[it.clone()].iter().map(|it| it.bytes).sum());
    let pages_bytes: Vec<u64> = pages_bytes.collect();
    // Of equals the first.
    let place = (0..pages.len()).rev().max_by_key(|it| pages_bytes[*it]).unwrap_or(0);
    let Some(page) = pages.get(place).cloned() else { return (0..visited.len(), None) };
    let words = (pages.len() > 1).then(|| {
        format!(
            "the log has {} pages: number {}, which begins with {}, is taken, because it has the most bytes ({} of {} responses)",
            pages.len(),
            place + 1,
            visited[page.start].url,
            page.len(),
            visited.len()
        )
    });
    (page, words)
}

/// Where pages begin.
fn starts(visited: &[Visited<'_>], navigations_us: &[u64]) -> Vec<usize> {
    let mut starts = Vec::new();
    let (mut complete_us, mut before_us) = (0, None);
    for (place, response) in visited.iter().enumerate() {
        let asked_us = response.requested_us;
        let is_named = before_us.is_some_and(|before_us| {
            navigations_us.iter().any(|at_us| (before_us + 1..=asked_us).contains(at_us))
        });
        let is_alone = response.is_document && asked_us >= complete_us && navigations_us.is_empty();
        if place == 0 || is_named || is_alone {
            starts.push(place);
        }
        complete_us = complete_us.max(response.complete_us);
        before_us = Some(asked_us);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(url: &str, requested_us: u64, complete_us: u64, bytes: u64) -> Visited<'_> {
        let is_document = url.ends_with('/');
        Visited { url, is_document, requested_us, complete_us, bytes }
    }

    #[test]
    fn the_page_with_the_most_bytes_is_taken_and_said() {
        let log = [
            visited("/", 0, 100, 10),
            visited("/a.css", 50, 200, 20),
            visited("/frame/", 150, 300, 5),
            visited("/shop/", 900, 1000, 10),
            visited("/b.jpg", 950, 1200, 90),
        ];
        let said = "the log has 2 pages: number 2, which begins with /shop/, is taken, because it has the most bytes (2 of 5 responses)";
        assert_eq!(largest(&log, &[]), (3..5, Some(said.to_owned())));
        assert_eq!(largest(&log[..3], &[]), (0..3, None), "a frame does not begin a page");
    }

    #[test]
    fn where_the_log_names_navigations_they_alone_count() {
        let log = [
            visited("/", 0, 100, 10),
            visited("/frame/", 200, 300, 5),
            visited("/next", 400, 500, 1),
        ];
        assert_eq!(largest(&log, &[350]).0, 0..2);
    }
}
