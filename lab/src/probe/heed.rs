//! Does a server respect the rest of RFC 9218: `i`, and `PRIORITY_UPDATE`?

use super::verdict::{IN_FLIGHT, Interval, LEFT_MIN, SHARE_MIN};
use super::{Kind, Run};
use crate::study::statistics::median;
use serde::Serialize;

/// Responses count as sequential if no more than this share of the others had begun when the first was complete.
const SEQUENTIAL_MAX: f64 = 0.5;

/// Whether a server respects one kind of signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heeds {
    /// It does.
    Heeds,
    /// It has an effect, but much else comes first.
    Weakly,
    /// It has no effect.
    Ignores,
    /// The runs do not show it.
    Inconclusive,
    /// An interval still lies on both sides of a threshold: more runs would decide.
    Undecided,
}

/// The answer for one kind of signal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heed {
    /// The answer.
    pub verdict: Heeds,
    /// Why, in a sentence.
    pub why: String,
    /// The measured value.
    pub measured: Interval,
}

/// `i`: incremental responses must all begin before the first is complete, others must not. Measured: the share that had
/// begun.
pub(super) fn incremental(runs: &[Run]) -> Heed {
    let [plain, measured] = [Kind::Control, Kind::Incremental]
        .map(|kind| Interval::of(&of(runs, kind, |run| run.begun_share)));
    let (verdict, why) = if measured.low >= SHARE_MIN && plain.high <= SEQUENTIAL_MAX {
        let why = "incremental responses share, and others follow one another";
        (Heeds::Heeds, why.to_owned())
    } else if measured.high <= SEQUENTIAL_MAX {
        (Heeds::Ignores, "incremental responses follow one another".to_owned())
    } else if plain.low >= SHARE_MIN {
        let why = "all responses share, also those that are not incremental";
        (Heeds::Ignores, why.to_owned())
    } else {
        let why = format!(
            "{:.0} % of the incremental responses had begun before one was complete, and {:.0} % of the others",
            100.0 * measured.mean,
            100.0 * plain.mean
        );
        (Heeds::Undecided, why)
    };
    Heed { verdict, why, measured }
}

/// `PRIORITY_UPDATE`: a waiting response must overtake the others once it becomes urgent. Measured: the bytes before it after
/// that, in multiples of its size.
pub(super) fn updates(runs: &[Run]) -> Heed {
    let measured = Interval::of(&of(runs, Kind::Updated, Run::others_first));
    let [kept_waiting, updated] =
        [Kind::Inverse, Kind::Updated].map(|kind| Interval::of(&of(runs, kind, Run::others_share)));
    let left = median(&of(runs, Kind::Updated, Run::left));
    let was_alone = left.is_some_and(|it| it < LEFT_MIN);
    let times = format!("{:.2} times its size", measured.mean);
    let (verdict, why) = if was_alone || kept_waiting.high < SHARE_MIN {
        let why = "a response that can wait did not wait long enough to become urgent";
        (Heeds::Inconclusive, why.to_owned())
    } else if measured.high <= IN_FLIGHT && kept_waiting.low >= SHARE_MIN {
        (Heeds::Heeds, format!("{times} of the others came before a response that became urgent"))
    } else if updated.low >= SHARE_MIN {
        let why =
            format!("a response that became urgent continues to wait: {times} came before it");
        (Heeds::Ignores, why)
    } else if measured.low > IN_FLIGHT && updated.high < SHARE_MIN {
        let why = format!("a response that became urgent gains, but {times} still came before it");
        (Heeds::Weakly, why)
    } else {
        let why = "the intervals do not clear the thresholds; allow more runs with --repeats-max";
        (Heeds::Undecided, why.to_owned())
    };
    Heed { verdict, why, measured }
}

/// A value of each run of a kind.
pub(super) fn of(runs: &[Run], kind: Kind, value: fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().filter(|run| run.kind == kind).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kind: Kind, others_bytes: u64, begun_share: f64) -> Run {
        Run {
            kind,
            others_bytes,
            begun_share,
            ahead_bytes: 0,
            left_bytes: 7000,
            late_bytes: 1000,
            late_ms: 1.0,
        }
    }

    #[test]
    fn incremental_responses_must_share_and_others_must_not() {
        let verdict = |plain, shared| {
            let runs = [run(Kind::Control, 0, plain), run(Kind::Incremental, 0, shared)];
            incremental(&[runs, runs].concat()).verdict
        };
        assert_eq!(verdict(0.125, 1.0), Heeds::Heeds);
        assert_eq!(verdict(1.0, 1.0), Heeds::Ignores);
        assert_eq!(verdict(0.125, 0.125), Heeds::Ignores);
        assert_eq!(verdict(0.6, 0.8), Heeds::Undecided);
    }

    #[test]
    fn an_update_must_let_a_response_overtake_that_would_have_waited() {
        let verdict = |inverse, updated| {
            let runs = [run(Kind::Inverse, inverse, 0.0), run(Kind::Updated, updated, 0.0)];
            updates(&[runs, runs].concat()).verdict
        };
        assert_eq!(verdict(7000, 10), Heeds::Heeds);
        assert_eq!(verdict(7000, 7000), Heeds::Ignores);
        assert_eq!(verdict(7000, 2000), Heeds::Weakly);
        // Newest first: it never waits.
        assert_eq!(verdict(10, 10), Heeds::Inconclusive);
    }
}
