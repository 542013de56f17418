//! Observes the heads among a client's HTTP/2 frames (RFC 9113, 4.1 and 4.3) before the library decodes them, and the client's
//! signals about order. The library reports neither which heads it rejects nor how much it keeps of an incomplete one. It drops
//! priorities: the tree of RFC 7540, 5.3, and the frames of RFC 9218, 7.1.

use crate::limits::{REFUSED_BYTES, SIGNAL_BYTES};
use h2::Reason;
use schedulers::{Element, Priority, Signal, StreamId};
use std::collections::BTreeMap;

/// The bytes before the first frame (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEADER_BYTES: usize = 9;
/// Frame types (RFC 9113, 6.2, 6.3 and 6.10; RFC 9218, 7.1).
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const CONTINUATION: u8 = 9;
const PRIORITY_UPDATE: u8 = 16;
/// Flags of heads: the last frame, padding, a priority.
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const HAS_PRIORITY: u8 = 32;

/// Follows the bytes of a connection.
#[derive(Debug)]
pub(super) struct Frames {
    /// Bytes until the end of the frame.
    left: usize,
    /// Its header, as far as it has arrived.
    header: Vec<u8>,
    /// Whether it is part of a head, and whether it is the last part.
    part: Option<bool>,
    part_bytes: usize,
    /// The stream whose head is in progress.
    stream: u32,
    /// The highest stream that has had a head.
    last_stream: u32,
    /// Bytes of the arrived frames of an incomplete head.
    unfinished_bytes: usize,
    /// Bytes of complete heads whose requests have not been accepted yet.
    heads: BTreeMap<u32, usize>,
    trailer_bytes: usize,
    /// A frame about order, and the first bytes of its payload.
    signal_frame: Option<(SignalFrame, Vec<u8>)>,
    signals: Vec<Signal>,
    /// The client's violation of the rules about order.
    error: Option<Reason>,
}

/// A frame about order.
#[derive(Debug, Clone, Copy)]
enum SignalFrame {
    /// The place of the stream in the tree, which follows `behind` bytes.
    Dependency {
        stream: u32,
        behind: usize,
    },
    Update,
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
            signal_frame: None,
            signals: Vec::new(),
            error: None,
        }
    }
}

impl Frames {
    /// Processes these bytes, which have arrived.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            if self.left > 0 {
                let here = self.left.min(bytes.len());
                self.left -= here;
                if let Some((_, payload)) = &mut self.signal_frame {
                    let kept = here.min(SIGNAL_BYTES - payload.len());
                    payload.extend_from_slice(&bytes[..kept]);
                }
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

    /// Bytes until the end of a frame, unless it is part of a head.
    pub(super) fn payload_bytes(&self) -> usize {
        if self.part.is_none() { self.left } else { 0 }
    }

    /// Bytes of an incomplete head.
    pub(super) fn unfinished_bytes(&self) -> usize {
        self.unfinished_bytes
    }

    /// The library has decoded a request.
    pub(super) fn accepted(&mut self, stream: u32) {
        self.heads.remove(&stream);
    }

    /// The nuisances of rejected heads: the library has decoded all bytes, and its requests were accepted.
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
            let stream = u32::from_be_bytes([a, b, c, d]) & STREAM_BITS;
            if kind == HEADERS {
                self.stream = stream;
            }
            self.signal_frame = signal_frame(kind, flags, stream).map(|it| (it, Vec::new()));
            if kind == PRIORITY_UPDATE && stream != 0 {
                self.error = Some(Reason::PROTOCOL_ERROR);
            }
        }
        self.header.clear();
    }

    /// The client's signals about order since the last call.
    pub(super) fn signals(&mut self) -> std::vec::Drain<'_, Signal> {
        self.signals.drain(..)
    }

    /// Why the connection must end, if it must.
    pub(super) fn error(&self) -> Option<Reason> {
        self.error
    }

    /// A frame is whole.
    fn end(&mut self) {
        if let Some((signal_frame, payload)) = self.signal_frame.take() {
            match signal_frame.signal(&payload) {
                Ok(signal) => self.signals.extend(signal),
                Err(error) => self.error = Some(error),
            }
        }
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

/// The bits of a stream in four bytes; the first bit has another meaning, or none.
const STREAM_BITS: u32 = u32::MAX >> 1;

fn signal_frame(kind: u8, flags: u8, stream: u32) -> Option<SignalFrame> {
    match kind {
        HEADERS if flags & HAS_PRIORITY != 0 => {
            Some(SignalFrame::Dependency { stream, behind: usize::from(flags & PADDED != 0) })
        }
        PRIORITY => Some(SignalFrame::Dependency { stream, behind: 0 }),
        PRIORITY_UPDATE => Some(SignalFrame::Update),
        _ => None,
    }
}

impl SignalFrame {
    /// The signal in it; `None` if it cannot be read.
    fn signal(self, payload: &[u8]) -> Result<Option<Signal>, Reason> {
        match self {
            Self::Dependency { stream, behind } => {
                let Some(&[a, b, c, d, weight]) =
                    payload.get(behind..).and_then(<[u8]>::first_chunk)
                else {
                    // The library ends the connection.
                    return Ok(None);
                };
                let parent = u32::from_be_bytes([a, b, c, d]);
                let node = |it: u32| match it {
                    0 => Element::Root,
                    it => Element::Stream(StreamId(it.into())),
                };
                let (element, exclusive) = (node(stream), parent > STREAM_BITS);
                let (parent, weight) = (node(parent & STREAM_BITS), u16::from(weight) + 1);
                let is_proper = element != Element::Root && element != parent;
                Ok(is_proper.then_some(Signal::Depend { element, parent, weight, exclusive }))
            }
            Self::Update => {
                let Some((stream, field)) = payload.split_first_chunk() else {
                    return Err(Reason::FRAME_SIZE_ERROR);
                };
                let stream = u32::from_be_bytes(*stream) & STREAM_BITS;
                // Nothing is pushed, so even stream numbers do not exist.
                if stream.is_multiple_of(2) {
                    return Err(Reason::PROTOCOL_ERROR);
                }
                let whole = Some(field).filter(|_| payload.len() < SIGNAL_BYTES);
                let priority = whole.and_then(|it| Priority::parse(it).ok());
                Ok(priority.map(|it| Signal::Extensible {
                    stream: StreamId(stream.into()),
                    urgency: it.urgency_or_default(),
                    incremental: it.incremental_or_default(),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals of a frame with this payload.
    fn signals(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> (String, Option<Reason>) {
        let length = u8::try_from(payload.len()).expect("short");
        let header = [0, 0, length, kind, flags, 0, 0, 0, stream];
        let mut frames = after(&[[&header[..], payload].concat()]);
        let signals = frames.signals().map(|it| match it {
            Signal::Extensible { stream, urgency, incremental } => {
                format!("{} u={urgency} i={incremental}", stream.0)
            }
            it => format!("{it:?}"),
        });
        (signals.collect::<Vec<_>>().join(", "), frames.error())
    }

    #[test]
    fn an_update_says_an_urgency_wherever_its_stream_is_9218_7_1() {
        let update = |payload: &[u8]| signals(PRIORITY_UPDATE, 0, 0, payload);
        assert_eq!(update(b"\0\0\0\x05u=1, i"), ("5 u=1 i=true".to_owned(), None));
        assert_eq!(update(b"\0\0\0\x05"), ("5 u=3 i=false".to_owned(), None));
        assert_eq!(update(b"\0\0\0\x05u=="), (String::new(), None));
        let wrong = |it| (String::new(), Some(it));
        assert_eq!(update(b"\0\0\0"), wrong(Reason::FRAME_SIZE_ERROR));
        assert_eq!(update(b"\0\0\0\0u=1"), wrong(Reason::PROTOCOL_ERROR));
        assert_eq!(update(b"\0\0\0\x02u=1"), wrong(Reason::PROTOCOL_ERROR));
        let elsewhere = signals(PRIORITY_UPDATE, 0, 3, b"\0\0\0\x05u=1").1;
        assert_eq!(elsewhere, Some(Reason::PROTOCOL_ERROR));
        let mut long = b"\0\0\0\x05u=1".to_vec();
        long.resize(250, b' ');
        assert_eq!(update(&long).0, "5 u=1 i=false");
    }

    #[test]
    fn a_head_and_a_frame_say_a_place_in_the_tree_7540_5_3() {
        let below_1 = b"\x80\0\0\x01\xff";
        let place = |parent, weight, exclusive| {
            let element = Element::Stream(StreamId(3));
            format!("{:?}", Signal::Depend { element, parent, weight, exclusive })
        };
        let expected = place(Element::Stream(StreamId(1)), 256, true);
        assert_eq!(signals(PRIORITY, 0, 3, below_1).0, expected);
        assert_eq!(signals(HEADERS, HAS_PRIORITY | END_HEADERS, 3, below_1).0, expected);
        let padded = [&[0][..], below_1, &[0x82]].concat();
        assert_eq!(signals(HEADERS, HAS_PRIORITY | PADDED, 3, &padded).0, expected);
        assert_eq!(signals(PRIORITY, 0, 3, &[0; 5]).0, place(Element::Root, 1, false));
        assert_eq!(signals(PRIORITY, 0, 3, &[0, 0, 0, 3, 0]).0, "", "below itself");
        assert_eq!(signals(HEADERS, END_HEADERS, 3, below_1).0, "");
    }

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
