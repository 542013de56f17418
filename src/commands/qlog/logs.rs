//! Logs in pairs, for the report and the local page.

use qlog_tools::trace::{Trace, Vantage};

/// Each connection once: the client's log with the server's, if both are there.
pub(crate) fn pairs(traces: &[Trace]) -> Vec<(&Trace, Option<&Trace>)> {
    let other_end = |trace: &Trace, vantage| {
        traces.iter().find(|it| {
            it.vantage == vantage && it.connection.is_some() && it.connection == trace.connection
        })
    };
    traces
        .iter()
        .filter(|trace| {
            trace.vantage != Vantage::Server || other_end(trace, Vantage::Client).is_none()
        })
        .map(|trace| {
            (trace, other_end(trace, Vantage::Server).filter(|_| trace.vantage == Vantage::Client))
        })
        .collect()
}
