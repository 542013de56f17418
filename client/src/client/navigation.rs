//! From one page to the next on the same connection.

use super::Client;
use http3::Code;
use std::time::Instant;

impl Client {
    /// Records that the page is loaded. Then its user reads it; after the last page, the connection is
    /// closed.
    pub(super) fn end_if_loaded(&mut self, now: Instant) {
        let are_open = self.responses.values().any(|it| it.resource.is_some());
        if !self.visit.end_page(are_open, now) {
            return;
        }
        self.visit.log_milestones(self.connection.quic.qlog_streamer(), now);
        let page = &self.visit.page;
        let pushed = page.resources.iter().filter_map(|resource| {
            Some((resource.id, self.pushed.brings(&page.url(resource.id))?))
        });
        self.visit.outcome.pushed = pushed.collect();
        self.visit.outcome.refused_pushes = self.pushed.take_refused();
        let path = self.connection.quic.path_stats().find(|it| it.active);
        self.visit.outcome.round_trip = path.and_then(|it| it.min_rtt);
        if self.visit.is_over() {
            self.connection.close(Code::NoError, "done");
            self.destinations.close(Code::NoError, "done");
        }
    }

    /// Navigates to the next page once the user has read this one. Keeps connection, caches and cookies.
    pub(super) fn navigate_if_due(&mut self, now: Instant) {
        if self.visit.navigate_if_due(now) {
            http3::log::navigation(self.connection.quic.qlog_streamer(), &self.visit.page.name);
            self.adopt_waiting_pushes(now);
        }
    }

    /// Adopts pushes for this page that arrived while others were loaded. Complete ones may be used at
    /// once.
    fn adopt_waiting_pushes(&mut self, now: Instant) {
        let waiting = self.pushed.forget_used(|it| self.responses.contains_key(&it));
        for (url, stream) in waiting {
            let resource = self.visit.page.find(&url);
            if resource.is_some() {
                self.adopt_push(stream, resource, now);
            } else if let Some(receiving) = self.responses.get_mut(&stream) {
                receiving.resource = None;
            }
        }
    }
}
