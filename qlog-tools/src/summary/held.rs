//! What held the sender back while it had work, and what was behind it.

use std::collections::BTreeMap;

use schedulers::Restraint;
use serde::{Serialize, Serializer};

use super::measures::{Recovered, RoundTrips};
use super::ms;
use crate::link_facts::joined;
use crate::packet_curves::fresh;
use crate::restraints::{Evidence, Restraints, Span, bounds};
use crate::trace::Trace;

/// The time is cut into this many parts to say when the restraint changed.
const PARTS: u64 = 24;
/// Changes that are told at most.
const PHASES: usize = 5;
/// Losses explain a window from this share of the packets on.
const LOSS: f64 = 0.002;
/// Round trips that are this many times as long as the least show a queue.
const QUEUED: f64 = 2.0;
/// And by so many milliseconds.
const QUEUED_MS: f64 = 5.0;

/// What held a sender back longest while it had work: in its handshake, and from each request to its response's last frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// What was behind it.
    pub cause: Cause,
    /// The restraint.
    #[serde(serialize_with = "name")]
    pub by: Restraint,
    /// For how long.
    pub held_ms: f64,
    /// The share of the time with work.
    pub share: f64,
    /// The time with work.
    pub working_ms: f64,
    /// From when to when it held longest at a time.
    pub longest: Phase,
    /// The stream that was sent last before that; for a server that took its time, the one that waited.
    pub stream: Option<u64>,
    /// The most that flow control let be under way, where that held the sender back.
    pub credit_bytes: Option<u64>,
    /// How long each restraint held, in the order of the table of `utmost qlog limits`.
    pub totals: Vec<HeldBy>,
    /// When the restraint changed, roughly.
    pub phases: Vec<Phase>,
    /// Where the restraints come from.
    pub basis: &'static str,
    /// What was assumed, because the log lacks an event.
    pub assumed: Vec<&'static str>,
}

/// How long a restraint held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HeldBy {
    /// Which.
    #[serde(serialize_with = "name")]
    pub by: Restraint,
    /// For how long.
    pub held_ms: f64,
}

/// A time in which mostly one restraint held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Phase {
    /// Which.
    #[serde(serialize_with = "name")]
    pub by: Restraint,
    /// From when.
    pub from_ms: f64,
    /// Until when.
    pub to_ms: f64,
}

/// What is behind a restraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The handshake took long.
    Handshake,
    /// The server took its time before it answered.
    ThinkTime,
    /// Responses came with pauses.
    Application,
    /// The window had to grow.
    CongestionWindow,
    /// Losses cut the window.
    Loss,
    /// Packets that were overtaken counted as lost, and that cut the window.
    Reordering,
    /// More was under way than the path held, so that it waited in queues.
    Queue,
    /// Nothing came that could free the window: the sender waited for its probe timer.
    ProbeTimeout,
    /// The client's window for the connection.
    ConnectionFlowControl,
    /// The client's windows for streams.
    StreamFlowControl,
    /// The sender's pacer.
    Pacing,
    /// The sender's scheduler.
    Scheduler,
    /// Nothing: it was sending.
    Nothing,
}

impl Cause {
    /// As JSON and tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::ThinkTime => "think_time",
            Self::Application => "application",
            Self::CongestionWindow => "congestion_window",
            Self::Loss => "loss",
            Self::Reordering => "reordering",
            Self::Queue => "queue",
            Self::ProbeTimeout => "probe_timeout",
            Self::ConnectionFlowControl => "connection_flow_control",
            Self::StreamFlowControl => "stream_flow_control",
            Self::Pacing => "pacing",
            Self::Scheduler => "scheduler",
            Self::Nothing => "nothing",
        }
    }
}

impl Held {
    pub(super) fn of(
        sender: &Trace,
        recovered: &Recovered,
        round_trips: Option<&RoundTrips>,
    ) -> Result<Self, &'static str> {
        let restraints = Restraints::of(sender, Evidence::All)?;
        let spans = within(&restraints.spans, &working(sender));
        let totals = Restraint::ALL.map(|by| HeldBy { by, held_ms: total_ms(&spans, by) });
        let working_ms: f64 = totals.iter().map(|it| it.held_ms).sum();
        let by = longest_of(&totals);
        let unanswered = unanswered(sender);
        let unanswered_spans = within(&spans, &unanswered);
        let thinking_ms = total_ms(&unanswered_spans, Restraint::Application);
        let held_ms = total_ms(&spans, by);
        let cause = match by {
            Restraint::Application if 2.0 * thinking_ms >= held_ms => Cause::ThinkTime,
            _ => cause(by, recovered, round_trips),
        };
        let among = if cause == Cause::ThinkTime { &unanswered_spans } else { &spans };
        let longest = among.iter().filter(|it| it.by == by).max_by_key(|it| it.us()).copied();
        let longest = longest.unwrap_or(Span { from_us: 0, to_us: 0, by });
        let stream = match cause {
            Cause::ThinkTime => waiting_at(sender, longest.from_us),
            _ => sent_last(sender, longest.from_us),
        };
        Ok(Self {
            cause,
            by,
            held_ms,
            share: if working_ms > 0.0 { held_ms / working_ms } else { 0.0 },
            working_ms,
            longest: phase(longest),
            stream,
            credit_bytes: credit_bytes(sender, by),
            totals: totals.into(),
            phases: phases(&spans),
            basis: restraints.basis.name(),
            assumed: restraints.assumed,
        })
    }
}

/// What held longest. Sending counts where nothing else is at least half as long.
fn longest_of(totals: &[HeldBy]) -> Restraint {
    let (mut most, mut sending_ms) = (HeldBy { by: Restraint::Nothing, held_ms: 0.0 }, 0.0);
    for total in totals {
        match total.by {
            Restraint::Nothing => sending_ms = total.held_ms,
            _ if total.held_ms > most.held_ms => most = *total,
            _ => {}
        }
    }
    if 2.0 * most.held_ms < sending_ms { Restraint::Nothing } else { most.by }
}

fn cause(by: Restraint, recovered: &Recovered, round_trips: Option<&RoundTrips>) -> Cause {
    let is_queued = round_trips.is_some_and(|it| {
        let p95_ms = it.p95_ms;
        p95_ms >= QUEUED * it.least_ms && p95_ms >= it.least_ms + QUEUED_MS
    });
    match by {
        Restraint::Handshake => Cause::Handshake,
        Restraint::Application => Cause::Application,
        Restraint::CongestionWindow if recovered.is_reordering() => Cause::Reordering,
        Restraint::CongestionWindow if is_queued => Cause::Queue,
        Restraint::CongestionWindow if recovered.loss_share() >= LOSS => Cause::Loss,
        Restraint::CongestionWindow => Cause::CongestionWindow,
        Restraint::Acknowledgements => Cause::ProbeTimeout,
        Restraint::ConnectionFlowControl => Cause::ConnectionFlowControl,
        Restraint::StreamFlowControl => Cause::StreamFlowControl,
        Restraint::Pacing => Cause::Pacing,
        Restraint::Scheduler => Cause::Scheduler,
        Restraint::Nothing => Cause::Nothing,
    }
}

/// When a sender had work: in its handshake, and from each request to the last frame of its response.
pub(super) fn working(sender: &Trace) -> Vec<(u64, u64)> {
    let (start_us, end_us) = bounds(sender);
    let mut last_us: BTreeMap<u64, u64> = BTreeMap::new();
    for frame in &sender.timeline.frames {
        last_us.insert(frame.stream, frame.time_us);
    }
    let mut each: Vec<(u64, u64)> =
        sender.handshake_us().map(|it| (start_us, it)).into_iter().collect();
    for transfer in &sender.timeline.transfers {
        let cancelled_us = transfer.cancel.map_or(end_us, |it| it.time_us);
        let to_us = last_us.get(&transfer.stream).copied().unwrap_or(cancelled_us);
        each.push((transfer.requested_us, to_us));
    }
    if sender.timeline.transfers.is_empty() {
        return vec![(start_us, end_us)];
    }
    joined(each)
}

/// From each request to the first frame of its response.
fn unanswered(sender: &Trace) -> Vec<(u64, u64)> {
    let transfers = sender.timeline.transfers.iter();
    joined(
        transfers
            .filter_map(|it| Some((it.requested_us, sender.stream(it.stream)?.first_us)))
            .collect(),
    )
}

/// The stream of the request that had waited longest at a moment.
fn waiting_at(sender: &Trace, time_us: u64) -> Option<u64> {
    let waiting = sender.timeline.transfers.iter().filter(|it| {
        it.requested_us <= time_us
            && sender.stream(it.stream).is_none_or(|stream| stream.first_us > time_us)
    });
    waiting.min_by_key(|it| it.requested_us).map(|it| it.stream)
}

/// The stream of the last frame before a moment.
fn sent_last(sender: &Trace, time_us: u64) -> Option<u64> {
    let frames = &sender.timeline.frames;
    let place = frames.partition_point(|it| it.time_us <= time_us);
    place.checked_sub(1).map(|it| frames[it].stream)
}

/// The parts of the spans in these times, which are in order and apart from each other.
fn within(spans: &[Span], times: &[(u64, u64)]) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut first = 0;
    for span in spans {
        first += times[first..].partition_point(|it| it.1 <= span.from_us);
        for &(from_us, to_us) in times[first..].iter().take_while(|it| it.0 < span.to_us) {
            let (from_us, to_us) = (from_us.max(span.from_us), to_us.min(span.to_us));
            if from_us < to_us {
                parts.push(Span { from_us, to_us, by: span.by });
            }
        }
    }
    parts
}

fn total_ms(spans: &[Span], by: Restraint) -> f64 {
    ms(spans.iter().filter(|it| it.by == by).map(Span::us).sum())
}

fn phase(span: Span) -> Phase {
    Phase { by: span.by, from_ms: ms(span.from_us), to_ms: ms(span.to_us) }
}

/// When mostly another restraint held, in at most [`PHASES`] steps. Sending is part of whatever it interrupts.
fn phases(spans: &[Span]) -> Vec<Phase> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return Vec::new() };
    let (start_us, end_us) = (first.from_us, last.to_us);
    let part_us = end_us.saturating_sub(start_us).div_ceil(PARTS).max(1);
    let mut phases: Vec<Span> = Vec::new();
    let mut from_us = start_us;
    while from_us < end_us {
        let to_us = from_us.saturating_add(part_us).min(end_us);
        let part = within(spans, &[(from_us, to_us)]);
        let held = part.iter().filter(|it| it.by != Restraint::Nothing || part.len() == 1);
        let mut by_restraint: BTreeMap<Restraint, u64> = BTreeMap::new();
        for span in held {
            *by_restraint.entry(span.by).or_default() += span.us();
        }
        let most = by_restraint.into_iter().max_by_key(|it| it.1).map(|it| it.0);
        match (phases.last_mut(), most) {
            (Some(phase), Some(by)) if phase.by == by && phase.to_us == from_us => {
                phase.to_us = to_us
            }
            (_, Some(by)) => phases.push(Span { from_us, to_us, by }),
            (_, None) => {}
        }
        from_us = to_us;
    }
    while phases.len() > PHASES {
        drop_shortest(&mut phases);
    }
    phases.into_iter().map(phase).collect()
}

/// Makes the shortest phase part of the one before it, or else after it.
fn drop_shortest(phases: &mut Vec<Span>) {
    let shortest = phases.iter().enumerate().min_by_key(|it| it.1.us()).map(|it| it.0);
    let place = shortest.unwrap_or_default();
    let dropped = phases.remove(place);
    match place.checked_sub(1) {
        Some(before) => phases[before].to_us = dropped.to_us,
        None => phases[0].from_us = dropped.from_us,
    }
    phases.dedup_by(|next, before| {
        let is_same = next.by == before.by;
        before.to_us = if is_same { next.to_us } else { before.to_us };
        is_same
    });
}

/// The most that the client's flow control let be under way, of the kind that this restraint is about.
fn credit_bytes(sender: &Trace, by: Restraint) -> Option<u64> {
    let flow_control = sender.flow_control.as_ref()?;
    match by {
        Restraint::ConnectionFlowControl => {
            let sent = fresh(sender);
            let limits = flow_control.connection.iter();
            limits.map(|(time_us, bytes)| bytes.saturating_sub(sent_before(&sent, *time_us))).max()
        }
        Restraint::StreamFlowControl => {
            let mut most = flow_control.initial.of_its_streams;
            let mut sent: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
            for frame in &sender.timeline.frames {
                let sent = sent.entry(frame.stream).or_default();
                let end = frame.offset.saturating_add(frame.bytes);
                sent.push((frame.time_us, end.max(sent.last().map_or(0, |it| it.1))));
            }
            for (stream, limits) in &flow_control.streams {
                let sent = sent.get(stream).map_or(&[][..], |it| it);
                let credits = limits
                    .iter()
                    .map(|(time_us, bytes)| bytes.saturating_sub(sent_before(sent, *time_us)));
                most = most.max(credits.max());
            }
            most
        }
        _ => None,
    }
}

/// The sum before a time: what is raised goes out at once, and clocks may be coarse.
fn sent_before(sums: &[(u64, u64)], time_us: u64) -> u64 {
    let place = sums.partition_point(|it| it.0 < time_us);
    place.checked_sub(1).map_or(0, |it| sums[it].1)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field")]
fn name<S: Serializer>(by: &Restraint, serializer: S) -> Result<S::Ok, S::Error> {
    by.name().serialize(serializer)
}
