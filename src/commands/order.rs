//! `utmost order`: pure scheduling, packet by packet.

use crate::{figure_files, output, values};
use ::serve::Failure;
use lab::file_name;
use lab::scenario::{Moment, PANELS, Run, Scenario, figure, over_quic, run as schedule, trace};
use schedulers::Scheme;
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Show which stream gets each packet of a scenario
///
/// A scenario is a list of requests, each with its arrival slot, size and resource.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost order examples/late-stylesheet.json --scheme rr,fifo,dfifo
  utmost order examples/late-stylesheet.json --scheme firefox --trace --figures out
  utmost order examples/late-stylesheet.json --scheme-file examples/schemes/fonts-first.toml
  utmost order examples/trees/figure-6.json --scheme tree --qlog logs
  utmost qlog tree logs/figure-6-tree.sqlog --at 39"
)]
pub(crate) struct Arguments {
    /// A file of format utmost-scenario/1
    scenario: PathBuf,
    /// Schemes by name, separated by commas; `paper` and `all` stand for groups [default: the schemes of --scheme-file]
    #[arg(long, value_name = "NAMES", required_unless_present = "scheme_file")]
    scheme: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// Print JSON: runs of `[first_slot, stream, packets, last_bytes]`
    #[arg(long)]
    json: bool,
    /// Also show the scheduler's tree at each change: a stream opens, becomes ready or closes, or the order changes
    #[arg(long)]
    trace: bool,
    /// With --trace: draw the first distinct trees of each scheme into this directory, as SVG and PNG
    #[arg(long, value_name = "DIR", requires = "trace")]
    figures: Option<PathBuf>,
    /// With --figures: the number of trees in a figure
    #[arg(long, value_name = "N", default_value_t = PANELS, value_parser = values::at_least_one, requires = "figures")]
    panels: NonZeroUsize,
    /// Also send the scenario over QUIC, in virtual time with slots of 10 ms, and write the server's logs into this
    /// directory, for `utmost qlog`
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
}

type Trace<'a> = (&'a Scheme, Vec<Moment>);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let catalogue = arguments.own.catalogue(&[])?;
    let names = arguments.scheme.clone().unwrap_or_else(|| values::own_names(&catalogue));
    let schemes = values::schemes("--scheme", &names, &catalogue)?;
    values::note_unused(&catalogue, "--scheme", schemes.iter().map(|it| &*it.name));
    let scenario = Scenario::read(&arguments.scenario).map_err(Failure::bad_input)?;
    let folders = [(&arguments.figures, "--figures"), (&arguments.qlog, "--qlog")];
    let mut folders = folders.into_iter().filter_map(|(it, flag)| Some((it.as_deref()?, flag)));
    folders.try_for_each(|(folder, flag)| values::directory(folder, flag))?;
    let orders: Vec<(String, Vec<Run>)> =
        schemes.iter().map(|it| (it.name.clone(), schedule(&scenario, it))).collect();
    values::none_failed(&schemes)?;
    let traces = arguments.trace.then(|| traces(&scenario, &schemes)).transpose()?;
    if let (Some(folder), Some(traces)) = (&arguments.figures, &traces) {
        draw(&scenario, traces, folder, arguments.panels.get())?;
    }
    let logs = match &arguments.qlog {
        Some(folder) => send(&scenario, &schemes, folder)?,
        None => Vec::new(),
    };
    if arguments.json {
        let orders: Map<String, Value> =
            orders.into_iter().map(|(name, runs)| (name, json!(runs))).collect();
        let mut document = json!({"scenario": scenario.name, "orders": orders});
        if let Some(traces) = traces {
            let traces = traces.into_iter().map(|(it, moments)| (it.name.clone(), json!(moments)));
            document["trace"] = traces.collect::<Map<String, Value>>().into();
        }
        return output::json_of("utmost-order/1", &document);
    }
    let rows = orders
        .into_iter()
        .map(|(name, runs)| vec![name, runs.iter().map(written).collect::<Vec<_>>().join(" ")]);
    output::line("the order of packets: stream, or stream x packets in a row")?;
    output::line(&output::table(&["scheme", "order"], &[1], rows).to_string())?;
    traces.iter().flatten().try_for_each(print_trace)?;
    arguments
        .figures
        .iter()
        .try_for_each(|it| output::line(&format!("figures: {}", it.display())))?;
    logs.iter().try_for_each(|it| output::line(&format!("log: {}", it.display())))
}

fn send(scenario: &Scenario, schemes: &[Scheme], folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let sent = schemes.iter().map(|it| over_quic(scenario, it, folder));
    sent.map(|it| it.map_err(Failure::bad_input)).collect()
}

fn traces<'a>(scenario: &Scenario, schemes: &'a [Scheme]) -> Result<Vec<Trace<'a>>, Failure> {
    let mut traces = Vec::new();
    for scheme in schemes {
        traces.push((scheme, trace(scenario, scheme).map_err(Failure::bad_input)?));
    }
    Ok(traces)
}

fn print_trace((scheme, moments): &Trace<'_>) -> Result<(), Failure> {
    output::line(&format!(
        "\nthe tree under {}: element (weight), and the share of its subtree",
        scheme.name
    ))?;
    for Moment { slot, what, tree } in moments {
        output::line(&format!("slot {slot}: {what}"))?;
        for line in tree.to_string().lines() {
            output::line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn draw(
    scenario: &Scenario,
    traces: &[Trace<'_>],
    folder: &Path,
    panels: usize,
) -> Result<(), Failure> {
    traces.iter().try_for_each(|(scheme, moments)| {
        let svg = figure(scenario, scheme, moments, panels).svg();
        figure_files::write_all(folder, [(format!("{}-tree", file_name(&scheme.name)), svg)])
    })
}

fn written(run: &Run) -> String {
    if run.packets == 1 {
        run.stream.to_string()
    } else {
        format!("{}x{}", run.stream, run.packets)
    }
}
