//! Responses that come from elsewhere while they are being sent.

use super::Responder;
use crate::pushes::may_be_sent;
use crate::site::{Body, Request, Response};
use crate::upstream::Later;
use http3::{PushId, StreamId};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of an awaited response that wait before the scheduler, so that there is always something to pick.
const AHEAD_BYTES: usize = 64 << 10;

/// An empty DATA frame: the last bytes of a response whose end came alone.
const EMPTY_DATA: [u8; 2] = [0, 0];

/// A response that is under way to us.
pub(super) struct Awaited {
    request: Request,
    later: Arc<Later>,
    stage: Stage,
    /// It has more than there was room for.
    has_more: bool,
    /// The push that it is.
    push: Option<PushId>,
    /// Early hints have gone.
    hinted: bool,
}

/// How far a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its head is awaited.
    Asked,
    /// The backend wants to be asked again when the handshake is complete.
    TooEarly,
    /// Its head has gone to the send loop.
    Answered,
}

impl Responder {
    /// Keeps in touch with a response that comes later; the stream has been opened before the scheduler.
    pub(super) fn expect_response(
        &mut self,
        stream: StreamId,
        request: Request,
        later: Arc<Later>,
        (push, hinted): (Option<PushId>, bool),
    ) {
        later.watch(Arc::clone(&self.bell));
        let (stage, has_more) = (Stage::Asked, false);
        let awaited = Awaited { request, later, stage, has_more, push, hinted };
        self.awaited.insert(stream, awaited);
    }

    /// The handshake is complete: asks again for what came too early for the backend (RFC 8470, 5.2).
    pub(super) fn ask_again(&mut self, now: Instant) {
        let early = self.awaited.iter().filter(|(_, it)| it.stage == Stage::TooEarly);
        let early = early.map(|(stream, _)| *stream);
        for stream in early.collect::<Vec<StreamId>>() {
            let Some(awaited) = self.awaited.get_mut(&stream) else { continue };
            awaited.stage = Stage::Asked;
            awaited.request.early = false;
            let response = self.site.respond(&awaited.request);
            if let Body::Later(later) = response.body {
                later.watch(Arc::clone(&self.bell));
                awaited.later = later;
                self.relay_one(stream, now);
            } else {
                awaited.stage = Stage::Answered;
                if self.head_came(stream, response, now) {
                    self.end_response(stream, &[]);
                }
            }
        }
    }

    /// Whether a response is that of a backend that takes no request which may be a replay, and the request may be made
    /// again. What a gateway in front got early is its matter (RFC 8470, 5.2).
    fn is_too_early(&mut self, stream: StreamId, response: &Response) -> bool {
        let Some(awaited) = self.awaited.get_mut(&stream) else { return false };
        let request = &awaited.request;
        let is_ours = request.early && request.field("early-data").is_none();
        let is_too_early = response.status == 425 && is_ours;
        if is_too_early {
            awaited.stage = Stage::TooEarly;
        }
        is_too_early
    }

    /// Something came for responses that are awaited.
    pub(crate) fn relay(&mut self, now: Instant, scratch: &mut [u8]) {
        let streams: Vec<StreamId> = self.awaited.keys().copied().collect();
        for stream in streams {
            self.relay_one(stream, now);
        }
        if self.paused_upload {
            self.take_in(now, scratch);
        }
    }

    /// Fetches more of the responses that had more than there was room for.
    pub(super) fn refill(&mut self, now: Instant) {
        let hungry = |stream: &StreamId| self.sender.waiting_bytes(*stream) < AHEAD_BYTES / 2;
        let more = self.awaited.iter().filter(|(_, it)| it.has_more).map(|(stream, _)| *stream);
        let streams: Vec<StreamId> = more.filter(hungry).collect();
        for stream in streams {
            self.relay_one(stream, now);
        }
    }

    pub(super) fn relay_one(&mut self, stream: StreamId, now: Instant) {
        if !self.sender.contains(stream) {
            // The client took it back.
            self.awaited.remove(&stream);
            return;
        }
        self.hints_came(stream, now);
        let Some(awaited) = self.awaited.get_mut(&stream) else { return };
        if awaited.stage != Stage::Answered {
            let Some(head) = awaited.later.head() else { return };
            awaited.stage = Stage::Answered;
            let is_error = head.is_err();
            let response = head.unwrap_or_else(|trouble| Response::empty(trouble.status()));
            if self.is_too_early(stream, &response) {
                if self.quic.is_established() {
                    self.ask_again(now);
                }
                return;
            }
            if !self.head_came(stream, response, now) {
                return;
            }
            if is_error {
                self.end_response(stream, &[]);
                return;
            }
        }
        self.body_came(stream);
    }

    /// The backend sent early hints: they go to the client unless it has got some, and name pushes.
    fn hints_came(&mut self, stream: StreamId, now: Instant) {
        let Some(awaited) = self.awaited.get(&stream).filter(|it| it.stage == Stage::Asked) else {
            return;
        };
        let Some(links) = awaited.later.hints().filter(|_| awaited.push.is_none()) else { return };
        let (request, hinted) = (awaited.request.clone(), awaited.hinted);
        let mut ahead = self.site.hints_came(&request, &links);
        if hinted {
            ahead.hints.clear();
        }
        let sent = self.send_ahead(stream, &ahead);
        self.sender.extend(&mut self.quic, stream, &sent.frames, false);
        self.push_all((stream, &request), sent.pushes, now);
    }

    /// The head of an awaited response; false: nothing of it is to follow.
    fn head_came(&mut self, stream: StreamId, response: Response, now: Instant) -> bool {
        let Some(awaited) = self.awaited.get(&stream) else { return false };
        let (request, push) = (awaited.request.clone(), awaited.push);
        let response = self.site.head_came(&request, response);
        if let Some(push) = push.filter(|_| !may_be_sent(&request, &response)) {
            self.take_promise_back(stream, push);
            return false;
        }
        let ahead = self.send_ahead(stream, &response.ahead);
        self.sender.extend(&mut self.quic, stream, &ahead.frames, false);
        let fields = self.response_fields(stream, &response, None);
        let Ok(frames) = self.session.encode_headers(&fields) else {
            self.abort(stream, http3::Code::Internal);
            return false;
        };
        http3::log::headers_created(self.quic.qlog_streamer(), stream, &fields, frames.len());
        // What has no body ends with its head (RFC 9110, 6.4.1).
        let is_all = request.method == "HEAD" || matches!(response.status, 204 | 304);
        if is_all {
            self.end_response(stream, &frames);
        } else {
            self.sender.extend(&mut self.quic, stream, &frames, false);
        }
        self.push_all((stream, &request), ahead.pushes, now);
        !is_all
    }

    fn body_came(&mut self, stream: StreamId) {
        let Some(awaited) = self.awaited.get_mut(&stream) else { return };
        let room = AHEAD_BYTES.saturating_sub(self.sender.waiting_bytes(stream));
        let (bytes, end) = awaited.later.body(room);
        awaited.has_more = end.is_none() && bytes.len() == room;
        match end {
            None if bytes.is_empty() => {}
            None => {
                let frame = self.data_frame(stream, bytes);
                self.sender.extend(&mut self.quic, stream, &frame, false);
            }
            Some(Ok(())) if bytes.is_empty() => self.end_response(stream, &[]),
            Some(Ok(())) => {
                let frame = self.data_frame(stream, bytes);
                self.end_response(stream, &frame);
            }
            // What came stays useful to no one: a part must not look like the whole (RFC 9114, 4.1).
            Some(Err(_)) => self.abort(stream, http3::Code::Internal),
        }
    }

    fn data_frame(&mut self, stream: StreamId, bytes: Vec<u8>) -> Vec<u8> {
        http3::log::data_created(self.quic.qlog_streamer(), stream, bytes.len() as u64);
        let mut frame = http3::data_frame_header(bytes.len() as u64);
        frame.extend(bytes);
        frame
    }

    /// The last bytes of an awaited response.
    fn end_response(&mut self, stream: StreamId, last: &[u8]) {
        self.awaited.remove(&stream);
        let last = if last.is_empty() { &EMPTY_DATA } else { last };
        self.sender.extend(&mut self.quic, stream, last, true);
    }

    /// A response that cannot be sent whole.
    fn abort(&mut self, stream: StreamId, code: http3::Code) {
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code as u64).ok();
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code as u64).ok();
        self.drop_response(stream);
    }

    /// What was promised must not be sent after all (RFC 9114, 7.2.3).
    fn take_promise_back(&mut self, stream: StreamId, push: PushId) {
        self.control.push(self.session.cancel_push(push));
        self.abort(stream, http3::Code::RequestCancelled);
        self.write_control();
    }

    /// More of the body of a request whose response is awaited; false: nobody takes it.
    pub(super) fn upload(&mut self, stream: StreamId, bytes: &[u8]) -> bool {
        let awaited = self.awaited.get(&stream);
        awaited.inspect(|it| it.later.give(bytes)).is_some()
    }

    /// The request is whole.
    pub(super) fn upload_ended(&mut self, stream: StreamId) {
        if let Some(awaited) = self.awaited.get(&stream) {
            awaited.later.end_upload();
        }
    }

    /// Whether the body of a request waits to be taken, so that no more of it is to be read now.
    pub(super) fn is_upload_full(&mut self, stream: StreamId) -> bool {
        let full = self.awaited.get(&stream).is_some_and(|it| !it.later.has_room());
        self.paused_upload |= full;
        full
    }
}
