//! The measure of a load: a metric, or a mix of metrics.

use super::answer::Index;
use super::trial::{BATCH, Indices};
use crate::network::Network;
use crate::study::RunRecord;
use crate::study::statistics::median;
use qlog_tools::metrics::{BySet, METRICS, MIX, Metric, byte_index, find};
use std::ops::Range;
use std::str::FromStr;

/// One metric, or several with weights. All are times in milliseconds; lower is better.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal(Vec<Part>);

#[derive(Debug, Clone, Copy)]
struct Part {
    metric: &'static Metric,
    weight: f64,
    /// A page may lack it; the mix then consists of the others.
    is_optional: bool,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.metric.name, it.weight, it.is_optional);
        key(self) == key(other)
    }
}

const SEEN: &str = "seen";

/// The metrics that `seen` weights like the `ByteIndex` above the fold: moments that a visitor notices.
const NOTICED: [&str; 2] = ["first_render", "hero_render"];

impl Default for Goal {
    /// `seen`: the mean of the `ByteIndex`, the first rendering and the rendering with the hero images, as far as a page has them.
    fn default() -> Self {
        let noticed = NOTICED.into_iter().filter_map(find);
        let noticed = noticed.map(|metric| Part { metric, weight: 1.0, is_optional: true });
        Self(Self::byte_index().0.into_iter().chain(noticed).collect())
    }
}

/// Why a text is not a goal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GoalError {
    #[error(
        "{SEEN} is a mix of metrics and takes neither a weight nor another metric; name its parts, as in byte_index:1,first_render:1"
    )]
    Mixed,
    #[error("no metric is named `{0}`; use one of seen, {names}", names = names())]
    Metric(String),
    #[error("`{0}`: a weight is a positive number, as in byte_index:2,first_render:1")]
    Weight(String),
    #[error("{0} occurs twice")]
    Twice(&'static str),
}

impl FromStr for Goal {
    type Err = GoalError;

    /// `seen`, `first_render`, or `byte_index:2,first_render:1`.
    fn from_str(text: &str) -> Result<Self, GoalError> {
        if text == SEEN {
            return Ok(Self::default());
        }
        let mut parts: Vec<Part> = Vec::new();
        for said in text.split(',') {
            let part = part(said)?;
            if parts.iter().any(|before| before.metric.name == part.metric.name) {
                return Err(GoalError::Twice(part.metric.name));
            }
            parts.push(part);
        }
        Ok(Self(parts))
    }
}

fn part(text: &str) -> Result<Part, GoalError> {
    let (name, weight) = text.split_once(':').unwrap_or((text, "1"));
    let metric = find(name).ok_or_else(|| match name {
        SEEN => GoalError::Mixed,
        _ => GoalError::Metric(name.to_owned()),
    })?;
    let weight = weight.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0);
    let weight = weight.ok_or_else(|| GoalError::Weight(text.to_owned()))?;
    Ok(Part { metric, weight, is_optional: false })
}

fn names() -> String {
    METRICS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

impl Goal {
    /// The `ByteIndex` alone.
    pub fn byte_index() -> Self {
        Self(vec![Part { metric: byte_index(), weight: 1.0, is_optional: false }])
    }

    /// The value of a load: the weighted mean of its metrics. Empty if the load did not finish or lacks one of them.
    pub(super) fn index(&self, run: &RunRecord) -> Index {
        if !run.completed {
            return Index { atf_ms: None, all_ms: None };
        }
        let atf_ms = self.weighted_mean(run, |it| it.atf).filter(|it| *it > 0.0);
        let all_ms = self.weighted_mean(run, |it| it.all).filter(|it| *it > 0.0);
        Index { atf_ms, all_ms: all_ms.filter(|_| atf_ms.is_none()) }
    }

    fn weighted_mean(&self, run: &RunRecord, set: fn(BySet) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for part in &self.0 {
            match set(run.metrics.get(part.metric)) {
                Some(ms) => (sum, weights) = (sum + ms * part.weight, weights + part.weight),
                None if part.is_optional => {}
                None => return None,
            }
        }
        Some(sum / weights)
    }

    /// The logarithm of the median index of the first batch, averaged over networks.
    pub(super) fn mean_logarithm(&self, runs: &[RunRecord], networks: &[Network]) -> f64 {
        let mut sum = 0.0;
        for network in networks {
            let known: Vec<f64> = self.indices(runs, network, 0).into_iter().flatten().collect();
            sum += median(&known).map_or(f64::INFINITY, f64::ln);
        }
        sum / networks.len() as f64
    }

    /// The index of each load under a scheme, by seed.
    pub(super) fn indices_of_scheme(
        &self,
        runs: &[RunRecord],
        scheme: &str,
        seeds: &Range<u64>,
    ) -> Indices {
        let mut indices = Indices::new();
        for seed in seeds.clone() {
            let run = runs.iter().find(|it| it.scheme == scheme && it.seed == seed);
            indices.push(run.and_then(|it| self.index(it).ms()));
        }
        indices
    }

    /// The index of each load of a batch on a network, by seed.
    pub(super) fn indices(&self, runs: &[RunRecord], network: &Network, from: u64) -> Indices {
        let mut indices = Indices::new();
        for seed in from..from + BATCH as u64 {
            let mut of_network = runs.iter().filter(|it| it.setting.network == network.name);
            let run = of_network.find(|it| it.seed == seed);
            indices.push(run.and_then(|it| self.index(it).ms()));
        }
        indices
    }

    /// Whether it is the `ByteIndex`, which has known lower bounds.
    pub fn is_byte_index(&self) -> bool {
        *self == Self::byte_index()
    }

    /// The metric that represents it in tables.
    pub fn metric(&self) -> &'static Metric {
        match &self.0[..] {
            [one] => one.metric,
            _ => &MIX,
        }
    }

    /// The goal in the syntax of the command line: `byte_index:2,first_render:1`.
    pub fn text(&self) -> String {
        match &self.0[..] {
            [one] => one.metric.name.to_owned(),
            parts if parts.iter().any(|it| it.is_optional) => SEEN.to_owned(),
            several => {
                let parts = several.iter().map(|it| format!("{}:{}", it.metric.name, it.weight));
                parts.collect::<Vec<_>>().join(",")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(byte_index: BySet, first_render: Option<f64>) -> RunRecord {
        let first_render = BySet { all: first_render, atf: first_render };
        let metrics =
            [("byte_index", byte_index), ("first_render", first_render)].into_iter().collect();
        RunRecord { completed: true, metrics, ..RunRecord::default() }
    }

    fn of(goal: &str, run: &RunRecord) -> Index {
        goal.parse::<Goal>().unwrap().index(run)
    }

    #[test]
    fn a_mix_is_the_weighted_mean() {
        let run = load(BySet { all: Some(900.0), atf: Some(600.0) }, Some(300.0));
        let index = |atf_ms| Index { atf_ms: Some(atf_ms), all_ms: None };
        assert_eq!(of("byte_index", &run), index(600.0));
        assert_eq!(of("byte_index:2,first_render:1", &run), index(500.0));
        assert_eq!(of("first_render", &run), index(300.0));
    }

    #[test]
    fn a_load_without_one_of_the_metrics_has_no_value() {
        let run = load(BySet { all: Some(900.0), atf: None }, None);
        assert_eq!(of("byte_index", &run), Index { atf_ms: None, all_ms: Some(900.0) });
        assert_eq!(of("byte_index,first_render", &run), Index::default());
    }

    #[test]
    fn by_default_what_a_visitor_sees_counts_as_far_as_the_page_has_it() {
        let bytes = BySet { all: Some(900.0), atf: Some(600.0) };
        let seen = Goal::default();
        let value = |run: &RunRecord| seen.index(run).atf_ms;
        assert_eq!(value(&load(bytes, Some(300.0))), Some(450.0));
        assert_eq!(value(&load(bytes, None)), Some(600.0));
        let mut with_hero = load(bytes, Some(300.0));
        with_hero.metrics = [
            ("byte_index", bytes),
            ("first_render", BySet::of_page(Some(300.0))),
            ("hero_render", BySet::of_page(Some(900.0))),
        ]
        .into_iter()
        .collect();
        assert_eq!(value(&with_hero), Some(600.0));
        assert_eq!((seen.text(), "seen".parse()), ("seen".to_owned(), Ok(seen)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| text.parse::<Goal>().unwrap_err().to_string();
        assert!(
            error("byteindex")
                .starts_with("no metric is named `byteindex`; use one of seen, byte_index, ")
        );
        assert_eq!(
            error("load:-1"),
            "`load:-1`: a weight is a positive number, as in byte_index:2,first_render:1"
        );
        assert_eq!(error("load,load:2"), "load occurs twice");
        let mixed = "seen is a mix of metrics and takes neither a weight nor another metric; name its parts, as in byte_index:1,first_render:1";
        assert_eq!([error("seen:-1"), error("load,seen")], [mixed, mixed]);
    }

    #[test]
    fn a_goal_is_written_as_it_was_said() {
        for text in ["byte_index", "first_render", "byte_index:2,first_render:1"] {
            assert_eq!(text.parse::<Goal>().unwrap().text(), text);
        }
        assert!("byte_index:3".parse::<Goal>().unwrap().text() == "byte_index");
    }
}
