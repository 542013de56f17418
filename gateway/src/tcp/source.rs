//! The body of a response, piece by piece, as it becomes ready.

use super::activity::now;
use super::waiting::{Room, Waiting};
use crate::limits::PIECE_BYTES;
use bytes::Bytes;
use hyper::header::HeaderMap;
use server::coming::{Coming, Next};
use server::site::{Availability, Body, Response};
use tokio::sync::watch::Receiver;
use tokio::time::sleep_until;

/// The source of a response's bytes.
pub(super) enum Source {
    Site(Box<OfSite>),
    Backend(Box<OfBackend>),
}

/// The output of a backend, with a notification of events.
pub(super) struct OfBackend {
    pub(super) coming: Coming,
    pub(super) news: Receiver<()>,
    /// The room for its waiting bytes.
    _room: Room,
    /// Bytes that have arrived and were not taken yet.
    come: Bytes,
    /// The trailer fields, which arrive with the end.
    trailers: HeaderMap,
}

pub(super) struct OfSite {
    body: Body,
    /// The whole body, if it is in memory.
    shared: Option<Bytes>,
    availability: Availability,
    offset: u64,
}

/// The rest of a body will not arrive: a file has become shorter, or a backend has disconnected.
#[derive(Debug, thiserror::Error)]
#[error("the rest of the body does not arrive")]
pub(super) struct Broken;

impl Source {
    /// No body.
    pub(super) fn empty() -> Self {
        Self::of(Response::default())
    }

    /// The body of a response that was requested now.
    pub(super) fn of(response: Response) -> Self {
        let availability = Availability::new(&response, now());
        let shared = response.body.shared();
        Self::Site(Box::new(OfSite { body: response.body, shared, availability, offset: 0 }))
    }

    /// Waits until the head may be sent.
    pub(super) async fn head(&self) {
        if let Self::Site(it) = self
            && let Some(first) = it.availability.times().next().filter(|it| *it > now())
        {
            sleep_until(first.into()).await;
        }
    }

    /// Whether nothing more follows, as far as is known.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Site(it) => it.offset >= it.body.bytes(),
            Self::Backend(_) => false,
        }
    }

    /// Waits until there is more, and returns the number of bytes that are ready. 0: that was all.
    pub(super) async fn ready(&mut self) -> Result<usize, Broken> {
        match self {
            Self::Site(it) => Ok(it.ready_bytes().await),
            Self::Backend(it) => it.ready_bytes().await,
        }
    }

    /// The trailer fields, after the whole body was taken; empty if there are none.
    pub(super) fn trailers(&mut self) -> HeaderMap {
        match self {
            Self::Site(_) => HeaderMap::new(),
            Self::Backend(it) => std::mem::take(&mut it.trailers),
        }
    }

    /// Takes at most `most` of the ready bytes, once there is room for them.
    pub(super) async fn take(&mut self, most: usize, waiting: &Waiting) -> Result<Bytes, Broken> {
        match self {
            Self::Site(it) => it.take(most, waiting).await,
            Self::Backend(it) => Ok(it.come.split_to(most.min(it.come.len()))),
        }
    }
}

impl OfBackend {
    pub(super) fn new(coming: Coming, news: Receiver<()>, room: Room) -> Self {
        Self { coming, news, _room: room, come: Bytes::new(), trailers: HeaderMap::new() }
    }

    async fn ready_bytes(&mut self) -> Result<usize, Broken> {
        while self.come.is_empty() {
            match self.coming.next(PIECE_BYTES) {
                Some(Next::Body(bytes)) => self.come = bytes.into(),
                Some(Next::End(trailers)) => {
                    self.trailers = trailers;
                    return Ok(0);
                }
                Some(Next::Broken(_)) => return Err(Broken),
                Some(Next::Ahead(_) | Next::Head(..) | Next::TooEarly) => {}
                None => self.news.changed().await.map_err(|_| Broken)?,
            }
        }
        Ok(self.come.len())
    }
}

impl OfSite {
    /// All that is ready, so that a response keeps its turn until its last byte.
    async fn ready_bytes(&self) -> usize {
        if self.offset >= self.body.bytes() {
            return 0;
        }
        let ready = self.ready().await - self.offset;
        usize::try_from(ready).unwrap_or(usize::MAX)
    }

    async fn take(&mut self, count: usize, waiting: &Waiting) -> Result<Bytes, Broken> {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(count);
        let bytes = match &self.shared {
            Some(shared) if end > shared.len() => return Err(Broken),
            Some(shared) => shared.slice(start..end),
            None => {
                let room = waiting.room().await;
                let mut bytes = vec![0; count];
                self.body.read_at(self.offset, &mut bytes).map_err(|_| Broken)?;
                room.holds(bytes)
            }
        };
        self.offset += count as u64;
        Ok(bytes)
    }

    /// Waits until there is more, and returns the new total.
    async fn ready(&self) -> u64 {
        loop {
            let now = now();
            let ready = self.availability.body_bytes_at(now).unwrap_or(0);
            if ready > self.offset {
                return ready;
            }
            let next = self.availability.times().find(|it| *it > now);
            let Some(next) = next else { return self.body.bytes() };
            sleep_until(next.into()).await;
        }
    }
}
