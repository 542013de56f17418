//! The restraints of the sender, for the report: its sent bytes, the limits of its windows, and the restraint at each moment.

use std::collections::BTreeMap;

use schedulers::Restraint;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::columns::{pack, pack_rising};
use super::over_time::End;
use super::recording::{Series, Unit};
use qlog_tools::packet_curves::{CURVES, curves};
use qlog_tools::restraints::{Evidence, Restraints, Span, in_words};

/// The most spans of a page: more are merged by time, each step by its prevailing restraint.
const SPANS: usize = 50_000;
/// The steps of a curve: more than any screen has columns.
const STEPS: u64 = 20_000;

/// The restraints of a sender over time. Times are in microseconds from the log's first event.
#[derive(Debug, Clone, Serialize)]
pub struct Band {
    /// Cumulative bytes sent, acknowledged and lost, and the limits of the windows.
    pub series: Vec<Series>,
    /// The restraints, each with its interval.
    #[serde(serialize_with = "spans")]
    pub spans: Vec<Span>,
    /// The duration of each restraint, in the order of [`Restraint::ALL`].
    pub totals: Vec<Total>,
    /// The source, in a sentence.
    pub basis: &'static str,
    /// Assumptions that were necessary because the log lacks an event.
    pub assumed: Vec<&'static str>,
}

/// How long a restraint held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Total {
    /// Its name in figures.
    pub name: &'static str,
    /// The short name.
    pub short_name: &'static str,
    /// The side it belongs to, as an index into the colours of curves: the path (0), the client (1), the sender (2); `None` while the
    /// sender was sending.
    pub colour: Option<usize>,
    /// In microseconds.
    pub us: f64,
    /// In percent of the log's time.
    pub percent: f64,
}

/// The band of the sender's log, or why there is none.
pub(super) fn band(end: &End<'_>) -> Result<Band, &'static str> {
    let restraints = Restraints::of(end.trace, Evidence::All)?;
    let all_ms = restraints.duration_ms().max(f64::MIN_POSITIVE);
    let totals = restraints.totals_ms().into_iter().map(|(by, ms)| {
        let (short_name, colour) = short_name_and_side(by);
        let (us, percent) = (ms * 1000.0, 100.0 * ms / all_ms);
        Total { name: in_words(by), short_name, colour, us, percent }
    });
    let moved = restraints.spans.iter().map(|&Span { from_us, to_us, by }| Span {
        from_us: end.clock.at(from_us),
        to_us: end.clock.at(to_us),
        by,
    });
    Ok(Band {
        series: series(end),
        spans: joined(moved.collect()),
        totals: totals.collect(),
        basis: restraints.basis.in_words(),
        assumed: restraints.assumed,
    })
}

fn short_name_and_side(by: Restraint) -> (&'static str, Option<usize>) {
    match by {
        Restraint::CongestionWindow | Restraint::AddressValidation => (in_words(by), Some(0)),
        Restraint::Acknowledgements => ("waiting for ACKs", Some(0)),
        Restraint::ConnectionFlowControl => ("connection's credit", Some(1)),
        Restraint::StreamFlowControl => ("streams' credit", Some(1)),
        Restraint::Application => ("application", Some(2)),
        Restraint::Handshake | Restraint::Pacing | Restraint::Scheduler => (in_words(by), Some(2)),
        Restraint::Nothing => ("sending", None),
    }
}

/// At most [`SPANS`] spans.
fn joined(spans: Vec<Span>) -> Vec<Span> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return spans };
    if spans.len() <= SPANS {
        return spans;
    }
    let (start_us, end_us) = (first.from_us, last.to_us);
    let step_us = ((end_us - start_us) / (SPANS as u64 / 2)).max(1);
    let mut joined: Vec<Span> = Vec::new();
    let mut step: BTreeMap<Restraint, u64> = BTreeMap::new();
    let mut from_us = start_us;
    for span in &spans {
        let mut at_us = span.from_us;
        while at_us < span.to_us {
            let to_us = span.to_us.min(from_us.saturating_add(step_us));
            *step.entry(span.by).or_default() += to_us - at_us;
            at_us = to_us;
            if at_us == from_us.saturating_add(step_us) {
                close(&mut joined, &mut step, from_us, at_us);
                from_us = at_us;
            }
        }
    }
    close(&mut joined, &mut step, from_us, end_us);
    joined
}

/// Ends a step, which gets the longest restraint in it.
fn close(joined: &mut Vec<Span>, step: &mut BTreeMap<Restraint, u64>, from_us: u64, to_us: u64) {
    let Some((&by, _)) = step.iter().max_by_key(|it| *it.1) else { return };
    step.clear();
    match joined.last_mut() {
        Some(last) if last.by == by => last.to_us = to_us,
        _ => joined.push(Span { from_us, to_us, by }),
    }
}

fn series(end: &End<'_>) -> Vec<Series> {
    let mut series = Vec::new();
    for (name, points) in CURVES.into_iter().zip(curves(end.trace)) {
        let shown = points.into_iter().filter_map(|it| Some((end.clock.within(it.0)?, it.1)));
        series.push(Series { name, unit: Unit::Bytes, points: stepped(shown) });
    }
    series.retain(|it| !it.points.is_empty());
    series
}

/// The last point of each of [`STEPS`] steps.
fn stepped(points: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let points: Vec<(u64, u64)> = points.collect();
    let step_us = (points.last().map_or(0, |it| it.0) / STEPS).max(1);
    let mut steps: Vec<(u64, u64)> = Vec::new();
    for point in points {
        match steps.last_mut() {
            Some(last) if last.0 / step_us == point.0 / step_us => *last = point,
            _ => steps.push(point),
        }
    }
    steps
}

/// The beginning of each, and its index in [`Restraint::ALL`]; the last one begins at the end and has none.
fn spans<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
    let places = spans.iter().map(|span| Restraint::ALL.iter().position(|it| *it == span.by));
    let columns = json!({
        "count": spans.len(),
        "time": pack_rising(spans.iter().map(|it| it.from_us)),
        "by": pack(places.map(|it| it.unwrap_or_default() as u64)),
        "end": spans.last().map_or(0, |it| it.to_us),
    });
    columns.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_spans_than_a_page_gets_are_joined_and_keep_their_time() {
        let by = |place: u64| match place % 3 {
            0 => Restraint::Nothing,
            _ => Restraint::CongestionWindow,
        };
        let spans =
            (0..90_000).map(|it| Span { from_us: it * 10, to_us: it * 10 + 10, by: by(it) });
        let joined = joined(spans.collect());
        assert!(joined.len() <= SPANS, "{}", joined.len());
        assert_eq!((joined[0].from_us, joined[joined.len() - 1].to_us), (0, 900_000));
        assert!(joined.windows(2).all(|pair| pair[0].to_us == pair[1].from_us));
        // The window prevails in each step.
        assert_eq!(joined.iter().filter(|it| it.by == Restraint::Nothing).count(), 0);
    }
}
