//! One page over one connection, over two that are ordered each for itself, and over two in a group.
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_connections -- cable,3g SCHEME,SCHEME SEEDS PAGE...
//! ```

mod parallel_connections;

use corpus::Page;
use lab::network::Network;
use lab::study::RunRecord;
use parallel_connections::Setup;
use schedulers::find_scheme;
use server::{CongestionControl, Experiments, Identity, Options};
use std::error::Error;
use std::sync::Arc;

/// A way to load a page: what to call it, how many connections, how they are split, and whether they are one group.
struct Way {
    name: &'static str,
    connections: u16,
    split: fn(&Page, usize) -> usize,
    grouped: bool,
}

fn by_turns(_: &Page, resource: usize) -> usize {
    resource
}

/// Images, as a site with a host for them does, and all else.
fn by_kind(page: &Page, resource: usize) -> usize {
    usize::from(page.resources[resource].kind == schedulers::Kind::Image)
}

const ONE: Way = Way { name: "one", connections: 1, split: by_turns, grouped: false };

const WAYS: [Way; 5] = [
    ONE,
    Way { name: "two, turns", connections: 2, ..ONE },
    Way { name: "group, turns", connections: 2, grouped: true, ..ONE },
    Way { name: "two, images", connections: 2, split: by_kind, ..ONE },
    Way { name: "group, images", connections: 2, split: by_kind, grouped: true },
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, schemes, seeds, pages @ ..] = &arguments[..] else {
        return Err("give NETWORKS SCHEMES SEEDS PAGE...".into());
    };
    let names: Vec<&str> = WAYS.iter().map(|it| it.name).collect();
    println!(
        "ATF ByteIndex in ms (mean over seeds), and its ratio to the first column as a mean over pages"
    );
    println!("| network | scheme | page | {} |", names.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(WAYS.len()));
    for network in networks.split(',') {
        let network = Network::find(network)?;
        for scheme in schemes.split(',') {
            table(&network, scheme, seeds.parse()?, pages)?;
        }
    }
    Ok(())
}

fn table(
    network: &Network,
    scheme: &str,
    seeds: u64,
    pages: &[String],
) -> Result<(), Box<dyn Error>> {
    let identity = Identity::self_signed()?;
    let mut ratios = vec![0.0; WAYS.len()];
    for name in pages {
        let page = Arc::new(corpus::page(name)?);
        let mut means = Vec::new();
        for way in &WAYS {
            let mut sum_ms = 0.0;
            for seed in 0..seeds {
                sum_ms += index_ms(&page, network, scheme, way, seed, &identity)?;
            }
            means.push(sum_ms / seeds as f64);
        }
        for (sum, mean_ms) in ratios.iter_mut().zip(&means) {
            *sum += mean_ms / means[0];
        }
        let cells: Vec<String> = means.iter().map(|it| format!("{it:.0}")).collect();
        println!("| {} | {scheme} | {name} | {} |", network.name, cells.join(" | "));
    }
    let cells: Vec<String> =
        ratios.iter().map(|it| format!("{:.3}", it / pages.len() as f64)).collect();
    println!("| {} | {scheme} | ratio | {} |", network.name, cells.join(" | "));
    Ok(())
}

fn index_ms(
    page: &Arc<Page>,
    network: &Network,
    scheme: &str,
    way: &Way,
    seed: u64,
    identity: &Identity,
) -> Result<f64, Box<dyn Error>> {
    let options = Options {
        experiments: Experiments { group_connections: 6, ..Experiments::default() },
        congestion_control: CongestionControl::Cubic,
        ..Options::new(find_scheme(scheme)?)
    };
    let load = parallel_connections::load(
        page,
        Setup {
            options,
            network,
            seed,
            identity,
            connections: way.connections,
            split: way.split,
            grouped: way.grouped,
        },
    )?;
    let record = RunRecord::of_load(page, &load);
    let index = record.byte_index().atf.filter(|_| record.completed);
    index.ok_or_else(|| format!("{}: {} did not complete", page.name, way.name).into())
}
