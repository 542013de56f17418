//! Experiments that tests and examples use. All are off by default.

pub(crate) mod group;
pub(crate) mod repairs;
