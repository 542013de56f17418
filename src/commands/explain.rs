//! `utmost explain`: facts that predict the gain and the winner of a study.

use super::compare;
use crate::output;
use crate::output::number;
use ::serve::Failure;
use lab::study::explain::{Answer, Association, Explanation, explain, leaves};
use lab::study::record;
use qlog_tools::short_texts::shown;
use report::comparison::p_text;
use std::path::PathBuf;

/// Find the facts of pages and links that predict the gain and the winner of a study
///
/// A tree of at most three questions shows which scheme to use where; another shows how much the best single scheme gains
/// where. A tree counts only if shuffled facts hardly ever give one as good, and if it beats the best single scheme on sites
/// that it was not made from. "Nothing predicts it" is a valid answer. Needs pages of at least 12 sites.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  utmost compare @first-60 --schemes rfc9218,bucket --out study\n  utmost explain study"
)]
pub(crate) struct Arguments {
    /// The folder that `utmost compare --out` wrote
    #[arg(value_name = "STUDY")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (plan, runs) = record::finished(&arguments.folder).map_err(compare::failure)?;
    let explained = explain(&plan, &runs);
    let explanation = explained.map_err(|cause| Failure::of_file(&arguments.folder, cause))?;
    if arguments.json {
        return output::json(&explanation);
    }
    show(&explanation)
}

fn show(explanation: &Explanation) -> Result<(), Failure> {
    let Explanation { answers, conditions, winner, gain, associations, .. } = explanation;
    for answer in answers {
        output::paragraph(answer)?;
    }
    show_rule("which scheme to use", winner, &explanation.baseline)?;
    show_rule(&format!("how much {} gains", gain.scheme), gain, &explanation.baseline)?;
    show_associations(&gain.scheme, associations)?;
    output::line("")?;
    conditions.iter().try_for_each(|it| output::paragraph(it))
}

fn show_rule(question: &str, answer: &Answer, baseline: &str) -> Result<(), Failure> {
    if !answer.found {
        return Ok(());
    }
    let rows = leaves(&answer.tree).into_iter().map(|(conditions, leaf)| {
        vec![
            conditions,
            leaf.scheme.clone(),
            leaf.sites.to_string(),
            number(Some(leaf.ratio), 3),
            interval(leaf.interval),
        ]
    });
    let heading = format!("{question}: where");
    let header = [&*heading, "scheme", "sites", &*format!("over {baseline}"), "95 % interval"];
    output::line(&format!("\n{}", output::table(&header, &[1], rows)))
}

fn show_associations(scheme: &str, associations: &[Association]) -> Result<(), Failure> {
    if associations.is_empty() {
        return Ok(());
    }
    output::line(&format!(
        "\nby how much {scheme} is faster where a fact alone is larger by a standard deviation"
    ))?;
    let rows = associations.iter().map(|it| {
        vec![shown(&it.fact, 40), number(Some(it.ratio), 3), interval(it.interval), p_text(it.p)]
    });
    output::line(
        &output::table(&["fact", "factor", "95 % interval", "adjusted p"], &[], rows).to_string(),
    )
}

fn interval(of: Option<[f64; 2]>) -> String {
    of.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"))
}
