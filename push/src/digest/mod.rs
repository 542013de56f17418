//! The client's cache in a few bytes: the `Cache-Digest` field as a Golomb-coded set of short hashes. It may claim
//! that a missing resource is cached (a false positive, so it is not pushed), but never deny a cached one.

mod cache_digest;
pub(crate) mod golomb;

pub use cache_digest::{CacheDigest, DigestError};
