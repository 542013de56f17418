//! A log from anywhere gives traces or an error; what is added up while reading is what the frames
//! say; no delay is negative; it can be judged and shown, and nothing of it becomes markup; and
//! what is converted, whole or in part, can be read again.
//! Input: the file. One of each format is in `seeds`:
//! `cargo +nightly fuzz run -s none qlog out seeds -- -max_total_time=600` in the folder of the crate, with an empty folder `out`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qlog_tools::convert::{Conversion, Cut, Part, Target, convert};
use qlog_tools::figures::still::stills;
use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::lint::{Allowance, Rules, browser, lint};
use qlog_tools::metrics::Completions;
use qlog_tools::reader::{Detail, ReadOptions, Trace, read_traces};
use qlog_tools::restraints::{Evidence, Restraints};
use qlog_tools::viewer::{Recording, Report, report};
use qlog_tools::views::{missing, views};
use std::sync::LazyLock;

fuzz_target!(|data: &[u8]| {
    let options = |detail| ReadOptions { detail, vantage: None };
    let Ok(traces) = read_traces("fuzz", data, options(Detail::Events)) else {
        let _ = browser::read("fuzz", data);
        return;
    };
    for trace in &traces {
        measure(trace, &traces[0]);
        let _ = (views(trace), missing(trace));
        restrain(trace);
        for rules in [Rules::Rfc9218, Rules::Scheme(&schedulers::SCHEMES[0])] {
            lint(trace, Some(&traces[0]), &rules, Allowance::default());
        }
    }
    show(&traces);
    cut(data);
    for target in [Target::Current, Target::V03] {
        for anonymise in [false, true] {
            let mut converted = Vec::new();
            let conversion = Conversion { target, anonymise, ..Conversion::default() };
            if convert("fuzz", data, &mut converted, &conversion).is_ok() {
                assert!(read_traces("again", &converted[..], options(Detail::Summary)).is_ok());
            }
        }
    }
});

/// A part is read again, and has no more than the whole.
fn cut(data: &[u8]) {
    let cut = Cut { time_us: Some(10_000..1_000_000), streams: Some([0, 4].into()) };
    let Ok(part) = Part::survey("fuzz", data, 0, cut) else { return };
    let mut converted = Vec::new();
    let conversion = Conversion { part: Some(part), ..Conversion::default() };
    if let Ok(done) = convert("fuzz", data, &mut converted, &conversion) {
        assert!(done.from_before <= done.events);
        assert!(read_traces("part", &converted[..], ReadOptions::default()).is_ok());
    }
}

fn measure(trace: &Trace, other: &Trace) {
    let all = Completions::new(&trace.timeline, |_| true);
    // The log leaves out pushes that did not finish.
    assert!(all.is_err() || Completions::of_trace(trace, |_| true).is_ok());
    for sent in [None, Some(&other.arrivals)] {
        let hol = HeadOfLine::new(Arrivals::of(&trace, sent));
        assert!(hol.intra.bytes_ms >= 0.0 && hol.inter.bytes_ms >= 0.0);
        assert!(hol.bytes <= trace.unique_stream_bytes());
    }
}

/// What held a sender back is known once for each moment.
fn restrain(trace: &Trace) {
    for evidence in [Evidence::All, Evidence::Calls, Evidence::Plain] {
        let Ok(restraints) = Restraints::of(trace, evidence) else { return };
        assert!(restraints.spans.iter().all(|it| it.from_us <= it.to_us));
        assert!(restraints.spans.is_sorted_by(|one, next| one.to_us <= next.from_us));
    }
}

fn show(traces: &[Trace]) {
    let recordings: Vec<Recording> =
        traces.iter().map(|trace| Recording::of(trace, traces.first())).collect();
    for recording in &recordings {
        for (_, svg) in stills(recording) {
            assert!(svg.starts_with("<svg ") && !svg.contains("<script"));
        }
    }
    let page = Report { title: traces[0].file.clone(), recordings, ..Report::default() };
    assert_eq!(scripts(&report(&page)), *SCRIPTS);
}

/// The number of scripts in an empty report.
static SCRIPTS: LazyLock<usize> = LazyLock::new(|| scripts(&report(&Report::default())));

fn scripts(page: &str) -> usize {
    page.matches("<script").count()
}
