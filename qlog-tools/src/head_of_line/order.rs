//! The arrived bytes, divided so that each part arrived in one frame and was first sent in one frame, and the order of first
//! sending.

use std::collections::{BTreeMap, BTreeSet};

use super::Arrivals;
use crate::assembly::Assembly;
use crate::number_ranges::NumberRanges;
use crate::packed_frames::PackedFrames;

/// Bytes `[start, end)` of a stream and the first frame that had them. There are millions of these, of 24 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Atom {
    /// Its stream, as an index into the streams.
    pub(super) stream: u32,
    /// As a place in the frames.
    pub(super) frame: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The arrived parts, in two orders.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Atoms {
    /// The streams' IDs, rising.
    pub(super) streams: Vec<u64>,
    /// By stream and offset.
    pub(super) by_offset: Vec<Atom>,
    /// The indices into `by_offset` in order of first sending.
    pub(super) order: Vec<u32>,
    pub(super) is_exact: bool,
}

/// A part's place in the order: a place, and its rank among the parts of that place.
type Key = (u32, u32);

impl Atoms {
    pub(super) fn new(arrivals: Arrivals<'_>) -> Self {
        let known = arrivals.sent.and_then(|sent| {
            let (streams, arrived) = first_frames(arrivals.frames);
            let (atoms, keys) = known_order(&streams, &arrived, &first_frames(sent))?;
            Some((streams, atoms, keys))
        });
        let is_exact = known.is_some();
        let (streams, atoms, keys) = known.unwrap_or_else(|| {
            let (streams, atoms) = first_frames(arrivals.frames);
            let keys = estimated_order(&atoms, &Packets::of(arrivals));
            (streams, atoms, keys)
        });
        let mut order: Vec<u32> = (0..to_u32(atoms.len())).collect();
        // Parts with the same key keep the order of streams and offsets, which is the order of `atoms`.
        order.sort_unstable_by_key(|&place| (keys[place as usize], place));
        Self { streams, by_offset: atoms, order, is_exact }
    }
}

/// Converts an index. It fits: a log has fewer frames, and no memory holds more.
fn to_u32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The streams, and the first frame that had each byte, by stream and offset.
fn first_frames(frames: &PackedFrames) -> (Vec<u64>, Vec<Atom>) {
    let streams: BTreeSet<u64> = frames.iter().map(|(frame, _)| frame.stream).collect();
    let mut assemblies: BTreeMap<u64, (u32, Assembly)> =
        streams.iter().zip(0..).map(|(&id, place)| (id, (place, Assembly::default()))).collect();
    let mut atoms = Vec::with_capacity(frames.len() + frames.len() / 32);
    for ((it, _), frame) in frames.iter().zip(0..) {
        let Some((stream, assembly)) = assemblies.get_mut(&it.stream) else { continue };
        let fresh = assembly.fresh_parts(it.offset, it.offset.saturating_add(it.bytes));
        let stream = *stream;
        atoms.extend(fresh.into_iter().map(|(start, end)| Atom { stream, frame, start, end }));
        assembly.receive(&it);
    }
    atoms.sort_unstable_by_key(|atom| (atom.stream, atom.start));
    (streams.into_iter().collect(), atoms)
}

/// Divides the arrived parts by the sent frames. `None` if the sender's log does not have all of them.
fn known_order(
    streams: &[u64],
    arrived: &[Atom],
    (sent_streams, sent): &(Vec<u64>, Vec<Atom>),
) -> Option<(Vec<Atom>, Vec<Key>)> {
    let mut atoms = Vec::with_capacity(arrived.len() + arrived.len() / 32);
    let mut keys = Vec::with_capacity(atoms.capacity());
    for parts in arrived.chunk_by(|one, other| one.stream == other.stream) {
        let stream = sent_streams.binary_search(&streams[parts[0].stream as usize]).ok()?;
        let first = sent.partition_point(|it| (it.stream as usize) < stream);
        let end = sent.partition_point(|it| it.stream as usize <= stream);
        let mut sent = sent[first..end].iter().peekable();
        for part in parts {
            let mut start = part.start;
            while start < part.end {
                while sent.next_if(|it| it.end <= start).is_some() {}
                let cover = sent.peek().filter(|it| it.start <= start)?;
                let end = cover.end.min(part.end);
                atoms.push(Atom { start, end, ..*part });
                keys.push((cover.frame, 0));
                start = end;
            }
        }
    }
    Some((atoms, keys))
}

struct Packets<'a> {
    /// The number of each frame's packet, or the frame's index if the packet has no number.
    numbers: Vec<u64>,
    /// All these numbers, rising.
    distinct: Vec<u64>,
    /// The other arrived packets.
    received: Option<&'a NumberRanges>,
}

impl<'a> Packets<'a> {
    fn of(arrivals: Arrivals<'a>) -> Self {
        let frames = arrivals.frames.iter().zip(0..);
        let numbers: Vec<u64> =
            frames.map(|((_, packet), place)| packet.unwrap_or(place)).collect();
        let mut distinct = numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        Self { numbers, distinct, received: arrivals.received }
    }

    fn number(&self, part: &Atom) -> u64 {
        self.numbers[part.frame as usize]
    }

    /// The number of distinct packet numbers below this one.
    fn below(&self, number: u64) -> u32 {
        to_u32(self.distinct.partition_point(|it| *it < number))
    }

    /// The place of a frame: after all packets with lower numbers.
    fn key(&self, number: u64) -> Key {
        (self.below(number) + 1, 0)
    }

    /// The place of the contents of a missing packet.
    fn key_of_lost(&self, number: u64) -> Key {
        const AFTER_ALL: u32 = 1 << 31;
        let below = self.below(number);
        let before =
            self.distinct.get((below as usize).wrapping_sub(1)).copied().unwrap_or_default();
        let distance = u32::try_from(number - before).unwrap_or(AFTER_ALL).min(AFTER_ALL - 1);
        (below, AFTER_ALL + distance)
    }
}

/// The order by packet number, or by arrival without numbers. A part that arrived in a later packet than a part after it was
/// nevertheless sent before that part. It is placed in the first missing packet after its predecessor's packet, otherwise
/// right after its predecessor.
fn estimated_order(atoms: &[Atom], packets: &Packets<'_>) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::with_capacity(atoms.len());
    let mut earliest_behind = Vec::new();
    for parts in atoms.chunk_by(|one, other| one.stream == other.stream) {
        earliest_behind.clear();
        earliest_behind.resize(parts.len() + 1, u64::MAX);
        for (place, part) in parts.iter().enumerate().rev() {
            earliest_behind[place] = earliest_behind[place + 1].min(packets.number(part));
        }
        let mut previous: Option<(u64, Key)> = None;
        for (part, &behind) in parts.iter().zip(&earliest_behind[1..]) {
            let own = packets.number(part);
            let lost =
                previous.and_then(|(above, _)| packets.received?.first_missing(above, behind));
            let (number, key) = match (previous, lost) {
                _ if own <= behind => (own, packets.key(own)),
                (_, Some(lost)) => (lost, packets.key_of_lost(lost)),
                (Some((above, (place, after))), None) => (above, (place, after.saturating_add(1))),
                (None, None) => (behind, packets.key(behind)),
            };
            previous = Some((number, key));
            keys.push(key);
        }
    }
    keys
}
