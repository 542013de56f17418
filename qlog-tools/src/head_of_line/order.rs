//! The bytes that arrived, cut so that each part came in one frame and was first sent in one
//! frame, and the order of first sending.

use std::collections::{BTreeMap, BTreeSet};

use super::Arrivals;
use crate::assembly::Assembly;
use crate::packed_frames::PackedFrames;

/// Bytes `[start, end)` of a stream and the frame that first had them. There are millions: 24
/// bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Atom {
    /// Its stream, as a place in the streams.
    pub(super) stream: u32,
    /// As a place in the frames.
    pub(super) frame: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What arrived, in two orders.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Atoms {
    /// The streams' IDs, rising.
    pub(super) streams: Vec<u64>,
    /// By stream and offset.
    pub(super) by_offset: Vec<Atom>,
    /// The places of `by_offset` in order of first sending.
    pub(super) order: Vec<u32>,
    /// Whether that order is known rather than estimated.
    pub(super) is_exact: bool,
}

/// Where a part stands in the order: a place, and after how many others of that place.
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
            let ranks = ranks(arrivals.frames);
            let (streams, atoms) = first_frames(arrivals.frames);
            let keys = estimated_order(&atoms, &ranks);
            (streams, atoms, keys)
        });
        let mut order: Vec<u32> = (0..to_u32(atoms.len())).collect();
        // Parts with the same key keep the order of streams and offsets, which is that of `atoms`.
        order.sort_unstable_by_key(|&place| (keys[place as usize], place));
        Self { streams, by_offset: atoms, order, is_exact }
    }
}

/// Places fit: a log's frames are limited to fewer, and no memory holds more.
fn to_u32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The streams, and the first frame to have each byte, by stream and offset.
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

/// Cuts what arrived by what was sent. `None` if the sender's log does not have all of it.
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

/// The rank of each frame's packet number, or of its place where the packet has no number.
fn ranks(frames: &PackedFrames) -> Vec<u32> {
    let numbers: Vec<u64> =
        frames.iter().zip(0..).map(|((_, packet), place)| packet.unwrap_or(place)).collect();
    let mut sorted: Vec<u32> = (0..to_u32(numbers.len())).collect();
    sorted.sort_by_key(|&place| numbers[place as usize]);
    let mut ranks = vec![0; numbers.len()];
    let (mut rank, mut before) = (0, None);
    for place in sorted {
        let number = numbers[place as usize];
        rank += u32::from(before.is_some_and(|before| before != number));
        before = Some(number);
        ranks[place as usize] = rank;
    }
    ranks
}

/// The order by packet number, or by arrival where there is no number. A part that came in a later
/// packet than a part behind it was sent before that part all the same: it is placed right after
/// the part before it in the stream.
fn estimated_order(atoms: &[Atom], ranks: &[u32]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::with_capacity(atoms.len());
    let mut earliest_behind = Vec::new();
    for parts in atoms.chunk_by(|one, other| one.stream == other.stream) {
        let rank = |part: &Atom| ranks[part.frame as usize];
        earliest_behind.clear();
        earliest_behind.resize(parts.len() + 1, u32::MAX);
        for (place, part) in parts.iter().enumerate().rev() {
            earliest_behind[place] = earliest_behind[place + 1].min(rank(part));
        }
        let mut previous: Option<Key> = None;
        for (part, &behind) in parts.iter().zip(&earliest_behind[1..]) {
            let key = match previous {
                _ if rank(part) <= behind => (rank(part), 0),
                Some((place, after)) => (place, after + 1),
                None => (behind, 0),
            };
            previous = Some(key);
            keys.push(key);
        }
    }
    keys
}
