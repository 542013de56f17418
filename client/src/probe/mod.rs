//! A connection that requests a few resources at once and one more during their transfer, for tests of a server's
//! priorities.
//!
//! It creates its own contention: its receive window is small, and it reads slowly. So even a fast server always has
//! more to send than it may, and must choose the next response. The connection's qlog, which [`Fetched`] holds, has the
//! arrival times.

mod fetch;
mod pace;

pub use fetch::Fetch;
pub(crate) use fetch::authority;

use crate::Verify;
use std::time::Duration;

/// The responses to request.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The server's name, for TLS and for `:authority` (with a port unless it is 443).
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Requested at once.
    pub first: Vec<Request>,
    /// Requested while the others arrive. The connection closes when it is complete.
    pub late: Option<Late>,
    /// How the client reads.
    pub reading: Reading,
    /// Whether to keep the bodies, up to a megabyte each.
    pub keep_bodies: bool,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Path and query.
    pub path: String,
    /// Its urgency in the `priority` header field (RFC 9218, section 5). `None`: no field.
    pub urgency: Option<u8>,
    /// Whether that field marks it as incremental.
    pub incremental: bool,
}

/// The request that is made while others are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    /// The request.
    pub request: Request,
    /// It is made once this many bytes of the others' bodies have been read.
    pub after_bytes: u64,
    /// How its urgency changes.
    pub update: Option<Update>,
}

/// A `PRIORITY_UPDATE` (RFC 9218, section 7) for the late request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// The new urgency.
    pub urgency: u8,
    /// It is sent once this many bytes of all bodies have been read.
    pub after_bytes: u64,
}

/// How much data may be in flight, and how fast it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The connection's receive window.
    pub window_bytes: u64,
    /// Stream bytes read per millisecond. `None`: as they arrive.
    pub bytes_per_ms: Option<f64>,
}

impl Reading {
    /// As fast as a browser would.
    pub const FREE: Self = Self { window_bytes: 15_728_640, bytes_per_ms: None };
}

/// The trusted certificate authorities, and the time to wait.
#[derive(Debug, Clone)]
pub struct Patience {
    /// The trusted certificate authorities.
    pub verify: Verify,
    /// The deadline of the handshake.
    pub connect_within: Duration,
    /// The deadline of the rest, after the handshake.
    pub within: Duration,
}

/// The result of a plan.
#[derive(Debug, Clone, Default)]
pub struct Fetched {
    /// One answer for each request: the first ones in order, then the late one.
    pub answers: Vec<Answer>,
    /// The shortest round-trip time.
    pub rtt: Duration,
    /// The client's qlog, as plain JSON text sequences.
    pub log: Vec<u8>,
    /// Why it ended before everything requested had arrived.
    pub problem: Option<String>,
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its stream.
    pub stream: u64,
    /// Its status; 0 before its head.
    pub status: u16,
    /// Body bytes read.
    pub body_bytes: u64,
    /// The body, if [`Plan::keep_bodies`] is set.
    pub body: Vec<u8>,
    /// Whether all of it was read.
    pub is_complete: bool,
}
