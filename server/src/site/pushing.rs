//! A site that pushes and hints: the routes of its operator, the `Link` fields of its responses, and what the client
//! is known to have.

mod has;

use super::{Ahead, Foreseen, Promise, Request, Response, Site, fits};
use has::{Has, Held, tracked};
use push::digest::{Identity, ResourceCookies};
use push::guard::{self, CookiePolicy, Parent, Said};
use push::link;
use push::visits::{PushWhen, revisits};
use push::{Budget, Choice, Gate, Graph, Node, Policy};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is pushed and hinted with the responses of a path.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "keys, independent of each other")]
pub struct PushRoute {
    /// The host; none: any.
    pub host: Option<String>,
    /// The path; one that ends in `*` stands for all that begin like it.
    pub path: String,
    /// Paths to push, in this order.
    pub push: Vec<String>,
    /// Pushes what the response's own `Link` fields preload (NGINX's `http2_push_preload`).
    pub push_preload: bool,
    /// Pushes what the response's `X-Push` field names.
    pub x_push: bool,
    /// `Link` values of early hints.
    pub early_hints: Vec<String>,
    /// Hints at what the last response to the same request preloaded.
    pub learn_hints: bool,
    /// When it pushes.
    pub push_when: PushWhen,
    /// What of the graph is pushed and hinted.
    pub policy: Option<Policy>,
    /// The page's graph, for the policy.
    pub graph: Option<Arc<Graph>>,
    /// When pushed bytes may go.
    pub gate: Option<Gate>,
    /// How many pushes may be under way at one time.
    pub max_concurrent_pushes: Option<u64>,
    /// How it is known what the client has.
    pub knows: Knows,
    /// What is known of cookies.
    pub cookies: CookiePolicy,
    /// Of a copy that the client has to validate, and which is still right, a 304 is pushed.
    pub push_not_modified: bool,
    /// A promise says which entity tag it is of (`If-Match`), so that a client that has it can refuse.
    pub push_if_match: bool,
    /// The `Cache-Control` field of responses that have none.
    pub cache_control: Option<String>,
}

impl PushRoute {
    /// Whether something goes with a response of this status: with a 304, the answer to a client that was here before, only
    /// where it is known what that has.
    fn pushes_with(&self, status: u16) -> bool {
        let Knows { casper, resource_cookies, cache_digest, cuckoo_digest, conditional: _ } =
            self.knows;
        let knows = casper.is_some() || resource_cookies || cache_digest || cuckoo_digest;
        status == 200 || (status == 304 && knows)
    }
}

/// How it is known what the client has cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "ways to know, independent of each other")]
pub struct Knows {
    /// h2o's cookie, which the responses set.
    pub casper: Option<Identity>,
    /// A cookie for each resource, which the response that brings it sets, as long as that is fresh; for what has none of
    /// the [`ResourceCookies::MAX`], h2o's.
    pub resource_cookies: bool,
    /// The `Cache-Digest` request field, as a Golomb-coded set.
    pub cache_digest: bool,
    /// The `Cache-Digest` request field, as a cuckoo filter.
    pub cuckoo_digest: bool,
    /// A conditional request for the page says that its resources are cached.
    pub conditional: bool,
}

/// Another site with routes.
pub struct PushingSite {
    inner: Arc<dyn Site>,
    routes: Vec<PushRoute>,
    /// What has a cookie of its own.
    tracked: BTreeSet<String>,
}

impl PushingSite {
    /// `inner` with routes; of those that a path matches, the first counts.
    pub fn new(inner: Arc<dyn Site>, routes: Vec<PushRoute>) -> Self {
        let tracked = tracked(&routes);
        Self { inner, routes, tracked }
    }

    fn route(&self, request: &Request) -> Option<&PushRoute> {
        let holds =
            |it: &&PushRoute| request.is_for(it.host.as_deref()) && fits(&it.path, &request.path);
        self.routes.iter().find(holds)
    }
}

/// The pushes of routes that `site` answers otherwise than with 200: route and path. What nothing is known of is not
/// among them.
pub fn absent_pushes<'a>(site: &dyn Site, routes: &'a [PushRoute]) -> Vec<(&'a str, &'a str)> {
    let is_absent = |route: &PushRoute, path: &str| {
        let promise = Promise {
            authority: route.host.clone().unwrap_or_default(),
            path: path.to_owned(),
            fields: Vec::new(),
            cookies_known: false,
        };
        site.foresee(&promise.request()).is_some_and(|it| it.status != 200)
    };
    let pushes = routes.iter().flat_map(|route| route.push.iter().map(move |path| (route, path)));
    let absent = pushes.filter(|(route, path)| is_absent(route, path));
    absent.map(|(route, path)| (route.path.as_str(), path.as_str())).collect()
}

impl Site for PushingSite {
    fn respond(&self, request: &Request) -> Response {
        self.add(request, self.inner.respond(request))
    }

    fn arrived(&self, request: &Request, response: Response) -> Response {
        self.add(request, self.inner.arrived(request, response))
    }

    fn hinted(&self, request: &Request, links: &[String]) -> Ahead {
        let ahead = self.inner.hinted(request, links);
        let route = self.route(request).filter(|it| it.push_preload && request.method == "GET");
        let Some(route) = route.filter(|_| !request.pushed) else { return ahead };
        let headers = links.iter().map(|it| ("link".into(), it.clone())).collect();
        let interim = Response { headers, ..Response::error(EARLY_HINTS) };
        let wishes = Wishes { paths: preloads(&interim).collect(), ..Wishes::default() };
        let mut has = Has::of(route, request);
        let pushes = self.pushes(&wishes, route, (request, &interim), &mut has);
        let max_concurrent_pushes = route.max_concurrent_pushes;
        Ahead { pushes, gate: route.gate, max_concurrent_pushes, ..ahead }
    }

    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        let known = self.inner.foresee(request)?;
        let own = || self.route(request)?.cache_control.clone();
        Some(Foreseen { cache_control: known.cache_control.clone().or_else(own), ..known })
    }
}

const EARLY_HINTS: u16 = 103;

/// The paths that a response's `Link` fields have pushed.
fn preloads(response: &Response) -> impl Iterator<Item = String> {
    let links = response.fields("link").flat_map(link::parse);
    links.filter_map(|it| it.path_to_push().map(str::to_owned))
}

impl PushingSite {
    /// What goes with a response. One that is still awaited gets what is known without it, at once; the rest when
    /// its head has come, where what was promised already is known to the connection.
    fn add(&self, request: &Request, mut response: Response) -> Response {
        self.say_fresh(request, &mut response);
        let route = self.route(request).filter(|_| !request.pushed && request.method == "GET");
        let Some(route) = route.filter(|it| it.pushes_with(response.status)) else {
            return response;
        };
        let mut wishes = Wishes::of(route, request, &response);
        if route.learn_hints && response.is_awaited() {
            let links = self.inner.foresee(request).map(|it| it.links).unwrap_or_default();
            wishes.hint_at(links.iter().map(String::as_str));
        }
        let mut has = Has::of(route, request);
        let pushes = self.pushes(&wishes, route, (request, &response), &mut has);
        response.headers.extend(wishes.links.iter().map(|it| ("link".into(), it.clone())));
        if !pushes.is_empty() {
            response
                .headers
                .extend(route.push_when.set_cookie().map(|it| ("set-cookie".into(), it)));
        }
        response.headers.extend(has.set_cookie().map(|it| ("set-cookie".into(), it)));
        let waits = response.is_awaited()
            || response.ready.first().is_some_and(|(after, _)| !after.is_zero());
        let hints =
            if waits && is_navigation(request, &response) { wishes.hints } else { Vec::new() };
        response.ahead = Ahead {
            hints,
            pushes,
            gate: route.gate,
            max_concurrent_pushes: route.max_concurrent_pushes,
        };
        response
    }

    /// The promises of what a route asks for.
    fn pushes(
        &self,
        wishes: &Wishes,
        route: &PushRoute,
        (request, response): (&Request, &Response),
        has: &mut Has,
    ) -> Vec<Promise> {
        let may = request.path_state.is_some()
            && route.push_when.allows(request.cookies().as_deref())
            && !(route.knows.conditional
                && revisits(request.field("if-none-match"), request.field("if-modified-since")));
        if !may {
            return Vec::new();
        }
        let mut pushes: Vec<Promise> = Vec::new();
        for path in &wishes.paths {
            if pushes.iter().any(|it| it.path == *path) || *path == request.path {
                continue;
            }
            pushes.extend(self.candidate(route, (request, response), path, has));
        }
        pushes
    }

    /// The promise of a path, if the guard allows it and the client has it not.
    fn candidate(
        &self,
        route: &PushRoute,
        (request, response): (&Request, &Response),
        path: &str,
        has: &mut Has,
    ) -> Option<Promise> {
        let authority = request.authority.as_str();
        let set_cookies: Vec<String> = response.fields("set-cookie").map(str::to_owned).collect();
        let names: Vec<&str> = request.fields.iter().map(|(name, _)| name.as_str()).collect();
        let cookies = request.cookies();
        let parent = Parent {
            authority,
            path: &request.path,
            cookies: cookies.as_deref(),
            set_cookies: &set_cookies,
            fields: &names,
        };
        let plain = Promise {
            authority: authority.to_owned(),
            path: path.to_owned(),
            fields: Vec::new(),
            cookies_known: false,
        };
        // Of a resource that nobody has asked for yet it is not known what it varies on: that is checked again when
        // its response is there.
        let answer = self.foresee(&plain.request());
        if answer.as_ref().is_some_and(|it| it.status != 200) {
            return None;
        }
        // A response that is still awaited may set cookies.
        let is_awaited = response.is_awaited() || response.status == EARLY_HINTS;
        let policy = if is_awaited { &CookiePolicy::None } else { &route.cookies };
        let candidate = |said| guard::Candidate { authority, path, said };
        let said = answer.as_ref().map(Foreseen::said).unwrap_or_default();
        let cookies = guard::check(&parent, &candidate(said), policy).ok()?;
        let by_cookie = Said { vary: "cookie", ..Said::default() };
        let cookies_known = guard::check(&parent, &candidate(by_cookie), policy).is_ok();
        let held = has.note((authority, path), answer.as_ref(), &self.tracked);
        let condition = condition(route, held, answer.and_then(|it| it.etag))?;
        let repeated =
            request.fields.iter().filter(|(name, _)| guard::REPEATED.contains(&name.as_str()));
        let cookies = cookies.map(|it| ("cookie".to_owned(), it));
        let fields = repeated.cloned().chain(cookies).chain(condition).collect();
        Some(Promise { fields, cookies_known, ..plain })
    }

    /// How long a response is fresh, and the cookie that says so where the resource has one of its own.
    fn say_fresh(&self, request: &Request, response: &mut Response) {
        if request.method != "GET" || response.is_awaited() || !matches!(response.status, 200 | 304)
        {
            return;
        }
        let own = self.route(request).and_then(|it| it.cache_control.clone());
        if let Some(cache_control) = own.filter(|_| response.cache_control().is_none()) {
            response.headers.push(("cache-control".into(), cache_control));
        }
        let fresh_s =
            response.fresh_s().filter(|it| *it > 0 && self.tracked.contains(&request.path));
        if let Some(fresh_s) = fresh_s {
            let etag = response.fields("etag").next();
            let cookie = ResourceCookies::set_cookie(&request.path, etag, fresh_s);
            response.headers.push(("set-cookie".into(), cookie));
        }
    }
}

/// The condition of a promised request, if it has one; the outer none: there is nothing to push.
#[expect(clippy::option_option, reason = "whether to push, and whether under a condition")]
fn condition(
    route: &PushRoute,
    held: Held,
    etag: Option<String>,
) -> Option<Option<(String, String)>> {
    match held {
        Held::Nothing => {
            let strong = etag.filter(|it| route.push_if_match && !it.starts_with("W/"));
            Some(strong.map(|it| ("if-match".to_owned(), it)))
        }
        Held::Stale if route.push_not_modified => Some(Some(("if-none-match".to_owned(), etag?))),
        Held::Stale | Held::Copy => None,
    }
}

/// What a route asks for, before it is known what the client has.
#[derive(Debug, Default)]
struct Wishes {
    /// Paths to push, on the own host.
    paths: Vec<String>,
    /// `Link` values of the final response.
    links: Vec<String>,
    /// `Link` values of early hints.
    hints: Vec<String>,
}

impl Wishes {
    fn of(route: &PushRoute, request: &Request, response: &Response) -> Self {
        let mut wishes = Self { paths: route.push.clone(), ..Self::default() };
        if route.push_preload {
            wishes.paths.extend(preloads(response));
        }
        if route.x_push {
            let named = response.fields("x-push").flat_map(|it| it.split(',')).map(str::trim);
            wishes.paths.extend(named.filter(|it| link::is_path(it)).map(str::to_owned));
        }
        wishes.hints.clone_from(&route.early_hints);
        wishes.hint_at(response.fields("link"));
        wishes.plan(route, request, response);
        wishes
    }

    /// Hints at those of `Link` values that are of use ahead.
    fn hint_at<'a>(&mut self, links: impl Iterator<Item = &'a str>) {
        let hints = links.filter(|it| link::is_hint(it));
        self.hints.extend(hints.map(str::to_owned));
    }

    /// What the policy adds.
    fn plan(&mut self, route: &PushRoute, request: &Request, response: &Response) {
        let (Some(policy), Some(graph)) = (route.policy, &route.graph) else { return };
        let Some(node) = node_of(graph, request) else { return };
        let navigation = is_navigation(request, response);
        let evaluation = graph.nodes[node].evaluation;
        let budget =
            request.path_state.map_or(Budget { bytes: 0, stream_bytes: 0, pushes: 0 }, |path| {
                Budget::of(&path, evaluation, route.max_concurrent_pushes.unwrap_or(u64::MAX))
            });
        let host = graph.nodes[node].host.clone();
        let allowed = |it: &Node| it.host == host;
        let waiting_urgency = request.waiting_urgency;
        let choice = Choice { graph, node, navigation, budget, waiting_urgency, allowed: &allowed };
        let plan = policy.plan(&choice);
        self.paths.extend(plan.push.iter().map(|it| graph.nodes[*it].path.clone()));
        let links = plan.hint.iter().map(|it| graph.nodes[*it].preload(&host));
        self.links.extend(as_many_as_fit(links));
        self.hints.extend(self.links.iter().cloned());
    }
}

/// The most `Link` values that a policy adds, and their most bytes: a client takes no head of any length.
const LINKS_MAX: usize = 64;
const LINKS_BYTES_MAX: usize = 8 << 10;

/// The first of a policy's `Link` values.
fn as_many_as_fit(links: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    links.take(LINKS_MAX).scan(0, |bytes, link| {
        *bytes += link.len();
        (*bytes <= LINKS_BYTES_MAX).then_some(link)
    })
}

fn node_of(graph: &Graph, request: &Request) -> Option<usize> {
    let host = request.authority.rsplit_once(':').map_or(request.authority.as_str(), |it| it.0);
    graph
        .find(host, &request.path)
        .or_else(|| graph.nodes.iter().position(|it| it.path == request.path))
}

/// Browsers say so; of others a document is asked for to be shown.
fn is_navigation(request: &Request, response: &Response) -> bool {
    let document = response.resource.main || response.resource.kind == schedulers::Kind::Html;
    request.field("sec-fetch-mode").map_or(document, |it| it == "navigate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_policy_are_bounded_in_number_and_bytes() {
        let links = |bytes: usize| (0..800).map(move |_| "x".repeat(bytes));
        let counts = [1, 128, 129, 1000, 9000].map(|it| as_many_as_fit(links(it)).count());
        assert_eq!(counts, [64, 64, 63, 8, 0]);
    }
}
