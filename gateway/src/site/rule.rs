//! A rule of the operator: the settings for some paths.

use super::pushing::Pushing;
use super::substitutes::Redirect;
use hyper::header::HeaderMap;
use schedulers::{Metadata, Priority, Scheme};
use server::SignalUse;
use server::site::paths::decoded;
use server::site::{Request, Site};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A row of the table: the settings for some paths. For each setting, the first row that matches a request and has it decides.
///
/// In a configuration, the source and the scheme are only names.
#[derive(Debug, Clone)]
pub struct Rule<Source = Arc<dyn Site>, Order = Scheme> {
    /// The host; `None`: any.
    pub host: Option<String>,
    /// One path with any query or, if it ends in `*`, all paths with that prefix.
    pub path: String,
    /// The source that answers instead of the site.
    pub source: Option<Source>,
    /// Where clients are sent instead.
    pub redirect: Option<Redirect>,
    /// The path of the file for pages that the source lacks.
    pub fallback: Option<String>,
    /// The paths of the files for responses with these statuses, unless they come from a backend.
    pub error_pages: Option<BTreeMap<u16, String>>,
    /// The scheme for the page whose document is at this path.
    pub scheme: Option<Order>,
    /// How clients' signals are used on that page.
    pub signals: Option<SignalUse>,
    /// Its pushes and hints.
    pub pushing: Option<Pushing>,
    /// Fields of the response, which replace its own.
    pub headers: Option<HeaderMap>,
}

impl<Source, Order> Default for Rule<Source, Order> {
    fn default() -> Self {
        Self {
            host: None,
            path: String::new(),
            source: None,
            redirect: None,
            fallback: None,
            error_pages: None,
            scheme: None,
            signals: None,
            pushing: None,
            headers: None,
        }
    }
}

impl<Source, Order> Rule<Source, Order> {
    /// The same, with its source and its scheme resolved.
    pub fn with<S, O>(self, source: Option<S>, scheme: Option<O>) -> Rule<S, O> {
        let Self { host, path, redirect, fallback, error_pages, signals, pushing, headers, .. } =
            self;
        Rule {
            host,
            path,
            source,
            redirect,
            fallback,
            error_pages,
            scheme,
            signals,
            pushing,
            headers,
        }
    }

    /// Names of its settings; for each, the first rule that matches a request counts.
    pub(crate) fn decides(&self) -> Vec<&'static str> {
        let said = [
            ("pushes and hints", self.pushing.is_some()),
            ("scheme", self.scheme.is_some()),
            ("signals", self.signals.is_some()),
            ("what answers", self.source.is_some() || self.redirect.is_some()),
            ("fallback", self.fallback.is_some()),
            ("error pages", self.error_pages.is_some()),
            ("headers", self.headers.is_some()),
        ];
        said.into_iter().filter(|(_, said)| *said).map(|(what, _)| what).collect()
    }

    /// The same for another path, without the settings of `others`.
    pub(crate) fn at(self, path: String, others: &[&Self]) -> Self {
        let is_left = |what: &str| !others.iter().any(|it| it.decides().contains(&what));
        Self {
            host: self.host,
            path,
            source: self.source.filter(|_| is_left("what answers")),
            redirect: self.redirect.filter(|_| is_left("what answers")),
            fallback: self.fallback.filter(|_| is_left("fallback")),
            error_pages: self.error_pages.filter(|_| is_left("error pages")),
            scheme: self.scheme.filter(|_| is_left("scheme")),
            signals: self.signals.filter(|_| is_left("signals")),
            pushing: self.pushing.filter(|_| is_left("pushes and hints")),
            headers: self.headers.filter(|_| is_left("headers")),
        }
    }
}

/// The operator's directive for one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directive {
    /// Its priority, which replaces the client's.
    pub priority: Priority,
    /// Facts about it, in addition to the site's.
    pub facts: Metadata,
}

impl Rule {
    /// A rule about pushes and hints, for any host.
    pub fn pushing(path: &str, pushing: Pushing) -> Self {
        Self { path: path.to_owned(), pushing: Some(pushing), ..Self::default() }
    }

    pub(super) fn fits(&self, request: &Request) -> bool {
        self.host.as_ref().is_none_or(|it| it.eq_ignore_ascii_case(request.host()))
            && fits(&self.path, &request.path)
    }
}

/// Whether a rule for the paths of `pattern` matches `path`, regardless of percent-encoding and repeated slashes, because a
/// directory gives the same file for all of these.
pub fn fits(pattern: &str, path: &str) -> bool {
    let (plain, query) = divided(path);
    if let Some(prefix) = pattern.strip_suffix('*') {
        return plain.starts_with(&divided(prefix).0);
    }
    let (wanted, wanted_query) = divided(pattern);
    wanted == plain && (wanted_query.is_none() || wanted_query == query)
}

/// A normalized path with single slashes, and its unchanged query.
pub(super) fn divided(path: &str) -> (Cow<'_, [u8]>, Option<&str>) {
    let (mut plain, query) = decoded(path);
    if plain.windows(2).any(|it| it == b"//") {
        plain.to_mut().dedup_by(|next, one| *next == b'/' && *one == b'/');
    }
    (plain, query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_however_much_of_it_is_encoded() {
        assert_eq!(decoded("/%73tyle.css?%61"), (Cow::from(b"/style.css".to_vec()), Some("%61")));
        assert_ne!(decoded("/a%3Fb"), decoded("/a?b"));
    }

    #[test]
    fn a_rule_holds_for_its_paths_in_whatever_way_a_client_writes_them() {
        for (pattern, path, expected) in [
            ("/sub/*", "/sub/a", true),
            ("/sub/*", "/sub%2fa", true),
            ("/sub/*", "/%73ub/a?b=%2f", true),
            ("/sub/*", "/sub", false),
            ("/sub/*", "/sub%252fa", false),
            ("/sub/a", "/sub///a", true),
            ("/sub/a", "/sub//%61?b", true),
            ("/a%20b", "/a%20b", true),
            ("/caf%C3%A9", "/caf%c3%a9", true),
            ("/a?b=1", "/%61?b=1", true),
            ("/a?b=1", "/a?b=%31", false),
            ("/a?b=1", "/a", false),
            ("/a", "/a%3Fb", false),
            ("/*", "/%FF", true),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }
}
