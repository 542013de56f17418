//! What held the sender back, as the report shows it: the bytes that it sent, how far its windows allowed it to go, and what
//! held it back at each moment.

use std::collections::BTreeMap;

use schedulers::Restraint;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::columns::{pack, pack_rising};
use super::happened::End;
use super::recording::{Series, Unit};
use crate::packet::{PacketEvent, Space};
use crate::restraints::{Evidence, Restraints, Span, in_words};
use crate::trace::Trace;

/// Spans that a page gets: more are joined by time, each step as most of it was.
const SPANS: usize = 50_000;
/// Steps of a curve: more than any screen has columns.
const STEPS: u64 = 20_000;

/// What held a sender back over time. Times are microseconds from the log's first event.
#[derive(Debug, Clone, Serialize)]
pub struct Band {
    /// Bytes sent, acknowledged and lost so far, and how far the windows allowed to send.
    pub series: Vec<Series>,
    /// What held the sender back from when to when.
    #[serde(serialize_with = "spans")]
    pub spans: Vec<Span>,
    /// How long each restraint held, in the order of [`Restraint::ALL`].
    pub totals: Vec<Total>,
    /// Where it comes from, in a sentence.
    pub basis: &'static str,
    /// What was assumed because the log lacks an event.
    pub assumed: Vec<&'static str>,
}

/// How long a restraint held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Total {
    /// Its name in figures.
    pub name: &'static str,
    /// In microseconds.
    pub us: f64,
    /// In percent of the log's time.
    pub percent: f64,
}

/// The band of the sender's log, or why there is none.
pub(super) fn band(end: &End<'_>) -> Result<Band, &'static str> {
    let restraints = Restraints::of(end.trace, Evidence::All)?;
    let all_ms = restraints.duration_ms().max(f64::MIN_POSITIVE);
    let total = |(by, ms): (Restraint, f64)| Total {
        name: in_words(by),
        us: ms * 1000.0,
        percent: 100.0 * ms / all_ms,
    };
    let moved = |it: &Span| Span {
        from_us: end.clock.at(it.from_us),
        to_us: end.clock.at(it.to_us),
        by: it.by,
    };
    Ok(Band {
        series: series(end),
        spans: joined(restraints.spans.iter().map(moved).collect()),
        totals: restraints.totals_ms().into_iter().map(total).collect(),
        basis: restraints.basis.in_words(),
        assumed: restraints.assumed,
    })
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
    let mut close = |step: &mut BTreeMap<Restraint, u64>, from_us, to_us| {
        let Some((&by, _)) = step.iter().max_by_key(|it| *it.1) else { return };
        step.clear();
        match joined.last_mut().filter(|it| it.by == by) {
            Some(last) => last.to_us = to_us,
            None => joined.push(Span { from_us, to_us, by }),
        }
    };
    for span in &spans {
        let mut at_us = span.from_us;
        while at_us < span.to_us {
            let to_us = span.to_us.min(from_us.saturating_add(step_us));
            *step.entry(span.by).or_default() += to_us - at_us;
            at_us = to_us;
            if at_us == from_us.saturating_add(step_us) {
                close(&mut step, from_us, at_us);
                from_us = at_us;
            }
        }
    }
    close(&mut step, from_us, end_us);
    joined
}

fn series(end: &End<'_>) -> Vec<Series> {
    let of = |(name, points): (&'static str, Vec<(u64, u64)>)| {
        let shown = points.into_iter().filter_map(|it| Some((end.clock.within(it.0)?, it.1)));
        Series { name, unit: Unit::Bytes, points: stepped(shown) }
    };
    let all = CURVES.into_iter().zip(curves(end.trace));
    all.map(of).filter(|it| !it.points.is_empty()).collect()
}

/// The names of [`curves`], in their order.
pub(crate) const CURVES: [&str; 5] = [
    "sent",
    "acknowledged",
    "lost",
    "allowed by the congestion window",
    "allowed by the connection's flow control",
];

/// Packets' bytes so far, and how far the windows allowed them to go, in the order of [`CURVES`]: time on the log's clock, and
/// bytes; none where the log does not say them. It must have been read with [`crate::trace::Detail::Full`].
pub(crate) fn curves(trace: &Trace) -> [Vec<(u64, u64)>; CURVES.len()] {
    let moved = Moved::of(trace);
    if moved.sent.is_empty() {
        // Neither is how far it was allowed to go.
        return Default::default();
    }
    let fresh = fresh(trace);
    let mut window = Vec::new();
    let (mut window_bytes, mut in_flight_bytes) = (None, None);
    for sample in &trace.recovery {
        window_bytes = sample.congestion_window_bytes.or(window_bytes);
        in_flight_bytes = sample.bytes_in_flight.or(in_flight_bytes);
        if let (Some(window_bytes), Some(in_flight)) = (window_bytes, in_flight_bytes) {
            let sent = at(&moved.sent, sample.time_us);
            let edge = sent.saturating_add(window_bytes).saturating_sub(in_flight);
            window.push((sample.time_us, edge));
        }
    }
    // Packets have more bytes than their streams: the distance to the limit is exact, and so is where both meet.
    let limits = &trace.credit.connection;
    let limit_edge = |time_us: u64| {
        let place = limits.partition_point(|it| it.0 <= time_us).checked_sub(1)?;
        let left_bytes = limits[place].1.saturating_sub(at(&fresh, time_us));
        Some((time_us, at(&moved.sent, time_us).saturating_add(left_bytes)))
    };
    let mut times_us: Vec<u64> =
        moved.sent.iter().chain(limits.iter()).map(|point| point.0).collect();
    times_us.sort_unstable();
    let limit = times_us.into_iter().filter_map(limit_edge).collect();
    [moved.sent, moved.acknowledged, moved.lost, window, limit]
}

/// Sums of packets' bytes over time.
#[derive(Default)]
struct Moved {
    sent: Vec<(u64, u64)>,
    acknowledged: Vec<(u64, u64)>,
    lost: Vec<(u64, u64)>,
}

impl Moved {
    fn of(trace: &Trace) -> Self {
        let mut moved = Self::default();
        let mut under_way: BTreeMap<(Space, u64), u32> = BTreeMap::new();
        for packet in &trace.packets {
            let known = packet.number.map(|it| (packet.space, it));
            let known_bytes =
                || known.and_then(|it| under_way.get(&it)).map_or(packet.bytes, |it| *it);
            match packet.event {
                PacketEvent::Sent => {
                    add(&mut moved.sent, packet.time_us, packet.bytes);
                    if let Some(known) = known {
                        under_way.insert(known, packet.bytes);
                    }
                }
                PacketEvent::Acknowledged => {
                    add(&mut moved.acknowledged, packet.time_us, known_bytes());
                    known.and_then(|it| under_way.remove(&it));
                }
                PacketEvent::Lost => add(&mut moved.lost, packet.time_us, known_bytes()),
                PacketEvent::Received => {}
            }
        }
        for sums in [&mut moved.sent, &mut moved.acknowledged, &mut moved.lost] {
            // Packets without their bytes: quiche counts lost packets, others log no sizes.
            if sums.last().is_some_and(|it| it.1 == 0) {
                sums.clear();
            }
        }
        moved
    }
}

fn add(sums: &mut Vec<(u64, u64)>, time_us: u64, bytes: u32) {
    let sum = sums.last().map_or(0, |it| it.1).saturating_add(bytes.into());
    sums.push((time_us, sum));
}

/// The stream bytes that count for the connection's flow control, over time.
fn fresh(trace: &Trace) -> Vec<(u64, u64)> {
    let mut farthest = BTreeMap::<u64, u64>::new();
    let (mut sum, mut sums) = (0_u64, Vec::new());
    for frame in &trace.timeline.frames {
        let farthest = farthest.entry(frame.stream).or_default();
        let end = frame.offset.saturating_add(frame.bytes);
        sum = sum.saturating_add(end.saturating_sub(*farthest));
        *farthest = end.max(*farthest);
        sums.push((frame.time_us, sum));
    }
    sums
}

/// The sum at a time.
fn at(sums: &[(u64, u64)], time_us: u64) -> u64 {
    let place = sums.partition_point(|it| it.0 <= time_us);
    place.checked_sub(1).map_or(0, |it| sums[it].1)
}

/// The last of each of [`STEPS`] steps.
fn stepped(points: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let points: Vec<(u64, u64)> = points.collect();
    let step_us = (points.last().map_or(0, |it| it.0) / STEPS).max(1);
    let mut steps: Vec<(u64, u64)> = Vec::new();
    for point in points {
        match steps.last_mut().filter(|it| it.0 / step_us == point.0 / step_us) {
            Some(last) => *last = point,
            None => steps.push(point),
        }
    }
    steps
}

/// When each begins, and its place in [`Restraint::ALL`]; the last begins at the end and has none.
fn spans<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
    let place = |by: Restraint| Restraint::ALL.iter().position(|it| *it == by).unwrap_or_default();
    let columns = json!({
        "count": spans.len(),
        "time": pack_rising(spans.iter().map(|it| it.from_us)),
        "by": pack(spans.iter().map(|it| place(it.by) as u64)),
        "end": spans.last().map_or(0, |it| it.to_us),
    });
    columns.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    #[test]
    fn acknowledged_and_lost_bytes_are_those_of_the_packets_that_were_sent() {
        let packet = |time_us, event, number, bytes| Packet {
            time_us,
            event,
            space: Space::Application,
            number,
            bytes,
        };
        let trace = Trace {
            packets: vec![
                packet(1, PacketEvent::Sent, Some(1), 1200),
                packet(2, PacketEvent::Sent, Some(2), 800),
                packet(5, PacketEvent::Acknowledged, Some(2), 0),
                packet(6, PacketEvent::Lost, Some(1), 0),
                // quiche counts the lost bytes and names no packet.
                packet(7, PacketEvent::Lost, None, 500),
            ],
            ..Trace::default()
        };
        let moved = Moved::of(&trace);
        assert_eq!(moved.sent, [(1, 1200), (2, 2000)]);
        assert_eq!(moved.acknowledged, [(5, 800)]);
        assert_eq!(moved.lost, [(6, 1200), (7, 1700)]);
    }

    #[test]
    fn bytes_that_are_not_logged_make_no_curve() {
        let log = |sent_bytes| {
            let packet = |event, number, bytes| Packet {
                time_us: 1,
                event,
                space: Space::Application,
                number,
                bytes,
            };
            let packets = vec![
                packet(PacketEvent::Sent, Some(1), sent_bytes),
                packet(PacketEvent::Acknowledged, Some(1), 0),
                packet(PacketEvent::Lost, None, 0),
            ];
            let window = crate::trace::RecoverySample {
                time_us: 1,
                congestion_window_bytes: Some(12_000),
                bytes_in_flight: Some(1200),
                ..Default::default()
            };
            Trace { packets, recovery: vec![window], ..Trace::default() }
        };
        let names = |trace: Trace| {
            let shown = CURVES.into_iter().zip(curves(&trace));
            shown.filter(|it| !it.1.is_empty()).map(|it| it.0).collect::<Vec<_>>()
        };
        assert_eq!(names(log(1200)), ["sent", "acknowledged", "allowed by the congestion window"]);
        assert_eq!(names(log(0)), [""; 0]);
    }

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
        // Most of each step is the window's.
        assert_eq!(joined.iter().filter(|it| it.by == Restraint::Nothing).count(), 0);
    }
}
