//! How near a server that only knows RFC 9218 comes to the oracle's order on the engine `stack`: the figures of `docs/find.md`.
//!
//! ```sh
//! cargo build --workspace --example measure_priorities
//! target/debug/examples/measure_priorities cable,lte,3g PAGE...
//! ```

use lab::finder::{Goal, Question, by_resource};
use lab::network::Network;
use lab::study::statistics::median;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, pages @ ..] = &arguments[..] else { return Err("NETWORKS PAGE...".into()) };
    let networks: Vec<Network> =
        networks.split(',').map(Network::find).collect::<Result<_, _>>()?;
    let (mut shares, mut of_pages, mut cases) = (Vec::new(), Vec::new(), 0);
    println!(
        "| page | network | lines | present ms | found ms | oracle ms | % of the oracle's gain |"
    );
    println!("|---|---|---|---|---|---|---|");
    for name in pages {
        let page = Arc::new(corpus::page(name)?);
        let question = Question {
            goal: Goal::byte_index(),
            oracle: true,
            ..Question::new(vec![page], networks.clone())
        };
        for found in by_resource(&question, &|_| ())? {
            let mut of_page = Vec::new();
            for it in &found.networks {
                let ms = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{it:.1}"));
                let (now, then, oracle) = (ms(it.present_ms), ms(it.found_ms), ms(it.oracle_ms));
                let (network, share) = (&it.network, ms(it.percent_of_oracle));
                let lines = found.resources.len();
                println!("| {name} | {network} | {lines} | {now} | {then} | {oracle} | {share} |");
                of_page.extend(it.percent_of_oracle);
                cases += 1;
            }
            of_pages.extend(median(&of_page));
            shares.append(&mut of_page);
        }
    }
    println!(
        "\nmedian over {} of {cases} pages and networks, where the oracle gains 1 % or more: {:.1} %; over {} pages: {:.1} %",
        shares.len(),
        median(&shares).unwrap_or(f64::NAN),
        of_pages.len(),
        median(&of_pages).unwrap_or(f64::NAN)
    );
    Ok(())
}
