//! The metrics of a page load, a row for each in [`METRICS`]. Tables, CSV and JSON, figures, reports and the
//! table in `docs/metrics.md` take everything about a metric from its row.
//!
//! All metrics share t0, the first request. Weights are body bytes as on the wire.

mod completions;
mod curve;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::timeline::{RenderTimes, Timeline};
pub use completions::{Completion, Completions, Unmeasured};
pub use curve::{CurvePoint, completed_share, finished_share};

/// One metric.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Metric {
    /// Its name in JSON, in CSV and on the command line.
    pub name: &'static str,
    /// In the headings of tables.
    pub heading: &'static str,
    /// Its short name, for figures.
    pub short: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// Which values are better.
    pub better: Better,
    /// Its definition, in a sentence.
    pub meaning: &'static str,
    #[serde(skip)]
    compute: Compute,
}

/// The input of a metric.
#[derive(Debug, Clone, Copy)]
enum Compute {
    /// A set of resources.
    OfSet(fn(&Completions) -> f64),
    /// The moments that the user of the first page saw, and t0. `None`: unknown.
    OfPage(fn(&RenderTimes, u64) -> Option<f64>),
}

use Compute::{OfPage, OfSet};

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times and delays.
    Lower,
    /// Shares and rates.
    Higher,
}

/// The weighted mean of metrics that a user chose. It has no row and no values of its own.
pub static MIX: Metric =
    in_ms(["mix", "mix", "mix"], "The weighted mean of metrics", OfPage(|_, _| None));

/// All metrics. The first is the default of studies.
pub static METRICS: [Metric; 10] = [
    in_ms(
        ["byte_index", "ByteIndex", "BI"],
        "How long the average body byte was missing, where a byte counts once its whole resource is there: the area above the curve of download progress (Bocchi et al. 2016; Marx et al. 2019, section 4.2, without its sampling; theirs is `sampled`)",
        OfSet(Completions::byte_index_ms),
    ),
    in_ms(
        ["byte_index_sampled", "sampled", "sampled"],
        "The ByteIndex as the paper samples it: each completion is noticed at the next multiple of 100 ms",
        OfSet(|set| set.mean_ms_by_bytes(|it| it.complete_us.div_ceil(SAMPLE_US) * SAMPLE_US)),
    ),
    in_ms(
        ["byte_index_progressive", "progressive", "progr."],
        "The ByteIndex where bytes count as they can be read, whether or not their resource is complete",
        OfSet(|set| set.per_byte_ms(|it| it.progressive_byte_us)),
    ),
    in_ms(
        ["object_index", "ObjectIndex", "OI"],
        "The mean time to completion, each resource counting the same",
        OfSet(Completions::mean_ms_by_resource),
    ),
    in_ms(
        ["critical_ms", "completion", "completion"],
        "When the last resource of the set was complete. The ATF set holds the resources that rendering waits for, so its value says when the page can be shown in full",
        OfSet(Completions::last_ms),
    ),
    in_ms(
        ["first_render", "first render", "FR"],
        "When the page was first shown: the head of its document had arrived, and everything that blocks rendering was executed",
        OfPage(|times, start_us| since(times.first_render_us, start_us)),
    ),
    in_ms(
        ["hero_render", "hero render", "HR"],
        "When the page was shown with its hero images",
        OfPage(|times, start_us| since(times.hero_render_us, start_us)),
    ),
    in_ms(
        ["speed_index", "SpeedIndex", "SI"],
        "How long the average region above the fold was not shown in its final form. Regions are the document, images and fonts, weighted by their bytes",
        OfPage(RenderTimes::mean_region_ms),
    ),
    in_ms(
        ["dom_content_loaded", "DOM ready", "DCL"],
        "`DOMContentLoaded`: the document had arrived, and all synchronous, deferred and module scripts were executed",
        OfPage(|times, start_us| since(times.dom_content_loaded_us, start_us)),
    ),
    in_ms(
        ["load", "load", "load"],
        "The load event: everything that was discovered by then had arrived, except lazy resources",
        OfPage(|times, start_us| since(times.load_us, start_us)),
    ),
];

/// A metric of time: its name, its heading and its short name, its meaning, and its computation.
const fn in_ms(
    [name, heading, short]: [&'static str; 3],
    meaning: &'static str,
    compute: Compute,
) -> Metric {
    Metric { name, heading, short, unit: "ms", better: Better::Lower, meaning, compute }
}

fn since(time_us: Option<u64>, start_us: u64) -> Option<f64> {
    time_us.map(|it| it.saturating_sub(start_us) as f64 / 1000.0)
}

/// The interval at which the paper samples progress, in microseconds.
const SAMPLE_US: u64 = 100_000;

impl Metric {
    /// Its values: over the completed sets, or of the page in `timeline`.
    pub fn of(
        &self,
        timeline: &Timeline,
        all: Option<&Completions>,
        atf: Option<&Completions>,
    ) -> BySet {
        match self.compute {
            OfSet(compute) => BySet { all: all.map(compute), atf: atf.map(compute) },
            OfPage(compute) => {
                let start_us = timeline.start_us().unwrap_or_default();
                BySet::of_page(timeline.renders.first().and_then(|it| compute(it, start_us)))
            }
        }
    }

    /// Whether it concerns the page as a whole. Then it has one value, which counts for both sets.
    pub fn is_of_page(&self) -> bool {
        matches!(self.compute, OfPage(_))
    }

    /// The sets for which it has values.
    pub fn sets(&self) -> &'static [Set] {
        if self.is_of_page() { &[Set::All] } else { &Set::ALL }
    }

    /// How many times better than `baseline` the value is: 2 is twice as good. `None` if one is missing or zero.
    pub fn speedup(&self, baseline: Option<f64>, value: Option<f64>) -> Option<f64> {
        let (baseline, value) = baseline.zip(value)?;
        let (better, worse) = match self.better {
            Better::Lower => (baseline, value),
            Better::Higher => (value, baseline),
        };
        (worse > 0.0).then(|| better / worse)
    }

    /// The name of the column with its values over a set, in a CSV file: `byte_index_all_ms`, `first_render_ms`.
    pub fn column(&self, set: Set) -> String {
        let Self { name, unit, .. } = self;
        if self.is_of_page() {
            return format!("{name}_{unit}");
        }
        let stem = name.strip_suffix(&format!("_{unit}")).unwrap_or(name);
        format!("{stem}_{}_{unit}", set.name())
    }
}

/// The default metric of studies.
pub fn byte_index() -> &'static Metric {
    &METRICS[0]
}

impl Default for &'static Metric {
    fn default() -> Self {
        byte_index()
    }
}

/// The metric of this name.
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|it| it.name == name)
}

schedulers::named! {
    /// A set of a page's resources.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Set {
        /// All of them.
        All = "all",
        /// The resources above the fold (ATF).
        Atf = "atf",
    }
}

/// A value for each set of resources; `None` if there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BySet<T = f64> {
    /// For all resources.
    pub all: Option<T>,
    /// For the resources above the fold.
    pub atf: Option<T>,
}

impl<T: Clone> BySet<T> {
    /// Computes `value` for each set.
    pub fn each(value: impl Fn(Set) -> Option<T>) -> Self {
        Self { all: value(Set::All), atf: value(Set::Atf) }
    }

    /// A value that belongs to no set counts for both.
    pub fn of_page(value: Option<T>) -> Self {
        Self { all: value.clone(), atf: value }
    }

    /// The value of a set.
    pub fn get(&self, set: Set) -> Option<T> {
        match set {
            Set::All => self.all.clone(),
            Set::Atf => self.atf.clone(),
        }
    }

    /// Applies `of` to each value.
    #[must_use]
    pub fn map<U>(self, of: impl Fn(T) -> Option<U>) -> BySet<U> {
        BySet { all: self.all.and_then(&of), atf: self.atf.and_then(&of) }
    }
}

/// The values of every metric, over both sets: of a load, or means over several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Measured(BTreeMap<String, BySet>);

impl Measured {
    /// Computes `value` for each metric.
    pub fn each(value: impl Fn(&'static Metric) -> BySet) -> Self {
        Self(METRICS.iter().map(|it| (it.name.to_owned(), value(it))).collect())
    }

    /// Computes every metric of a load, over each set that completed.
    pub fn of(timeline: &Timeline, all: Option<&Completions>, atf: Option<&Completions>) -> Self {
        Self::each(|metric| metric.of(timeline, all, atf))
    }

    /// The same under longer names: `mean_byte_index`.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        Self(self.0.iter().map(|(name, it)| (format!("{prefix}{name}"), *it)).collect())
    }

    /// The values of a metric.
    pub fn get(&self, metric: &Metric) -> BySet {
        self.0.get(metric.name).copied().unwrap_or_default()
    }

    /// The values of the first metric.
    pub fn byte_index(&self) -> BySet {
        self.get(byte_index())
    }
}

impl Default for Measured {
    fn default() -> Self {
        Self::each(|_| BySet::default())
    }
}

impl FromIterator<(&'static str, BySet)> for Measured {
    /// Some metrics by name; the others have no values.
    fn from_iter<I: IntoIterator<Item = (&'static str, BySet)>>(values: I) -> Self {
        let mut measured = Self::default();
        measured.0.extend(values.into_iter().map(|(name, it)| (name.to_owned(), it)));
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_list_every_metric() {
        let docs = include_str!("../../docs/metrics.md");
        for Metric { name, heading, unit, better, meaning, .. } in &METRICS {
            let better = format!("{better:?}").to_lowercase();
            let row = format!("| `{name}` | {heading} | {unit} | {better} | {meaning} |");
            assert!(docs.contains(&row), "docs/metrics.md lacks:\n{row}");
        }
    }

    #[test]
    fn a_speedup_says_how_many_times_better_a_value_is() {
        let lower = byte_index();
        assert_eq!(lower.speedup(Some(1500.0), Some(750.0)), Some(2.0));
        assert_eq!(lower.speedup(None, Some(750.0)), None);
        assert_eq!(lower.speedup(Some(1500.0), Some(0.0)), None);
        let higher = Metric { better: Better::Higher, ..*lower };
        assert_eq!(higher.speedup(Some(20.0), Some(40.0)), Some(2.0));
    }

    #[test]
    fn a_column_names_the_metric_the_set_and_the_unit_once() {
        assert_eq!(byte_index().column(Set::All), "byte_index_all_ms");
        let with_unit = find("critical_ms").unwrap();
        assert_eq!(with_unit.column(Set::Atf), "critical_atf_ms");
        assert_eq!(find("first_render").unwrap().column(Set::All), "first_render_ms");
    }
}
