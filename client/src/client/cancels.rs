//! Cancels: responses that the user abandons, and unwanted pushes.

use super::Client;
use crate::cancelling::What;
use http3::{Code, StreamId};
use std::time::Instant;

impl Client {
    /// Cancels the responses that the user abandons at this moment.
    pub(super) fn cancel_due(&mut self, now: Instant) {
        self.visit.cancelling.end_silence(now);
        while let Some(what) = self.visit.cancelling.due(now) {
            let open = self.responses.iter().filter(|(_, response)| match what {
                What::Resource(it) => response.resource == Some(it),
                What::Everything => true,
            });
            let open: Vec<StreamId> = open.map(|(stream, _)| *stream).collect();
            for stream in open {
                self.cancel(stream, now);
            }
        }
    }

    /// Cancels a response (RFC 9114, 4.1.1). The page load continues as a browser's does after an
    /// error.
    fn cancel(&mut self, stream: StreamId, now: Instant) {
        let Some(receiving) = self.responses.remove(&stream) else { return };
        self.connection.shut(stream, Code::RequestCancelled);
        self.destinations.cancelled(stream);
        self.connection.session.forget(stream);
        let signals = self.visit.signalling.closed(stream);
        self.say(signals);
        self.visit.cancelling.cancelled(now);
        if let Some(resource) = receiving.resource {
            self.visit.outcome.cancelled.push(resource);
            self.visit.requests.came(resource);
            self.visit.playback.completed(resource, self.visit.micros(now));
        }
    }

    /// Cancels the rest of a push (RFC 9114, 4.6).
    pub(super) fn stop(&mut self, stream: StreamId) {
        self.responses.remove(&stream);
        let code = Code::RequestCancelled.value();
        self.connection.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code).ok();
        self.destinations.cancelled(stream);
    }

    /// Closes the connection once the user has left the page and the tails are over.
    pub(super) fn end_if_left(&mut self) {
        if self.visit.cancelling.is_tail_over() && !self.visit.outcome.left {
            self.visit.outcome.left = true;
            self.connection.close(Code::NoError, "left");
            self.destinations.close(Code::NoError, "left");
        }
    }
}
