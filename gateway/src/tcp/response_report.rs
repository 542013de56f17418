//! Reports a response to observers and limits.

use super::activity::{Activity, now};
use hyper::header::{CONTENT_LENGTH, HeaderMap};
use server::observer::Watched;
use server::site::Request;
use server::{Event, Observers};
use std::sync::Arc;

/// A response in progress. Dropping it notifies the observers.
pub(super) struct ResponseReport {
    pub(super) observers: Observers,
    watched: Option<Watched>,
    /// Bytes of the body, if its head states them.
    length: Option<u64>,
    /// Whether the upload and the source now carry a WebSocket.
    pub(super) is_tunnel: bool,
    activity: Arc<Activity>,
}

impl ResponseReport {
    /// A request is here.
    pub(super) fn begin(
        observers: &Observers,
        activity: &Arc<Activity>,
        request: &Request,
    ) -> Self {
        let asked_at = request.asked_at.unwrap_or_else(now);
        activity.asked(asked_at);
        let watched = (!observers.is_empty()).then(|| {
            let mut watched = Watched::new(request, None, asked_at);
            watched.answered.priority = request.priority().unwrap_or_default();
            watched
        });
        let (observers, activity) = (observers.clone(), Arc::clone(activity));
        Self { observers, watched, length: None, is_tunnel: false, activity }
    }

    pub(super) fn status(&mut self, status: u16) {
        if let Some(watched) = &mut self.watched {
            watched.answered.status = status;
        }
    }

    /// The head of a response with a body is sent.
    pub(super) fn head(&mut self, fields: &HeaderMap) {
        let length = fields.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        self.length = length.and_then(|it| it.parse().ok());
    }

    pub(super) fn opened(&mut self) {
        self.is_tunnel = true;
        self.observers.notice(&Event::TunnelOpened);
        if let Some(watched) = &mut self.watched {
            watched.answered.is_tunnel = true;
        }
    }

    /// The connection has taken `bytes` of the body. The libraries do not request the end once they have the stated
    /// length.
    pub(super) fn took(&mut self, bytes: usize) {
        if let Some(watched) = &mut self.watched {
            watched.answered.bytes += bytes as u64;
            watched.answered.is_complete |= Some(watched.answered.bytes) == self.length;
        }
    }

    /// The connection has taken all of it.
    pub(super) fn completed(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.answered.is_complete = true;
        }
    }
}

impl Drop for ResponseReport {
    fn drop(&mut self) {
        self.activity.answered(now());
        if let Some(watched) = self.watched.take() {
            self.observers.notice(&watched.ended("", now()));
        }
    }
}
