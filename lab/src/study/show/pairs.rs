//! The matrix of all pairs of schemes.

use crate::study::{ComparisonRow, Plan, Study, SummaryRow, Verdict};
use qlog_tools::metrics::Set;
use report::comparison::{Pair, PairMatrix};

/// With fewer schemes, the table of comparisons with the baseline has all pairs.
const SCHEMES_MIN: usize = 3;

/// A matrix for each setting, with the schemes of the highest ratio over the baseline first. Empty if nothing is tested, or with
/// fewer than three schemes.
pub fn pair_matrices(plan: &Plan, study: &Study) -> Vec<PairMatrix> {
    let set = study.main_set();
    let is_tested = |row: &ComparisonRow| row.holm_p.get(set).is_some();
    if !study.pairs.iter().any(is_tested) {
        return Vec::new();
    }
    let varied = plan.settings.varied();
    let by_setting = study.summary.chunk_by(|one, other| one.setting == other.setting);
    let matrices = by_setting.map(|of_setting| {
        let rows = study.pairs.iter().filter(|it| it.setting == of_setting[0].setting);
        let rows: Vec<&ComparisonRow> = rows.collect();
        let schemes = by_ratio(of_setting, &rows, set);
        let line = |row: &String| schemes.iter().map(|it| pair(&rows, row, it, set)).collect();
        PairMatrix {
            setting: of_setting[0].setting.labels(&varied),
            tests: rows.iter().filter(|it| is_tested(it)).count(),
            differences: rows.iter().filter(|it| it.winner.get(set).is_some()).count(),
            cells: schemes.iter().map(line).collect(),
            schemes,
        }
    });
    matrices.filter(|it| it.schemes.len() >= SCHEMES_MIN).collect()
}

/// The schemes of a setting that have pairs, those with the highest ratio first.
fn by_ratio(summary: &[SummaryRow], rows: &[&ComparisonRow], set: Set) -> Vec<String> {
    let mut known: Vec<&SummaryRow> = summary.iter().collect();
    known.retain(|it| rows.iter().any(|row| row.scheme == it.scheme || row.baseline == it.scheme));
    let ratio = |it: &SummaryRow| it.geometric_mean_speedup.get(set).unwrap_or_default();
    known.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
    known.into_iter().map(|it| it.scheme.clone()).collect()
}

/// `scheme` against `other`.
fn pair(rows: &[&ComparisonRow], scheme: &str, other: &str, set: Set) -> Option<Pair> {
    let of = |scheme: &str, other: &str| {
        rows.iter().find(|it| it.scheme == scheme && it.baseline == other).copied()
    };
    let (row, is_reversed) = match of(scheme, other) {
        Some(row) => (row, false),
        None => (of(other, scheme)?, true),
    };
    let ratio = row.geometric_mean_ratio.get(set)?;
    let ratio = if is_reversed { 1.0 / ratio } else { ratio };
    let mark = match (row.verdict(set), is_reversed) {
        (Verdict::Better, false) | (Verdict::Worse, true) => Pair::BETTER,
        (Verdict::Better, true) | (Verdict::Worse, false) => Pair::WORSE,
        (Verdict::Equivalent, _) => Pair::EQUIVALENT,
        (_, _) => "",
    };
    Some(Pair { ratio, mark })
}
