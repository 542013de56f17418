//! Whether a browser will move to HTTP/3 at a host and, if not, why.
//!
//! [`crate::event_loop::examine`] looks as a browser would, over TCP and then over UDP, and returns its observations
//! ([`Observed`]). [`findings`] interprets them.

pub(crate) mod datagrams;
mod findings;
pub(crate) mod visit;

pub(crate) use findings::alternative;
pub use findings::{Finding, State, findings, will_move};

use crate::Verify;
use std::net::SocketAddr;
use std::time::Duration;

/// The host to examine.
#[derive(Debug, Clone)]
pub struct Patient {
    /// The name of the host, or its address.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// Its address.
    pub address: SocketAddr,
    /// The trusted certificate authorities.
    pub verify: Verify,
    /// How long to wait for each answer.
    pub within: Duration,
}

/// The observations of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The name of the host.
    pub host: String,
    /// The port over TCP.
    pub port: u16,
    /// The certificate authorities that this program trusted.
    pub trusted: Trusted,
    /// Over TCP; `Err`: why it failed.
    pub tcp: Result<Tcp, String>,
    /// Over UDP.
    pub udp: Udp,
}

/// The certificate authorities that a program trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Trusted {
    System,
    File,
    Anybody,
}

/// A connection of TLS over TCP.
#[derive(Debug, Clone, PartialEq)]
pub struct Tcp {
    /// The certificate; `Err`: why TLS failed.
    pub certificate: Result<Certificate, String>,
    /// Status and the values of `Alt-Svc`; `Err`: why there was no HTTP answer.
    pub answer: Result<(u16, Vec<String>), String>,
}

/// A server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The names that it covers.
    pub names: Vec<String>,
    /// Certificates that the server sent.
    pub chain: usize,
    /// Whole days until it expires; negative if it has expired.
    pub days_left: i64,
    /// Its fault, if it has one.
    pub trouble: Option<Trouble>,
}

/// The fault of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// No trusted authority has signed it.
    Untrusted(String),
    /// It is for other hosts.
    Name,
    /// Not yet valid, or expired.
    Date,
}

/// The answers over UDP.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Udp {
    /// The port that was asked.
    pub port: u16,
    /// Sizes of first datagrams, and whether each was answered.
    pub answered: Vec<(usize, bool)>,
    /// The versions of QUIC that the server supports, if known.
    pub versions: Vec<u32>,
    /// The connection; `Err`: why there is none.
    pub quic: Option<Result<Quic, String>>,
}

/// A connection of HTTP/3.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quic {
    /// The status of `/`.
    pub status: Option<u16>,
    /// Transport parameters (RFC 9000, 18.2), by name.
    pub parameters: Vec<(&'static str, u64)>,
    /// Settings of HTTP/3, by name; `None` if none arrived.
    pub settings: Option<Vec<(&'static str, u64)>>,
}
