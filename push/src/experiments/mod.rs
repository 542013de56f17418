//! Experiments that are off by default. Nothing else in this crate depends on them.

mod cuckoo;

pub use cuckoo::{CuckooDigest, Full};
