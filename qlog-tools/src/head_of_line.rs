//! Head-of-line blocking: how long arrived bytes waited for missing ones.
//!
//! For each byte: `A` is its arrival. `Dq` is when QUIC could deliver it: the latest arrival of all bytes up to it in its
//! own stream. `Dt` is when one ordered stream (TCP) could have delivered it: the latest arrival of all bytes that were
//! first sent no later than it. `Dq - A` is the blocking within the stream, and `Dt - Dq` is what one order for all streams
//! would add (Marx et al. 2019, section 5.2 and Figure 13). Bytes that never arrived block nothing: the log may end before
//! they do.

mod order;

use std::collections::BTreeMap;

use crate::number_ranges::NumberRanges;
use crate::packed_frames::PackedFrames;
use crate::trace::Trace;
use order::Atoms;
use serde::Serialize;

/// The input of the computation.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals<'a> {
    /// The STREAM frames as they arrived. If `sent` is unknown, the packet numbers, if known, distinguish overtaken frames
    /// from retransmitted ones.
    pub frames: &'a PackedFrames,
    /// The frames as the other side sent them, retransmissions included. Without them, or if they lack bytes that arrived,
    /// the order is estimated: data that fills a hole is placed at the first lost packet after its predecessor in the
    /// stream, otherwise right after the predecessor.
    pub sent: Option<&'a PackedFrames>,
    /// The numbers of all arrived packets, if known. A missing packet first had the bytes that fill a hole, so without
    /// `sent`, its number shows when these were sent.
    pub received: Option<&'a NumberRanges>,
}

impl<'a> Arrivals<'a> {
    /// The arrivals from a client's log, and the sent frames from the server's.
    pub fn of(client: &'a Trace, sent: Option<&'a PackedFrames>) -> Self {
        Self { frames: &client.arrivals, sent, received: client.received() }
    }
}

/// The blocking of one connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HeadOfLine {
    /// Whether the order of sending was known, not estimated.
    #[serde(rename = "exact")]
    pub is_exact: bool,
    /// Distinct bytes that arrived.
    pub bytes: u64,
    /// Within streams.
    pub intra: Blocking,
    /// The blocking that one order for all streams would add.
    pub inter: Blocking,
    /// The most bytes that one arrival let QUIC deliver.
    pub largest_stack: Stack,
    /// The most bytes that one arrival would let one ordered stream deliver.
    pub largest_stack_in_one_order: Stack,
    /// The bytes that waited longest within their stream; `None` if none waited.
    pub longest: Option<LongestWait>,
    /// By stream.
    pub streams: Vec<StreamBlocking>,
    /// The arrived bytes: with `delivered`, about 32 bytes for each part of a frame.
    #[serde(skip)]
    atoms: Atoms,
    /// For each atom, the arrival after which QUIC could deliver it. Arrivals are compared by index, so that equal
    /// timestamps keep their order.
    #[serde(skip)]
    delivered: Vec<u32>,
}

/// A distribution of delays over bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Blocking {
    /// The sum over bytes of their delay, in byte milliseconds.
    pub bytes_ms: f64,
    /// The mean over all bytes.
    pub mean_ms: f64,
    /// The delay that 95 of 100 bytes did not exceed.
    pub p95_ms: f64,
    /// The share of bytes that were delayed at all, 0 to 1.
    pub delayed_share: f64,
}

/// Bytes that had arrived and waited for earlier ones of their stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LongestWait {
    /// Their stream.
    pub stream: u64,
    /// The offset of the first of them.
    pub offset: u64,
    /// When they arrived, on the client's clock.
    pub arrived_ms: f64,
    /// How long they waited.
    pub wait_ms: f64,
}

/// The bytes that one arrival released at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// Frames, or parts of them.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The blocking of one stream's bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StreamBlocking {
    /// The stream.
    #[serde(rename = "id")]
    pub stream: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The mean wait of its bytes within the stream.
    pub intra_ms: f64,
    /// The same for the wait that one order would add: the stream's gain from QUIC's independent streams.
    pub inter_ms: f64,
    /// How much earlier its last byte could be read than in one order.
    pub completion_gain_ms: f64,
}

/// Bytes of one stream that arrived together and were sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The stream.
    pub stream: u64,
    /// The offset of the first.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// The arrival that brought them, as an index into the frames.
    pub arrived: usize,
    /// The arrival after which QUIC could deliver them.
    pub delivered: usize,
    /// The arrival after which one order could.
    pub delivered_in_one_order: usize,
}

impl HeadOfLine {
    /// Computed from the arrivals, in O(n log n) of the frames.
    pub fn new(arrivals: Arrivals<'_>) -> Self {
        let atoms = Atoms::new(arrivals);
        let delivered = delivered(&atoms);
        let hol = Self { is_exact: atoms.is_exact, atoms, delivered, ..Self::default() };
        let times_us: Vec<u64> = arrivals.frames.iter().map(|(frame, _)| frame.time_us).collect();
        let mut sums: BTreeMap<u64, Sums> = BTreeMap::new();
        let (mut intra, mut inter) = (Delays::default(), Delays::default());
        let (mut largest, mut largest_in_one_order) = (Largest::default(), Largest::default());
        // Within streams, an arrival releases only bytes of its own stream, in order.
        for (atom, &delivered) in hol.atoms.by_offset.iter().zip(&hol.delivered) {
            largest.add(delivered as usize, atom.frame as usize, atom.end - atom.start);
        }
        let mut longest: Option<LongestWait> = None;
        for piece in hol.pieces() {
            let [arrived_us, delivered_us, in_one_order_us] =
                [piece.arrived, piece.delivered, piece.delivered_in_one_order]
                    .map(|place| times_us[place]);
            // A log's clock may step back; no wait is negative.
            let intra_us = delivered_us.saturating_sub(arrived_us);
            let inter_us = in_one_order_us.saturating_sub(delivered_us.max(arrived_us));
            let wait_ms = intra_us as f64 / 1000.0;
            if wait_ms > longest.map_or(0.0, |it| it.wait_ms) {
                let Piece { stream, offset, .. } = piece;
                let arrived_ms = arrived_us as f64 / 1000.0;
                longest = Some(LongestWait { stream, offset, arrived_ms, wait_ms });
            }
            intra.add(intra_us, piece.bytes);
            inter.add(inter_us, piece.bytes);
            let sum = sums.entry(piece.stream).or_default();
            sum.bytes = sum.bytes.saturating_add(piece.bytes);
            sum.intra_byte_us = added(sum.intra_byte_us, intra_us, piece.bytes);
            sum.inter_byte_us = added(sum.inter_byte_us, inter_us, piece.bytes);
            sum.last_us = sum.last_us.max(delivered_us);
            sum.last_in_one_order_us = sum.last_in_one_order_us.max(in_one_order_us);
            largest_in_one_order.add(piece.delivered_in_one_order, piece.arrived, piece.bytes);
        }
        let streams = sums.into_iter().map(|(stream, sum)| StreamBlocking {
            stream,
            bytes: sum.bytes,
            intra_ms: mean_ms(sum.intra_byte_us, sum.bytes),
            inter_ms: mean_ms(sum.inter_byte_us, sum.bytes),
            completion_gain_ms: sum.last_in_one_order_us.saturating_sub(sum.last_us) as f64
                / 1000.0,
        });
        Self {
            bytes: intra.bytes,
            intra: intra.blocking(),
            inter: inter.blocking(),
            largest_stack: largest.finish(),
            largest_stack_in_one_order: largest_in_one_order.finish(),
            longest,
            streams: streams.collect(),
            ..hol
        }
    }

    /// Which bytes were delivered by which arrival, in order of sending.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        let mut latest = 0;
        self.atoms.order.iter().map(move |&place| {
            latest = self.atoms.by_offset[place as usize].frame.max(latest);
            self.piece(place as usize, latest)
        })
    }

    /// The bytes that each of `frames` arrivals made readable, over QUIC and in one order.
    pub fn released(&self, frames: usize) -> Vec<[u64; 2]> {
        let mut released = vec![[0_u64; 2]; frames];
        for piece in self.pieces() {
            let own = &mut released[piece.delivered][0];
            *own = own.saturating_add(piece.bytes);
            let in_one_order = &mut released[piece.delivered_in_one_order][1];
            *in_one_order = in_one_order.saturating_add(piece.bytes);
        }
        released
    }

    fn piece(&self, place: usize, latest: u32) -> Piece {
        let (atom, delivered) = (&self.atoms.by_offset[place], self.delivered[place]);
        Piece {
            stream: self.atoms.streams[atom.stream as usize],
            offset: atom.start,
            bytes: atom.end - atom.start,
            arrived: atom.frame as usize,
            delivered: delivered as usize,
            delivered_in_one_order: latest.max(delivered) as usize,
        }
    }
}

fn delivered(atoms: &Atoms) -> Vec<u32> {
    let mut delivered = Vec::with_capacity(atoms.by_offset.len());
    for of_stream in atoms.by_offset.chunk_by(|one, other| one.stream == other.stream) {
        let mut latest = 0;
        delivered.extend(of_stream.iter().map(|atom| {
            latest = atom.frame.max(latest);
            latest
        }));
    }
    delivered
}

/// The largest stack, in bytes, of pieces that arrive stack by stack.
#[derive(Default)]
struct Largest {
    most: Stack,
    stack: Stack,
    /// The arrival that released the stack, and the one that brought its last piece.
    last: Option<(usize, usize)>,
}

impl Largest {
    fn add(&mut self, released_by: usize, arrived: usize, bytes: u64) {
        if self.last.is_some_and(|(released, _)| released != released_by) {
            self.close();
        }
        let is_same_frame = self.last == Some((released_by, arrived));
        self.stack.frames += u64::from(!is_same_frame);
        self.stack.bytes = self.stack.bytes.saturating_add(bytes);
        self.last = Some((released_by, arrived));
    }

    fn close(&mut self) {
        let stack = std::mem::take(&mut self.stack);
        if (stack.bytes, stack.frames) > (self.most.bytes, self.most.frames) {
            self.most = stack;
        }
    }

    fn finish(mut self) -> Stack {
        self.close();
        self.most
    }
}

fn mean_ms(byte_us: u128, bytes: u64) -> f64 {
    byte_us as f64 / 1000.0 / bytes.max(1) as f64
}

fn added(sum: u128, delay_us: u64, bytes: u64) -> u128 {
    sum.saturating_add(u128::from(delay_us) * u128::from(bytes))
}

#[derive(Default)]
struct Sums {
    bytes: u64,
    intra_byte_us: u128,
    inter_byte_us: u128,
    last_us: u64,
    last_in_one_order_us: u64,
}

/// Delays and how many bytes had them.
#[derive(Default)]
struct Delays {
    bytes: u64,
    byte_us: u128,
    /// Bytes by delay, without undelayed ones.
    delayed: BTreeMap<u64, u64>,
}

impl Delays {
    fn add(&mut self, delay_us: u64, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.byte_us = added(self.byte_us, delay_us, bytes);
        if delay_us > 0 {
            let delayed = self.delayed.entry(delay_us).or_default();
            *delayed = delayed.saturating_add(bytes);
        }
    }

    fn blocking(&self) -> Blocking {
        let delayed = self.delayed.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let mut most = 0_u64;
        let p95 = self.delayed.iter().rev().find(|(_, bytes)| {
            most = most.saturating_add(**bytes);
            most > self.bytes / 20
        });
        Blocking {
            bytes_ms: self.byte_us as f64 / 1000.0,
            mean_ms: mean_ms(self.byte_us, self.bytes),
            // The longest delay, without the 5 % most delayed bytes.
            p95_ms: p95.map_or(0, |(delay_us, _)| *delay_us) as f64 / 1000.0,
            delayed_share: delayed as f64 / self.bytes.max(1) as f64,
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
#[expect(clippy::cast_possible_truncation, reason = "the streams of tests are short")]
mod tests;
