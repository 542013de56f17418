//! Why a page load did not begin.

use crate::{ConnectError, HttpVersion};
use std::io;
use std::net::SocketAddr;

/// A page load that failed before it began.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlayError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("{0}: connection refused; is a server listening there?")]
    Refused(SocketAddr),
    #[error("{0}: no answer in time; is the server there, and does a firewall let TCP through?")]
    Unanswered(SocketAddr),
    #[error(
        "{0}: no TLS handshake: {1}; over TCP the server needs TLS and a certificate that the client trusts"
    )]
    Tls(SocketAddr, String),
    #[error("{0}: the server does not offer HTTP/{1} over TLS; try another --http")]
    NotOffered(SocketAddr, HttpVersion),
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
}
