//! What the client is known to have, by the cookies and digests that its request brings.

use super::PushRoute;
use crate::site::{Foreseen, Request};
use push::digest::{CacheDigest, Casper, CuckooDigest, Identity, ResourceCookies};
use std::collections::BTreeSet;

/// What a client has of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Nothing that is known.
    Nothing,
    /// A copy.
    Copy,
    /// A copy of what there is now, which it must not use without asking.
    Stale,
}

/// What the client is known to have.
#[derive(Debug, Default)]
pub(super) struct Has {
    casper: Option<Casper>,
    /// Whether the cookie of h2o covers entity tags.
    casper_covers_tags: bool,
    cookies: Option<ResourceCookies>,
    digests: Vec<CacheDigest>,
    cuckoo: Option<CuckooDigest>,
    changed: bool,
}

impl Has {
    pub(super) fn of(route: &PushRoute, request: &Request) -> Self {
        let knows = route.knows;
        let said = request.cookies().unwrap_or_default();
        let identity = knows.casper.or(knows.resource_cookies.then_some(Identity::Path));
        let casper = identity.map(|identity| {
            let mut casper = Casper::new(identity);
            casper.read(&said);
            casper
        });
        let digest = |wanted: bool| request.field("cache-digest").filter(|_| wanted);
        Self {
            casper,
            casper_covers_tags: identity == Some(Identity::PathAndEtag),
            cookies: knows.resource_cookies.then(|| ResourceCookies::read(&said)),
            digests: digest(knows.cache_digest).map(CacheDigest::parse_all).unwrap_or_default(),
            cuckoo: digest(knows.cuckoo_digest).and_then(|it| CuckooDigest::parse(it).ok()),
            changed: false,
        }
    }

    /// What the client has of a resource; from now on it has a copy. Of a `tracked` resource its own cookie tells, which
    /// the response that brings it sets.
    pub(super) fn note(
        &mut self,
        (authority, path): (&str, &str),
        known: Option<&Foreseen>,
        tracked: &BTreeSet<String>,
    ) -> Held {
        let etag = known.and_then(|it| it.etag.as_deref());
        let is_stale_at_once = known.and_then(Foreseen::fresh_s) == Some(0);
        let digested = self.digested(&format!("https://{authority}{path}"), etag);
        let digested = [digested, self.digested(path, etag)];
        let has_cookie = self.cookies.as_ref().is_some_and(|it| it.contains(path, etag));
        let mut in_casper = false;
        if let Some(casper) = &mut self.casper {
            in_casper = casper.contains(path, etag);
            let by_casper = self.cookies.is_none() || !tracked.contains(path);
            if by_casper && !in_casper {
                casper.insert(path, etag);
                self.changed = true;
            }
        }
        if digested.contains(&Held::Stale)
            || (in_casper && self.casper_covers_tags && etag.is_some() && is_stale_at_once)
        {
            return Held::Stale;
        }
        let has_copy = has_cookie || in_casper || digested.contains(&Held::Copy);
        if has_copy { Held::Copy } else { Held::Nothing }
    }

    fn digested(&self, url: &str, etag: Option<&str>) -> Held {
        let digests = || self.digests.iter().filter(|it| it.contains(url, etag));
        if etag.is_some() && digests().any(|it| it.stale && it.validators) {
            return Held::Stale;
        }
        let in_cuckoo = self.cuckoo.as_ref().is_some_and(|digest| {
            digest.contains(url, None) || (etag.is_some() && digest.contains(url, etag))
        });
        if in_cuckoo || digests().next().is_some() { Held::Copy } else { Held::Nothing }
    }

    pub(super) fn set_cookie(&self) -> Option<String> {
        self.casper.as_ref().filter(|_| self.changed).and_then(Casper::set_cookie)
    }
}

/// The resources that have a cookie of their own: what the routes that know by cookies name first. Others are told of by
/// h2o's cookie.
pub(super) fn tracked(routes: &[PushRoute]) -> BTreeSet<String> {
    let mut tracked = BTreeSet::new();
    let knowing = routes.iter().filter(|it| it.knows.resource_cookies);
    for path in knowing.flat_map(named) {
        if tracked.len() < ResourceCookies::MAX {
            tracked.insert(path.to_owned());
        }
    }
    tracked
}

/// What a route may push: its own list, and what its page's host has of the graph.
fn named(route: &PushRoute) -> impl Iterator<Item = &str> {
    let nodes = route.graph.iter().flat_map(|it| &it.nodes);
    let host = nodes.clone().next().map(|it| it.host.as_str());
    let own = nodes.skip(1).filter(move |it| Some(it.host.as_str()) == host);
    route.push.iter().map(String::as_str).chain(own.map(|it| it.path.as_str()))
}
