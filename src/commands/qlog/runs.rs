//! Selects the logs that can be compared: logs of one side and of one page.

use super::input::Logs;
use super::refused::Refused;
use ::serve::Failure;
use qlog_tools::alignment::Alignment;
use qlog_tools::short_texts::shown;
use qlog_tools::timeline::Transfer;
use qlog_tools::trace::{Trace, Vantage};
use qlog_tools::views::unusable;
use std::collections::BTreeSet;

/// Two or more logs of runs of one page; the first is the baseline.
pub(crate) struct Runs {
    pub(crate) traces: Vec<Trace>,
    pub(crate) refused: Refused,
}

/// Selects the logs that can be compared, and prints the selection on stderr.
pub(crate) fn choose(logs: Logs) -> Result<Runs, Failure> {
    let Logs { traces, arguments, mut refused, .. } = logs;
    refused.add_files(traces.iter().map(|trace| (trace, unusable(trace))));
    let (traces, arguments): (Vec<Trace>, Vec<usize>) =
        traces.into_iter().zip(arguments).filter(|(trace, _)| unusable(trace).is_none()).unzip();
    if traces.is_empty() {
        return Err(refused.into_failure());
    }
    let mut traces = of_one_side(traces, &arguments)?;
    if traces.len() < 2 {
        return Err(Failure::BadInput("compare takes two logs or more, and got one".to_owned()));
    }
    with_the_firsts_resources(&mut traces, &mut refused)?;
    let mut transfers = traces.iter().flat_map(|it| &it.timeline.transfers);
    if transfers.all(Transfer::is_nameless) {
        eprintln!("no URLs in the logs: streams are compared by their IDs");
    }
    Ok(Runs { traces, refused })
}

/// The logs of one side if an argument named several; otherwise all, because the user named each.
fn of_one_side(traces: Vec<Trace>, arguments: &[usize]) -> Result<Vec<Trace>, Failure> {
    let named: BTreeSet<usize> = arguments.iter().copied().collect();
    let (mut with_client, mut with_server) = (BTreeSet::new(), BTreeSet::new());
    for (trace, argument) in traces.iter().zip(arguments) {
        let with = if is_servers(trace) { &mut with_server } else { &mut with_client };
        with.insert(*argument);
    }
    if named.len() == traces.len() {
        if !with_client.is_empty() && !with_server.is_empty() {
            eprintln!(
                "comparing clients' logs, which have times of arrival, with servers', which have times of sending"
            );
        }
        return Ok(traces);
    }
    let is_server = match (with_client == named, with_server == named) {
        (true, _) => false,
        (_, true) => true,
        _ => {
            let reason = "some of the arguments hold only clients' logs, others only servers'; name logs of one side";
            return Err(Failure::BadInput(reason.to_owned()));
        }
    };
    let all = traces.len();
    let chosen: Vec<Trace> = traces.into_iter().filter(|it| is_servers(it) == is_server).collect();
    if chosen.len() < all {
        let side = if is_server { "servers'" } else { "clients'" };
        eprintln!("comparing the {side} logs, {} of {all}", chosen.len());
    }
    Ok(chosen)
}

fn is_servers(trace: &Trace) -> bool {
    trace.vantage == Vantage::Server
}

/// Rejects runs that share no resource with the first.
fn with_the_firsts_resources(
    traces: &mut Vec<Trace>,
    refused: &mut Refused,
) -> Result<(), Failure> {
    let alignment = Alignment::new(traces);
    let first = traces[0].label();
    let strangers: Vec<usize> =
        (1..traces.len()).filter(|run| alignment.in_common(*run) == 0).collect();
    if strangers.len() + 1 == traces.len() {
        let [own, others] = [0, 1].map(|place| {
            let first = traces[place].timeline.transfers.first();
            shown(first.map_or("nothing", |it| &it.url), 60)
        });
        return Err(Failure::BadInput(format!(
            "nothing to compare: no resource is in {first} ({own} ..) and in another log ({others} ..); compare takes runs of one page"
        )));
    }
    for run in &strangers {
        let trace = &traces[*run];
        let reason =
            format!("{}: no resource in common with {first}; compare it separately", trace.label());
        refused.add(&trace.file, reason);
    }
    let mut run = 0;
    traces.retain(|_| {
        run += 1;
        !strangers.contains(&(run - 1))
    });
    Ok(())
}
