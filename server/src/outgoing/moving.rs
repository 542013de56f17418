//! Parts of a response that continue on other streams.

use super::{Outgoing, Stage};
use crate::site::{Availability, Body};
use std::collections::VecDeque;
use std::sync::Arc;

impl Outgoing {
    /// Ends it at the last committed byte, and returns the rest, which continues elsewhere.
    pub(crate) fn cut(&mut self) -> Self {
        let mut rest = self.part(self.committed);
        rest.arriving = self.arriving.take();
        let kept = usize::try_from(self.committed.saturating_sub(self.offered));
        self.frames.truncate(kept.unwrap_or(usize::MAX));
        self.frames_end = self.frames_end.min(self.committed);
        self.available = self.committed;
        self.availability = Availability::default();
        self.stage = Stage::GoesOnElsewhere;
        rest
    }

    /// Its available bytes from the offset `start` of its stream on, which must be kept, for another stream. A backend does
    /// not add to it.
    pub(crate) fn part(&self, start: u64) -> Self {
        let gone = usize::try_from(start.saturating_sub(self.kept_from())).unwrap_or(usize::MAX);
        let frames: VecDeque<u8> = self.frames.iter().skip(gone).copied().collect();
        let body_from = start.saturating_sub(self.frames_end);
        Self {
            stage: self.stage,
            frames_end: frames.len() as u64,
            frames,
            body: rest_of(&self.body, body_from),
            availability: self.availability.after(body_from),
            available: self.available.saturating_sub(start),
            ..Self::default()
        }
    }

    /// The first byte of its stream that can still be read: frames are forgotten when they are offered, and a body is not.
    pub(crate) fn kept_from(&self) -> u64 {
        self.offered.min(self.frames_end)
    }

    /// The same on a stream that `header` precedes.
    pub(crate) fn behind(mut self, header: &[u8]) -> Self {
        for byte in header.iter().rev() {
            self.frames.push_front(*byte);
        }
        let bytes = header.len() as u64;
        self.frames_end += bytes;
        self.available += bytes;
        self
    }

    /// The same on a stream on which `bytes` were sent before.
    pub(crate) fn after(mut self, bytes: u64) -> Self {
        for offset in
            [&mut self.frames_end, &mut self.available, &mut self.committed, &mut self.offered]
        {
            *offset += bytes;
        }
        self
    }
}

fn rest_of(body: &Body, from: u64) -> Body {
    let bytes = body.bytes().saturating_sub(from);
    match body {
        _ if from == 0 => body.clone(),
        Body::Part { of, from: start, .. } => {
            Body::Part { of: Arc::clone(of), from: start + from, bytes }
        }
        whole => Body::Part { of: Arc::new(whole.clone()), from, bytes },
    }
}
