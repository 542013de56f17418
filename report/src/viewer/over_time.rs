//! What a log says besides its frames: windows and round-trip times, losses, events that can be marked. Of a
//! connection with the logs of both ends, what belongs to the sender of the data comes from the server's.

use super::clocks::Clock;
use super::delivered::sent_again_us;
use super::recording::{Events, Series, Unit};
use crate::limits::SHOWN_EVENT_NAMES;
use qlog_tools::clock_shift::shift_us;
use qlog_tools::limits::SHOWN_EVENT_CHARACTERS;
use qlog_tools::packet::PacketEvent;
use qlog_tools::saturating_cast::to_u64;
use qlog_tools::short_texts::shorten;
use qlog_tools::trace::{RecoverySample, SignalKind, Trace, Vantage};

/// The events that are ticks above the congestion window: the scripts know them by these names.
pub(crate) const LOST: &str = "packet lost";
/// And in the place of them.
pub(crate) const SENT_AGAIN: &str = "sent again";
/// Steps of the curve of what was sent: more than any screen has columns.
const SENT_STEPS: u64 = 20_000;

/// A log and its clock.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) trace: &'a Trace,
    pub(super) clock: Clock,
}

impl<'a> End<'a> {
    /// The other end of a connection that `shown` is the client's log of.
    pub(super) fn other(shown: &End<'_>, trace: &'a Trace) -> Self {
        Self { trace, clock: shown.clock.shifted(shift_us(shown.trace, trace)) }
    }
}

/// Windows and round-trip times of one end.
pub(super) fn series(end: &End<'_>) -> Vec<Series> {
    let us = |ms: f64| to_u64(ms.clamp(0.0, 3.6e6) * 1000.0);
    let (samples, clock) = (end.trace.samples(), end.clock);
    let measured_us = first_measured_us(samples);
    let measured = |it: &RecoverySample, ms: Option<f64>| {
        ms.filter(|_| measured_us.is_some_and(|first_us| it.time_us >= first_us)).map(us)
    };
    let of = |name, unit, value: &dyn Fn(&RecoverySample) -> Option<u64>| Series {
        name,
        unit,
        points: samples
            .iter()
            .filter_map(|it| Some((clock.within(it.time_us)?, value(it)?)))
            .collect(),
    };
    let all = [
        of("congestion window", Unit::Bytes, &|it| it.congestion_window_bytes),
        of("bytes in flight", Unit::Bytes, &|it| it.bytes_in_flight),
        of("slow-start threshold", Unit::Bytes, &|it| it.slow_start_threshold_bytes),
        of("smoothed RTT", Unit::Us, &|it| measured(it, it.smoothed_rtt_ms)),
        of("latest RTT", Unit::Us, &|it| measured(it, it.latest_rtt_ms)),
        of("least RTT", Unit::Us, &|it| measured(it, it.min_rtt_ms)),
    ];
    all.into_iter().filter(|series| !series.points.is_empty()).collect()
}

/// A sender that has measured nothing assumes this round-trip time (RFC 9002, section 6.2.2).
const INITIAL_RTT_MS: f64 = 333.0;

/// When a round trip was first measured: what stacks log before is an assumption, which would squash all that follows.
fn first_measured_us(samples: &[RecoverySample]) -> Option<u64> {
    let is_latest = |it: &&RecoverySample| it.latest_rtt_ms.is_some_and(|ms| ms > 0.0);
    let is_assumed = |ms: f64| ms == 0.0 || (ms - INITIAL_RTT_MS).abs() < 0.5;
    let is_value = |it: &&RecoverySample| {
        [it.smoothed_rtt_ms, it.min_rtt_ms].into_iter().flatten().any(|ms| !is_assumed(ms))
    };
    let first = samples.iter().find(is_latest).or_else(|| samples.iter().find(is_value));
    first.map(|it| it.time_us)
}

/// When packets were declared lost; of a server that does not log that (quiche), when it sent bytes again.
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

/// The stream bytes sent so far, retransmissions included, in at most [`SENT_STEPS`] steps.
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

/// What can be marked: what matters to most readers first, then every event that the logs name.
pub(super) fn events(shown: &End<'_>, sender: Option<&End<'_>>) -> Vec<Events> {
    let trace = shown.trace;
    let of = |name: &str, times_us: Vec<u64>| Events {
        name: name.to_owned(),
        times_us: times_us.into_iter().map(|time_us| shown.clock.at(time_us)).collect(),
    };
    let requests = trace.timeline.transfers.iter().map(|it| it.requested_us);
    let completions = trace.streams.iter().filter_map(|it| it.complete_us);
    let signals = |wanted: fn(SignalKind) -> bool| {
        trace.signals.iter().filter(move |it| wanted(it.how)).map(|it| it.time_us).collect()
    };
    let updates = signals(|how| !matches!(how, SignalKind::Request | SignalKind::Response));
    let mut all = vec![
        losses(sender.unwrap_or(shown)),
        of("request", requests.collect()),
        of("response complete", completions.collect()),
        of("priority update", updates),
        of("response with priority", signals(|how| how == SignalKind::Response)),
    ];
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
