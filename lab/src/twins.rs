//! Two schemes, page by page.

use crate::ideal::{self, Conditions};
use crate::network::Network;
use schedulers::Scheme;
use std::sync::Arc;

/// The first bundled page on which two schemes send a packet at another time, on engine `ideal` and network `paper`.
pub fn differing_page(one: &Scheme, other: &Scheme) -> Option<&'static str> {
    let paper = Network::find("paper").ok()?;
    corpus::bundled_names().into_iter().find(|name| {
        let Some(page) = corpus::bundled(name) else { return false };
        let page = Arc::new(page.clone());
        let transfers = |scheme: &Scheme| {
            let scheme = scheme.clone().for_page(&page.graph());
            ideal::load(&page, &scheme, &paper, Conditions::default()).timeline.transfers
        };
        transfers(one) != transfers(other)
    })
}
