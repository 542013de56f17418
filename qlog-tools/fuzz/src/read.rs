//! The readers alone.

use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::lint::{Allowance, Rules, browser, lint};
use qlog_tools::metrics::Completions;
use qlog_tools::pairing::Ends;
use qlog_tools::reader::{Counts, Detail, ReadError, ReadOptions, Repair, Trace, read_traces};
use qlog_tools::stream_table::{StreamRow, stream_rows};
use qlog_tools::summary::Summary;

pub(crate) fn traces(data: &[u8], detail: Detail) -> Result<Vec<Trace>, ReadError> {
    read_traces("fuzz", data, ReadOptions { detail, vantage: None })
}

/// A log gives traces or a one-line error, regardless of the level of detail. For sums, metrics are not parsed: a damaged one is
/// noticed only when samples are requested.
pub fn log(data: &[u8]) {
    let all = traces(data, Detail::Events);
    agree(&all, &traces(data, Detail::Order));
    let is_undamaged = |trace: &Trace| trace.counts.bad_records == 0;
    if all.as_ref().is_ok_and(|traces| traces.iter().all(is_undamaged)) {
        agree(&all, &traces(data, Detail::Summary));
    }
}

fn agree(all: &Result<Vec<Trace>, ReadError>, some: &Result<Vec<Trace>, ReadError>) {
    match (all, some) {
        (Ok(all), Ok(some)) => {
            assert!(!all.is_empty());
            assert_eq!(told(all), told(some));
        }
        (all, some) => {
            let [all, some] = [all, some].map(|it| it.as_ref().err().map(ToString::to_string));
            assert_eq!(all, some);
            assert_eq!(all.map_or(0, |error| error.lines().count()), 1);
        }
    }
}

/// The contents of a log that do not depend on the level of detail.
type Told<'a> = (&'a Counts, Vec<StreamRow>, &'a [Repair], &'a Option<String>);

fn told(traces: &[Trace]) -> Vec<Told<'_>> {
    traces.iter().map(|it| (&it.counts, stream_rows(it), &it.repairs[..], &it.connection)).collect()
}

/// A browser's recording is read or rejected, and its order can be judged.
pub fn browser(data: &[u8]) {
    for trace in browser::read("fuzz", data).ok().flatten().unwrap_or_default() {
        let lint = lint(&trace, None, &Rules::Rfc9218, Allowance::default());
        assert!(lint.violations.iter().all(|it| it.stream != it.expected_stream));
    }
}

/// Measures the frames of a log.
pub(crate) fn measure(trace: &Trace, other: &Trace) {
    let all = Completions::new(&trace.timeline, |_| true);
    // The log omits unfinished pushes.
    assert!(all.is_err() || Completions::of_trace(trace, |_| true).is_ok());
    let summary = Summary::of(&Ends { log: trace, server: Some(other) }, None);
    assert!(!summary.sentences.is_empty());
    for sent in [None, Some(&other.arrivals)] {
        let hol = HeadOfLine::new(Arrivals::of(&trace, sent));
        assert!(hol.intra.bytes_ms >= 0.0 && hol.inter.bytes_ms >= 0.0);
        assert!(hol.bytes <= trace.unique_stream_bytes());
    }
}
