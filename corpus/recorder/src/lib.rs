//! Records real pages in a browser, through our own server, as pages that can be played back.
//!
//! A page is loaded several times, each time with other delays ([`Setting`]). A [`Capture`] holds the
//! observations of one load. The causes are derived from all captures together ([`derive::derive`]), and
//! judged by how well they predict when each resource was discovered ([`derive::judge`]).

pub mod bodies;
pub mod browser;
pub mod capture;
pub mod derive;
pub mod error;
pub mod firefox;
pub mod installed;
pub mod limits;
pub mod mirror;
pub mod observe;
pub mod package;
pub mod recording;
pub mod session;
pub mod setting;
pub mod site;
pub mod study_browser;
pub mod visit;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The contents, even after a thread that held the lock panicked.
fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

pub use capture::Capture;
pub use error::RecordError;
pub use setting::Setting;
