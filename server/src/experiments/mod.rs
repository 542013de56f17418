//! Experiments that tests and examples use. All are off by default.

mod conditional_pushes;
pub(crate) mod group;
pub(crate) mod repairs;

pub use conditional_pushes::ConditionalPushes;
