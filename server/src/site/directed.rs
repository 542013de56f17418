//! A site whose operator has a say in the order: directives for single resources, in RFC 9218's terms.

use super::{Ahead, Foreseen, Request, Response, Site};
use http3::Priority;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Another site with directives by path. A response to which one applies says so in its `priority` field
/// (RFC 9218, 5 and 8), and under `override` it changes what the client signalled.
pub struct DirectedSite {
    inner: Arc<dyn Site>,
    directives: BTreeMap<String, Priority>,
}

impl DirectedSite {
    /// `inner` with directives by path; a directive for a path without a query holds with any.
    pub fn new(inner: Arc<dyn Site>, directives: BTreeMap<String, Priority>) -> Self {
        Self { inner, directives }
    }
}

impl Site for DirectedSite {
    fn respond(&self, request: &Request) -> Response {
        self.direct(request, self.inner.respond(request))
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.direct(request, self.inner.arrived(request, response))
    }

    fn hinted(&self, request: &Request, links: &[String]) -> Ahead {
        self.inner.hinted(request, links)
    }

    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        self.inner.foresee(request)
    }
}

impl DirectedSite {
    fn direct(&self, request: &Request, response: Response) -> Response {
        let plain = request.path.split('?').next().unwrap_or_default();
        let directive = self.directives.get(&request.path).or_else(|| self.directives.get(plain));
        let directive = directive.copied().or(response.directive);
        Response { directive, ..response }
    }
}
