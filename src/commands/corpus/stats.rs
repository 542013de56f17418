//! `utmost corpus list` and `utmost corpus stats`.

use crate::{output, values};
use ::corpus::stats::{Distribution, Percentiles, Stats};
use ::corpus::{Page, Query, stats};
use ::serve::Failure;
use qlog_tools::short_texts::shown;

/// Lists pages, with the origin and licence of each.
pub(super) fn list(arguments: &[String], query: Option<&Query>) -> Result<(), Failure> {
    let mut pages = named(arguments)?;
    pages.retain(|page| query.is_none_or(|it| it.matches(page)));
    if pages.is_empty() {
        return Err(values::no_page());
    }
    let stats = stats::stats(&pages);
    let rows = stats.rows.iter().zip(&pages).map(|(row, page)| {
        let source = format!("{:?}", row.source).to_lowercase();
        let counts = [row.resources.to_string(), kilobytes(row.bytes)];
        let texts =
            [page.source.licence.clone(), page.source.from.clone()].map(|it| shown(&it, 60));
        [row.name.clone(), source].into_iter().chain(counts).chain(texts).collect()
    });
    let header = ["page", "source", "resources", "KB", "licence", "from"];
    output::line(&output::table(&header, &[1, 4, 5], rows).to_string())
}

/// Prints the distributions of pages, beside published ones.
pub(super) fn show(arguments: &[String], json: bool) -> Result<(), Failure> {
    let pages = named(arguments)?;
    let stats = stats::stats(&pages);
    if json {
        return output::json_of("utmost-corpus-stats/1", &stats);
    }
    output::line(&rows(&stats))?;
    output::line(&format!(
        "\nSites and templates, and the share of the web's pages that each stands for\n{}",
        clusters(&stats)
    ))?;
    output::line(&format!(
        "\n{} % of the web's pages have as many resources as some of these pages; the weights carry as much information as {:.1} sites of equal weight",
        output::percent(stats.web.covered, 0),
        stats.web.effective_sites
    ))?;
    output::line(&format!("\nResources of a page\n{}", spreads(&stats, |it| it.resources, count)))?;
    output::line(&format!("\nKilobytes of a page\n{}", spreads(&stats, |it| it.bytes, kilobytes)))
}

/// The pages of these arguments; all bundled ones when there are none.
fn named(arguments: &[String]) -> Result<Vec<Page>, Failure> {
    let all = ["@all".to_owned()];
    let arguments = if arguments.is_empty() { &all } else { arguments };
    let pages: Result<Vec<Vec<Page>>, Failure> =
        arguments.iter().map(|it| values::pages(it)).collect();
    Ok(pages?.concat())
}

fn rows(stats: &Stats) -> String {
    let rows = stats.rows.iter().map(|page| {
        let source = format!("{:?}", page.source).to_lowercase();
        let [resources, atf, depth] =
            [page.resources, page.atf_resources, page.depth].map(|it| it.to_string());
        let error = page.recording_error_ms.map(|it| format!("{:.0} / {:.0}", it.p50, it.p90));
        let error = error.unwrap_or_default();
        let weight = output::percent(page.weight, 2);
        let bytes = kilobytes(page.bytes);
        let (name, site) = (page.name.clone(), page.site.clone());
        vec![name, source, site, weight, resources, bytes, atf, depth, error]
    });
    let header = "page|source|site|weight %|resources|KB|ATF resources|depth|error p50 / p90 ms";
    let header: Vec<&str> = header.split('|').collect();
    output::table(&header, &[1, 2], rows).to_string()
}

fn clusters(stats: &Stats) -> String {
    let rows = stats
        .clusters
        .iter()
        .map(|it| vec![it.site.clone(), it.pages.to_string(), output::percent(it.weight, 2)]);
    output::table(&["site", "pages", "weight %"], &[], rows).to_string()
}

fn spreads(
    stats: &Stats,
    of: fn(&Distribution) -> Percentiles,
    shown: fn(u64) -> String,
) -> String {
    let rows = stats.distributions.iter().chain(&stats.published).map(|distribution| {
        let Percentiles { min, p10, p25, p50, p75, p90, max } = of(distribution);
        let values = [min, p10, p25, p50, p75, p90, max];
        let values = values.map(|it| it.map(shown).unwrap_or_default());
        let pages = distribution.pages.map(|it| it.to_string()).unwrap_or_default();
        [distribution.of.clone(), pages].into_iter().chain(values).collect()
    });
    let header = ["of", "pages", "min", "10 %", "25 %", "median", "75 %", "90 %", "max"];
    output::table(&header, &[], rows).to_string()
}

fn count(value: u64) -> String {
    value.to_string()
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1000.0)
}
