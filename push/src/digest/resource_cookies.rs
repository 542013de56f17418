//! One cookie for each resource that the client has, which goes when the copy becomes stale (*Rules of Thumb*, rule 3).
//!
//! A cookie's name is a hash of the resource's path, its value one of the entity tag, its life what is left of the
//! response's freshness. Forty-eight bits of name make a wrong claim rarer than one in a trillion.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use std::collections::BTreeMap;

/// What the names begin with.
const PREFIX: &str = "has-";
/// Bytes of hash in a name, and in a value.
const NAME_BYTES: usize = 6;
const VALUE_BYTES: usize = 3;

/// The resources that a client has, by its cookies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceCookies {
    /// Value by name, without the prefix.
    said: BTreeMap<String, String>,
}

impl ResourceCookies {
    /// As many resources have a cookie: browsers keep no fewer for a site (RFC 6265, 6.1).
    pub const MAX: usize = 50;

    /// Reads a request's `Cookie` field. Keeps only cookies that can be ours, and at most [`Self::MAX`] of them.
    pub fn read(cookie_field: &str) -> Self {
        let mut said = BTreeMap::new();
        for pair in cookie_field.split(';') {
            let Some((name, value)) = pair.trim().split_once('=') else { continue };
            let Some(name) = name.strip_prefix(PREFIX) else { continue };
            let is_ours = name.len() == encoded(NAME_BYTES) && value.len() == encoded(VALUE_BYTES);
            if is_ours && said.len() < Self::MAX {
                said.insert(name.to_owned(), value.to_owned());
            }
        }
        Self { said }
    }

    /// Whether the client has a fresh copy of it in the state that the entity tag names.
    pub fn contains(&self, path: &str, etag: Option<&str>) -> bool {
        self.said.get(&name(path)).is_some_and(|it| *it == value(etag))
    }

    /// The `Set-Cookie` field of the response that brings a resource which is fresh for so long.
    pub fn set_cookie(path: &str, etag: Option<&str>, fresh_s: u64) -> String {
        let (name, value) = (name(path), value(etag));
        format!("{PREFIX}{name}={value}; Path=/; Max-Age={fresh_s}; Secure; HttpOnly; SameSite=Lax")
    }

    /// Whether a cookie of this name is one of these.
    pub(crate) fn is_own(name: &str) -> bool {
        name.strip_prefix(PREFIX).is_some_and(|it| it.len() == encoded(NAME_BYTES))
    }
}

fn name(path: &str) -> String {
    hash::<NAME_BYTES>(path)
}

fn value(etag: Option<&str>) -> String {
    hash::<VALUE_BYTES>(etag.unwrap_or_default())
}

fn hash<const BYTES: usize>(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..BYTES])
}

/// How long so many bytes are in base64.
const fn encoded(bytes: usize) -> usize {
    bytes * 4 / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, etag: Option<&str>) -> String {
        let field = ResourceCookies::set_cookie(path, etag, 60);
        field.split(';').next().expect("a pair").to_owned()
    }

    #[test]
    fn a_cookie_lives_as_long_as_the_copy_is_fresh() {
        assert_eq!(
            ResourceCookies::set_cookie("/a.css", Some("\"1\""), 3600),
            "has-Jl-ACMGR=ORVS; Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=Lax"
        );
    }

    #[test]
    fn a_copy_is_known_in_its_state_only() {
        let field = format!("a=b; {}; {}", said("/a.css", Some("\"1\"")), said("/b.js", None));
        let cookies = ResourceCookies::read(&field);
        assert!(cookies.contains("/a.css", Some("\"1\"")) && cookies.contains("/b.js", None));
        assert!(!cookies.contains("/a.css", Some("\"2\"")), "it has changed");
        assert!(!cookies.contains("/a.css", None) && !cookies.contains("/c", None));
    }

    #[test]
    fn of_a_hostile_field_at_most_fifty_short_cookies_are_kept() {
        let pairs: Vec<String> = (0..3000).map(|it| said(&format!("/{it}"), None)).collect();
        assert_eq!(ResourceCookies::read(&pairs.join("; ")).said.len(), 50);
        let long = format!("has-{}=1; has-abcdefgh={}", "x".repeat(60_000), "y".repeat(60_000));
        assert_eq!(ResourceCookies::read(&long), ResourceCookies::default());
    }

    proptest::proptest! {
        #[test]
        fn any_field_is_read(field in "\\PC{0,200}") {
            proptest::prop_assert!(ResourceCookies::read(&field).said.len() <= ResourceCookies::MAX);
        }
    }
}
