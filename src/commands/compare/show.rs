//! A study as a table.

use crate::output;
use crate::output::number;
use ::serve::Failure;
use figures::number_texts::beside_one;
use lab::study::statistics::Interval;
use lab::study::{Plan, Pushes, Study, SummaryRow, conditions, missing, varied};
use qlog_tools::metrics::{self, Metric};

pub(super) fn show(plan: &Plan, study: &Study) -> Result<(), Failure> {
    let rows = &study.summary;
    let metric = metrics::find(study.metric).unwrap_or_else(metrics::byte_index);
    let varied = varied(rows.iter().map(|it| &it.setting));
    let columns = COLUMNS.iter().filter(|it| (it.is_for)(rows, metric));
    let mut headings = vec!["scheme".to_owned()];
    for column in columns.clone() {
        let heading = column.heading.replace("METRIC", metric.heading);
        let heading = heading.replace("UNIT", metric.unit);
        headings.push(if metric.is_of_page() { heading.replace(" ATF", "") } else { heading });
    }
    let header: Vec<&str> = headings.iter().map(String::as_str).collect();
    let cells = rows.iter().map(|row| {
        let name = format!("{} {}", row.scheme, row.setting.labels(&varied));
        let values = columns.clone().map(|it| (it.cell)(row, metric));
        [name.trim_end().to_owned()].into_iter().chain(values).collect()
    });
    output::line(&format!("speedups over {}", plan.baseline))?;
    output::line(&output::table(&header, &[], cells).to_string())?;
    study.failures().iter().try_for_each(|it| output::line(it))?;
    output::line(&conditions(plan))?;
    missing(plan, &study.runs).iter().try_for_each(|it| output::line(it))?;
    study.weights.as_ref().map_or(Ok(()), |it| output::line(&it.sentence()))?;
    if varied.is_empty() {
        conclusion(rows, metric, plan.has_chance()).map_or(Ok(()), |it| output::line(&it))?;
    }
    if study.summary.iter().all(|row| row.mean_speedup_interval.atf.is_none()) {
        output::line(
            "intervals need pages of at least six sites, or six seeds of one page on a random network",
        )?;
    }
    for it in &study.rank_correlations {
        let words = it.setting.sentence();
        let setting = words.trim_start_matches("network ");
        output::line(&format!(
            "rank correlation with {}: {:.2} ({} schemes; {setting}; by {}, metadata {})",
            it.published,
            it.spearman,
            it.schemes,
            metric.heading,
            plan.metadata.name()
        ))?;
    }
    Ok(())
}

/// The best and the worst scheme above the fold, in a sentence. Where seeds change loads, it does not say that the order is
/// the reason.
fn conclusion(rows: &[SummaryRow], metric: &Metric, has_chance: bool) -> Option<String> {
    let mut known: Vec<(f64, &str)> =
        rows.iter().filter_map(|it| Some((it.mean.get(metric).atf?, it.scheme.as_str()))).collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (least, most) = (known.first()?, known.last().filter(|_| known.len() > 1)?);
    let factor = (least.0 > 0.0).then(|| most.0 / least.0)?;
    let Metric { heading, unit, .. } = metric;
    let place = if metric.is_of_page() { "" } else { " above the fold" };
    let ends =
        format!("{:.0} {unit} under {}, {:.0} {unit} under {}", least.0, least.1, most.0, most.1);
    Some(if has_chance {
        format!(
            "{heading}{place}: {ends}, a factor of {factor:.1}; part of it is chance, for loads with other seeds differ"
        )
    } else {
        format!(
            "the send order alone changes the {heading}{place} by a factor of {factor:.1}: {ends}"
        )
    })
}

struct Column {
    /// METRIC and UNIT stand for those of the study.
    heading: &'static str,
    /// Whether it says something of these rows and this metric.
    is_for: fn(&[SummaryRow], &Metric) -> bool,
    cell: fn(&SummaryRow, &Metric) -> String,
}

const COLUMNS: [Column; 18] = [
    Column {
        heading: "pages",
        is_for: |rows, _| has_one_count(rows),
        cell: |row, _| row.pages.to_string(),
    },
    Column {
        heading: "pages all",
        is_for: |rows, _| !has_one_count(rows),
        cell: |row, _| row.speedup_pages.all.unwrap_or(0).to_string(),
    },
    Column {
        heading: "pages ATF",
        is_for: |rows, _| !has_one_count(rows),
        cell: |row, _| row.speedup_pages.atf.unwrap_or(0).to_string(),
    },
    of_all("METRIC all UNIT", |row, metric| number(row.mean.get(metric).all, 0)),
    column("METRIC ATF UNIT", |row, metric| number(row.mean.get(metric).atf, 0)),
    of_all("speedup all", |row, _| number(row.mean_speedup.all, 2)),
    column("speedup ATF", |row, _| number(row.mean_speedup.atf, 2)),
    column("95 % interval", |row, _| interval(row.mean_speedup_interval.atf)),
    of_several_pages("geometric", |row, _| number(row.geometric_mean_speedup.atf, 2)),
    of_several_pages("its 95 % interval", |row, _| {
        interval(row.geometric_mean_speedup_interval.atf)
    }),
    of_several_pages("best ATF", |row, _| number(row.best_page_speedup.atf, 2)),
    of_several_pages("worst ATF", |row, _| number(row.worst_page_speedup.atf, 2)),
    column("regret ATF", |row, _| number(row.mean_regret.atf, 2)),
    Column {
        heading: "proven",
        is_for: |rows, _| rows.iter().any(|it| it.proven_pages.is_some()),
        cell: |row, _| {
            row.proven_pages.map_or("-".to_owned(), |it| format!("{it} of {}", row.pages))
        },
    },
    of_pushes("pushes taken", |row, _| pushes(row, |it| it.taken, 1)),
    of_pushes("refused", |row, _| pushes(row, |it| it.refused, 1)),
    of_pushes("late", |row, _| pushes(row, |it| it.late, 1)),
    of_pushes("bytes wasted", |row, _| pushes(row, |it| it.wasted_bytes, 0)),
];

fn interval(of: Option<Interval>) -> String {
    of.map_or("-".to_owned(), |it| it.map(|it| beside_one(it, 2)).join(" to "))
}

/// Whether speedups of all resources and of those above the fold are of as many pages.
fn has_one_count(rows: &[SummaryRow]) -> bool {
    rows.iter().all(|it| it.speedup_pages.all == it.speedup_pages.atf)
}

fn has_sets(_: &[SummaryRow], metric: &Metric) -> bool {
    !metric.is_of_page()
}

fn several_pages(rows: &[SummaryRow], _: &Metric) -> bool {
    rows.iter().any(|it| it.pages > 1)
}

fn some_pushes(rows: &[SummaryRow], _: &Metric) -> bool {
    rows.iter().any(|it| it.mean_pushes.is_some())
}

const fn column(heading: &'static str, cell: fn(&SummaryRow, &Metric) -> String) -> Column {
    Column { heading, is_for: |_, _| true, cell }
}

/// A metric of the page has no value for all resources beside the one for those above the fold.
const fn of_all(heading: &'static str, cell: fn(&SummaryRow, &Metric) -> String) -> Column {
    Column { heading, is_for: has_sets, cell }
}

const fn of_several_pages(
    heading: &'static str,
    cell: fn(&SummaryRow, &Metric) -> String,
) -> Column {
    Column { heading, is_for: several_pages, cell }
}

const fn of_pushes(heading: &'static str, cell: fn(&SummaryRow, &Metric) -> String) -> Column {
    Column { heading, is_for: some_pushes, cell }
}

fn pushes(row: &SummaryRow, value: fn(&Pushes<f64>) -> f64, digits: usize) -> String {
    number(row.mean_pushes.as_ref().map(value), digits)
}
