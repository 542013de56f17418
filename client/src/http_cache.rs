//! What visits leave in the HTTP cache, as far as a page load needs it (RFC 9111).

use http3::{Header, NameValue};
use push::freshness::{fresh_s, is_storable};
use std::collections::BTreeMap;

/// The copies of a page's resources, by ID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpCache {
    /// May be used without asking, with the entity tag where there is one.
    fresh: BTreeMap<usize, Option<String>>,
    /// Must be validated: the entity tag.
    stale: BTreeMap<usize, String>,
}

impl HttpCache {
    /// Fresh copies of these.
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

    /// A response came. One that says nothing of its freshness is stale at once.
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

    /// What may be used without asking.
    pub(crate) fn has(&self, resource: usize) -> bool {
        self.fresh.contains_key(&resource)
    }

    /// The entity tag of a copy that must be validated.
    pub(crate) fn to_validate(&self, resource: usize) -> Option<&str> {
        self.stale.get(&resource).map(String::as_str)
    }

    /// Whether there is a copy of this state.
    pub(crate) fn holds(&self, resource: usize, etag: &str) -> bool {
        let fresh = self.fresh.get(&resource).and_then(Option::as_deref);
        fresh == Some(etag) || self.to_validate(resource) == Some(etag)
    }

    /// A copy is right as it is, for this page load.
    pub(crate) fn validated(&mut self, resource: usize) {
        if let Some(etag) = self.stale.remove(&resource) {
            self.fresh.insert(resource, Some(etag));
        }
    }

    /// The resources of which there are fresh copies.
    pub(crate) fn fresh_ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.fresh.keys().copied()
    }

    /// The others, with their entity tags.
    pub(crate) fn stale_ones(&self) -> impl Iterator<Item = (usize, &str)> {
        self.stale.iter().map(|(resource, etag)| (*resource, etag.as_str()))
    }
}

/// What a response says of copies of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    is_fresh: bool,
    etag: Option<String>,
}

impl Stored {
    /// By the fields of a final response; none: it must not be stored.
    pub(crate) fn of(headers: &[Header]) -> Option<Self> {
        let lines = |name: &[u8]| {
            let lines = headers.iter().filter(|it| it.name() == name).map(NameValue::value);
            lines.map(|it| String::from_utf8_lossy(it).into_owned()).collect::<Vec<_>>()
        };
        let cache_control = lines(b"cache-control").join(",");
        let age = lines(b"age");
        let fresh_s = fresh_s(&cache_control, age.first().map(String::as_str));
        let is_fresh = fresh_s.is_some_and(|it| it > 0);
        let etag = lines(b"etag").into_iter().next();
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
        assert_eq!(cache.fresh_ones().collect::<Vec<_>>(), [0]);
        assert_eq!(cache.stale_ones().collect::<Vec<_>>(), [(1, "\"1\""), (2, "\"2\"")]);
        assert!(cache.holds(0, "\"0\"") && !cache.holds(0, "\"1\"") && cache.holds(1, "\"1\""));
        cache.validated(1);
        assert!(cache.has(1) && cache.to_validate(1).is_none());
    }
}
