//! The heads among the frames of HTTP/2 that a client sends (RFC 9113, 4.1 and 4.3), before the library decodes them. The library
//! does not say which heads it refuses, nor what it keeps of one that goes on.

use crate::limits::REFUSED_BYTES;
use std::collections::BTreeMap;

/// The bytes before the first frame (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEADER_BYTES: usize = 9;
/// Frame types (RFC 9113, 6.2 and 6.10), and the flag of the last frame of a head.
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Follows the bytes of a connection.
#[derive(Debug)]
pub(super) struct Frames {
    /// Bytes to the end of the frame.
    left: usize,
    /// Its header, as far as it has come.
    header: Vec<u8>,
    /// Whether it is a part of a head, and its last.
    part: Option<bool>,
    part_bytes: usize,
    /// The stream whose head is in progress.
    stream: u32,
    /// The highest stream that has had one.
    last_stream: u32,
    /// Bytes of the frames of a head that are here, while more of them come.
    unfinished_bytes: usize,
    /// Bytes of whole heads of requests that nobody has asked for yet.
    heads: BTreeMap<u32, usize>,
    trailer_bytes: usize,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            left: PREFACE_BYTES,
            header: Vec::with_capacity(FRAME_HEADER_BYTES),
            part: None,
            part_bytes: 0,
            stream: 0,
            last_stream: 0,
            unfinished_bytes: 0,
            heads: BTreeMap::new(),
            trailer_bytes: 0,
        }
    }
}

impl Frames {
    /// These bytes came.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            if self.left > 0 {
                let here = self.left.min(bytes.len());
                self.left -= here;
                bytes = &bytes[here..];
            } else {
                self.header.push(*first);
                bytes = &bytes[1..];
                if self.header.len() < FRAME_HEADER_BYTES {
                    continue;
                }
                self.begin();
            }
            if self.left == 0 {
                self.end();
            }
        }
    }

    /// Bytes to the end of a frame, unless it is a part of a head.
    pub(super) fn payload_bytes(&self) -> usize {
        if self.part.is_none() { self.left } else { 0 }
    }

    /// Bytes of a head that goes on.
    pub(super) fn unfinished_bytes(&self) -> usize {
        self.unfinished_bytes
    }

    /// The library has decoded a request.
    pub(super) fn accepted(&mut self, stream: u32) {
        self.heads.remove(&stream);
    }

    /// The nuisances of the heads that the library has refused: it has decoded all bytes, and its requests were taken.
    pub(super) fn refused(&mut self) -> u64 {
        let trailers = self.trailer_bytes / REFUSED_BYTES;
        self.trailer_bytes %= REFUSED_BYTES;
        let heads = std::mem::take(&mut self.heads).into_values();
        heads.map(|it| 1 + it / REFUSED_BYTES).sum::<usize>() as u64 + trailers as u64
    }

    fn begin(&mut self) {
        if let &[high, middle, low, kind, flags, a, b, c, d] = &self.header[..] {
            self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
            self.part_bytes = self.left;
            let is_head = matches!(kind, HEADERS | CONTINUATION);
            self.part = is_head.then_some(flags & END_HEADERS != 0);
            if kind == HEADERS {
                self.stream = u32::from_be_bytes([a, b, c, d]) & (u32::MAX >> 1);
            }
        }
        self.header.clear();
    }

    /// A frame is whole.
    fn end(&mut self) {
        let Some(is_last) = self.part.take() else { return };
        self.unfinished_bytes += self.part_bytes;
        if !is_last {
            return;
        }
        let bytes = std::mem::take(&mut self.unfinished_bytes);
        if self.stream > self.last_stream {
            self.last_stream = self.stream;
            self.heads.insert(self.stream, bytes);
        } else {
            self.trailer_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, bytes: u16) -> Vec<u8> {
        let [high, low] = bytes.to_be_bytes();
        let header = [0, high, low, kind, flags, 0, 0, 0, stream];
        [&header[..], &vec![0xff; bytes.into()]].concat()
    }

    fn after(frames: &[Vec<u8>]) -> Frames {
        let mut followed = Frames::default();
        followed.take(&[0; PREFACE_BYTES]);
        for byte in frames.concat() {
            followed.take(&[byte]);
        }
        followed
    }

    #[test]
    fn a_head_that_the_library_does_not_pass_on_counts_by_its_size() {
        let mut frames = after(&[frame(HEADERS, 5, 1, 100), frame(HEADERS, 5, 3, 15_600)]);
        frames.accepted(1);
        assert_eq!(frames.refused(), 1 + 15_600 / 256);
        assert_eq!(frames.refused(), 0);
        // The same bytes at once.
        let mut at_once = Frames::default();
        at_once.take(&[vec![0; PREFACE_BYTES], frame(HEADERS, 5, 1, 0)].concat());
        assert_eq!(at_once.refused(), 1);
    }

    #[test]
    fn parts_of_a_head_wait_until_it_is_whole() {
        let mut frames = after(&[frame(4, 0, 0, 6), frame(HEADERS, 1, 1, 50)]);
        assert_eq!(frames.unfinished_bytes(), 50);
        frames.take(&frame(CONTINUATION, 0, 1, 50));
        assert_eq!(frames.unfinished_bytes(), 100);
        assert_eq!(frames.refused(), 0);
        frames.take(&frame(CONTINUATION, END_HEADERS, 1, 500));
        assert_eq!((frames.unfinished_bytes(), frames.refused()), (0, 1 + 600 / 256));
    }

    #[test]
    fn trailers_count_by_their_size_alone() {
        let mut frames = after(&[frame(HEADERS, 4, 1, 9), frame(0, 0, 1, 40)]);
        frames.accepted(1);
        frames.take(&frame(HEADERS, 5, 1, 255));
        assert_eq!(frames.refused(), 0);
        frames.take(&frame(HEADERS, 5, 1, 257));
        assert_eq!(frames.refused(), 2);
    }
}
