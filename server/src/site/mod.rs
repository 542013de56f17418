//! Sites: sources of content, and the rules of their operator.

mod ahead;
mod body;
mod codings;
mod compressed;
mod conditions;
mod contents;
mod directory;
mod exchange;
mod hot_files;
mod last_answers;
mod names;
mod paths;
mod pushing;
mod ranges;
mod request;
mod response;
mod rules;
pub(crate) mod trailers;
mod trouble;
mod types;

pub use ahead::{Ahead, Promise};
pub use body::Body;
pub use contents::Contents;
pub use directory::{DirectorySite, OpenError};
pub use exchange::Later;
pub(crate) use exchange::{Exchange, Piece};
pub use names::Names;
pub use pushing::{ConditionalPushes, Knows, Pushing, as_many_as_fit};
pub use request::{Protocol, Request};
pub use response::{Availability, Field, Response};
pub(crate) use response::{Foreseen, may_be_sent};
pub(crate) use rules::decoded;
pub use rules::{Directive, Rule, RuledSite, fits};
pub use trouble::Trouble;

use std::sync::Arc;

/// A source of content.
pub trait Site: Send + Sync {
    /// Answers a request at once. A response that takes time says so in [`Response::ready`], or comes later as a whole
    /// ([`Body::Later`]).
    fn respond(&self, request: &Request) -> Response;

    /// Whether another server makes the responses, so that asking is not free and conditions are that server's matter.
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

    fn is_remote(&self) -> bool {
        self.as_ref().is_remote()
    }

    fn usual_freshness(&self) -> Option<&'static str> {
        self.as_ref().usual_freshness()
    }
}
