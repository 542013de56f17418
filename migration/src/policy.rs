//! Which responses a server moves, and when (SMig, section 4.4).

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The rules of a server: a response moves if any of them applies. Without rules, no response moves.
///
/// ```
/// let policy: migration::Policy = toml::from_str(
///     "size = { above_bytes = 1_000_000, beside = 1 }
///      blocking = { above_ms = 500, beside = 0 }
///      unknown_after_bytes = 102_400",
/// )?;
/// assert_eq!(policy.size.map(|it| it.beside), Some(1));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Large responses.
    pub size: Option<SizeRule>,
    /// Responses that others would wait for too long.
    pub blocking: Option<BlockingRule>,
    /// Bytes of the response's stream that stay: a response moves after they were sent. 102400 in the paper. Default:
    /// 0.
    pub after_bytes: u64,
    /// Responses of unknown size, after this many bytes; 102400 in the paper.
    pub unknown_after_bytes: Option<u64>,
}

/// Moves a response of more than `above_bytes` (the paper's s0) beside at least `beside` others (n0, which counts the
/// response, too).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { above_bytes = 1_000_000, beside = 1 }")]
pub struct SizeRule {
    /// The largest size that stays.
    pub above_bytes: u64,
    /// The minimum number of other responses in progress.
    pub beside: usize,
}

/// Moves a response that takes longer than `above_ms` at the present rate (t0) beside at least `beside` others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { above_ms = 500, beside = 1 }")]
pub struct BlockingRule {
    /// The longest time that stays.
    pub above_ms: u64,
    /// The minimum number of other responses in progress.
    pub beside: usize,
}

/// The facts that a server knows about a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Candidate {
    /// Its size, if known.
    pub bytes: Option<u64>,
    /// How much of it was sent.
    pub sent_bytes: u64,
    /// Other responses in progress on its connection.
    pub others: usize,
    /// The delivery rate of the path, if measured.
    pub bytes_per_second: Option<u64>,
}

impl Policy {
    /// Whether a rule depends on a response's size.
    pub fn knows_sizes(&self) -> bool {
        self.size.is_some() || self.blocking.is_some()
    }

    /// The number of bytes after which to call [`Self::moves`], besides when other responses begin or end.
    pub fn asks_after_bytes(&self, size_is_known: bool) -> Option<u64> {
        if size_is_known {
            Some(self.after_bytes).filter(|it| self.knows_sizes() && *it > 0)
        } else {
            self.unknown_after_bytes
        }
    }

    /// Whether the response should move now.
    pub fn moves(&self, candidate: &Candidate) -> bool {
        let Candidate { bytes, sent_bytes, others, .. } = *candidate;
        let Some(bytes) = bytes else {
            return self.unknown_after_bytes.is_some_and(|it| sent_bytes >= it);
        };
        if sent_bytes < self.after_bytes {
            return false;
        }
        let is_large = self.size.is_some_and(|it| bytes > it.above_bytes && others >= it.beside);
        is_large
            || self.blocking.is_some_and(|rule| {
                let above = Duration::from_millis(rule.above_ms);
                others >= rule.beside && blocking_time(candidate).is_some_and(|time| time > above)
            })
    }
}

/// How long the rest of a response blocks the others: s/b, an upper bound.
pub fn blocking_time(candidate: &Candidate) -> Option<Duration> {
    let rest = u128::from(candidate.bytes?.saturating_sub(candidate.sent_bytes));
    let rate = candidate.bytes_per_second.filter(|it| *it > 0)?;
    let micros = rest * 1_000_000 / u128::from(rate);
    Some(Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    /// 10 Mbit/s.
    const RATE: u64 = 1_250_000;

    #[test]
    fn one_megabyte_at_ten_megabits_blocks_for_0_84_seconds() {
        let candidate =
            Candidate { bytes: Some(MIB), bytes_per_second: Some(RATE), ..Candidate::default() };
        assert_eq!(blocking_time(&candidate), Some(Duration::from_micros(838_860)));
        let half = Candidate { sent_bytes: MIB / 2, ..candidate };
        assert_eq!(blocking_time(&half), Some(Duration::from_micros(419_430)));
        assert_eq!(blocking_time(&Candidate { bytes_per_second: Some(0), ..candidate }), None);
    }

    #[test]
    fn each_rule_begins_just_above_its_thresholds() {
        let size =
            Policy { size: Some(SizeRule { above_bytes: MIB, beside: 1 }), ..Policy::default() };
        let blocking = Policy {
            blocking: Some(BlockingRule { above_ms: 838, beside: 1 }),
            ..Policy::default()
        };
        let unknown = Policy { unknown_after_bytes: Some(102_400), ..Policy::default() };
        let part = Policy { after_bytes: 100, ..size };
        let either = Policy { blocking: blocking.blocking, ..size };
        let table = [
            // policy, size, sent, others, rate, moves
            (size, Some(MIB), 0, 2, None, false),
            (size, Some(MIB + 1), 0, 0, None, false),
            (size, Some(MIB + 1), 0, 1, None, true),
            (size, None, 50 * MIB, 2, None, false),
            (blocking, Some(MIB - 1076), 0, 2, Some(RATE), false),
            (blocking, Some(MIB), 0, 2, Some(RATE), true),
            (blocking, Some(MIB), 0, 0, Some(RATE), false),
            (blocking, Some(MIB), 0, 2, Some(2 * RATE), false),
            (blocking, Some(MIB), 0, 2, None, false),
            (unknown, None, 102_399, 0, None, false),
            (unknown, None, 102_400, 0, None, true),
            (unknown, Some(MIB), 102_400, 9, Some(1), false),
            (part, Some(MIB + 1), 99, 2, None, false),
            (part, Some(MIB + 1), 100, 2, None, true),
            (either, Some(MIB), 0, 2, Some(RATE), true),
            (either, Some(MIB + 1), 0, 2, Some(9 * RATE), true),
            (Policy::default(), Some(50 * MIB), 0, 9, Some(1), false),
        ];
        for (policy, bytes, sent_bytes, others, bytes_per_second, moves) in table {
            let candidate = Candidate { bytes, sent_bytes, others, bytes_per_second };
            assert_eq!(policy.moves(&candidate), moves, "{candidate:?} under {policy:?}");
        }
    }

    #[test]
    fn a_configuration_with_an_unknown_key_is_rejected() {
        assert!(toml::from_str::<Policy>("sise = 1").is_err());
        assert!(toml::from_str::<Policy>("size = { above_bytes = 1 }").is_err());
        assert_eq!(toml::from_str::<Policy>(""), Ok(Policy::default()));
    }
}
