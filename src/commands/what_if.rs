//! `utmost what-if`: how a recorded load would have gone under other schemes.

use super::find::counting;
use super::qlog::{Files, SetArguments, read_each, refusal};
use crate::{output, values};
use ::serve::Failure;
use lab::finder::candidates;
use lab::what_if::{Derived, Order, Replay, derive, fitted, replay};
use output::number;
use qlog_tools::metrics::Set;
use qlog_tools::reader::{ReadOptions, read_file_within};
use qlog_tools::short_texts::counted;
use qlog_tools::trace::{Detail, Trace, Vantage};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The largest log that is read, in uncompressed bytes, because all of it is kept in memory.
pub(super) const LOG_BYTES_MAX: u64 = 512 << 20;

const FORMAT: &str = "utmost-what-if/1";

/// Show how a recorded page load would have gone under other schemes
///
/// Derives the page and the link from a client's qlog of any QUIC stack, and loads the page over this link under every scheme, on
/// engine stack. The first line names the order whose completion times are closest to the log's: it shows in which order the
/// server sent, and how well the derived page repeats the load. Further logs of the same page, sent in other orders, separate
/// causes of requests from coincidences.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost what-if client.sqlog\n  \
utmost what-if client.sqlog --page gentelella-index --schemes fifo,rr,bucket --json\n  \
utmost what-if monday.sqlog tuesday.sqlog --set above-the-fold.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    set: SetArguments,
    /// Schemes, separated by commas [default: all schemes that do not need the page's graph]
    #[arg(long, value_name = "LIST")]
    schemes: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// Loads in each order; with losses, each seed loses other packets
    #[arg(long, visible_alias = "loads", value_name = "N", default_value = "3", value_parser = ::serve::whole_number(1..=1000))]
    seeds: u64,
    /// Loads at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Write the derived page into this file, for other commands
    #[arg(long, value_name = "FILE")]
    page_out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.page_out.iter().try_for_each(|it| values::writable(it, "--page-out"))?;
    let traces = traces(arguments.files.named(), arguments.files.vantage)?;
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
    let derived = fitted(&derived, &orders, arguments.seeds, jobs, &counting(&bar));
    let derived = derived.map_err(super::compare::failure)?;
    let replays = replay(&derived, &orders, arguments.seeds, jobs, &|| bar.inc(1));
    let replays = replays.map_err(super::compare::failure)?;
    bar.finish_and_clear();
    values::none_failed(orders.iter().map(|it| &it.scheme))?;
    if replays.iter().all(|replay| replay.differs.is_none()) {
        let cause = "the page of this log does not load over the link that was derived from it: there is no result";
        return Err(Failure::Elsewhere(cause.to_owned()));
    }
    if arguments.json {
        return output::json_of_program(FORMAT, document(&derived, &replays));
    }
    show(&derived, &replays)
}

/// The clients' traces of the logs with their names, the main load's first. A file can hold both sides.
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

/// The schemes, and if the log has signals, also a server that obeys them.
fn orders(arguments: &Arguments, derived: &Derived) -> Result<Vec<Order>, Failure> {
    let catalogue = arguments.own.catalogue(&[])?;
    let schemes = match &arguments.schemes {
        Some(list) => values::schemes("--schemes", list, &catalogue)?,
        None => candidates(&catalogue).iter().filter_map(|it| it.scheme().cloned()).collect(),
    };
    values::note_unused(&catalogue, "--schemes", schemes.iter().map(|it| &*it.name));
    let mut orders: Vec<Order> =
        schemes.into_iter().map(|scheme| Order { scheme, obeys: false }).collect();
    let has_signals = derived.page.resources.iter().any(|it| it.browser.is_some());
    if has_signals {
        let scheme = catalogue.find("rfc9218").map_err(Failure::bad_input)?;
        orders.push(Order { scheme, obeys: true });
    }
    Ok(orders)
}

fn document(derived: &Derived, replays: &[Replay]) -> serde_json::Value {
    let orders = replays.iter().map(|replay| {
        json!({
            "order": replay.order,
            "byte_index_all": replay.byte_index_ms.all,
            "byte_index_atf": replay.byte_index_ms.atf,
            "completions_differ": replay.differs,
        })
    });
    json!({
        "log": {
            "byte_index_all": derived.recorded.byte_index_ms.all,
            "byte_index_atf": derived.recorded.byte_index_ms.atf,
            "resources": derived.recorded.complete_ms.len(),
        },
        "network": derived.network(),
        "orders": orders.collect::<Vec<_>>(),
        "assumptions": derived.assumptions,
    })
}

fn show(derived: &Derived, replays: &[Replay]) -> Result<(), Failure> {
    for sentence in verdict(derived, replays) {
        output::line(&sentence)?;
    }
    let recorded = derived.recorded.byte_index_ms;
    let set = if recorded.atf.is_some() { Set::Atf } else { Set::All };
    // Compared with the replay, so that errors of the derived page and link do not favour an order.
    let repeat_ms = replays.first().and_then(|it| it.byte_index_ms.get(set));
    let name = if set == Set::Atf { "ATF" } else { "all" };
    let header = [
        "order",
        &format!("ByteIndex {name} ms"),
        "speedup over the repeat",
        "completions differ from the log's by",
    ];
    let log_ms = number(recorded.get(set), 1);
    let log = vec!["the log".to_owned(), log_ms, String::new(), String::new()];
    let mut sorted: Vec<&Replay> = replays.iter().collect();
    sorted.sort_by(|one, other| {
        let [one, other] =
            [one, other].map(|it| it.byte_index_ms.get(set).unwrap_or(f64::INFINITY));
        one.total_cmp(&other)
    });
    let rows = sorted.into_iter().map(|replay| {
        let ms = replay.byte_index_ms.get(set);
        let speedup = repeat_ms.zip(ms).map(|(repeat_ms, ms)| repeat_ms / ms);
        vec![
            replay.order.clone(),
            number(ms, 1),
            number(speedup, 3),
            replay
                .differs
                .map_or_else(|| "-".to_owned(), |it| format!("{} %", output::percent(it, 1))),
        ]
    });
    output::line(&output::table(&header, &[], [log].into_iter().chain(rows)).to_string())?;
    output::line("assumed:")?;
    derived.assumptions.iter().try_for_each(|it| output::line(&format!("  {it}")))
}

/// If the best replay's completions differ from the log's by more than this share, no order repeats the log.
pub(super) const REPEATED: f64 = 0.1;

fn verdict(derived: &Derived, replays: &[Replay]) -> Vec<String> {
    let best = replays.first().and_then(|it| Some((it, it.differs?)));
    let Some((best, differs)) = best else { return Vec::new() };
    let resources = derived.recorded.complete_ms.len();
    let responses = counted(resources, "response");
    let alike = replays.iter().filter(|it| it.differs.is_some_and(|it| it - differs < ALIKE));
    let alike: Vec<&str> = alike.map(|it| it.order.as_str()).collect();
    let differ = format!("completion times differ by {} % (median)", output::percent(differs, 1));
    let mut sentences = Vec::new();
    if differs > REPEATED {
        sentences.push(format!(
            "No order of those that were tried repeats the log's {responses}: the nearest is {}, where {differ}. Do not rely on the rows below.",
            best.order
        ));
    } else if alike.len() == replays.len() && alike.len() > 1 {
        sentences.push(format!(
            "The log's {responses} arrive like this in every order that was tried: {differ}"
        ));
    } else {
        sentences.push(format!(
            "The log's {responses} arrive as under {}: {differ}",
            alike.join(" or ")
        ));
    }
    let [log_ms, repeat_ms] =
        [derived.recorded.byte_index_ms, best.byte_index_ms].map(|it| it.atf.or(it.all));
    let ratio = repeat_ms.zip(log_ms).map(|(repeat_ms, log_ms)| repeat_ms / log_ms);
    if let Some(ratio) = ratio
        && (ratio - 1.0).abs() > REPEATED
    {
        sentences.push(format!(
            "The repeat's ByteIndex is {ratio:.2} times the log's: the log has pauses or losses that the repeat does not have."
        ));
    }
    sentences
}

/// Orders count as alike if their completions differ from the log's by at most this share more than the best one's.
const ALIKE: f64 = 0.001;
