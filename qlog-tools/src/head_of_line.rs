//! Head-of-line blocking: how long bytes that had arrived waited for bytes that had not.
//!
//! For each byte: `A` is when it arrived; `Dq`, when QUIC could deliver it, the latest arrival of
//! all bytes up to it in its own stream; `Dt`, when one ordered stream (TCP) could have, the
//! latest arrival of all bytes that were first sent no later than it. `Dq - A` is blocking within
//! the stream, `Dt - Dq` what one order for all streams would add (Marx et al. 2019, section 5.2
//! and Figure 13). Bytes that never arrived block nobody: the log may end before they do.

mod order;

use std::collections::BTreeMap;

use crate::timeline::StreamFrame;
use order::{Atom, atoms};

/// What to compute from.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals<'a> {
    /// The STREAM frames as they arrived.
    pub frames: &'a [StreamFrame],
    /// For each frame the number of its packet, or none at all: it tells a frame that was
    /// overtaken from one that was sent again, when `sent` is not known.
    pub packets: &'a [Option<u64>],
    /// The frames as the other side sent them, retransmissions included. Without them the order
    /// is estimated: what fills a hole is placed right after what precedes it in its stream.
    pub sent: Option<&'a [StreamFrame]>,
}

/// The blocking of one connection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeadOfLine {
    /// Whether the order of sending was known rather than estimated.
    pub is_exact: bool,
    /// Distinct bytes that arrived.
    pub bytes: u64,
    /// Within streams.
    pub intra: Blocking,
    /// What one order for all streams would add.
    pub inter: Blocking,
    /// The most that one arrival let QUIC deliver.
    pub largest_stack: Stack,
    /// The most that one arrival would let one ordered stream deliver.
    pub largest_stack_in_one_order: Stack,
    /// By stream.
    pub streams: Vec<StreamBlocking>,
    /// What was delivered when and by which arrival, in order of sending: for figures.
    pub pieces: Vec<Piece>,
}

/// A distribution of delays over bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Blocking {
    /// The sum over bytes of their delay, in byte milliseconds.
    pub bytes_ms: f64,
    /// The mean over all bytes.
    pub mean_ms: f64,
    /// 95 of 100 bytes were delayed no longer.
    pub p95_ms: f64,
    /// The share of bytes that were delayed at all, 0 to 1.
    pub delayed_share: f64,
}

/// What one arrival let go at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stack {
    /// Frames, or parts of them.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The blocking of one stream's bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamBlocking {
    /// The stream.
    pub stream: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The mean over its bytes of what they waited within the stream.
    pub intra_ms: f64,
    /// And of what one order would add: what the stream gains by QUIC's independent streams.
    pub inter_ms: f64,
    /// How much earlier its last byte could be read than in one order.
    pub completion_gain_ms: f64,
}

/// Bytes of one stream that arrived together and went together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The stream.
    pub stream: u64,
    /// How many.
    pub bytes: u64,
    /// The arrival that brought them, as a place in the frames.
    pub arrived: usize,
    /// The arrival after which QUIC could deliver them.
    pub delivered: usize,
    /// The arrival after which one order could.
    pub delivered_in_one_order: usize,
}

impl HeadOfLine {
    /// From what arrived. O(n log n) in the frames.
    pub fn new(arrivals: Arrivals<'_>) -> Self {
        let frames = arrivals.frames;
        let pieces = delivered(&atoms(arrivals), frames);
        let mut sums: BTreeMap<u64, Sums> = BTreeMap::new();
        let (mut intra, mut inter) = (Delays::default(), Delays::default());
        for piece in &pieces {
            let [arrived, delivered, in_one_order] =
                [piece.arrived, piece.delivered, piece.delivered_in_one_order]
                    .map(|place| frames[place].time_us);
            // A log's clock may step back; no wait is negative.
            let intra_us = delivered.saturating_sub(arrived);
            let inter_us = in_one_order.saturating_sub(delivered.max(arrived));
            intra.add(intra_us, piece.bytes);
            inter.add(inter_us, piece.bytes);
            let sum = sums.entry(piece.stream).or_default();
            sum.bytes += piece.bytes;
            sum.intra_byte_us += u128::from(intra_us) * u128::from(piece.bytes);
            sum.inter_byte_us += u128::from(inter_us) * u128::from(piece.bytes);
            sum.last_us = sum.last_us.max(delivered);
            sum.last_in_one_order_us = sum.last_in_one_order_us.max(in_one_order);
        }
        Self {
            is_exact: arrivals.sent.is_some(),
            bytes: intra.bytes,
            intra: intra.blocking(),
            inter: inter.blocking(),
            largest_stack: largest(&pieces, |piece| piece.delivered),
            largest_stack_in_one_order: largest(&pieces, |piece| piece.delivered_in_one_order),
            streams: sums.iter().map(|(&stream, sum)| sum.blocking(stream)).collect(),
            pieces,
        }
    }
}

/// The two deliveries of each atom. Arrivals are compared by their place, so that equal
/// timestamps keep their order.
fn delivered(atoms: &[Atom], frames: &[StreamFrame]) -> Vec<Piece> {
    let mut latest_of_stream: BTreeMap<u64, usize> = BTreeMap::new();
    let mut by_offset: Vec<usize> = (0..atoms.len()).collect();
    by_offset.sort_by_key(|&place| (atoms[place].stream, atoms[place].offset));
    let mut delivered = vec![0; atoms.len()];
    for place in by_offset {
        let atom = &atoms[place];
        let latest = latest_of_stream.entry(atom.stream).or_default();
        *latest = (*latest).max(atom.arrived);
        delivered[place] = *latest;
    }
    let mut latest = 0;
    let piece = |(atom, delivered): (&Atom, usize)| {
        latest = latest.max(atom.arrived);
        debug_assert!(atom.arrived < frames.len(), "each atom is part of a frame");
        Piece {
            stream: atom.stream,
            bytes: atom.bytes,
            arrived: atom.arrived,
            delivered,
            delivered_in_one_order: latest.max(delivered),
        }
    };
    atoms.iter().zip(delivered).map(piece).collect()
}

fn largest(pieces: &[Piece], released_by: impl Fn(&Piece) -> usize) -> Stack {
    let mut stacks: BTreeMap<usize, (Stack, usize)> = BTreeMap::new();
    for piece in pieces {
        let (stack, last) =
            stacks.entry(released_by(piece)).or_insert((Stack::default(), usize::MAX));
        stack.bytes += piece.bytes;
        stack.frames += u64::from(*last != piece.arrived);
        *last = piece.arrived;
    }
    let stacks = stacks.into_values().map(|(stack, _)| stack);
    stacks.max_by_key(|stack| (stack.frames, stack.bytes)).unwrap_or_default()
}

#[derive(Default)]
struct Sums {
    bytes: u64,
    intra_byte_us: u128,
    inter_byte_us: u128,
    last_us: u64,
    last_in_one_order_us: u64,
}

impl Sums {
    fn blocking(&self, stream: u64) -> StreamBlocking {
        let mean_ms = |byte_us: u128| byte_us as f64 / 1000.0 / self.bytes.max(1) as f64;
        let gain_us = self.last_in_one_order_us.saturating_sub(self.last_us);
        StreamBlocking {
            stream,
            bytes: self.bytes,
            intra_ms: mean_ms(self.intra_byte_us),
            inter_ms: mean_ms(self.inter_byte_us),
            completion_gain_ms: gain_us as f64 / 1000.0,
        }
    }
}

/// Delays and how many bytes had them.
#[derive(Default)]
struct Delays {
    bytes: u64,
    byte_us: u128,
    /// Bytes by delay, those without delay left out.
    delayed: BTreeMap<u64, u64>,
}

impl Delays {
    fn add(&mut self, delay_us: u64, bytes: u64) {
        self.bytes += bytes;
        self.byte_us += u128::from(delay_us) * u128::from(bytes);
        if delay_us > 0 {
            *self.delayed.entry(delay_us).or_default() += bytes;
        }
    }

    fn blocking(&self) -> Blocking {
        let delayed: u64 = self.delayed.values().sum();
        let share = |bytes: u64| bytes as f64 / self.bytes.max(1) as f64;
        Blocking {
            bytes_ms: self.byte_us as f64 / 1000.0,
            mean_ms: self.byte_us as f64 / 1000.0 / self.bytes.max(1) as f64,
            p95_ms: self.p95_us() as f64 / 1000.0,
            delayed_share: share(delayed),
        }
    }

    /// The longest delay but that of the 5 % most delayed bytes.
    fn p95_us(&self) -> u64 {
        let mut above = self.bytes / 20;
        for (&delay_us, &bytes) in self.delayed.iter().rev() {
            if bytes > above {
                return delay_us;
            }
            above -= bytes;
        }
        0
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
#[expect(clippy::cast_possible_truncation, reason = "the streams of tests are short")]
mod tests;
