//! Whether fair shares are better than sequential schemes where packets are lost: the hypothesis of Marx et al. 2019.

mod conditions;
mod loads;
mod series;

use crate::{CONTROLS, Experiment, Findings, ReproduceError, Row, Setting, Table};
use conditions::PERCENTS;
use corpus::Page;
use corpus::page::SourceKind;
use loads::Plan;
use qlog_tools::metrics::Set;
use series::{Series, figure};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "loss",
    about: "Whether round robin beats sequential schemes where packets are lost",
    source: "Marx et al. 2019, section 6, page 142: the hypothesis about lossy networks",
    engine: "stack",
    conditions: "engine stack, networks cable and lte, metadata full, no send buffer; 8 recorded pages of at least 30 resources (4 sites), RUNS loads of each under each scheme (seeds 0 to LAST)",
    run,
};

/// `rr`, and the schemes that are compared with it.
const SCHEMES: [&str; 7] = ["rr", "fifo", "dfifo", "p+", "firefox", "bucket-html", "rfc9218"];
/// "The more sequential schemes" among them: one resource after another.
const SEQUENTIAL: [&str; 2] = ["fifo", "dfifo"];

/// The paper speaks of "many parallel streams".
const RESOURCES_MIN: usize = 30;

const RUNS: usize = 2;

const HYPOTHESIS: &str = "The hypothesis, at 5 % of loss";

const WORDS: &str = "\"[...] in the case of networks with high packet loss or jitter. There the Round-Robin-alike schemes might \
    actually outperform the more sequential schemes when there are many parallel streams, benefitting fully from QUIC's \
    HOL-blocking resilience (Section 5.2). More experiments on actual lossy networks with functioning congestion control \
    are needed however, to confirm this hypothesis.\" The paper's network lost nothing and had no congestion control.";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let pages = pages(&setting.pages);
    let runs = setting.runs.unwrap_or(RUNS);
    let plan = Plan { pages: &pages, schemes: &SCHEMES, runs, jobs: setting.jobs };
    let (conditions, every) = Series::all()?;
    let outcomes = plan.measure(&conditions)?;
    let every: Vec<Series> = every.into_iter().map(|it| it.filled(&outcomes)).collect();
    let unfinished: usize = outcomes.iter().flatten().map(|it| it.unfinished).sum();
    Ok(Findings {
        method: method(&pages, &plan, conditions.len(), unfinished),
        rows: rows(&every, pages.len()),
        tables: tables(&every),
        schemes: SCHEMES.map(str::to_owned).into(),
        svg: figure(&every, &SCHEMES[1..]).draw(&EXPERIMENT.sheet_of(runs)),
        caption: "Geometric mean of each scheme's speedups over rr, ByteIndex of all resources, by the share of lost packets, with \
                  95 % intervals, those of a share beside each other. Below \u{d7}1 rr is better."
            .to_owned(),
        pages,
    })
}

fn pages(all: &[Arc<Page>]) -> Vec<Arc<Page>> {
    let recorded = all.iter().filter(|it| it.source.kind == SourceKind::Recorded);
    recorded.filter(|it| it.resources.len() >= RESOURCES_MIN).cloned().collect()
}

fn method(pages: &[Arc<Page>], plan: &Plan<'_>, conditions: usize, unfinished: usize) -> String {
    let loads = plan.loads(conditions);
    let controls: Vec<&str> = CONTROLS.iter().map(|it| it.name()).collect();
    let controls = controls.join(", ");
    let names: Vec<&str> = pages.iter().map(|it| it.name.as_str()).collect();
    let sites = pages.iter().map(|it| it.site()).collect::<BTreeSet<_>>().len();
    format!(
        "{WORDS} Here: {loads} loads over quiche in virtual time, of which {unfinished} did not finish; {} schemes on the \
         bundled networks cable and lte, under the congestion controls {controls}. Each is loaded with the seeds 0 to {}. Packets from the server are lost each by itself, \
         or in bursts with the same mean (Gilbert and Elliott: half of the packets in a state that lasts for 3 on average). \
         The pages are all {} bundled pages that were recorded for this corpus and have at least {RESOURCES_MIN} resources: \
         {}. A speedup is the ByteIndex of rr divided by the scheme's, paired by page and seed. The rows judge its mean over pages, as \
         the paper's tables do. Under cubic and reno, one page carries that mean above the fold, so the tables and the figure have \
         geometric means. 95 % intervals are bootstraps over pages. The pages come from {sites} sites, so the intervals are \
         narrower than those of as many independent pages would be; a study draws sites, and needs six of them. Schemes know all \
         that a page says of a resource (`--metadata full`), and nothing is buffered below them. rr counts as better from a share of \
         loss on if there and at every higher one the interval lies below 1.",
        SCHEMES.len(),
        plan.runs.saturating_sub(1),
        pages.len(),
        names.join(", ")
    )
}

/// The hypothesis, in each series: rr is better than a sequential scheme.
fn rows(every: &[Series], pages: usize) -> Vec<Row> {
    let highest = PERCENTS.len() - 1;
    let mut rows = Vec::new();
    for set in Set::ALL {
        for series in every {
            for scheme in SEQUENTIAL {
                let mean = series.mean_speedup(scheme, set, highest);
                let geometric = series.speedup(scheme, set, highest).text();
                let of_pages = series.of_pages(scheme, set, highest);
                let (better, median) = of_pages.unwrap_or((0, f64::NAN));
                let (words, set) = (series.words(), set.name());
                let id = format!("{scheme}-{}-{set}", series.id());
                let what = format!("speedup of {scheme} over rr, {words}, ByteIndex {set}");
                let note = format!(
                    "Geometric mean {geometric}; median {median:.2}; rr is better on {better} of {pages} pages."
                );
                let row = Row::estimated(id, what, mean).in_table(HYPOTHESIS);
                rows.push(row.below(1.0).note(note));
            }
        }
    }
    rows
}

fn tables(every: &[Series]) -> Vec<Table> {
    let compared = &SCHEMES[1..];
    let above = "Speedup over rr, ByteIndex above the fold, geometric means";
    let all = "Speedup over rr, ByteIndex of all resources, geometric means";
    let load = "Load time of rr divided by the scheme's, geometric means";
    let blocked =
        "How long a byte waits for earlier bytes of its stream (head-of-line blocking), mean in ms";
    vec![
        series::speedups(above, every, compared, Set::Atf),
        series::speedups(all, every, compared, Set::All),
        series::by_rate(load, every, compared, Series::load_speedup),
        series::by_rate(blocked, every, &SCHEMES, Series::blocked_ms),
    ]
}

#[cfg(test)]
mod tests {
    use super::conditions::{Condition, Model};
    use super::*;
    use crate::Estimate;
    use serde_json::{Value, json};
    use server::CongestionControl;

    /// The value of one line in the table whose heading begins with `heading`.
    fn kept<'a>(tables: &'a Value, heading: &str, labels: &Value, column: usize) -> &'a Value {
        let all = |it: &'a Value| it.as_array().expect("an array");
        let begins = |it: &&Value| it["heading"].as_str().expect("text").starts_with(heading);
        let table = all(tables).iter().find(begins).expect("a table");
        let line = all(&table["lines"]).iter().find(|it| it["labels"] == *labels);
        &line.expect("a line")["values"][column]
    }

    #[test]
    fn a_condition_that_is_loaded_again_is_what_results_keeps() {
        let results: Value =
            serde_json::from_str(include_str!("../../../results/loss.json")).expect("JSON");
        let pages = pages(&Setting::bundled(1).pages);
        let plan = Plan { pages: &pages, schemes: &["rr", "fifo"], runs: RUNS, jobs: 2 };
        let condition = Condition::new("cable", Model::Independent, 1.0, CongestionControl::Bbr2);
        let outcomes = plan.measure(&[condition.expect("known")]).expect("loads").remove(0);
        let fifo = &outcomes[1];
        let atf = Estimate::new(fifo.geometric.atf, fifo.geometric_interval.atf);
        let all = Estimate::new(fifo.geometric.all, fifo.geometric_interval.all);
        let load = Estimate::new(fifo.load_speedup, fifo.load_interval);
        let blocked = Estimate::new(fifo.blocked_ms, None);
        let labels = json!(["cable", "independent", "bbr2", "fifo"]);
        for (heading, made) in [
            ("Speedup over rr, ByteIndex above", atf),
            ("Speedup over rr, ByteIndex of all", all),
            ("Load time of rr", load),
            ("How long a byte waits", blocked),
        ] {
            assert_eq!(&json!(made), kept(&results["tables"], heading, &labels, 2), "{heading}");
        }
    }

    #[test]
    fn pages_are_chosen_by_rule() {
        let names: Vec<String> =
            pages(&Setting::bundled(1).pages).iter().map(|it| it.name.clone()).collect();
        let expected = [
            "agency-index",
            "gentelella-form",
            "gentelella-index",
            "gentelella-tables",
            "handbook-install",
            "kicad-gerbview",
            "kicad-pcbnew",
            "kicad-start",
        ];
        assert_eq!(names, expected);
    }
}
