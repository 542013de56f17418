//! Responses that a backend brings while they are being sent.

use super::Responder;
use crate::Event;
use crate::outgoing::{Arriving, Stage};
use crate::send_loop::Ending;
use crate::site::trailers::{from_http3, to_http3};
use crate::site::{Body, Piece, Request, Response, Trouble, may_be_sent};
use http::header::HeaderMap;
use http3::{Code, Header, StreamId};
use std::time::Instant;

impl Responder {
    /// A backend will bring the response on `stream`, which has been opened before the scheduler.
    pub(super) fn expect(&mut self, stream: StreamId, arriving: Arriving) {
        if !arriving.later.comes_whole() {
            self.shared.options.observers.notice(&Event::BackendAsked);
        }
        arriving.later.watch(self.shared.alarm.bell(self.serial));
        self.sender.streams.arrives_by(stream, arriving);
    }

    /// The handshake is complete: asks again for what came too early for the backend (RFC 8470, 5.2).
    pub(super) fn ask_again(&mut self, now: Instant) {
        for stream in self.sender.streams.arriving() {
            let Some(outgoing) = self.sender.streams.outgoing(stream) else { continue };
            let is_due = outgoing.stage == Stage::TooEarly;
            let Some(arriving) = outgoing.arriving.as_ref().filter(|_| is_due) else { continue };
            let request = Request { early: false, ..arriving.request.clone() };
            let hinted = arriving.hinted;
            let response = self.shared.site.respond(&request);
            if let Body::Later(later) = response.body {
                later.end_upload();
                self.expect(stream, Arriving::new(request, later, hinted));
                self.relay_one(stream, now);
            } else {
                self.sender.streams.arrives_no_more(stream);
                self.respond(stream, &request, response, now);
            }
        }
    }

    /// Something came for responses that a backend brings.
    pub(crate) fn relay(&mut self, now: Instant, scratch: &mut [u8]) {
        for stream in self.sender.streams.arriving() {
            self.relay_one(stream, now);
        }
        if self.paused_upload {
            self.take_in(now, scratch);
        }
    }

    /// Takes what a backend has brought for the response on `stream`, as far as there is room.
    pub(super) fn relay_one(&mut self, stream: StreamId, now: Instant) {
        while let Some(piece) = self.next_piece(stream) {
            match piece {
                Piece::Hints(links) => self.hints_came(stream, &links, now),
                Piece::Head(response) => self.head_came(stream, *response, now),
                Piece::Body(bytes) => {
                    let length = bytes.len() as u64;
                    let mut frame = self.sender.connection.data_frame_header(stream, length);
                    frame.extend(bytes);
                    self.sender.extend(stream, &frame);
                    if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
                        outgoing.carries(length);
                    }
                }
                Piece::End(Ok(trailers)) => self.end_with(stream, &trailers),
                Piece::End(Err(trouble)) if self.awaits_head(stream) => {
                    self.head_came(stream, trouble.response(), now);
                    self.sender.end(stream);
                }
                Piece::End(Err(trouble)) => return self.break_off(stream, trouble),
            }
        }
    }

    /// The rest of a response does not come. What came goes before the reset, because a part must not look like the whole (RFC
    /// 9114, 4.1). A client that does not read is not waited for, and half a push is of no use.
    fn break_off(&mut self, stream: StreamId, trouble: Trouble) {
        let is_pushed = self.arriving(stream).is_some_and(|it| it.request.pushed);
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
            let trailers = to_http3(trailers);
            let Ok(frame) = self.sender.connection.encode_headers(stream, &trailers) else {
                self.sender.finish(stream, Ending::GivenUp(Code::Internal));
                return;
            };
            self.sender.extend(stream, &frame);
        }
        self.sender.end(stream);
    }

    fn next_piece(&mut self, stream: StreamId) -> Option<Piece> {
        self.sender.streams.outgoing_mut(stream)?.next_piece()
    }

    fn awaits_head(&self, stream: StreamId) -> bool {
        let outgoing = self.sender.streams.outgoing(stream);
        outgoing.is_some_and(|it| it.stage == Stage::AwaitsHead)
    }

    pub(super) fn arriving(&self, stream: StreamId) -> Option<&Arriving> {
        self.sender.streams.outgoing(stream)?.arriving.as_ref()
    }

    /// The backend sent early hints: they go to the client unless it has got some, and name pushes.
    fn hints_came(&mut self, stream: StreamId, links: &[String], now: Instant) {
        let Some(arriving) = self.arriving(stream).filter(|it| !it.request.pushed) else { return };
        let (request, hinted) = (arriving.request.clone(), arriving.hinted);
        let mut ahead = self.shared.site.hints_came(&request, links);
        if hinted {
            ahead.hints.clear();
        }
        self.send_ahead(stream, &request, &ahead, now);
    }

    fn head_came(&mut self, stream: StreamId, response: Response, now: Instant) {
        let Some(request) = self.arriving(stream).map(|it| it.request.clone()) else { return };
        let may_have_body = self.arriving(stream).is_some_and(|it| it.later.may_have_body());
        if is_too_early(&request, &response) && !may_have_body {
            if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
                outgoing.stage = Stage::TooEarly;
            }
            if self.sender.connection.is_connected() {
                self.ask_again(now);
            }
            return;
        }
        let response = self.shared.site.head_came(&request, response);
        if self.arriving(stream).is_some_and(|it| it.later.is_opened_by(&response)) {
            if self.refused_from.is_some() {
                self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
                return;
            }
            self.note_tunnel(stream);
        }
        if self.arriving(stream).is_some_and(|it| it.later.comes_whole()) {
            self.sender.streams.arrives_no_more(stream);
        }
        if request.pushed && !may_be_sent(&request, &response) {
            self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
        } else {
            self.respond(stream, &request, response, now);
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
            arriving.later.give(bytes);
        } else if !self.sender.streams.is_sending(stream) {
            // The rest of an upload is of no use when its response has gone (RFC 9114, 4.1).
            let quic = &mut self.sender.connection.quic;
            quic.stream_shutdown(stream.0, quiche::Shutdown::Read, Code::NoError.value()).ok();
        }
    }

    pub(super) fn upload_trailed(&mut self, stream: StreamId, trailers: &[Header]) {
        if let Some(arriving) = self.arriving(stream) {
            arriving.later.trail(&from_http3(trailers));
        }
    }

    pub(super) fn upload_ended(&mut self, stream: StreamId) {
        if let Some(arriving) = self.arriving(stream) {
            arriving.later.end_upload();
        }
    }

    /// Whether the body of a request waits to be taken, so that no more of it is read now.
    pub(super) fn is_upload_full(&mut self, stream: StreamId) -> bool {
        let is_full = self.arriving(stream).is_some_and(|it| !it.later.has_room());
        self.paused_upload |= is_full;
        is_full
    }
}

/// Whether the backend rejects requests that may be replays, and we may ask again. If a gateway in front got the
/// request early, that gateway must ask again (RFC 8470, 5.2).
fn is_too_early(request: &Request, response: &Response) -> bool {
    response.status == 425 && request.early && request.field("early-data").is_none()
}
