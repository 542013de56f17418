//! Sends early hints and promises before a response, and answers the promised pushes.

use super::Responder;
use crate::SignalUse;
use crate::pushes::Pushed;
use crate::site::{Ahead, Request};
use http3::{Header, Session, Signal, StreamId};
use schedulers::Element;
use std::time::Instant;

/// The weight of a stream without a signal (RFC 7540, 5.3.5).
const DEFAULT_WEIGHT: u16 = 16;

impl Responder {
    /// Sends what precedes the response on `stream`: early hints, then promises, before the bytes that refer to them;
    /// then the pushes themselves.
    pub(super) fn send_ahead(
        &mut self,
        stream: StreamId,
        request: &Request,
        ahead: &Ahead,
        now: Instant,
    ) {
        if !ahead.hints.is_empty() {
            let status = std::iter::once(Header::new(b":status", b"103"));
            let links = ahead.hints.iter().map(|it| Header::new(b"link", it.as_bytes()));
            let fields: Vec<Header> = status.chain(links).collect();
            self.send_interim(stream, &fields);
        }
        // A promise on the stream of a push would break RFC 9114, 4.6.
        if request.pushed || ahead.pushes.is_empty() {
            return;
        }
        let site = self.shared.site.as_ref();
        let (promises, pushes) = self.pushes.promise(&mut self.sender, site, stream, ahead);
        self.sender.extend(stream, &promises);
        for pushed in pushes {
            self.push(stream, request, pushed, now);
        }
    }

    pub(super) fn send_interim(&mut self, stream: StreamId, fields: &[Header]) {
        if let Ok(interim) = self.sender.connection.encode_headers(stream, fields) {
            self.sender.extend(stream, &interim);
        }
    }

    /// Sends a promised response. It belongs to the one on `main`, which answers `request`.
    fn push(&mut self, main: StreamId, request: &Request, pushed: Pushed, now: Instant) {
        let stream = pushed.stream;
        http3::log::push_stream(self.sender.connection.quic.qlog_streamer(), stream, pushed.push);
        let header = Session::push_stream_header(pushed.push);
        self.answer(stream, &pushed.request, pushed.response, header, now);
        self.sender.gate(stream, main, pushed.gate);
        self.relay_one(stream, now);
        self.place_after(stream, main, request);
    }

    /// Places a push about which the client has sent no signal, where clients determine the order.
    ///
    /// In a tree, it depends on the response that it belongs to, with weight 16, and pushes of one response share
    /// (draft-ietf-quic-http-22, 5.3.2; RFC 7540, 5.3.5). Both ends know that from the promise. In other schemes, it
    /// follows that response with the same urgency, in the order of the promises, before later requests (*Rules of
    /// Thumb*, rule 2). The client's own signals take precedence.
    fn place_after(&mut self, push: StreamId, main: StreamId, request: &Request) {
        if self.signals.used() == SignalUse::Obey {
            let (element, parent) = (Element::Stream(push), Element::Stream(main));
            let weight = DEFAULT_WEIGHT;
            if let Some(record) = self.sender.streams.get_mut(push) {
                record.follows = Some(main);
            }
            self.obey(Signal::Depend { element, parent, weight, exclusive: false });
            let urgency = request.priority().unwrap_or_default().urgency_or_default();
            self.obey(Signal::Extensible { stream: push, urgency, incremental: false });
        }
    }
}
