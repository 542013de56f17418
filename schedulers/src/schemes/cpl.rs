//! `cpl`: critical path length. The resource at the head of the longest chain of later requests goes first.
//!
//! Source: Netravali et al., Polaris: Faster Page Loads Using Fine-grained Dependency Tracking, NSDI 2016. A path is counted from a
//! request to the end of the page: bytes on the paper's connection, and execution. Ties and resources that are not in the graph go in
//! order of request, the latter last. Clients cannot signal it, because a browser has not seen the rest of the page at the time of a
//! request. Order, where the stylesheet leads to the font and the document to all: `hhhcciiiIIIssff`.

use super::halves::Stays;
use crate::{Halves, Language, Needs, Place, Rank, Resource, Scheme, SchemeError};

pub(super) fn scheme() -> Scheme {
    Scheme {
        needs: Needs::Page,
        signals: Language::None,
        ..Scheme::new(
            "cpl",
            "Critical path length: the start of the longest chain of requests first (Polaris)",
            "Netravali et al., Polaris: Faster Page Loads Using Fine-grained Dependency Tracking, NSDI 2016",
            |_, page| {
                let Some(page) = page else {
                    return Err(SchemeError::NeedsPage { name: "cpl".to_owned() });
                };
                let paths_us = page.critical_paths_us();
                let stays = Stays::at(move |arrival, _, resource: &Resource| {
                    let path_us = resource.id.and_then(|id| paths_us.get(id)).copied();
                    let longest_first = u64::MAX - path_us.unwrap_or(0);
                    Place::DEFAULT.rank(Rank::sequence(longest_first).then(arrival))
                });
                let cause = "a client does not know when it makes a request what will depend on the response";
                Ok(Halves::of_server(cause, stays))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{GraphResource, PageGraph, find_page_scheme, find_scheme};

    /// The sample page: h discovers all others, c discovers f.
    fn graph() -> PageGraph {
        let resource = |(packets, parents): (u64, &[usize])| GraphResource {
            bytes: 1400 * packets,
            parents: parents.to_vec(),
            ..GraphResource::default()
        };
        let page: [(u64, &[usize]); 6] =
            [(3, &[]), (3, &[0]), (2, &[0]), (3, &[0]), (2, &[0]), (2, &[2])];
        PageGraph { resources: page.map(resource).to_vec() }
    }

    #[test]
    fn what_most_hangs_on_goes_first() {
        let scheme = find_page_scheme("cpl").unwrap().for_page(&graph());
        assert_eq!(sample::order_of(&scheme), "hhhcciiiIIIssff");
    }

    #[test]
    fn without_a_page_it_says_so() {
        let message = "scheme `cpl` orders by the page's dependencies, and there is no page here: \
                       use it where a page is played back";
        assert_eq!(find_scheme("cpl").unwrap_err().to_string(), message);
    }
}
