//! The pages of a connection that loads several, each as a separate load.

use crate::{Load, problems};
use client::{NextPage, Outcome};
use corpus::Page;
use qlog_tools::timeline::Timeline;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One page of a connection. Its time zero is its navigation.
#[derive(Debug, Clone)]
pub struct Navigation {
    /// The page.
    pub page: Arc<Page>,
    /// Its requests and their arrivals. Its timeline omits resources used from a cache, or from a push that
    /// arrived during an earlier page.
    pub load: Load,
    /// Differences from the page's description.
    pub problems: Vec<String>,
    /// Its end, according to the client.
    pub outcome: Outcome,
}

impl Navigation {
    /// The pages that the client reached, in order: `first`, and the pages in its option `then`. `timeline` and
    /// `outcome` are the connection's.
    pub fn all(
        first: &Arc<Page>,
        then: &[NextPage],
        timeline: &Timeline,
        mut outcome: Outcome,
    ) -> Vec<Self> {
        let pages = [first].into_iter().chain(then.iter().map(|it| &it.page));
        let mut outcomes = std::mem::take(&mut outcome.earlier);
        outcomes.push(outcome);
        let mut parts = timeline.by_navigation();
        let pages = pages.zip(outcomes);
        if let [only] = parts.as_mut_slice() {
            return pages.map(|(page, it)| Self::of(page, std::mem::take(only), it)).collect();
        }
        let mut navigations = Vec::new();
        for ((page, outcome), mut own) in pages.zip(parts) {
            let urls: BTreeSet<String> = page.resources.iter().map(|it| page.url(it.id)).collect();
            own.transfers.retain(|it| urls.contains(&it.url));
            navigations.push(Self::of(page, own, outcome));
        }
        navigations
    }

    fn of(page: &Arc<Page>, timeline: Timeline, outcome: Outcome) -> Self {
        let problems = problems(&outcome);
        let completed = outcome.completed && problems.is_empty();
        Self { page: Arc::clone(page), load: Load { completed, timeline }, problems, outcome }
    }
}
