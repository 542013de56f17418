//! The bytes that arrived, cut so that each part came in one frame and was first sent in one
//! frame, in the order of first sending.

use std::collections::BTreeMap;

use super::Arrivals;
use crate::assembly::Assembly;
use crate::timeline::StreamFrame;

/// Bytes `[offset, offset + bytes)` of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) stream: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The frame that brought them first.
    pub(super) arrived: usize,
}

/// A part of a stream and a number of the frame that first had it.
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    frame: usize,
}

/// Where a part stands in the order: a place, and after how many others of that place.
type Key = (u64, u64);

/// The atoms in order of first sending.
pub(super) fn atoms(arrivals: Arrivals<'_>) -> Vec<Atom> {
    let arrived = segments(arrivals.frames);
    let sent = arrivals.sent.map(segments);
    let mut keyed: Vec<(Key, Atom)> = Vec::new();
    for (stream, parts) in &arrived {
        match &sent {
            Some(sent) => {
                let sent = sent.get(stream).map_or(&[][..], Vec::as_slice);
                known_order(*stream, parts, sent, &mut keyed);
            }
            None => estimated_order(*stream, parts, arrivals.packets, &mut keyed),
        }
    }
    keyed.sort_by_key(|&(key, atom)| (key, atom.stream, atom.offset));
    keyed.into_iter().map(|(_, atom)| atom).collect()
}

/// The first frame to have each byte, by stream and offset.
fn segments(frames: &[StreamFrame]) -> BTreeMap<u64, Vec<Segment>> {
    let mut streams: BTreeMap<u64, (Assembly, Vec<Segment>)> = BTreeMap::new();
    for (frame, it) in frames.iter().enumerate() {
        let (assembly, parts) = streams.entry(it.stream).or_default();
        let fresh = assembly.fresh_parts(it.offset, it.offset.saturating_add(it.bytes));
        parts.extend(fresh.into_iter().map(|(start, end)| Segment { start, end, frame }));
        assembly.receive(it);
    }
    let sorted = |(stream, (_, mut parts)): (u64, (Assembly, Vec<Segment>))| {
        parts.sort_by_key(|part| part.start);
        (stream, parts)
    };
    streams.into_iter().map(sorted).collect()
}

/// Cuts what arrived by what was sent. Bytes that the sender's log does not have come last.
fn known_order(stream: u64, arrived: &[Segment], sent: &[Segment], into: &mut Vec<(Key, Atom)>) {
    let mut next = 0;
    for part in arrived {
        let mut start = part.start;
        while sent.get(next).is_some_and(|it| it.end <= start) {
            next += 1;
        }
        let mut cover = next;
        while start < part.end {
            let (end, key) = match sent.get(cover) {
                Some(it) if it.start <= start => (it.end, (it.frame as u64, 0)),
                Some(it) => (it.start, (u64::MAX, part.frame as u64)),
                None => (part.end, (u64::MAX, part.frame as u64)),
            };
            let end = end.min(part.end);
            let atom = Atom { stream, offset: start, bytes: end - start, arrived: part.frame };
            into.push((key, atom));
            start = end;
            cover += usize::from(sent.get(cover).is_some_and(|it| it.end <= start));
        }
    }
}

/// The order by packet number, or by arrival where there is none. A part that came in a later
/// packet than a part behind it was sent before that part all the same: it is placed right after
/// the part before it in the stream.
fn estimated_order(
    stream: u64,
    arrived: &[Segment],
    packets: &[Option<u64>],
    into: &mut Vec<(Key, Atom)>,
) {
    let place = |part: &Segment| {
        let number = packets.get(part.frame).copied().flatten();
        number.unwrap_or(part.frame as u64)
    };
    let mut earliest_behind = vec![u64::MAX; arrived.len() + 1];
    for index in (0..arrived.len()).rev() {
        earliest_behind[index] = earliest_behind[index + 1].min(place(&arrived[index]));
    }
    let mut previous: Option<Key> = None;
    for (index, part) in arrived.iter().enumerate() {
        let own = place(part);
        let behind = earliest_behind[index + 1];
        let key = match previous {
            _ if own <= behind => (own, 0),
            Some((place, after)) => (place, after + 1),
            None => (behind, 0),
        };
        previous = Some(key);
        let (offset, bytes) = (part.start, part.end - part.start);
        into.push((key, Atom { stream, offset, bytes, arrived: part.frame }));
    }
}
