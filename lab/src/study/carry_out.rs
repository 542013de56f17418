//! Carries out the loads of a plan, and keeps each result.

pub mod engines;
pub(crate) mod failed;
pub(crate) mod journal;
pub(crate) mod loading;
pub mod manifest;
pub(crate) mod pushes;
pub(crate) mod run;
pub(crate) mod texts;

pub use pushes::Pushes;
