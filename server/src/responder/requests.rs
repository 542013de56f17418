//! Requests, and the responses that answer them.

use super::Responder;
use crate::head;
use crate::limits::{HEAD_FIELDS, LOAD_NUISANCES};
use crate::outgoing::Stage;
use crate::pushes::Pushes;
use crate::send_loop::Ending;
use crate::site::fields::{Line, to_http3};
use crate::site::{Availability, BackendFailure, Body, Request, Response};
use http::header::{HeaderName, HeaderValue};
use http3::{Code, Extension, Header, NameValue, StreamId};
use std::time::Instant;

impl Responder {
    pub(super) fn on_request(&mut self, stream: StreamId, headers: &[Header], now: Instant) {
        if self.refused_from.is_some_and(|it| stream >= it) {
            return self.sender.connection.shut(stream, Code::RequestRejected);
        }
        self.useless.asked();
        let regular = headers.iter().filter(|it| !it.name().starts_with(b":")).count();
        let fields = headers.iter().map(|it| it.name().len() + it.value().len());
        let held = if regular > HEAD_FIELDS { None } else { self.account.hold_head(fields) };
        if held.is_none() {
            self.nuisances += LOAD_NUISANCES;
        }
        let refused = if held.is_some() { None } else { Some(431) };
        let request = Request {
            held: held.unwrap_or_default(),
            client: Some(self.client()),
            asked_at: Some(now),
            path_state: Pushes::path_state(&mut self.sender.connection),
            waiting_urgency: self.sender.streams.most_urgent(),
            ..Request::from_headers(headers)
        };
        let request = request.not_proven_fresh(!self.sender.connection.is_connected());
        let request = self.shared.options.proxies.seen_through(request);
        let response = head::ask_site(self.shared.site.as_ref(), &request, refused);
        self.pushes.note(&request);
        self.answer(stream, &request, response, Vec::new(), now);
        self.obey_header(stream, &request);
        self.relay_one(stream, now);
    }

    /// Begins the response on `stream`, after the first bytes of the stream.
    pub(super) fn answer(
        &mut self,
        stream: StreamId,
        request: &Request,
        response: Response,
        first_bytes: Vec<u8>,
        now: Instant,
    ) {
        if request.begins_page(&response.resource) {
            self.begin_page(stream, request, &response, now);
        }
        let resource = self.known_of(&response, request);
        let directive = self.signals.directive(response.directive);
        let urgency = schedulers::usual_urgency(&response.resource);
        self.sender.open(stream, &resource, urgency, first_bytes);
        if let Some(record) = self.sender.streams.get_mut(stream) {
            record.directive = directive;
        }
        self.watch(stream, request, &response, now);
        if let Body::Later(later) = response.body {
            let Ok(room) = self.room_for_relay() else {
                return self.respond(stream, request, BackendFailure::Busy.response(), now);
            };
            let is_hinted = !response.ahead.hints.is_empty();
            if request.awaits_continue() {
                self.send_interim(stream, &[Header::new(b":status", b"100")]);
            }
            self.send_ahead(stream, request, &response.ahead, now);
            self.expect(stream, request.clone(), (later, is_hinted), room);
        } else {
            self.respond(stream, request, response, now);
        }
    }

    /// Sends a response whose head, at least, is available, after its interim responses and promises. Its body is
    /// available, too, unless a backend brings it.
    pub(super) fn respond(
        &mut self,
        stream: StreamId,
        request: &Request,
        mut response: Response,
        now: Instant,
    ) {
        self.send_ahead(stream, request, &response.ahead, now);
        self.note_status(stream, response.status);
        let arrives = self.arriving(stream).is_some();
        let Ok(mut frames) = self.encode_head(stream, &response, !arrives) else {
            self.sender.finish(stream, Ending::GivenUp(Code::Internal));
            return;
        };
        if arrives {
            self.note_length(stream, &response);
            self.sender.extend(stream, &frames);
            if let Some(outgoing) = self.sender.streams.outgoing_mut(stream) {
                outgoing.stage = Stage::BodyComes;
            }
            return;
        }
        if request.method == "HEAD" {
            response.body = Body::Empty;
            response.ready.clear();
        }
        let body_bytes = response.body.bytes();
        if body_bytes > 0 {
            frames.extend(self.sender.connection.data_frame_header(stream, body_bytes));
        }
        let availability = Availability::new(&response, now);
        self.sender.streams.respond(stream, &frames, response.body, availability);
    }

    fn note_status(&mut self, stream: StreamId, status: u16) {
        let record = self.sender.streams.get_mut(stream);
        if let Some(watched) = record.and_then(|it| it.watched.as_mut()) {
            watched.answered.status = status;
        }
    }

    /// Records the size of a body that a backend announces.
    fn note_length(&mut self, stream: StreamId, response: &Response) {
        let length = response.fields("content-length").find_map(|it| it.parse().ok());
        if let Some(record) = self.sender.streams.get_mut(stream)
            && length.is_some()
        {
            record.resource.body_bytes = length;
        }
    }

    /// The head of a response as a frame. `is_here`: it has its body itself.
    fn encode_head(
        &mut self,
        stream: StreamId,
        response: &Response,
        is_here: bool,
    ) -> Result<Vec<u8>, http3::Error> {
        let status = response.status.to_string();
        let (before, behind) = head::own_fields(response, is_here, &self.shared.options);
        let record = self.sender.streams.get(stream);
        let priority = record.and_then(|it| it.directive).map(|it| it.to_string());
        let announces = self.sender.connection.session.in_use(Extension::SchemeAnnouncement);
        let names_scheme = response.resource.main || self.changed_with == Some(stream);
        let scheme = (names_scheme && announces).then(|| self.sender.order.scheme());
        let mut fields: Vec<Line<'_>> = Vec::with_capacity(8 + response.headers.len());
        fields.push((":status", status.as_bytes()));
        fields.extend(before.iter().flatten().map(line));
        fields.extend(to_http3(&response.headers));
        fields.extend(behind.iter().flatten().map(line));
        fields.extend(priority.as_ref().map(|it| ("priority", it.as_bytes())));
        fields.extend(scheme.map(|it| (http3::SCHEME_FIELD, it.as_bytes())));
        self.sender.connection.encode_headers(stream, &fields)
    }
}

fn line((name, value): &(HeaderName, HeaderValue)) -> Line<'_> {
    (name.as_str(), value.as_bytes())
}
