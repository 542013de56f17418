//! `utmost order`: pure scheduling, who gets each packet.

use crate::failure::Failure;
use crate::{output, values};
use lab::scenario::{Run, Scenario, run as schedule};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Show who gets each packet of a scenario
///
/// A scenario is a list of requests, each with the slot in which it arrives, its size and its resource.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  utmost order examples/late-stylesheet.json --scheme rr,fifo,dfifo"
)]
pub(crate) struct Arguments {
    /// A file of format utmost-scenario/1
    scenario: PathBuf,
    /// Schemes by name, separated by commas; `paper` and `all` stand for several
    #[arg(long, value_name = "NAMES")]
    scheme: String,
    /// Print JSON: runs of `[first_slot, stream, packets, last_bytes]`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let schemes = values::schemes(&arguments.scheme)?;
    let scenario = Scenario::read(&arguments.scenario).map_err(Failure::bad_input)?;
    let orders = schemes.iter().map(|scheme| (scheme.name.clone(), schedule(&scenario, scheme)));
    if arguments.json {
        let orders: Map<String, Value> = orders.map(|(name, runs)| (name, json!(runs))).collect();
        return output::json(&json!({"scenario": scenario.name, "orders": orders}));
    }
    let rows = orders
        .map(|(name, runs)| vec![name, runs.iter().map(written).collect::<Vec<_>>().join(" ")]);
    output::line("who sends when: stream, or stream x packets in a row")?;
    output::line(&output::table(&["scheme", "order"], &[1], rows).to_string())
}

fn written(run: &Run) -> String {
    if run.packets == 1 {
        run.stream.to_string()
    } else {
        format!("{}x{}", run.stream, run.packets)
    }
}
