//! A study on the terminal: the answer, one table, the conditions, and an explanation of the terms.

use crate::output;
use crate::output::number;
use ::serve::Failure;
use figures::number_texts::ratio_number;
use lab::study::{
    Plan, Study, answers, conditions, missing, pair_matrices, same_loads, scheme_rows, title,
};
use qlog_tools::metrics::Metric;
use report::comparison::{
    PAIRS_KEY, Pair, PairMatrix, PushMeans, SchemeNumbers, SchemeRow, p_text,
};

pub(super) fn show(plan: &Plan, study: &Study, with_pairs: bool) -> Result<(), Failure> {
    output::line(&title(plan, study))?;
    answers(plan, study).iter().try_for_each(|it| output::line(it))?;
    output::line("")?;
    table(plan, &scheme_rows(plan, study))?;
    if with_pairs {
        all_pairs(&pair_matrices(plan, study))?;
    }
    output::line(&conditions(plan))?;
    missing(plan, &study.runs).iter().try_for_each(|it| output::line(it))?;
    same_loads(plan, study).iter().try_for_each(|it| output::line(it))?;
    study.weights.as_ref().map_or(Ok(()), |it| output::line(&it.sentence()))?;
    rank_correlations(plan, study)?;
    output::line(&definitions(plan))
}

fn table(plan: &Plan, rows: &[SchemeRow]) -> Result<(), Failure> {
    let metric = plan.metric;
    let of: NumbersOf = match rows.iter().any(|it| it.atf.speedups.pages > 0) {
        true => |it| &it.atf,
        false if metric.is_of_page() => |it| &it.atf,
        false => |it| &it.all,
    };
    let shown =
        COLUMNS.iter().filter(|it| rows.iter().any(|row| (it.cell)(row, of(row)).is_some()));
    let shown: Vec<&Column> = shown.collect();
    let unit = rows.iter().map(|it| it.unit).find(|it| !it.is_empty()).unwrap_or("pairs");
    let headings = shown.iter().map(|it| heading(it.heading, metric, unit));
    let headings: Vec<String> = ["scheme".to_owned()].into_iter().chain(headings).collect();
    let header: Vec<&str> = headings.iter().map(String::as_str).collect();
    let cells = rows.iter().map(|row| {
        let name = format!("{} {}", row.scheme, row.label).trim_end().to_owned();
        let cells = shown.iter().map(|it| (it.cell)(row, of(row)));
        let cells = cells.map(|it| it.unwrap_or_else(|| "-".to_owned()));
        [name].into_iter().chain(cells).collect()
    });
    let verdict = shown.iter().position(|it| it.heading == VERDICT).map(|it| it + 1);
    output::line(&output::table(&header, verdict.as_slice(), cells).to_string())
}

fn all_pairs(matrices: &[PairMatrix]) -> Result<(), Failure> {
    let key = match matrices {
        [] => "All pairs: there are fewer than three schemes, or too few pairs of loads for a test",
        _ => PAIRS_KEY,
    };
    for matrix in matrices {
        output::line(&format!("All pairs, {}", matrix.sentence()))?;
        let numbers = (1..=matrix.schemes.len()).map(|it| it.to_string());
        let header: Vec<String> = ["scheme".to_owned()].into_iter().chain(numbers).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows = matrix.row_names().zip(&matrix.cells).map(|(name, cells)| {
            let cells = cells.iter().map(|it| it.map_or("-  ".to_owned(), Pair::text));
            [name].into_iter().chain(cells).collect()
        });
        output::line(&output::table(&header, &[], rows).to_string())?;
    }
    output::line(key)
}

/// Replaces UNIT by the unit of a pair, METRIC by the study's metric, and MS by its unit.
fn heading(heading: &str, metric: &Metric, unit: &str) -> String {
    heading.replace("METRIC", metric.heading).replace("MS", metric.unit).replace("UNIT", unit)
}

fn rank_correlations(plan: &Plan, study: &Study) -> Result<(), Failure> {
    for it in &study.rank_correlations {
        let words = it.setting.sentence();
        let setting = words.trim_start_matches("network ");
        output::line(&format!(
            "rank correlation with {}: {:.2} ({} schemes; {setting}; by {}, metadata {})",
            it.published,
            it.spearman,
            it.schemes,
            plan.metric.heading,
            plan.metadata.name()
        ))?;
    }
    Ok(())
}

fn definitions(plan: &Plan) -> String {
    format!(
        "ratio: {} of {} divided by the scheme's, so above 1 the scheme is better; a geometric mean over pages and their loads. better, worse: \
         Wilcoxon's signed-rank test, adjusted by Holm for the schemes of a setting, is below 0.05, and the 95 % interval does not \
         contain 1; within 2 %: the interval lies between 1/1.02 and 1.02, of at least 14 pairs that are not all equal",
        plan.metric.heading, plan.baseline
    )
}

type NumbersOf = fn(&SchemeRow) -> &SchemeNumbers;

/// A column of the table. It appears only if some row has a value for it.
struct Column {
    heading: &'static str,
    cell: fn(&SchemeRow, &SchemeNumbers) -> Option<String>,
}

const VERDICT: &str = "verdict";

const COLUMNS: [Column; 15] = [
    Column { heading: "ratio", cell: |_, of| of.ratio.map(ratio_number) },
    Column { heading: "95 % interval", cell: |_, of| interval(of.interval) },
    Column { heading: "UNIT", cell: |_, of| of.pairs().map(|it| it.to_string()) },
    Column { heading: VERDICT, cell: |_, of| Some(of.verdict.to_owned()) },
    Column { heading: "better / equal / worse", cell: |_, of| of.counts() },
    Column { heading: "adjusted p", cell: |_, of| of.adjusted_p.map(p_text) },
    Column { heading: "METRIC MS", cell: |_, of| of.value.map(|it| number(Some(it), 0)) },
    Column { heading: "arithmetic mean", cell: |_, of| of.speedups.mean.map(ratio_number) },
    Column { heading: "its 95 % interval", cell: |_, of| interval(of.mean_interval) },
    Column { heading: "regret", cell: |row, _| row.regret.map(|it| number(Some(it), 2)) },
    Column {
        heading: "proven",
        cell: |row, _| row.proven.map(|(proven, pages)| format!("{proven} of {pages}")),
    },
    Column { heading: "pushes taken", cell: |row, _| pushes(row, |it| it.taken, 1) },
    Column { heading: "refused", cell: |row, _| pushes(row, |it| it.refused, 1) },
    Column { heading: "late", cell: |row, _| pushes(row, |it| it.late, 1) },
    Column { heading: "bytes wasted", cell: |row, _| pushes(row, |it| it.wasted_bytes, 0) },
];

fn pushes(row: &SchemeRow, of: fn(&PushMeans) -> f64, digits: usize) -> Option<String> {
    row.pushes.as_ref().map(|it| number(Some(of(it)), digits))
}

fn interval(ends: Option<[f64; 2]>) -> Option<String> {
    ends.map(|it| it.map(ratio_number).join(" to "))
}
