//! The report as the template wants it: numbers as cells of tables, the best of each column marked.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::{Comparison, PageComparison, PushMeans, Row, SummaryRow, paired};
use figures::number_texts::{beside_one, milliseconds_text, or_dash};
use qlog_tools::metrics::{Better, METRICS, Metric, Set};

/// A cell of a table of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Cell {
    text: String,
    is_best: bool,
    /// Whether it is the first of a group of columns.
    is_first: bool,
}

/// A row: its name, its cells, a remark.
#[derive(Debug, Clone, Serialize)]
struct Line {
    name: String,
    cells: Vec<Cell>,
    note: Option<String>,
}

/// A number of a table as it is written, and what of it is better when low; words are never best.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    text: String,
    cost: Option<f64>,
}

/// What a row has in a column, if anything.
type NumberOf<R> = dyn Fn(&R) -> Option<Number>;

/// A column: the group that it stands in, its heading, and its numbers from a row.
pub(super) struct Column<R> {
    group: &'static str,
    heading: &'static str,
    number: Box<NumberOf<R>>,
}

pub(super) fn column<R>(
    group: &'static str,
    heading: &'static str,
    number: impl Fn(&R) -> Option<Number> + 'static,
) -> Column<R> {
    Column { group, heading, number: Box::new(number) }
}

/// All that the template names.
pub(super) fn of(comparison: &Comparison) -> Value {
    let provenance = serde_json::to_string_pretty(&comparison.provenance).unwrap_or_default();
    let (drawn, lines): (Vec<&PageComparison>, Vec<&PageComparison>) =
        comparison.pages.iter().partition(|page| page.is_drawn());
    let settings = comparison.summary.chunk_by(|one, other| one.setting == other.setting);
    let summaries: Vec<Value> = settings.map(|it| summary(it, &comparison.baseline)).collect();
    context! {
        title => &comparison.title,
        answers => &comparison.answers,
        what => &comparison.what,
        baseline => &comparison.baseline,
        metric => comparison.metric.heading,
        metrics => Serde(METRICS),
        summaries => summaries,
        comparisons => paired::tables(comparison),
        figures => comparison.figures.iter().map(|it| Value::from(Serde(&it.figure))).collect::<Vec<Value>>(),
        omitted => &comparison.omitted,
        folded => drawn.len() > FOLDED_FROM,
        pages => drawn.into_iter().map(|it| page(it, comparison.metric)).collect::<Vec<Value>>(),
        other_pages => lines.into_iter().map(page_line).collect::<Vec<Value>>(),
        provenance => provenance,
    }
}

/// The schemes' means in one setting.
fn summary(rows: &[SummaryRow], baseline: &str) -> Value {
    let names = rows.iter().map(|row| (row.scheme.clone(), incomplete(row, rows))).collect();
    let setting = &rows[0].setting;
    let place = if setting.is_empty() { String::new() } else { format!(", {setting}") };
    let atf = rows.iter().map(|it| it.atf.pages).max().unwrap_or(0);
    let all = rows.iter().map(|it| it.all.pages).max().unwrap_or(0);
    let pages = atf.max(all);
    let over = over(atf, all, if pages == 1 { "page" } else { "pages" });
    context! {
        caption => format!(
            "Speedup over {baseline} by scheme, {over}{place}. Bold: the best number of a column. The interval belongs to the mean; it draws sites, or the loads of a single page. The captions of figures say what a star means. Regret is the ByteIndex divided by its lower bound: 1 is as good as can be."
        ),
        table => table(rows, names, &summary_columns(pages)),
    }
}

/// Over how many pages or pairs the numbers of a table are.
fn over(atf: usize, all: usize, unit: &str) -> String {
    match (atf, all) {
        (same, other) if same == other => format!("over {same} {unit}"),
        (0, all) => format!("over {all} {unit} ({ALL})"),
        (atf, all) => format!("over {atf} {unit} {ATF} and {all} of {ALL}"),
    }
}

/// Reports of at least this many pages fold each page.
const FOLDED_FROM: usize = 6;

pub(super) const ATF: &str = "above the fold";
pub(super) const ALL: &str = "all resources";
pub(super) const PAGE: &str = "the page";
const PUSHES: &str = "pushes, mean of a load";

/// Columns that compare pages are left out where there is one.
fn summary_columns(pages: usize) -> Vec<Column<SummaryRow>> {
    let mut columns = vec![
        column(ATF, "mean", |it: &SummaryRow| times(it.atf.mean)),
        column(ATF, "95 % interval", |it: &SummaryRow| interval(it.atf_interval, SPEEDUP_DECIMALS)),
        column(ATF, "median", |it: &SummaryRow| times(it.atf.median)),
        column(ATF, "best page", |it: &SummaryRow| times(it.atf.best)),
        column(ATF, "worst page", |it: &SummaryRow| times(it.atf.worst)),
        column(ATF, "regret", |it: &SummaryRow| regret(it.regret)),
        column(ATF, "proven", |row: &SummaryRow| {
            words(row.proven.map(|(proven, pages)| format!("{proven} of {pages}")))
        }),
        column(ALL, "mean", |it: &SummaryRow| times(it.all.mean)),
        column(ALL, "median", |it: &SummaryRow| times(it.all.median)),
        column(ALL, "best page", |it: &SummaryRow| times(it.all.best)),
        column(ALL, "worst page", |it: &SummaryRow| times(it.all.worst)),
        column(PUSHES, "taken", |it: &SummaryRow| count(it, |it| it.taken)),
        column(PUSHES, "refused", |it: &SummaryRow| count(it, |it| it.refused)),
        column(PUSHES, "late", |it: &SummaryRow| count(it, |it| it.late)),
        column(PUSHES, "wasted bytes", wasted),
    ];
    let of_pages = ["median", "best page", "worst page"];
    columns.retain(|it| pages > 1 || !of_pages.contains(&it.heading));
    columns
}

/// The metric that is compared, with its speedups, and then the others.
fn page_columns(compared: &'static Metric) -> Vec<Column<Row>> {
    let first = if compared.is_of_page() { PAGE } else { ATF };
    let mut columns = vec![
        metric_column(first, compared.heading, compared, Set::Atf),
        column(first, "middle half", |it: &Row| range(it.atf_spread, milliseconds_text)),
        column(first, "speedup", |it: &Row| times(it.speedup.atf)),
        column(first, "regret", |it: &Row| regret(it.regret)),
        column(first, "proven", |row: &Row| {
            words(row.proven.map(|it| if it { "yes" } else { "no" }.to_owned()))
        }),
    ];
    if !compared.is_of_page() {
        columns.push(metric_column(ALL, compared.heading, compared, Set::All));
        columns.push(column(ALL, "speedup", |it: &Row| times(it.speedup.all)));
    }
    for other in METRICS.iter().filter(|metric| metric.name != compared.name) {
        if other.is_of_page() {
            columns.push(metric_column(PAGE, other.heading, other, Set::All));
        } else {
            columns.push(metric_column(other.heading, "ATF", other, Set::Atf));
            columns.push(metric_column(other.heading, "all", other, Set::All));
        }
    }
    columns.push(column("duration", "ms", |it: &Row| value(it.duration_ms, Better::Lower)));
    columns
}

fn metric_column(
    group: &'static str,
    heading: &'static str,
    metric: &'static Metric,
    set: Set,
) -> Column<Row> {
    column(group, heading, move |it: &Row| value(it.metrics.get(metric).get(set), metric.better))
}

fn value(value: Option<f64>, better: Better) -> Option<Number> {
    let sign = if better == Better::Lower { 1.0 } else { -1.0 };
    value.map(|it| Number { text: milliseconds_text(it), cost: Some(sign * it) })
}

/// A speedup: high is good.
fn times(value: Option<f64>) -> Option<Number> {
    value.map(|it| Number { text: format!("{it:.SPEEDUP_DECIMALS$}"), cost: Some(-it) })
}

/// Index divided by lower bound: low is good.
fn regret(value: Option<f64>) -> Option<Number> {
    value.map(|it| Number { text: format!("{it:.2}"), cost: Some(it) })
}

/// What is neither good nor bad.
pub(super) fn words(text: Option<String>) -> Option<Number> {
    text.map(|text| Number { text, cost: None })
}

/// A number of promises, which is neither good nor bad.
fn count(row: &SummaryRow, of: fn(&PushMeans) -> f64) -> Option<Number> {
    words(row.pushes.as_ref().map(|it| format!("{:.1}", of(it))))
}

/// Fewer are better.
fn wasted(row: &SummaryRow) -> Option<Number> {
    let bytes = row.pushes?.wasted_bytes;
    Some(Number { text: format!("{bytes:.0}"), cost: Some(bytes) })
}

/// The decimals of a speedup, as the program prints it.
const SPEEDUP_DECIMALS: usize = 2;

/// An interval of ratios with these decimals. On which side of 1 an end lies can be seen.
pub(super) fn interval(ends: Option<[f64; 2]>, decimals: usize) -> Option<Number> {
    range(ends, |it| beside_one(it, decimals))
}

fn range(ends: Option<[f64; 2]>, text: impl Fn(f64) -> String) -> Option<Number> {
    words(ends.map(|[low, high]| format!("{} to {}", text(low), text(high))))
}

/// A mean over fewer pages than another's is not to be compared with it.
fn incomplete(row: &SummaryRow, rows: &[SummaryRow]) -> Option<String> {
    let most_all = rows.iter().map(|row| row.all.pages).max()?;
    let most_atf = rows.iter().map(|row| row.atf.pages).max()?;
    let mut remarks: Vec<String> = Vec::new();
    for (set, pages, most) in
        [("above the fold", row.atf.pages, most_atf), ("all resources", row.all.pages, most_all)]
    {
        if pages < most {
            remarks.push(format!("{set}: only {pages} of {most} pages"));
        }
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn page(page: &PageComparison, metric: &'static Metric) -> Value {
    let mut anchor = format!("page-{}", page.name);
    anchor.retain(|it| it.is_ascii_alphanumeric() || it == '-');
    let names = page.rows.iter().map(|row| (row.scheme.clone(), row.note.clone())).collect();
    context! {
        name => &page.name,
        anchor,
        resources => &page.resources,
        table => table(&page.rows, names, &page_columns(metric)),
        figures => page.ribbons.iter().chain(&page.curve).map(|it| Value::from(Serde(it))).collect::<Vec<Value>>(),
    }
}

/// A page in a line: its best and its worst scheme.
fn page_line(page: &PageComparison) -> Value {
    let known =
        page.rows.iter().filter_map(|row| Some((row, row.speedup.atf.or(row.speedup.all)?)));
    let known: Vec<(&Row, f64)> = known.collect();
    let best = known.iter().copied().reduce(|one, other| if other.1 > one.1 { other } else { one });
    let worst =
        known.iter().copied().reduce(|one, other| if other.1 < one.1 { other } else { one });
    let regret = best.and_then(|(row, _)| row.regret);
    let [best, worst] = [best, worst].map(|found| match found {
        Some((row, speedup)) => [row.scheme.clone(), format!("{speedup:.SPEEDUP_DECIMALS$}")],
        None => ["\u{2013}"; 2].map(str::to_owned),
    });
    let regret = or_dash(regret.map(|it| format!("{it:.2}")));
    let cells = [&best[..], &[regret], &worst].concat();
    context! { name => &page.name, cells }
}

/// Headings, groups with their widths, and lines.
pub(super) fn table<R>(
    rows: &[R],
    names: Vec<(String, Option<String>)>,
    columns: &[Column<R>],
) -> Value {
    // A column is shown where there is any of it.
    let shown = columns.iter().filter(|it| rows.iter().any(|row| (it.number)(row).is_some()));
    let shown: Vec<&Column<R>> = shown.collect();
    let numbers =
        rows.iter().map(|row| shown.iter().map(|it| (it.number)(row)).collect()).collect();
    let groups: Vec<&[&Column<R>]> =
        shown.chunk_by(|one, other| one.group == other.group).collect();
    let firsts: Vec<bool> =
        groups.iter().flat_map(|group| (0..group.len()).map(|place| place == 0)).collect();
    let lines = lines(names, numbers, &firsts);
    let groups = groups.iter().map(|it| context! { name => it[0].group, columns => it.len() });
    context! {
        groups => groups.collect::<Vec<Value>>(),
        headings => shown.iter().map(|it| it.heading).collect::<Vec<&str>>(),
        has_notes => lines.iter().any(|line| line.note.is_some()),
        lines => Serde(lines),
    }
}

fn lines(
    names: Vec<(String, Option<String>)>,
    numbers: Vec<Vec<Option<Number>>>,
    firsts: &[bool],
) -> Vec<Line> {
    let best: Vec<Option<f64>> = (0..firsts.len())
        .map(|place| best(numbers.iter().filter_map(|row| row[place].as_ref()?.cost)))
        .collect();
    let mut lines = Vec::new();
    for ((name, note), row) in names.into_iter().zip(numbers) {
        let cells = row.into_iter().enumerate().map(|(place, number)| {
            let cost = number.as_ref().and_then(|it| it.cost);
            let is_best = cost.is_some() && cost == best[place];
            let text = or_dash(number.map(|it| it.text));
            Cell { text, is_best, is_first: firsts[place] }
        });
        lines.push(Line { name, note, cells: cells.collect() });
    }
    lines
}

/// The lowest cost; none when all that there are are equal.
fn best(costs: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let (lowest, highest) = (costs.clone().reduce(f64::min)?, costs.reduce(f64::max)?);
    (lowest < highest).then_some(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(numbers: &[Option<Number>]) -> Vec<String> {
        let names = numbers.iter().map(|_| (String::new(), None)).collect();
        let rows = numbers.iter().map(|it| vec![it.clone()]).collect();
        let mark = |line: &Line| {
            format!("{}{}", line.cells[0].text, if line.cells[0].is_best { "*" } else { "" })
        };
        lines(names, rows, &[true]).iter().map(mark).collect()
    }

    #[test]
    fn the_best_of_a_column_is_marked() {
        let ms = |it| value(Some(it), Better::Lower);
        assert_eq!(marked(&[ms(20.0), ms(1506.0), None]), ["20*", "1506", "–"]);
        assert_eq!(
            marked(&[1.0, 2.5, 2.5, 0.5].map(|it| times(Some(it)))),
            ["1.00", "2.50*", "2.50*", "0.50"]
        );
        assert_eq!(marked(&[regret(Some(1.0)), regret(Some(1.2))]), ["1.00*", "1.20"]);
    }

    #[test]
    fn equals_and_ranges_are_not_marked() {
        assert_eq!(marked(&[times(Some(1.0)), times(Some(1.0))]), ["1.00", "1.00"]);
        assert_eq!(marked(&[None]), ["–"]);
        assert_eq!(marked(&[interval(Some([1.0, 2.0]), 2)]), ["1.00 to 2.00"]);
    }

    #[test]
    fn an_interval_that_contains_1_does_not_read_as_if_it_did_not() {
        let text = |ends: [f64; 2]| interval(Some(ends), 2).map(|it| it.text).unwrap_or_default();
        assert_eq!(text([0.9984, 1.086]), "0.998 to 1.09");
        assert_eq!(text([0.8, 1.000_04]), "0.80 to 1.00004");
        assert_eq!(text([1.0, 1.0]), "1.00 to 1.00");
        assert_eq!(figures::number_texts::end_text(0.9984), "/1.002");
        assert_eq!(figures::number_texts::end_text(1.0), "×1.00");
    }
}
