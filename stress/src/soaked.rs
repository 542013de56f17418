//! The outcome of a soak, and whether the server held.

use crate::guests::Seen;
use crate::outcome::percentile_ms;
use crate::trend::{Trend, median};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// An attack of a soak, and the phase before it.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    /// The attack.
    pub attack: &'static str,
    /// When the round ended, in seconds from the start.
    pub ended_s: f64,
    /// Complete and correct bodies.
    pub bodies: usize,
    /// Half of them took no longer than this.
    pub p50_ms: f64,
    /// 99 of 100 took no longer than this.
    pub p99_ms: f64,
    /// The server's resident bytes: the median of the round.
    pub memory_bytes: Option<f64>,
    /// The most of them.
    pub memory_most: Option<u64>,
    /// The server's descriptors: the median of the round.
    pub descriptors: Option<f64>,
}

/// Resident bytes and descriptors of the server.
pub(crate) type Sample = (u64, u64);

impl Round {
    pub(crate) fn new(
        attack: &'static str,
        ended: Duration,
        mut times: Vec<Duration>,
        samples: &[Sample],
    ) -> Self {
        times.sort();
        let (memory, descriptors) = (samples.iter().map(|it| it.0), samples.iter().map(|it| it.1));
        let is_sampled = !samples.is_empty();
        Self {
            attack,
            ended_s: ended.as_secs_f64(),
            bodies: times.len(),
            p50_ms: percentile_ms(&times, 50),
            p99_ms: percentile_ms(&times, 99),
            memory_most: memory.clone().max(),
            memory_bytes: is_sampled.then(|| median(memory.map(|it| it as f64).collect())),
            descriptors: is_sampled.then(|| median(descriptors.map(|it| it as f64).collect())),
        }
    }
}

/// The outcome of a soak.
#[derive(Debug, Clone, Serialize)]
pub struct Soaked {
    /// The guests' observations.
    pub seen: Seen,
    /// The rounds, in chronological order.
    pub rounds: Vec<Round>,
    /// The trend of memory in the second half; absent without a process ID, or with few rounds.
    pub memory: Option<Trend>,
    /// The descriptors of the second half.
    pub descriptors: Option<Trend>,
    /// The conditions that failed; empty if the server held.
    pub failures: Vec<String>,
}

impl Soaked {
    /// Judges a soak; `attacked`: the server's forbidden actions towards attackers.
    pub(crate) fn judge(seen: Seen, rounds: Vec<Round>, attacked: &BTreeMap<String, u64>) -> Self {
        let half = &rounds[rounds.len() / 2..];
        let memory = trend(half, |round| round.memory_bytes);
        let descriptors = trend(half, |round| round.descriptors);
        let mut failures: Vec<String> = seen
            .wrong
            .iter()
            .chain(attacked)
            .map(|(text, count)| format!("{count} x {text}"))
            .collect();
        if seen.bodies == 0 {
            failures.push("no body came".to_owned());
        }
        for (name, trend) in [("memory", memory), ("descriptors", descriptors)] {
            if let Some(trend) = trend.filter(|trend| !trend.is_flat()) {
                failures.push(format!("{name}: {:.0} more per hour", trend.per_hour));
            }
        }
        Self { seen, rounds, memory, descriptors, failures }
    }
}

fn trend(rounds: &[Round], figure: fn(&Round) -> Option<f64>) -> Option<Trend> {
    let points = rounds.iter().filter_map(|it| Some((it.ended_s, figure(it)?)));
    Trend::of(&points.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of a server whose memory grows by this number of bytes per second after some time.
    fn failures(bytes_per_second: u64, wrong: BTreeMap<String, u64>) -> Vec<String> {
        let round = |number: u64| {
            let memory = 20_000_000 + (number % 3) * 10_000 + number * 10 * bytes_per_second;
            Round::new(
                "a",
                Duration::from_secs(number * 10),
                vec![],
                &[(memory, 12), (1 << 30, 12), (0, 12)],
            )
        };
        let seen = Seen { bodies: 1, wrong, ..Seen::default() };
        Soaked::judge(seen, (1..=60).map(round).collect(), &BTreeMap::new()).failures
    }

    #[test]
    fn a_wrong_body_and_memory_that_rises_are_failures() {
        assert_eq!(failures(0, BTreeMap::new()), Vec::<String>::new());
        assert_eq!(failures(1000, BTreeMap::new()), ["memory: 3600000 more per hour"]);
        assert_eq!(
            failures(0, BTreeMap::from([("/: other bytes".to_owned(), 2)])),
            ["2 x /: other bytes"]
        );
    }
}
