//! A site of parts, by path.

use super::{Foreseen, Request, Response, Site, fits};
use std::sync::Arc;

/// Another site with parts of its own below some paths.
pub struct MountedSite {
    rest: Arc<dyn Site>,
    parts: Vec<(String, Arc<dyn Site>)>,
}

impl MountedSite {
    /// `rest`, but for the paths of `parts`: one that ends in `*` stands for all that begin like it. Of those that a
    /// path fits the first counts.
    pub fn new(rest: Arc<dyn Site>, parts: Vec<(String, Arc<dyn Site>)>) -> Self {
        Self { rest, parts }
    }

    fn part(&self, request: &Request) -> &dyn Site {
        let part = self.parts.iter().find(|(pattern, _)| fits(pattern, &request.path));
        part.map_or(self.rest.as_ref(), |(_, site)| site.as_ref())
    }
}

impl Site for MountedSite {
    fn respond(&self, request: &Request) -> Response {
        self.part(request).respond(request)
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.part(request).arrived(request, response)
    }

    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        self.part(request).foresee(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Status(u16);

    impl Site for Status {
        fn respond(&self, _: &Request) -> Response {
            Response::error(self.0)
        }
    }

    #[test]
    fn the_first_part_that_fits_answers() {
        let part =
            |pattern: &str, status| (pattern.to_owned(), Arc::new(Status(status)) as Arc<dyn Site>);
        let parts = vec![part("/api/old", 410), part("/api/*", 201)];
        let site = MountedSite::new(Arc::new(Status(200)), parts);
        for (path, status) in
            [("/", 200), ("/api/old?x", 410), ("/api/new", 201), ("/api/", 201), ("/api", 200)]
        {
            let headers = [(":method", "GET"), (":path", path)]
                .map(|(name, value)| http3::Header::new(name.as_bytes(), value.as_bytes()));
            assert_eq!(site.respond(&Request::from_headers(&headers)).status, status, "{path}");
        }
    }
}
