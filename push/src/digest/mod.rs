//! What the client has cached, said in few bytes: h2o's CASPER cookie and the `Cache-Digest` field, in both of its
//! forms. All are sets of short hashes, so that they may claim what is not there (a false positive: not pushed although
//! it was not cached), but never deny what is.

mod cache_digest;
mod casper;
mod cuckoo;
mod golomb;

pub use cache_digest::{CacheDigest, DigestError};
pub use casper::{Casper, Identity};
pub use cuckoo::{CuckooDigest, Full};
