//! Which streams have bytes to send, and which of them flow control holds back.

use std::collections::{BTreeMap, BTreeSet};

use crate::assembly::StreamFrame;
use crate::trace::Trace;

/// The streams of a sender, as far as a log has been read.
pub(super) struct Streams<'a> {
    trace: &'a Trace,
    has_calls: bool,
    all: BTreeMap<u64, Stream>,
    /// Streams with bytes that are not at their own limit.
    free: BTreeSet<u64>,
    /// Streams with bytes that are at their limit.
    limited: BTreeSet<u64>,
    /// Streams with written but unsent bytes.
    written: BTreeSet<u64>,
    /// Bytes of all streams that count for the connection's flow control.
    pub(super) sent_bytes: u64,
    /// The largest frame so far.
    pub(super) frame_bytes: u64,
    /// Bytes that the streams with bytes will still send in this log.
    pub(super) left_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    /// How far it was sent.
    sent: u64,
    /// The end of its sent bytes in this log; `None` if there are none.
    end: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) is_requested: bool,
    /// How far its application wrote it.
    pub(super) written: u64,
    /// Whether the scheduler knows that it has bytes.
    pub(super) is_ready: bool,
    /// How far its bytes were charged.
    pub(super) charged: u64,
    /// Its part of `left_bytes`.
    counted_bytes: u64,
}

impl<'a> Streams<'a> {
    pub(super) fn new(trace: &'a Trace, has_calls: bool) -> Self {
        let mut all = BTreeMap::<u64, Stream>::new();
        for frame in &trace.timeline.frames {
            let stream = all.entry(frame.stream).or_default();
            let end = frame.offset.saturating_add(frame.bytes);
            stream.end = stream.end.max(Some(end));
        }
        let (free, limited, written) = <(BTreeSet<u64>, BTreeSet<u64>, BTreeSet<u64>)>::default();
        let (sent_bytes, frame_bytes, left_bytes) = (0, 0, 0);
        Self { trace, has_calls, all, free, limited, written, sent_bytes, frame_bytes, left_bytes }
    }

    pub(super) fn has_bytes(&self) -> bool {
        !self.free.is_empty() || !self.limited.is_empty()
    }

    /// Whether all streams with bytes are at their limit.
    pub(super) fn are_limited(&self) -> bool {
        self.free.is_empty() && !self.limited.is_empty()
    }

    /// Whether there certainly are bytes, not only probably.
    pub(super) fn is_certain(&self) -> bool {
        self.has_calls || !self.written.is_empty()
    }

    pub(super) fn frame(&mut self, frame: &StreamFrame) {
        self.frame_bytes = self.frame_bytes.max(frame.bytes);
        let end = frame.offset.saturating_add(frame.bytes);
        let mut fresh = 0;
        let is_own = self.trace.is_own_data(frame.stream);
        self.change(frame.stream, |stream| {
            stream.is_requested |= is_own;
            fresh = end.saturating_sub(stream.sent);
            stream.sent = end.max(stream.sent);
        });
        self.sent_bytes = self.sent_bytes.saturating_add(fresh);
    }

    pub(super) fn change(&mut self, id: u64, change: impl FnOnce(&mut Stream)) {
        let stream = self.all.entry(id).or_default();
        change(stream);
        let before = stream.counted_bytes;
        let limit = stream.limit.or_else(|| self.trace.flow_control.as_ref()?.initial_of(id));
        let is_limited = stream.is_at(limit, self.frame_bytes);
        let has_bytes = if self.has_calls {
            // The scheduler treats a stream at its limit as having nothing.
            stream.is_ready
                || stream.charged > stream.sent
                || is_limited && stream.charged > 0 && stream.left_bytes() > 0
        } else {
            stream.is_requested && stream.left_bytes() > 0
        };
        stream.counted_bytes = if has_bytes { stream.left_bytes() } else { 0 };
        self.left_bytes = self.left_bytes.saturating_sub(before);
        self.left_bytes = self.left_bytes.saturating_add(stream.counted_bytes);
        let is_written = stream.is_requested && stream.written > stream.sent;
        set(&mut self.free, id, has_bytes && !is_limited);
        set(&mut self.limited, id, has_bytes && is_limited);
        set(&mut self.written, id, is_written);
    }
}

impl Stream {
    /// Bytes that it will still send in this log; a large number if it sends nothing, because the amount is
    /// then unknown.
    fn left_bytes(&self) -> u64 {
        self.end.map_or(u64::from(u32::MAX), |end| end.saturating_sub(self.sent))
    }

    /// Whether `limit` leaves no room for a frame of `frame_bytes`, or for the rest.
    fn is_at(&self, limit: Option<u64>, frame_bytes: u64) -> bool {
        let wanted = frame_bytes.min(self.left_bytes());
        limit.is_some_and(|limit| limit.saturating_sub(self.sent) < wanted)
    }
}

fn set(streams: &mut BTreeSet<u64>, stream: u64, is_in: bool) {
    if is_in {
        streams.insert(stream);
    } else {
        streams.remove(&stream);
    }
}
