//! The facts that may predict a result: numbers of pages, and dimensions of settings.

use corpus::facts::NumberFact;
use serde::Serialize;

/// The number of groups for the values of a fact: a split lies between two of them.
pub(super) const GROUPS_MAX: usize = 16;

/// A property in which pages or settings differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Its name: a column of pages, a property of links, or `DIMENSION=VALUE`.
    pub name: String,
    /// Its description, as the subject of a sentence.
    pub about: String,
    /// How its values are written.
    #[serde(skip)]
    pub(super) unit: Unit,
    /// The values between its groups, ascending.
    #[serde(skip)]
    pub(super) cuts: Vec<f64>,
}

/// How to write the values of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    /// Bytes, written in kilobytes.
    Bytes,
    /// A share, written in percent.
    Share,
    /// A number in the unit that `about` names.
    Number,
    /// 1: true; 0: false.
    Is,
}

impl Fact {
    /// A fact with the values of all pages or of all settings; `None` if they are equal.
    pub(super) fn new(name: &str, about: &str, unit: Unit, values: &[f64]) -> Option<Self> {
        let cuts = cuts(values);
        (!cuts.is_empty()).then(|| Self {
            name: name.to_owned(),
            about: about.to_owned(),
            unit,
            cuts,
        })
    }

    /// A number of pages.
    pub(super) fn of_pages(fact: &NumberFact, values: &[f64]) -> Option<Self> {
        let unit = match fact.name {
            "body_bytes" => Unit::Bytes,
            name if name.ends_with("_share") => Unit::Share,
            _ => Unit::Count,
        };
        Self::new(fact.name, fact.about, unit, values)
    }

    pub(super) fn group(&self, value: f64) -> u8 {
        u8::try_from(self.cuts.partition_point(|cut| *cut < value)).unwrap_or(u8::MAX)
    }

    /// The condition that a value is at most the cut after `group`, or above it.
    pub(super) fn condition(&self, group: u8, is_above: bool) -> String {
        let Self { about, unit, cuts, .. } = self;
        let cut = cuts[usize::from(group)];
        let than = if is_above { "more than" } else { "at most" };
        match unit {
            Unit::Is if is_above => about.clone(),
            Unit::Is => format!("not {about}"),
            Unit::Count => format!("{about}: {than} {}", cut.floor()),
            Unit::Bytes => format!("{about}: {than} {:.0} kB", cut / 1e3),
            Unit::Share => format!("{about}: {than} {:.1} %", cut * 100.0),
            Unit::Number => format!("{about}: {than} {cut}"),
        }
    }
}

/// The cuts between at most [`GROUPS_MAX`] groups of about equal size: halfway between neighbouring values.
fn cuts(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ends: Vec<usize> = (1..sorted.len()).filter(|at| sorted[at - 1] < sorted[*at]).collect();
    let kept = GROUPS_MAX.min(ends.len() + 1);
    let wanted = (1..kept).map(|group| group * sorted.len() / kept);
    let mut chosen: Vec<usize> = if ends.len() < GROUPS_MAX {
        ends
    } else {
        wanted.filter_map(|at| ends.iter().copied().min_by_key(|end| end.abs_diff(at))).collect()
    };
    chosen.dedup();
    chosen.into_iter().map(|end| f64::midpoint(sorted[end - 1], sorted[end])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_between_values_and_are_about_as_large() {
        assert_eq!(cuts(&[3.0, 1.0, 1.0, 2.0]), [1.5, 2.5]);
        assert!(cuts(&[1.0, 1.0]).is_empty());
        let many: Vec<f64> = (0..160).map(f64::from).collect();
        let cuts = cuts(&many);
        assert_eq!((cuts.len(), cuts[0], cuts[14]), (15, 9.5, 149.5));
    }

    #[test]
    fn a_value_that_is_a_cut_lies_below_it() {
        let fact = Fact::new("depth", "the depth", Unit::Count, &[1.0, 2.0, 3.0]).expect("varied");
        assert_eq!([1.0, 1.5, 2.0, 9.0].map(|it| fact.group(it)), [0, 0, 1, 2]);
        assert_eq!(fact.condition(1, false), "the depth: at most 2");
        assert_eq!(fact.condition(1, true), "the depth: more than 2");
    }
}
