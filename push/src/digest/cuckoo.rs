//! The `Cache-Digest` request field as a cuckoo filter, as of draft-ietf-httpbis-cache-digest-03 to -05 (expired).
//!
//! The value is base64url of: log2 of the inverse share of false positives (P, one byte), the number of buckets less
//! nothing (N, four bytes, the highest first), then N buckets of four fingerprints of P + 3 bits each, 0 for an empty
//! place. Unlike a Golomb-coded set, what is no longer cached can be taken out. The draft's frame, type 0xd, is
//! `MAX_PUSH_ID` in HTTP/3 (RFC 9114, 7.2.7), so that only the field is left.

use super::DigestError;
use super::golomb::{BitReader, BitWriter};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// Fingerprints in a bucket.
const PLACES: usize = 4;
/// How often fingerprints are moved before a filter counts as full (draft-03, 2.1.1).
const MOVES: usize = 500;
/// A longer field says nothing: it would hold thousands of resources.
const MAX_FIELD_BYTES: usize = 16_384;
/// The most bits of a fingerprint that are kept.
const MAX_FINGERPRINT_BITS: u32 = 32;

/// A digest of a client's cache, from which resources can be taken out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuckooDigest {
    probability_bits: u32,
    /// A power of two.
    buckets: Vec<[u64; PLACES]>,
}

/// There is no room for another resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the digest is full")]
pub struct Full;

impl CuckooDigest {
    /// An empty one for `resources` and a share of false positives of one in `one_in`, rounded up to a power of two.
    pub fn new(resources: usize, one_in: u32) -> Self {
        // Full to 95 %, filters of four places can still be filled (Fan et al., 2014).
        let buckets = (resources * 20).div_ceil(PLACES * 19).max(1).next_power_of_two();
        let probability_bits = one_in.max(1).next_power_of_two().trailing_zeros();
        Self { probability_bits, buckets: vec![[0; PLACES]; buckets] }
    }

    /// The client has cached a resource, in the state that the entity tag names, if there is one.
    pub fn insert(&mut self, url: &str, etag: Option<&str>) -> Result<(), Full> {
        let (mut fingerprint, first, second) = self.places(url, etag);
        if self.put(first, fingerprint) || self.put(second, fingerprint) {
            return Ok(());
        }
        let before = self.buckets.clone();
        let mut bucket = second;
        for turn in 0..MOVES {
            // Any place will do; going round them visits all.
            std::mem::swap(&mut self.buckets[bucket][turn % PLACES], &mut fingerprint);
            bucket = self.other(bucket, fingerprint);
            if self.put(bucket, fingerprint) {
                return Ok(());
            }
        }
        self.buckets = before;
        Err(Full)
    }

    /// The client has given a resource up that it had put in.
    pub fn remove(&mut self, url: &str, etag: Option<&str>) {
        let (fingerprint, first, second) = self.places(url, etag);
        for bucket in [first, second] {
            if let Some(place) = self.buckets[bucket].iter_mut().find(|it| **it == fingerprint) {
                *place = 0;
                return;
            }
        }
    }

    /// Whether the client may have it; never wrong about what it has.
    pub fn contains(&self, url: &str, etag: Option<&str>) -> bool {
        let (fingerprint, first, second) = self.places(url, etag);
        [first, second].iter().any(|it| self.buckets[*it].contains(&fingerprint))
    }

    /// Reads a field's value.
    pub fn parse(field: &str) -> Result<Self, DigestError> {
        if field.len() > MAX_FIELD_BYTES {
            return Err(DigestError::TooLong);
        }
        let value = field.split([',', ';']).next().unwrap_or_default().trim();
        let bytes =
            URL_SAFE_NO_PAD.decode(value.trim_end_matches('=')).map_err(|_| DigestError::NotBase64)?;
        let mut reader = BitReader::new(&bytes);
        let probability_bits = reader.bits(8).ok_or(DigestError::Parameters)?;
        let count = reader.bits(32).ok_or(DigestError::Parameters)?;
        let probability_bits = u32::try_from(probability_bits).unwrap_or(u32::MAX);
        let count = usize::try_from(count).map_err(|_| DigestError::Parameters)?;
        let fingerprint_bits = probability_bits.saturating_add(3);
        let bits = count.saturating_mul(PLACES).saturating_mul(fingerprint_bits as usize);
        // What it announces must be there before memory is given to it.
        let there = bits.div_ceil(8).checked_add(5) == Some(bytes.len());
        if !count.is_power_of_two() || fingerprint_bits > MAX_FINGERPRINT_BITS || !there {
            return Err(DigestError::Parameters);
        }
        let mut place = || reader.bits(fingerprint_bits).unwrap_or(0);
        let buckets = (0..count).map(|_| [place(), place(), place(), place()]).collect();
        Ok(Self { probability_bits, buckets })
    }

    /// The field's value.
    pub fn field(&self) -> String {
        let mut writer = BitWriter::default();
        writer.bits(u64::from(self.probability_bits), 8);
        writer.bits(self.buckets.len() as u64, 32);
        for fingerprint in self.buckets.iter().flatten() {
            writer.bits(*fingerprint, self.probability_bits + 3);
        }
        URL_SAFE_NO_PAD.encode(writer.finish())
    }

    /// A fingerprint and its two buckets (draft-03, 2.1.3 and 2.1.4).
    fn places(&self, url: &str, etag: Option<&str>) -> (u64, usize, usize) {
        let key = format!("{url}{}", etag.unwrap_or_default());
        let hash = number(key.as_bytes());
        let first = self.bucket(hash);
        let fingerprint = self.fingerprint(key.as_bytes());
        (fingerprint, first, self.other(first, fingerprint))
    }

    /// The other bucket of a fingerprint: the same from both.
    fn other(&self, bucket: usize, fingerprint: u64) -> usize {
        bucket ^ self.bucket(number(&fingerprint.to_be_bytes()))
    }

    fn bucket(&self, hash: u64) -> usize {
        usize::try_from(hash & (self.buckets.len() as u64 - 1)).unwrap_or(0)
    }

    /// The first bits of the hash that are not all 0, which stands for an empty place.
    fn fingerprint(&self, key: &[u8]) -> u64 {
        let bits = self.probability_bits + 3;
        let hash = digest(&SHA256, key);
        let mut reader = BitReader::new(hash.as_ref());
        loop {
            match reader.bits(bits) {
                None => return 1,
                Some(0) => {}
                Some(fingerprint) => return fingerprint,
            }
        }
    }

    fn put(&mut self, bucket: usize, fingerprint: u64) -> bool {
        let free = self.buckets[bucket].iter_mut().find(|it| **it == 0);
        free.map(|it| *it = fingerprint).is_some()
    }
}

/// The last eight bytes of a hash, of which fingerprints do not take their bits.
fn number(bytes: &[u8]) -> u64 {
    let hash = digest(&SHA256, bytes);
    hash.as_ref().iter().skip(24).fold(0, |value: u64, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(urls: usize, one_in: u32) -> CuckooDigest {
        let mut digest = CuckooDigest::new(urls, one_in);
        for n in 0..urls {
            digest.insert(&format!("https://example.com/{n}.js"), None).expect("room");
        }
        digest
    }

    #[test]
    fn nothing_cached_is_denied_and_wrong_claims_are_at_most_half_again_of_theory() {
        for urls in [10, 100, 240, 1000] {
            let read = CuckooDigest::parse(&of(urls, 128).field()).expect("our own");
            let has = |n| read.contains(&format!("https://example.com/{n}.js"), None);
            assert!((0..urls).all(has), "{urls}");
            let wrong = (0..100_000)
                .filter(|n| read.contains(&format!("https://example.com/o/{n}"), None))
                .count();
            assert!(wrong as f64 <= 1.5 * 100_000.0 / 128.0, "{urls}: {wrong}");
        }
    }

    #[test]
    fn what_is_taken_out_is_not_claimed_and_the_rest_is() {
        let mut digest = of(100, 1 << 20);
        let url = |n| format!("https://example.com/{n}.js");
        (0..50).for_each(|n| digest.remove(&url(n), None));
        assert!((0..50).all(|n| !digest.contains(&url(n), None)));
        assert!((50..100).all(|n| digest.contains(&url(n), None)));
    }

    #[test]
    fn a_hundred_resources_at_one_in_128_take_165_bytes() {
        // 32 buckets of four places of ten bits, and five bytes before them.
        assert_eq!(of(100, 128).field().len(), (32 * 4 * 10 / 8 + 5_usize).div_ceil(3) * 4);
    }

    #[test]
    fn a_full_digest_says_so_and_stays_as_it_was() {
        let mut digest = CuckooDigest::new(4, 128);
        let mut kept = Vec::new();
        for n in 0..100 {
            if digest.insert(&format!("/{n}"), None).is_ok() {
                kept.push(n);
            }
        }
        assert!(kept.len() < 100 && kept.iter().all(|n| digest.contains(&format!("/{n}"), None)));
    }

    #[test]
    fn a_changed_resource_is_unknown_by_its_tag() {
        let mut digest = CuckooDigest::new(1, 1 << 20);
        digest.insert("/a.css", Some("\"1\"")).expect("room");
        assert!(digest.contains("/a.css", Some("\"1\"")) && !digest.contains("/a.css", Some("\"2\"")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(CuckooDigest::parse("%%"), Err(DigestError::NotBase64));
        assert_eq!(CuckooDigest::parse(""), Err(DigestError::Parameters));
        assert_eq!(CuckooDigest::parse(&"A".repeat(20_000)), Err(DigestError::TooLong));
        // A filter of 2^31 buckets in five bytes.
        assert_eq!(CuckooDigest::parse("B4AAAAA"), Err(DigestError::Parameters));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_digest_or_an_error(field in "[A-Za-z0-9_-]{0,80}") {
            if let Ok(digest) = CuckooDigest::parse(&field) {
                proptest::prop_assert!(CuckooDigest::parse(&digest.field()) == Ok(digest));
            }
        }
    }
}
