//! What goes ahead of a response, and the pushes that it promises.

use super::Responder;
use crate::SignalUse;
use crate::pushes::Pushed;
use crate::site::{Ahead, Request};
use http3::{Header, Session, Signal, StreamId};
use schedulers::Priority;
use std::time::Instant;

/// What was put ahead of a response.
pub(super) struct SentAhead {
    pub(super) frames: Vec<u8>,
    /// What was promised there.
    pub(super) pushes: Vec<Pushed>,
}

impl Responder {
    /// What goes ahead of a response: early hints, then promises, before the bytes that refer to them.
    pub(super) fn send_ahead(&mut self, stream: StreamId, ahead: &Ahead) -> SentAhead {
        let mut frames = Vec::new();
        if !ahead.hints.is_empty() {
            let status = std::iter::once(Header::new(b":status", b"103"));
            let links = ahead.hints.iter().map(|it| Header::new(b"link", it.as_bytes()));
            let fields: Vec<Header> = status.chain(links).collect();
            if let Ok(interim) = self.session.encode_headers(&fields) {
                http3::log::headers_created(
                    self.quic.qlog_streamer(),
                    stream,
                    &fields,
                    interim.len(),
                );
                frames.extend(interim);
            }
        }
        let (promises, pushes) = self.pushes.promise(
            (&mut self.quic, &mut self.session),
            (self.site.as_ref(), stream),
            ahead,
        );
        frames.extend(promises);
        SentAhead { frames, pushes }
    }

    /// Sends what was promised ahead of the response to `request` on `main`.
    pub(super) fn push_all(
        &mut self,
        (main, request): (StreamId, &Request),
        pushes: Vec<Pushed>,
        now: Instant,
    ) {
        for pushed in pushes {
            let push = pushed.stream;
            self.push(main, pushed, now);
            self.place_after(push, request);
        }
    }

    /// Sends a promised response; it belongs to the one on `main`.
    fn push(&mut self, main: StreamId, pushed: Pushed, now: Instant) {
        let Pushed { push, stream, request, response, gate } = pushed;
        http3::log::push_stream(self.quic.qlog_streamer(), stream, push);
        self.requests.insert(stream);
        let header = Session::push_stream_header(push);
        self.answer(stream, &request, response, header, (Some(push), now));
        self.sender.gate(stream, main, gate);
        self.relay_one(stream, now);
    }

    /// Where clients alone decide on order, a push that they say nothing of goes with the response that it belongs to: it is as
    /// urgent, goes after it and in the order of the promises, and before what is asked for later (*Rules of Thumb*,
    /// rule 2: a note on the server, for the tree that both ends share must not change on one). What the client says
    /// of the push, or of another response, takes precedence.
    fn place_after(&mut self, push: StreamId, main: &Request) {
        if self.signals == SignalUse::Obey {
            let said = main.priority.as_deref().and_then(|it| Priority::parse(it).ok());
            let urgency = said.unwrap_or_default().urgency_or_default();
            self.obey(Signal::Extensible { stream: push, urgency, incremental: false });
        }
    }
}
