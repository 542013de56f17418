//! Failures between a client and a backend, and the client's answer for each.

use super::Response;
use http::header::{HeaderValue, RETRY_AFTER};
use http3::Code;
use std::error::Error;

/// Why the backend's response does not arrive or does not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendFailure {
    /// Too many requests are in progress or waiting.
    #[error("too many requests in progress")]
    Busy,
    /// No server listens at the address, the name is unknown, or the server is not the intended one.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// Connecting, answering or sending took too long.
    #[error("too slow: {0}")]
    TooSlow(String),
    /// It sent something that is not a response, or broke off.
    #[error("not a proper response: {0}")]
    Improper(String),
    /// HTTP cannot express the request.
    #[error("the request cannot be forwarded: {0}")]
    Unsayable(String),
    /// The client neither sends the body of its request nor reads the response.
    #[error("the client is too slow")]
    ClientSlow,
    /// The body of the request breaks the rules of its protocol.
    #[error("the client's body is malformed")]
    ClientWrong,
    /// The body of the request, or its trailer fields, are larger than allowed.
    #[error("the client's body is too large")]
    ClientLarge,
    /// The client has abandoned its request.
    #[error("the client is gone")]
    ClientGone,
}

impl BackendFailure {
    /// A response that an HTTP library does not accept, with the causes.
    pub fn improper(error: &dyn Error) -> Self {
        Self::Improper(causes(error))
    }

    /// The response that the server sends instead (RFC 9110, 15.5 and 15.6).
    pub fn response(&self) -> Response {
        let response = Response::empty(match self {
            Self::Busy => 503,
            Self::TooSlow(_) => 504,
            Self::Unsayable(_) | Self::ClientWrong => 400,
            Self::ClientSlow => 408,
            Self::ClientLarge => 413,
            Self::Unreachable(_) | Self::Improper(_) | Self::ClientGone => 502,
        });
        let is_brief = *self == Self::Busy;
        let headers = is_brief.then(|| (RETRY_AFTER, HeaderValue::from_static("1")));
        Response { headers: headers.into_iter().collect(), ..response }
    }

    /// The code with which a response ends that has already begun.
    pub fn code(&self) -> Code {
        match self {
            Self::ClientSlow | Self::ClientGone => Code::RequestCancelled,
            _ => Code::Internal,
        }
    }

    /// Whether it concerns only this server and the client, so that the operator need not know.
    pub fn is_the_clients(&self) -> bool {
        matches!(
            self,
            Self::ClientSlow
                | Self::ClientWrong
                | Self::ClientLarge
                | Self::ClientGone
                | Self::Unsayable(_)
        )
    }
}

fn causes(error: &dyn Error) -> String {
    let cause = error.source().map(causes);
    cause.map_or_else(|| error.to_string(), |it| format!("{error}: {it}"))
}
