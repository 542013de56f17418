//! What pushes do to the document and to what is pushed, on the engine `stack`. Loads without pushes that met the same link
//! are the measure. The first table has, for each push policy and gate, the load whose document is latest; the second, for
//! each policy and scheme, how much later what is pushed is complete than when it is asked for.
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_pushes -- cable fifo,rfc9218 preempt,throttle:8900 [PAGE...]
//! ```
//!
//! Without pages, it loads the set `first-60`.

use lab::Contender;
use lab::network::Network;
use lab::study::{Plan, RunRecord, Settings, engines, run};
use push::{Gate, Policy};
use std::error::Error;
use std::sync::Arc;

/// Ends early, because no better end exists.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, schemes, gates, pages @ ..] = &arguments[..] else {
        return Err("NETWORK SCHEMES GATES [PAGE...]".into());
    };
    let plan = plan(network, schemes, gates, pages)?;
    let study = run(&plan, serde_json::json!({}), &|| ())?;
    println!("| policy | gate | document later by ms | percent | page | scheme |");
    println!("|---|---|---:|---:|---|---|");
    for (_, setting) in plan.settings.each().iter().filter(|it| it.1.push != Some(Policy::NoOpt)) {
        let loads = study.runs.iter().filter(|it| it.setting == *setting);
        let losses = loads.filter_map(|it| Some((loss_ms(it, &study.runs)?, it)));
        let Some((loss, load)) = losses.max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let share = 100.0 * loss / (document_ms(load).unwrap_or(f64::NAN) - loss);
        let policy = setting.push.map_or("", Policy::name);
        let gate = setting.gate.map(|it| it.to_string()).unwrap_or_default();
        let (page, scheme) = (&load.page, &load.scheme);
        println!("| {policy} | {gate} | {loss:.1} | {share:.1} | {page} | {scheme} |");
    }
    println!("\n| policy | gate | scheme | pushed | later by ms on average |");
    println!("|---|---|---|---:|---:|");
    for (_, setting) in plan.settings.each().iter().filter(|it| it.1.push != Some(Policy::NoOpt)) {
        for scheme in schemes.split(',') {
            let loads =
                study.runs.iter().filter(|it| it.setting == *setting && it.scheme == scheme);
            let later: Vec<f64> = loads.flat_map(|it| pushed_later_ms(it, &study.runs)).collect();
            let mean = later.iter().sum::<f64>() / later.len() as f64;
            let policy = setting.push.map_or("", Policy::name);
            let gate = setting.gate.map(|it| it.to_string()).unwrap_or_default();
            println!("| {policy} | {gate} | {scheme} | {} | {mean:.1} |", later.len());
        }
    }
    Ok(())
}

/// All pages under all policies that push, behind each gate, and without pushes.
fn plan(network: &str, schemes: &str, gates: &str, pages: &[String]) -> Outcome<Plan> {
    let pages = if pages.is_empty() {
        corpus::kept_pages()
    } else {
        pages.iter().filter_map(|it| corpus::bundled(it)).collect()
    };
    let pages = pages.into_iter().cloned().map(Arc::new).collect();
    let schemes = schemes.split(',').map(Contender::find).collect::<Result<_, _>>()?;
    let network = Network::find(network)?;
    let pushing = Policy::ALL.into_iter().filter(|it| it.pushes());
    let settings = Settings {
        pushes: std::iter::once(Policy::NoOpt).chain(pushing).collect(),
        gates: gates.split(',').map(str::parse::<Gate>).collect::<Result<_, _>>()?,
        ..Settings::on(network.clone(), engines::STACK)
    };
    let jobs = std::thread::available_parallelism()?.get();
    Ok(Plan { settings, jobs, ..Plan::new(pages, schemes, engines::STACK, network) })
}

/// The load without pushes that met the same link.
fn plain<'a>(load: &RunRecord, all: &'a [RunRecord]) -> Option<&'a RunRecord> {
    all.iter().find(|it| {
        let is_same = it.page == load.page && it.scheme == load.scheme && it.seed == load.seed;
        is_same && it.setting.push == Some(Policy::NoOpt)
    })
}

/// How much later the document is complete than in the load without pushes.
fn loss_ms(load: &RunRecord, all: &[RunRecord]) -> Option<f64> {
    Some(document_ms(load)? - document_ms(plain(load, all)?)?)
}

/// How much later each pushed resource is complete than in the load without pushes.
fn pushed_later_ms(load: &RunRecord, all: &[RunRecord]) -> Vec<f64> {
    let asked = plain(load, all).map_or(&[][..], |it| &it.resources);
    let later = load.resources.iter().filter(|it| it.pushed).filter_map(|pushed| {
        let same = asked.iter().find(|it| it.id == pushed.id)?;
        Some(pushed.complete_ms? - same.complete_ms?)
    });
    later.collect()
}

fn document_ms(load: &RunRecord) -> Option<f64> {
    load.resources.iter().find(|it| it.id == 0)?.complete_ms
}
