//! What the client says about order, what the site knows, and what the operator directs.

use super::Responder;
use crate::order::Order;
use crate::site::{Request, Response};
use http3::{Extension, Signal, StreamId};
use schedulers::{Priority, Resource, Scheme};

/// What a client must be able to say to negotiate, where the server uses signals.
const BUCKET: Extension = Extension::BucketJanuary2019;

impl Responder {
    /// A client that negotiates gets the scheme that is meant for such clients, also for what it has asked for
    /// already.
    pub(super) fn negotiate(&mut self) {
        let can_say = !self.signals.uses_signals() || self.session.in_use(BUCKET);
        let negotiates = self.session.in_use(Extension::SchemeAnnouncement) && can_say;
        if let Some(scheme) = self.negotiated.take().filter(|_| negotiates) {
            self.sender.reorder(&mut self.quic, &scheme, Order::alone(&scheme));
            self.scheme = scheme;
        }
    }

    /// A page has a scheme of its own, or the server's. What is under way of the page before it stays in its
    /// order, and the new page joins it.
    pub(super) fn begin_page(&mut self, scheme: Option<Scheme>) {
        let scheme = scheme.unwrap_or_else(|| self.scheme.clone());
        if self.sender.scheme() != scheme.name {
            self.sender.adopt(&mut self.quic, &scheme);
        }
    }

    /// What the scheduler is told of a resource: the site's knowledge, what the client says it is for, or both.
    pub(super) fn known_of(&self, response: &Response, request: &Request) -> Resource {
        // A client that says a byte of each request says none of a push: the server does in its place.
        let says_bytes = [BUCKET, Extension::BucketJune2019].map(|it| self.session.in_use(it));
        let in_its_place = request.pushed && says_bytes.contains(&true);
        let known = if self.signals.uses_knowledge() || in_its_place {
            response.resource
        } else {
            Resource { body_bytes: response.resource.body_bytes, ..Resource::default() }
        };
        let said = request.metadata.as_deref().filter(|_| self.signals.uses_signals());
        said.map_or(known, |it| schedulers::Metadata::parse(it).refine(&known))
    }

    /// The `priority` field of a request. A `PRIORITY_UPDATE` that overtook it follows as its own event
    /// and overrides it (RFC 9218, 7). A client that says nothing leaves a directive to stand alone.
    pub(super) fn obey_header(&mut self, stream: StreamId, request: &Request) {
        let said = request.priority.as_deref().and_then(|it| Priority::parse(it).ok());
        let directed = self.directives.contains_key(&stream);
        if let Some(priority) = said.or(directed.then(Priority::default)) {
            let urgency = priority.urgency_or_default();
            let incremental = priority.incremental_or_default();
            self.obey(Signal::Extensible { stream, urgency, incremental });
        }
    }

    /// A client's signal, changed by the directive for its resource: what the directive leaves open is the
    /// client's (RFC 9218, 8).
    pub(super) fn obey(&mut self, signal: Signal) {
        if !self.signals.uses_signals() {
            return;
        }
        let signal = match signal {
            Signal::Extensible { stream, urgency, incremental } => {
                let said = Priority::new(urgency, incremental);
                let directive = self.directives.get(&stream).copied().unwrap_or_default();
                let merged = said.overridden_by(directive);
                let urgency = merged.urgency_or_default();
                self.pushes.reprioritize(stream, urgency);
                Signal::Extensible { stream, urgency, incremental: merged.incremental_or_default() }
            }
            other => other,
        };
        self.sender.signal(&mut self.quic, signal);
    }
}
