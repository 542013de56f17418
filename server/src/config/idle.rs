//! What a route says that will do nothing.

use super::ConfigRoute;
use super::paths::covers;
use crate::limits::MAX_CONCURRENT;
use crate::site::{Knows, Pushing};
use push::Policy;
use push::digest::Identity;
use push::guard::CookiePolicy;
use push::visits::PushWhen;

/// Whether anything is pushed with a route's responses.
pub(super) fn pushes(route: &Pushing) -> bool {
    let by_policy = !matches!(route.policy, None | Some(Policy::NoOpt | Policy::Preload));
    !route.push.is_empty() || route.push_preload || route.x_push || by_policy
}

/// What answers for a route's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answering {
    Directory,
    Page,
    Backend,
}

/// The keys of a route that do nothing, or not all that they say, and why.
pub(super) fn idle(route: &Pushing, by: Answering) -> Vec<(&'static str, String)> {
    const NOTHING: &str = "nothing is pushed here, so that it does nothing";
    const NO_BACKEND: &str =
        "it is about the fields of a backend's responses, and no backend answers here";
    let without_push = [
        ("push_gate", route.gate.is_some()),
        ("push_when", route.push_when != PushWhen::Always),
        ("max_concurrent_pushes", route.max_concurrent_pushes.is_some()),
        ("client_has", route.knows != Knows::default()),
        ("cookies", route.cookies != CookiePolicy::None),
        ("push_not_modified", route.conditional.not_modified),
        ("push_if_match", route.conditional.if_match),
    ];
    let without_backend = [
        ("push_preload", route.push_preload),
        ("x_push", route.x_push),
        ("early_hints", route.learn_hints),
    ];
    let without_push = without_push
        .into_iter()
        .filter(|(_, said)| *said && !pushes(route))
        .map(|(key, _)| (key, NOTHING));
    let without_backend = without_backend
        .into_iter()
        .filter(|(_, said)| *said && by != Answering::Backend)
        .map(|(key, _)| (key, NO_BACKEND));
    let at_once = !route.early_hints.is_empty() && by == Answering::Directory;
    let without_wait = at_once.then_some((
        "early_hints",
        "a file is there at once, and early hints go where a response takes time",
    ));
    let keys = without_push.chain(without_backend).chain(without_wait).chain(blind_to_stale(route));
    keys.map(|(key, why)| (key, why.to_owned())).chain(too_many(route)).collect()
}

/// Warns if nothing reports stale copies, for which a 304 would be pushed.
fn blind_to_stale(route: &Pushing) -> Option<(&'static str, &'static str)> {
    let tells = route.knows.casper == Some(Identity::PathAndEtag) || route.knows.cache_digest;
    (route.conditional.not_modified && pushes(route) && !tells).then_some((
        "push_not_modified",
        "nothing reports stale copies here, so it has no effect; add casper-etag or cache-digest to client_has",
    ))
}

/// That a list names more than may be under way.
fn too_many(route: &Pushing) -> Option<(&'static str, String)> {
    let (listed, most) = (route.push.len(), route.max_concurrent_pushes.unwrap_or(MAX_CONCURRENT));
    (listed as u64 > most).then(|| {
        let why = format!(
            "it lists {listed}, and of them the first {most} are pushed: max_concurrent_pushes is {most}"
        );
        ("push", why)
    })
}

impl ConfigRoute {
    /// Whether it decides anything.
    pub(super) fn says_something(&self) -> bool {
        !self.decides().is_empty()
    }

    /// Names of what it decides: the first route that fits a request holds.
    fn decides(&self) -> Vec<&'static str> {
        let said = [
            ("pushes and hints", self.pushing.is_some()),
            ("scheme", self.scheme.is_some()),
            ("upstream", self.upstream.is_some()),
        ];
        said.into_iter().filter(|(_, said)| *said).map(|(what, _)| what).collect()
    }

    /// What this one decides and `before` has decided already, for every request.
    pub(super) fn decided_by(&self, before: &Self) -> Vec<&'static str> {
        let same =
            |host: &String| self.host.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(host));
        if !before.host.as_ref().is_none_or(same) || !covers(&before.path, &self.path) {
            return Vec::new();
        }
        let decided = before.decides();
        self.decides().into_iter().filter(|it| decided.contains(it)).collect()
    }
}
