//! A log's data besides its frames: windows and round-trip times, losses, and events that can be marked. With the
//! logs of both ends, values of the data's sender come from the server's.

use super::clocks::Clock;
use super::delivered::sent_again_us;
use super::recording::{Events, Series, Unit};
use crate::limits::SHOWN_EVENT_NAMES;
use qlog_tools::clock_shift::shift_us;
use qlog_tools::limits::SHOWN_EVENT_CHARACTERS;
use qlog_tools::loss_recovery::{INITIAL_RTT_MS, LossRecovery, StepKind};
use qlog_tools::packet::PacketEvent;
use qlog_tools::saturating_cast::to_u64;
use qlog_tools::short_texts::shorten;
use qlog_tools::trace::{RecoverySample, SignalKind, Trace, Vantage};

/// The events that are ticks above the congestion window; the scripts use these names.
pub(crate) const LOST: &str = "packet lost";
/// And in the place of them.
pub(crate) const SENT_AGAIN: &str = "sent again";
/// Steps of the curve of sent bytes: more than any screen has columns.
const SENT_STEPS: u64 = 20_000;

#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) trace: &'a Trace,
    pub(super) clock: Clock,
}

impl<'a> End<'a> {
    /// The other end of a connection, if `shown` is its client's log.
    pub(super) fn other(shown: &End<'_>, trace: &'a Trace) -> Self {
        Self { trace, clock: shown.clock.shifted(shift_us(shown.trace, trace)) }
    }
}

/// A curve's value from a sample.
type ValueOf<T> = fn(&RecoverySample) -> Option<T>;

/// Windows and round-trip times of one end.
pub(super) fn series(end: &End<'_>) -> Vec<Series> {
    let (samples, clock) = (end.trace.samples(), end.clock);
    let of_bytes: [(_, ValueOf<u64>); 3] = [
        ("congestion window", |it| it.congestion_window_bytes),
        ("bytes in flight", |it| it.bytes_in_flight),
        ("slow-start threshold", |it| it.slow_start_threshold_bytes),
    ];
    let of_round_trips: [(_, ValueOf<f64>); 3] = [
        ("smoothed RTT", |it| it.smoothed_rtt_ms),
        ("latest RTT", |it| it.latest_rtt_ms),
        ("least RTT", |it| it.min_rtt_ms),
    ];
    let mut all = Vec::new();
    for (name, value) in of_bytes {
        let points = samples.iter().filter_map(|it| Some((clock.within(it.time_us)?, value(it)?)));
        all.push(Series { name, unit: Unit::Bytes, points: points.collect() });
    }
    let measured_us = first_measured_us(samples).unwrap_or(u64::MAX);
    for (name, value_ms) in of_round_trips {
        let measured = samples.iter().filter(|it| it.time_us >= measured_us);
        let points = measured.filter_map(|sample| {
            let us = to_u64(value_ms(sample)?.clamp(0.0, 3.6e6) * 1000.0);
            Some((clock.within(sample.time_us)?, us))
        });
        all.push(Series { name, unit: Unit::Us, points: points.collect() });
    }
    all.retain(|series| !series.points.is_empty());
    all
}

/// When a round trip was first measured: values that stacks log before are assumptions, which would squash the rest.
fn first_measured_us(samples: &[RecoverySample]) -> Option<u64> {
    let mut latest = samples.iter().filter(|it| it.latest_rtt_ms.is_some_and(|ms| ms > 0.0));
    let mut derived = samples.iter().filter(|sample| {
        let mut derived_ms = [sample.smoothed_rtt_ms, sample.min_rtt_ms].into_iter().flatten();
        derived_ms.any(|ms| ms != 0.0 && (ms - INITIAL_RTT_MS).abs() >= 0.5)
    });
    latest.next().or_else(|| derived.next()).map(|it| it.time_us)
}

/// When packets were declared lost; for a server that does not log that (quiche), when it retransmitted bytes.
fn losses(end: &End<'_>) -> Events {
    let lost = end.trace.packets_of(PacketEvent::Lost);
    let mut name = LOST;
    let mut times_us: Vec<u64> = lost.map(|it| it.time_us).collect();
    if times_us.is_empty() && end.trace.vantage == Vantage::Server {
        name = SENT_AGAIN;
        times_us = sent_again_us(end.trace);
    }
    let times_us = times_us.into_iter().filter_map(|time_us| end.clock.within(time_us)).collect();
    Events { name: name.to_owned(), times_us }
}

/// The cumulative stream bytes sent, retransmissions included, in at most [`SENT_STEPS`] steps.
pub(super) fn sent(end: &End<'_>, duration_us: u64) -> Vec<(u64, u64)> {
    let step_us = (duration_us / SENT_STEPS).max(1);
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut sum = 0_u64;
    for frame in &end.trace.timeline.frames {
        let Some(at_us) = end.clock.within(frame.time_us) else { continue };
        sum = sum.saturating_add(frame.bytes);
        match steps.last_mut() {
            Some(last) if at_us / step_us <= last.0 / step_us => last.1 = sum,
            _ => steps.push((at_us, sum)),
        }
    }
    steps
}

/// The events that can be marked: those that matter to most readers first, then every event in the logs.
pub(super) fn events(shown: &End<'_>, sender: Option<&End<'_>>) -> Vec<Events> {
    let trace = shown.trace;
    let requests = trace.timeline.transfers.iter().map(|it| it.requested_us);
    let completions = trace.streams.iter().filter_map(|it| it.complete_us);
    let (mut updates_us, mut in_responses_us) = (Vec::new(), Vec::new());
    for signal in &trace.signals {
        match signal.how {
            SignalKind::Request => {}
            SignalKind::Response => in_responses_us.push(signal.time_us),
            _ => updates_us.push(signal.time_us),
        }
    }
    let of_client = [
        ("request", requests.collect()),
        ("response complete", completions.collect()),
        ("priority update", updates_us),
        ("response with priority", in_responses_us),
    ];
    let mut all = vec![losses(sender.unwrap_or(shown))];
    all.extend(of_client.map(|(name, times_us): (&str, Vec<u64>)| Events {
        name: name.to_owned(),
        times_us: times_us.into_iter().map(|it| shown.clock.at(it)).collect(),
    }));
    let sender_end = sender.unwrap_or(shown);
    let recovery = LossRecovery::of(sender_end.trace);
    all.extend(StepKind::ALL.into_iter().filter(|it| *it != StepKind::Lost).map(|kind| Events {
        name: kind.name().to_owned(),
        times_us:
            recovery.of_kind(kind).filter_map(|it| sender_end.clock.within(it.time_us)).collect(),
    }));
    all.extend(named(shown, ""));
    all.extend(sender.into_iter().flat_map(|it| named(it, "server's ")));
    for events in &mut all {
        events.times_us.sort_unstable();
    }
    all.retain(|events| !events.times_us.is_empty());
    all
}

/// By their names in the log.
fn named<'a>(end: &'a End<'_>, whose: &'a str) -> impl Iterator<Item = Events> + 'a {
    let moments = end.trace.events.iter().flat_map(|it| &it.moments);
    moments.take(SHOWN_EVENT_NAMES).map(move |(name, times_us)| Events {
        name: format!("{whose}{}", shorten(name, SHOWN_EVENT_CHARACTERS)),
        times_us: times_us.iter().filter_map(|it| end.clock.within(*it)).collect(),
    })
}
