//! Everything derived from a log.

use crate::read::{measure, traces};
use qlog_tools::convert::{Conversion, Cut, Part, Target};
use report::pictures::pictures;
use qlog_tools::lint::{Allowance, Rules, lint};
use qlog_tools::reader::{Detail, Trace};
use qlog_tools::restraints::{Evidence, Restraints};
use report::viewer::{Recording, Report, report};
use qlog_tools::views::{missing, views};
use std::sync::LazyLock;

/// A converted log, whole or in part, can be read again.
pub fn convert(data: &[u8]) {
    cut(data);
    for target in [Target::Current, Target::V03] {
        for anonymise in [false, true] {
            let mut converted = Vec::new();
            let conversion = Conversion { target, anonymise, ..Conversion::default() };
            if qlog_tools::convert::convert("fuzz", data, &mut converted, &conversion).is_ok() {
                assert!(traces(&converted, Detail::Summary).is_ok());
            }
        }
    }
}

/// A part can be read again, and has no more than the whole.
fn cut(data: &[u8]) {
    let cut = Cut { time_us: Some(10_000..1_000_000), streams: Some([0, 4].into()) };
    let Ok(part) = Part::survey("fuzz", data, 0, cut) else { return };
    let mut converted = Vec::new();
    let conversion = Conversion { part: Some(part), ..Conversion::default() };
    if let Ok(done) = qlog_tools::convert::convert("fuzz", data, &mut converted, &conversion) {
        assert!(done.from_before <= done.events);
        assert!(traces(&converted, Detail::Summary).is_ok());
    }
}

/// The order of any log can be judged, by the RFC's rules and by the schemes that it names. A scheme that it does not name is
/// tested on pairs of responses, which takes equally long for any log.
pub fn judge(data: &[u8]) {
    let Ok(traces) = traces(data, Detail::Order) else { return };
    for trace in &traces {
        for rules in [Rules::Rfc9218, Rules::Named] {
            lint(trace, Some(&traces[0]), &rules, Allowance::default());
        }
    }
}

/// Any log can be measured and shown, and no part of it becomes markup.
pub fn show(data: &[u8]) {
    let Ok(traces) = traces(data, Detail::Events) else { return };
    for trace in &traces {
        measure(trace, &traces[0]);
        let _ = (views(trace), missing(trace));
        restrain(trace);
    }
    let recordings: Vec<Recording> =
        traces.iter().map(|trace| Recording::of(trace, traces.first())).collect();
    for recording in &recordings {
        for (_, svg) in pictures(recording) {
            assert!(svg.starts_with("<svg ") && !svg.contains("<script"));
        }
    }
    let page = Report { title: traces[0].file.clone(), recordings, ..Report::default() };
    assert_eq!(scripts(&report(&page)), *SCRIPTS);
}

/// The state that held a sender back is unique at each moment.
fn restrain(trace: &Trace) {
    for evidence in [Evidence::All, Evidence::Calls, Evidence::Plain] {
        let Ok(restraints) = Restraints::of(trace, evidence) else { return };
        assert!(restraints.spans.iter().all(|it| it.from_us <= it.to_us));
        assert!(restraints.spans.is_sorted_by(|one, next| one.to_us <= next.from_us));
    }
}

/// The number of scripts in an empty report.
static SCRIPTS: LazyLock<usize> = LazyLock::new(|| scripts(&report(&Report::default())));

fn scripts(page: &str) -> usize {
    page.matches("<script").count()
}
