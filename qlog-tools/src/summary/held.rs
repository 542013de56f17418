//! The restraint of the sender while it had work, and its cause.

use std::collections::BTreeMap;

use schedulers::Restraint;
use serde::{Serialize, Serializer};

use super::measures::Recovered;
use super::ms;
use super::queue::Queue;
use crate::link_facts::joined;
use crate::packet_curves::fresh;
use crate::restraints::{
    Evidence, NO_LIMITS, NO_WINDOW, NOT_WRITTEN, Restraints, Span, bounds, with_repairs,
};
use crate::timeline::Transfer;
use crate::trace::{Trace, Vantage};

/// The number of parts into which the time is divided to find lasting changes of the restraint.
const PARTS: u64 = 8;
/// From this share of packets on, losses explain a window, if they cut it.
const LOSS: f64 = 0.002;
/// Why the cause is not named.
const WINDOW_UNKNOWN: &str = "the log has no congestion window, and a sender with a full one pauses like one that has nothing to send";
/// The same for the limits of flow control.
const LIMITS_UNKNOWN: &str = "the log has no limits of flow control, and a sender that has reached one pauses like one that has nothing to send";
const CREDIT_UNKNOWN: &str = "the log begins after its connection, so it does not show how much of the flow control's limit was used, and a sender that \
     has reached it pauses like one that has nothing to send";
/// Why the cause is not named if paths are used together.
const SEVERAL_PATHS: &str = "the connection has several paths at the same time, and the log does not tell apart which window is of which";
/// Why it is not if only datagrams were sent.
const DATAGRAMS_UNKNOWN: &str =
    "the sender sent only datagrams, and the log does not show when its application gave them";
/// Why a sender was not held back.
pub(super) const NO_WORK: &str = "the log has no request, response or upload";
/// Why the sender of an upload has none.
pub(super) const UPLOAD: &str = "most stream bytes were uploads, and only the log of the client, which sent them, shows that: name it, too";

/// The longest restraint of a sender while it had work: during its handshake, and from each request to its response's
/// last frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// The cause.
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
    /// Its longest continuous interval.
    pub longest: Phase,
    /// The stream that was sent last before that; for a slow server, the one that waited.
    pub stream: Option<u64>,
    /// If flow control held the sender back: the most data that it allowed in flight, or each stream's initial limit.
    pub credit_bytes: Option<u64>,
    /// The congestion window, if it never changed.
    #[serde(skip)]
    pub constant_window_bytes: Option<u64>,
    /// Its lasting changes.
    pub phases: Vec<Phase>,
    /// The reason for long round trips.
    #[serde(skip)]
    pub(super) queue: Queue,
}

/// An interval with mostly one restraint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Phase {
    /// The restraint.
    #[serde(serialize_with = "name")]
    pub by: Restraint,
    /// From when.
    pub from_ms: f64,
    /// Until when.
    pub to_ms: f64,
}

schedulers::named! {
    /// The cause of a restraint.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Cause {
        /// The handshake took long.
        Handshake = "handshake",
        /// The client's address was not validated, so only three times as many bytes as had arrived could go there.
        AddressValidation = "address_validation",
        /// The server took long before it answered.
        ThinkTime = "think_time",
        /// Responses were produced with pauses.
        Application = "application",
        /// The window had to grow.
        CongestionWindow = "congestion_window",
        /// Losses cut the window.
        Loss = "loss",
        /// Congestion marks (ECN) cut the window.
        CongestionMarks = "congestion_marks",
        /// Packets that were overtaken counted as lost, which cut the window.
        Reordering = "reordering",
        /// More data was in flight than the path held, so it waited in queues.
        Queue = "queue",
        /// Nothing arrived that could free the window: the sender waited for its probe timer.
        ProbeTimeout = "probe_timeout",
        /// The client's window for the connection.
        ConnectionFlowControl = "connection_flow_control",
        /// The client's windows for streams.
        StreamFlowControl = "stream_flow_control",
        /// The sender's pacer.
        Pacing = "pacing",
        /// The sender's scheduler.
        Scheduler = "scheduler",
        /// Nothing: it was sending.
        Nothing = "nothing",
    }
}

impl Held {
    pub(super) fn of(
        sender: &Trace,
        recovered: &Recovered,
        queue: Queue,
    ) -> Result<Self, &'static str> {
        let restraints = Restraints::of(sender, Evidence::All)?;
        if !has_work(sender) {
            return Err(NO_WORK);
        }
        if sender.has_several_paths() {
            return Err(SEVERAL_PATHS);
        }
        let spans = within(&with_repairs(&restraints.spans, sender), &working(sender));
        let totals_ms = Restraint::ALL.map(|by| (by, total_ms(&spans, by)));
        let working_ms: f64 = totals_ms.iter().map(|it| it.1).sum();
        let by = longest_of(&totals_ms);
        let unanswered = unanswered(sender);
        let unanswered_spans = within(&spans, &unanswered);
        let thinking_ms = total_ms(&unanswered_spans, Restraint::Application);
        let mut held_ms = total_ms(&spans, by);
        let cause = match by {
            Restraint::Application if 2.0 * thinking_ms >= held_ms => Cause::ThinkTime,
            _ => cause(by, recovered, queue),
        };
        if cause == Cause::ThinkTime {
            held_ms = thinking_ms;
        }
        // A server that has begun no response thinks, whatever its window: its other pauses may have any cause.
        let thinks = cause == Cause::ThinkTime && 2.0 * thinking_ms >= working_ms;
        if restraints.assumed.contains(&NO_WINDOW) && needs_window(cause) && !thinks {
            return Err(WINDOW_UNKNOWN);
        }
        if has_only_datagrams(sender) && needs_window(cause) {
            return Err(DATAGRAMS_UNKNOWN);
        }
        if cause == Cause::Application && restraints.assumed.contains(&NOT_WRITTEN) {
            no_credit(sender, &restraints).map_or(Ok(()), Err)?;
        }
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
            constant_window_bytes: constant_window_bytes(sender),
            phases: if restraints.assumed.contains(&NO_WINDOW) {
                Vec::new()
            } else {
                phases(&spans)
            },
            queue,
        })
    }
}

/// The longest restraint. Sending counts only if nothing else is at least half as long.
fn longest_of(totals_ms: &[(Restraint, f64)]) -> Restraint {
    let weight =
        |&(by, ms): &(Restraint, f64)| if by == Restraint::Nothing { ms / 2.0 } else { ms };
    let longest = totals_ms.iter().max_by(|one, other| weight(one).total_cmp(&weight(other)));
    longest.map_or(Restraint::Nothing, |it| it.0)
}

fn constant_window_bytes(sender: &Trace) -> Option<u64> {
    let mut windows = sender.samples().iter().filter_map(|it| it.congestion_window_bytes);
    let first = windows.next()?;
    windows.all(|it| it == first).then_some(first)
}

/// Whether only an open congestion window shows the cause.
fn needs_window(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::ThinkTime | Cause::Application | Cause::Pacing | Cause::Scheduler | Cause::Nothing
    )
}

/// Why it is not known whether flow control held the sender back.
fn no_credit(sender: &Trace, restraints: &Restraints) -> Option<&'static str> {
    if restraints.assumed.contains(&NO_LIMITS) {
        return Some(LIMITS_UNKNOWN);
    }
    sender.lacks_beginning().then_some(CREDIT_UNKNOWN)
}

fn cause(by: Restraint, recovered: &Recovered, queue: Queue) -> Cause {
    match by {
        Restraint::Handshake => Cause::Handshake,
        Restraint::AddressValidation => Cause::AddressValidation,
        Restraint::Application => Cause::Application,
        Restraint::CongestionWindow if recovered.is_reordering() => Cause::Reordering,
        Restraint::CongestionWindow if queue.is_long() => Cause::Queue,
        Restraint::CongestionWindow if queue.is_unknown() => Cause::CongestionWindow,
        Restraint::CongestionWindow if recovered.loss_share() >= LOSS && recovered.cuts() > 0 => {
            Cause::Loss
        }
        Restraint::CongestionWindow if recovered.mark_cuts > 0 => Cause::CongestionMarks,
        Restraint::CongestionWindow => Cause::CongestionWindow,
        Restraint::Acknowledgements => Cause::ProbeTimeout,
        Restraint::ConnectionFlowControl => Cause::ConnectionFlowControl,
        Restraint::StreamFlowControl => Cause::StreamFlowControl,
        Restraint::Pacing => Cause::Pacing,
        Restraint::Scheduler => Cause::Scheduler,
        Restraint::Nothing => Cause::Nothing,
    }
}

/// Whether there was something to send but the handshake and control streams. A log without frames does not show that.
fn has_work(sender: &Trace) -> bool {
    let has_own = || sender.streams.iter().any(|it| sender.is_own_data(it.stream));
    let has_frames = sender.counts.packet_frames + sender.counts.stream_frames > 0;
    let has_datagrams = !sender.datagrams[1].is_empty();
    !sender.timeline.transfers.is_empty() || !has_frames || has_datagrams || has_own()
}

fn has_only_datagrams(sender: &Trace) -> bool {
    sender.counts.stream_frames == 0 && !sender.datagrams[1].is_empty()
}

/// When a sender had work: during its handshake, and from each complete request to the last frame of its response.
pub(super) fn working(sender: &Trace) -> Vec<(u64, u64)> {
    let (start_us, end_us) = bounds(sender);
    if sender.timeline.transfers.is_empty() {
        return if has_work(sender) { vec![(start_us, end_us)] } else { Vec::new() };
    }
    let frames = sender.timeline.frames.iter();
    let last_us: BTreeMap<u64, u64> = frames.map(|it| (it.stream, it.time_us)).collect();
    let answered = sender.timeline.transfers.iter().map(|it| {
        let cancelled_us = it.cancel.map_or(end_us, |it| it.time_us);
        (asked_us(sender, it), last_us.get(&it.stream).copied().unwrap_or(cancelled_us))
    });
    let answered = answered.filter(|it| it.0 <= it.1);
    joined(sender.handshake_us().map(|it| (start_us, it)).into_iter().chain(answered).collect())
}

/// When a request had arrived with its body, or its response began, if that was earlier. Until then, the server waits for its client.
fn asked_us(sender: &Trace, transfer: &Transfer) -> u64 {
    let streams = &sender.request_streams;
    let place = streams.binary_search_by_key(&transfer.stream, |it| it.stream);
    let upload = place.ok().map(|it| &streams[it]).filter(|_| sender.vantage == Vantage::Server);
    let whole_us = upload.map_or(0, |it| it.complete_us.unwrap_or(it.last_us));
    let begun_us = sender.stream(transfer.stream).map(|it| it.first_us);
    let asked_us = begun_us.map_or(whole_us, |it| it.min(whole_us));
    asked_us.max(transfer.requested_us)
}

/// From each complete request to the first frame of its response, unless another response was in progress: then requests may wait for
/// their turn.
fn unanswered(sender: &Trace) -> Vec<(u64, u64)> {
    let transfers = sender.timeline.transfers.iter();
    let answered = transfers.filter_map(|it| Some((it, sender.stream(it.stream)?)));
    let [waits, under_way] = [
        answered.clone().map(|it| (asked_us(sender, it.0), it.1.first_us)).collect(),
        answered.map(|it| (it.1.first_us, it.1.last_us)).collect(),
    ]
    .map(joined);
    let mut left = Vec::new();
    for (mut from_us, to_us) in waits {
        let first = under_way.partition_point(|it| it.1 <= from_us);
        for other in under_way[first..].iter().take_while(|it| it.0 < to_us) {
            left.push((from_us, other.0));
            from_us = other.1;
        }
        left.push((from_us, to_us));
    }
    joined(left)
}

/// The stream of the request that had waited longest at a moment.
fn waiting_at(sender: &Trace, time_us: u64) -> Option<u64> {
    let waiting = sender.timeline.transfers.iter().filter(|it| {
        asked_us(sender, it) <= time_us
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

/// The parts of the spans in these ordered, disjoint intervals.
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

/// Intervals with mostly one restraint, at most [`PARTS`] of them. One gives way to the next when a restraint really ends.
fn phases(spans: &[Span]) -> Vec<Phase> {
    let mut phases: Vec<Span> = Vec::new();
    for mut next in rough_phases(spans) {
        while let Some(last) = phases.last_mut().filter(|it| it.by != next.by) {
            if let Some(end_us) = last_end_us(spans, last, &next) {
                last.to_us = end_us;
                let place = spans.partition_point(|it| it.from_us < end_us);
                next.from_us = spans.get(place).map_or(end_us, |it| it.from_us);
                break;
            }
            next.from_us = last.from_us;
            phases.pop();
        }
        match phases.last_mut().filter(|it| it.by == next.by) {
            Some(last) => last.to_us = next.to_us,
            None => phases.push(next),
        }
    }
    phases.into_iter().map(phase).collect()
}

/// The same, in equal parts of the time. Sending belongs to whatever it interrupts.
fn rough_phases(spans: &[Span]) -> Vec<Span> {
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
            (Some(phase), Some(by)) if phase.by == by => phase.to_us = to_us,
            (_, Some(by)) => phases.push(Span { from_us, to_us, by }),
            (_, None) => {}
        }
        from_us = to_us;
    }
    phases
}

/// The end of the interval of `before`'s restraint that leaves the least time of both on the wrong side. `None`: that of
/// `after` holds from the start.
fn last_end_us(spans: &[Span], before: &Span, after: &Span) -> Option<u64> {
    let (mut found_us, mut most, mut gained) = (None, 0, 0);
    for span in within(spans, &[(before.from_us, after.to_us)]) {
        let us = i128::from(span.us());
        if span.by == before.by {
            gained += us;
        } else if span.by == after.by {
            gained -= us;
        }
        if gained > most {
            (found_us, most) = (Some(span.to_us), gained);
        }
    }
    found_us
}

/// How much data the client's flow control allowed in flight, for the kind of this restraint.
fn credit_bytes(sender: &Trace, by: Restraint) -> Option<u64> {
    let flow_control = sender.flow_control.as_ref()?;
    match by {
        Restraint::ConnectionFlowControl if !sender.lacks_beginning() => {
            let sent = fresh(sender);
            let credits = flow_control.connection.iter().map(|&(time_us, bytes)| {
                // A raised limit is used at once, and clocks may be coarse.
                let before = sent.partition_point(|it| it.0 < time_us);
                bytes.saturating_sub(before.checked_sub(1).map_or(0, |it| sent[it].1))
            });
            credits.max()
        }
        Restraint::StreamFlowControl => flow_control.initial[0],
        _ => None,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field")]
fn name<S: Serializer>(by: &Restraint, serializer: S) -> Result<S::Ok, S::Error> {
    by.name().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Restraint::{Application, CongestionWindow, Handshake, Nothing, Pacing};

    /// Intervals that follow one another, and where each ends in milliseconds.
    fn spans(all: &[(Restraint, u64)]) -> Vec<Span> {
        let mut from_us = 0;
        let each = all.iter().map(|&(by, to_ms)| {
            let span = Span { from_us, to_us: to_ms * 1000, by };
            from_us = span.to_us;
            span
        });
        each.collect()
    }

    /// The restraint of each phase, and its milliseconds.
    fn told(spans: &[Span]) -> Vec<(Restraint, f64, f64)> {
        phases(spans).into_iter().map(|it| (it.by, it.from_ms, it.to_ms)).collect()
    }

    #[test]
    fn a_restraint_gives_way_when_it_really_ends() {
        // An eighth of the time is 100 ms, and the handshake fills most of the first.
        let of_handshake = spans(&[
            (Handshake, 58),
            (CongestionWindow, 97),
            (Nothing, 98),
            (CongestionWindow, 800),
        ]);
        let expected = [(Handshake, 0.0, 58.0), (CongestionWindow, 58.0, 800.0)];
        assert_eq!(told(&of_handshake), expected);
        // A short return of the first restraint does not put the change off.
        let returning = spans(&[
            (Pacing, 210),
            (CongestionWindow, 290),
            (Pacing, 295),
            (CongestionWindow, 800),
        ]);
        let expected = [(Pacing, 0.0, 210.0), (CongestionWindow, 210.0, 800.0)];
        assert_eq!(told(&returning), expected);
    }

    #[test]
    fn phases_exclude_the_time_without_work() {
        let mut with_pause = spans(&[(Pacing, 310), (Application, 800)]);
        with_pause[1].from_us = 420_000;
        assert_eq!(told(&with_pause), [(Pacing, 0.0, 310.0), (Application, 420.0, 800.0)]);
        assert_eq!(told(&spans(&[(Pacing, 800)])), [(Pacing, 0.0, 800.0)]);
        assert!(told(&[]).is_empty());
    }
}
