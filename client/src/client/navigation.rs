//! From one page to the next on the same connection.

use super::Client;
use crate::cancelling::Cancelling;
use crate::outcome::Outcome;
use crate::playback::Playback;
use crate::requests::Requests;
use crate::{Cancels, NextPage};
use http3::Code;
use std::sync::Arc;
use std::time::Instant;

impl Client {
    /// Notes that the page is loaded. Then its user reads it; after the last page the connection is closed.
    pub(super) fn end_if_loaded(&mut self, now: Instant) {
        let open = self.responses.values().any(|it| it.resource.is_some());
        let is_loaded = self.playback.is_done() && self.requests.is_empty() && !open;
        if !is_loaded || !self.cancelling.is_tail_over() || self.outcome.completed {
            return;
        }
        self.outcome.completed = true;
        self.playback.run_on();
        self.log_milestones(self.micros(now));
        let page = &self.page;
        let pushed = page.resources.iter().filter_map(|resource| {
            Some((resource.id, self.pushed.brings(&page.url(resource.id))?))
        });
        self.outcome.pushed = pushed.collect();
        self.outcome.refused_pushes = self.pushed.take_refused();
        let path = self.connection.quic.path_stats().find(|it| it.active);
        self.outcome.round_trip = path.and_then(|it| it.min_rtt);
        if let Some(next) = self.next.front() {
            self.reads_until = Some(now + next.think);
        } else {
            self.connection.close(Code::NoError, "done");
            self.destinations.close(Code::NoError, "done");
        }
    }

    /// Goes on to the next page once the user has read this one. Connection, caches and cookies stay.
    pub(super) fn navigate_if_due(&mut self, now: Instant) {
        if self.reads_until.take_if(|until| *until <= now).is_none() {
            return;
        }
        let Some(NextPage { page, .. }) = self.next.pop_front() else { return };
        http3::log::navigation(self.connection.quic.qlog_streamer(), &page.name);
        self.page = page;
        self.playback = Playback::new(Arc::clone(&self.page));
        self.playback.start(self.micros(now));
        self.requests = Requests::new(self.options.hold_back);
        self.cancelling = Cancelling::new(&Cancels::default());
        self.begin_outcome();
        self.cache = self.outcome.cache.clone();
        self.adopt_waiting_pushes(now);
    }

    /// A page has its own outcome, with what stays of the one before.
    fn begin_outcome(&mut self) {
        let mut before = std::mem::take(&mut self.outcome);
        let mut earlier = std::mem::take(&mut before.earlier);
        self.outcome = Outcome {
            announced: before.announced.clone(),
            cookies: before.cookies.clone(),
            cache: before.cache.clone(),
            ..Outcome::default()
        };
        earlier.push(before);
        self.outcome.earlier = earlier;
    }

    /// Pushes that came for this page while others were loaded. One that is complete may be used at once.
    fn adopt_waiting_pushes(&mut self, now: Instant) {
        let waiting = self.pushed.forget_used(|it| self.responses.contains_key(&it));
        for (url, stream) in waiting {
            let resource = self.page.find(&url);
            if resource.is_some() {
                self.adopt_push(stream, resource, now);
            } else if let Some(receiving) = self.responses.get_mut(&stream) {
                receiving.resource = None;
            }
        }
    }
}
