//! The answer: what to do, what a visitor notices, what to paste, what was left out, and how certain it is; then, on request,
//! the details.

use super::policy::policy_site;
use super::{Arguments, Document};
use crate::output;
use crate::output::{number, paragraph};
use ::corpus::Page;
use ::serve::Failure;
use lab::finder::{
    ByHints, ByResource, Moved, PageAnswer, Question, RankedOrder, WHAT_YOU_HAVE, at_host,
    length_text, routes,
};
use lab::study::folder::REPORT;
use qlog_tools::metrics::Metric;
use qlog_tools::short_texts::shown;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most lines of a policy that are printed. A longer policy needs a file.
const PASTED_LINES: usize = 24;

const PAGES: usize = 12;

pub(super) fn show(
    arguments: &Arguments,
    question: &Question,
    document: &Document<'_>,
) -> Result<(), Failure> {
    paragraph(&document.answer.sentence)?;
    times(document)?;
    paste(arguments, question, document)?;
    for sentence in &document.answer.left_out {
        paragraph(&format!("Left out. {sentence}"))?;
    }
    paragraph(&document.answer.certainty)?;
    for confirmation in document.confirmations.into_iter().flatten() {
        paragraph(&confirmation.words)?;
    }
    for sentence in document.by_hints.into_iter().flatten().flat_map(ByHints::words) {
        paragraph(&sentence)?;
    }
    paragraph(&whole_orders(question, document))?;
    if arguments.details {
        details(question, document)?;
    } else {
        paragraph("More: --details (regrets, what was assumed), --out DIR (a report).")?;
    }
    if let Some(file) = &arguments.policy {
        let file = file.display();
        output::line(&format!("policy: {file}; serve it by: utmost serve --config {file}"))?;
    }
    if let Some(folder) = &arguments.out {
        output::line(&format!("report: {}", folder.join(REPORT).display()))?;
        let again =
            super::again::cron_line(arguments, question.server.name, &folder.join("answer.json"));
        output::line(&format!("to search again when the page has changed (cron):\n{again}"))?;
    }
    Ok(())
}

/// The gain of the best scheme, which orders all responses.
fn whole_orders(question: &Question, document: &Document<'_>) -> String {
    let Some(schemes) = document.schemes else {
        return "Not asked: whole schemes, which only utmost serve runs. --details compares them."
            .to_owned();
    };
    let better = schemes.pages.iter().filter(|it| it.choice.is_some());
    let ratio = |it: &PageAnswer| it.judgement.ratio.unwrap_or(1.0);
    let best = better.max_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let Some((best, scheme)) = best.and_then(|it| Some((it, it.choice.as_ref()?))) else {
        return "Whole schemes, which only utmost serve runs: none is shown to be better than what you have."
            .to_owned();
    };
    let pages = question.pages();
    let page = pages.iter().find(|it| it.name == best.page);
    let is_alone =
        page.is_none_or(|page| page.resources.iter().all(|it| page.host(it.id) == page.host(0)));
    let condition = if is_alone { "" } else { ", if the servers of its other hosts run it, too" };
    format!(
        "Whole schemes, which only utmost serve runs: with {scheme}, {} is {:.2} times as fast on {}{condition}.",
        best.page,
        ratio(best),
        best.network
    )
}

/// The changes that a visitor notices, a line for each network.
fn times(document: &Document<'_>) -> Result<(), Failure> {
    let mut pages: Vec<&ByResource> = document.by_resource.iter().collect();
    if pages.len() > 1 {
        pages.retain(|it| it.is_better);
    }
    let is_changed = |it: &ByResource| !it.resources.is_empty() || it.is_better;
    for page in pages.into_iter().filter(|it| is_changed(it)).take(PAGES) {
        if document.by_resource.len() > 1 {
            output::line(&format!("\n{}", page.page))?;
        } else {
            output::line("")?;
        }
        let image = page.networks.first().map(|it| it.noticed.image).unwrap_or_default();
        let header = ["network", "first render", image.heading(), "ratio"];
        let mut rows = Vec::new();
        for gain in &page.networks {
            let mut row = vec![gain.network.clone()];
            for seen in [gain.noticed.first_render, gain.noticed.largest_image] {
                let text =
                    seen.map(|it| format!("{}, {}", length_text(it.present_ms), it.change_text()));
                row.push(text.unwrap_or_else(|| "-".to_owned()));
            }
            row.push(format!("{}{}", number(gain.judgement.ratio, 2), gain.verdict.mark()));
            rows.push(row);
        }
        output::line(&output::table(&header, &[0, 1, 2], rows).to_string())?;
    }
    output::line("")?;
    Ok(())
}

fn paste(
    arguments: &Arguments,
    question: &Question,
    document: &Document<'_>,
) -> Result<(), Failure> {
    let (found, _) = at_host(document.by_resource, &[], arguments.host.as_deref());
    let text = routes(&found, &policy_site(arguments, question));
    if text.is_empty() {
        return Ok(());
    }
    let lines: Vec<&str> = text.lines().collect();
    paragraph(
        "Paste into the configuration of utmost serve, or let --policy FILE write all of it. For another server, --export nginx, caddy, \
         h2o, apache, cloudflare or fastly prints the lines.",
    )?;
    output::line("")?;
    let mut whole = lines.len();
    if whole > PASTED_LINES {
        // Whole routes, at least one.
        let starts = (1..lines.len()).filter(|it| lines[*it] == "[[route]]");
        whole = starts.take_while(|it| *it <= PASTED_LINES).last().unwrap_or(PASTED_LINES);
    }
    lines[..whole].iter().try_for_each(|it| output::line(it))?;
    match lines.len() - whole {
        0 => output::line(""),
        more => output::line(&format!("# and {more} more lines: --policy FILE\n")),
    }
}

fn details(question: &Question, document: &Document<'_>) -> Result<(), Failure> {
    output::line("\nPriorities of single resources (RFC 9218)")?;
    for sentence in document.by_resource.iter().flat_map(ByResource::words) {
        output::line(&sentence)?;
    }
    let Some(schemes) = document.schemes else { return Ok(()) };
    output::line("\nWhole schemes, which utmost serve runs")?;
    for page in &schemes.pages {
        output::line(&page.words)?;
    }
    if let Some(choice) = &schemes.robust_choice {
        output::line(&choice.words)?;
    }
    let metric = question.goal.metric();
    schemes.pages.iter().try_for_each(|it| ranking(it, metric))?;
    // Bundled pages have known hosts.
    let mut foreign = question.pages();
    foreign.retain(|it| ::corpus::bundled(&it.name) != Some(it.as_ref()));
    foreign.iter().try_for_each(assumptions)?;
    let loads = &schemes.loads;
    output::line(&format!(
        "\nschemes: a server that ignores signals and knows what a browser knows. {} loads on ideal, {} on stack (all schemes would \
         need {}), {:.1} s",
        loads.ideal, loads.stack, loads.stack_of_all_schemes, document.seconds
    ))
}

fn assumptions(page: &Arc<Page>) -> Result<(), Failure> {
    if page.source.assumptions.is_empty() {
        return Ok(());
    }
    output::line(&format!("\nassumed for {}, because its source does not contain it:", page.name))?;
    page.source.assumptions.iter().try_for_each(|it| output::line(&format!("  {it}")))
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
    let urls = answer.moved.iter().filter_map(|it| url::Url::parse(&it.url).ok());
    let hosts: BTreeSet<String> = urls.filter_map(|it| Some(it.host_str()?.to_owned())).collect();
    let moved = answer.moved.iter().map(|it| words(it, hosts.len() > 1));
    let moved = moved.collect::<Vec<_>>().join(", ");
    output::line(&format!("{candidate} moves most: {moved}"))
}

fn row(order: &RankedOrder) -> Vec<String> {
    let name = if order.is_present { WHAT_YOU_HAVE } else { &order.scheme };
    let interval = order.interval.map(|[low, high]| format!("{low:.2} to {high:.2}"));
    vec![
        name.to_owned(),
        number(order.index.ms(), 1),
        number(order.speedup_rr, 2),
        number(order.speedup_present, 2),
        interval.unwrap_or_else(|| "-".to_owned()),
        number(order.regret, 2),
        order.loads.to_string(),
    ]
}

/// `/app.js 120 ms earlier`.
fn words(moved: &Moved, names_host: bool) -> String {
    let url = url::Url::parse(&moved.url);
    let path = url.as_ref().map_or(moved.url.as_str(), |it| it.path());
    let host = url.as_ref().ok().and_then(|it| it.host_str()).filter(|_| names_host);
    let place = format!("{}{path}", host.unwrap_or_default());
    let side = if moved.later_ms < 0.0 { "earlier" } else { "later" };
    let ms = moved.later_ms.abs();
    let ms = if ms < 10.0 { format!("{ms:.1}") } else { format!("{ms:.0}") };
    format!("{} {ms} ms {side}", shown(&place, 60))
}
