//! A site whose operator has chosen a scheme for each of its pages.

use super::{Ahead, Foreseen, Request, Response, Site};
use schedulers::Scheme;
use std::sync::Arc;

/// A page by its document, and the scheme for it.
#[derive(Debug, Clone)]
pub struct Route {
    /// The host; none: any.
    pub host: Option<String>,
    /// The document's path; without a query it holds with any.
    pub path: String,
    /// The order in which the page is sent.
    pub scheme: Scheme,
}

/// Another site with schemes for its pages. The response to a document that a route names says which scheme the
/// page is sent in, and counts as the main document.
pub struct RoutedSite {
    inner: Arc<dyn Site>,
    routes: Vec<Route>,
}

impl RoutedSite {
    /// `inner` with `routes`; the first that fits holds.
    pub fn new(inner: Arc<dyn Site>, routes: Vec<Route>) -> Self {
        Self { inner, routes }
    }
}

impl Route {
    fn fits(&self, request: &Request) -> bool {
        let plain = request.path.split('?').next().unwrap_or_default();
        request.is_for(self.host.as_deref()) && (self.path == request.path || self.path == plain)
    }
}

impl Site for RoutedSite {
    fn respond(&self, request: &Request) -> Response {
        self.route(request, self.inner.respond(request))
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.route(request, self.inner.arrived(request, response))
    }

    fn hinted(&self, request: &Request, links: &[String]) -> Ahead {
        self.inner.hinted(request, links)
    }

    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        self.inner.foresee(request)
    }
}

impl RoutedSite {
    fn route(&self, request: &Request, mut response: Response) -> Response {
        if let Some(route) = self.routes.iter().find(|it| it.fits(request)) {
            response.resource.main = true;
            response.scheme = Some(route.scheme.clone());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    struct Empty;

    impl Site for Empty {
        fn respond(&self, _: &Request) -> Response {
            Response::error(200)
        }
    }

    #[test]
    fn a_route_holds_for_its_document_on_its_host_with_any_query() {
        let route = |host: Option<&str>, path: &str, scheme| Route {
            host: host.map(str::to_owned),
            path: path.to_owned(),
            scheme: find_scheme(scheme).expect("known"),
        };
        let routes = vec![route(Some("a.test"), "/", "dfifo"), route(None, "/shop", "fifo")];
        let site = RoutedSite::new(Arc::new(Empty), routes);
        for (authority, path, expected) in [
            ("a.test", "/", Some("dfifo")),
            ("A.test:4433", "/?x=1", Some("dfifo")),
            ("b.test", "/", None),
            ("b.test", "/shop?x=1", Some("fifo")),
            ("b.test", "/shop/", None),
        ] {
            let headers = [(":method", "GET"), (":authority", authority), (":path", path)]
                .map(|(name, value)| http3::Header::new(name.as_bytes(), value.as_bytes()));
            let request = Request::from_headers(&headers);
            let response = site.respond(&request);
            let name = response.scheme.map(|it| it.name);
            assert_eq!(name.as_deref(), expected, "{authority} {path}");
            assert_eq!(response.resource.main, expected.is_some());
        }
    }
}
