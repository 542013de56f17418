//! The host of a policy or an export: the site's own, never one that a recording invented.

use super::{ByHints, ByResource};
use crate::export::Advice;
use corpus::Page;
use corpus::site::is_stand_in;
use std::sync::Arc;

/// The results for the site at `host`. `None`: at the host that its pages name, or at any host if that is a stand-in.
/// Resources of other invented hosts have no line.
pub fn at_host(
    found: &[ByResource],
    hints: &[ByHints],
    host: Option<&str>,
) -> (Vec<ByResource>, Vec<ByHints>) {
    let (mut found, mut hints) = (found.to_vec(), hints.to_vec());
    for found in &mut found {
        if let Some(page) = &mut found.of {
            found
                .resources
                .retain(|it| page.resources[it.id].origin == 0 || !is_made_up(page, it.id));
            *page = page_at(page, host);
        }
    }
    for hinted in &mut hints {
        hinted.of = page_at(&hinted.of, host);
    }
    (found, hints)
}

fn page_at(page: &Arc<Page>, host: Option<&str>) -> Arc<Page> {
    let mut page = Page::clone(page);
    let any = is_made_up(&page, 0).then_some("");
    if let (Some(host), Some(own)) = (host.or(any), page.origins.first_mut()) {
        host.clone_into(&mut own.host);
    }
    Arc::new(page)
}

/// Whether the host of a resource does not exist, as for bundled pages.
fn is_made_up(page: &Page, id: usize) -> bool {
    is_stand_in(http3::host(page.host(id))) || corpus::bundled(&page.name) == Some(page)
}

impl Advice {
    /// The same for the site at `host`. `None`: at the host that it names, unless that is a stand-in.
    #[must_use]
    pub fn at_host(mut self, host: Option<&str>) -> Self {
        let of_lines = self.lines.iter_mut().map(|it| &mut it.host);
        let of_documents = self.documents.iter_mut().map(|it| &mut it.host);
        let of_sent = self.sent.iter_mut().map(|it| &mut it.0);
        for of in of_lines.chain(of_documents).chain(of_sent) {
            let any = is_stand_in(of).then_some("");
            if let Some(host) = host.or(any) {
                host.clone_into(of);
            }
        }
        self
    }
}
