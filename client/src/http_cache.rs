//! The HTTP cache between navigations and between visits, as far as a page load needs it (RFC 9111).

use http3::Header;
use push::digest::CacheDigest;
use push::freshness::{fresh_s, is_storable};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// RFC 9110, 15.4.5.
pub(crate) const NOT_MODIFIED: u16 = 304;

/// One in this many positive answers of a digest is wrong, as in the draft's example.
const DIGEST_ONE_IN: u32 = 128;

/// The copies of resources, by URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpCache {
    /// May be used without a request.
    fresh: BTreeMap<String, Fresh>,
    /// Must be validated: the entity tag.
    stale: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fresh {
    etag: Option<String>,
    /// `None`: for the lifetime of the cache.
    until: Option<Instant>,
}

impl HttpCache {
    /// A cache with copies of these URLs that stay fresh.
    pub fn fresh(urls: impl IntoIterator<Item = String>) -> Self {
        let fresh = urls.into_iter().map(|it| (it, Fresh::default())).collect();
        Self { fresh, ..Self::default() }
    }

    /// Adds a copy that must be validated.
    #[must_use]
    pub fn with_stale(mut self, url: &str, etag: &str) -> Self {
        self.fresh.remove(url);
        self.stale.insert(url.to_owned(), etag.to_owned());
        self
    }

    /// Replaces the copy by a new response. A response without freshness information is stale at once.
    pub(crate) fn store(&mut self, url: &str, Stored { fresh_until, etag }: Stored) {
        self.fresh.remove(url);
        self.stale.remove(url);
        if fresh_until.is_some() {
            self.fresh.insert(url.to_owned(), Fresh { etag, until: fresh_until });
        } else if let Some(etag) = etag {
            self.stale.insert(url.to_owned(), etag);
        }
    }

    /// Marks copies whose freshness has ended as needing validation. Removes those without an entity tag.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.fresh.retain(|url, copy| {
            let stays = copy.until.is_none_or(|until| until > now);
            if !stays {
                self.stale.extend(copy.etag.take().map(|etag| (url.clone(), etag)));
            }
            stays
        });
    }

    /// Whether a copy may be used without a request.
    pub(crate) fn has(&self, url: &str) -> bool {
        self.fresh.contains_key(url)
    }

    pub(crate) fn to_validate(&self, url: &str) -> Option<&str> {
        self.stale.get(url).map(String::as_str)
    }

    pub(crate) fn holds(&self, url: &str, etag: &str) -> bool {
        let fresh = self.fresh.get(url).and_then(|it| it.etag.as_deref());
        fresh == Some(etag) || self.to_validate(url) == Some(etag)
    }

    /// Marks a copy as validated for this page load. Returns `false` if there is no copy to validate.
    pub(crate) fn validated(&mut self, url: &str) -> bool {
        let Some((url, etag)) = self.stale.remove_entry(url) else { return false };
        self.fresh.insert(url, Fresh { etag: Some(etag), until: None });
        true
    }

    /// The `Cache-Digest` field: fresh copies, and stale ones by their entity tags
    /// (draft-ietf-httpbis-cache-digest-02, 2.1).
    pub(crate) fn digest(&self) -> String {
        let fresh = self.fresh.keys().map(|it| (it.as_str(), None));
        let of_fresh = CacheDigest::new(fresh, DIGEST_ONE_IN);
        if self.stale.is_empty() {
            return of_fresh.field();
        }
        let tagged = self.stale.iter().map(|(url, tag)| (url.as_str(), Some(tag.as_str())));
        let mut of_stale = CacheDigest::new(tagged, DIGEST_ONE_IN);
        of_stale.stale = true;
        format!("{}, {}", of_fresh.field(), of_stale.field())
    }
}

/// A response's rules about its storage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// `None`: each use needs validation.
    fresh_until: Option<Instant>,
    etag: Option<String>,
}

impl Stored {
    /// Reads the fields of a final response that arrives `now`. `None`: it must not be stored.
    pub(crate) fn of(headers: &[Header], now: Instant) -> Option<Self> {
        let lines =
            |name| http3::values(headers, name).map(|it| String::from_utf8_lossy(it).into_owned());
        let cache_control = lines("cache-control").collect::<Vec<_>>().join(",");
        let fresh_s = fresh_s(&cache_control, lines("age").next().as_deref());
        let fresh_s = fresh_s.filter(|it| *it > 0);
        let fresh_until = fresh_s.and_then(|it| now.checked_add(Duration::from_secs(it)));
        let etag = lines("etag").next();
        is_storable(&cache_control).then_some(Self { fresh_until, etag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn now() -> Instant {
        Instant::now()
    }

    fn stored(fields: &[(&str, &str)], now: Instant) -> Option<Stored> {
        let header = |(name, value): &(&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
        Stored::of(&fields.iter().map(header).collect::<Vec<_>>(), now)
    }

    const URLS: [&str; 5] = ["/0", "/1", "/2", "/3", "/4"];

    #[test]
    fn a_copy_is_kept_as_long_as_its_response_allows() {
        let t0 = now();
        let mut cache = HttpCache::default();
        let responses: [&[(&str, &str)]; 5] = [
            &[("cache-control", "max-age=60"), ("etag", "\"0\"")],
            &[("cache-control", "no-cache"), ("etag", "\"1\"")],
            &[("etag", "\"2\"")],
            &[],
            &[("cache-control", "no-store"), ("etag", "\"4\"")],
        ];
        for (url, fields) in URLS.into_iter().zip(responses) {
            if let Some(stored) = stored(fields, t0) {
                cache.store(url, stored);
            }
        }
        assert_eq!(URLS.map(|it| cache.has(it)), [true, false, false, false, false]);
        assert_eq!(
            (cache.to_validate("/1"), cache.to_validate("/2")),
            (Some("\"1\""), Some("\"2\""))
        );
        assert!(
            cache.holds("/0", "\"0\"") && !cache.holds("/0", "\"1\"") && cache.holds("/1", "\"1\"")
        );
        assert!(cache.validated("/1") && !cache.validated("/1"));
        assert!(cache.has("/1") && cache.to_validate("/1").is_none());
    }

    #[test]
    fn an_expired_copy_is_validated_if_it_has_a_tag_and_lost_otherwise() {
        let t0 = now();
        let mut cache = HttpCache::fresh(["/2".to_owned()]);
        let tagged = stored(&[("cache-control", "max-age=60"), ("etag", "\"0\"")], t0);
        let plain = stored(&[("cache-control", "max-age=60"), ("age", "10")], t0);
        cache.store("/0", tagged.expect("may be stored"));
        cache.store("/1", plain.expect("may be stored"));
        let after_s = |cache: &mut HttpCache, s| {
            cache.expire(t0 + Duration::from_secs(s));
            let fresh = ["/0", "/1", "/2"].map(|it| cache.has(it));
            (fresh, cache.to_validate("/0").map(str::to_owned), cache.to_validate("/1").is_some())
        };
        assert_eq!(after_s(&mut cache, 49), ([true, true, true], None, false));
        assert_eq!(after_s(&mut cache, 50), ([true, false, true], None, false));
        assert_eq!(after_s(&mut cache, 60), ([false, false, true], Some("\"0\"".into()), false));
    }
}
