//! What responses say that the page will need: `Link` fields, on early hints and on the response itself.
//!
//! As browsers do: the first 103 response to the navigation counts, no other (Chromium); a preload says what it is for
//! (`as`); what is fetched so takes effect when the page comes to it (HTML, 4.6.7.16).

use super::Client;
use http3::{Header, NameValue, StreamId};
use push::link::{self, Link};

/// RFC 8297.
const EARLY_HINTS: u16 = 103;

impl Client {
    /// Asks for what the fields preload, as far as it is of the page; the requests leave with the next ones.
    pub(super) fn preload(&mut self, stream: StreamId, status: u16, headers: &[Header]) {
        let Some(context) = self.responses.get(&stream).and_then(|it| it.resource) else { return };
        if status == EARLY_HINTS {
            self.outcome.early_hints += 1;
            if !self.page.resources[context].main || self.outcome.early_hints > 1 {
                return;
            }
        }
        let fields = headers.iter().filter(|it| it.name() == b"link");
        let links: Vec<Link> = fields
            .flat_map(|it| link::parse(&String::from_utf8_lossy(it.value())))
            .filter(is_fetched)
            .collect();
        for link in links {
            let Some(resource) = self.linked(&link.target, context) else { continue };
            if self.requests.hinted(resource) {
                self.outcome.preloaded.push(resource);
            }
        }
    }

    /// The resource that a reference means.
    fn linked(&self, target: &str, context: usize) -> Option<usize> {
        let known = &self.page.resources[context];
        let own = self.page.origins.get(known.origin).map_or("localhost", |it| it.host.as_str());
        let (host, path) = resolve(target, own, &known.url)?;
        self.resource_at(host, &path)
    }
}

fn is_fetched(link: &Link) -> bool {
    let preload = link.is("preload") && link.destination.is_some();
    !link.anchored && (preload || link.is("modulepreload"))
}

/// Host, without port, and path of a reference in a response from `path` of `host`. Paths with dot segments are none.
fn resolve<'a>(target: &'a str, host: &'a str, path: &str) -> Option<(&'a str, String)> {
    let absolute = target.strip_prefix("https:").unwrap_or(target);
    if let Some(rest) = absolute.strip_prefix("//") {
        let start = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(start);
        let host = authority.rsplit_once(':').map_or(authority, |it| it.0);
        return Some((host, if path.is_empty() { "/".to_owned() } else { path.to_owned() }));
    }
    if absolute.len() < target.len() || target.contains("://") {
        return None;
    }
    if target.starts_with('/') {
        return Some((host, target.to_owned()));
    }
    let folder = path.split('?').next().unwrap_or_default().rsplit_once('/')?.0;
    Some((host, format!("{folder}/{}", target.strip_prefix("./").unwrap_or(target))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_from_where_it_stands() {
        let resolved = |target| {
            let (host, path) = resolve(target, "a.example", "/news/today?page=2")?;
            Some(format!("{host}{path}"))
        };
        let cases = [
            ("/a.css?v=1", Some("a.example/a.css?v=1")),
            ("a.css", Some("a.example/news/a.css")),
            ("./a.css", Some("a.example/news/a.css")),
            ("//b.example/a.css", Some("b.example/a.css")),
            ("https://b.example:8443/a.css", Some("b.example/a.css")),
            ("https://b.example", Some("b.example/")),
            ("http://b.example/a.css", None),
            ("https:a.css", None),
        ];
        for (target, expected) in cases {
            assert_eq!(resolved(target).as_deref(), expected, "{target}");
        }
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
