//! The STREAM frames of one direction, summed by stream while they are read.

use std::collections::BTreeMap;

use super::by_stream::ByStream;
use super::http3::Framing;
use super::quic::Stream;
use crate::assembly::{Assembly, StreamFrame};
use crate::packed_frames::PackedFrames;
use crate::progress::Progress;
use crate::timeline::Cancel;
use crate::trace::{StreamRole, StreamSummary};

#[derive(Default)]
pub(super) struct Flow {
    /// Each frame, if frames are kept.
    pub(super) frames: Vec<StreamFrame>,
    /// The same with their packets' numbers, packed.
    pub(super) arrivals: PackedFrames,
    /// For each frame, its packet's index, if packets are kept.
    pub(super) frame_packets: Vec<u32>,
    pub(super) streams: ByStream<FlowStream>,
    /// Streams without other relevant data.
    begun: BTreeMap<u64, Begun>,
    /// All bytes of all frames.
    pub(super) frame_bytes: u128,
    /// Islands beyond holes, over all streams.
    pub(super) holes: usize,
}

/// A stream of which only the beginning and the farthest end matter.
struct Begun {
    first_us: u64,
    from: u64,
    to: u64,
}

#[derive(Default)]
pub(super) struct FlowStream {
    pub(super) first_us: u64,
    last_us: u64,
    frames: u64,
    pub(super) farthest: u64,
    /// The packet with the farthest byte so far.
    farthest_packet: Option<u64>,
    retransmitted_bytes: u64,
    reordered_bytes: u64,
    /// Where FIN was.
    pub(super) bytes: Option<u64>,
    pub(super) framing: Framing,
    pub(super) cancel: Option<Box<Cancel>>,
    assembly: Assembly,
    progress: Progress,
}

impl Flow {
    /// A frame in packet number `packet`. `is_sent`: it is outgoing, so repeated bytes are
    /// retransmissions.
    pub(super) fn frame(
        &mut self,
        time_us: u64,
        frame: Stream,
        packet: Option<u64>,
        is_sent: bool,
    ) {
        let stream = self.stream(frame.id, time_us);
        let holes = stream.assembly.islands.len();
        stream.frame(time_us, frame, packet, is_sent);
        let holes_now = stream.assembly.islands.len();
        self.holes = (self.holes + holes_now).saturating_sub(holes);
        self.frame_bytes += u128::from(frame.bytes);
    }

    /// A frame of which only its existence and end matter.
    pub(super) fn begin(&mut self, time_us: u64, frame: Stream) {
        let Stream { id, offset, bytes, .. } = frame;
        let first = Begun { first_us: time_us, from: offset, to: offset };
        let begun = self.begun.entry(id).or_insert(first);
        begun.from = begun.from.min(offset);
        begun.to = begun.to.max(offset + bytes);
    }

    pub(super) fn distinct_bytes(&self) -> u64 {
        let whole = self.streams.iter().map(|(_, it)| it.assembly.unique_bytes);
        let begun = self.begun.values().map(|it| it.to - it.from);
        whole.chain(begun).fold(0, u64::saturating_add)
    }

    /// When the first frame of a stream arrived.
    pub(super) fn begun_us(&self, id: u64) -> Option<u64> {
        let begun_us = self.begun.get(&id).map(|it| it.first_us);
        begun_us.or_else(|| Some(self.streams.get(id)?.first_us))
    }

    pub(super) fn streams(&self) -> usize {
        self.streams.len() + self.begun.len()
    }

    /// The other side cancels a stream. Only the first time counts.
    pub(super) fn stop(&mut self, time_us: u64, id: u64) {
        self.stream(id, time_us).cancel.get_or_insert_with(|| Box::new(Cancel::at(time_us)));
    }

    pub(super) fn stream(&mut self, id: u64, time_us: u64) -> &mut FlowStream {
        self.streams.entry(id, || FlowStream { first_us: time_us, ..FlowStream::default() })
    }
}

impl FlowStream {
    fn frame(&mut self, time_us: u64, frame: Stream, packet: Option<u64>, is_sent: bool) {
        let end = frame.offset + frame.bytes;
        let again = end.min(self.farthest).saturating_sub(frame.offset);
        let is_later = match (packet, self.farthest_packet) {
            (Some(packet), Some(farthest)) => packet > farthest,
            _ => is_sent,
        };
        if end >= self.farthest {
            self.farthest = end;
            self.farthest_packet = packet;
        }
        if frame.ends {
            self.bytes = Some(end);
        }
        if self.frames == 0 {
            self.first_us = time_us;
        }
        self.frames += 1;
        if let Some(cancel) = &mut self.cancel {
            cancel.came(time_us, frame.bytes);
        }
        let before = self.assembly.unique_bytes;
        let (id, beyond) = (frame.id, frame.bytes - again);
        let frame = StreamFrame { time_us, stream: id, offset: frame.offset, bytes: frame.bytes };
        if let Some(step) = self.assembly.receive(&frame) {
            self.progress.grow(step);
        }
        let fresh = self.assembly.unique_bytes.saturating_sub(before);
        // Data that fills holes; a sender has none.
        let late = if is_sent { again } else { fresh.saturating_sub(beyond) };
        let counter =
            if is_later { &mut self.retransmitted_bytes } else { &mut self.reordered_bytes };
        *counter = counter.saturating_add(late);
        if self.assembly.unique_bytes > before || self.frames == 1 {
            self.last_us = time_us;
        }
    }

    /// When all of `stream_bytes` were readable.
    fn complete_us(&self, stream_bytes: Option<u64>) -> Option<u64> {
        match stream_bytes? {
            0 => self.assembly.first_frame_us,
            bytes if bytes == self.progress.readable_bytes() => self.progress.last_us(),
            bytes if bytes < self.progress.readable_bytes() => self.progress.readable_at_us(bytes),
            _ => None,
        }
    }

    /// The sums, for a stream with frames.
    pub(super) fn summary(
        &self,
        stream: u64,
        role: StreamRole,
        stream_bytes: Option<u64>,
        is_sent: bool,
    ) -> Option<StreamSummary> {
        (self.frames > 0).then(|| StreamSummary {
            stream,
            role,
            frames: self.frames,
            bytes: self.assembly.unique_bytes,
            first_us: self.first_us,
            last_us: self.last_us,
            complete_us: self.complete_us(stream_bytes),
            retransmitted_bytes: self.retransmitted_bytes,
            reordered_bytes: self.reordered_bytes,
            duplicate_bytes: (!is_sent).then_some(self.assembly.duplicate_bytes),
            progress: self.progress.clone(),
        })
    }
}
