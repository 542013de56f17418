//! What the client is known to have, by the cookies and digests that its request brings.

use super::Pushing;
use crate::site::{Foreseen, Promise, Request};
use push::digest::{CacheDigest, Casper, Identity, ResourceCookies};
use push::experiments::CuckooDigest;
use std::collections::BTreeSet;

/// Which copy of a resource a client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// None that the server knows of.
    Nothing,
    /// One that it can use.
    Copy,
    /// The current version, which it must validate before use.
    Stale,
}

#[derive(Debug, Default)]
pub(super) struct Has {
    casper: Option<Casper>,
    /// h2o's cookie covers entity tags.
    casper_covers_tags: bool,
    cookies: Option<ResourceCookies>,
    digests: Vec<CacheDigest>,
    cuckoo: Option<CuckooDigest>,
    changed: bool,
}

impl Has {
    pub(super) fn of(pushing: &Pushing, request: &Request) -> Self {
        let knows = pushing.knows;
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

    /// Which copy of a promised resource the client has; from now on it has one. For a `tracked` resource, the
    /// resource's own cookie tells.
    pub(super) fn note(
        &mut self,
        Promise { authority, path, .. }: &Promise,
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

/// Paths of the resources that have a cookie of their own: the first that these rules name, as many as there are cookies.
pub(in crate::site) fn tracked<'a>(rules: impl Iterator<Item = &'a Pushing>) -> BTreeSet<String> {
    let mut tracked = BTreeSet::new();
    for path in rules.filter(|it| it.knows.resource_cookies).flat_map(named) {
        if tracked.len() < ResourceCookies::MAX {
            tracked.insert(path.to_owned());
        }
    }
    tracked
}

/// Paths that a rule may push: its own list, and the nodes of the graph that are on the document's host.
fn named(pushing: &Pushing) -> impl Iterator<Item = &str> {
    let nodes = pushing.graph.iter().flat_map(|it| &it.nodes);
    let host = nodes.clone().next().map(|it| it.host.as_str());
    let own = nodes.skip(1).filter(move |it| Some(it.host.as_str()) == host);
    pushing.push.iter().map(String::as_str).chain(own.map(|it| it.path.as_str()))
}
