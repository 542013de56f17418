//! The rows of a study's table: each scheme in each setting, with its loads' values and the test's
//! verdict.

use crate::study::compute::Verdict;
use crate::study::{ComparisonRow, Plan, Study, SummaryRow};
use figures::speedups::Speedups;
use qlog_tools::metrics::Set;
use report::comparison::{PushMeans, SchemeNumbers, SchemeRow};
use std::collections::BTreeSet;

/// The rows by setting; in a setting, those with the highest ratio first.
pub fn scheme_rows(plan: &Plan, study: &Study) -> Vec<SchemeRow> {
    let varied = plan.settings.varied();
    let set = study.main_set();
    let by_setting = study.summary.chunk_by(|one, other| one.setting == other.setting);
    let failed = study.runs.iter().filter(|it| it.has_failed_scheme());
    let failed: BTreeSet<&str> = failed.map(|it| &*it.scheme).collect();
    let mut rows = Vec::new();
    for of_setting in by_setting {
        let mut of_setting: Vec<&SummaryRow> = of_setting.iter().collect();
        let ratio = |it: &SummaryRow| it.geometric_mean_speedup.get(set).unwrap_or_default();
        of_setting.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
        rows.extend(of_setting.into_iter().map(|row| {
            let compared = study.comparisons.iter();
            let mut compared =
                compared.filter(|it| it.scheme == row.scheme && it.setting == row.setting);
            let compared = compared.next();
            let has_failed = failed.contains(&&*row.scheme);
            SchemeRow {
                setting: row.setting.words(&varied),
                label: row.setting.labels(&varied),
                scheme: row.scheme.clone(),
                unit: compared.map_or("", |it| it.pairs_of.name()),
                atf: numbers(plan, row, compared, has_failed, Set::Atf),
                all: numbers(plan, row, compared, has_failed, Set::All),
                regret: row.side_by_side.regret.filter(|_| plan.is_bounded()),
                proven: row.proven_pages.map(|it| (it, row.pages)),
                pushes: row.mean_pushes.map(|means| PushMeans {
                    taken: means.taken,
                    refused: means.refused,
                    late: means.late,
                    wasted_bytes: means.wasted_bytes,
                }),
            }
        }));
    }
    rows
}

fn numbers(
    plan: &Plan,
    row: &SummaryRow,
    compared: Option<&ComparisonRow>,
    has_failed: bool,
    set: Set,
) -> SchemeNumbers {
    let value = row.side_by_side.mean.get(set);
    let means = plan.repeats_the_paper();
    let speedups = Speedups {
        pages: row.speedup_pages.get(set).unwrap_or(0),
        mean: row.mean_speedup.get(set).filter(|_| means),
        median: row.median_speedup.get(set),
        best: row.best_page_speedup.get(set),
        worst: row.worst_page_speedup.get(set),
    };
    let own = SchemeNumbers { value, speedups, ..SchemeNumbers::default() };
    let Some(compared) = compared else {
        let verdict = match &row.scheme {
            scheme if *scheme == plan.baseline => "baseline",
            _ if has_failed => Verdict::Failed.name(),
            _ => Verdict::Untested.name(),
        };
        return SchemeNumbers { ratio: row.geometric_mean_speedup.get(set), verdict, ..own };
    };
    let verdict = compared.verdict(set);
    let counts = [&compared.wins, &compared.ties, &compared.losses].map(|it| it.get(set));
    SchemeNumbers {
        ratio: compared.geometric_mean_ratio.get(set),
        interval: compared.geometric_mean_ratio_interval.get(set),
        wins_ties_losses: match counts {
            [Some(wins), Some(ties), Some(losses)] => Some([wins, ties, losses]),
            _ => None,
        },
        verdict: match compared.pairs.get(set) {
            None if verdict != Verdict::Unfinished => "",
            _ => verdict.name(),
        },
        is_better: verdict == Verdict::Better,
        hodges_lehmann: compared.hodges_lehmann_ratio.get(set),
        rank_biserial: compared.rank_biserial.get(set),
        p: compared.wilcoxon_p.get(set),
        adjusted_p: compared.holm_p.get(set),
        mean_interval: row.mean_speedup_interval.get(set).filter(|_| means),
        ..own
    }
}
