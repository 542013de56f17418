//! How near the finder's choice comes to the best of all schemes on the engine `stack`, and how much faster the choices by page are
//! than the best single scheme: the table and figures of `docs/find.md`.
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_finder -- cable,lte,3g PAGE...
//! ```

use corpus::Page;
use lab::Contender;
use lab::finder::{Goal, OBEYING, Question, find};
use lab::network::Network;
use lab::study::statistics::bootstrap::bootstrap_geometric_mean;
use lab::study::statistics::{equal, geometric_mean, mean, median};
use lab::study::{Plan, RunRecord, Settings, engines, run};
use serde_json::Value;
use server::SignalUse;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

/// Seeds that the finder does not use.
const SEEDS: std::ops::Range<u64> = 1000..1003;

/// The median index of each order: by network, then by name.
type Indices = BTreeMap<String, BTreeMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, pages @ ..] = &arguments[..] else { return Err("NETWORKS PAGE...".into()) };
    let networks: Vec<Network> =
        networks.split(',').map(Network::find).collect::<Result<_, _>>()?;
    let (mut ratios, mut used, mut all) = (Vec::new(), 0, 0);
    let mut cases = Vec::new();
    println!("| page | network | choice | index | best of all schemes | index | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for name in pages {
        let page = Arc::new(corpus::page(name)?);
        let site = page.site().to_owned();
        let question =
            Question { goal: Goal::byte_index(), ..Question::new(vec![page], networks.clone()) };
        let answer = find(&question, &|_| ())?;
        let indices = every_order(&question)?;
        for it in &answer.pages {
            let of_network = &indices[&it.network];
            let choice = it.choice.as_deref().unwrap_or(KEPT);
            let best = of_network.iter().min_by(|one, other| one.1.total_cmp(other.1));
            let (best, best_ms) = best.ok_or("no load finished")?;
            let choice_ms = of_network[choice];
            ratios.push(choice_ms / best_ms);
            let (site, indices) = (site.clone(), of_network.clone());
            cases.push(Case { site, choice_ms, indices });
            println!(
                "| {name} | {} | {choice} | {choice_ms:.1} | {best} | {best_ms:.1} | {:.3} |",
                it.network,
                choice_ms / best_ms
            );
        }
        used += answer.loads.stack;
        all += answer.loads.stack_of_all_schemes;
    }
    println!(
        "\nmean ratio {:.4}; {used} loads on stack, {:.1} % of the {all} that all schemes would take",
        mean(&ratios).unwrap_or(f64::NAN),
        100.0 * used as f64 / all as f64
    );
    let (single, _) = best_single(&cases).ok_or("no scheme loaded every page")?;
    for (what, name) in
        [("the best single scheme", single.as_str()), ("the present order everywhere", KEPT)]
    {
        let (ratio, interval) = gain_over(&cases, name).ok_or("no case")?;
        let interval = interval.map_or("-".into(), |it| format!("{:.3} to {:.3}", it[0], it[1]));
        println!("the choices are {ratio:.3} ({interval}) times as fast as {name}, {what}");
    }
    Ok(())
}

/// A page on a network.
struct Case {
    /// Pages of one site are alike, so an interval draws sites.
    site: String,
    choice_ms: f64,
    /// By name.
    indices: BTreeMap<String, f64>,
}

/// The single order with the lowest geometric mean over all cases. It is found on the very loads that judge it, which favours it
/// over the choices, whose loads had other seeds.
fn best_single(cases: &[Case]) -> Option<(String, f64)> {
    let names = cases.first()?.indices.keys();
    let means = names.filter_map(|name| {
        let all: Option<Vec<f64>> = cases.iter().map(|it| it.indices.get(name).copied()).collect();
        Some((name.clone(), geometric_mean(&all?)?))
    });
    means.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// How many times as fast the choices are as one order everywhere: the geometric mean, and its 95 % interval over sites.
fn gain_over(cases: &[Case], name: &str) -> Option<(f64, Option<[f64; 2]>)> {
    let mut sites: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in cases {
        let gain = case.indices.get(name)? / case.choice_ms;
        sites.entry(&case.site).or_default().push(gain);
    }
    let all: Vec<f64> = sites.values().flatten().copied().collect();
    let logarithms = |it: &Vec<f64>| equal(&it.iter().map(|it| it.ln()).collect::<Vec<_>>());
    let clusters: Vec<_> = sites.values().map(logarithms).collect();
    Some((geometric_mean(&all)?, bootstrap_geometric_mean(&clusters)))
}

/// The name of the present order.
const KEPT: &str = "(kept)";

/// Loads the page under every scheme, and in the present order.
fn every_order(question: &Question) -> Result<Indices, Box<dyn Error>> {
    let mut loads: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let mut add = |name: Option<&str>, runs: &[RunRecord]| {
        for run in runs.iter().filter(|it| it.completed) {
            let index = run.byte_index();
            let key = (run.setting.network.clone(), name.unwrap_or(&run.scheme).to_owned());
            loads.entry(key).or_default().extend(index.atf.or(index.all));
        }
    };
    add(None, &under(question, &question.schemes, &[])?);
    add(Some(KEPT), &under(question, &[Contender::find(OBEYING)?], &[SignalUse::Obey])?);
    let mut indices = Indices::new();
    for ((network, name), values) in loads {
        indices.entry(network).or_default().extend(median(&values).map(|it| (name, it)));
    }
    Ok(indices)
}

fn under(
    question: &Question,
    schemes: &[Contender],
    signals: &[SignalUse],
) -> Result<Vec<RunRecord>, Box<dyn Error>> {
    let pages: Vec<Arc<Page>> = question.pages.clone();
    let first = question.networks.first().cloned().ok_or("no network")?;
    let settings = Settings {
        networks: question.networks.clone(),
        signals: signals.to_vec(),
        ..Settings::on(first.clone(), engines::STACK)
    };
    let plan = Plan::new(pages, schemes.to_vec(), engines::STACK, first);
    let plan = Plan { settings, seeds: SEEDS.collect(), jobs: question.jobs, ..plan };
    Ok(run(&plan, Value::Null, &|| ())?.runs)
}
