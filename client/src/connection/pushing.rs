//! What the server pushes on the way to the page.

use super::{Client, Receiving};
use crate::pushed::{Promised, Verdict};
use http3::{Header, PushId, StreamId};

impl Client {
    /// Lets the server promise as many more as it may have open.
    pub(super) fn allow_pushes(&mut self) {
        if self.pushes > 0 {
            let (stream, bytes) = self.session.allow_pushes(self.pushed.end() + self.pushes);
            self.control.push_back((stream, bytes, false));
        }
    }

    /// A promise: kept if the page needs it and has not got it.
    pub(super) fn promised(&mut self, push: PushId, headers: &[Header], now_us: u64) {
        let promised = Promised::of(headers);
        let wanted = self.resource_of(&promised).filter(|it| self.is_wanted(*it));
        let resource = wanted.filter(|it| self.is_of_use(*it, &promised));
        match self.pushed.promise(push, resource) {
            Verdict::Keep(None) | Verdict::Known => {}
            Verdict::Keep(Some(stream)) => self.adopt_push(stream, resource, now_us),
            Verdict::Refuse(stream) => {
                let (control, bytes) = self.session.cancel_push(push);
                self.control.push_back((control, bytes, false));
                if let Some(stream) = stream {
                    self.stop(stream);
                }
            }
        }
        self.allow_pushes();
        self.write_control();
    }

    /// The stream of a push.
    pub(super) fn push_came(&mut self, stream: StreamId, push: PushId) {
        http3::log::push_stream(self.quic.qlog_streamer(), stream, push);
        match self.pushed.stream(push, stream) {
            Ok(resource) => {
                self.responses.insert(stream, Receiving { resource, ..Receiving::default() });
            }
            Err(_) => self.stop(stream),
        }
    }

    fn resource_of(&self, promised: &Promised) -> Option<usize> {
        let host =
            promised.authority.rsplit_once(':').map_or(promised.authority.as_str(), |it| it.0);
        self.resource_at(host, &promised.path).filter(|_| promised.is_safe)
    }

    /// The page's resource of this host, without port, and path.
    pub(super) fn resource_at(&self, host: &str, path: &str) -> Option<usize> {
        let names = |it: &&corpus::PageResource| {
            let own = self.page.origins.get(it.origin).map_or("localhost", |it| it.host.as_str());
            it.url == path && own.eq_ignore_ascii_case(host)
        };
        self.page.resources.iter().find(names).map(|it| it.id)
    }

    /// Neither cached, nor asked for.
    fn is_wanted(&self, resource: usize) -> bool {
        let asked = self.responses.values().any(|it| it.resource == Some(resource));
        !asked && !self.cache.has(resource) && !self.requests.has_asked(resource)
    }

    /// The promise of a push whose bytes came before it.
    fn adopt_push(&mut self, stream: StreamId, resource: Option<usize>, now_us: u64) {
        let (Some(receiving), Some(resource)) = (self.responses.get_mut(&stream), resource) else {
            return;
        };
        receiving.resource = Some(resource);
        if self.keep_bodies {
            self.outcome.bodies.insert(resource, std::mem::take(&mut receiving.body));
        }
        self.playback.arrived(resource, receiving.body_bytes, now_us);
        if receiving.ended {
            self.finish(stream, None, now_us);
        }
    }

    /// The bytes of a push are not wanted (RFC 9114, 4.6).
    fn stop(&mut self, stream: StreamId) {
        self.responses.remove(&stream);
        let code = http3::Code::RequestCancelled as u64;
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code).ok();
    }

    /// The server gave a push up: what the page waits for is asked for after all.
    pub(super) fn lose_push(&mut self, push: PushId) {
        if let Some(resource) = self.pushed.lost(push) {
            self.requests.again(resource);
        }
    }
}
