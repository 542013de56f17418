//! What the client does with pushes.

use super::Client;
use crate::preload;
use crate::pushed::{Promised, Verdict};
use http3::{Header, PushId, StreamId};

impl Client {
    /// Lets the server promise as many more pushes as it may have open.
    pub(super) fn allow_pushes(&mut self) {
        if self.options.pushes > 0 {
            let end = self.pushed.end() + self.options.pushes;
            let (stream, bytes) = self.connection.session.allow_pushes(end);
            self.connection.send(stream, bytes, false);
        }
    }

    /// A promise is kept if the page needs the resource and nothing else brings it.
    pub(super) fn on_promise(&mut self, push: PushId, headers: &[Header], now_us: u64) {
        let promised = Promised::of(headers);
        let found = preload::find(&self.page, http3::host(&promised.authority), &promised.path);
        let wanted = found.filter(|it| promised.is_safe && self.is_wanted(*it));
        let resource = wanted.filter(|it| self.is_of_use(*it, &promised));
        let is_late = found.is_some_and(|it| self.is_requested(it));
        match self.pushed.promise(push, resource) {
            Verdict::Keep(None) | Verdict::Known => {}
            Verdict::Keep(Some(stream)) => self.adopt_push(stream, resource, now_us),
            Verdict::Refuse(stream) => {
                self.outcome.late_pushes += usize::from(is_late);
                let (control, bytes) = self.connection.session.cancel_push(push);
                self.connection.send(control, bytes, false);
                if let Some(stream) = stream {
                    self.stop(stream);
                }
            }
        }
        self.allow_pushes();
        self.connection.flush();
    }

    /// Neither cached nor requested.
    fn is_wanted(&self, resource: usize) -> bool {
        !self.cache.has(resource) && !self.is_requested(resource)
    }

    /// Requested, or pushed already.
    fn is_requested(&self, resource: usize) -> bool {
        let asked = self.responses.values().any(|it| it.resource == Some(resource));
        asked || self.requests.has_asked(resource)
    }

    /// Whether a promise is useful with this cache. A promise that names the state of a copy to validate
    /// (`If-Match`) validates it. A promise of "not modified" needs such a copy.
    fn is_of_use(&mut self, resource: usize, promised: &Promised) -> bool {
        if let Some(tag) = &promised.if_none_match {
            return self.cache.to_validate(resource) == Some(tag.as_str());
        }
        let has_it = promised.if_match.as_ref().is_some_and(|it| self.cache.holds(resource, it));
        if has_it && self.cache.validated(resource) {
            self.outcome.validated.push(resource);
        }
        !has_it
    }

    /// The promise of a push whose bytes came before it.
    fn adopt_push(&mut self, stream: StreamId, resource: Option<usize>, now_us: u64) {
        let (Some(receiving), Some(resource)) = (self.responses.get_mut(&stream), resource) else {
            return;
        };
        receiving.resource = Some(resource);
        if self.options.keep_bodies {
            self.outcome.bodies.insert(resource, std::mem::take(&mut receiving.body));
        }
        self.playback.arrived(resource, receiving.body_bytes, now_us);
        if receiving.ended {
            self.finish(stream, None, now_us);
        }
    }

    /// The server gave a push up. If the page waits for the resource, it is requested after all.
    pub(super) fn lose_push(&mut self, push: PushId) {
        if let Some(resource) = self.pushed.lost(push) {
            self.requests.again(resource);
        }
    }
}
