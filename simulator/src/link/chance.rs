//! The random events of a datagram: a function only of the seed and the datagram's number, so that two
//! schemes with the same seed meet the same link.

use super::bottleneck::nanoseconds;
use super::profile::{EveryNth, GilbertElliott, Jitter, Loss, Profile, is_in_turn};
use super::{Cause, Way};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A separate random stream for each kind of event: omitting one does not change the others.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    loss: ChaCha8Rng,
    jitter: ChaCha8Rng,
    reorder: ChaCha8Rng,
    duplicate: ChaCha8Rng,
    corrupt: ChaCha8Rng,
    /// Gilbert and Elliott's bad state.
    bad: bool,
    lost_in_a_row: u32,
    number: u64,
}

/// The random events of one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fate {
    /// It never arrives.
    pub(super) lost: Option<Cause>,
    /// It leaves after this many later ones.
    pub(super) held_for: Option<u32>,
    /// It arrives later by this.
    pub(super) late_ns: u64,
    /// It arrives twice.
    pub(super) duplicated: bool,
    /// Where a byte changes (as a number to take the remainder of), and how.
    pub(super) corrupted: Option<(u64, u8)>,
}

impl Chance {
    pub(super) fn new(seed: u64, way: Way) -> Self {
        let stream = |cause: u64| {
            let mut source = ChaCha8Rng::seed_from_u64(seed);
            source.set_stream(cause * 2 + u64::from(way == Way::Up));
            source
        };
        Self {
            loss: stream(0),
            jitter: stream(1),
            reorder: stream(2),
            duplicate: stream(3),
            corrupt: stream(4),
            bad: false,
            lost_in_a_row: 0,
            number: 0,
        }
    }

    pub(super) fn fate(&mut self, profile: &Profile) -> Fate {
        self.number += 1;
        let by_chance = profile.loss.is_some_and(|it| self.loses(it));
        let lost = if profile.drops.contains(&self.number) {
            Some(Cause::Listed)
        } else {
            by_chance.then_some(Cause::Loss)
        };
        let late = profile.reorder.filter(|it| happens(&mut self.reorder, it.share));
        let corrupted = happens(&mut self.corrupt, profile.corrupt);
        let (position, change) = (self.corrupt.next_u64(), self.corrupt.next_u32());
        let (held_for, jitter_ns) = self.jittered(profile.jitter);
        Fate {
            lost,
            held_for,
            late_ns: late.map_or(0, |it| nanoseconds(it.by_ms * 1e6)) + jitter_ns,
            duplicated: happens(&mut self.duplicate, profile.duplicate),
            corrupted: corrupted.then(|| (position, change.to_le_bytes()[0].max(1))),
        }
    }

    /// The number of later datagrams that leave before this one, and its delay.
    fn jittered(&mut self, jitter: Option<Jitter>) -> (Option<u32>, u64) {
        match jitter {
            None => (None, 0),
            Some(Jitter::ByChance(it)) => {
                let held = happens(&mut self.jitter, it.share);
                let later = later(&mut self.jitter, it.later);
                (held.then_some(later), 0)
            }
            Some(Jitter::InTurn(it)) => {
                let later = later(&mut self.jitter, it.later);
                (is_in_turn(it.every, self.number).then_some(later), 0)
            }
            Some(Jitter::ByNumber(it)) => {
                let late_ns = late_ns(&mut self.jitter, it);
                (None, if is_in_turn(it.every, self.number) { late_ns } else { 0 })
            }
        }
    }

    fn loses(&mut self, loss: Loss) -> bool {
        let gone = match loss {
            Loss::Independent(share) => happens(&mut self.loss, share),
            Loss::Capped(it) => {
                happens(&mut self.loss, it.share) && self.lost_in_a_row < it.burst_max
            }
            Loss::GilbertElliott(it) => self.loses_by_state(it),
        };
        self.lost_in_a_row = if gone { self.lost_in_a_row + 1 } else { 0 };
        gone
    }

    fn loses_by_state(&mut self, it: GilbertElliott) -> bool {
        let lost = happens(&mut self.loss, if self.bad { it.bad } else { it.good });
        let turns = happens(&mut self.loss, if self.bad { it.to_good } else { it.to_bad });
        self.bad ^= turns;
        lost
    }
}

fn late_ns(source: &mut ChaCha8Rng, jitter: EveryNth) -> u64 {
    let [least, most] = jitter.late_ms;
    nanoseconds((least + (most - least) * drawn(source)) * 1e6)
}

/// The number of later datagrams.
fn later(source: &mut ChaCha8Rng, [least, most]: [u32; 2]) -> u32 {
    // The range is so small that the remainder's bias is below 1e-9.
    let later = u64::from(least) + source.next_u64() % u64::from(most - least + 1);
    u32::try_from(later).unwrap_or(most)
}

/// Draws once, whatever the share.
fn happens(source: &mut ChaCha8Rng, share: f64) -> bool {
    drawn(source) < share
}

/// From 0 to below 1.
fn drawn(source: &mut ChaCha8Rng) -> f64 {
    (source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
