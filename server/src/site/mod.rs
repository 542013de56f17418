//! Sites: sources of content, and the rules of their operator.

mod ahead;
mod body;
mod codings;
mod compressed;
mod conditions;
mod contents;
mod directory;
mod hot_files;
mod memory;
mod names;
mod paths;
mod pushing;
mod ranges;
mod request;
mod response;
mod rules;
mod types;

pub use crate::experiments::ConditionalPushes;
pub use ahead::{Ahead, Promise};
pub use body::Body;
pub use contents::Contents;
pub use directory::{DirectorySite, OpenError};
pub use names::Names;
pub use pushing::{Knows, Pushing, as_many_as_fit};
pub use request::{Protocol, Request};
pub(crate) use response::Foreseen;
pub use response::{Availability, Field, Response};
pub(crate) use rules::decoded;
pub use rules::{Directive, Rule, RuledSite, fits};

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
