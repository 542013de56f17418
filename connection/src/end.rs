//! Why a connection ended.

/// The cause of a connection's end, in words for its user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum End {
    #[error("no answer to the handshake in time; is an HTTP/3 server there?")]
    NoAnswer,
    #[error(
        "the server's certificate is not trusted; name its authority with --ca, or use --insecure"
    )]
    Untrusted,
    #[error("closed by the server, code {code:#x} {reason}")]
    ByPeer { code: u64, reason: String },
    /// We closed the connection, or quiche did.
    #[error("closed, code {code:#x} {reason}")]
    ByUs { code: u64, reason: String },
    /// The peer broke the rules of HTTP/3: the error and the stream.
    #[error("{0}")]
    Broken(String),
    /// The transport cannot continue.
    #[error("{0}")]
    Transport(quiche::Error),
    #[error("nothing arrived for too long")]
    Silence,
    /// quiche does not report the cause.
    #[error("closed")]
    Unknown,
}

impl End {
    /// The cause of a connection's end, from quiche.
    pub(crate) fn of(quic: &crate::Quic) -> Self {
        match (quic.peer_error(), quic.local_error()) {
            (_, Some(it)) if is_certificate_alert(it) => Self::Untrusted,
            (Some(it), _) => Self::ByPeer { code: it.error_code, reason: Self::reason(it) },
            (_, Some(it)) => Self::ByUs { code: it.error_code, reason: Self::reason(it) },
            _ if quic.is_timed_out() => Self::Silence,
            _ => Self::Unknown,
        }
    }

    fn reason(error: &quiche::ConnectionError) -> String {
        String::from_utf8_lossy(&error.reason).into_owned()
    }
}

/// A TLS alert about a certificate (RFC 9001, 4.8; RFC 8446, 6): an unknown issuer, or an invalid
/// certificate.
fn is_certificate_alert(error: &quiche::ConnectionError) -> bool {
    !error.is_app && matches!(error.error_code, 0x12a..=0x130)
}
