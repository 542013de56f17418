//! Carries out the loads of a plan, and keeps what comes of each.

pub mod engines;
pub(crate) mod failed;
pub(crate) mod journal;
pub(crate) mod loading;
pub mod manifest;
pub(crate) mod pushes;
pub(crate) mod run;

pub use pushes::Pushes;
