//! The `Cache-Digest` request field as a cuckoo filter, as of draft-ietf-httpbis-cache-digest-03 to -05 (expired).
//!
//! The value is base64url of: the bits f of a fingerprint (one byte: log2 of the inverse share of false positives, and 3),
//! a prime number N (four bytes, the highest first), then as many buckets as the next power of two above N says, of four
//! fingerprints each, 0 for an empty place. Unlike with a Golomb-coded set, evicted resources can be removed.
//! The draft's frame, type 0xd, is `MAX_PUSH_ID` in HTTP/3 (RFC 9114, 7.2.7), so that only the field is left.

use crate::digest::DigestError;
use crate::digest::golomb::{BitReader, BitWriter};
use crate::limits::CUCKOO_FIELD_BYTES_MAX;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// Fingerprints in a bucket.
const PLACES: usize = 4;
/// How often fingerprints are moved before a filter counts as full (draft-03, 2.1.1).
const MOVES: usize = 500;
/// The most bits of a fingerprint that are kept.
const MAX_FINGERPRINT_BITS: u32 = 32;

/// A digest of a client's cache, from which resources can be taken out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuckooDigest {
    fingerprint_bits: u32,
    /// N: a hash modulo this is a bucket. A prime, so that the bucket says nothing of the fingerprint, whose bits are of
    /// the same hash.
    modulus: u32,
    /// The next power of two above N.
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
        let needed =
            resources.saturating_mul(20).div_ceil(PLACES * 19).clamp(2, CUCKOO_FIELD_BYTES_MAX);
        let needed = u32::try_from(needed).unwrap_or(2);
        // There is a prime before twice a number (Bertrand).
        let modulus = (needed..2 * needed).find(|it| is_prime(*it)).unwrap_or(2);
        let probability_bits = one_in.max(1).next_power_of_two().trailing_zeros();
        let fingerprint_bits = (probability_bits + 3).min(MAX_FINGERPRINT_BITS);
        Self { fingerprint_bits, modulus, buckets: vec![[0; PLACES]; allocated(modulus)] }
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
        if field.len() > CUCKOO_FIELD_BYTES_MAX {
            return Err(DigestError::TooLong);
        }
        let value = field.split([',', ';']).next().unwrap_or_default().trim();
        let bytes = URL_SAFE_NO_PAD
            .decode(value.trim_end_matches('='))
            .map_err(|_| DigestError::NotBase64)?;
        let mut reader = BitReader::new(&bytes);
        let mut number = |bits| u32::try_from(reader.bits(bits)?).ok();
        let fingerprint_bits = number(8).ok_or(DigestError::Parameters)?;
        let modulus = number(32).filter(|it| *it > 1).ok_or(DigestError::Parameters)?;
        if !(1..=MAX_FINGERPRINT_BITS).contains(&fingerprint_bits) || modulus > 1 << 24 {
            return Err(DigestError::Parameters);
        }
        let count = allocated(modulus);
        // What it announces must be there before memory is given to it.
        if (count * PLACES * fingerprint_bits as usize).div_ceil(8) + 5 != bytes.len() {
            return Err(DigestError::Parameters);
        }
        let mut place = || reader.bits(fingerprint_bits).unwrap_or(0);
        let buckets = (0..count).map(|_| [place(), place(), place(), place()]).collect();
        Ok(Self { fingerprint_bits, modulus, buckets })
    }

    /// The field's value.
    pub fn field(&self) -> String {
        let mut writer = BitWriter::default();
        writer.bits(u64::from(self.fingerprint_bits), 8);
        writer.bits(u64::from(self.modulus), 32);
        for fingerprint in self.buckets.iter().flatten() {
            writer.bits(*fingerprint, self.fingerprint_bits);
        }
        URL_SAFE_NO_PAD.encode(writer.finish())
    }

    /// A fingerprint and its two buckets (draft-03, 2.2).
    fn places(&self, url: &str, etag: Option<&str>) -> (u64, usize, usize) {
        let key = format!("{url}{}", etag.unwrap_or_default());
        let first = self.bucket(&key);
        let fingerprint = self.fingerprint(&key);
        (fingerprint, first, self.other(first, fingerprint))
    }

    /// The other bucket of a fingerprint: the same from both.
    fn other(&self, bucket: usize, fingerprint: u64) -> usize {
        bucket ^ self.bucket(&fingerprint.to_string())
    }

    /// The last 32 bits of the hash, modulo N.
    fn bucket(&self, key: &str) -> usize {
        let hash = digest(&SHA256, key.as_bytes());
        let last = bits_before(hash.as_ref(), 256, 32);
        usize::try_from(last % u64::from(self.modulus)).unwrap_or(0)
    }

    /// The last bits of the hash that are not all 0, which stands for an empty place.
    fn fingerprint(&self, key: &str) -> u64 {
        let hash = digest(&SHA256, key.as_bytes());
        let bits = self.fingerprint_bits as usize;
        let ends = (2 * bits..=256).rev().step_by(bits);
        let found = ends.map(|end| bits_before(hash.as_ref(), end, bits)).find(|it| *it != 0);
        found.unwrap_or(1)
    }

    fn put(&mut self, bucket: usize, fingerprint: u64) -> bool {
        let free = self.buckets[bucket].iter_mut().find(|it| **it == 0);
        free.map(|it| *it = fingerprint).is_some()
    }
}

fn allocated(modulus: u32) -> usize {
    (modulus as usize + 1).next_power_of_two()
}

fn is_prime(number: u32) -> bool {
    number > 1 && (2..=number.isqrt()).all(|it| !number.is_multiple_of(it))
}

/// The `count` bits of `bytes` before bit `end`, counted from the highest of the first byte.
fn bits_before(bytes: &[u8], end: usize, count: usize) -> u64 {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| u64::from(byte >> (7 - at % 8) & 1));
    (end - count..end).fold(0, |value, at| value << 1 | bit(at))
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
    fn buckets_and_fingerprints_are_those_of_the_draft() {
        // The SHA-256 of the URL ends in 4668ab6b, and the SHA-256 of the fingerprint, "875", in 16c71344.
        let digest = CuckooDigest::new(100, 128);
        let (fingerprint, first, second) = digest.places("https://example.com/style.css", None);
        assert_eq!((digest.modulus, fingerprint), (29, 875));
        assert_eq!((first, second), (4, 19));
    }

    #[test]
    fn a_hundred_resources_at_one_in_128_take_220_bytes() {
        // N = 29: 32 buckets of four places of ten bits, and five bytes before them.
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
        assert!(
            digest.contains("/a.css", Some("\"1\"")) && !digest.contains("/a.css", Some("\"2\""))
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(CuckooDigest::parse("%%"), Err(DigestError::NotBase64));
        assert_eq!(CuckooDigest::parse(""), Err(DigestError::Parameters));
        assert_eq!(CuckooDigest::parse(&"A".repeat(20_000)), Err(DigestError::TooLong));
        // A filter of 2^24 buckets in five bytes.
        assert_eq!(CuckooDigest::parse("CgEAAAA"), Err(DigestError::Parameters));
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
