//! Outcomes by the share of lost packets, as tables and as a figure.

use super::conditions::{Condition, Model, NETWORKS, PERCENTS};
use super::loads::Outcome;
use crate::{CONTROLS, Estimate, Line, ReproduceError, Table};
use figures::ratio_panels::{Point, RatioPanel, RatioPanels};
use qlog_tools::metrics::Set;
use server::CongestionControl;

pub(super) struct Series {
    network: &'static str,
    model: Model,
    control: CongestionControl,
    /// For each of [`PERCENTS`] the place of its condition.
    conditions: Vec<usize>,
    /// For each of [`PERCENTS`] the schemes.
    outcomes: Vec<Vec<Outcome>>,
}

impl Series {
    /// Every series, and the conditions that they need. Without loss both models are the same.
    pub(super) fn all() -> Result<(Vec<Condition>, Vec<Self>), ReproduceError> {
        let (mut conditions, mut every) = (Vec::new(), Vec::new());
        for network in NETWORKS {
            let without_loss = conditions.len();
            for control in CONTROLS {
                conditions.push(Condition::new(network, Model::Independent, 0.0, control)?);
            }
            for model in Model::ALL {
                for (place, control) in CONTROLS.into_iter().enumerate() {
                    let mut places = vec![without_loss + place];
                    for percent in &PERCENTS[1..] {
                        places.push(conditions.len());
                        conditions.push(Condition::new(network, model, *percent, control)?);
                    }
                    let outcomes = Vec::new();
                    every.push(Self { network, model, control, conditions: places, outcomes });
                }
            }
        }
        Ok((conditions, every))
    }

    pub(super) fn filled(self, outcomes: &[Vec<Outcome>]) -> Self {
        let outcomes = self.conditions.iter().map(|it| outcomes[*it].clone()).collect();
        Self { outcomes, ..self }
    }

    pub(super) fn id(&self) -> String {
        self.labels().join("-")
    }

    pub(super) fn words(&self) -> String {
        format!("{}, {}, {}", self.network, self.model.words(), self.control.name())
    }

    fn labels(&self) -> [&'static str; 3] {
        [self.network, self.model.name(), self.control.name()]
    }

    fn outcome(&self, scheme: &str, rate: usize) -> Option<&Outcome> {
        self.outcomes.get(rate)?.iter().find(|it| it.scheme == scheme)
    }

    pub(super) fn mean_speedup(&self, scheme: &str, set: Set, rate: usize) -> Estimate {
        let found = self.outcome(scheme, rate);
        let value = found.and_then(|it| it.speedup.get(set));
        Estimate::new(value, found.and_then(|it| it.interval.get(set)))
    }

    pub(super) fn speedup(&self, scheme: &str, set: Set, rate: usize) -> Estimate {
        let found = self.outcome(scheme, rate);
        let value = found.and_then(|it| it.geometric.get(set));
        Estimate::new(value, found.and_then(|it| it.geometric_interval.get(set)))
    }

    pub(super) fn load_speedup(&self, scheme: &str, rate: usize) -> Estimate {
        let found = self.outcome(scheme, rate);
        Estimate::new(found.and_then(|it| it.load_speedup), found.and_then(|it| it.load_interval))
    }

    pub(super) fn blocked_ms(&self, scheme: &str, rate: usize) -> Estimate {
        Estimate::new(self.outcome(scheme, rate).and_then(|it| it.blocked_ms), None)
    }

    /// On how many pages `rr` is better, and the speedup of the page in the middle.
    pub(super) fn of_pages(&self, scheme: &str, set: Set, rate: usize) -> Option<(usize, f64)> {
        let found = self.outcome(scheme, rate)?;
        Some((found.rr_better.get(set)?, found.median.get(set)?))
    }

    /// The lowest share of loss, in percent, from which on `rr` is better at every higher one: the whole interval is
    /// below 1.
    fn crossover(&self, scheme: &str, set: Set) -> Option<f64> {
        let better = (0..PERCENTS.len()).rev().take_while(|rate| {
            self.speedup(scheme, set, *rate).interval.is_some_and(|[_, high]| high < 1.0)
        });
        better.last().map(|it| PERCENTS[it])
    }
}

/// The speedups of each scheme in each series: a column for each share of loss, and the share from which on `rr` is
/// better.
pub(super) fn speedups(heading: &str, every: &[Series], schemes: &[&str], set: Set) -> Table {
    let mut columns = by_percent();
    columns.push("rr better from %".to_owned());
    table(heading, columns, every, schemes, |series, scheme| {
        let mut values = each(|rate| series.speedup(scheme, set, rate));
        values.push(Estimate::new(series.crossover(scheme, set), None));
        values
    })
}

pub(super) fn by_rate(
    heading: &str,
    every: &[Series],
    schemes: &[&str],
    of: impl Fn(&Series, &str, usize) -> Estimate,
) -> Table {
    table(heading, by_percent(), every, schemes, |series, scheme| {
        each(|rate| of(series, scheme, rate))
    })
}

fn by_percent() -> Vec<String> {
    PERCENTS.iter().map(|it| format!("{it} %")).collect()
}

fn each(of: impl Fn(usize) -> Estimate) -> Vec<Estimate> {
    (0..PERCENTS.len()).map(of).collect()
}

fn table(
    heading: &str,
    columns: Vec<String>,
    every: &[Series],
    schemes: &[&str],
    values: impl Fn(&Series, &str) -> Vec<Estimate>,
) -> Table {
    let mut lines = Vec::new();
    for series in every {
        for scheme in schemes {
            let labels = series.labels().into_iter().chain([*scheme]).map(str::to_owned);
            lines.push(Line { labels: labels.collect(), values: values(series, scheme) });
        }
    }
    let labels = vec!["network", "losses", "congestion control", "scheme"];
    Table { heading: heading.to_owned(), labels, columns, lines }
}

pub(super) fn figure(every: &[Series], schemes: &[&str]) -> RatioPanels {
    let panels = every.iter().map(|series| RatioPanel {
        title: series.words(),
        lines: schemes.iter().map(|it| points(series, it)).collect(),
    });
    RatioPanels {
        title:
            "Geometric mean of speedups over rr, ByteIndex of all resources, where packets are lost"
                .to_owned(),
        across: "lost packets (%)".to_owned(),
        up: "speedup over rr".to_owned(),
        places: PERCENTS.iter().map(ToString::to_string).collect(),
        names: schemes.iter().map(|it| (*it).to_owned()).collect(),
        columns: CONTROLS.len(),
        panels: panels.collect(),
    }
}

fn points(series: &Series, scheme: &str) -> Vec<Point> {
    let mut points = Vec::new();
    for place in 0..PERCENTS.len() {
        let Estimate { value, interval } = series.speedup(scheme, Set::All, place);
        points.extend(value.map(|value| Point { place, value, interval }));
    }
    points
}
