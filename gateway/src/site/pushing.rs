//! Pushes and hints: the operator's rules, the `Link` fields of responses, and the client's known cache contents.

mod cached;
mod conditional;

use super::RuledSite;
use crate::limits::{ADDED_LINKS, ADDED_LINKS_BYTES};
use cached::{Cached, Held};
pub use conditional::ConditionalPushes;
use hyper::header::{CACHE_CONTROL, COOKIE, HeaderName, LINK, SET_COOKIE};
use push::guard::{self, CacheFields, CookiePolicy, Parent};
use push::link;
use push::visits::{PushWhen, revisits};
use push::{Budget, Choice, Gate, Graph, Node, Policy};
use schedulers::Kind;
use server::site::fields::{add, fields, kept, value};
use server::site::{Ahead, Foreseen, Promise, Request, Response};
use std::sync::Arc;

/// The pushes and hints for the responses of some paths: one field for each key of the configuration.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "rules, independent of each other")]
pub struct Pushing {
    /// Paths to push, in this order.
    pub push: Vec<String>,
    /// Push what the response's own `Link` fields preload (NGINX's `http2_push_preload`).
    pub push_preload: bool,
    /// Push what the response's `X-Push` field names.
    pub x_push: bool,
    /// `Link` values for the response and its early hints.
    pub links: Vec<String>,
    /// `Link` values of early hints alone.
    pub early_hints: Vec<String>,
    /// Hint at the preloads of the last response to the same request.
    pub learn_hints: bool,
    /// Send early hints even if a file or a page is ready at once.
    pub hints_for_files: bool,
    /// When to push.
    pub push_when: PushWhen,
    /// Which resources of the graph are pushed and hinted.
    pub policy: Option<Policy>,
    /// The page's graph, for the policy.
    pub graph: Option<Arc<Graph>>,
    /// When pushed bytes may be sent.
    pub gate: Option<Gate>,
    /// The most pushes in progress.
    pub max_concurrent_pushes: Option<u64>,
    /// How the server learns what the client has cached.
    pub evidence: CacheEvidence,
    /// Which cookies the client would send with a pushed request.
    pub cookies: CookiePolicy,
    /// Pushes under a condition.
    pub conditional: ConditionalPushes,
    /// The `Cache-Control` field for responses without one.
    pub cache_control: Option<String>,
}

impl Pushing {
    /// Whether pushes and hints go with a response of this status. A 304 answers a returning client, so they go with it only if the server
    /// knows the client's cache.
    fn goes_with(&self, status: u16) -> bool {
        status == 200 || (status == 304 && self.evidence.cache_digest)
    }
}

/// How the server learns what the client has cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheEvidence {
    /// By the `Cache-Digest` request field, as a Golomb-coded set.
    pub cache_digest: bool,
    /// By a conditional request for the page, which implies that the page's resources are cached.
    pub conditional: bool,
}

/// The status of a response with only hints.
const EARLY_HINTS: u16 = 103;

/// Paths to push that a response's `Link` fields name.
fn preloads(response: &Response) -> impl Iterator<Item = String> + '_ {
    let links = response.fields("link").flat_map(link::parse);
    links.filter_map(|it| it.path_to_push().map(str::to_owned))
}

impl RuledSite {
    /// The pushes and hints that are known before the head of an awaited response arrives. The connection does not repeat them when the
    /// head has arrived.
    pub(super) fn before_head(&self, request: &Request, response: &Response) -> Ahead {
        let Some(occasion) = self.occasion(request, response) else { return Ahead::default() };
        let mut wishes = occasion.wishes();
        if occasion.pushing.learn_hints {
            let links = self.recall(request).map(|it| it.links).unwrap_or_default();
            wishes.hint_at(links.iter().map(String::as_str));
        }
        occasion.ahead(wishes, &Cached::of(occasion.pushing, request))
    }

    /// The response with its pushes and hints, and the fields that belong to it.
    pub(super) fn with_pushes(&self, request: &Request, mut response: Response) -> Response {
        let Some(occasion) = self.occasion(request, &response) else { return response };
        let pushing = occasion.pushing;
        let wishes = occasion.wishes();
        let links = wishes.links.clone();
        let ahead = occasion.ahead(wishes, &Cached::of(pushing, request));
        let visit = pushing.push_when.set_cookie().filter(|_| !ahead.pushes.is_empty());
        let lines = links.into_iter().map(|it| (LINK, it));
        add(&mut response.headers, lines.chain(visit.map(|it| (SET_COOKIE, it))));
        Response { ahead, ..response }
    }

    pub(super) fn pushes_of_hints(&self, request: &Request, links: &[String]) -> Ahead {
        let headers = fields(links.iter().map(|it| (LINK, it)));
        let interim = Response { headers, ..Response::empty(EARLY_HINTS) };
        let pushing = self.pushing(request).filter(|it| it.push_preload && may_push(request));
        let Some(pushing) = pushing else { return Ahead::default() };
        let wishes = Wishes { paths: preloads(&interim).collect(), ..Wishes::default() };
        let occasion = PushingResponse { site: self, pushing, request, response: &interim };
        occasion.ahead(wishes, &Cached::of(pushing, request))
    }

    /// Adds the operator's `Cache-Control` field to a response without one.
    pub(super) fn with_freshness(&self, request: &Request, mut response: Response) -> Response {
        if request.method != "GET" || !matches!(response.status, 200 | 304) {
            return response;
        }
        let own = self.pushing(request).and_then(|it| it.cache_control.clone());
        let own = own.filter(|_| response.cache_control().is_none());
        add(&mut response.headers, own.map(|it| (CACHE_CONTROL, it)));
        response
    }

    fn occasion<'a>(
        &'a self,
        request: &'a Request,
        response: &'a Response,
    ) -> Option<PushingResponse<'a>> {
        let pushing = self.pushing(request).filter(|_| may_push(request))?;
        let occasion = PushingResponse { site: self, pushing, request, response };
        pushing.goes_with(response.status).then_some(occasion)
    }
}

/// Whether a response to this request may have pushes and hints at all.
fn may_push(request: &Request) -> bool {
    !request.pushed && request.method == "GET"
}

/// A response that pushes and hints may precede.
struct PushingResponse<'a> {
    site: &'a RuledSite,
    pushing: &'a Pushing,
    request: &'a Request,
    response: &'a Response,
}

impl PushingResponse<'_> {
    /// The pushes of the rule, before checking what the client has.
    fn wishes(&self) -> Wishes {
        let Self { pushing, response, .. } = self;
        let mut wishes = Wishes { paths: pushing.push.clone(), ..Wishes::default() };
        if pushing.push_preload {
            wishes.paths.extend(preloads(response));
        }
        if pushing.x_push {
            let named = response.fields("x-push").flat_map(|it| it.split(',')).map(str::trim);
            wishes.paths.extend(named.filter(|it| link::is_path(it)).map(str::to_owned));
        }
        wishes.hints.clone_from(&pushing.early_hints);
        wishes.hint_at(response.fields("link"));
        wishes.link(pushing.links.iter().cloned());
        self.plan(&mut wishes);
        wishes
    }

    /// Adds the policy's selection from the graph.
    fn plan(&self, wishes: &mut Wishes) {
        let Self { pushing, request, .. } = self;
        let (Some(policy), Some(graph)) = (pushing.policy, &pushing.graph) else { return };
        let Some(node) = node_of(graph, request) else { return };
        let Node { evaluation, host, .. } = &graph.nodes[node];
        let most = pushing.max_concurrent_pushes.unwrap_or(u64::MAX);
        let nothing = Budget { bytes: 0, stream_bytes: 0, pushes: 0 };
        let budget = request.path_state.map_or(nothing, |it| Budget::of(&it, *evaluation, most));
        let plan = policy.plan(&Choice {
            graph,
            node,
            navigation: self.is_navigation(),
            budget,
            waiting_urgency: request.waiting_urgency,
            allowed: &|it: &Node| it.host == *host,
        });
        wishes.paths.extend(plan.push.iter().map(|it| graph.nodes[*it].path.clone()));
        wishes.link(as_many_as_fit(plan.hint.iter().map(|it| graph.nodes[*it].preload(host))));
    }

    /// The pushes and hints that precede the response. Early hints are useful only if the response takes time; a backend's response then
    /// already has them.
    fn ahead(&self, wishes: Wishes, cached: &Cached) -> Ahead {
        let is_late = self.response.ready.first().is_some_and(|(after, _)| !after.is_zero());
        let at_once = self.pushing.hints_for_files && !self.site.is_remote(self.request);
        let hints = (is_late || at_once || self.response.is_awaited()) && self.is_navigation();
        Ahead {
            pushes: self.promises(&wishes.paths, cached),
            hints: if hints { wishes.hints } else { Vec::new() },
            gate: self.pushing.gate,
            max_concurrent_pushes: self.pushing.max_concurrent_pushes,
        }
    }

    fn is_navigation(&self) -> bool {
        let resource = &self.response.resource;
        self.request.is_navigation(resource.main || resource.kind == Kind::Html)
    }

    fn promises(&self, paths: &[String], cached: &Cached) -> Vec<Promise> {
        let Self { request, pushing, .. } = self;
        let revisits = pushing.evidence.conditional
            && revisits(
                request.list("if-none-match").as_deref(),
                request.field("if-modified-since"),
            );
        let mut promises: Vec<Promise> = Vec::new();
        if request.path_state.is_none()
            || revisits
            || !pushing.push_when.allows(request.cookies().as_deref())
        {
            return promises;
        }
        for path in paths.iter().filter(|it| **it != request.path) {
            if !promises.iter().any(|it| it.path == *path) {
                promises.extend(self.promise(path, cached));
            }
        }
        promises
    }

    /// The promise for a path, if the guard allows it and the client does not have the resource.
    fn promise(&self, path: &str, cached: &Cached) -> Option<Promise> {
        let Self { site, pushing, request, response } = self;
        let authority = request.authority.as_str();
        let promise = Promise::new(authority, path);
        // A remote resource that was never requested is unknown. The guard checks its response on arrival.
        let known = site.foresee(&promise.request());
        if known.as_ref().is_some_and(|it| it.status != 200) {
            return None;
        }
        let cookies = request.cookies();
        let parent = Parent {
            authority,
            path: &request.path,
            cookies: cookies.as_deref(),
            set_cookies: &response.fields("set-cookie").map(str::to_owned).collect::<Vec<_>>(),
            fields: &request.fields.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
        };
        // A response without a head may still set cookies.
        let has_head = !response.is_awaited() && response.status != EARLY_HINTS;
        let policy = if has_head { &pushing.cookies } else { &CookiePolicy::None };
        let check =
            |said| guard::check(&parent, &guard::Candidate { authority, path, said }, policy);
        let cookies = check(known.as_ref().map(Foreseen::said).unwrap_or_default()).ok()?;
        let cookies_known = check(CacheFields { vary: "cookie", ..CacheFields::default() }).is_ok();
        let etag = known.as_ref().and_then(|it| it.etag.as_deref());
        let condition = match cached.held(&promise, known.as_ref()) {
            Held::Copy => return None,
            Held::Stale => Some(pushing.conditional.if_none_match(etag)?),
            Held::Nothing => pushing.conditional.if_match(etag),
        };
        let repeated = kept(&request.fields, |it| guard::REPEATED.contains(&it));
        let cookies = cookies.map(|it| (COOKIE, value(it)));
        let fields = repeated.chain(cookies).chain(condition).collect();
        Some(Promise { fields, cookies_known, ..promise })
    }
}

#[derive(Debug, Default)]
struct Wishes {
    /// Paths to push, on the response's own host.
    paths: Vec<String>,
    /// `Link` values of the final response.
    links: Vec<String>,
    /// `Link` values of early hints.
    hints: Vec<String>,
}

impl Wishes {
    /// Adds fields to the response without duplicates, and hints at them.
    fn link(&mut self, links: impl IntoIterator<Item = String>) {
        for link in links {
            if !self.links.contains(&link) {
                self.hint_at([link.as_str()].into_iter());
                self.links.push(link);
            }
        }
    }

    /// Adds the `Link` values that are useful before the response.
    fn hint_at<'a>(&mut self, links: impl Iterator<Item = &'a str>) {
        let hints = links.filter(|it| link::is_hint(it));
        self.hints.extend(hints.map(str::to_owned));
    }
}

/// The first of many `Link` values, because clients limit the size of a head.
pub fn as_many_as_fit(links: impl Iterator<Item = String>) -> Vec<String> {
    let mut bytes = 0;
    let fits = |link: &String| {
        bytes += link.len();
        bytes <= ADDED_LINKS_BYTES
    };
    links.take(ADDED_LINKS).take_while(fits).collect()
}

fn node_of(graph: &Graph, request: &Request) -> Option<usize> {
    let found = graph.find(request.host(), &request.path);
    found.or_else(|| graph.nodes.iter().position(|it| it.path == request.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_policy_are_bounded_in_number_and_bytes() {
        let links = |bytes: usize| (0..800).map(move |_| "x".repeat(bytes));
        let counts = [1, 128, 129, 1000, 9000].map(|it| as_many_as_fit(links(it)).len());
        assert_eq!(counts, [64, 64, 63, 8, 0]);
    }
}
