//! Responses that a backend brings while they are being sent.

use super::Responder;
use crate::Event;
use crate::account::Share;
use crate::coming::{Coming, Next, Rest};
use crate::outgoing::{Arriving, Stage};
use crate::send_loop::Ending;
use crate::site::fields::{Line, from_http3, to_http3};
use crate::site::{BackendFailure, Body, Later, Request, Response, may_be_sent};
use http::header::HeaderMap;
use http3::{Code, Header, StreamId};
use std::sync::Arc;
use std::time::Instant;

impl Responder {
    /// A backend will bring the response on `stream`, which the scheduler already knows. The other arguments: whether the
    /// client has had early hints, and the room that it takes.
    pub(super) fn expect(
        &mut self,
        stream: StreamId,
        request: Request,
        later: (Arc<Later>, bool),
        room: Option<Share>,
    ) {
        let (site, ring) = (Arc::clone(&self.shared.site), self.shared.alarm.bell(self.serial));
        let observers = &self.shared.options.observers;
        let coming = Coming::begin(site, request, later, observers, ring);
        self.sender.streams.arrives_by(stream, Arriving::new(coming, room));
    }

    /// The handshake is complete: repeats the requests that came too early for the backend (RFC 8470, 5.2).
    pub(super) fn ask_again(&mut self, now: Instant) {
        for stream in self.sender.streams.arriving() {
            let Some(outgoing) = self.sender.streams.outgoing_mut(stream) else { continue };
            let is_due = outgoing.stage == Stage::TooEarly;
            let Some(arriving) = outgoing.arriving.as_mut().filter(|_| is_due) else { continue };
            let request = Request { early: false, ..arriving.coming.request.clone() };
            let (is_hinted, room) = (arriving.coming.is_hinted, arriving.room.take());
            let response = self.shared.site.respond(&request);
            if let Body::Later(later) = response.body {
                later.end_upload();
                self.expect(stream, request, (later, is_hinted), room);
                self.relay_one(stream, now);
            } else {
                self.sender.streams.arrives_no_more(stream);
                self.respond(stream, &request, response, now);
            }
        }
    }

    /// Something arrived for responses that a backend brings.
    pub(crate) fn relay(&mut self, now: Instant, scratch: &mut [u8]) {
        for stream in self.sender.streams.arriving() {
            self.relay_one(stream, now);
        }
        if self.paused_upload {
            self.take_in(now, scratch);
        }
    }

    /// Takes what has arrived for the response on `stream`, as far as there is room.
    pub(super) fn relay_one(&mut self, stream: StreamId, now: Instant) {
        while let Some(next) = self.next_piece(stream) {
            match next {
                Next::Ahead(ahead) => {
                    let Some(request) = self.request(stream) else { return };
                    self.send_ahead(stream, &request, &ahead, now);
                }
                Next::TooEarly => self.wait_for_handshake(stream, now),
                Next::Head(response, rest) => self.head_came(stream, *response, rest, now),
                Next::Body(bytes) => {
                    let length = bytes.len() as u64;
                    let mut frame = self.sender.connection.data_frame_header(stream, length);
                    frame.extend(bytes);
                    self.sender.extend(stream, &frame);
                    if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
                        outgoing.carries(length);
                    }
                }
                Next::End(trailers) => self.end_with(stream, &trailers),
                Next::Broken(trouble) => return self.break_off(stream, trouble),
            }
        }
    }

    /// The rest of a response does not arrive. What has arrived is sent before the reset, because a part must not look
    /// complete (RFC 9114, 4.1). The server does not wait for a client that does not read, and half a push is useless.
    fn break_off(&mut self, stream: StreamId, trouble: BackendFailure) {
        let is_pushed = self.arriving(stream).is_some_and(|it| it.coming.request.pushed);
        let is_worth_it = !is_pushed && !trouble.is_the_clients();
        if !is_worth_it || !self.sender.has_unsent(stream) {
            self.sender.finish(stream, Ending::GivenUp(trouble.code()));
            return;
        }
        if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
            outgoing.lacks_rest(trouble);
        }
        self.sender.streams.look_again(stream);
    }

    /// Ends the response, with trailer fields if there are some.
    fn end_with(&mut self, stream: StreamId, trailers: &HeaderMap) {
        if !trailers.is_empty() {
            let trailers: Vec<Line<'_>> = to_http3(trailers).collect();
            let Ok(frame) = self.sender.connection.encode_headers(stream, &trailers) else {
                self.sender.finish(stream, Ending::GivenUp(Code::Internal));
                return;
            };
            self.sender.extend(stream, &frame);
        }
        self.sender.end(stream);
    }

    fn next_piece(&mut self, stream: StreamId) -> Option<Next> {
        self.sender.streams.outgoing_mut(stream)?.next_piece()
    }

    pub(super) fn arriving(&self, stream: StreamId) -> Option<&Arriving> {
        self.sender.streams.outgoing(stream)?.arriving.as_ref()
    }

    fn request(&self, stream: StreamId) -> Option<Request> {
        self.arriving(stream).map(|it| it.coming.request.clone())
    }

    /// Repeats a request after the handshake, because the backend rejected it as a possible replay.
    fn wait_for_handshake(&mut self, stream: StreamId, now: Instant) {
        if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
            outgoing.stage = Stage::TooEarly;
        }
        if self.sender.connection.is_connected() {
            self.ask_again(now);
        }
    }

    fn head_came(&mut self, stream: StreamId, response: Response, rest: Rest, now: Instant) {
        let Some(request) = self.request(stream) else { return };
        if rest == Rest::Tunnel {
            if self.refused_from.is_some() {
                self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
                return;
            }
            self.note_tunnel(stream);
        }
        if rest == Rest::Here {
            self.sender.streams.arrives_no_more(stream);
        }
        if request.pushed && !may_be_sent(&request, &response) {
            self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
            return;
        }
        self.respond(stream, &request, response, now);
        if matches!(rest, Rest::Nothing | Rest::Instead) {
            self.sender.end(stream);
        }
    }

    /// The response on `stream` is a WebSocket.
    fn note_tunnel(&mut self, stream: StreamId) {
        self.shared.options.observers.notice(&Event::TunnelOpened);
        let Some(record) = self.sender.streams.get_mut(stream) else { return };
        record.is_tunnel = true;
        if let Some(watched) = &mut record.watched {
            watched.answered.is_tunnel = true;
        }
    }

    pub(super) fn on_upload(&mut self, stream: StreamId, bytes: &[u8]) {
        if let Some(arriving) = self.arriving(stream) {
            arriving.coming.later.give(bytes);
        } else if !self.sender.streams.is_sending(stream) {
            // The rest of an upload is useless when its response has been sent (RFC 9114, 4.1).
            self.sender.connection.stop(stream, Code::NoError);
        }
    }

    pub(super) fn upload_trailed(&mut self, stream: StreamId, trailers: &[Header]) {
        if let Some(arriving) = self.arriving(stream) {
            arriving.coming.later.trail(&from_http3(trailers));
        }
    }

    pub(super) fn upload_ended(&mut self, stream: StreamId) {
        if let Some(arriving) = self.arriving(stream) {
            arriving.coming.later.end_upload();
        }
    }

    /// Whether the body of a request waits to be taken, so that no more of it is read now.
    pub(super) fn is_upload_full(&mut self, stream: StreamId) -> bool {
        let is_full = self.arriving(stream).is_some_and(|it| !it.coming.later.has_room());
        self.paused_upload |= is_full;
        is_full
    }
}
