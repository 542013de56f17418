//! STREAM frames in seven to ten bytes each, so that all frames of a 1 GB log fit in memory.

use std::collections::BTreeMap;

use crate::assembly::StreamFrame;
use crate::varint::{put, take, unzigzag, zigzag};

/// The size of a chunk: a single list would double its memory to grow.
const CHUNK_BYTES: usize = 1 << 18;
/// The maximum size of a frame: six numbers of at most ten bytes.
const FRAME_BYTES: usize = 60;

/// STREAM frames in order, each with the number of its packet if known.
///
/// Each is encoded as its difference from the likely values: that it arrives soon after the preceding frame, in
/// the next packet, and continues where its stream stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedFrames {
    chunks: Vec<Vec<u8>>,
    len: usize,
    likely: Likely,
}

/// The expected values of the next frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Likely {
    time_us: u64,
    stream: u64,
    packet: u64,
    /// The end of the last frame of each stream.
    ends: BTreeMap<u64, u64>,
}

impl PackedFrames {
    /// Adds a frame that arrived in the packet with this number.
    pub fn push(&mut self, frame: StreamFrame, packet: Option<u64>) {
        if self.chunks.last().is_none_or(|chunk| chunk.len() + FRAME_BYTES > CHUNK_BYTES) {
            self.chunks.push(Vec::new());
        }
        let Some(chunk) = self.chunks.last_mut() else { return };
        let likely = &mut self.likely;
        let end = likely.ends.entry(frame.stream).or_default();
        put(chunk, difference(frame.time_us, likely.time_us));
        put(chunk, difference(frame.stream, likely.stream));
        put(chunk, difference(frame.offset, *end));
        put(chunk, frame.bytes);
        put(chunk, u64::from(packet.is_some()));
        if let Some(packet) = packet {
            put(chunk, difference(packet, likely.packet));
            likely.packet = packet;
        }
        (likely.time_us, likely.stream) = (frame.time_us, frame.stream);
        *end = frame.offset.wrapping_add(frame.bytes);
        self.len += 1;
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The frames in order, each with the number of its packet.
    pub fn iter(&self) -> impl Iterator<Item = (StreamFrame, Option<u64>)> + '_ {
        let (mut likely, mut chunks) = (Likely::default(), self.chunks.iter());
        let mut rest: &[u8] = &[];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                rest = chunks.next()?;
            }
            likely.take(&mut rest)
        })
    }
}

impl Likely {
    fn take(&mut self, bytes: &mut &[u8]) -> Option<(StreamFrame, Option<u64>)> {
        self.time_us = sum(self.time_us, take(bytes)?);
        self.stream = sum(self.stream, take(bytes)?);
        let end = self.ends.entry(self.stream).or_default();
        let frame = StreamFrame {
            time_us: self.time_us,
            stream: self.stream,
            offset: sum(*end, take(bytes)?),
            bytes: take(bytes)?,
        };
        *end = frame.offset.wrapping_add(frame.bytes);
        let mut packet = None;
        if take(bytes)? == 1 {
            self.packet = sum(self.packet, take(bytes)?);
            packet = Some(self.packet);
        }
        Some((frame, packet))
    }
}

fn difference(value: u64, likely: u64) -> u64 {
    zigzag(value.wrapping_sub(likely).cast_signed())
}

fn sum(likely: u64, difference: u64) -> u64 {
    likely.wrapping_add(unzigzag(difference).cast_unsigned())
}

impl FromIterator<(StreamFrame, Option<u64>)> for PackedFrames {
    fn from_iter<T: IntoIterator<Item = (StreamFrame, Option<u64>)>>(frames: T) -> Self {
        let mut packed = Self::default();
        for (frame, packet) in frames {
            packed.push(frame, packet);
        }
        packed
    }
}

impl<'a> FromIterator<&'a StreamFrame> for PackedFrames {
    /// Without packet numbers.
    fn from_iter<T: IntoIterator<Item = &'a StreamFrame>>(frames: T) -> Self {
        frames.into_iter().map(|frame| (*frame, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_that_goes_on_takes_seven_bytes() {
        let frame = |count: u64| StreamFrame {
            time_us: 5_000_000 + count * 50,
            stream: 4,
            offset: count * 1200,
            bytes: 1200,
        };
        let packed: PackedFrames =
            (0..1000).map(|count| (frame(count), Some(70_000 + count))).collect();
        let bytes: usize = packed.chunks.iter().map(Vec::len).sum();
        assert_eq!((packed.len(), bytes / 1000), (1000, 7));
    }

    fn any_number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_out(frames in prop::collection::vec((any_number(), 0u64..4, any_number(), any_number(), prop::option::of(any_number())), 0..200)) {
            let frames: Vec<(StreamFrame, Option<u64>)> = frames
                .into_iter()
                .map(|(time_us, stream, offset, bytes, packet)| (StreamFrame { time_us, stream, offset, bytes }, packet))
                .collect();
            let packed: PackedFrames = frames.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), frames);
        }
    }
}
