//! A warm-up that a client loads before a page on the same connection, so that the congestion window has already
//! grown when the page begins.

use client::NextPage;
use corpus::{Page, PageResource};
use std::sync::Arc;
use std::time::Duration;

/// From the end of the warm-up to the navigation.
const THINK: Duration = Duration::from_secs(2);

/// A document of `bytes` at the URL of `page`, followed by `page`.
pub(crate) fn before(page: &Arc<Page>, bytes: u64) -> (Arc<Page>, Vec<NextPage>) {
    let origin = page.resources.first().map_or(0, |it| it.origin);
    let document = PageResource::plain(0, "/utmost-warm-up".into(), "text/html".into(), bytes);
    let warm_up = Page {
        name: format!("{}-warm-up", page.name),
        resources: vec![PageResource { origin, main: true, ..document }],
        ..Page::clone(page)
    };
    (Arc::new(warm_up), vec![NextPage { page: Arc::clone(page), think: THINK }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_a_page_of_the_same_host() {
        let page = Arc::new(corpus::bundled("agency-index").expect("bundled").clone());
        let (warm_up, then) = before(&page, 300_000);
        Page::parse(&warm_up.to_text(), "warm-up").expect("valid");
        assert_eq!(warm_up.host(0), page.host(0));
        assert_eq!(
            (warm_up.resources[0].bytes, then[0].page.name.as_str()),
            (300_000, "agency-index")
        );
    }
}
