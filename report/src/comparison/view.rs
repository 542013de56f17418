//! The report in the form for the template: numbers as cells of tables, marked if a test shows that a scheme is better.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::{Comparison, NamedFigure, PageComparison, Row, pairs, schemes};
use figures::number_texts::{milliseconds_text, or_dash, ratio_number};
use qlog_tools::metrics::{METRICS, Metric, Set};
use std::borrow::Cow;

/// A row's text in a column, if any.
type TextOf<R> = dyn Fn(&R) -> Option<String>;

/// A column: its group, its heading, its text from a row, and whether a test shows that a row is better.
pub(super) struct Column<R> {
    group: &'static str,
    pub(super) heading: Cow<'static, str>,
    about: &'static str,
    text: Box<TextOf<R>>,
    is_better: Box<dyn Fn(&R) -> bool>,
}

pub(super) fn column<R>(
    heading: impl Into<Cow<'static, str>>,
    text: impl Fn(&R) -> Option<String> + 'static,
) -> Column<R> {
    let (text, is_better) = (Box::new(text), Box::new(|_: &R| false));
    Column { group: "", heading: heading.into(), about: "", text, is_better }
}

impl<R> Column<R> {
    /// Whether it has a value for a row.
    pub(super) fn has(&self, row: &R) -> bool {
        (self.text)(row).is_some()
    }

    pub(super) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) fn marked(self, is_better: impl Fn(&R) -> bool + 'static) -> Self {
        Self { is_better: Box::new(is_better), ..self }
    }

    fn grouped(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
}

/// All that the template names.
pub(super) fn of(comparison: &Comparison) -> Value {
    let provenance = serde_json::to_string_pretty(&comparison.provenance).unwrap_or_default();
    let (drawn, lines): (Vec<&PageComparison>, Vec<&PageComparison>) =
        comparison.pages.iter().partition(|it| it.ribbons.is_some() || it.curve.is_some());
    let led_by_ribbons = comparison.figures.iter().all(|it| it.name != LEADING);
    let (leading, others): (Vec<&NamedFigure>, Vec<&NamedFigure>) =
        comparison.figures.iter().partition(|it| it.name == LEADING);
    let most_telling =
        drawn.iter().enumerate().filter(|(_, it)| led_by_ribbons && it.ribbons.is_some());
    let most_telling = most_telling.max_by(|one, other| gain(one.1).total_cmp(&gain(other.1)));
    let ribbons = most_telling.and_then(|(_, it)| it.ribbons.as_ref());
    let lead = leading.first().map(|it| &it.figure).or(ribbons);
    let figures = others.into_iter().map(|it| Value::from(Serde(&it.figure)));
    let have_room = have_room(&drawn);
    let pages = drawn.iter().enumerate().map(|(place, it)| {
        let leads = most_telling.is_some_and(|it| it.0 == place);
        page(it, comparison.metric, leads, have_room.contains(&place))
    });
    let pages: Vec<Value> = pages.collect();
    context! {
        title => &comparison.title,
        answers => &comparison.answers,
        conditions => &comparison.conditions,
        baseline => &comparison.baseline,
        metric => comparison.metric.heading,
        metrics => Serde(METRICS),
        lead => lead.map(|it| Value::from(Serde(it))),
        answer_table => schemes::answer_table(comparison),
        other_tables => schemes::other_tables(comparison),
        pairs => pairs::tables(comparison),
        pairs_key => pairs::PAIRS_KEY,
        figures => figures.collect::<Vec<Value>>(),
        omitted => &comparison.omitted,
        folded => drawn.len() > FOLDED_FROM,
        pages,
        other_pages => other_pages(comparison, &lines),
        provenance => provenance,
    }
}

/// The pages whose ribbons are in the report: the ones that gain most, as long as they have room.
fn have_room(pages: &[&PageComparison]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..pages.len()).collect();
    places.sort_by(|one, other| gain(pages[*other]).total_cmp(&gain(pages[*one])));
    let mut bytes = 0;
    places.retain(|place| {
        bytes += pages[*place].ribbons.as_ref().map_or(0, |it| it.svg.len());
        bytes <= RIBBONS_BYTES
    });
    places
}

/// The highest ratio of a page.
fn gain(page: &PageComparison) -> f64 {
    page.rows.iter().filter_map(|it| it.speedup.atf.or(it.speedup.all)).fold(0.0, f64::max)
}

/// The name of the figure beside the answer; by default the first page's ribbons.
const LEADING: &str = "intervals";

/// The most bytes of ribbons in a report, so that a browser opens it at once: with many schemes and resources, a page takes a megabyte.
const RIBBONS_BYTES: usize = 3 << 19;

/// Reports with at least this many pages fold each page.
const FOLDED_FROM: usize = 6;

pub(super) const ATF: &str = "above the fold";
pub(super) const ALL: &str = "all resources";
pub(super) const PAGE: &str = "the page";

/// The compared metric with its speedups, followed by the other metrics.
fn page_columns(compared: &'static Metric) -> Vec<Column<Row>> {
    let first = if compared.is_of_page() { PAGE } else { ATF };
    let mut columns = vec![
        metric_column(first, in_unit(compared), compared, Set::Atf),
        column("middle half", |it: &Row| range(it.atf_spread, milliseconds_text)).grouped(first),
        column("ratio", |it: &Row| it.speedup.atf.map(ratio_number)).grouped(first),
        column("regret", |it: &Row| it.regret.map(|it| format!("{it:.2}"))).grouped(first),
        column("proven", |row: &Row| row.proven.map(|it| if it { "yes" } else { "no" }.to_owned()))
            .grouped(first),
    ];
    if !compared.is_of_page() {
        columns.push(metric_column(ALL, in_unit(compared), compared, Set::All));
        columns.push(column("ratio", |it: &Row| it.speedup.all.map(ratio_number)).grouped(ALL));
    }
    for other in METRICS.iter().filter(|metric| metric.name != compared.name) {
        if other.is_of_page() {
            columns.push(metric_column(PAGE, other.heading, other, Set::All));
        } else {
            columns.push(metric_column(other.heading, "ATF", other, Set::Atf));
            columns.push(metric_column(other.heading, "all", other, Set::All));
        }
    }
    let duration = column("ms", |it: &Row| it.duration_ms.map(milliseconds_text));
    columns.push(duration.grouped("duration"));
    columns
}

fn metric_column(
    group: &'static str,
    heading: impl Into<Cow<'static, str>>,
    metric: &'static Metric,
    set: Set,
) -> Column<Row> {
    column(heading, move |it: &Row| it.metrics.get(metric).get(set).map(milliseconds_text))
        .grouped(group)
}

/// `ByteIndex ms`.
pub(super) fn in_unit(metric: &Metric) -> String {
    format!("{} {}", metric.heading, metric.unit)
}

/// An interval of ratios.
pub(super) fn interval(ends: Option<[f64; 2]>) -> Option<String> {
    range(ends, ratio_number)
}

fn range(ends: Option<[f64; 2]>, text: impl Fn(f64) -> String) -> Option<String> {
    ends.map(|[low, high]| format!("{} to {}", text(low), text(high)))
}

/// `leads`: its ribbons are at the top of the report; `has_room`: otherwise they are here.
fn page(page: &PageComparison, metric: &'static Metric, leads: bool, has_room: bool) -> Value {
    let mut anchor = format!("page-{}", page.name);
    anchor.retain(|it| it.is_ascii_alphanumeric() || it == '-');
    let names = page.rows.iter().map(|row| (row.scheme.clone(), row.note.clone())).collect();
    context! {
        name => &page.name,
        anchor,
        resources => &page.resources,
        numbers => &page.numbers,
        table => table(&page.rows, names, &[], &page_columns(metric)),
        ribbons_elsewhere => !leads && !has_room,
        figures => page.ribbons.iter().filter(|_| !leads && has_room).chain(&page.curve).map(|it| Value::from(Serde(it))).collect::<Vec<Value>>(),
    }
}

/// The pages without figures, a line each; `None` if there are none.
fn other_pages(comparison: &Comparison, pages: &[&PageComparison]) -> Option<Value> {
    let has_regret = pages.iter().flat_map(|it| &it.rows).any(|it| it.regret.is_some());
    let place = if comparison.metric.is_of_page() {
        ""
    } else {
        ", above the fold where a page has anything there"
    };
    let regret = if has_regret { "; regret of the best" } else { "" };
    let headings = ["best", "ratio", "regret", "worst", "ratio"];
    let headings = headings.into_iter().filter(|it| has_regret || *it != "regret");
    (!pages.is_empty()).then(|| {
        context! {
            caption => format!("Ratio over {} of the best and the worst scheme{place}{regret}.", comparison.baseline),
            headings => headings.collect::<Vec<&str>>(),
            lines => pages.iter().map(|it| page_line(it, has_regret)).collect::<Vec<Value>>(),
        }
    })
}

/// A page in one line: its best and its worst scheme.
fn page_line(page: &PageComparison, has_regret: bool) -> Value {
    let known =
        page.rows.iter().filter_map(|row| Some((row, row.speedup.atf.or(row.speedup.all)?)));
    let known: Vec<(&Row, f64)> = known.collect();
    let best = known.iter().copied().reduce(|one, other| if other.1 > one.1 { other } else { one });
    let worst =
        known.iter().copied().reduce(|one, other| if other.1 < one.1 { other } else { one });
    let regret = best.and_then(|(row, _)| row.regret);
    let [best, worst] = [best, worst].map(|found| match found {
        Some((row, speedup)) => [row.scheme.clone(), ratio_number(speedup)],
        None => ["\u{2013}"; 2].map(str::to_owned),
    });
    let regret = has_regret.then(|| or_dash(regret.map(|it| format!("{it:.2}"))));
    let cells = [&best[..], regret.as_slice(), &worst].concat();
    context! { name => &page.name, cells }
}

/// Headings, groups with their widths, and lines. `sections` gives each row's subject; a row with another section than the
/// preceding one begins it.
pub(super) fn table<R>(
    rows: &[R],
    names: Vec<(String, Option<String>)>,
    sections: &[String],
    columns: &[Column<R>],
) -> Value {
    // A column is shown if any row has a value.
    let shown = columns.iter().filter(|it| rows.iter().any(|row| it.has(row)));
    let shown: Vec<&Column<R>> = shown.collect();
    let groups: Vec<&[&Column<R>]> =
        shown.chunk_by(|one, other| one.group == other.group).collect();
    let firsts: Vec<bool> =
        groups.iter().flat_map(|group| (0..group.len()).map(|place| place == 0)).collect();
    let has_notes = names.iter().any(|it| it.1.is_some());
    let mut lines = Vec::new();
    for (place, ((name, note), row)) in names.into_iter().zip(rows).enumerate() {
        let own = sections.get(place).filter(|it| !it.is_empty());
        let before = place.checked_sub(1).and_then(|it| sections.get(it));
        let section = own.filter(|it| before != Some(*it));
        let cells = shown.iter().zip(&firsts).map(|(column, is_first)| {
            context! {
                text => or_dash((column.text)(row)),
                is_better => (column.is_better)(row),
                is_first,
            }
        });
        lines.push(context! { name, section, cells => cells.collect::<Vec<Value>>(), note });
    }
    let is_grouped = groups.iter().any(|it| !it[0].group.is_empty());
    let groups = groups.iter().map(|it| context! { name => it[0].group, columns => it.len() });
    let headings = shown.iter().map(|it| context! { text => &it.heading, about => it.about });
    context! {
        is_grouped,
        groups => groups.collect::<Vec<Value>>(),
        headings => headings.collect::<Vec<Value>>(),
        has_notes,
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_contains_1_does_not_read_as_if_it_did_not() {
        let text = |ends: [f64; 2]| interval(Some(ends)).unwrap_or_default();
        assert_eq!(text([0.9984, 1.086]), "0.998 to 1.09");
        assert_eq!(text([0.8, 1.000_04]), "0.80 to 1.00004");
        assert_eq!(text([1.0, 1.0]), "1.00 to 1.00");
    }
}
