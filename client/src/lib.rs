//! A client that plays a page back: it requests each resource when a browser would have discovered it.
//!
//! [`playback`] is the pure model of a browser. [`Client`] connects it to HTTP/3 over quiche, without socket or clock; [`event_loop`]
//! adds both, and `over_tcp` plays pages back over HTTP/2 and HTTP/1.1. The client writes a qlog, from which times and metrics are
//! computed; it keeps no counters.

mod cancelling;
mod client;
mod cookies;
pub mod doctor;
pub mod event_loop;
mod http_cache;
mod http_version;
mod limits;
mod options;
mod outcome;
mod over_tcp;
mod play_error;
pub mod playback;
mod preload;
pub mod probe;
pub mod profile;
mod pushed;
mod requests;
mod responses;
mod saved_session;
mod signalling;
mod visit;

pub use cancelling::Cancels;
pub use client::Client;
pub use connection::{ClientConfig, ConnectError, EarlyData, Verify};
pub use cookies::CookieJar;
pub use http_cache::HttpCache;
pub use http_version::HttpVersion;
pub use options::{Migrating, NextPage, Options};
pub use outcome::{Outcome, Problem};
pub use saved_session::{SavedSession, SessionError};
pub use signalling::Says;
