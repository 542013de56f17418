//! Frames (RFC 9114, 7.1): a type, a length, a payload.
//!
//! [`FrameReader`] splits a stream into frames, however its bytes are divided. It does not know which
//! frames are allowed where: it asks at the header of each frame, before it keeps a byte of the payload.

use crate::Extension;
use crate::error::{Code, Error};
use octets::{Octets, OctetsMut};

pub(crate) const DATA: u64 = 0x00;
pub(crate) const HEADERS: u64 = 0x01;
pub(crate) const CANCEL_PUSH: u64 = 0x03;
pub(crate) const SETTINGS: u64 = 0x04;
pub(crate) const PUSH_PROMISE: u64 = 0x05;
pub(crate) const GOAWAY: u64 = 0x07;
pub(crate) const MAX_PUSH_ID: u64 = 0x0d;
pub(crate) const PRIORITY_UPDATE_REQUEST: u64 = 0xf_0700;
pub(crate) const PRIORITY_UPDATE_PUSH: u64 = 0xf_0701;
/// PRIORITY, PING, `WINDOW_UPDATE` and CONTINUATION of HTTP/2 (RFC 9114, 7.2.8).
const RESERVED_HTTP2: [u64; 4] = [0x02, 0x06, 0x08, 0x09];

/// The largest varint (RFC 9000, 16).
pub(crate) const VARINT_MAX: u64 = (1 << 62) - 1;
/// A type and a length of eight bytes each.
const HEADER_BYTES_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Data,
    Headers,
    CancelPush,
    Settings,
    PushPromise,
    GoAway,
    MaxPushId,
    PriorityUpdateRequest,
    PriorityUpdatePush,
    /// An HTTP/2 type that must not be sent.
    ReservedHttp2,
    /// One of our extensions. It must be ignored like an unknown type unless both sides offered it.
    Extension(Extension),
    /// Must be ignored (RFC 9114, 9), unless the session's owner accepts frames of this type.
    Unknown(u64),
}

impl FrameKind {
    fn of(frame_type: u64) -> Self {
        match frame_type {
            DATA => Self::Data,
            HEADERS => Self::Headers,
            CANCEL_PUSH => Self::CancelPush,
            SETTINGS => Self::Settings,
            PUSH_PROMISE => Self::PushPromise,
            GOAWAY => Self::GoAway,
            MAX_PUSH_ID => Self::MaxPushId,
            PRIORITY_UPDATE_REQUEST => Self::PriorityUpdateRequest,
            PRIORITY_UPDATE_PUSH => Self::PriorityUpdatePush,
            it if RESERVED_HTTP2.contains(&it) => Self::ReservedHttp2,
            _ => Extension::of(frame_type).map_or(Self::Unknown(frame_type), Self::Extension),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Keep it and give it whole.
    Keep,
    /// Give it as it arrives.
    Pass,
    /// Drop it as it arrives.
    Skip,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Whole(FrameKind, Vec<u8>),
    /// Bytes of a frame that is passed on; never empty.
    Part(Vec<u8>),
}

#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    header: Vec<u8>,
    payload: Option<Payload>,
}

#[derive(Debug)]
struct Payload {
    kind: FrameKind,
    treatment: Treatment,
    remaining_bytes: u64,
    kept: Vec<u8>,
}

impl FrameReader {
    /// Takes bytes from the front of `bytes` until it has a piece, or they run out. `admit` sees the kind
    /// and length of each frame when its header is complete.
    pub(crate) fn next(
        &mut self,
        bytes: &mut &[u8],
        admit: &mut dyn FnMut(FrameKind, u64) -> Result<Treatment, Error>,
    ) -> Result<Option<Piece>, Error> {
        loop {
            if self.payload.is_none() {
                let Some((kind, length)) = self.take_header(bytes) else { return Ok(None) };
                let treatment = admit(kind, length)?;
                self.payload =
                    Some(Payload { kind, treatment, remaining_bytes: length, kept: Vec::new() });
            }
            let Some(payload) = &mut self.payload else { return Ok(None) };
            let part = payload.take(bytes);
            let done = payload.remaining_bytes == 0;
            let piece = match payload.treatment {
                Treatment::Keep => {
                    payload.kept.extend_from_slice(part);
                    done.then(|| Piece::Whole(payload.kind, std::mem::take(&mut payload.kept)))
                }
                Treatment::Pass => (!part.is_empty()).then(|| Piece::Part(part.to_vec())),
                Treatment::Skip => None,
            };
            if done {
                self.payload = None;
            }
            if piece.is_some() || !done {
                return Ok(piece);
            }
        }
    }

    /// Whether no frame is incomplete.
    pub(crate) fn at_boundary(&self) -> bool {
        self.header.is_empty() && self.payload.is_none()
    }

    pub(crate) fn kept_bytes(&self) -> u64 {
        self.payload.as_ref().map_or(0, |it| it.kept.len() as u64)
    }

    fn take_header(&mut self, bytes: &mut &[u8]) -> Option<(FrameKind, u64)> {
        while let Some((first, rest)) = bytes.split_first() {
            *bytes = rest;
            self.header.push(*first);
            debug_assert!(
                self.header.len() <= HEADER_BYTES_MAX,
                "two varints are at most 16 bytes"
            );
            let mut octets = Octets::with_slice(&self.header);
            if let (Ok(frame_type), Ok(length)) = (octets.get_varint(), octets.get_varint()) {
                self.header.clear();
                return Some((FrameKind::of(frame_type), length));
            }
        }
        None
    }
}

impl Payload {
    fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> &'a [u8] {
        let count =
            usize::try_from(self.remaining_bytes).map_or(bytes.len(), |it| it.min(bytes.len()));
        let (part, rest) = bytes.split_at(count);
        *bytes = rest;
        self.remaining_bytes -= part.len() as u64;
        part
    }
}

/// The payload of a frame that consists of a single varint.
pub(crate) fn only_varint(payload: &[u8]) -> Result<u64, Error> {
    let mut octets = Octets::with_slice(payload);
    match octets.get_varint() {
        Ok(value) if octets.cap() == 0 => Ok(value),
        _ => Code::Frame.fail("a frame of one ID has another length (RFC 9114, 7.1)"),
    }
}

/// The type and length of a DATA frame of `body_bytes` (below 2^62); the body follows.
pub fn data_frame_header(body_bytes: u64) -> Vec<u8> {
    varints([DATA, body_bytes])
}

/// A frame with its payload.
pub fn whole(frame_type: u64, payload: &[u8]) -> Vec<u8> {
    [&varints([frame_type, payload.len() as u64]), payload].concat()
}

/// Stream bytes of a HEADERS or DATA frame with this payload.
pub(crate) fn frame_bytes(payload_bytes: u64) -> u64 {
    1 + octets::varint_len(payload_bytes) as u64 + payload_bytes
}

pub(crate) fn varints(values: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        put_varint(&mut bytes, value);
    }
    bytes
}

/// Appends a varint; values above 2^62 - 1, the largest varint, become that value.
pub fn put_varint(bytes: &mut Vec<u8>, value: u64) {
    let mut encoded = [0; 8];
    let mut octets = OctetsMut::with_slice(&mut encoded);
    let written = octets.put_varint(value.min(VARINT_MAX)).is_ok();
    debug_assert!(written, "eight bytes hold any varint");
    let length = octets.off();
    bytes.extend_from_slice(&encoded[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads all of `bytes` given in `parts`, keeping HEADERS, passing DATA, skipping the rest.
    fn read(parts: &[&[u8]]) -> (Vec<Piece>, bool) {
        let mut reader = FrameReader::default();
        let mut pieces: Vec<Piece> = Vec::new();
        for part in parts {
            let mut bytes = *part;
            let mut admit = |kind, _| {
                Ok(match kind {
                    FrameKind::Headers => Treatment::Keep,
                    FrameKind::Data => Treatment::Pass,
                    _ => Treatment::Skip,
                })
            };
            while let Some(piece) = reader.next(&mut bytes, &mut admit).unwrap() {
                match (pieces.last_mut(), piece) {
                    (Some(Piece::Part(before)), Piece::Part(after)) => before.extend(after),
                    (_, piece) => pieces.push(piece),
                }
            }
            assert!(bytes.is_empty());
        }
        (pieces, reader.at_boundary())
    }

    #[test]
    fn a_data_frame_header_is_a_type_and_a_length() {
        assert_eq!(data_frame_header(5), [0x00, 0x05]);
        assert_eq!(data_frame_header(64), [0x00, 0x40, 0x40]);
        assert_eq!(data_frame_header(1 << 20), [0x00, 0x80, 0x10, 0x00, 0x00]);
    }

    #[test]
    fn an_unknown_frame_of_any_length_is_skipped_and_not_kept_9114_9() {
        let mut reader = FrameReader::default();
        let mut start = Vec::new();
        put_varint(&mut start, 0x21);
        put_varint(&mut start, VARINT_MAX);
        for part in [start.as_slice(), &[7; 4096], &[7; 4096]] {
            let mut bytes = part;
            assert_eq!(reader.next(&mut bytes, &mut |_, _| Ok(Treatment::Skip)), Ok(None));
        }
        assert_eq!(reader.payload.as_ref().unwrap().kept.capacity(), 0);
        assert!(!reader.at_boundary());
    }

    #[test]
    fn a_length_announced_is_not_memory_taken() {
        let mut reader = FrameReader::default();
        let mut bytes: &[u8] = &[0x01, 0xbf, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(reader.next(&mut bytes, &mut |_, _| Ok(Treatment::Keep)), Ok(None));
        assert!(reader.payload.as_ref().unwrap().kept.capacity() < 64);
    }

    #[test]
    fn an_id_frame_has_exactly_one_varint_9114_7_1() {
        assert_eq!(only_varint(&[0x40, 0x08]), Ok(8));
        for payload in [&[][..], &[0x40], &[0x08, 0x00]] {
            assert_eq!(only_varint(payload).unwrap_err().kind(), Code::Frame);
        }
    }

    proptest! {
        #[test]
        fn frames_are_the_same_at_any_split(
            frames in proptest::collection::vec((0u64..4, proptest::collection::vec(any::<u8>(), 0..90)), 0..6),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(|(kind, payload)| whole(*kind, payload)).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let (pieces, at_boundary) = read(&parts);
            prop_assert!(at_boundary);
            prop_assert_eq!((pieces, true), read(&[&bytes]));
        }
    }
}
