//! How near `what-if` comes: from a log under `rr` alone, the `ByteIndex` above the fold of every scheme beside that of real
//! loads of the page. The table of `docs/what-if.md`.
//!
//! ```sh
//! cargo build --workspace --example measure_what_if
//! target/debug/examples/measure_what_if cable,lte,3g,satellite,lte-lossy PAGE...
//! target/debug/examples/measure_what_if logs LOG...
//! ```
//!
//! The second form takes clients' logs of any stack, and says how near the derived page comes to the log itself.

use corpus::Page;
use lab::finder::candidates;
use lab::network::Network;
use lab::stack::{Setup, load};
use lab::study::statistics::median;
use lab::study::{Plan, Settings, engines, run};
use lab::what_if::{Order, derive, fitted, replay};
use qlog_tools::alignment::path_of;
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::trace::{Detail, Trace};
use schedulers::{Catalogue, find_scheme};
use serde_json::Value;
use server::{Identity, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;

/// Loads in each order, real and predicted.
const SEEDS: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, pages @ ..] = &arguments[..] else { return Err("NETWORKS PAGE...".into()) };
    if networks == "logs" {
        return logs(pages);
    }
    println!(
        "| page | network | most like | completions differ | error of the index: median | largest |"
    );
    println!("|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for name in pages {
        let page = Arc::new(corpus::page(name)?);
        for network in networks.split(',') {
            let network = Network::find(network)?;
            let errors = errors(&page, &network)?;
            all.extend(errors);
        }
    }
    all.sort_by(f64::total_cmp);
    let [half, nine_of_ten] =
        [5, 9].map(|tenths| all.get(all.len() * tenths / 10).copied().unwrap_or(f64::NAN));
    println!("{} predictions: median error {half:.4}, 90th percentile {nine_of_ten:.4}", all.len());
    Ok(())
}

/// How near the derived page of each log comes to it.
fn logs(files: &[String]) -> Result<(), Box<dyn Error>> {
    println!("| log | most like | completions differ | assumed |\n|---|---|---|---|");
    let jobs = std::thread::available_parallelism()?.get();
    let orders: Vec<Order> = candidates(&Catalogue::default())
        .iter()
        .filter_map(|it| it.scheme().cloned())
        .map(|scheme| Order { scheme, obeys: false })
        .collect();
    let mut all = Vec::new();
    for file in files {
        let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
        let traces = read_file_traces(std::path::Path::new(file), options)?;
        let mut orders = orders.clone();
        orders.push(Order { scheme: find_scheme("rfc9218")?, obeys: true });
        let derived = fitted(&derive(&traces[..1], None)?, &orders, SEEDS, jobs, &|_| ())?;
        let Some(repeated) = &derived.repeated else { continue };
        let assumed = derived.assumptions.iter().rev().take(2).rev();
        let assumed: Vec<&str> = assumed.map(String::as_str).collect();
        println!(
            "| {file} | {} | {:.4} | {} |",
            repeated.order,
            repeated.differs,
            assumed.join("; ")
        );
        all.push(repeated.differs);
    }
    println!("median of {}: {:.4}", all.len(), median(&all).unwrap_or(f64::NAN));
    Ok(())
}

/// The error of each scheme's predicted index, as a share of the real one.
fn errors(page: &Arc<Page>, network: &Network) -> Result<Vec<f64>, Box<dyn Error>> {
    let seen: BTreeSet<&str> =
        page.resources.iter().filter(|it| it.above_fold).map(|it| it.url.as_str()).collect();
    let is_seen = |url: &str| seen.contains(path_of(url));
    let derived = derive(&[log(page, network)?], Some(&is_seen))?;
    let contenders = candidates(&Catalogue::default());
    let schemes = contenders.iter().filter_map(|it| it.scheme().cloned());
    let orders: Vec<Order> = schemes.map(|scheme| Order { scheme, obeys: false }).collect();
    let jobs = std::thread::available_parallelism()?.get();
    let derived = fitted(&derived, &orders, SEEDS, jobs, &|_| ())?;
    let predicted = replay(&derived, &orders, SEEDS, jobs, &|| ())?;
    let settings = Settings::on(network.clone(), engines::STACK);
    let plan = Plan::new(vec![Arc::clone(page)], contenders, engines::STACK, network.clone());
    let plan = Plan { settings, seeds: (0..SEEDS).collect(), jobs, ..plan };
    let mut real: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for it in run(&plan, Value::Null, &|| ())?.runs {
        real.entry(it.scheme.clone()).or_default().extend(it.byte_index().atf);
    }
    let error = |order: &str, predicted_ms: Option<f64>| {
        let real_ms = median(real.get(order)?)?;
        Some((predicted_ms? - real_ms).abs() / real_ms)
    };
    let errors: Vec<f64> =
        predicted.iter().filter_map(|it| error(&it.order, it.byte_index_ms.atf)).collect();
    println!(
        "| {} | {} | {} | {:.4} | {:.4} | {:.4} |",
        page.name,
        network.name,
        predicted[0].order,
        predicted[0].differs.unwrap_or(f64::NAN),
        median(&errors).unwrap_or(f64::NAN),
        errors.iter().copied().fold(0.0, f64::max),
    );
    Ok(errors)
}

/// The client's log of one load under `rr`.
fn log(page: &Arc<Page>, network: &Network) -> Result<Trace, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let identity = Identity::self_signed()?;
    let options = Options::new(find_scheme("rr")?);
    let setup = Setup { log_dir: Some(folder.path()), ..Setup::new(options, network, &identity) };
    load(page, setup)?;
    let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
    let traces = read_file_traces(&folder.path().join("client.sqlog"), options)?;
    traces.into_iter().next().ok_or_else(|| "no trace".into())
}
