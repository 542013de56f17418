//! The answer as an HTML file: the words, the ratios with their intervals, and the arrivals.

use super::by_resource::Gain;
use super::paired_loads::Batch;
use super::{Answer, ByHints, ByResource, PageAnswer, Question, SiteAnswer, Step, WHAT_YOU_HAVE};
use crate::figure_resources;
use crate::study::{StudyError, engines, most_telling};
use corpus::Page;
use figures::{IntervalPanel, IntervalRow, Intervals, Sheet, Standing};
use qlog_tools::metrics::{BySet, Metric, byte_index};
use report::comparison::{
    Comparison, Figure, NamedFigure, PageComparison, Row, Run, comparison_report,
};
use schedulers::Priority;

/// The most priorities that the report lists for a page.
const LISTED: usize = 20;

/// The name of the answer's order in tables and figures.
const WITH_PRIORITIES: &str = "these priorities";

/// All that was found.
#[derive(Clone, Copy)]
pub struct Findings<'a> {
    /// The advice to the owner of the site.
    pub answer: &'a SiteAnswer,
    /// Priorities of single resources.
    pub by_resource: &'a [ByResource],
    /// Hints, where they were loaded.
    pub by_hints: &'a [ByHints],
    /// Whole schemes, where they were searched.
    pub schemes: Option<&'a Answer>,
}

/// The report, the answer first. Loads the priorities and the present order of each drawn page and network once more.
pub fn report(
    question: &Question,
    findings: Findings<'_>,
    provenance: serde_json::Value,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<String, StudyError> {
    let Findings { answer, by_resource, by_hints, schemes } = findings;
    let metric = question.goal.metric();
    let mut cases: Vec<(&ByResource, &Gain)> = Vec::new();
    for found in by_resource {
        cases.extend(found.networks.iter().map(|it| (found, it)));
    }
    let drawn = most_telling(cases.len(), |it| cases[it].1.judgement.ratio.unwrap_or_default());
    let mut pages = Vec::new();
    for (place, (found, gain)) in cases.iter().enumerate() {
        let Some(page) = found.page() else { continue };
        let mut ranked = schemes.iter().flat_map(|it| &it.pages);
        let ranked = ranked.find(|it| it.page == found.page && it.network == gain.network);
        let compared = compared(page, gain, ranked, metric);
        pages.push(if drawn.contains(&place) {
            drawn_page(question, found, gain, compared, progress)?
        } else {
            compared
        });
    }
    let mut answers = vec![answer.sentence.clone()];
    answers.extend(cases.iter().map(|(found, gain)| gain.line(&found.page)));
    answers.extend(by_resource.iter().filter_map(priorities));
    answers.extend(answer.left_out.iter().map(|it| format!("Left out. {it}")));
    answers.push(answer.certainty.clone());
    answers.extend(by_hints.iter().flat_map(ByHints::words));
    let robust = schemes.and_then(|it| it.robust_choice.as_ref());
    let whole = schemes.iter().flat_map(|it| &it.pages);
    answers.extend(whole.map(|it| format!("Whole schemes, on utmost serve alone: {}", it.words)));
    answers.extend(robust.map(|it| it.words.clone()));
    let omitted = format!(
        "The {} with the highest ratios are drawn; the others are lines of the last table.",
        drawn.len()
    );
    let named = question.pages().into_iter();
    let figures = named.filter_map(|it| intervals(&it.name, schemes?, metric.heading));
    Ok(comparison_report(&Comparison {
        title: "In which order to send".to_owned(),
        answers,
        conditions: vec![format!(
            "What you have: {}. These priorities: a server that obeys browsers, and knows them. A scheme: a server that ignores \
             signals and knows what a browser knows (utmost serve). Medians and ratios are over the seeds that did not choose.",
            question.server.model
        )],
        metric,
        baseline: WHAT_YOU_HAVE.to_owned(),
        provenance,
        figures: figures.collect(),
        omitted: if drawn.len() < pages.len() { omitted } else { String::new() },
        pages,
        ..Comparison::default()
    }))
}

/// The recommended priorities of the resources of a page that gains.
fn priorities(found: &ByResource) -> Option<String> {
    let mut listed: Vec<String> = Vec::new();
    for resource in found.resources.iter().take(LISTED) {
        let priority = Priority::new(resource.urgency, resource.incremental);
        let moved = found.moved_text(resource);
        listed.push(format!("{} with {priority} ({moved})", resource.url));
    }
    let more = found.resources.len().saturating_sub(LISTED);
    if more > 0 {
        listed.push(format!("and {more} more, which answer.json lists"));
    }
    let is_told = found.is_better && !listed.is_empty();
    is_told.then(|| format!("{}: send {}.", found.page, listed.join("; ")))
}

/// The numbers of a page on a network.
fn compared(
    page: &Page,
    gain: &Gain,
    ranked: Option<&PageAnswer>,
    metric: &Metric,
) -> PageComparison {
    let name = format!("{}, network {}", page.name, gain.network);
    let of = |ms| BySet { all: None, atf: ms };
    let mut orders = vec![
        (WHAT_YOU_HAVE, of(gain.present_ms), of(Some(1.0)), None),
        (WITH_PRIORITIES, of(gain.found_ms), of(gain.judgement.ratio), None),
    ];
    for order in ranked.iter().flat_map(|it| &it.ranking).filter(|it| !it.is_present) {
        let values = BySet { all: order.index.all_ms, atf: order.index.atf_ms };
        let speedup = order.speedup_present;
        let speedups = BySet { all: values.all.and(speedup), atf: values.atf.and(speedup) };
        orders.push((&order.scheme, values, speedups, order.regret));
    }
    let mut rows = Vec::new();
    for (scheme, values, _, regret) in &orders {
        let metrics = [(metric.name, *values)].into_iter().collect();
        rows.push(Row { scheme: (*scheme).to_owned(), metrics, regret: *regret, ..Row::default() });
    }
    let resources = figure_resources(page);
    let mut compared = PageComparison::new(&name, &resources, rows, metric, WHAT_YOU_HAVE);
    // From pairs of loads, as everywhere in the answer, not from medians.
    for (row, order) in compared.rows.iter_mut().zip(&orders) {
        row.speedup = order.2;
    }
    let numbers = "Medians of loads. A ratio is the middle of pairs of loads (Hodges and Lehmann).";
    PageComparison { numbers: numbers.to_owned(), ..compared }
}

/// Adds the ribbons and curves of one pair of loads.
fn drawn_page(
    question: &Question,
    found: &ByResource,
    gain: &Gain,
    compared: PageComparison,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<PageComparison, StudyError> {
    let pages = found.page().zip(found.signalled());
    let (Some((page, signalled)), Some(seed)) = (pages, gain.middle_seed) else {
        return Ok(compared);
    };
    let networks = question.networks.iter().filter(|it| it.name == gain.network);
    let (networks, seeds) = (networks.cloned().collect(), seed..seed + 1);
    let batch = Batch { question, page, engine: engines::STACK, networks, seeds, progress };
    let present = batch.present()?;
    let changed = Batch { page: &signalled, ..batch }.obeying()?;
    let [present, changed] = [present, changed].map(|it| it.loads.into_iter().flatten().next());
    let (Some(present), Some(changed)) = (present, changed) else { return Ok(compared) };
    let runs = [
        Run { scheme: WHAT_YOU_HAVE, timeline: &present.timeline },
        Run { scheme: WITH_PRIORITIES, timeline: &changed.timeline },
    ];
    let conditions = format!(
        "page {}; engine stack, network {}; the pair of loads in the middle by their ratio (seed {seed})",
        found.page, gain.network
    );
    let sheet = Sheet { conditions, ..Sheet::default() };
    Ok(compared.drawn(&figure_resources(page), &runs, byte_index(), &sheet))
}

/// The ratios of a page with their intervals, a panel for each network.
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
