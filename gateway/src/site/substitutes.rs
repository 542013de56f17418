//! The operator's substitutes for a source's answers: redirects, a fallback for missing files, and pages for errors.

use super::rule::divided;
use hyper::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use server::site::fields::{fields, value};
use server::site::paths::encoded;
use server::site::{Request, Response, Site};

/// The new place of a resource that has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// A path or a URL. If it ends in `*`, the path of its rule does too, and the text that the rule's `*` matched replaces it.
    pub to: String,
    /// The status.
    pub status: u16,
}

impl Redirect {
    /// The response to a request that matches a rule for the paths of `pattern`.
    pub(super) fn response(&self, pattern: &str, request: &Request) -> Response {
        let (path, query) = divided(&request.path);
        let prefix = pattern.strip_suffix('*').map(|it| divided(it).0.len());
        let mut to = match (self.to.strip_suffix('*'), prefix.and_then(|it| path.get(it..))) {
            (Some(to), Some(rest)) => to.to_owned() + &encoded(rest),
            _ => self.to.clone(),
        };
        // Two slashes would name another host.
        while to.starts_with("//") {
            to.remove(0);
        }
        if let Some(query) = query.filter(|_| !to.contains('?')) {
            to = to + "?" + query;
        }
        Response { headers: fields([(LOCATION, value(to))]), ..Response::empty(self.status) }
    }
}

/// Whether a request for a missing file may be for a page: the client accepts HTML, or the path has no file extension.
pub(super) fn asks_for_page(request: &Request) -> bool {
    let takes_html = request.list("accept").is_some_and(|it| it.contains("text/html"));
    let name = request.plain_path().rsplit('/').next().unwrap_or_default();
    matches!(request.method.as_str(), "GET" | "HEAD") && (takes_html || !name.contains('.'))
}

/// The response with the contents of the file at `path`, if `source` has it at hand.
pub(super) fn with_page(
    request: &Request,
    source: &dyn Site,
    path: &str,
    response: Response,
) -> Response {
    let asked = Request {
        method: "GET".to_owned(),
        path: path.to_owned(),
        fields: HeaderMap::new(),
        ..request.clone()
    };
    if source.is_remote() {
        return response;
    }
    let page = source.respond(&asked);
    if page.status != 200 || page.is_awaited() {
        return response;
    }
    let mut response = response;
    response.headers.extend(page.headers.get(CONTENT_TYPE).map(|it| (CONTENT_TYPE, it.clone())));
    response.resource.body_bytes = Some(page.body.bytes());
    Response { body: page.body, ..response }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_what_follows_and_the_query_and_names_no_other_host() {
        for (pattern, to, path, expected) in [
            ("/old", "/new", "/old", "/new"),
            ("/old", "/new", "/old?a=b", "/new?a=b"),
            ("/old", "/new?c", "/old?a=b", "/new?c"),
            ("/old/*", "/new/*", "/old/a%20b/c?x", "/new/a%20b/c?x"),
            ("/old/*", "/new/*", "/%6fld//a", "/new/a"),
            ("/old/*", "https://b.test/*", "/old/a", "https://b.test/a"),
            ("/old/*", "/new", "/old/a", "/new"),
            ("/old*", "/*", "/old/evil.test/", "/evil.test/"),
            ("/old/*", "/*", "/old//evil.test", "/evil.test"),
            ("/old/*", "/*", "/old/\\evil.test", "/%5Cevil.test"),
            ("/old/*", "/new/*", "/old/a%0d%0aset-cookie:%20b", "/new/a%0D%0Aset-cookie:%20b"),
        ] {
            let redirect = Redirect { to: to.to_owned(), status: 308 };
            let response = redirect.response(pattern, &Request::get("a.test", path));
            let location = response.fields("location").next();
            assert_eq!((response.status, location), (308, Some(expected)), "{pattern} {path}");
        }
    }

    #[test]
    fn a_page_is_asked_for_by_who_takes_html_or_by_a_name_without_an_ending() {
        let asks = |path: &str, accept: &str| {
            let fields = fields([("accept", accept)]);
            asks_for_page(&Request { fields, ..Request::get("a", path) })
        };
        assert!(asks("/users/john.doe", "text/html, */*;q=0.8"));
        assert!(asks("/users/7?x=a.b", "*/*"));
        assert!(!asks("/app.js", "*/*"));
    }
}
