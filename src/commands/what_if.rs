//! `utmost what-if`: what a recorded load would have been under other schemes.

use super::qlog::{Files, SetArguments};
use crate::{output, values};
use ::serve::Failure;
use lab::finder::candidates;
use lab::what_if::{Derived, Order, Replay, derive, fitted, replay};
use output::number;
use qlog_tools::trace::{Detail, Trace, Vantage};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const FORMAT: &str = "utmost-what-if/1";

/// Show what a recorded page load would have been under other schemes
///
/// The page and the link are derived from a client's qlog of any QUIC stack. The page is then loaded over this link under every
/// scheme, on engine stack. The order whose completion times are most like the log's comes first: it says in which order the
/// server sent, and how well the derived page repeats the load. Further logs of the same page, sent in other orders,
/// tell the causes of requests from coincidences.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost what-if client.sqlog\n  \
utmost what-if client.sqlog --page gentelella-index --schemes fifo,rr,bucket --json\n  \
utmost what-if monday.sqlog tuesday.sqlog --set above-the-fold.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// Schemes, separated by commas [default: all that need no knowledge of the page's graph]
    #[arg(long, value_name = "LIST")]
    schemes: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// Loads in each order: with losses, each seed loses other packets
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Loads at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Write the derived page into this file, which other commands read
    #[arg(long, value_name = "FILE")]
    page_out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let traces = traces(&arguments.files)?;
    let set = arguments.set.atf_set()?;
    let is_seen = set.as_ref().map(|set| |url: &str| set.contains(url));
    let is_seen = is_seen.as_ref().map(|it| it as &dyn Fn(&str) -> bool);
    let derived = derive(&traces, is_seen).map_err(Failure::bad_input)?;
    if let Some(file) = &arguments.page_out {
        let page =
            serde_json::to_string_pretty(derived.page.as_ref()).map_err(Failure::elsewhere)?;
        lab::write_file(file, page).map_err(Failure::bad_input)?;
    }
    let orders = orders(arguments, &derived)?;
    let jobs = arguments.jobs.map_or_else(values::cores, NonZeroUsize::get);
    let loads = orders.len() * usize::try_from(arguments.seeds).unwrap_or(usize::MAX);
    let bar = output::progress(loads, "page loads");
    let derived =
        fitted(&derived, &orders, arguments.seeds, jobs).map_err(super::compare::failure)?;
    let replays = replay(&derived, &orders, arguments.seeds, jobs, &|| bar.inc(1));
    let replays = replays.map_err(super::compare::failure)?;
    bar.finish_and_clear();
    if arguments.json {
        return output::json_of_program(document(&derived, &replays));
    }
    show(&derived, &replays)
}

/// The clients' traces, the load's first. A file can hold both sides.
fn traces(files: &Files) -> Result<Vec<Trace>, Failure> {
    let logs = files.read(Detail::Full)?;
    let (of_servers, others): (Vec<Trace>, Vec<Trace>) =
        logs.traces.into_iter().partition(|it| it.vantage == Vantage::Server);
    logs.refused.end()?;
    Ok(if others.is_empty() { of_servers } else { others })
}

/// The schemes, and where the log has signals, a server that obeys them.
fn orders(arguments: &Arguments, derived: &Derived) -> Result<Vec<Order>, Failure> {
    let catalogue = arguments.own.catalogue(&[])?;
    let schemes = match &arguments.schemes {
        Some(list) => values::schemes("--schemes", list, &catalogue)?,
        None => candidates(&catalogue).iter().filter_map(|it| it.scheme().cloned()).collect(),
    };
    let mut orders: Vec<Order> =
        schemes.into_iter().map(|scheme| Order { scheme, obeys: false }).collect();
    if derived.page.resources.iter().any(|it| it.browser.is_some()) {
        let scheme = catalogue.find("rfc9218").map_err(Failure::bad_input)?;
        orders.push(Order { scheme, obeys: true });
    }
    Ok(orders)
}

fn document(derived: &Derived, replays: &[Replay]) -> serde_json::Value {
    let row = |it: &Replay| {
        json!({
            "order": it.order,
            "byte_index_all": it.byte_index_ms.all,
            "byte_index_atf": it.byte_index_ms.atf,
            "completions_differ": it.differs,
        })
    };
    json!({
        "format": FORMAT,
        "log": {
            "byte_index_all": derived.recorded.byte_index_ms.all,
            "byte_index_atf": derived.recorded.byte_index_ms.atf,
            "resources": derived.recorded.complete_ms.len(),
        },
        "network": derived.network(),
        "orders": replays.iter().map(row).collect::<Vec<_>>(),
        "assumptions": derived.assumptions,
    })
}

fn show(derived: &Derived, replays: &[Replay]) -> Result<(), Failure> {
    let recorded = derived.recorded.byte_index_ms;
    let resources = derived.recorded.complete_ms.len();
    if let Some((first, differs)) = replays.first().and_then(|it| Some((it, it.differs?))) {
        output::line(&format!(
            "The log's {resources} responses come as under {}: completion times differ by {:.1} % (median)",
            first.order,
            100.0 * differs
        ))?;
    }
    let has_atf = recorded.atf.is_some();
    let set = if has_atf { "ATF" } else { "all" };
    let value = |it: qlog_tools::metrics::BySet| if has_atf { it.atf } else { it.all };
    let speedup = |ms: Option<f64>| Some(value(recorded)? / ms?);
    let header = [
        "order",
        &format!("ByteIndex {set} ms"),
        "speedup over the log",
        "completions differ from the log's by",
    ];
    let percent = |it: f64| format!("{:.1} %", 100.0 * it);
    let log =
        vec!["the log".to_owned(), number(value(recorded), 1), "1.000".to_owned(), String::new()];
    let mut sorted: Vec<&Replay> = replays.iter().collect();
    let rank = |it: &Replay| value(it.byte_index_ms).unwrap_or(f64::INFINITY);
    sorted.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    let rows = sorted.into_iter().map(|it| {
        let ms = value(it.byte_index_ms);
        vec![
            it.order.clone(),
            number(ms, 1),
            number(speedup(ms), 3),
            it.differs.map_or_else(|| "-".to_owned(), percent),
        ]
    });
    output::line(&output::table(&header, &[], [log].into_iter().chain(rows)).to_string())?;
    output::line("assumed:")?;
    derived.assumptions.iter().try_for_each(|it| output::line(&format!("  {it}")))
}
