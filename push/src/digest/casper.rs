//! CASPER, the cookie of h2o that says what the client has cached: a Golomb-coded set of 13-bit hashes.
//!
//! Source: h2o, `lib/http2/casper.c` and the directive `http2-casper`. Two things are otherwise here: the cookie lives
//! for a time from now on, where h2o's expires on the first day of 2030; and the hash may cover the entity tag, as the
//! first proposal had it, so that what has changed is pushed again.

use super::golomb::{BitReader, BitWriter, decode, encode};
use crate::limits::CASPER_COOKIE_BYTES_MAX;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use std::collections::BTreeSet;

/// The cookie's name.
pub(super) const NAME: &str = "h2o_casper";
/// Bits of each hash: about one false positive in a hundred with a hundred resources.
const CAPACITY_BITS: u32 = 13;
const REMAINDER_BITS: u32 = 6;
/// A year.
const MAX_AGE_S: u64 = 31_536_000;

/// The identity of a resource in the cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// Its path, as in h2o: what has changed is not pushed again.
    #[default]
    Path,
    /// Its path and entity tag.
    PathAndEtag,
}

/// The resources that a client has, by short hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Casper {
    identity: Identity,
    keys: BTreeSet<u64>,
}

impl Casper {
    /// Nothing cached.
    pub fn new(identity: Identity) -> Self {
        Self { identity, keys: BTreeSet::new() }
    }

    /// Adds what a request's `Cookie` field says; several cookies merge; anything else is ignored.
    pub fn read(&mut self, cookie_field: &str) {
        for pair in cookie_field.split(';') {
            let Some(value) = pair.trim().strip_prefix(NAME).and_then(|it| it.strip_prefix('='))
            else {
                continue;
            };
            if value.len() > CASPER_COOKIE_BYTES_MAX {
                continue;
            }
            if let Ok(bytes) = URL_SAFE_NO_PAD.decode(value.trim_end_matches('=')) {
                self.keys.extend(decode(
                    &mut BitReader::new(&bytes),
                    REMAINDER_BITS,
                    1 << CAPACITY_BITS,
                ));
            }
        }
    }

    /// Whether the client may have it; never wrong about what it has.
    pub fn contains(&self, path: &str, etag: Option<&str>) -> bool {
        self.keys.contains(&self.key(path, etag))
    }

    /// The client will have it.
    pub fn insert(&mut self, path: &str, etag: Option<&str>) {
        self.keys.insert(self.key(path, etag));
    }

    /// The `Set-Cookie` field that makes the client say so from now on; none when it has nothing.
    pub fn set_cookie(&self) -> Option<String> {
        (!self.keys.is_empty()).then(|| {
            let mut writer = BitWriter::default();
            encode(&mut writer, self.keys.iter().copied(), REMAINDER_BITS);
            let value = URL_SAFE_NO_PAD.encode(writer.finish());
            format!("{NAME}={value}; Path=/; Max-Age={MAX_AGE_S}; Secure")
        })
    }

    /// The hash's first four bytes, the lowest first, cut to the capacity.
    fn key(&self, path: &str, etag: Option<&str>) -> u64 {
        let etag = etag.filter(|_| self.identity == Identity::PathAndEtag).unwrap_or_default();
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{path}{etag}").as_bytes());
        let first =
            hash.as_ref().iter().take(4).rev().fold(0, |key, byte| key << 8 | u64::from(*byte));
        first & ((1 << CAPACITY_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Casper {
        let mut casper = Casper::default();
        for path in paths {
            casper.insert(path, None);
        }
        casper
    }

    fn cookie(casper: &Casper) -> String {
        let field = casper.set_cookie().expect("something is cached");
        field.split(';').next().expect("a pair").to_owned()
    }

    #[test]
    fn a_path_has_the_key_that_h2o_gives_it() {
        let expected = u64::from(u32::from_le_bytes([0x14, 0xfe, 0x45, 0x59])) & 0x1fff;
        assert_eq!(Casper::default().key("/index.html", None), expected);
    }

    #[test]
    fn cookies_merge_and_keep_what_they_say() {
        let mut read = Casper::default();
        let field =
            format!("a=b; {}; {}", cookie(&of(&["/index.html"])), cookie(&of(&["/index.php"])));
        read.read(&field);
        assert_eq!(read, of(&["/index.php", "/index.html"]));
        assert!(!read.contains("/other", None));
    }

    #[test]
    fn a_changed_resource_is_unknown_by_its_tag() {
        let mut casper = Casper::new(Identity::PathAndEtag);
        casper.insert("/a.css", Some("\"1\""));
        assert!(casper.contains("/a.css", Some("\"1\"")));
        assert!(!casper.contains("/a.css", Some("\"2\"")));
    }

    #[test]
    fn a_hundred_resources_take_at_most_140_bytes() {
        let mut casper = Casper::default();
        (0..100).for_each(|n| casper.insert(&format!("/assets/{n}.js"), None));
        let bytes = cookie(&casper).len() - "h2o_casper=".len();
        assert!(bytes <= 140, "{bytes}");
    }

    #[test]
    fn wrong_claims_are_at_most_half_again_of_theory() {
        for resources in [10, 50, 100, 200] {
            let mut casper = Casper::default();
            (0..resources).for_each(|n| casper.insert(&format!("/assets/{n}.js"), None));
            let wrong =
                (0..100_000).filter(|n| casper.contains(&format!("/others/{n}"), None)).count();
            let theory = 100_000.0 * f64::from(resources) / 8192.0;
            assert!(wrong as f64 <= 1.5 * theory, "{resources}: {wrong} of {theory}");
            assert!((0..resources).all(|n| casper.contains(&format!("/assets/{n}.js"), None)));
        }
    }

    #[test]
    fn a_text_that_is_not_a_digest_claims_nothing() {
        let mut casper = Casper::default();
        for field in [
            "",
            "h2o_casper",
            "h2o_casper=",
            "h2o_casper=%%%",
            "xh2o_casper=AAAA",
            "h2o_casperx=_w",
        ] {
            casper.read(field);
        }
        casper.read(&format!("h2o_casper={}", "_".repeat(1_000_000)));
        assert_eq!(casper, Casper::default());
    }
}
