//! What the HTTP cache has, says, and learns.

use super::{Client, Receiving};
use crate::pushed::Promised;
use http3::Header;
use push::digest::CacheDigest;

/// RFC 9110, 15.4.5.
const NOT_MODIFIED: u16 = 304;

/// One claim in so many is wrong, as in the draft's example.
const DIGEST_ONE_IN: u32 = 128;

impl Client {
    /// What a request says of the cache: the state of a copy to validate; and, with the document, all that there is.
    pub(super) fn cache_fields(&self, resource: usize) -> Vec<Header> {
        let tag = self.cache.to_validate(resource);
        let mut fields: Vec<Header> =
            tag.map(|it| Header::new(b"if-none-match", it.as_bytes())).into_iter().collect();
        if self.cache_digest && self.page.resources[resource].main {
            let digests = self.digests();
            let field = digests.iter().map(CacheDigest::field).collect::<Vec<_>>().join(", ");
            fields.push(Header::new(b"cache-digest", field.as_bytes()));
        }
        fields
    }

    /// Of fresh copies, and of those to validate by their entity tags (draft-ietf-httpbis-cache-digest-02, 2.1).
    fn digests(&self) -> Vec<CacheDigest> {
        let url = |resource: usize| {
            let known = &self.page.resources[resource];
            let host =
                self.page.origins.get(known.origin).map_or("localhost", |it| it.host.as_str());
            format!("https://{host}{}", known.url)
        };
        let fresh: Vec<String> = self.cache.fresh_ones().map(url).collect();
        let stale: Vec<(String, &str)> =
            self.cache.stale_ones().map(|(resource, tag)| (url(resource), tag)).collect();
        let mut digests =
            vec![CacheDigest::new(fresh.iter().map(|it| (it.as_str(), None)), DIGEST_ONE_IN)];
        if !stale.is_empty() {
            let of = stale.iter().map(|(url, tag)| (url.as_str(), Some(*tag)));
            let mut digest = CacheDigest::new(of, DIGEST_ONE_IN);
            digest.stale = true;
            digests.push(digest);
        }
        digests
    }

    /// Whether a promise is of use to a client that has this in its cache. Where it names the state of a copy that would
    /// have to be validated (`If-Match`), that is done. A promise of "not modified" is of use only with such a copy.
    pub(super) fn is_of_use(&mut self, resource: usize, promised: &Promised) -> bool {
        if let Some(tag) = &promised.if_none_match {
            return self.cache.to_validate(resource) == Some(tag.as_str());
        }
        let has_it = promised.if_match.as_ref().is_some_and(|it| self.cache.holds(resource, it));
        if has_it && self.cache.to_validate(resource).is_some() {
            self.validated(resource);
        }
        !has_it
    }

    /// The response to a request, or a push, is complete. True: it said that the copy is right, which is there now.
    pub(super) fn cache_response(
        &mut self,
        resource: usize,
        receiving: &Receiving,
        now_us: u64,
    ) -> bool {
        if let Some(stored) = receiving.stored.clone() {
            self.outcome.cache.store(resource, stored);
        }
        let is_right =
            receiving.status == NOT_MODIFIED && self.cache.to_validate(resource).is_some();
        if is_right {
            self.outcome.validated.push(resource);
            self.come(resource, now_us);
        }
        is_right
    }

    fn validated(&mut self, resource: usize) {
        self.cache.validated(resource);
        self.outcome.validated.push(resource);
    }
}
