//! The recorder from outside: what it derives from kept captures, what it rejects, and a real browser.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod davies_meenan;
mod derivation;
mod observation;
mod profile;
