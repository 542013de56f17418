//! One outgoing response, from its request to the last byte that the transport takes.

#[cfg(feature = "experiments")]
mod moving;

use crate::account::Share;
use crate::coming::{Coming, Next};
use crate::limits::AHEAD_BYTES;
use crate::read_ahead::{Page, Pages, WORTH_A_CALL_BYTES};
use crate::site::{Availability, BackendFailure, Body};
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Instant;

/// An empty DATA frame: the last bytes of a response whose end arrived separately.
const EMPTY_DATA: [u8; 2] = [0, 0];

/// A response that the transport has not completely taken.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    pub(crate) stage: Stage,
    /// Frames that were not offered yet; of a response from a backend, these are all its bytes.
    frames: VecDeque<u8>,
    /// The stream offset at which the frames end, and the body begins.
    frames_end: u64,
    /// Bytes of the frames that are not part of the body.
    overhead: u64,
    body: Body,
    /// Bytes of the body that packets share.
    page: Page,
    availability: Availability,
    /// The exchange that brings the rest of a response from a backend.
    pub(crate) arriving: Option<Arriving>,
    available: u64,
    committed: u64,
    offered: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its head is awaited; interim responses and promises may be sent.
    #[default]
    AwaitsHead,
    /// The backend wants the request again after the handshake (RFC 8470, 5.2).
    TooEarly,
    /// Its head is here, and its body is awaited.
    BodyComes,
    /// Its length is known.
    Whole,
    /// Only the available bytes are sent here. Its stream has no end yet.
    #[cfg(feature = "experiments")]
    GoesOnElsewhere,
}

#[derive(Debug)]
pub(crate) struct Arriving {
    pub(crate) coming: Coming,
    /// The backend may have more than there was room for.
    full: bool,
    /// Why the rest does not arrive; the client learns it after the bytes that did.
    trouble: Option<BackendFailure>,
    /// Its share of the common memory.
    pub(crate) room: Option<Share>,
}

impl Arriving {
    pub(crate) fn new(coming: Coming, room: Option<Share>) -> Self {
        Self { coming, full: false, trouble: None, room }
    }
}

/// The rest of a response after some of it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// More can be sent now.
    Ready,
    /// More will come later.
    Waiting,
    Nothing,
}

impl Outgoing {
    pub(crate) fn new(frames: Vec<u8>) -> Self {
        let frames_end = frames.len() as u64;
        let frames = frames.into();
        Self { frames, frames_end, overhead: frames_end, available: frames_end, ..Self::default() }
    }

    /// The times at which more of it becomes available.
    pub(super) fn times(&self) -> impl Iterator<Item = Instant> + '_ {
        self.availability.times()
    }

    /// Adds the head, and a body of known length that becomes available at known times.
    pub(super) fn respond(&mut self, head: &[u8], body: Body, availability: Availability) {
        self.frames.extend(head);
        self.frames_end += head.len() as u64;
        self.overhead += head.len() as u64;
        self.body = body;
        self.availability = availability;
        self.finish();
    }

    pub(crate) fn extend(&mut self, frames: &[u8]) {
        debug_assert!(self.stage != Stage::Whole, "nothing follows an end");
        self.frames.extend(frames);
        self.frames_end += frames.len() as u64;
        self.overhead += frames.len() as u64;
        self.available += frames.len() as u64;
    }

    /// Marks `body_bytes` of the most recently added bytes as body, not framing.
    pub(crate) fn carries(&mut self, body_bytes: u64) {
        self.overhead = self.overhead.saturating_sub(body_bytes);
    }

    /// Bytes of the body that the transport has.
    pub(super) fn body_offered(&self) -> u64 {
        self.offered.saturating_sub(self.overhead)
    }

    /// Nothing more will be added. The end of a stream travels with a byte, so there must be one to commit.
    pub(super) fn end(&mut self) {
        if self.stage != Stage::Whole && self.pending() == 0 {
            self.extend(&EMPTY_DATA);
        }
        self.finish();
    }

    fn finish(&mut self) {
        self.stage = Stage::Whole;
        self.arriving = None;
    }

    /// The next part that has arrived, if there is room for it.
    pub(crate) fn next_piece(&mut self) -> Option<Next> {
        let room = AHEAD_BYTES.saturating_sub(self.frames.len());
        let arriving = self.arriving.as_mut().filter(|_| self.stage != Stage::TooEarly)?;
        arriving.full = room == 0;
        let trouble = arriving.trouble.take().map(Next::Broken);
        trouble.or_else(|| arriving.coming.next(room))
    }

    /// The rest does not arrive, which the next piece will show again.
    pub(crate) fn lacks_rest(&mut self, trouble: BackendFailure) {
        if let Some(arriving) = &mut self.arriving {
            arriving.trouble = Some(trouble);
        }
    }

    /// Whether there is room again for what the backend may have.
    pub(super) fn wants_more(&self) -> bool {
        self.frames.len() < AHEAD_BYTES / 2 && self.arriving.as_ref().is_some_and(|it| it.full)
    }

    /// Makes available what has arrived by `now`. Returns `true` if something can be committed.
    pub(super) fn release(&mut self, now: Instant) -> bool {
        if let Some(body_bytes) = self.availability.body_bytes_at(now) {
            self.available = self.frames_end + body_bytes;
        }
        self.pending() > 0
    }

    /// Available stream bytes that are not committed.
    pub(crate) fn pending(&self) -> u64 {
        self.available.saturating_sub(self.committed)
    }

    /// The stream offset of the next byte to commit.
    pub(crate) fn committed(&self) -> u64 {
        self.committed
    }

    /// The stream offset of the next byte to offer to the transport.
    pub(crate) fn offset(&self) -> u64 {
        self.offered
    }

    /// The length of the stream, once it is known.
    pub(crate) fn stream_bytes(&self) -> Option<u64> {
        match self.stage {
            Stage::Whole => Some(self.frames_end + self.body.bytes()),
            #[cfg(feature = "experiments")]
            Stage::GoesOnElsewhere => Some(self.available),
            Stage::AwaitsHead | Stage::TooEarly | Stage::BodyComes => None,
        }
    }

    pub(crate) fn commit(&mut self, bytes: u64) -> Left {
        debug_assert!(bytes <= self.pending(), "only what is here can be committed");
        self.committed += bytes;
        if self.stream_bytes() == Some(self.committed) {
            Left::Nothing
        } else if self.pending() > 0 {
            Left::Ready
        } else {
            Left::Waiting
        }
    }

    /// Whether these are the last bytes of the stream.
    pub(crate) fn is_end(&self, bytes: u64) -> bool {
        self.stage == Stage::Whole && self.stream_bytes() == Some(self.offered + bytes)
    }

    /// The next committed bytes, or some of them, if they are in memory or are read into it ahead of others. Otherwise
    /// [`Self::read`] copies them.
    pub(crate) fn share(&mut self, bytes: usize, pages: &Pages) -> std::io::Result<Option<Bytes>> {
        if !self.frames.is_empty() {
            return Ok(None);
        }
        self.page.share(&self.body, self.offered - self.frames_end, bytes, pages)
    }

    /// How many of the next `bytes` are copied at once: all that fit in a packet. If there are more, only the frames, because
    /// the body after them can be shared.
    pub(crate) fn copied(&self, bytes: usize) -> usize {
        if self.frames.is_empty() || bytes <= WORTH_A_CALL_BYTES {
            return bytes;
        }
        bytes.min(self.frames.len())
    }

    /// Reads the next committed bytes into `buffer`.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> std::io::Result<()> {
        let end = self.offered + buffer.len() as u64;
        let (front, back) = self.frames.as_slices();
        let from_front = front.len().min(buffer.len());
        let (start, rest) = buffer.split_at_mut(from_front);
        start.copy_from_slice(&front[..from_front]);
        let from_back = back.len().min(rest.len());
        let (start, rest) = rest.split_at_mut(from_back);
        start.copy_from_slice(&back[..from_back]);
        if !rest.is_empty() {
            let start = end - rest.len() as u64 - self.frames_end;
            self.body.read_at(start, rest)?;
        }
        Ok(())
    }

    /// The transport took `bytes`.
    pub(super) fn offered(&mut self, bytes: u64) {
        self.offered += bytes;
        debug_assert!(self.offered <= self.committed, "only committed bytes are offered");
        let frames =
            usize::try_from(bytes).map_or(self.frames.len(), |it| it.min(self.frames.len()));
        self.frames.drain(..frames);
    }

    /// Whether the transport has everything that is sent here.
    pub(crate) fn is_sent(&self) -> bool {
        self.stream_bytes() == Some(self.offered)
    }
}
