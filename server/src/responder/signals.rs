//! Combines the client's signals about order, the site's knowledge, and the operator's directives.

use super::Responder;
use crate::SignalUse;
use crate::site::{Request, Response};
use http3::{Extension, Signal, StreamId};
use schedulers::{Call, Element, Priority, Resource, Scheduler};
use std::time::Instant;

/// The signal that a client must support to negotiate, where the server uses signals.
const BUCKET: Extension = Extension::BucketJanuary2019;

impl Responder {
    fn in_use(&self, extension: Extension) -> bool {
        self.sender.connection.session.in_use(extension)
    }

    /// A client that negotiates gets the scheme for such clients, also for its earlier requests.
    pub(super) fn negotiate(&mut self) {
        // The first page may have begun, but the scheme is for all pages of the connection.
        let uses_signals = self.shared.options.signals.uses_signals();
        let can_say = !uses_signals || self.in_use(BUCKET);
        let negotiates = self.in_use(Extension::SchemeAnnouncement) && can_say;
        if let Some(scheme) = self.shared.options.negotiated.clone().filter(|_| negotiates) {
            self.sender.reorder(&scheme.name, Box::new(Scheduler::new(&scheme)));
            self.scheme = scheme;
        }
    }

    /// A page begins with the response on `stream`. It has its own scheme and use of signals, or the server's. Both change
    /// together, and only between pages: if responses of another page are in progress, the new page keeps that page's scheme
    /// and use of signals. A visitor who tries an order has that one.
    pub(super) fn begin_page(
        &mut self,
        stream: StreamId,
        request: &Request,
        document: &Response,
        now: Instant,
    ) {
        if !self.sender.is_between_pages() {
            self.signals.begin_page(None);
            return self.spoil_load();
        }
        let tried = self.begin_load(request, document, now);
        let signals = tried.as_ref().map(|it| it.signals).or(document.signals);
        self.signals.begin_page(Some(signals.unwrap_or(self.shared.options.signals)));
        let tried = tried.as_ref().map(|it| &it.scheme);
        let scheme = tried.or(document.scheme.as_ref()).unwrap_or(&self.scheme);
        if self.sender.order.scheme() != scheme.name {
            self.sender.adopt(scheme);
            self.changed_with = Some(stream);
        }
    }

    /// The scheduler's description of a resource: the site's knowledge, the client's metadata, or both.
    pub(super) fn known_of(&self, response: &Response, request: &Request) -> Resource {
        // A client that sends a byte with each request sends none for a push, so the server does.
        let says_bytes = self.in_use(BUCKET) || self.in_use(Extension::BucketJune2019);
        let signals = match self.signals.used() {
            SignalUse::Obey if request.pushed && says_bytes => SignalUse::Override,
            signals => signals,
        };
        signals.resource(&response.resource, request.metadata())
    }

    /// Applies the `priority` field of a request. A `PRIORITY_UPDATE` that overtook it follows as its own event and overrides
    /// it (RFC 9218, 7). If the client sends no priority, a directive stands alone.
    pub(super) fn obey_header(&mut self, stream: StreamId, request: &Request) {
        let directive = self.directive(stream);
        if let Some(priority) = request.priority().or(directive.map(|_| Priority::default())) {
            let urgency = priority.urgency_or_default();
            let incremental = priority.incremental_or_default();
            self.obey(Signal::Extensible { stream, urgency, incremental });
        }
    }

    /// Applies a client's signal, changed by the directive for its resource.
    pub(super) fn obey(&mut self, signal: Signal) {
        let directive = signal.stream().and_then(|it| self.directive(it));
        let Some(signal) = self.signals.used().heard(signal, directive) else { return };
        if let Signal::Extensible { stream, urgency, incremental } = signal {
            self.note_priority(stream, Priority::new(urgency, incremental));
            self.sender.streams.set_urgency(stream, urgency);
        }
        self.sender.call(Call::Signal(signal));
        self.place_pushes_left(signal);
    }

    /// Records the priority of a response; it moves with the response.
    fn note_priority(&mut self, stream: StreamId, priority: Priority) {
        if let Some(record) = self.sender.streams.get_mut(stream) {
            record.said = Some(priority);
        }
        if let Some(news) = &mut self.news {
            news.signals.push((stream, priority));
        }
    }

    /// The client places a response that is over: the pushes that were placed with it take that place and share its weight, as
    /// if the signal had come in time (RFC 7540, 5.3.4). On a new connection, the document may be over before the client can
    /// send any signal.
    fn place_pushes_left(&mut self, said: Signal) {
        let Signal::Depend { element: Element::Stream(main), parent, weight, .. } = said else {
            return;
        };
        let pushes = self.sender.streams.left_by(main);
        let count = u16::try_from(pushes.len()).unwrap_or(u16::MAX).max(1);
        let weight = (weight / count).max(weight.min(1));
        for push in pushes {
            let element = Element::Stream(push);
            let signal = Signal::Depend { element, parent, weight, exclusive: false };
            self.sender.call(Call::Signal(signal));
        }
    }

    /// The client sends a signal about a push, so the push no longer follows its document.
    pub(super) fn obey_about_push(&mut self, push: StreamId, signal: Signal) {
        if let Some(record) = self.sender.streams.get_mut(push) {
            record.follows = None;
        }
        self.obey(signal);
    }

    pub(super) fn directive(&self, stream: StreamId) -> Option<Priority> {
        self.sender.streams.get(stream).and_then(|it| it.directive)
    }
}
