//! One comparison of ours with theirs.

use serde::Serialize;

/// One number, ours beside the published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Names the row in its experiment.
    pub id: String,
    /// The quantity.
    pub metric: String,
    /// Our value, to four decimals.
    pub ours: Option<f64>,
    /// The published value; null if the publication has words only.
    pub published: Option<f64>,
    /// The value of a model of our own, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<f64>,
    /// The table of the publication, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<&'static str>,
    /// The condition on ours; null for a row that is shown for comparison.
    pub tolerance: Option<String>,
    /// Whether ours meets the tolerance; true without one.
    pub within: bool,
    /// The publication's words, and why ours deviates, if it does.
    pub note: String,
}

impl Row {
    /// Our value with two decimals, or with as many more as tell it from the limits of its condition.
    pub fn ours_text(&self) -> Option<String> {
        self.ours.map(|ours| self.text_from(ours, 2))
    }

    /// `ours` with the fewest decimals, at least `least`, that tell it from the limits of the row's condition.
    pub(super) fn text_from(&self, ours: f64, least: usize) -> String {
        let words = self.tolerance.iter().flat_map(|it| it.split([' ', ';']));
        let limits: Vec<f64> = words.filter_map(|it| it.parse().ok()).collect();
        let text = |value: f64, decimals: usize| format!("{value:.decimals$}");
        let is_told = |decimals: &usize| {
            let same = |limit: f64| (limit - ours).abs() < f64::EPSILON;
            limits.iter().all(|it| same(*it) || text(*it, *decimals) != text(ours, *decimals))
        };
        text(ours, (least..DECIMALS).find(is_told).unwrap_or(DECIMALS))
    }

    /// A row that is shown for comparison. Its ID is in lower case.
    pub(super) fn shown(
        id: impl Into<String>,
        metric: impl Into<String>,
        ours: Option<f64>,
    ) -> Self {
        Self {
            id: id.into().to_lowercase(),
            metric: metric.into(),
            ours: ours.map(rounded),
            published: None,
            model: None,
            table: None,
            tolerance: None,
            within: true,
            note: String::new(),
        }
    }

    /// Requires `limit` or more. An unknown value fails.
    pub(super) fn at_least(self, limit: f64) -> Self {
        let within = self.ours.is_some_and(|it| it >= limit);
        Self { tolerance: Some(format!("at least {limit}")), within, ..self }
    }

    pub(super) fn at_most(self, limit: f64) -> Self {
        let within = self.ours.is_some_and(|it| it <= limit);
        Self { tolerance: Some(format!("at most {limit}")), within, ..self }
    }

    pub(super) fn below(self, limit: f64) -> Self {
        let within = self.ours.is_some_and(|it| it < limit);
        Self { tolerance: Some(format!("below {}", rounded(limit))), within, ..self }
    }

    pub(super) fn above(self, limit: f64) -> Self {
        let within = self.ours.is_some_and(|it| it > limit);
        Self { tolerance: Some(format!("above {}", rounded(limit))), within, ..self }
    }

    pub(super) fn between(self, least: f64, most: f64) -> Self {
        let within = self.ours.is_some_and(|it| (least..=most).contains(&it));
        Self { tolerance: Some(format!("{least} to {most}")), within, ..self }
    }

    pub(super) fn published(self, value: f64) -> Self {
        Self { published: Some(value), ..self }
    }

    pub(super) fn model(self, value: f64) -> Self {
        Self { model: Some(rounded(value)), ..self }
    }

    pub(super) fn in_table(self, table: &'static str) -> Self {
        Self { table: Some(table), ..self }
    }

    /// Adds a condition. An unknown value fails.
    pub(super) fn must(self, what: String, holds: impl Fn(f64) -> bool) -> Self {
        let within = self.within && self.ours.is_some_and(holds);
        let tolerance = match &self.tolerance {
            Some(before) => format!("{before}; {what}"),
            None => what,
        };
        Self { tolerance: Some(tolerance), within, ..self }
    }

    /// Must be within this distance of `value`, which is `whose`.
    pub(super) fn within(self, distance: f64, whose: &str, value: f64) -> Self {
        self.must(format!("within {distance} of {whose}"), |it| (it - value).abs() <= distance)
    }

    /// Must be within this share of `value`, which is `whose`.
    pub(super) fn within_share(self, share: f64, whose: &str, value: f64) -> Self {
        let what = format!("within {:.0} % of {whose}", share * 100.0);
        self.must(what, |it| (it / value - 1.0).abs() <= share)
    }

    pub(super) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds a reason if the row is not within its tolerance.
    pub(super) fn because(mut self, reason: &str) -> Self {
        if !self.within {
            if !self.note.is_empty() {
                self.note += " ";
            }
            self.note += reason;
        }
        self
    }
}

/// One value divided by another, if both are known.
pub(crate) fn ratio(value: Option<f64>, by: Option<f64>) -> Option<f64> {
    Some(value? / by?)
}

/// The decimals of a value.
const DECIMALS: usize = 4;

/// Rounds to four decimals. Zero has no sign.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: Option<f64>) -> Row {
        Row::shown("id", "metric", ours)
    }

    #[test]
    fn a_value_has_as_many_decimals_as_its_verdict_takes() {
        for (ours, text) in [(2.2951, "2.295"), (2.2998, "2.2998"), (2.3, "2.30"), (2.5, "2.50")] {
            assert_eq!(row(Some(ours)).at_least(2.3).ours_text().as_deref(), Some(text));
        }
        assert_eq!(row(Some(2.2951)).ours_text().as_deref(), Some("2.30"), "without a condition");
        assert_eq!(row(Some(500.2)).at_most(500.0).text_from(500.2, 0), "500.2");
        assert_eq!(row(None).at_most(1.0).ours_text(), None);
    }

    #[test]
    fn an_unknown_value_is_within_no_tolerance() {
        assert!(row(None).within);
        for judged in [
            row(None).at_least(0.0),
            row(None).at_most(9.0),
            row(None).below(9.0),
            row(None).above(0.0),
        ] {
            assert!(!judged.within, "{judged:?}");
        }
    }

    #[test]
    fn a_row_must_meet_all_of_its_conditions() {
        let judged = |ours| row(ours).must("above 1".into(), |it| it > 1.0);
        let judged = |ours| judged(ours).must("below 3".into(), |it| it < 3.0);
        assert_eq!(judged(None).tolerance.as_deref(), Some("above 1; below 3"));
        let within = [None, Some(0.0), Some(2.0), Some(4.0)].map(|it| judged(it).within);
        assert_eq!(within, [false, false, true, false]);
    }

    #[test]
    fn limits_belong_to_at_least_and_at_most_and_not_to_above_and_below() {
        let two = row(Some(2.0));
        assert!(two.clone().at_least(2.0).within && two.clone().at_most(2.0).within);
        assert!(!two.clone().above(2.0).within && !two.clone().below(2.0).within);
        assert_eq!(two.clone().between(1.0, 2.0).tolerance.as_deref(), Some("1 to 2"));
        assert_eq!(two.clone().at_least(2.0).because("x").note, "");
        assert_eq!(two.note("a").at_least(3.0).because("b").note, "a b");
    }
}
