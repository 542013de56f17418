//! Pieces of streams that wait in the transport for earlier bytes.
//!
//! The transport keeps each piece in its own allocation, however small, and does not report them. But it decrypts a datagram in place,
//! so that its frames can be read there afterwards.

use octets::{BufferTooShortError, Octets};
use std::collections::{BTreeMap, BTreeSet};

/// Memory of a piece besides its bytes: its entry in the transport's half-empty tree (160), its allocation (48), and its entry here
/// (48).
pub const PIECE_BYTES: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// How far each open stream was read. A stream that is no longer read is also in the map: the transport keeps nothing of it.
    read: BTreeMap<u64, u64>,
    /// The bytes of each piece, by its stream and offset.
    waiting: BTreeMap<(u64, u64), usize>,
    bytes: usize,
    /// Packets that the transport has taken.
    packets: usize,
}

impl Pieces {
    /// The memory that they use.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the transport has accepted further packets; `packets` is its total.
    pub(crate) fn has_taken(&mut self, packets: usize) -> bool {
        std::mem::replace(&mut self.packets, packets) < packets
    }

    /// The streams that have some.
    pub(crate) fn streams(&self) -> BTreeSet<u64> {
        self.waiting.keys().map(|(stream, _)| *stream).collect()
    }

    /// A datagram of a connection with IDs of `id_bytes` bytes was decrypted. `is_over`: whether all of a stream was read.
    pub(crate) fn came(&mut self, datagram: &[u8], id_bytes: usize, is_over: impl Fn(u64) -> bool) {
        let mut take = |stream, offset, length| {
            let read = self.read.get(&stream).copied().unwrap_or(0);
            if offset > read && !is_over(stream) {
                let piece_bytes = PIECE_BYTES + length;
                let before = self.waiting.insert((stream, offset), piece_bytes);
                self.bytes = self.bytes + piece_bytes - before.unwrap_or(0);
            }
        };
        // A datagram that the transport has accepted can be read to its end.
        stream_frames(datagram, id_bytes, &mut take).ok();
    }

    pub(crate) fn read(&mut self, stream: u64, bytes: usize) {
        let read = self.read.entry(stream).or_default();
        *read = read.saturating_add(bytes as u64);
        let to = *read;
        self.forget(stream, to);
    }

    pub(crate) fn ended(&mut self, stream: u64) {
        self.read.remove(&stream);
        self.forget(stream, u64::MAX);
    }

    /// A stream is no longer read, although more may arrive.
    pub(crate) fn left(&mut self, stream: u64, is_over: impl Fn(u64) -> bool) {
        self.read.retain(|stream, read| *read < u64::MAX || !is_over(*stream));
        self.read.insert(stream, u64::MAX);
        self.forget(stream, u64::MAX);
    }

    fn forget(&mut self, stream: u64, to: u64) {
        while let Some((&key, &bytes)) = self.waiting.range((stream, 0)..(stream, to)).next() {
            self.waiting.remove(&key);
            self.bytes -= bytes;
        }
    }
}

/// The length of a packet's authentication tag (RFC 9001, 5.3).
const TAG_BYTES: usize = 16;

type Read = Result<(), BufferTooShortError>;

/// Passes on stream, offset and length of each STREAM frame in a datagram: in its packets with early data and with a short header (RFC
/// 9000, 12.2 and 17).
fn stream_frames(datagram: &[u8], id_bytes: usize, take: &mut impl FnMut(u64, u64, usize)) -> Read {
    let mut rest = Octets::with_slice(datagram);
    while rest.cap() > 0 {
        let first = rest.get_u8()?;
        if first & 0x80 == 0 {
            rest.skip(id_bytes)?;
            let packet = rest.get_bytes(rest.cap())?;
            return frames(packet, first, take);
        }
        rest.skip(4)?;
        for _ in 0..2 {
            rest.get_bytes_with_u8_length()?;
        }
        let kind = first >> 4 & 3;
        if kind == 0 {
            rest.get_bytes_with_varint_length()?;
        }
        let packet = rest.get_bytes_with_varint_length()?;
        if kind == 1 {
            frames(packet, first, take)?;
        }
    }
    Ok(())
}

/// The same for a packet's frames, after its IDs and length (RFC 9000, 19). `first` is its first byte.
fn frames(mut packet: Octets<'_>, first: u8, take: &mut impl FnMut(u64, u64, usize)) -> Read {
    packet.skip(usize::from(first & 3) + 1)?;
    let payload_bytes = packet.cap().saturating_sub(TAG_BYTES);
    let mut rest = packet.get_bytes(payload_bytes)?;
    while rest.cap() > 0 {
        match rest.get_varint()? {
            0x00 | 0x01 | 0x1e => {}
            kind @ 0x02..=0x03 => {
                skip_numbers(&mut rest, 2)?;
                let ranges = rest.get_varint()?;
                skip_numbers(&mut rest, 1 + 2 * ranges + if kind == 0x03 { 3 } else { 0 })?;
            }
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => skip_numbers(&mut rest, 1)?,
            0x05 | 0x11 | 0x15 => skip_numbers(&mut rest, 2)?,
            0x04 => skip_numbers(&mut rest, 3)?,
            0x06 | 0x1d => {
                skip_numbers(&mut rest, 1)?;
                rest.get_bytes_with_varint_length()?;
            }
            0x07 | 0x31 => {
                rest.get_bytes_with_varint_length()?;
            }
            kind @ 0x08..=0x0f => {
                let stream = rest.get_varint()?;
                let offset = if kind & 4 != 0 { rest.get_varint()? } else { 0 };
                let length = if kind & 2 != 0 { size(rest.get_varint()?) } else { rest.cap() };
                rest.skip(length)?;
                take(stream, offset, length);
            }
            0x18 => {
                skip_numbers(&mut rest, 2)?;
                rest.get_bytes_with_u8_length()?;
                rest.skip(16)?;
            }
            0x1a | 0x1b => rest.skip(8)?,
            0x1c => {
                skip_numbers(&mut rest, 2)?;
                rest.get_bytes_with_varint_length()?;
            }
            // A DATAGRAM up to the end, or a frame that the transport would have rejected.
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn skip_numbers(rest: &mut Octets<'_>, count: u64) -> Read {
    for _ in 0..count {
        rest.get_varint()?;
    }
    Ok(())
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a short header, an ID of 4 bytes and a packet number of 2.
    fn packet(frames: &[&[u8]]) -> Vec<u8> {
        [&[0x41, 1, 2, 3, 4, 0, 9], frames.concat().as_slice(), &[0xff; TAG_BYTES]].concat()
    }

    fn found(datagram: &[u8]) -> Vec<(u64, u64, usize)> {
        let mut found = Vec::new();
        stream_frames(datagram, 4, &mut |stream, offset, length| {
            found.push((stream, offset, length));
        })
        .expect("a whole datagram");
        found
    }

    #[test]
    fn stream_frames_are_found_among_all_others() {
        let others: [&[u8]; 12] = [
            &[0x00, 0x00, 0x01],
            &[0x02, 9, 0, 1, 0, 0, 0],
            &[0x03, 9, 0, 0, 0, 1, 2, 3],
            &[0x04, 0, 1, 2],
            &[0x05, 0, 1],
            &[0x06, 0, 2, 7, 7],
            &[0x10, 1, 0x11, 4, 1, 0x12, 1],
            &[0x18, 1, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x19, 0],
            &[0x1a, 0, 1, 2, 3, 4, 5, 6, 7],
            &[0x31, 1, 7],
            &[0x1c, 0, 0, 1, 7],
        ];
        for other in others {
            let frames = [other, &[0x0e, 4, 10, 2, 7, 7], &[0x0d, 8, 20, 7, 7, 7]];
            assert_eq!(found(&packet(&frames)), [(4, 10, 2), (8, 20, 3)], "{other:x?}");
        }
    }

    #[test]
    fn packets_before_the_last_are_skipped_unless_they_carry_early_data() {
        let long = |first: u8, token: &[u8], payload: &[u8]| {
            let length = u8::try_from(1 + payload.len() + TAG_BYTES).expect("short");
            let head = [&[first, 0, 0, 0, 1, 1, 9, 0], token, &[length, 0]].concat();
            [&head, payload, &[0; TAG_BYTES]].concat()
        };
        let piece = [0x0e, 0, 5, 1, 7];
        let initial = long(0xc0, &[1, 9], &piece);
        let (early, handshake) = (long(0xd0, &[], &piece), long(0xe0, &[], &piece));
        let all = [initial, early, handshake, packet(&[&[0x0e, 4, 6, 1, 7]])].concat();
        assert_eq!(found(&all), [(0, 5, 1), (4, 6, 1)]);
    }

    fn came(pieces: &mut Pieces, stream: u8, offset: u8) {
        pieces.came(&packet(&[&[0x0e, stream, offset, 1, 7]]), 4, |_| false);
    }

    #[test]
    fn a_piece_is_held_until_the_stream_was_read_beyond_it() {
        let mut pieces = Pieces::default();
        for offset in [0, 2, 4, 4, 6] {
            came(&mut pieces, 0, offset);
        }
        assert_eq!(pieces.bytes(), 3 * (PIECE_BYTES + 1), "one can be read, one came twice");
        pieces.read(0, 5);
        assert_eq!(pieces.bytes(), PIECE_BYTES + 1);
        came(&mut pieces, 0, 3);
        assert_eq!(pieces.bytes(), PIECE_BYTES + 1, "that was read");
        pieces.ended(0);
        assert_eq!(pieces.bytes(), 0);
    }

    #[test]
    fn nothing_is_held_of_a_stream_that_is_not_read_any_more_or_is_over() {
        let mut pieces = Pieces::default();
        came(&mut pieces, 4, 9);
        pieces.left(4, |_| false);
        came(&mut pieces, 4, 20);
        pieces.came(&packet(&[&[0x0e, 8, 9, 1, 7]]), 4, |_| true);
        assert_eq!(pieces.bytes(), 0);
        pieces.left(8, |_| true);
        assert_eq!(pieces.read.len(), 1, "streams that are over are not remembered");
    }

    #[test]
    fn any_bytes_are_read_without_a_panic() {
        let mut random: u64 = 1;
        for length in (0..1200).step_by(3) {
            let next = |_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                random.to_le_bytes()[6]
            };
            let noise: Vec<u8> = (0..length).map(next).collect();
            stream_frames(&noise, 20, &mut |_, _, _| {}).ok();
        }
    }
}
