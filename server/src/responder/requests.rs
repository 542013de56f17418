//! Requests, and the responses that answer them.

use super::Responder;
use crate::SignalUse;
use crate::early_data::is_safe;
use crate::pushes::Pushes;
use crate::send_queue::Head;
use crate::site::{Availability, Body, Request, Response};
use http3::{Extension, Header, PushId, StreamId};
use std::time::Instant;

impl Responder {
    pub(super) fn on_request(&mut self, stream: StreamId, headers: &[Header], now: Instant) {
        if self.refused_from.is_some_and(|it| stream.0 >= it) {
            let code = http3::Code::RequestRejected as u64;
            self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code).ok();
            self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code).ok();
            return;
        }
        let frame_bytes = self.session.headers_frame_bytes(stream);
        http3::log::headers_parsed(self.quic.qlog_streamer(), stream, headers, frame_bytes);
        let path_state = Pushes::path_state(&mut self.quic, &self.session);
        let client = self.quic.path_stats().find(|it| it.active).map(|it| it.peer_addr.ip());
        let waiting_urgency = self.pushes.most_urgent(|it| self.sender.contains(it));
        let request =
            Request { client, path_state, waiting_urgency, ..Request::from_headers(headers) }
                .not_proven_fresh(!self.quic.is_established());
        let response = if request.early && !is_safe(&request.method) {
            Response::empty(425)
        } else {
            self.site.respond(&request)
        };
        self.pushes.note(&request);
        let ahead = self.send_ahead(stream, &response.ahead);
        self.answer(stream, &request, response, ahead.frames, (None, now));
        self.push_all((stream, &request), ahead.pushes, now);
        self.obey_header(stream, &request);
        self.relay_one(stream, now);
    }

    /// Queues a response, with bytes that go ahead of it.
    pub(super) fn answer(
        &mut self,
        stream: StreamId,
        request: &Request,
        mut response: Response,
        ahead: Vec<u8>,
        (push, now): (Option<PushId>, Instant),
    ) {
        self.pushes.begin(stream, schedulers::usual_urgency(&response.resource));
        let resource = self.known_of(&response, request);
        self.begin_response(stream, &mut response);
        if let Body::Later(later) = response.body {
            self.sender.await_response(&mut self.quic, stream, &resource, ahead);
            let hinted = !response.ahead.hints.is_empty();
            self.expect_response(stream, request.clone(), later, (push, hinted));
            return;
        }
        // Of a 304 it would be that of the response in whose place it is (RFC 9110, 8.6).
        let length = (response.status != 304).then(|| response.body.bytes());
        let fields = self.response_fields(stream, &response, length);
        if request.method == "HEAD" {
            response.body = Body::Empty;
            response.ready.clear();
        }
        let Ok(mut frames) = self.session.encode_headers(&fields) else {
            let code = http3::Code::Internal as u64;
            self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code).ok();
            return;
        };
        http3::log::headers_created(self.quic.qlog_streamer(), stream, &fields, frames.len());
        if response.body.bytes() > 0 {
            frames.extend(http3::data_frame_header(response.body.bytes()));
            http3::log::data_created(self.quic.qlog_streamer(), stream, response.body.bytes());
        }
        let when = (Availability::new(&response, now), now);
        let head = Head { ahead, frames };
        self.sender.respond(&mut self.quic, stream, &resource, (head, response.body), when);
    }

    /// What the operator says of a response holds from now on.
    fn begin_response(&mut self, stream: StreamId, response: &mut Response) {
        if let Some(directive) = response.directive.filter(|_| self.signals == SignalUse::Override)
        {
            self.directives.insert(stream, directive);
        }
        if response.resource.main {
            self.begin_page(response.scheme.take());
        }
    }

    /// The header fields of a response; `length` is the body's, where the response's own fields do not say it.
    pub(super) fn response_fields(
        &self,
        stream: StreamId,
        response: &Response,
        length: Option<u64>,
    ) -> Vec<Header> {
        let mut fields = response_headers(response, length, self.alt_svc_port);
        if let Some(directive) = self.directives.get(&stream) {
            let value = directive.to_string();
            fields.push(Header::new(b"priority", value.as_bytes()));
        }
        if response.resource.main && self.session.in_use(Extension::SchemeAnnouncement) {
            let name = self.sender.scheme().as_bytes();
            fields.push(Header::new(http3::SCHEME_FIELD.as_bytes(), name));
        }
        fields
    }
}

fn response_headers(
    response: &Response,
    length: Option<u64>,
    alt_svc_port: Option<u16>,
) -> Vec<Header> {
    let mut fields = vec![
        Header::new(b":status", response.status.to_string().as_bytes()),
        Header::new(b"server", b"utmost"),
    ];
    fields.extend(length.map(|it| Header::new(b"content-length", it.to_string().as_bytes())));
    fields.extend(
        response.headers.iter().map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())),
    );
    if let Some(port) = alt_svc_port {
        fields.push(Header::new(b"alt-svc", format!("h3=\":{port}\"; ma=86400").as_bytes()));
    }
    fields
}
