//! Decides when pushed bytes may be sent, so that they do not delay the response to which they belong (*Rules of Thumb*,
//! rule 2).

use schedulers::SplitMix64;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use std::fmt;
use std::str::FromStr;

/// A gate between pushed responses and the wire.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr,
)]
pub enum Gate {
    /// Pushes use the time until the main response is ready, and stop then.
    Preempt,
    /// Nothing is pushed before the main response has been sent.
    Strict,
    /// Until the main response has been sent, at most this many pushed bytes are in flight.
    Throttle(u64),
    /// The bad baseline: pushed bytes are committed as they arrive, up to a buffer of this size, and more urgent data
    /// waits behind them.
    EagerFifo(u64),
    /// The other bad baseline: a main response and its pushes are sent in random order, as from handlers that a scheduler
    /// wakes in any order. The seed determines which pushes come first.
    Shuffle(u64),
}

/// The state of the main response and of the pushed bytes, for a gate's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// Whether the main response has not been sent completely.
    pub main_open: bool,
    /// Whether bytes of it could be sent now.
    pub main_ready: bool,
    /// Pushed bytes that are sent and not acknowledged.
    pub pushed_in_flight_bytes: u64,
}

/// The text is not a gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GateError {
    #[error(
        "`{0}` is not a push gate; there are: preempt, strict, throttle:BYTES, eager-fifo:BYTES, shuffle:SEED"
    )]
    Unknown(String),
    #[error("`throttle:0` sends nothing before the document: write `strict`")]
    Closed,
}

impl Gate {
    /// The number of pushed bytes that may be sent now.
    pub fn allowance_bytes(self, pending: Pending) -> u64 {
        match self {
            Self::EagerFifo(_) => u64::MAX,
            _ if !pending.main_open => u64::MAX,
            Self::Strict | Self::Shuffle(_) => 0,
            _ if pending.main_ready => 0,
            Self::Preempt => u64::MAX,
            Self::Throttle(bytes) => bytes.saturating_sub(pending.pushed_in_flight_bytes),
        }
    }

    /// Whether the push on `stream` precedes the main response on `main`, regardless of other limits: true in a shuffle,
    /// where the main response is equally likely to be at any place.
    pub fn goes_before(self, stream: u64, main: u64) -> bool {
        match self {
            Self::Shuffle(seed) => mixed(seed, stream) < mixed(seed, main),
            _ => false,
        }
    }
}

/// A pseudo-random number for each stream.
fn mixed(seed: u64, stream: u64) -> u64 {
    let [seed, stream] = [seed, stream].map(|it| SplitMix64::state_at(it.wrapping_add(1)));
    SplitMix64::mixed(SplitMix64::mixed(seed) ^ stream)
}

/// As configuration files have it.
impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preempt => write!(formatter, "preempt"),
            Self::Strict => write!(formatter, "strict"),
            Self::Throttle(bytes) => write!(formatter, "throttle:{bytes}"),
            Self::EagerFifo(bytes) => write!(formatter, "eager-fifo:{bytes}"),
            Self::Shuffle(seed) => write!(formatter, "shuffle:{seed}"),
        }
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let parsed = match text.split_once(':') {
            Some((name, bytes)) => bytes.parse().ok().map(|bytes| (name, Some(bytes))),
            None => Some((text, None)),
        };
        match parsed {
            Some(("preempt", None)) => Ok(Self::Preempt),
            Some(("strict", None)) => Ok(Self::Strict),
            Some(("throttle", Some(0))) => Err(GateError::Closed),
            Some(("throttle", Some(bytes))) => Ok(Self::Throttle(bytes)),
            Some(("eager-fifo", Some(bytes))) => Ok(Self::EagerFifo(bytes)),
            Some(("shuffle", Some(seed))) => Ok(Self::Shuffle(seed)),
            _ => Err(GateError::Unknown(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_open_as_their_rows_say() {
        let state =
            |main_open, main_ready| Pending { main_open, main_ready, pushed_in_flight_bytes: 400 };
        let all = u64::MAX;
        // The main response: thinking, ready, gone.
        let rows = [
            (Gate::Preempt, [all, 0, all]),
            (Gate::Strict, [0, 0, all]),
            (Gate::Throttle(1000), [600, 0, all]),
            (Gate::Throttle(100), [0, 0, all]),
            (Gate::EagerFifo(435_000), [all, all, all]),
            (Gate::Shuffle(1), [0, 0, all]),
        ];
        for (gate, expected) in rows {
            let seen = [state(true, false), state(true, true), state(false, false)]
                .map(|it| gate.allowance_bytes(it));
            assert_eq!(seen, expected, "{gate:?}");
        }
    }

    #[test]
    fn in_a_shuffle_the_main_response_is_at_any_place_as_often_as_at_any_other() {
        let mut times = [0; 5];
        for seed in 0..5000 {
            let pushes = [15, 19, 23, 27];
            let before =
                pushes.iter().filter(|it| Gate::Shuffle(seed).goes_before(**it, 0)).count();
            times[before] += 1;
        }
        assert!(times.iter().all(|it| (900..1100).contains(it)), "{times:?}");
        assert!(!Gate::Preempt.goes_before(15, 0));
    }

    #[test]
    fn texts_are_read_or_refused() {
        assert_eq!("throttle:8900".parse(), Ok(Gate::Throttle(8900)));
        assert_eq!("strict".parse(), Ok(Gate::Strict));
        assert_eq!("shuffle:7".parse(), Ok(Gate::Shuffle(7)));
        for text in ["preempt", "strict", "throttle:8900", "eager-fifo:435000", "shuffle:7"] {
            assert_eq!(text.parse::<Gate>().expect("a gate").to_string(), text);
        }
        for wrong in ["", "throttle", "throttle:0", "throttle:x", "strict:1", "fifo"] {
            assert!(wrong.parse::<Gate>().is_err(), "{wrong}");
        }
    }
}
