//! The HTTP cache between visits, as far as a page load needs it (RFC 9111).

use http3::Header;
use push::digest::CacheDigest;
use push::freshness::{fresh_s, is_storable};
use std::collections::BTreeMap;

/// RFC 9110, 15.4.5.
pub(crate) const NOT_MODIFIED: u16 = 304;

/// One in this many claims of a digest is wrong, as in the draft's example.
const DIGEST_ONE_IN: u32 = 128;

/// The copies of a page's resources, by ID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpCache {
    /// May be used without a request, with the entity tag if there is one.
    fresh: BTreeMap<usize, Option<String>>,
    /// Must be validated: the entity tag.
    stale: BTreeMap<usize, String>,
}

impl HttpCache {
    /// A cache with fresh copies of these resources.
    pub fn fresh(resources: impl IntoIterator<Item = usize>) -> Self {
        let fresh = resources.into_iter().map(|it| (it, None)).collect();
        Self { fresh, ..Self::default() }
    }

    /// Adds a copy that must be validated.
    #[must_use]
    pub fn with_stale(mut self, resource: usize, etag: &str) -> Self {
        self.fresh.remove(&resource);
        self.stale.insert(resource, etag.to_owned());
        self
    }

    /// Replaces the copy by a new response. A response that says nothing of its freshness is stale at once.
    pub(crate) fn store(&mut self, resource: usize, stored: Stored) {
        self.fresh.remove(&resource);
        self.stale.remove(&resource);
        match stored {
            Stored { is_fresh: true, etag } => {
                self.fresh.insert(resource, etag);
            }
            Stored { etag: Some(etag), .. } => {
                self.stale.insert(resource, etag);
            }
            Stored { etag: None, .. } => {}
        }
    }

    /// Whether a copy may be used without a request.
    pub(crate) fn has(&self, resource: usize) -> bool {
        self.fresh.contains_key(&resource)
    }

    pub(crate) fn to_validate(&self, resource: usize) -> Option<&str> {
        self.stale.get(&resource).map(String::as_str)
    }

    pub(crate) fn holds(&self, resource: usize, etag: &str) -> bool {
        let fresh = self.fresh.get(&resource).and_then(Option::as_deref);
        fresh == Some(etag) || self.to_validate(resource) == Some(etag)
    }

    /// A copy is valid as it is, for this page load. False: there is no copy to validate.
    pub(crate) fn validated(&mut self, resource: usize) -> bool {
        let Some(etag) = self.stale.remove(&resource) else { return false };
        self.fresh.insert(resource, Some(etag));
        true
    }

    /// The `Cache-Digest` field: fresh copies, and those to validate by their entity tags
    /// (draft-ietf-httpbis-cache-digest-02, 2.1).
    pub(crate) fn digest(&self, url: impl Fn(usize) -> String) -> String {
        let fresh: Vec<String> = self.fresh.keys().map(|it| url(*it)).collect();
        let stale: Vec<(String, &str)> =
            self.stale.iter().map(|(resource, tag)| (url(*resource), tag.as_str())).collect();
        let of_fresh = CacheDigest::new(fresh.iter().map(|it| (it.as_str(), None)), DIGEST_ONE_IN);
        if stale.is_empty() {
            return of_fresh.field();
        }
        let tagged = stale.iter().map(|(url, tag)| (url.as_str(), Some(*tag)));
        let mut of_stale = CacheDigest::new(tagged, DIGEST_ONE_IN);
        of_stale.stale = true;
        format!("{}, {}", of_fresh.field(), of_stale.field())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    is_fresh: bool,
    etag: Option<String>,
}

impl Stored {
    /// Reads the fields of a final response. `None`: it must not be stored.
    pub(crate) fn of(headers: &[Header]) -> Option<Self> {
        let lines =
            |name| http3::values(headers, name).map(|it| String::from_utf8_lossy(it).into_owned());
        let cache_control = lines("cache-control").collect::<Vec<_>>().join(",");
        let fresh_s = fresh_s(&cache_control, lines("age").next().as_deref());
        let is_fresh = fresh_s.is_some_and(|it| it > 0);
        let etag = lines("etag").next();
        is_storable(&cache_control).then_some(Self { is_fresh, etag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(fields: &[(&str, &str)]) -> Option<Stored> {
        let header = |(name, value): &(&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
        Stored::of(&fields.iter().map(header).collect::<Vec<_>>())
    }

    #[test]
    fn a_copy_is_kept_as_long_as_its_response_allows() {
        let mut cache = HttpCache::default();
        let responses: [&[(&str, &str)]; 5] = [
            &[("cache-control", "max-age=60"), ("etag", "\"0\"")],
            &[("cache-control", "no-cache"), ("etag", "\"1\"")],
            &[("etag", "\"2\"")],
            &[],
            &[("cache-control", "no-store"), ("etag", "\"4\"")],
        ];
        for (resource, fields) in responses.into_iter().enumerate() {
            if let Some(stored) = stored(fields) {
                cache.store(resource, stored);
            }
        }
        assert_eq!([0, 1, 2, 3, 4].map(|it| cache.has(it)), [true, false, false, false, false]);
        assert_eq!((cache.to_validate(1), cache.to_validate(2)), (Some("\"1\""), Some("\"2\"")));
        assert!(cache.holds(0, "\"0\"") && !cache.holds(0, "\"1\"") && cache.holds(1, "\"1\""));
        assert!(cache.validated(1) && !cache.validated(1));
        assert!(cache.has(1) && cache.to_validate(1).is_none());
    }
}
