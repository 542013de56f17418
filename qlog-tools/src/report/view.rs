//! The report as the template wants it: numbers as cells of tables, the best of each column marked.

use minijinja::{Value, context};

use super::{Comparison, Figure, PageComparison, Row, SummaryRow};
use crate::figures::{milliseconds_text, ratio_text};
use crate::metrics::{Better, METRICS, Metric};

/// A cell of a table of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    text: String,
    is_best: bool,
    /// Whether it is the first of a group of columns.
    is_first: bool,
}

/// A row: its name, its cells, a remark.
#[derive(Debug, Clone)]
struct Line {
    name: String,
    cells: Vec<Cell>,
    note: Option<String>,
}

/// A number of a table; `Range` is words that are never best.
#[derive(Debug, Clone, PartialEq)]
enum Number {
    Missing,
    /// A metric or a duration.
    Value(f64, Better),
    /// A speedup: high is good.
    Times(f64),
    /// Index divided by lower bound: low is good.
    Regret(f64),
    Range(String),
}

/// A column: the group that it stands in, its heading, and its numbers from a row.
struct Column<R> {
    group: &'static str,
    heading: &'static str,
    number: Box<dyn Fn(&R) -> Number>,
}

fn column<R>(
    group: &'static str,
    heading: &'static str,
    number: impl Fn(&R) -> Number + 'static,
) -> Column<R> {
    Column { group, heading, number: Box::new(number) }
}

/// All that the template names.
pub(super) fn of(comparison: &Comparison) -> Value {
    let provenance = serde_json::to_string_pretty(&comparison.provenance).unwrap_or_default();
    let (drawn, lines): (Vec<&PageComparison>, Vec<&PageComparison>) =
        comparison.pages.iter().partition(|page| page.is_drawn());
    let summaries: Vec<Value> = comparison
        .summary
        .chunk_by(|one, other| one.setting == other.setting)
        .map(|rows| summary(rows, &comparison.baseline))
        .collect();
    context! {
        title => comparison.title.clone(),
        what => comparison.what.clone(),
        baseline => comparison.baseline.clone(),
        metric => comparison.metric.heading,
        metrics => METRICS.iter().map(explained).collect::<Vec<Value>>(),
        summaries => summaries,
        figures => comparison.figures.iter().map(|it| figure(&it.figure)).collect::<Vec<Value>>(),
        omitted => comparison.omitted.clone(),
        folded => drawn.len() > FOLDED_FROM,
        pages => drawn.into_iter().map(|it| page(it, comparison.metric)).collect::<Vec<Value>>(),
        other_pages => lines.into_iter().map(page_line).collect::<Vec<Value>>(),
        provenance => provenance,
    }
}

/// What the report says of a metric.
fn explained(metric: &Metric) -> Value {
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let (heading, unit, meaning) = (metric.heading, metric.unit, metric.meaning);
    context! { heading => heading, unit => unit, meaning => meaning, better => better }
}

/// The schemes' means in one setting.
fn summary(rows: &[SummaryRow], baseline: &str) -> Value {
    let names = rows.iter().map(|row| (row.scheme.clone(), incomplete(row, rows))).collect();
    let setting = &rows[0].setting;
    let place = if setting.is_empty() { String::new() } else { format!(", {setting}") };
    let pages = rows.iter().map(|row| row.all.pages.max(row.atf.pages)).max().unwrap_or(0);
    let plural = if pages == 1 { "" } else { "s" };
    context! {
        caption => format!(
            "Speedup over {baseline} by scheme, over {pages} page{plural}{place}. \u{2605} marks the best of a column."
        ),
        table => table(rows, names, &summary_columns(pages)),
    }
}

/// Reports of at least this many pages fold each page.
const FOLDED_FROM: usize = 6;

const ATF: &str = "above the fold";
const ALL: &str = "all resources";

/// Columns that compare pages are left out where there is one.
fn summary_columns(pages: usize) -> Vec<Column<SummaryRow>> {
    let columns = [
        column(ATF, "mean", |it: &SummaryRow| times(it.atf.mean)),
        column(ATF, "95 % interval", |it: &SummaryRow| range(it.atf_interval, ratio)),
        column(ATF, "median", |it: &SummaryRow| times(it.atf.median)),
        column(ATF, "best page", |it: &SummaryRow| times(it.atf.best)),
        column(ATF, "worst page", |it: &SummaryRow| times(it.atf.worst)),
        column(ATF, "regret", |it: &SummaryRow| regret(it.regret)),
        column(ALL, "mean", |it: &SummaryRow| times(it.all.mean)),
        column(ALL, "median", |it: &SummaryRow| times(it.all.median)),
        column(ALL, "best page", |it: &SummaryRow| times(it.all.best)),
        column(ALL, "worst page", |it: &SummaryRow| times(it.all.worst)),
    ];
    let compares_pages = |heading| ["median", "best page", "worst page"].contains(&heading);
    columns.into_iter().filter(|it| pages > 1 || !compares_pages(it.heading)).collect()
}

/// The metric that is compared, with its speedups, and then the others.
fn page_columns(compared: &'static Metric) -> Vec<Column<Row>> {
    let atf =
        |metric: &'static Metric| move |it: &Row| value(it.metrics.get(metric).atf, metric.better);
    let all =
        |metric: &'static Metric| move |it: &Row| value(it.metrics.get(metric).all, metric.better);
    let mut columns = vec![
        column(ATF, compared.heading, atf(compared)),
        column(ATF, "middle half", |it: &Row| range(it.atf_spread, milliseconds_text)),
        column(ATF, "speedup", |it: &Row| times(it.speedup.atf)),
        column(ATF, "regret", |it: &Row| regret(it.regret)),
        column(ALL, compared.heading, all(compared)),
        column(ALL, "speedup", |it: &Row| times(it.speedup.all)),
    ];
    for other in METRICS.iter().filter(|it| it.name != compared.name) {
        columns.push(column(other.heading, "ATF", atf(other)));
        columns.push(column(other.heading, "all", all(other)));
    }
    columns.push(column("load", "ms", |it: &Row| value(it.duration_ms, Better::Lower)));
    columns
}

/// What a column shows only where there is any of it.
const OPTIONAL: [&str; 3] = ["95 % interval", "middle half", "regret"];

fn value(value: Option<f64>, better: Better) -> Number {
    value.map_or(Number::Missing, |it| Number::Value(it, better))
}

fn times(value: Option<f64>) -> Number {
    value.map_or(Number::Missing, Number::Times)
}

fn regret(value: Option<f64>) -> Number {
    value.map_or(Number::Missing, Number::Regret)
}

fn ratio(value: f64) -> String {
    ratio_text(Some(value))
}

fn range(ends: Option<[f64; 2]>, text: impl Fn(f64) -> String) -> Number {
    ends.map_or(Number::Missing, |[low, high]| {
        Number::Range(format!("{} to {}", text(low), text(high)))
    })
}

/// A mean over fewer pages than another's is not to be compared with it.
fn incomplete(row: &SummaryRow, rows: &[SummaryRow]) -> Option<String> {
    let remark =
        |set: &str, pages: usize, most: usize| format!("{set}: only {pages} of {most} pages");
    let most_all = rows.iter().map(|row| row.all.pages).max()?;
    let most_atf = rows.iter().map(|row| row.atf.pages).max()?;
    let all = (row.all.pages < most_all).then(|| remark("all resources", row.all.pages, most_all));
    let atf = (row.atf.pages < most_atf).then(|| remark("above the fold", row.atf.pages, most_atf));
    let remarks: Vec<String> = atf.into_iter().chain(all).collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn page(page: &PageComparison, metric: &'static Metric) -> Value {
    let is_anchor = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
    let names = page.rows.iter().map(|row| (row.scheme.clone(), row.note.clone())).collect();
    context! {
        name => page.name.clone(),
        anchor => format!("page-{}", page.name.chars().filter(is_anchor).collect::<String>()),
        resources => page.resources.clone(),
        table => table(&page.rows, names, &page_columns(metric)),
        figures => page.ribbons.iter().chain(&page.curve).map(figure).collect::<Vec<Value>>(),
    }
}

/// A page in a line: its best and its worst scheme.
fn page_line(page: &PageComparison) -> Value {
    let speedup = |row: &&Row| row.speedup.atf.or(row.speedup.all);
    let known: Vec<(&Row, f64)> =
        page.rows.iter().filter_map(|row| Some((row, speedup(&row)?))).collect();
    let best = known.iter().copied().reduce(|one, other| if other.1 > one.1 { other } else { one });
    let worst =
        known.iter().copied().reduce(|one, other| if other.1 < one.1 { other } else { one });
    let cells = |it: Option<(&Row, f64)>| match it {
        Some((row, speedup)) => vec![row.scheme.clone(), ratio_text(Some(speedup))],
        None => vec!["\u{2013}".to_owned(); 2],
    };
    let regret = best.and_then(|(row, _)| row.regret);
    let mut all = cells(best);
    all.push(regret.map_or_else(|| "\u{2013}".to_owned(), |it| format!("{it:.2}")));
    all.extend(cells(worst));
    context! { name => page.name.clone(), cells => all }
}

fn figure(figure: &Figure) -> Value {
    context! {
        svg => Value::from_safe_string(figure.svg.clone()),
        caption => figure.caption.clone(),
        table_caption => figure.table.caption.clone(),
        headings => figure.table.headings.clone(),
        rows => figure.table.rows.clone(),
    }
}

/// Headings, groups with their widths, and lines.
fn table<R>(rows: &[R], names: Vec<(String, Option<String>)>, columns: &[Column<R>]) -> Value {
    let shown: Vec<&Column<R>> = columns
        .iter()
        .filter(|column| {
            let is_empty = || rows.iter().all(|row| (column.number)(row) == Number::Missing);
            !OPTIONAL.contains(&column.heading) || !is_empty()
        })
        .collect();
    let numbers =
        rows.iter().map(|row| shown.iter().map(|it| (it.number)(row)).collect()).collect();
    let firsts: Vec<bool> = (0..shown.len())
        .map(|place| place == 0 || shown[place - 1].group != shown[place].group)
        .collect();
    let lines = lines(names, numbers, &firsts);
    let groups: Vec<Value> = shown
        .chunk_by(|one, other| one.group == other.group)
        .map(|group| context! { name => group[0].group, columns => group.len() })
        .collect();
    let has_notes = lines.iter().any(|line| line.note.is_some());
    context! {
        groups => groups,
        headings => shown.iter().map(|it| it.heading).collect::<Vec<&str>>(),
        lines => values(lines),
        has_notes => has_notes,
    }
}

fn values(lines: Vec<Line>) -> Vec<Value> {
    let cell = |cell: Cell| context! { text => cell.text, is_best => cell.is_best, is_first => cell.is_first };
    let value = |line: Line| {
        let cells: Vec<Value> = line.cells.into_iter().map(cell).collect();
        context! { name => line.name, cells => cells, note => line.note }
    };
    lines.into_iter().map(value).collect()
}

fn lines(
    names: Vec<(String, Option<String>)>,
    numbers: Vec<Vec<Number>>,
    firsts: &[bool],
) -> Vec<Line> {
    let best: Vec<Option<Number>> = (0..firsts.len())
        .map(|place| best(numbers.iter().map(|row| row[place].clone()).collect()))
        .collect();
    let cell = |place: usize, number: Number| Cell {
        text: text(&number),
        is_best: best[place].as_ref() == Some(&number),
        is_first: firsts[place],
    };
    let line = |((name, note), row): ((String, Option<String>), Vec<Number>)| Line {
        name,
        note,
        cells: row.into_iter().enumerate().map(|(place, it)| cell(place, it)).collect(),
    };
    names.into_iter().zip(numbers).map(line).collect()
}

/// The best number; none when all that there is are equal.
fn best(numbers: Vec<Number>) -> Option<Number> {
    let low_is_good = |number: &Number| match number {
        Number::Value(value, Better::Lower) | Number::Regret(value) => Some(*value),
        Number::Value(value, Better::Higher) | Number::Times(value) => Some(-*value),
        Number::Missing | Number::Range(_) => None,
    };
    let known: Vec<(Number, f64)> =
        numbers.into_iter().filter_map(|it| low_is_good(&it).map(|value| (it, value))).collect();
    let highest = known.iter().map(|it| it.1).reduce(f64::max)?;
    let best = known.into_iter().reduce(|one, other| if other.1 < one.1 { other } else { one })?;
    (best.1 < highest).then_some(best.0)
}

fn text(number: &Number) -> String {
    match number {
        Number::Missing => "\u{2013}".to_owned(),
        Number::Value(value, _) => milliseconds_text(*value),
        Number::Times(value) => ratio_text(Some(*value)),
        Number::Regret(value) => format!("{value:.2}"),
        Number::Range(words) => words.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(numbers: &[Number]) -> Vec<String> {
        let names = numbers.iter().map(|_| (String::new(), None)).collect();
        let rows = numbers.iter().map(|it| vec![it.clone()]).collect();
        let mark = |line: &Line| {
            format!("{}{}", line.cells[0].text, if line.cells[0].is_best { "*" } else { "" })
        };
        lines(names, rows, &[true]).iter().map(mark).collect()
    }

    #[test]
    fn the_best_of_a_column_is_marked() {
        use Number::{Missing, Regret, Times};
        let ms = |it| value(Some(it), Better::Lower);
        assert_eq!(marked(&[ms(20.0), ms(1506.0), Missing]), ["20*", "1506", "–"]);
        assert_eq!(
            marked(&[Times(1.0), Times(2.5), Times(2.5), Times(0.5)]),
            ["×1.00", "×2.50*", "×2.50*", "/2.00"]
        );
        assert_eq!(marked(&[Regret(1.0), Regret(1.2)]), ["1.00*", "1.20"]);
    }

    #[test]
    fn equals_and_ranges_are_not_marked() {
        assert_eq!(marked(&[Number::Times(1.0), Number::Times(1.0)]), ["×1.00", "×1.00"]);
        assert_eq!(marked(&[Number::Missing]), ["–"]);
        assert_eq!(marked(&[range(Some([1.0, 2.0]), ratio)]), ["×1.00 to ×2.00"]);
    }
}
