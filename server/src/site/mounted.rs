//! A site of parts, by path.

use super::{Ahead, Foreseen, Request, Response, Site, fits};
use std::sync::Arc;

/// Another site with parts of its own below some paths.
pub struct MountedSite {
    rest: Arc<dyn Site>,
    parts: Vec<Part>,
}

/// A part of a site.
pub struct Part {
    /// The host that was asked for; none: any.
    pub host: Option<String>,
    /// The path; one that ends in `*` stands for all that begin like it.
    pub path: String,
    /// What answers there.
    pub site: Arc<dyn Site>,
}

impl MountedSite {
    /// `rest`, but for the paths of `parts`. Of those that a request fits the first counts.
    pub fn new(rest: Arc<dyn Site>, parts: Vec<Part>) -> Self {
        Self { rest, parts }
    }

    fn part(&self, request: &Request) -> &dyn Site {
        let holds =
            |it: &&Part| request.is_for(it.host.as_deref()) && fits(&it.path, &request.path);
        self.parts.iter().find(holds).map_or(self.rest.as_ref(), |it| it.site.as_ref())
    }
}

impl Site for MountedSite {
    fn respond(&self, request: &Request) -> Response {
        self.part(request).respond(request)
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.part(request).arrived(request, response)
    }

    fn hinted(&self, request: &Request, links: &[String]) -> Ahead {
        self.part(request).hinted(request, links)
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
        let part = |host: Option<&str>, path: &str, status| Part {
            host: host.map(str::to_owned),
            path: path.to_owned(),
            site: Arc::new(Status(status)),
        };
        let parts = vec![
            part(None, "/api/old", 410),
            part(Some("b.test"), "/api/*", 202),
            part(None, "/api/*", 201),
        ];
        let site = MountedSite::new(Arc::new(Status(200)), parts);
        for (authority, path, status) in [
            ("a.test", "/", 200),
            ("a.test", "/api/old?x", 410),
            ("a.test", "/api/new", 201),
            ("a.test", "/api/", 201),
            ("a.test", "/api", 200),
            ("B.test:4433", "/api/new", 202),
            ("b.test", "/", 200),
        ] {
            let request = Request::get(authority, path);
            assert_eq!(site.respond(&request).status, status, "{authority} {path}");
        }
    }
}
