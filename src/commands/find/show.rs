//! The answer: first in words, then as tables.

use super::Document;
use crate::output;
use crate::output::number;
use ::corpus::Page;
use ::serve::Failure;
use lab::finder::{ByHints, ByResource, Moved, PageAnswer, RankedOrder, WHAT_YOU_HAVE};
use qlog_tools::metrics::Metric;
use qlog_tools::short_texts::shown;
use schedulers::Priority;
use std::sync::Arc;

/// Prints the answer. `foreign`: pages that are not bundled, whose assumptions the reader should know.
pub(super) fn show<'a>(
    document: &Document<'_>,
    metric: &Metric,
    foreign: impl Iterator<Item = &'a Arc<Page>>,
) -> Result<(), Failure> {
    let Document { answer, choices, by_resource, by_hints, confirmations, seconds, .. } = *document;
    for choice in choices {
        output::line(&choice.words)?;
    }
    for page in &answer.pages {
        output::line(&page.words)?;
    }
    if let Some(choice) = &answer.robust_choice {
        output::line(&choice.words)?;
    }
    for confirmation in confirmations.into_iter().flatten() {
        output::line(&confirmation.words)?;
    }
    for sentence in by_resource.into_iter().flatten().flat_map(ByResource::words) {
        output::line(&sentence)?;
    }
    for sentence in by_hints.into_iter().flatten().flat_map(ByHints::words) {
        output::line(&sentence)?;
    }
    answer.pages.iter().try_for_each(|it| ranking(it, metric))?;
    by_resource.into_iter().flatten().try_for_each(priorities)?;
    for page in foreign.filter(|page| !page.source.assumptions.is_empty()) {
        output::line(&format!("\nassumed of {}, because its source does not say it:", page.name))?;
        page.source.assumptions.iter().try_for_each(|it| output::line(&format!("  {it}")))?;
    }
    let loads = &answer.loads;
    output::line(&format!(
        "\n{WHAT_YOU_HAVE}: {}, as browsers signal it to a server that obeys. All other orders: a server that ignores signals \
         and knows what a browser knows.\n{} loads on ideal, {} on stack (all schemes would need {}), {seconds:.1} s",
        answer.present, loads.ideal, loads.stack, loads.stack_of_all_schemes
    ))
}

fn ranking(answer: &PageAnswer, metric: &Metric) -> Result<(), Failure> {
    let PageAnswer { page, network, .. } = answer;
    output::line(&format!("\n{page} on {network}"))?;
    let is_atf = answer.ranking.iter().any(|it| it.index.atf_ms.is_some());
    let index = format!("{} {} ms", metric.heading, if is_atf { "ATF" } else { "all" });
    let over_present = format!("over {WHAT_YOU_HAVE}");
    let header =
        ["scheme", &index, "speedup over rr", &over_present, "95 % interval", "regret", "loads"];
    let rows = answer.ranking.iter().map(row);
    output::line(&output::table(&header, &[], rows).to_string())?;
    if answer.moved.is_empty() {
        return Ok(());
    }
    let candidate = answer.candidate.as_deref().unwrap_or_default();
    let moved = answer.moved.iter().map(words).collect::<Vec<_>>().join(", ");
    output::line(&format!("{candidate} moves most: {moved}"))
}

/// What each resource should be sent with.
fn priorities(found: &ByResource) -> Result<(), Failure> {
    // What makes a page slower is not shown like advice.
    if found.resources.is_empty() || !found.is_better {
        return Ok(());
    }
    output::line(&format!("\n{}: priorities of single resources", found.page))?;
    let rows = found.resources.iter().map(|resource| {
        let url = url::Url::parse(&resource.url);
        let path = url.as_ref().map_or(&*resource.url, |it| it.path());
        let priority = Priority::new(resource.urgency, resource.incremental).to_string();
        vec![shown(path, 60), priority, moved_by(resource.later_ms)]
    });
    let header = ["resource", "priority", "moves by"];
    output::line(&output::table(&header, &[0, 1, 2], rows).to_string())
}

fn row(order: &RankedOrder) -> Vec<String> {
    let name = if order.is_present { WHAT_YOU_HAVE } else { &order.scheme };
    let interval = order.interval.map(|[low, high]| format!("{low:.3} to {high:.3}"));
    vec![
        name.to_owned(),
        number(order.index.ms(), 1),
        number(order.speedup_rr, 3),
        number(order.speedup_present, 3),
        interval.unwrap_or_else(|| "-".to_owned()),
        number(order.regret, 3),
        order.loads.to_string(),
    ]
}

/// `/app.js 120 ms earlier`.
fn words(moved: &Moved) -> String {
    let url = url::Url::parse(&moved.url);
    let path = url.as_ref().map_or(moved.url.as_str(), |it| it.path());
    format!("{} {}", shown(path, 60), moved_by(moved.later_ms))
}

/// `120 ms earlier`.
fn moved_by(later_ms: f64) -> String {
    let side = if later_ms < 0.0 { "earlier" } else { "later" };
    let ms = later_ms.abs();
    let ms = if ms < 10.0 { format!("{ms:.1}") } else { format!("{ms:.0}") };
    format!("{ms} ms {side}")
}
