//! How much a server knows about the resources it sends.

use schedulers::{FACTS, Resource};
use serde::{Deserialize, Serialize};
use server::site::{Request, Response, Site};
use std::sync::Arc;

schedulers::named! {
    /// How much a scheme knows about each resource.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Metadata {
        /// Its kind, from the MIME type, and its size, from the response: facts that any server sees. The paper's
        /// server without a resource list.
        None = "none",
        /// The facts that a browser knows when it makes the request: also where and how the document references
        /// it (`in_head`, `async`, `defer`, `preload`, after the first image), the browser's signals, and which
        /// stylesheets and scripts it waits for. Not what is above the fold: a browser learns that only from the
        /// layout.
        #[default]
        Browser = "browser",
        /// Everything in the page, including hero images and what is above the fold: the facts that the metrics
        /// reward.
        Full = "full",
    }
}

impl Metadata {
    /// Removes from `known` the facts that the scheme must not know.
    pub fn of(self, known: Resource) -> Resource {
        let Resource { kind, body_bytes, .. } = known;
        match self {
            Self::Full => known,
            Self::None => Resource { kind, body_bytes, ..Resource::default() },
            Self::Browser => {
                let mut seen = Resource { id: None, ..known };
                for fact in &FACTS {
                    if !(fact.is_known_to_browser)(kind) {
                        fact.set(&mut seen, false);
                    }
                }
                seen
            }
        }
    }
}

/// A site that gives its server only these facts.
pub(crate) struct LimitedSite {
    pub(crate) inner: Arc<dyn Site>,
    pub(crate) metadata: Metadata,
}

impl Site for LimitedSite {
    fn respond(&self, request: &Request) -> Response {
        let response = self.inner.respond(request);
        let directive = response.directive.filter(|_| self.metadata == Metadata::Full);
        Response { resource: self.metadata.of(response.resource), directive, ..response }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::Kind;

    #[test]
    fn a_browser_knows_how_the_document_refers_to_an_image_but_not_that_it_is_the_hero() {
        let hero = Resource {
            id: Some(3),
            kind: Kind::Image,
            critical: true,
            above_fold: true,
            preload: true,
            body_bytes: Some(9),
            ..Resource::default()
        };
        let plain = Resource { kind: Kind::Image, body_bytes: Some(9), ..Resource::default() };
        assert_eq!(Metadata::Full.of(hero), hero);
        assert_eq!(Metadata::Browser.of(hero), Resource { preload: true, ..plain });
        assert_eq!(Metadata::None.of(hero), plain);
        let script = Resource { kind: Kind::Js, critical: true, ..Resource::default() };
        assert!(Metadata::Browser.of(script).critical && !Metadata::None.of(script).critical);
    }
}
