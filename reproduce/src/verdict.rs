//! The conditions of a row: by the publication, by our own model, and our own requirements, each with its verdict.

use lab::study::statistics::Interval;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Authority {
    /// The publication: its value, or its words.
    #[default]
    Source,
    /// Our model of the published result.
    Model,
    /// No other authority: this project's own requirement.
    Requirement,
}

/// A condition, and whether our value meets it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The condition in words.
    pub condition: String,
    /// Whether our value meets it. An unknown value does not.
    pub holds: bool,
    /// Whether the 95 % interval of our value contains values that would turn the verdict.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Verdict {
    /// `yes` or `no`; `yes, open` if the interval would allow the other.
    pub fn word(&self, no: &str) -> String {
        let word = if self.holds { "yes" } else { no };
        if self.open { format!("{word}, open") } else { word.to_owned() }
    }
}

/// The verdicts on a row, one by each authority that sets a condition.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Verdicts {
    /// By the publication.
    pub source: Option<Verdict>,
    /// By the model.
    pub model: Option<Verdict>,
    /// By a requirement of ours.
    pub requirement: Option<Verdict>,
    /// Why the verdicts by source and model differ, as far as the three values show; empty where they agree.
    pub difference: &'static str,
    /// Whether the model's value meets the publication's condition.
    #[serde(skip)]
    pub(super) model_meets_source: Option<bool>,
    /// Whether the published value misses the publication's condition, which was then chosen wrongly.
    #[serde(skip)]
    pub(super) source_misses_itself: bool,
}

pub(super) struct Values {
    pub(super) ours: Option<f64>,
    pub(super) interval: Option<Interval>,
    pub(super) published: Option<f64>,
    pub(super) model: Option<f64>,
}

impl Verdicts {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Verdict> {
        [&self.source, &self.model, &self.requirement].into_iter().flatten()
    }

    /// Whether every condition holds; `None` without a condition.
    pub fn hold(&self) -> Option<bool> {
        self.all().map(|it| it.holds).reduce(|one, other| one && other)
    }

    /// Whether a condition does not hold.
    pub fn fail(&self) -> bool {
        self.hold() == Some(false)
    }

    /// Adds a condition. Several by one authority must all hold.
    pub(super) fn add(
        &mut self,
        authority: Authority,
        condition: String,
        values: &Values,
        meets: impl Fn(f64) -> bool,
    ) {
        let holds = values.ours.is_some_and(&meets);
        let open = values.interval.is_some_and(|it| within(it).any(|it| meets(it) != holds));
        if authority == Authority::Source {
            let model = values.model.map(&meets);
            self.model_meets_source = model.map(|it| it && self.model_meets_source.unwrap_or(true));
            self.source_misses_itself |= values.published.is_some_and(|it| !meets(it));
        }
        let place = match authority {
            Authority::Source => &mut self.source,
            Authority::Model => &mut self.model,
            Authority::Requirement => &mut self.requirement,
        };
        *place = Some(match place.take() {
            Some(before) => Verdict {
                condition: format!("{}; {condition}", before.condition),
                holds: before.holds && holds,
                open: before.open || open,
            },
            None => Verdict { condition, holds, open },
        });
        self.difference = self.told_difference();
    }

    fn told_difference(&self) -> &'static str {
        let source = self.source.as_ref().map(|it| it.holds);
        let model = self.model.as_ref().map(|it| it.holds);
        match (source, model, self.model_meets_source) {
            (Some(false), Some(true), Some(false)) => "the model misses the source, too",
            (Some(false), Some(true), Some(true)) => "the model meets the source narrowly",
            (Some(false), _, Some(true)) => "the model meets the source",
            (Some(true), Some(false), _) => "ours is nearer to the source than to the model",
            _ => "",
        }
    }
}

/// Values from one end of an interval to the other. A condition is a range, so a few hundred tell whether it has a limit here.
fn within([low, high]: Interval) -> impl Iterator<Item = f64> {
    const STEPS: u32 = 256;
    (0..=STEPS).map(move |step| low + (high - low) * f64::from(step) / f64::from(STEPS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(ours: f64, published: f64, model: f64) -> &'static str {
        let values = Values {
            ours: Some(ours),
            interval: None,
            published: Some(published),
            model: Some(model),
        };
        let mut verdicts = Verdicts::default();
        let near = |to: f64| move |it: f64| (it - to).abs() <= 5.0;
        verdicts.add(Authority::Source, "within 5".into(), &values, near(published));
        verdicts.add(Authority::Model, "within 5".into(), &values, near(model));
        assert!(!verdicts.source_misses_itself);
        verdicts.difference
    }

    #[test]
    fn the_three_values_tell_why_verdicts_differ() {
        assert_eq!(difference(100.0, 101.0, 102.0), "", "both hold");
        assert_eq!(difference(100.0, 120.0, 102.0), "the model misses the source, too");
        assert_eq!(difference(100.0, 107.0, 104.0), "the model meets the source narrowly");
        assert_eq!(
            difference(100.0, 101.0, 120.0),
            "ours is nearer to the source than to the model"
        );
        assert_eq!(difference(100.0, 120.0, 121.0), "the model meets the source");
        assert_eq!(difference(100.0, 120.0, 80.0), "", "neither holds, and the model is elsewhere");
    }

    #[test]
    fn a_condition_that_the_published_value_fails_is_told() {
        let values = Values { ours: Some(9.0), interval: None, published: Some(0.6), model: None };
        let mut verdicts = Verdicts::default();
        verdicts.add(Authority::Source, "above 3".into(), &values, |it| it > 3.0);
        assert!(verdicts.hold() == Some(true) && verdicts.source_misses_itself);
    }
}
