//! The effects of one direction of a network on datagrams.

use super::trace::Trace;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::sync::Arc;

/// One direction of a network. Rates and queues count UDP payload bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// How fast datagrams leave.
    pub rate: Rate,
    /// From leaving to arriving, in milliseconds.
    pub delay_ms: f64,
    /// The room for datagrams that wait to leave, including the leaving one. A datagram without room is dropped.
    pub queue: Queue,
    /// Datagrams that leave but never arrive.
    pub loss: Option<Loss>,
    /// Lets others overtake some datagrams, as in the paper.
    pub jitter: Option<Jitter>,
    /// Datagrams that arrive late by a fixed time.
    pub reorder: Option<Reorder>,
    /// The share of datagrams that arrive twice.
    pub duplicate: f64,
    /// The share of datagrams that arrive with one byte changed.
    pub corrupt: f64,
    /// Intervals in which nothing arrives.
    pub blackhole: Option<Blackhole>,
    /// Marks datagrams that find a long queue.
    pub ecn: Option<EcnMark>,
    /// Datagrams that are dropped by number. The first offered datagram is 1.
    pub drops: Vec<u64>,
}

impl Profile {
    /// A link with only a rate (bit/s) and a delay.
    pub fn plain(rate: f64, delay_ms: f64) -> Self {
        Self {
            rate: Rate::Constant(rate),
            delay_ms,
            queue: Queue::Unlimited,
            loss: None,
            jitter: None,
            reorder: None,
            duplicate: 0.0,
            corrupt: 0.0,
            blackhole: None,
            ecn: None,
            drops: Vec::new(),
        }
    }
}

/// How fast datagrams leave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rate {
    /// Bit/s; infinity if something else sets the pace.
    Constant(f64),
    /// Opportunities to leave.
    Trace(#[serde(serialize_with = "super::trace::serialize")] Arc<Trace>),
}

impl Rate {
    /// Bits a second, on average.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Trace(trace) => trace.mean_rate(),
        }
    }
}

/// The limit of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// Anything.
    Unlimited,
    /// This many bytes.
    Bytes(u64),
    /// This many datagrams.
    Packets(u64),
}

/// Loss by chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "loss: a share as 0.01, { share, burst_max }, or { good, bad, to_bad, to_good }"
)]
pub enum Loss {
    /// Each datagram independently, with this probability.
    Independent(f64),
    /// The same, with a limit on consecutive losses.
    Capped(CappedLoss),
    /// Gilbert and Elliott's two states.
    GilbertElliott(GilbertElliott),
}

/// Independent loss with a limit, like the QUIC interop runner's `drop-rate`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CappedLoss {
    /// Probability.
    pub share: f64,
    /// The most consecutive losses.
    pub burst_max: u32,
}

/// Gilbert and Elliott's model: a good and a bad state, each with its own loss. It starts in the good one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability of loss in the good state.
    pub good: f64,
    /// Probability of loss in the bad state.
    pub bad: f64,
    /// Probability of going from good to bad, at each datagram.
    pub to_bad: f64,
    /// Probability of going back.
    pub to_good: f64,
}

/// Lets datagrams be overtaken, as in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "jitter: { share or every, later = [least, most] }, or { every, late_ms = [least, most] }"
)]
pub enum Jitter {
    /// By the paper's text, with a random choice of the held datagrams.
    ByChance(Overtaken),
    /// By the paper's text, with the held datagrams chosen by number.
    InTurn(OvertakenInTurn),
    /// As its implementation did.
    ByNumber(EveryNth),
}

/// The jitter in the paper's text (section 5.2): some datagrams are held until a few later ones have left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overtaken {
    /// The share that is held.
    pub share: f64,
    /// The number of later ones that leave first: minimum and maximum, uniformly distributed.
    pub later: [u32; 2],
    /// A held datagram leaves after this time at the latest.
    #[serde(default = "held_at_most_ms")]
    pub at_most_ms: f64,
}

/// The same, but one in N datagrams is held: "about one packet in four" (section 5.2), counted as in the paper's
/// implementation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OvertakenInTurn {
    /// One in this number of datagrams is held; the first time after twice as many.
    pub every: u64,
    /// As [`Overtaken::later`].
    pub later: [u32; 2],
    /// As [`Overtaken::at_most_ms`].
    #[serde(default = "held_at_most_ms")]
    pub at_most_ms: f64,
}

fn held_at_most_ms() -> f64 {
    50.0
}

/// The jitter of the paper's implementation: it counted packets and sent each fourth one, except the first of them, 20 to
/// 25 ms late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EveryNth {
    /// One in this number of datagrams is late; the first time after twice as many.
    pub every: u64,
    /// The delay: minimum and maximum, uniformly distributed.
    pub late_ms: [f64; 2],
}

/// Whether `number`, counted from 1, is one of the one in `every` datagrams.
pub(super) fn is_in_turn(every: u64, number: u64) -> bool {
    number > every && number.is_multiple_of(every)
}

/// Lateness by a fixed time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// The share that is late.
    pub share: f64,
    /// By how much.
    pub by_ms: f64,
}

/// Intervals in which leaving datagrams never arrive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blackhole {
    /// The intervals, in milliseconds from the link's start.
    pub windows_ms: Vec<[f64; 2]>,
    /// The period after which the intervals repeat.
    pub every_ms: Option<f64>,
}

impl Blackhole {
    /// Whether a datagram that leaves at `departs_ns` is swallowed.
    pub(super) fn swallows(&self, departs_ns: u64) -> bool {
        let elapsed_ms = departs_ns as f64 / 1e6;
        let phase_ms = self.every_ms.map_or(elapsed_ms, |every_ms| elapsed_ms % every_ms);
        self.windows_ms.iter().any(|[from, to]| (*from..*to).contains(&phase_ms))
    }
}

/// Congestion marks (RFC 3168). They are recorded with the verdict; our transport does not read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcnMark {
    /// A datagram is marked if it finds more bytes than this ahead of it.
    pub above_bytes: u64,
}

/// Why a profile is impossible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{key} = {value}: {remedy}")]
pub struct Impossible {
    key: &'static str,
    value: String,
    remedy: &'static str,
}

impl Profile {
    /// Rejects values that no link can have, by their key.
    pub fn check(&self) -> Result<(), Impossible> {
        if let Rate::Constant(rate) = self.rate {
            within("rate", rate, 1e3..=1e11, "bits a second, from 1e3 to 1e11")?;
        }
        within("delay_ms", self.delay_ms, 0.0..=60_000.0, "from 0 to 60000")?;
        match self.queue {
            Queue::Bytes(bytes) => {
                let remedy = "room for one datagram at least, 2000 bytes";
                demand(bytes >= DATAGRAM_BYTES, "queue.bytes", bytes, remedy)?;
            }
            Queue::Packets(count) => demand(count > 0, "queue.packets", count, "1 or more")?,
            Queue::Unlimited => {}
        }
        share("duplicate", self.duplicate)?;
        share("corrupt", self.corrupt)?;
        self.check_loss()?;
        self.jitter.as_ref().map_or(Ok(()), Jitter::check)?;
        if let Some(it) = self.reorder {
            share("reorder.share", it.share)?;
            within("reorder.by_ms", it.by_ms, 0.0..=60_000.0, "from 0 to 60000")?;
        }
        self.blackhole.as_ref().map_or(Ok(()), Blackhole::check)
    }

    fn check_loss(&self) -> Result<(), Impossible> {
        match self.loss {
            None => Ok(()),
            Some(Loss::Independent(it)) => share("loss", it),
            Some(Loss::Capped(it)) => {
                let remedy = "1 or more; for no loss leave `loss` out";
                demand(it.burst_max > 0, "loss.burst_max", it.burst_max, remedy)?;
                share("loss.share", it.share)
            }
            Some(Loss::GilbertElliott(it)) => {
                share("loss.good", it.good)?;
                share("loss.bad", it.bad)?;
                share("loss.to_bad", it.to_bad)?;
                share("loss.to_good", it.to_good)
            }
        }
    }
}

impl Jitter {
    /// The latest departure of a held datagram, in milliseconds.
    pub(super) fn held_at_most_ms(&self) -> f64 {
        match self {
            Self::ByChance(it) => it.at_most_ms,
            Self::InTurn(it) => it.at_most_ms,
            Self::ByNumber(_) => 0.0,
        }
    }

    fn check(&self) -> Result<(), Impossible> {
        match self {
            Self::ByChance(it) => {
                share("jitter.share", it.share)?;
                check_later(it.later)?;
            }
            Self::InTurn(it) => {
                demand(it.every > 0, "jitter.every", it.every, "1 or more")?;
                check_later(it.later)?;
            }
            Self::ByNumber(it) => {
                demand(it.every > 0, "jitter.every", it.every, "1 or more")?;
                let [least, most] = it.late_ms;
                let holds = 0.0 <= least && least <= most && most <= 60_000.0;
                let remedy = "the least and the most, from 0 to 60000";
                demand(holds, "jitter.late_ms", format_args!("[{least}, {most}]"), remedy)?;
            }
        }
        within("jitter.at_most_ms", self.held_at_most_ms(), 0.0..=60_000.0, "from 0 to 60000")
    }
}

fn check_later([least, most]: [u32; 2]) -> Result<(), Impossible> {
    let holds = 0 < least && least <= most && most <= 1000;
    let remedy = "the least and the most, from 1 to 1000";
    demand(holds, "jitter.later", format_args!("[{least}, {most}]"), remedy)
}

impl Blackhole {
    fn check(&self) -> Result<(), Impossible> {
        let end_ms = self.every_ms.unwrap_or(f64::MAX);
        demand(end_ms > 0.0, "blackhole.every_ms", end_ms, "more than 0")?;
        let remedy = "[from, to] with 0 <= from < to, and to not beyond every_ms";
        self.windows_ms.iter().try_for_each(|[from, to]| {
            let holds = 0.0 <= *from && from < to && *to <= end_ms;
            demand(holds, "blackhole.windows_ms", format_args!("[{from}, {to}]"), remedy)
        })
    }
}

/// The minimum room of a queue in bytes.
const DATAGRAM_BYTES: u64 = 2000;

fn share(key: &'static str, value: f64) -> Result<(), Impossible> {
    within(key, value, 0.0..=1.0, "a share, from 0 to 1, such as 0.05 for 5 %")
}

fn within(
    key: &'static str,
    value: f64,
    allowed: std::ops::RangeInclusive<f64>,
    remedy: &'static str,
) -> Result<(), Impossible> {
    demand(allowed.contains(&value), key, value, remedy)
}

fn demand(
    holds: bool,
    key: &'static str,
    value: impl Display,
    remedy: &'static str,
) -> Result<(), Impossible> {
    if holds { Ok(()) } else { Err(Impossible { key, value: value.to_string(), remedy }) }
}
