//! Lower bound, oracle, best and worst scheme, and anti-oracle of pages on the engine `ideal`: the table of
//! `docs/bounds.md`.
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_bounds -- paper,cable,3g PAGE...
//! ```

use corpus::Page;
use lab::bounds::{Effort, anti_oracle, lower_bound_ms, oracle};
use lab::ideal::Conditions;
use lab::network::Network;
use lab::{ideal, study::RunRecord};
use schedulers::SCHEMES;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, pages @ ..] = &arguments[..] else { return Err("NETWORKS PAGE...".into()) };
    println!(
        "| page | network | lower bound | oracle | proven | gap | best scheme | worst scheme | anti-oracle |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for network in networks.split(',') {
        let network = Network::find(network)?;
        for name in pages {
            let page = Arc::new(corpus::page(name)?);
            println!("{}", row(&page, &network).ok_or("nothing is above the fold")?);
        }
    }
    Ok(())
}

/// None: nothing is above the fold.
fn row(page: &Arc<Page>, network: &Network) -> Option<String> {
    let bound_ms = lower_bound_ms(page, network)?;
    let (best, worst) =
        (oracle(page, network, Effort::default())?, anti_oracle(page, network, Effort::default())?);
    let index = |scheme| {
        let record =
            RunRecord::of_load(page, &ideal::load(page, scheme, network, Conditions::default()));
        record.byte_index().atf
    };
    let mut schemes: Vec<(f64, &str)> =
        SCHEMES.iter().filter_map(|it| Some((index(it)?, it.name.as_str()))).collect();
    schemes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let named = |it: &(f64, &str)| format!("{:.1} ({})", it.0, it.1);
    let (first, last) = (schemes.first()?, schemes.last()?);
    // Among equals, the first in the registry.
    let last = schemes.iter().find(|it| it.0 >= last.0)?;
    Some(format!(
        "| {} | {} | {bound_ms:.1} | {:.1} | {} | {:.2} % | {} | {} | {:.1} |",
        page.name,
        network.name,
        best.index_ms,
        if best.proven { "yes" } else { "no" },
        100.0 * (best.index_ms / bound_ms - 1.0),
        named(first),
        named(last),
        worst.index_ms,
    ))
}
