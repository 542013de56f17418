//! The `Cache-Digest` request field: a Golomb-coded set of URLs, from draft-ietf-httpbis-cache-digest-02 (expired).
//!
//! The value is base64url; flags follow it. The draft's frame cannot be used over HTTP/3: its type, 0xd, is
//! `MAX_PUSH_ID` there (RFC 9114, 7.2.7).

use super::golomb::{BitReader, BitWriter, decode, encode};
use crate::limits::{DIGEST_FIELD_BYTES_MAX, DIGESTS_MAX};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use std::collections::BTreeSet;

/// The most bits of a hash that are kept.
const MAX_HASH_BITS: u32 = 62;

/// A digest of a client's cache.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of the field, independent of each other"
)]
pub struct CacheDigest {
    /// log2 of the number of URLs and of the inverse of the share of false positives.
    count_bits: u32,
    probability_bits: u32,
    hashes: BTreeSet<u64>,
    /// Whether the digest covers everything that the client has of the origin.
    pub complete: bool,
    /// Earlier digests are void.
    pub reset: bool,
    /// The hashes cover entity tags.
    pub validators: bool,
    /// The digest is of stale responses.
    pub stale: bool,
}

/// Why a field is not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    /// It is too long.
    #[error("Cache-Digest: longer than {DIGEST_FIELD_BYTES_MAX} bytes: ignored")]
    TooLong,
    /// The value is not base64url.
    #[error("Cache-Digest: the value is not base64url: ignored")]
    NotBase64,
    /// Its parameters are missing, or request more than 62 bits of hash.
    #[error("Cache-Digest: no usable parameters: ignored")]
    Parameters,
}

impl CacheDigest {
    /// A digest of URLs with their entity tags; `one_in` is the inverse of the share of false positives, rounded up to a power
    /// of two. If any URL has an entity tag, the digest contains validators.
    pub fn new<'a>(
        cached: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
        one_in: u32,
    ) -> Self {
        let cached: Vec<_> = cached.into_iter().collect();
        let count_bits = bits_of(u32::try_from(cached.len()).unwrap_or(u32::MAX));
        let probability_bits = bits_of(one_in);
        let bits = count_bits + probability_bits;
        Self {
            count_bits,
            probability_bits,
            hashes: cached.iter().map(|(url, etag)| hash(url, *etag, bits)).collect(),
            complete: true,
            reset: false,
            validators: cached.iter().any(|(_, etag)| etag.is_some()),
            stale: false,
        }
    }

    /// Parses the digests in a field's value, which is a list: for example one of fresh and one of stale copies. Ignores
    /// anything else.
    pub fn parse_all(field: &str) -> Vec<Self> {
        let digests = field.split(',').take(DIGESTS_MAX);
        digests.filter_map(|it| Self::parse(it.trim()).ok()).collect()
    }

    /// Reads a field's value: the first digest.
    pub fn parse(field: &str) -> Result<Self, DigestError> {
        if field.len() > DIGEST_FIELD_BYTES_MAX {
            return Err(DigestError::TooLong);
        }
        let first = field.split(',').next().unwrap_or_default();
        let mut parts = first.split(';').map(str::trim);
        let value = parts.next().unwrap_or_default().trim_end_matches('=');
        let flags: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
        let bytes = URL_SAFE_NO_PAD.decode(value).map_err(|_| DigestError::NotBase64)?;
        let mut reader = BitReader::new(&bytes);
        let count_bits = reader.bits(5).ok_or(DigestError::Parameters)?;
        let probability_bits = reader.bits(5).ok_or(DigestError::Parameters)?;
        let (count_bits, probability_bits) = (small(count_bits), small(probability_bits));
        if count_bits + probability_bits > MAX_HASH_BITS {
            return Err(DigestError::Parameters);
        }
        let says = |flag: &str| flags.iter().any(|it| it == flag);
        Ok(Self {
            count_bits,
            probability_bits,
            hashes: decode(&mut reader, probability_bits, 1 << (count_bits + probability_bits))
                .into_iter()
                .collect(),
            complete: says("complete"),
            reset: says("reset"),
            validators: says("validators"),
            stale: says("stale"),
        })
    }

    /// The field's value.
    pub fn field(&self) -> String {
        let mut writer = BitWriter::default();
        writer.bits(u64::from(self.count_bits), 5);
        writer.bits(u64::from(self.probability_bits), 5);
        encode(&mut writer, self.hashes.iter().copied(), self.probability_bits);
        let mut field = URL_SAFE_NO_PAD.encode(writer.finish());
        let flags = [
            (self.reset, "reset"),
            (self.complete, "complete"),
            (self.validators, "validators"),
            (self.stale, "stale"),
        ];
        for (_, name) in flags.into_iter().filter(|(set, _)| *set) {
            field.push_str("; ");
            field.push_str(name);
        }
        field
    }

    /// Whether the client may have it, in the state that the entity tag names if the digest contains validators.
    pub fn contains(&self, url: &str, etag: Option<&str>) -> bool {
        let etag = etag.filter(|_| self.validators);
        self.hashes.contains(&hash(url, etag, self.count_bits + self.probability_bits))
    }
}

/// The first bits of SHA-256 over the URL and its entity tag (draft-02, 2.1.2).
fn hash(url: &str, etag: Option<&str>, bits: u32) -> u64 {
    let hash = digest(&SHA256, format!("{url}{}", etag.unwrap_or_default()).as_bytes());
    let first =
        hash.as_ref().iter().take(8).fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
    if bits == 0 { 0 } else { first >> (64 - bits) }
}

/// log2, rounded up.
fn bits_of(number: u32) -> u32 {
    number.max(1).next_power_of_two().trailing_zeros()
}

/// A number of five bits.
fn small(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(MAX_HASH_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: &str = "https://example.com/style.css";

    #[test]
    fn the_example_of_the_draft_is_written_and_read() {
        let digest = CacheDigest::new([(STYLE, None)], 128);
        assert_eq!(digest.field(), "AfdA; complete");
        assert_eq!(CacheDigest::parse("AfdA; complete"), Ok(digest));
    }

    #[test]
    fn nothing_cached_is_denied_and_wrong_claims_are_at_most_half_again_of_theory() {
        let urls: Vec<String> = (0..100).map(|n| format!("https://example.com/{n}.js")).collect();
        let written = CacheDigest::new(urls.iter().map(|url| (url.as_str(), None)), 128);
        let read = CacheDigest::parse(&written.field()).expect("our own");
        assert!(urls.iter().all(|url| read.contains(url, None)));
        let wrong = (0..100_000)
            .filter(|n| read.contains(&format!("https://example.com/o/{n}"), None))
            .count();
        assert!(wrong as f64 <= 1.5 * 100_000.0 / 128.0, "{wrong}");
    }

    #[test]
    fn a_digest_of_validators_knows_what_has_changed() {
        let digest = CacheDigest::new([(STYLE, Some("\"1\""))], 1 << 20);
        assert_eq!(
            (digest.contains(STYLE, Some("\"1\"")), digest.contains(STYLE, Some("\"2\""))),
            (true, false)
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(CacheDigest::parse("%%"), Err(DigestError::NotBase64));
        assert_eq!(CacheDigest::parse(""), Err(DigestError::Parameters));
        assert_eq!(
            CacheDigest::parse("__8"),
            Ok(CacheDigest {
                count_bits: 31,
                probability_bits: 31,
                hashes: BTreeSet::new(),
                complete: false,
                reset: false,
                validators: false,
                stale: false,
            })
        );
        assert_eq!(CacheDigest::parse(&"A".repeat(9000)), Err(DigestError::TooLong));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_digest_or_an_error(field in "[A-Za-z0-9_;, -]{0,200}") {
            if let Ok(digest) = CacheDigest::parse(&field) {
                proptest::prop_assert_eq!(CacheDigest::parse(&digest.field()), Ok(digest));
            }
        }
    }
}
