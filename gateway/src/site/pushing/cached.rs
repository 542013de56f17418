//! The known contents of the client's cache, from the digests in its request.

use super::Pushing;
use push::digest::CacheDigest;
use server::site::{Foreseen, Promise, Request};

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
pub(super) struct Cached {
    digests: Vec<CacheDigest>,
}

impl Cached {
    pub(super) fn of(pushing: &Pushing, request: &Request) -> Self {
        let field = request.list("cache-digest").filter(|_| pushing.evidence.cache_digest);
        Self { digests: field.map(|it| CacheDigest::parse_all(&it)).unwrap_or_default() }
    }

    /// Which copy of a promised resource the client has.
    pub(super) fn held(
        &self,
        Promise { authority, path, .. }: &Promise,
        known: Option<&Foreseen>,
    ) -> Held {
        let etag = known.and_then(|it| it.etag.as_deref());
        let url = format!("https://{authority}{path}");
        let holding: Vec<&CacheDigest> = self
            .digests
            .iter()
            .filter(|digest| digest.contains(&url, etag) || digest.contains(path, etag))
            .collect();
        if etag.is_some() && holding.iter().any(|it| it.stale && it.validators) {
            Held::Stale
        } else if holding.is_empty() {
            Held::Nothing
        } else {
            Held::Copy
        }
    }
}
