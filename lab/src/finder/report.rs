//! The answer as one HTML file: the words, the ratios with their intervals, and what arrived when.

use super::paired_loads::Batch;
use super::{
    Answer, ByHints, ByResource, Choice, PRESENT, PageAnswer, Question, RankedOrder, Step,
    WHAT_YOU_HAVE,
};
use crate::figure_resources;
use crate::study::{StudyError, engines, most_telling};
use corpus::Page;
use figures::{IntervalPanel, IntervalRow, Intervals, Sheet, Standing};
use qlog_tools::metrics::{BySet, Metric, byte_index};
use report::comparison::{
    Comparison, Figure, NamedFigure, PageComparison, Row, Run, comparison_report,
};
use schedulers::Priority;
use std::sync::Arc;

/// Priorities that the report lists for a page.
const LISTED: usize = 20;

/// The report of an answer, and of the priorities of single resources where they were searched. Loads the candidate of each page and network that is drawn, and the present order, once more.
pub fn report(
    question: &Question,
    answer: &Answer,
    choices: &[Choice],
    by_resource: &[ByResource],
    by_hints: &[ByHints],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<String, StudyError> {
    let metric = question.goal.metric();
    let heading = metric.heading;
    let drawn = most_telling(answer.pages.len(), |place| {
        answer.pages[place].judgement.ratio.unwrap_or_default()
    });
    let mut pages = Vec::new();
    for (place, of_page) in answer.pages.iter().enumerate() {
        let Some(page) = question.pages.iter().find(|it| it.name == of_page.page) else { continue };
        let compared = compared(page, of_page, metric);
        pages.push(match shown(of_page).filter(|_| drawn.contains(&place)) {
            Some(shown) => drawn_page(question, page, of_page, &shown, compared, progress)?,
            None => compared,
        });
    }
    let mut answers: Vec<String> = choices.iter().map(|it| it.words.clone()).collect();
    answers.extend(answer.pages.iter().map(|it| it.words.clone()));
    answers.extend(answer.robust_choice.iter().map(|it| it.words.clone()));
    answers.extend(by_resource.iter().flat_map(ByResource::words));
    answers.extend(by_resource.iter().filter_map(priorities));
    answers.extend(by_hints.iter().flat_map(ByHints::words));
    let omitted = format!(
        "The {} with the highest ratios are drawn; the others are lines of the last table.",
        drawn.len()
    );
    let own_pages = question.pages();
    Ok(comparison_report(&Comparison {
        title: "In which order to send".to_owned(),
        answers,
        what: format!(
            "{} is {PRESENT}, as browsers signal it to a server that obeys. All other orders are those of a server that ignores \
             signals and knows what a browser knows. Medians and ratios are over the seeds that did not choose.",
            capitalised(WHAT_YOU_HAVE)
        ),
        metric,
        baseline: WHAT_YOU_HAVE.to_owned(),
        provenance: answer.provenance.clone(),
        figures: own_pages.iter().filter_map(|it| intervals(&it.name, answer, heading)).collect(),
        omitted: if drawn.len() < pages.len() { omitted } else { String::new() },
        pages,
        ..Comparison::default()
    }))
}

/// What each resource of a page that gains should be sent with.
fn priorities(found: &ByResource) -> Option<String> {
    let mut listed: Vec<String> = Vec::new();
    for resource in found.resources.iter().take(LISTED) {
        let priority = Priority::new(resource.urgency, resource.incremental);
        let side = if resource.later_ms < 0.0 { "earlier" } else { "later" };
        let ms = resource.later_ms.abs();
        listed.push(format!("{} with {priority} ({ms:.0} ms {side})", resource.url));
    }
    let more = found.resources.len().saturating_sub(LISTED);
    if more > 0 {
        listed.push(format!("and {more} more, which answer.json lists"));
    }
    let is_told = found.is_better && !listed.is_empty();
    is_told.then(|| format!("{}: send {}.", found.page, listed.join("; ")))
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// The numbers of a page on a network.
fn compared(page: &Page, answer: &PageAnswer, metric: &Metric) -> PageComparison {
    let name = format!("{}, network {}", answer.page, answer.network);
    let mut rows = Vec::new();
    for order in &answer.ranking {
        let values = BySet { all: order.index.all_ms, atf: order.index.atf_ms };
        rows.push(Row {
            scheme: label(order).to_owned(),
            metrics: [(metric.name, values)].into_iter().collect(),
            regret: order.regret,
            ..Row::default()
        });
    }
    let resources = figure_resources(page);
    let mut compared = PageComparison::new(&name, &resources, rows, metric, WHAT_YOU_HAVE);
    // Of pairs of loads, as everywhere in the answer, and not of medians.
    for (row, order) in compared.rows.iter_mut().zip(&answer.ranking) {
        let speedup = order.speedup_present;
        row.speedup =
            BySet { all: order.index.all_ms.and(speedup), atf: order.index.atf_ms.and(speedup) };
    }
    compared
}

fn label(order: &RankedOrder) -> &str {
    if order.is_present { WHAT_YOU_HAVE } else { &order.scheme }
}

/// The pair of loads that figures show.
struct Shown<'a> {
    candidate: &'a str,
    seed: u64,
}

fn shown(answer: &PageAnswer) -> Option<Shown<'_>> {
    Some(Shown { candidate: answer.candidate.as_deref()?, seed: answer.middle_seed? })
}

/// With the ribbons and curves of one pair of loads.
fn drawn_page(
    question: &Question,
    page: &Arc<Page>,
    answer: &PageAnswer,
    shown: &Shown<'_>,
    compared: PageComparison,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<PageComparison, StudyError> {
    let Shown { candidate, seed } = *shown;
    let networks = question.networks.iter().filter(|it| it.name == answer.network);
    let (networks, seeds) = (networks.cloned().collect(), seed..seed + 1);
    let batch = Batch { question, page, engine: engines::STACK, networks, seeds, progress };
    let others = question.schemes.iter().filter(|it| it.name() == candidate).cloned();
    let [present, other] = [batch.present()?, batch.others(&others.collect::<Vec<_>>())?];
    let [present, other] = [present, other].map(|it| it.loads.into_iter().flatten().next());
    let (Some(present), Some(other)) = (present, other) else { return Ok(compared) };
    let runs = [
        Run { scheme: WHAT_YOU_HAVE, timeline: &present.timeline },
        Run { scheme: candidate, timeline: &other.timeline },
    ];
    let conditions = format!(
        "page {}; engine stack, network {}; the pair of loads in the middle by their ratio (seed {seed})",
        answer.page, answer.network
    );
    let sheet = Sheet { conditions, ..Sheet::default() };
    Ok(compared.drawn(&figure_resources(page), &runs, byte_index(), &sheet))
}

/// The ratios of a page with their intervals, a panel a network.
fn intervals(page: &str, answer: &Answer, heading: &str) -> Option<NamedFigure> {
    let of_page: Vec<&PageAnswer> = answer.pages.iter().filter(|it| it.page == page).collect();
    let first = of_page.first()?;
    let others = first.ranking.iter().filter(|it| !it.is_present);
    let schemes: Vec<&str> = others.map(|it| &*it.scheme).collect();
    let panels = of_page.iter().map(|answer| IntervalPanel {
        title: answer.network.clone(),
        rows: schemes.iter().map(|it| interval(it, answer)).collect(),
    });
    let figure = Intervals {
        title: format!("{page}: {heading} speedup over {WHAT_YOU_HAVE}"),
        what: format!(
            "Ratio of the {heading} of {WHAT_YOU_HAVE} to that under each scheme, over pairs of loads"
        ),
        baseline: WHAT_YOU_HAVE.to_owned(),
        dot: "Hodges-Lehmann estimate",
        panels: panels.collect(),
    };
    let loads = of_page.iter().map(|it| format!("{} pairs on {}", it.judgement.pairs, it.network));
    let loads = loads.collect::<Vec<_>>().join(", ");
    let conditions = format!("page {page}; engine stack, metadata browser; {loads}");
    let sheet = Sheet { conditions, ..Sheet::default() };
    Some(NamedFigure {
        name: format!("intervals-{}", crate::file_name(page)),
        figure: Figure::of(&figure, &sheet),
    })
}

fn interval(scheme: &str, answer: &PageAnswer) -> IntervalRow {
    let row = answer.ranking.iter().find(|it| it.scheme == scheme && !it.is_present);
    IntervalRow {
        label: scheme.to_owned(),
        mean: row.and_then(|it| it.speedup_present),
        interval: row.and_then(|it| it.interval),
        geometric_mean: None,
        geometric_mean_interval: None,
        standing: Standing::Unknown,
    }
}
