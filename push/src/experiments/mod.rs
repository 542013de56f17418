//! What was tried and is off by default. Nothing else in this crate depends on it.

mod cuckoo;

pub use cuckoo::{CuckooDigest, Full};
