//! A site that pushes and hints: the routes of its operator, the `Link` fields of its responses, and what the client
//! is known to have.

use super::{Ahead, Promise, Request, Response, Site};
use push::digest::{CacheDigest, Casper, Identity};
use push::guard::{self, CookiePolicy, Parent};
use push::link::{self, Link};
use push::visits::{PushWhen, revisits};
use push::{Budget, Choice, Gate, Graph, Node, Policy};
use std::sync::Arc;

/// What is pushed and hinted with the responses of a path.
#[derive(Debug, Clone, Default)]
pub struct PushRoute {
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
}

/// How it is known what the client has cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Knows {
    /// h2o's cookie, which the responses set.
    pub casper: Option<Identity>,
    /// The `Cache-Digest` request field.
    pub cache_digest: bool,
    /// A conditional request for the page says that its resources are cached.
    pub conditional: bool,
}

/// Another site with routes.
pub struct PushingSite {
    inner: Arc<dyn Site>,
    routes: Vec<PushRoute>,
}

impl PushingSite {
    /// `inner` with routes; of those that a path matches, the first counts.
    pub fn new(inner: Arc<dyn Site>, routes: Vec<PushRoute>) -> Self {
        Self { inner, routes }
    }

    fn route(&self, path: &str) -> Option<&PushRoute> {
        let plain = path.split('?').next().unwrap_or_default();
        self.routes.iter().find(|it| match it.path.strip_suffix('*') {
            Some(prefix) => plain.starts_with(prefix),
            None => it.path == plain || it.path == path,
        })
    }
}

impl Site for PushingSite {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.inner.respond(request);
        let route =
            self.route(&request.path).filter(|_| !request.pushed && request.method == "GET");
        let Some(route) = route.filter(|_| response.status == 200) else { return response };
        let wishes = Wishes::of(route, request, &response);
        let mut has = Has::of(route, request);
        let pushes = wishes.pushes(&self.inner, route, (request, &response), &mut has);
        response.headers.extend(wishes.links.iter().map(|it| ("link", it.clone())));
        if !pushes.is_empty() {
            response.headers.extend(route.push_when.set_cookie().map(|it| ("set-cookie", it)));
        }
        response.headers.extend(has.set_cookie().map(|it| ("set-cookie", it)));
        let waits = response.ready.first().is_some_and(|(after, _)| !after.is_zero());
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
        let own: Vec<(&str, Vec<Link>)> =
            fields(response, "link").map(|it| (it, link::parse(it))).collect();
        let mut wishes = Self { paths: route.push.clone(), ..Self::default() };
        if route.push_preload {
            let preloads = own.iter().flat_map(|(_, links)| links).filter_map(Link::path_to_push);
            wishes.paths.extend(preloads.map(str::to_owned));
        }
        if route.x_push {
            let named = fields(response, "x-push").flat_map(|it| it.split(',')).map(str::trim);
            wishes.paths.extend(named.filter(|it| it.starts_with('/')).map(str::to_owned));
        }
        wishes.hints.clone_from(&route.early_hints);
        wishes.hints.extend(
            own.iter()
                .filter(|(_, links)| links.iter().any(Link::is_hint))
                .map(|(it, _)| (*it).to_owned()),
        );
        wishes.plan(route, request, response);
        wishes
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
        let links = plan.hint.iter().map(|it| preload(&graph.nodes[*it], &host));
        self.links.extend(links);
        self.hints.extend(self.links.iter().cloned());
    }

    fn pushes(
        &self,
        inner: &Arc<dyn Site>,
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
        for path in &self.paths {
            if pushes.iter().any(|it| it.path == *path) || *path == request.path {
                continue;
            }
            pushes.extend(candidate(inner, route, (request, response), path, has));
        }
        pushes
    }
}

/// The promise of a path, if the guard allows it and the client has it not.
fn candidate(
    inner: &Arc<dyn Site>,
    route: &PushRoute,
    (request, response): (&Request, &Response),
    path: &str,
    has: &mut Has,
) -> Option<Promise> {
    let authority = request.authority.as_str();
    let set_cookies: Vec<String> = fields(response, "set-cookie").map(str::to_owned).collect();
    let names: Vec<&str> = request.fields.iter().map(|(name, _)| name.as_str()).collect();
    let cookies = request.cookies();
    let parent = Parent {
        authority,
        path: &request.path,
        cookies: cookies.as_deref(),
        set_cookies: &set_cookies,
        fields: &names,
    };
    let plain =
        Promise { authority: authority.to_owned(), path: path.to_owned(), fields: Vec::new() };
    let answer = inner.respond(&plain.request());
    if answer.status != 200 {
        return None;
    }
    let vary = fields(&answer, "vary").collect::<Vec<_>>().join(",");
    let candidate = guard::Candidate { authority, path, vary: Some(&vary) };
    let cookies = guard::check(&parent, &candidate, &route.cookies).ok()?;
    if has.note(authority, path, fields(&answer, "etag").next()) {
        return None;
    }
    let repeated =
        request.fields.iter().filter(|(name, _)| guard::REPEATED.contains(&name.as_str()));
    let fields = repeated.cloned().chain(cookies.map(|it| ("cookie".to_owned(), it))).collect();
    Some(Promise { fields, ..plain })
}

/// What the client is known to have.
#[derive(Debug, Default)]
struct Has {
    casper: Option<Casper>,
    digest: Option<CacheDigest>,
    changed: bool,
}

impl Has {
    fn of(route: &PushRoute, request: &Request) -> Self {
        let casper = route.knows.casper.map(|identity| {
            let mut casper = Casper::new(identity);
            casper.read(request.cookies().as_deref().unwrap_or_default());
            casper
        });
        let digest = request.field("cache-digest").filter(|_| route.knows.cache_digest);
        Self { casper, digest: digest.and_then(|it| CacheDigest::parse(it).ok()), changed: false }
    }

    /// Whether the client has a resource; from now on it has.
    fn note(&mut self, authority: &str, path: &str, etag: Option<&str>) -> bool {
        let url = format!("https://{authority}{path}");
        let digested = self
            .digest
            .as_ref()
            .is_some_and(|it| it.contains(&url, etag) || it.contains(path, etag));
        let Some(casper) = &mut self.casper else { return digested };
        let known = casper.contains(path, etag);
        casper.insert(path, etag);
        self.changed |= !known;
        known || digested
    }

    fn set_cookie(&self) -> Option<String> {
        self.casper.as_ref().filter(|_| self.changed).and_then(Casper::set_cookie)
    }
}

fn fields<'a>(response: &'a Response, name: &'a str) -> impl Iterator<Item = &'a str> {
    response.headers.iter().filter(move |(it, _)| *it == name).map(|(_, value)| value.as_str())
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

/// A `Link` value that preloads a node.
fn preload(node: &Node, host: &str) -> String {
    use corpus::page::PageKind;
    let target = if node.host == host {
        node.path.clone()
    } else {
        format!("https://{}{}", node.host, node.path)
    };
    let (destination, more) = match node.kind {
        PageKind::Css => ("style", ""),
        PageKind::Js => ("script", ""),
        PageKind::Font => ("font", "; crossorigin"),
        PageKind::Image => ("image", ""),
        _ => ("fetch", "; crossorigin"),
    };
    format!("<{target}>; rel=preload; as={destination}{more}")
}
