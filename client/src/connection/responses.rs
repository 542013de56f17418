//! What comes from the server, and what it means for the page.

use super::Client;
use crate::http_cache::Stored;
use crate::outcome::Problem;
use http3::{Event, Header, NameValue, StreamId};
use std::time::Instant;

impl Client {
    pub(super) fn on_event(&mut self, event: Event, now: Instant) {
        let now_us = self.micros(now);
        match event {
            Event::Settings(_) => {
                let writings = self.signalling.settings_came(&self.session);
                self.write(writings);
            }
            Event::PreferredScheme(name) => {
                self.outcome.announced.get_or_insert_with(|| name.clone());
                let writings = self.signalling.preferred(&name, &self.session);
                self.write(writings);
            }
            Event::Headers { stream, headers, .. } => {
                self.adopt_for_page(&headers);
                for cookie in headers.iter().filter(|it| it.name() == b"set-cookie") {
                    self.outcome.cookies.set(&String::from_utf8_lossy(cookie.value()));
                }
                let frame_bytes = self.session.headers_frame_bytes(stream);
                http3::log::headers_parsed(
                    self.quic.qlog_streamer(),
                    stream,
                    &headers,
                    frame_bytes,
                );
                let status =
                    headers.iter().find(|it| it.name() == b":status").map(|it| it.value().to_vec());
                let status =
                    status.and_then(|it| String::from_utf8(it).ok()?.parse().ok()).unwrap_or(0);
                if let Some(receiving) = self.responses.get_mut(&stream) {
                    receiving.status = status;
                    receiving.stored = Stored::of(&headers).filter(|_| matches!(status, 200 | 304));
                }
                self.preload(stream, status, &headers);
            }
            Event::DataFrame { stream, payload_bytes } => {
                http3::log::data_parsed(self.quic.qlog_streamer(), stream, payload_bytes);
            }
            Event::Data { stream, bytes } => {
                let Some(receiving) = self.responses.get_mut(&stream) else { return };
                receiving.body_bytes += bytes.len() as u64;
                let Some(resource) = receiving.resource else {
                    if self.keep_bodies {
                        receiving.body.extend(bytes);
                    }
                    return;
                };
                self.playback.arrived(resource, receiving.body_bytes, now_us);
                if self.keep_bodies {
                    self.outcome.bodies.entry(resource).or_default().extend(bytes);
                }
            }
            Event::PushPromise { stream, push, headers } => {
                http3::log::promise_parsed(self.quic.qlog_streamer(), (stream, push), &headers);
                self.promised(push, &headers, now_us);
            }
            Event::PushStream { stream, push } => self.push_came(stream, push),
            Event::PushCancelled { push } => self.lose_push(push),
            Event::Finished { stream } => self.finish(stream, None, now_us),
            Event::Reset { stream, code } => self.finish(stream, Some(code), now_us),
            _ => {}
        }
    }

    /// A server may prefer another scheme for this page than for the connection.
    fn adopt_for_page(&mut self, headers: &[Header]) {
        let field = headers.iter().find(|it| it.name() == http3::SCHEME_FIELD.as_bytes());
        if let Some(name) = field.and_then(|it| http3::parse_scheme_field(it.value())) {
            let writings = self.signalling.preferred(&name, &self.session);
            self.write(writings);
            self.outcome.announced = Some(name);
        }
    }

    /// A response is over; a page load goes on as a browser's does, whatever the response was.
    pub(super) fn finish(&mut self, stream: StreamId, reset: Option<u64>, now_us: u64) {
        let Some(receiving) = self.responses.get_mut(&stream) else { return };
        let Some(resource) = receiving.resource else {
            receiving.ended = reset.is_none();
            if reset.is_some() {
                self.responses.remove(&stream);
            }
            return;
        };
        let Some(receiving) = self.responses.remove(&stream) else { return };
        if let Some(push) = self.pushed.on_stream(stream).filter(|_| reset.is_some()) {
            self.lose_push(push);
            return;
        }
        self.session.forget(stream);
        self.signalling.closed(stream);
        self.outcome.statuses.insert(resource, receiving.status);
        if reset.is_none() && self.cache_response(resource, &receiving, now_us) {
            return self.end_if_loaded();
        }
        let known = &self.page.resources[resource];
        let url = known.url.clone();
        if let Some(code) = reset {
            self.outcome.problems.push(Problem::Reset { url, code });
        } else if receiving.status != known.status {
            self.outcome.problems.push(Problem::Status {
                url,
                status: receiving.status,
                expected: known.status,
            });
        } else if receiving.body_bytes != known.bytes {
            self.outcome.problems.push(Problem::Size {
                url,
                bytes: receiving.body_bytes,
                expected: known.bytes,
            });
        }
        if self.keep_bodies {
            self.outcome.bodies.entry(resource).or_default();
        }
        self.requests.came(resource);
        self.playback.completed(resource, now_us);
        self.end_if_loaded();
    }
}
