//! The body of a response, piece by piece, as it is ready.

use super::activity::now;
use crate::limits::PIECE_BYTES;
use crate::site::{Availability, Body, Response};
use crate::upstream::{Later, Piece};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::watch::Receiver;
use tokio::time::sleep_until;

/// Where the bytes of a response come from.
pub(super) enum Source {
    /// The site has them.
    Site(Box<OfSite>),
    /// A backend brings them, and says when there is news.
    Backend(Arc<Later>, Receiver<()>),
}

pub(super) struct OfSite {
    body: Body,
    /// The whole body, if it is in memory.
    shared: Option<Bytes>,
    availability: Availability,
    offset: u64,
}

/// The rest of a body does not come: a file has become shorter, or a backend has broken off.
#[derive(Debug, thiserror::Error)]
#[error("the rest of the body does not come")]
pub(super) struct Broken;

impl Source {
    /// No body.
    pub(super) fn empty() -> Self {
        Self::of(Response::default())
    }

    /// The body of a response that was asked for now.
    pub(super) fn of(response: Response) -> Self {
        let availability = Availability::new(&response, now());
        let shared = response.body.shared();
        Self::Site(Box::new(OfSite { body: response.body, shared, availability, offset: 0 }))
    }

    /// Waits until the head may go.
    pub(super) async fn head(&self) {
        if let Self::Site(it) = self
            && let Some(first) = it.availability.times().next().filter(|it| *it > now())
        {
            sleep_until(first.into()).await;
        }
    }

    /// Whether there is nothing more of it, as far as that is known.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Site(it) => it.offset >= it.body.bytes(),
            Self::Backend(..) => false,
        }
    }

    /// The next bytes, at most [`PIECE_BYTES`]; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        match self {
            Self::Site(it) => it.next().await,
            Self::Backend(later, news) => loop {
                match later.next(PIECE_BYTES) {
                    Some(Piece::Body(bytes)) => return Ok(Some(bytes.into())),
                    Some(Piece::End(end)) => return end.map(|()| None).map_err(|_| Broken),
                    Some(Piece::Hints(_) | Piece::Head(_)) => {}
                    None => news.changed().await.map_err(|_| Broken)?,
                }
            },
        }
    }
}

impl OfSite {
    async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        if self.offset >= self.body.bytes() {
            return Ok(None);
        }
        let ready = self.ready().await;
        let count = (ready - self.offset).min(PIECE_BYTES as u64);
        let bytes = self.read(usize::try_from(count).unwrap_or(PIECE_BYTES))?;
        self.offset += count;
        Ok(Some(bytes))
    }

    /// Waits until there is more; how much there is then in all.
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

    fn read(&self, count: usize) -> Result<Bytes, Broken> {
        if let Some(shared) = &self.shared {
            let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
            let is_there = start.checked_add(count).is_some_and(|it| it <= shared.len());
            return if is_there { Ok(shared.slice(start..start + count)) } else { Err(Broken) };
        }
        let mut buffer = vec![0; count];
        self.body.read_at(self.offset, &mut buffer).map_err(|_| Broken)?;
        Ok(buffer.into())
    }
}
