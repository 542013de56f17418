//! Each scheme against the baseline, as a table.

use crate::output;
use crate::output::number;
use ::serve::Failure;
use figures::number_texts::beside_one;
use lab::study::{ComparisonRow, Plan, Study, Unit, same_loads, varied};
use qlog_tools::metrics::{self, Set};
use report::comparison::p_text;

/// More pairs than this are enough for any number of tests.
const PAIRS_MAX: usize = 100;

/// The least number of pairs with which Holm's adjustment of the smallest possible p, two of all ways to give them signs, is
/// below 0.05; `None`: the row has as many.
fn needed(study: &Study, row: &ComparisonRow, set: Set) -> Option<usize> {
    let tested = study.comparisons.iter().filter(|it| !study.twins.contains_key(&it.scheme));
    let family = tested.filter(|it| it.setting == row.setting && it.wilcoxon_p.get(set).is_some());
    let tests = family.count() as f64;
    let pairs = row.wilcoxon_p.get(set).and(row.pairs.get(set))?;
    let mut from = pairs..PAIRS_MAX;
    let enough = from.find(|it| tests * 2.0_f64.powf(1.0 - *it as f64) < 0.05)?;
    (enough > pairs).then_some(enough)
}

/// Prints the comparisons above the fold, or over all resources if no page has any above the fold.
pub(super) fn show(plan: &Plan, study: &Study) -> Result<(), Failure> {
    let rows = &study.comparisons;
    let Some(first) = rows.first() else { return Ok(()) };
    let set = if rows.iter().any(|it| it.pairs.atf.is_some()) { Set::Atf } else { Set::All };
    let metric = metrics::find(study.metric).unwrap_or_else(metrics::byte_index);
    let place = match set {
        _ if metric.is_of_page() => "",
        Set::All => " of all resources",
        Set::Atf => " above the fold",
    };
    let varied = varied(rows.iter().map(|it| &it.setting));
    let unit = first.pairs_of.name();
    output::line(&format!("\nagainst {}: {}{place}, over {unit}", plan.baseline, metric.heading))?;
    let header = [
        "scheme",
        unit,
        "ratio",
        "95 % interval",
        "Hodges-Lehmann",
        "better",
        "equal",
        "worse",
        "effect",
        "p",
        "Holm's p",
        "winner",
    ];
    let cells = rows.iter().map(|row| {
        let name = format!("{} {}", row.scheme, row.setting.labels(&varied));
        let interval = row.geometric_mean_ratio_interval.get(set);
        let [pairs, wins, ties, losses] = [&row.pairs, &row.wins, &row.ties, &row.losses]
            .map(|it| it.get(set).map_or("-".to_owned(), |it| it.to_string()));
        let [p, holm_p] =
            [&row.wilcoxon_p, &row.holm_p].map(|it| it.get(set).map_or("-".to_owned(), p_text));
        vec![
            name.trim_end().to_owned(),
            pairs,
            number(row.geometric_mean_ratio.get(set), 3),
            interval.map_or("-".to_owned(), |it| it.map(|it| beside_one(it, 3)).join(" to ")),
            number(row.hodges_lehmann_ratio.get(set), 3),
            wins,
            ties,
            losses,
            number(row.rank_biserial.get(set), 2),
            p,
            holm_p,
            row.winner.get(set).unwrap_or_else(|| "-".to_owned()),
        ]
    });
    output::line(&output::table(&header, &[11], cells).to_string())?;
    remarks(plan, study, first.pairs_of, set)
}

/// What the tests need, and how to read them.
fn remarks(plan: &Plan, study: &Study, pairs_of: Unit, set: Set) -> Result<(), Failure> {
    let rows = &study.comparisons;
    if rows.iter().all(|row| row.wilcoxon_p.get(set).is_none()) {
        let needed = match pairs_of {
            Unit::Sites => "pages of at least six sites",
            Unit::Loads => "at least six seeds on a random network, or pages of at least six sites",
        };
        return output::line(&format!("tests need {needed}"));
    }
    same_loads(plan, study).iter().try_for_each(|it| output::line(it))?;
    let needed = rows.iter().filter_map(|it| needed(study, it, set)).max();
    if let Some(needed) = needed {
        output::line(&format!(
            "too few {} to name a winner among so many schemes: Holm's p needs at least {needed}",
            pairs_of.name()
        ))?;
    }
    output::line(
        "p: Wilcoxon's signed-rank test; Holm's p: adjusted for the schemes of a setting; effect: rank-biserial correlation",
    )
}
