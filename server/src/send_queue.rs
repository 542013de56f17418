//! Responses on their way out: which bytes the server has, which are committed to the order of sending,
//! and which the transport has taken.

use crate::site::{Availability, Body};
use schedulers::StreamId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// All responses of one connection that are not yet wholly with the transport.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    responses: BTreeMap<StreamId, Outgoing>,
    releases: BTreeSet<(Instant, StreamId)>,
}

/// One response: `head` (the HEADERS frame and the header of the DATA frame), then the body.
#[derive(Debug)]
struct Outgoing {
    head: Vec<u8>,
    body: Body,
    availability: Availability,
    available: u64,
    committed: u64,
    offered: u64,
}

/// What is left of a response after some of it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// More is ready.
    Ready,
    /// More will come later.
    Waiting,
    /// All of it is gone.
    Nothing,
}

impl SendQueue {
    /// Takes a response that was asked for at `now`.
    pub(crate) fn insert(
        &mut self,
        stream: StreamId,
        head: Vec<u8>,
        body: Body,
        availability: Availability,
    ) {
        for at in availability.times() {
            self.releases.insert((at, stream));
        }
        let outgoing =
            Outgoing { head, body, availability, available: 0, committed: 0, offered: 0 };
        self.responses.insert(stream, outgoing);
    }

    /// Drops a response that nobody wants any more.
    pub(crate) fn remove(&mut self, stream: StreamId) {
        self.responses.remove(&stream);
        self.releases.retain(|(_, released)| *released != stream);
    }

    /// Whether the response is still here.
    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.responses.contains_key(&stream)
    }

    /// How many responses there are.
    pub(crate) fn len(&self) -> usize {
        self.responses.len()
    }

    /// Whether every response has gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }

    /// The streams that have bytes by `now` which they had not before.
    pub(crate) fn release(&mut self, now: Instant) -> Vec<StreamId> {
        let mut released = Vec::new();
        while let Some((_, stream)) = self.releases.first().copied().filter(|(at, _)| *at <= now) {
            self.releases.pop_first();
            let Some(outgoing) = self.responses.get_mut(&stream) else { continue };
            outgoing.available = outgoing.head_and(outgoing.availability.body_bytes_at(now));
            if outgoing.available > outgoing.committed {
                released.push(stream);
            }
        }
        released
    }

    /// When `release` has more to give.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.releases.first().map(|(at, _)| *at)
    }

    /// Stream bytes that are here and not committed.
    pub(crate) fn pending(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.available - it.committed)
    }

    /// The stream offset of the next byte to commit.
    pub(crate) fn committed(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.committed)
    }

    /// The stream offset of the next byte to offer to the transport.
    pub(crate) fn offset(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.offered)
    }

    /// Commits `bytes` of a stream to the order of sending.
    pub(crate) fn commit(&mut self, stream: StreamId, bytes: u64) -> Left {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return Left::Nothing };
        debug_assert!(
            outgoing.committed + bytes <= outgoing.available,
            "only what is here can be committed"
        );
        outgoing.committed += bytes;
        if outgoing.committed == outgoing.stream_bytes() {
            Left::Nothing
        } else if outgoing.available > outgoing.committed {
            Left::Ready
        } else {
            Left::Waiting
        }
    }

    /// Reads the next committed bytes into `buffer`; the flag says that they are the stream's last.
    pub(crate) fn read(&self, stream: StreamId, buffer: &mut [u8]) -> std::io::Result<bool> {
        let Some(outgoing) = self.responses.get(&stream) else { return Ok(false) };
        let head = outgoing
            .head
            .get(usize::try_from(outgoing.offered).unwrap_or(usize::MAX)..)
            .unwrap_or_default();
        let from_head = head.len().min(buffer.len());
        let (start, rest) = buffer.split_at_mut(from_head);
        start.copy_from_slice(&head[..from_head]);
        let body_offset =
            (outgoing.offered + from_head as u64).saturating_sub(outgoing.head.len() as u64);
        outgoing.body.read_at(body_offset, rest)?;
        Ok(outgoing.offered + buffer.len() as u64 == outgoing.stream_bytes())
    }

    /// The transport took `bytes`; a response that is wholly taken is dropped.
    pub(crate) fn offered(&mut self, stream: StreamId, bytes: u64) -> bool {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return true };
        outgoing.offered += bytes;
        debug_assert!(outgoing.offered <= outgoing.committed, "only committed bytes are offered");
        let done = outgoing.offered == outgoing.stream_bytes();
        if done {
            self.remove(stream);
        }
        done
    }
}

impl Outgoing {
    fn head_and(&self, body_bytes: Option<u64>) -> u64 {
        body_bytes.map_or(0, |it| self.head.len() as u64 + it)
    }

    fn stream_bytes(&self) -> u64 {
        self.head.len() as u64 + self.body.bytes()
    }
}
