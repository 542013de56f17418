//! The source of answers, and its messages to and from the connections.

mod ahead;
mod backend_failure;
mod body;
pub mod contents;
mod exchange;
pub mod fields;
mod names;
pub mod paths;
mod request;
mod response;
pub mod trailers;

pub use ahead::{Ahead, Promise};
pub use backend_failure::BackendFailure;
pub use body::Body;
pub use contents::Contents;
pub use exchange::{Exchange, Later, Piece, Turns, UploadPiece};
pub use http::header;
pub use names::Names;
pub use request::{Protocol, Request};
pub use response::{Availability, Foreseen, Response, may_be_sent};

use std::sync::Arc;

/// A server's content, or a source of it.
pub trait Site: Send + Sync {
    /// Answers a request at once. A response that takes time declares this in [`Response::ready`], or follows later as a
    /// whole ([`Body::Later`]). The latter contains what precedes its head; [`Self::head_came`] follows.
    fn respond(&self, request: &Request) -> Response;

    /// The head of an awaited response has arrived. Returns what is sent in its place.
    fn head_came(&self, _request: &Request, head: Response) -> Response {
        head
    }

    /// Early hints have arrived for an awaited response, with these `Link` fields. Returns what precedes it because of
    /// them.
    fn hints_came(&self, _request: &Request, _links: &[String]) -> Ahead {
        Ahead::default()
    }

    /// Whether it answers for a host.
    fn is_for(&self, _host: &str) -> bool {
        true
    }

    /// Whether another server makes the responses, so that a request to it has a cost and conditions are that server's
    /// concern.
    fn is_remote(&self) -> bool {
        false
    }

    /// The `Cache-Control` field of responses with a tag, where neither they nor a rule have one.
    fn usual_freshness(&self) -> Option<&'static str> {
        None
    }
}

impl<S: Site + ?Sized> Site for Arc<S> {
    fn respond(&self, request: &Request) -> Response {
        self.as_ref().respond(request)
    }

    fn head_came(&self, request: &Request, head: Response) -> Response {
        self.as_ref().head_came(request, head)
    }

    fn hints_came(&self, request: &Request, links: &[String]) -> Ahead {
        self.as_ref().hints_came(request, links)
    }

    fn is_for(&self, host: &str) -> bool {
        self.as_ref().is_for(host)
    }

    fn is_remote(&self) -> bool {
        self.as_ref().is_remote()
    }

    fn usual_freshness(&self) -> Option<&'static str> {
        self.as_ref().usual_freshness()
    }
}
