//! The client's cache in few bytes: h2o's CASPER cookie and the `Cache-Digest` field as a Golomb-coded set. All are
//! sets of short hashes. They may claim that a missing resource is cached (a false positive, so it is not pushed), but
//! never deny a cached one. A cookie for each resource takes more bytes, and goes with its freshness.

mod cache_digest;
mod casper;
pub(crate) mod golomb;
mod resource_cookies;

pub use cache_digest::{CacheDigest, DigestError};
pub use casper::{Casper, Identity};
pub use resource_cookies::ResourceCookies;

/// Whether a cookie of this name is one that the server sets to know what the client has; all are for every path.
pub(crate) fn is_own_cookie(name: &str) -> bool {
    name == casper::NAME || ResourceCookies::is_own(name)
}
