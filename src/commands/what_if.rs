//! `utmost what-if`: what a recorded load would have been under other schemes.

use super::qlog::{Files, SetArguments, read_each, refusal};
use crate::{output, values};
use ::serve::Failure;
use lab::finder::{Step, candidates};
use lab::what_if::{Derived, Order, Replay, derive, fitted, replay};
use output::number;
use qlog_tools::metrics::BySet;
use qlog_tools::reader::{ReadOptions, read_file_within};
use qlog_tools::trace::{Detail, Trace, Vantage};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The largest log that is read, in bytes without its compression: everything in it is kept in memory.
pub(super) const LOG_BYTES_MAX: u64 = 512 << 20;

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
    #[arg(long, visible_alias = "loads", value_name = "N", default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
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
    let traces = traces(arguments.files.named(), arguments.files.vantage())?;
    let set = arguments.set.atf_set()?;
    let is_seen = set.as_ref().map(|set| |url: &str| set.contains(url));
    let is_seen = is_seen.as_ref().map(|it| it as &dyn Fn(&str) -> bool);
    let derived = derive(&traces, is_seen).map_err(Failure::bad_input)?;
    if let Some(file) = &arguments.page_out {
        let page =
            serde_json::to_string_pretty(derived.page.as_ref()).map_err(Failure::elsewhere)?;
        lab::write_file(file, page).map_err(Failure::bad_input)?;
    }
    if set.is_some() && derived.recorded.byte_index_ms.atf.is_none() {
        let cause = "nothing of the set is in the log; name the page of the log with --page, or its URLs with --set";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    let orders = orders(arguments, &derived)?;
    let jobs = arguments.jobs.map_or_else(values::cores, NonZeroUsize::get);
    let loads = orders.len() * usize::try_from(arguments.seeds).unwrap_or(usize::MAX);
    let bar = output::progress(loads, "page loads");
    let progress = |step| match step {
        Step::Planned(loads) => bar.inc_length(loads as u64),
        Step::Loaded => bar.inc(1),
    };
    let derived = fitted(&derived, &orders, arguments.seeds, jobs, &progress);
    let derived = derived.map_err(super::compare::failure)?;
    let replays = replay(&derived, &orders, arguments.seeds, jobs, &|| progress(Step::Loaded));
    let replays = replays.map_err(super::compare::failure)?;
    bar.finish_and_clear();
    values::none_failed(orders.iter().map(|it| &it.scheme))?;
    if replays.iter().all(|it| it.differs.is_none()) {
        let cause = "the page of this log does not load over the link that was derived from it: nothing can be said";
        return Err(Failure::Elsewhere(cause.to_owned()));
    }
    if arguments.json {
        return output::json_of_program(FORMAT, document(&derived, &replays));
    }
    show(&derived, &replays)
}

/// The clients' traces of logs with their names, the load's first. A file can hold both sides.
pub(super) fn traces(
    named: impl Iterator<Item = (Option<String>, PathBuf)>,
    vantage: Option<Vantage>,
) -> Result<Vec<Trace>, Failure> {
    let bar = output::reading();
    let options = ReadOptions { detail: Detail::Full, vantage };
    let logs = read_each(named, |path| {
        read_file_within(path, options, LOG_BYTES_MAX, &|more| bar.inc(more)).map_err(refusal)
    });
    bar.finish_and_clear();
    let logs = logs?;
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
    values::note_unused(&catalogue, "--schemes", schemes.iter().map(|it| &*it.name));
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
    for sentence in verdict(derived, replays) {
        output::line(&sentence)?;
    }
    let recorded = derived.recorded.byte_index_ms;
    let has_atf = recorded.atf.is_some();
    let set = if has_atf { "ATF" } else { "all" };
    let value = |it: BySet| if has_atf { it.atf } else { it.all };
    // Beside the repeat, so that what the page and the link do not repeat of the log does not count for an order.
    let repeat_ms = replays.first().and_then(|it| value(it.byte_index_ms));
    let header = [
        "order",
        &format!("ByteIndex {set} ms"),
        "speedup over the repeat",
        "completions differ from the log's by",
    ];
    let log = vec!["the log".to_owned(), number(value(recorded), 1), String::new(), String::new()];
    let mut sorted: Vec<&Replay> = replays.iter().collect();
    let rank = |it: &Replay| value(it.byte_index_ms).unwrap_or(f64::INFINITY);
    sorted.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    let rows = sorted.into_iter().map(|it| {
        let ms = value(it.byte_index_ms);
        let speedup = repeat_ms.zip(ms).map(|(repeat_ms, ms)| repeat_ms / ms);
        vec![
            it.order.clone(),
            number(ms, 1),
            number(speedup, 3),
            it.differs.map_or_else(|| "-".to_owned(), percent),
        ]
    });
    output::line(&output::table(&header, &[], [log].into_iter().chain(rows)).to_string())?;
    output::line("assumed:")?;
    derived.assumptions.iter().try_for_each(|it| output::line(&format!("  {it}")))
}

fn percent(share: f64) -> String {
    format!("{} %", output::percent(share, 1))
}

/// Completions of the best repeat may differ from the log's by this share; beyond it, no order repeats the log.
pub(super) const REPEATED: f64 = 0.1;

/// Which order repeats the log, and how far the answer can be trusted.
fn verdict(derived: &Derived, replays: &[Replay]) -> Vec<String> {
    let Some((best, differs)) = replays.first().and_then(|it| Some((it, it.differs?))) else {
        return Vec::new();
    };
    let resources = derived.recorded.complete_ms.len();
    let responses =
        if resources == 1 { "1 response".to_owned() } else { format!("{resources} responses") };
    let is_like = |it: &&Replay| it.differs.is_some_and(|it| it - differs < ALIKE);
    let alike: Vec<&str> = replays.iter().filter(is_like).map(|it| it.order.as_str()).collect();
    let differ = format!("completion times differ by {} (median)", percent(differs));
    let mut sentences = Vec::new();
    if differs > REPEATED {
        sentences.push(format!(
            "No order of those that were tried repeats the log's {responses}: the nearest is {}, where {differ}. Do not rely on the rows below.",
            best.order
        ));
    } else if alike.len() == replays.len() && alike.len() > 1 {
        sentences
            .push(format!("The log's {responses} come so in every order that was tried: {differ}"));
    } else {
        sentences
            .push(format!("The log's {responses} come as under {}: {differ}", alike.join(" or ")));
    }
    let (log, repeat) = (derived.recorded.byte_index_ms, best.byte_index_ms);
    let ratio = |it: fn(BySet) -> Option<f64>| Some(it(repeat)? / it(log)?);
    if let Some(ratio) = ratio(|it| it.atf.or(it.all)).filter(|it| (it - 1.0).abs() > REPEATED) {
        sentences.push(format!(
            "The repeat's ByteIndex is {ratio:.2} times the log's: the log has pauses or losses that the repeat has not."
        ));
    }
    sentences
}

/// Orders whose completions differ from the log's by no more than this share beyond the best one's are as like it.
const ALIKE: f64 = 0.001;
