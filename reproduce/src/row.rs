//! One comparison of ours with theirs.

use super::table::{DECIMALS, Estimate, rounded};
use super::verdict::{Authority, Values, Verdict, Verdicts};
use lab::study::statistics::Interval;
use serde::Serialize;
use server::CongestionControl;

const CUBIC: &str = "This cubic [takes reductions of its window back](../docs/transport.md#cubic-takes-reductions-back); that \
     of RFC 9438 does not.";

/// One number, ours beside the published one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Row {
    /// Names the row in its experiment.
    pub id: String,
    /// The quantity.
    pub metric: String,
    /// Our value, to four decimals.
    pub ours: Option<f64>,
    /// The 95 % interval of our value, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The published value; null if the publication has words only.
    pub published: Option<f64>,
    /// The value of our own model, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<f64>,
    /// The table of the publication, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<&'static str>,
    /// The cell of the published table that it repeats, if that is a matrix.
    #[serde(skip)]
    pub cell: Option<Cell>,
    /// The verdicts on ours; none on a row that is shown for comparison.
    pub verdicts: Verdicts,
    /// The authority for the conditions that are added next.
    #[serde(skip)]
    pub(super) authority: Authority,
    /// The publication's words, and why ours deviates, if it does.
    pub note: String,
}

/// A cell of a published matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The line's name.
    pub line: &'static str,
    /// The column's name.
    pub column: &'static str,
}

impl Row {
    /// Our value with two decimals, or with as many more as distinguish it from the limits of its conditions.
    pub fn ours_text(&self) -> Option<String> {
        self.ours.map(|ours| self.text_from(ours, 2))
    }

    /// The interval of our value as text.
    pub fn interval_text(&self) -> Option<String> {
        self.interval.map(|[low, high]| format!("{low:.2} to {high:.2}"))
    }

    /// The note, and why source and model judge differently.
    pub fn told(&self) -> String {
        let difference = self.verdicts.difference;
        match (self.note.as_str(), difference) {
            (note, "") => note.to_owned(),
            ("", difference) => format!("Difference: {difference}."),
            (note, difference) => format!("{note} Difference: {difference}."),
        }
    }

    /// `ours` with the fewest decimals, at least `least`, that distinguish it from the limits of the row's conditions.
    pub(super) fn text_from(&self, ours: f64, least: usize) -> String {
        let words = self.verdicts.all().flat_map(|it| it.condition.split([' ', ';']));
        let limits: Vec<f64> = words.filter_map(|it| it.parse().ok()).collect();
        for decimals in least..DECIMALS {
            let text = format!("{ours:.decimals$}");
            let is_told = limits.iter().all(|limit| {
                (limit - ours).abs() < f64::EPSILON || format!("{limit:.decimals$}") != text
            });
            if is_told {
                return text;
            }
        }
        format!("{ours:.DECIMALS$}")
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
            ..Self::default()
        }
    }

    pub(super) fn estimated(
        id: impl Into<String>,
        metric: impl Into<String>,
        ours: Estimate,
    ) -> Self {
        Self::shown(id, metric, ours.value).interval(ours.interval)
    }

    /// The conditions that follow are no longer the publication's, but our own.
    pub(super) fn required(self) -> Self {
        Self { authority: Authority::Requirement, ..self }
    }

    pub(super) fn at_least(self, limit: f64) -> Self {
        self.must(format!("at least {limit}"), |it| it >= limit)
    }

    pub(super) fn at_most(self, limit: f64) -> Self {
        self.must(format!("at most {limit}"), |it| it <= limit)
    }

    pub(super) fn below(self, limit: f64) -> Self {
        self.must(format!("below {}", rounded(limit)), |it| it < limit)
    }

    pub(super) fn above(self, limit: f64) -> Self {
        self.must(format!("above {}", rounded(limit)), |it| it > limit)
    }

    pub(super) fn between(self, least: f64, most: f64) -> Self {
        self.must(format!("{least} to {most}"), |it| (least..=most).contains(&it))
    }

    /// The interval of our value. It must be set before the conditions.
    pub(super) fn interval(self, interval: Option<Interval>) -> Self {
        assert!(self.verdicts.hold().is_none(), "{}: an interval after a condition", self.id);
        Self { interval: interval.map(|it| it.map(rounded)), ..self }
    }

    pub(super) fn in_cell(self, line: &'static str, column: &'static str) -> Self {
        Self { cell: Some(Cell { line, column }), ..self }
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

    /// Adds a condition. An unknown value fails. The interval, the published and the model's value must be set before.
    pub(super) fn must(mut self, what: String, holds: impl Fn(f64) -> bool) -> Self {
        let Self { ours, interval, published, model, .. } = self;
        let values = Values { ours, interval, published, model };
        self.verdicts.add(self.authority, what, &values, holds);
        self
    }

    pub(super) fn within(self, distance: f64) -> Self {
        let published = self.published.unwrap_or(f64::NAN);
        self.must(format!("within {distance}"), |it| (it - published).abs() <= distance)
    }

    pub(super) fn within_share(self, share: f64) -> Self {
        let published = self.published.unwrap_or(f64::NAN);
        self.must(percent(share), |it| (it / published - 1.0).abs() <= share)
    }

    pub(super) fn within_of_model(self, distance: f64, unit: &str) -> Self {
        let model = self.model.unwrap_or(f64::NAN);
        self.by_model(format!("within {distance}{unit}"), |it| (it - model).abs() <= distance)
    }

    pub(super) fn within_share_of_model(self, share: f64) -> Self {
        let model = self.model.unwrap_or(f64::NAN);
        self.by_model(percent(share), |it| (it / model - 1.0).abs() <= share)
    }

    fn by_model(self, what: String, holds: impl Fn(f64) -> bool) -> Self {
        let authority = self.authority;
        let judged = Self { authority: Authority::Model, ..self }.must(what, holds);
        Self { authority, ..judged }
    }

    pub(super) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds a reason if one of the row's conditions does not hold.
    pub(super) fn because(self, reason: &str) -> Self {
        if self.verdicts.fail() { self.and_note(reason) } else { self }
    }

    /// Notes for a measurement under cubic that the transport's differs from the standard.
    pub(super) fn under(self, control: CongestionControl) -> Self {
        if control == CongestionControl::Cubic { self.and_note(CUBIC) } else { self }
    }

    fn and_note(mut self, more: &str) -> Self {
        if !self.note.is_empty() {
            self.note += " ";
        }
        self.note += more;
        self
    }
}

/// A kind of verdict: its heading, and its place.
pub type Kind = (&'static str, fn(&Verdicts) -> &Option<Verdict>);

/// The kinds of verdicts that these rows have, in the order of columns.
pub fn kinds(rows: &[Row]) -> Vec<Kind> {
    let all: [Kind; 3] = [
        ("by the source", |it| &it.source),
        ("by the model", |it| &it.model),
        ("required here", |it| &it.requirement),
    ];
    all.into_iter().filter(|(_, of)| rows.iter().any(|it| of(&it.verdicts).is_some())).collect()
}

/// `55 of 60 by the source (of 31 with an interval, 7 open), 210 of 210 by the model`: the conditions that hold.
pub fn headline(rows: &[Row]) -> String {
    let counts = kinds(rows).into_iter().map(|(name, of)| {
        let judged = rows.iter().filter(|it| of(&it.verdicts).is_some());
        let verdicts = rows.iter().filter_map(|it| of(&it.verdicts).as_ref());
        let with_interval = judged.filter(|it| it.interval.is_some()).count();
        let open = match with_interval {
            0 => String::new(),
            all => {
                let open = verdicts.clone().filter(|it| it.open).count();
                format!(" (of {all} with an interval, {open} open)")
            }
        };
        let held = verdicts.clone().filter(|it| it.holds).count();
        format!("{held} of {} {name}{open}", verdicts.count())
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// Whether every condition of these rows holds; `None` if none of them has one.
pub(super) fn all_hold(rows: &[Row]) -> Option<bool> {
    rows.iter().filter_map(|it| it.verdicts.hold()).reduce(|one, other| one && other)
}

pub(crate) fn ratio(value: Option<f64>, by: Option<f64>) -> Option<f64> {
    Some(value? / by?)
}

fn percent(share: f64) -> String {
    format!("within {:.0} %", share * 100.0)
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
    fn an_unknown_value_meets_no_condition() {
        assert_eq!(row(None).verdicts.hold(), None);
        for judged in [
            row(None).at_least(0.0),
            row(None).at_most(9.0),
            row(None).below(9.0),
            row(None).above(0.0),
            row(None).model(1.0).within_share_of_model(0.5),
        ] {
            assert!(judged.verdicts.fail(), "{judged:?}");
        }
    }

    #[test]
    fn a_row_must_meet_all_of_its_conditions() {
        let judged = |ours| row(ours).above(1.0).below(3.0).verdicts;
        let source = judged(None).source.expect("a verdict");
        assert_eq!(source.condition, "above 1; below 3");
        let hold = [None, Some(0.0), Some(2.0), Some(4.0)].map(|it| judged(it).hold());
        assert_eq!(hold, [false, false, true, false].map(Some));
    }

    #[test]
    fn source_model_and_requirement_judge_apart() {
        let judged = row(Some(104.0)).published(120.0).model(100.0).within_share(0.1);
        let verdicts = judged.within_share_of_model(0.05).required().at_most(110.0).verdicts;
        let text = |it: Option<Verdict>| it.map(|it| (it.condition, it.holds));
        assert_eq!(text(verdicts.source), Some(("within 10 %".into(), false)));
        assert_eq!(text(verdicts.model), Some(("within 5 %".into(), true)));
        assert_eq!(text(verdicts.requirement), Some(("at most 110".into(), true)));
    }

    #[test]
    fn limits_belong_to_at_least_and_at_most_and_not_to_above_and_below() {
        let two = row(Some(2.0));
        let holds = |row: Row| row.verdicts.hold() == Some(true);
        assert!(holds(two.clone().at_least(2.0)) && holds(two.clone().at_most(2.0)));
        assert!(!holds(two.clone().below(2.0)) && !holds(two.clone().above(2.0)));
        assert!(holds(two.clone().between(1.0, 2.0)));
        assert_eq!(two.clone().at_least(2.0).because("x").note, "");
        assert_eq!(two.note("a").at_least(3.0).because("b").note, "a b");
    }

    #[test]
    fn the_headline_counts_the_source_first() {
        let shown = Row::shown("id", "metric", Some(1.0));
        let rows = [shown.clone().above(1.0).required().at_most(2.0), shown];
        assert_eq!(headline(&rows), "0 of 1 by the source, 1 of 1 required here");
    }

    #[test]
    fn a_verdict_is_open_where_its_interval_has_values_that_would_turn_it() {
        let row = |interval| Row::shown("id", "metric", Some(2.0)).interval(interval);
        let word = |row: Row| row.verdicts.source.expect("judged").word("no");
        assert_eq!(word(row(None).at_least(1.5)), "yes");
        assert_eq!(word(row(Some([1.6, 3.0])).at_least(1.5)), "yes");
        assert_eq!(word(row(Some([1.4, 3.0])).at_least(1.5)), "yes, open");
        assert_eq!(word(row(Some([1.4, 3.0])).at_least(2.5)), "no, open");
        assert_eq!(word(row(Some([1.4, 2.4])).at_least(2.5)), "no");
        assert_eq!(word(row(Some([1.0, 3.0])).published(2.0).within(0.5)), "yes, open");
        assert_eq!(word(row(Some([1.0, 9.0])).published(5.0).within(0.5)), "no, open");
        let rows = [row(Some([1.4, 3.0])).at_least(1.5), row(None).at_least(1.5)];
        assert_eq!(headline(&rows), "2 of 2 by the source (of 1 with an interval, 1 open)");
    }

    #[test]
    fn without_a_condition_nothing_holds_and_nothing_fails() {
        let shown = Row::shown("id", "metric", Some(1.0));
        assert_eq!((shown.verdicts.hold(), shown.verdicts.fail()), (None, false));
        assert_eq!(all_hold(&[shown.clone(), shown.clone()]), None);
        assert_eq!(all_hold(&[shown.clone(), shown.clone().above(0.0)]), Some(true));
        assert_eq!(
            all_hold(&[shown.clone(), shown.clone().above(0.0), shown.above(1.0)]),
            Some(false)
        );
    }
}
