//! The operator's rules for a site: one table, applied once to the head of each response.

use super::conditions::conditional;
use super::last_answers::LastAnswers;
use super::pushing::Pushing;
use super::ranges::ranged;
use super::rule::{Directive, Rule};
use super::substitutes::{asks_for_page, with_page};
use super::types;
use hyper::header::{CACHE_CONTROL, ETAG, HeaderValue, VIA};
use parking_lot::Mutex;
use schedulers::{Kind, Priority};
use server::site::paths::is_sayable;
use server::site::{Ahead, Foreseen, Names, Promise, Request, Response, Site};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A source of content under its operator's rules: what a server serves.
#[derive(Clone)]
pub struct RuledSite {
    source: Arc<dyn Site>,
    rules: Vec<Rule>,
    /// The hosts that it answers for; `None`: all.
    names: Option<Names>,
    directives: BTreeMap<String, Directive>,
    last_answers: Arc<Mutex<LastAnswers>>,
}

impl RuledSite {
    /// A source without rules.
    pub fn of(source: impl Site + 'static) -> Self {
        Self::new(source, Vec::new())
    }

    /// A source under `rules`.
    pub fn new(source: impl Site + 'static, rules: Vec<Rule>) -> Self {
        let directives = BTreeMap::new();
        let (source, names) = (Arc::new(source), None);
        Self { source, rules, names, directives, last_answers: Arc::default() }
    }

    /// The same, only for these hosts and the hosts of the rules.
    #[must_use]
    pub fn only_for(self, names: &[String]) -> Self {
        let names = Names::new(names.iter().map(String::as_str).chain(self.hosts()));
        Self { names: Some(names), ..self }
    }

    /// The hosts that the rules name.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.rules.iter().filter_map(|it| it.host.as_deref()).collect()
    }

    /// The same with directives by path. A directive for a path without a query applies with any query. A response with a
    /// directed priority states it in its `priority` field (RFC 9218, 5 and 8).
    #[must_use]
    pub fn directing(self, directives: BTreeMap<String, Directive>) -> Self {
        Self { directives, ..self }
    }

    /// Applies the request's conditions to a complete response.
    fn finished(&self, request: &Request, response: Response) -> Response {
        let source = self.source(request);
        let response = if source.is_remote() {
            response
        } else {
            ranged(request, conditional(request, response))
        };
        let mut response = self.complete(request, self.with_headers(request, response));
        let is_of_file = response.fields(ETAG).next().is_some();
        let usual = source.usual_freshness().filter(|_| is_of_file);
        if let Some(usual) = usual.filter(|_| response.cache_control().is_none()) {
            response.headers.append(CACHE_CONTROL, HeaderValue::from_static(usual));
        }
        response
    }

    /// Whether a request is for a resource of another origin (RFC 9110, 7.4).
    fn is_foreign(&self, request: &Request) -> bool {
        let is_https = request.scheme == "https" || request.method == "CONNECT";
        !is_https || !self.is_for(request.host())
    }

    fn complete(&self, request: &Request, response: Response) -> Response {
        self.with_pushes(request, self.with_freshness(request, response))
    }

    /// The answer of the source, or the operator's substitute. A source has precedence over a redirect if its rule is earlier.
    fn answered(&self, request: &Request) -> Response {
        let said = |it: &&Rule| it.fits(request) && (it.redirect.is_some() || it.source.is_some());
        if let Some(rule) = self.rules.iter().find(said)
            && let Some(redirect) = &rule.redirect
        {
            return redirect.response(&rule.path, request);
        }
        let source = self.source(request);
        let response = source.respond(request);
        let fallback = || self.decided(request, |it| it.fallback.as_ref());
        let response = match response.status {
            404 if !source.is_remote() && asks_for_page(request) => match fallback() {
                Some(path) => source.respond(&Request { path: path.clone(), ..request.clone() }),
                None => response,
            },
            _ => response,
        };
        self.with_error_page(request, response)
    }

    /// A response of this server, with the page for its status.
    fn with_error_page(&self, request: &Request, response: Response) -> Response {
        let pages = self.decided(request, |it| it.error_pages.as_ref());
        match pages.and_then(|it| it.get(&response.status)) {
            Some(path) => {
                let asked = Request { path: path.clone(), ..request.clone() };
                with_page(request, self.source(&asked), path, response)
            }
            None => response,
        }
    }

    fn with_headers(&self, request: &Request, response: Response) -> Response {
        match self.decided(request, |it| it.headers.as_ref()) {
            Some(headers) => response.with_headers(headers),
            None => response,
        }
    }

    /// The files of rules for which the site is known to answer with another status than 200: the path of the rule, the key, and
    /// the path of the file.
    pub fn absent_files(&self) -> Vec<(&str, &'static str, &str)> {
        let mut absent = Vec::new();
        for rule in &self.rules {
            let pushed = rule.pushing.iter().flat_map(|it| &it.push).map(|it| ("push", it));
            let fallback = rule.fallback.iter().map(|it| ("fallback", it));
            let pages = rule.error_pages.iter().flatten().map(|it| ("error_pages", it.1));
            for (key, path) in pushed.chain(fallback).chain(pages) {
                let host = rule.host.as_deref().unwrap_or_default();
                let known = self.foresee(&Promise::new(host, path).request());
                if known.is_some_and(|it| it.status != 200) {
                    absent.push((rule.path.as_str(), key, path.as_str()));
                }
            }
        }
        absent
    }

    /// The expected response to a request, without asking a remote source; `None` if unknown.
    pub(super) fn foresee(&self, request: &Request) -> Option<Foreseen> {
        let source = self.source(request);
        let mut known = if source.is_remote() {
            self.recall(request)?
        } else {
            Foreseen::of(&self.with_headers(request, source.respond(request)))
        };
        let own = || self.pushing(request)?.cache_control.clone();
        known.cache_control = known.cache_control.or_else(own);
        Some(known)
    }

    pub(super) fn recall(&self, request: &Request) -> Option<Foreseen> {
        self.last_answers.lock().recall(request)
    }

    pub(super) fn pushing(&self, request: &Request) -> Option<&Pushing> {
        self.decided(request, |it| it.pushing.as_ref())
    }

    pub(super) fn is_remote(&self, request: &Request) -> bool {
        self.source(request).is_remote()
    }

    fn source(&self, request: &Request) -> &dyn Site {
        self.decided(request, |it| it.source.as_ref()).unwrap_or(&self.source).as_ref()
    }

    fn decided<'a, T>(
        &'a self,
        request: &Request,
        says: impl Fn(&'a Rule) -> Option<&'a T>,
    ) -> Option<&'a T> {
        self.rules.iter().filter(|it| it.fits(request)).find_map(says)
    }

    /// Applies the operator's settings of the order. The document of a page with a scheme, or with a use of signals, counts as
    /// the main document.
    fn ordered(&self, request: &Request, mut response: Response) -> Response {
        let directives = &self.directives;
        let own = directives.get(&request.path).or_else(|| directives.get(request.plain_path()));
        if let Some(Directive { priority, facts }) = own {
            response.resource = facts.refine(&response.resource);
            let is_said = *priority != Priority::default();
            response.directive = is_said.then_some(*priority).or(response.directive);
        }
        let scheme = self.decided(request, |it| it.scheme.as_ref());
        let signals = self.decided(request, |it| it.signals.as_ref());
        response.resource.main |= scheme.is_some() || signals.is_some();
        response.scheme = scheme.cloned().or(response.scheme);
        response.signals = signals.copied().or(response.signals);
        response
    }
}

impl Site for RuledSite {
    fn respond(&self, request: &Request) -> Response {
        if self.is_foreign(request) {
            return Response::empty(421);
        }
        // For the server as a whole, whatever it serves (RFC 9110, 9.3.7).
        if request.path == "*" {
            return Response::empty(204);
        }
        if !is_sayable(&request.path) {
            return Response::empty(400);
        }
        let response = self.ordered(request, self.answered(request));
        if response.is_awaited() {
            let response = self.with_headers(request, response);
            let ahead = self.before_head(request, &response);
            return Response { ahead, ..response };
        }
        self.finished(request, response)
    }

    fn head_came(&self, request: &Request, head: Response) -> Response {
        // The `Via` field shows that an answer came from a backend.
        let is_own = !head.headers.contains_key(VIA);
        let head = if is_own { self.with_error_page(request, head) } else { head };
        let head = self.ordered(request, head);
        if !self.is_remote(request) {
            return self.finished(request, head);
        }
        let head = self.with_headers(request, head);
        if request.upgrade.is_none() {
            self.last_answers.lock().note(request, &head);
        }
        self.complete(request, head)
    }

    fn hints_came(&self, request: &Request, links: &[String]) -> Ahead {
        let ahead = self.pushes_of_hints(request, links);
        let navigates = request.is_navigation(types::expected(request) == Kind::Html);
        let hints = links.iter().filter(|it| navigates && push::link::is_hint(it));
        Ahead { hints: hints.cloned().collect(), ..ahead }
    }

    fn is_for(&self, host: &str) -> bool {
        self.names.as_ref().is_none_or(|it| it.include(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    struct Status(u16);

    impl Site for Status {
        fn respond(&self, _: &Request) -> Response {
            Response::empty(self.0)
        }
    }

    fn rule(host: Option<&str>, path: &str) -> Rule {
        Rule { host: host.map(str::to_owned), path: path.to_owned(), ..Rule::default() }
    }

    #[test]
    fn the_first_source_whose_rule_fits_answers() {
        let source = |host, path, status| -> Rule {
            Rule { source: Some(Arc::new(Status(status))), ..rule(host, path) }
        };
        let rules = vec![
            rule(None, "/api/*"),
            source(None, "/api/old", 410),
            source(Some("b.test"), "/api/*", 202),
            source(None, "/api/*", 201),
            source(Some("[::1]"), "/*", 203),
        ];
        let site = RuledSite::new(Status(200), rules);
        for (authority, path, status) in [
            ("a.test", "/", 200),
            ("a.test", "/api/old?x", 410),
            ("a.test", "/api/new", 201),
            ("a.test", "/api/", 201),
            ("a.test", "/api", 200),
            ("B.test:4433", "/api/new", 202),
            ("b.test", "/", 200),
            ("[::1]", "/", 203),
            ("[::1]:4433", "/", 203),
        ] {
            let request = Request::get(authority, path);
            assert_eq!(site.respond(&request).status, status, "{authority} {path}");
        }
    }

    #[test]
    fn a_request_for_another_origin_is_misdirected() {
        let site = RuledSite::new(Status(200), vec![rule(Some("b.test"), "/x")]);
        let status = |site: &RuledSite, scheme: &str, authority: &str| {
            let scheme = scheme.to_owned();
            site.respond(&Request { scheme, ..Request::get(authority, "/") }).status
        };
        assert_eq!(status(&site, "https", "any.test"), 200, "its names are not known");
        assert_eq!(status(&site, "http", "a.test"), 421);
        let site = site.only_for(&["a.test".to_owned()]);
        for (authority, expected) in
            [("A.test:4433", 200), ("b.test", 200), ("c.test", 421), ("127.0.0.1:4433", 200)]
        {
            assert_eq!(status(&site, "https", authority), expected, "{authority}");
        }
    }

    #[test]
    fn a_scheme_holds_for_its_document_on_its_host_with_any_query() {
        let scheme = |host, path, scheme| Rule {
            scheme: Some(find_scheme(scheme).expect("known")),
            ..rule(host, path)
        };
        let rules = vec![scheme(Some("a.test"), "/", "dfifo"), scheme(None, "/shop", "fifo")];
        let site = RuledSite::new(Status(200), rules);
        for (authority, path, expected) in [
            ("a.test", "/", Some("dfifo")),
            ("A.test:4433", "/?x=1", Some("dfifo")),
            ("b.test", "/", None),
            ("b.test", "/shop?x=1", Some("fifo")),
            ("b.test", "/shop/", None),
        ] {
            let response = site.respond(&Request::get(authority, path));
            let name = response.scheme.map(|it| it.name);
            assert_eq!(name.as_deref(), expected, "{authority} {path}");
            assert_eq!(response.resource.main, expected.is_some());
        }
    }

    #[test]
    fn a_directive_for_a_path_holds_with_any_query_that_has_none_of_its_own() {
        let directive = |urgency| Directive {
            priority: Priority { urgency: Some(urgency), incremental: None },
            ..Directive::default()
        };
        let directives = [("/a".to_owned(), directive(1)), ("/a?x".to_owned(), directive(2))];
        let site = RuledSite::of(Status(200)).directing(directives.into());
        let urgency =
            |path: &str| site.respond(&Request::get("a", path)).directive.and_then(|it| it.urgency);
        assert_eq!(["/a", "/a?x", "/a?y", "/b"].map(urgency), [Some(1), Some(2), Some(1), None]);
    }
}
