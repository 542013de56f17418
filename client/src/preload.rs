//! The resources that a response's `Link` fields preload, from early hints and from the response itself.
//!
//! As in browsers, a preload must state its destination (`as`), and a preloaded resource takes effect when
//! the page reaches it (HTML, 4.6.7.16).

use corpus::Page;
use http3::Header;
use push::link::{self, Link};
use url::{Position, Url};

/// RFC 8297.
pub(crate) const EARLY_HINTS: u16 = 103;

/// The resources of the page that these fields preload, in the response for `context`.
pub(crate) fn resources(headers: &[Header], page: &Page, context: usize) -> Vec<usize> {
    let base = page.url(context);
    let links = http3::values(headers, "link");
    let links = links.flat_map(|it| link::parse(&String::from_utf8_lossy(it))).filter(is_fetched);
    let places = links.filter_map(|it| resolve(&it.target, &base));
    places.filter_map(|(host, path)| find(page, &host, &path)).collect()
}

/// The resource with this host (without port) and path.
pub(crate) fn find(page: &Page, host: &str, path: &str) -> Option<usize> {
    let ids = page.resources.iter().filter(|it| it.url == path).map(|it| it.id);
    ids.into_iter().find(|it| http3::host(page.host(*it)).eq_ignore_ascii_case(host))
}

fn is_fetched(link: &Link) -> bool {
    let preload = link.is("preload") && link.destination.is_some();
    !link.anchored && (preload || link.is("modulepreload"))
}

/// Host (without port) and path of a reference in a response from `base`.
fn resolve(target: &str, base: &str) -> Option<(String, String)> {
    let url = Url::parse(base).ok()?.join(target).ok()?;
    let is_https = url.scheme() == "https";
    let path = &url[Position::BeforePath..Position::AfterQuery];
    is_https.then_some((url.host_str()?.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_from_where_it_stands() {
        let resolved = |target| {
            let (host, path) = resolve(target, "https://a.example/news/today?page=2")?;
            Some(format!("{host}{path}"))
        };
        let cases = [
            ("/a.css?v=1", Some("a.example/a.css?v=1")),
            ("a.css", Some("a.example/news/a.css")),
            ("./a.css", Some("a.example/news/a.css")),
            ("../a.css", Some("a.example/a.css")),
            ("//b.example/a.css", Some("b.example/a.css")),
            ("https://b.example:8443/a.css", Some("b.example/a.css")),
            ("https://[::1]/a.css", Some("[::1]/a.css")),
            ("https://b.example", Some("b.example/")),
            ("http://b.example/a.css", None),
        ];
        for (target, expected) in cases {
            assert_eq!(resolved(target).as_deref(), expected, "{target}");
        }
    }

    #[test]
    fn a_resource_is_found_by_its_host_whatever_the_port() {
        let page = serde_json::json!({
            "format": "utmost-page/1", "name": "local",
            "source": {"kind": "hand", "from": "a test", "licence": "MIT"},
            "viewport": [1366, 768],
            "origins": [{"host": "localhost:4433", "party": "first"}],
            "resources": [
                {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 500, "main": true,
                    "trigger": {"on": "nav"}},
            ],
        });
        let page: Page = serde_json::from_value(page).expect("a page");
        assert_eq!(find(&page, "localhost", "/"), Some(0));
        assert_eq!(find(&page, "elsewhere", "/"), None);
    }

    #[test]
    fn a_preload_says_what_it_is_for() {
        let fetched = |field| link::parse(field).iter().map(is_fetched).collect::<Vec<_>>();
        assert_eq!(fetched("</a.css>; rel=preload; as=style; nopush"), [true]);
        assert_eq!(fetched("</a.css>; rel=preload, </a.js>; rel=modulepreload"), [false, true]);
        assert_eq!(fetched("<https://b.example>; rel=preconnect"), [false]);
        assert_eq!(fetched("</a.css>; rel=preload; as=style; anchor=\"/b\""), [false]);
    }
}
