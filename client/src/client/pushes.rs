//! The client's handling of pushes.

use super::Client;
use crate::preload;
use crate::pushed::{Promised, Verdict};
use http3::{Header, PushId, StreamId};
use std::time::Instant;

impl Client {
    /// Lets the server promise as many further pushes as it may have open.
    pub(super) fn allow_pushes(&mut self) {
        if self.visit.options.pushes > 0 {
            let end = self.pushed.end() + self.visit.options.pushes;
            let (stream, bytes) = self.connection.session.allow_pushes(end);
            self.connection.send(stream, bytes, false);
        }
    }

    /// Keeps a promise if this page or a later one needs the resource and nothing else delivers it.
    pub(super) fn on_promise(&mut self, push: PushId, headers: &[Header], now: Instant) {
        let promised = Promised::of(headers);
        let found =
            preload::find(&self.visit.page, http3::host(&promised.authority), &promised.path);
        let is_late = found.is_some_and(|it| self.is_requested(it));
        let url = match found {
            Some(it) => Some(self.visit.page.url(it)).filter(|_| !is_late),
            None => self.url_of_later_page(&promised),
        };
        let wanted = url.filter(|it| promised.is_safe && !self.visit.cache.has(it));
        let wanted = wanted.filter(|it| self.is_of_use(it, &promised));
        let verdict = self.pushed.promise(push, wanted.as_deref(), promised.fields);
        if let (Verdict::Keep(_), Some(resource)) = (&verdict, found) {
            let signals =
                self.visit.signalling.promised(push, &self.visit.page.resources[resource]);
            self.say(signals);
        }
        match verdict {
            Verdict::Keep(None) | Verdict::Known => {}
            Verdict::Keep(Some(stream)) => {
                if self.is_for_us(push, stream, found) {
                    self.adopt_push(stream, found, now);
                }
            }
            Verdict::Refuse(stream) => {
                self.visit.outcome.late_pushes += usize::from(is_late);
                self.cancel_push(push, stream);
            }
        }
        self.allow_pushes();
        self.connection.flush();
    }

    fn cancel_push(&mut self, push: PushId, stream: Option<StreamId>) {
        let (control, bytes) = self.connection.session.cancel_push(push);
        self.connection.send(control, bytes, false);
        if let Some(stream) = stream {
            self.stop(stream);
        }
    }

    /// The head of a response arrived. Returns `false` if it was pushed, and this client does not use it.
    pub(super) fn on_pushed_head(
        &mut self,
        stream: StreamId,
        resource: Option<usize>,
        headers: &[Header],
    ) -> bool {
        let Some(push) = self.pushed.on_stream(stream) else { return true };
        self.pushed.on_head(push, headers);
        self.is_for_us(push, stream, resource)
    }

    /// Whether a pushed response with a complete head also answers the client's own request. If not, it is rejected, and the
    /// resource is requested if the page waits for it.
    fn is_for_us(&mut self, push: PushId, stream: StreamId, resource: Option<usize>) -> bool {
        let own = resource.map(|it| self.visit.own_fields(it)).unwrap_or_default();
        if resource.is_none() || self.pushed.answers(push, &own) {
            return true;
        }
        self.pushed.refuse(push);
        self.cancel_push(push, Some(stream));
        self.responses.remove(&stream);
        self.lose_push(push);
        false
    }

    fn url_of_later_page(&self, promised: &Promised) -> Option<String> {
        let host = http3::host(&promised.authority);
        let mut pages = self.visit.next.iter().map(|it| &it.page);
        pages.find_map(|page| Some(page.url(preload::find(page, host, &promised.path)?)))
    }

    /// Requested, or pushed already.
    fn is_requested(&self, resource: usize) -> bool {
        let asked = self.responses.values().any(|it| it.resource == Some(resource));
        asked || self.visit.requests.has_asked(resource)
    }

    /// Whether a promise is useful with this cache. A promise that names the state of a copy to validate
    /// (`If-Match`) validates it. A promise of "not modified" needs such a copy.
    fn is_of_use(&mut self, url: &str, promised: &Promised) -> bool {
        if let Some(tag) = &promised.if_none_match {
            return self.visit.cache.to_validate(url) == Some(tag.as_str());
        }
        let has_it = promised.if_match.as_ref().is_some_and(|it| self.visit.cache.holds(url, it));
        if has_it && self.visit.cache.validated(url) {
            self.visit.outcome.validated.extend(self.visit.page.find(url));
        }
        !has_it
    }

    /// Adopts a push whose bytes arrived before its promise, or before the navigation to the page that needs it.
    pub(super) fn adopt_push(&mut self, stream: StreamId, resource: Option<usize>, now: Instant) {
        let (Some(receiving), Some(resource)) = (self.responses.get_mut(&stream), resource) else {
            return;
        };
        receiving.resource = Some(resource);
        if self.visit.options.keep_bodies {
            self.visit.outcome.bodies.insert(resource, std::mem::take(&mut receiving.body));
        }
        let (bytes, ended) = (receiving.body_bytes, receiving.ended);
        self.visit.playback.arrived(resource, bytes, self.visit.micros(now));
        if ended {
            self.finish(stream, None, now);
        }
    }

    /// The server abandoned a push. If the page waits for the resource, it is requested.
    pub(super) fn lose_push(&mut self, push: PushId) {
        let lost = self.pushed.lost(push);
        let signals = self.visit.signalling.push_closed(push);
        self.say(signals);
        if let Some(resource) = lost.and_then(|url| self.visit.page.find(&url)) {
            self.visit.requests.again(resource);
        }
    }
}
