//! Warnings about settings that do nothing.

use super::key_positions::KeyPositions;
use super::paths::covers;
use super::{Config, ConfigRoute, ConfigSite};
use crate::site::{CacheEvidence, Directive, Pushing};
use push::Policy;
use push::guard::CookiePolicy;
use push::visits::PushWhen;
use schedulers::{Metadata, Priority};
use server::SignalUse;
use server::limits::MAX_CONCURRENT;

/// Whether anything is pushed with a route's responses.
pub(super) fn pushes(route: &Pushing) -> bool {
    let by_policy = route.policy.is_some_and(Policy::pushes);
    !route.push.is_empty() || route.push_preload || route.x_push || by_policy
}

/// The source that answers for a route's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answering {
    Directory,
    Page,
    Backend,
}

impl Config {
    /// The settings of routes that have no effect: the line of each, and why.
    pub(super) fn idle(&self, places: &KeyPositions<'_>) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (index, route) in self.routes.iter().enumerate() {
            let sets = |name: &str| route.headers.iter().any(|it| it.contains_key(name));
            let answering = self.answering(&route.path);
            let keys = route.pushing.iter().flat_map(|it| idle(it, sets, answering));
            found.extend(
                keys.map(|(key, why)| (places.in_route(index, key), format!("{key} {why}"))),
            );
        }
        for (index, route) in self.routes.iter().enumerate() {
            let line = places.in_route(index, "path");
            for (before, earlier) in self.routes[..index].iter().enumerate() {
                let first = places.in_route(before, "path");
                let why = |what| {
                    let (path, by) = (&route.path, &earlier.path);
                    (
                        line,
                        format!(
                            "path \"{path}\": \"{by}\" at line {first} decides about {what} first"
                        ),
                    )
                };
                found.extend(route.decided_by(earlier).into_iter().map(why));
            }
        }
        found.extend(self.idle_limits(places));
        found
    }

    fn idle_limits(&self, places: &KeyPositions<'_>) -> Option<(usize, String)> {
        let has_backend = matches!(self.site, ConfigSite::Upstream(_))
            || self.routes.iter().any(|it| it.upstream().is_some());
        let line = places.in_limits("upstream").filter(|_| !has_backend)?;
        Some((line, "limits.upstream has no effect without an upstream".to_owned()))
    }

    /// Removes priorities of directives that have no effect, and returns why directives have none: no page uses signals in a way that
    /// respects them. Without `signals` in `[site]`, they are respected.
    pub(super) fn take_idle_directives(&mut self) -> Vec<&'static str> {
        let of_pages = self.routes.iter().filter_map(|it| it.signals);
        let uses: Vec<SignalUse> = self.signals.into_iter().chain(of_pages).collect();
        let unless =
            |used: fn(&SignalUse) -> bool| self.signals.is_some() && !uses.iter().any(used);
        let says = |said: fn(&Directive) -> bool| self.directives.values().any(said);
        let priorities = says(|it| it.priority != Priority::default())
            && unless(|it| *it == SignalUse::Override);
        let facts = says(|it| it.facts != Metadata::default()) && unless(|it| it.uses_knowledge());
        let causes = [
            (priorities, "directives have no effect unless signals = \"override\""),
            (facts, "facts of resources have no effect where signals = \"obey\""),
        ];
        if priorities {
            self.directives.values_mut().for_each(|it| it.priority = Priority::default());
        }
        causes.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }

    /// The source that answers for a route's paths: a backend, if one answers for any of them.
    fn answering(&self, path: &str) -> Answering {
        let meets = |route: &ConfigRoute| {
            route.upstream().is_some() && (covers(&route.path, path) || covers(path, &route.path))
        };
        match self.site {
            _ if self.routes.iter().any(meets) => Answering::Backend,
            ConfigSite::Upstream(_) => Answering::Backend,
            ConfigSite::Pages(_) => Answering::Page,
            ConfigSite::Root(_) => Answering::Directory,
        }
    }
}

/// The keys about pushes and hints without or with reduced effect, and why; `sets` states which fields the route sets.
fn idle(
    route: &Pushing,
    sets: impl Fn(&str) -> bool,
    by: Answering,
) -> Vec<(&'static str, String)> {
    let (pushes, most) = (pushes(route), route.max_concurrent_pushes.unwrap_or(MAX_CONCURRENT));
    let by_backend = by == Answering::Backend;
    let no_push = "has no effect, because this route pushes nothing";
    let no_backend = "has no effect: it needs the fields of a backend, and no backend answers here";
    let at_once = "has no effect for files, which are ready at once: add early_hints_for_files = true to send them anyway";
    let hinted = "has no effect here: a backend takes time, and early hints are sent meanwhile";
    let no_hint = "has no effect: the route has no hints";
    let not_stale =
        "has no effect, because nothing reports stale copies: add cache-digest to client_has";
    let limits = route.max_concurrent_pushes.is_some();
    let stale = route.conditional.not_modified;
    let hints_files = !route.early_hints.is_empty() && by == Answering::Directory;
    let hints = !route.early_hints.is_empty()
        || !route.links.is_empty()
        || route.policy.is_some()
        || sets("link");
    let rows = [
        ("push_gate", route.gate.is_some() && !pushes, no_push),
        ("push_when", route.push_when != PushWhen::Always && !pushes, no_push),
        ("max_concurrent_pushes", limits && !pushes, no_push),
        ("client_has", route.evidence != CacheEvidence::default() && !pushes, no_push),
        ("cookies", route.cookies != CookiePolicy::None && !pushes, no_push),
        ("push_not_modified", stale && !pushes, no_push),
        ("push_if_match", route.conditional.if_match && !pushes, no_push),
        ("push_preload", route.push_preload && !by_backend && !sets("link"), no_backend),
        ("x_push", route.x_push && !by_backend && !sets("x-push"), no_backend),
        ("early_hints", route.learn_hints && !by_backend, no_backend),
        ("early_hints", hints_files && !route.hints_for_files, at_once),
        ("early_hints_for_files", route.hints_for_files && !hints, no_hint),
        ("early_hints_for_files", route.hints_for_files && by == Answering::Backend, hinted),
        ("push_not_modified", stale && pushes && !route.evidence.cache_digest, not_stale),
    ];
    let idle = rows.into_iter().filter(|(_, is_idle, _)| *is_idle);
    let mut found: Vec<_> = idle.map(|(key, _, why)| (key, why.to_owned())).collect();
    if route.push.len() as u64 > most {
        let listed = route.push.len();
        let why = format!(
            "names {listed} paths, and the first {most} are pushed: raise max_concurrent_pushes"
        );
        found.push(("push", why));
    }
    found
}

impl ConfigRoute {
    /// Names of its settings without effect, because `before` has set them for every request.
    fn decided_by(&self, before: &Self) -> Vec<&'static str> {
        let same =
            |host: &String| self.host.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(host));
        if !before.host.as_ref().is_none_or(same) || !covers(&before.path, &self.path) {
            return Vec::new();
        }
        let decided = before.decides();
        self.decides().into_iter().filter(|it| decided.contains(it)).collect()
    }
}
