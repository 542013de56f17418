//! Infers the story from a log of any stack.
//!
//! The sent data is known: the first transmission of each byte, in the order of sending. Data that could have been sent is
//! not logged, so a response counts as ready only in clear cases: some time after its request arrived
//! (`Allowance::think_us`; in a client's log also a round trip), not before the server was last idle without sending it,
//! and not during a pause, as when it waits for its application or for flow control. A stream whose packet was filled up by
//! another had run dry, and a stream whose last bytes may have been in lost packets may have been complete: neither is
//! expected to send until it sends again. If a server's log records when its application wrote which bytes (`written.rs`),
//! only pauses remain to be inferred.

use std::collections::BTreeMap;

use schedulers::{Call, Kind, Priority, Resource, Signal, StreamId};

use super::Allowance;
use super::browser::FORMATS;
use super::lost::{Loss, account, gaps};
use super::story::{Event, Story, What};
use super::written::while_written;
use crate::assembly::StreamFrame;
use crate::saturating_cast::to_u64;
use crate::trace::{PrioritySignal, SignalKind, Trace, Vantage};

/// A response has begun when this many bytes were sent: its header alone does not show that its body was ready.
const BEGUN_BYTES: u64 = 2000;
/// The assumed round trip if the log has none.
const RTT_US: u64 = 100_000;

/// The story from `trace`, and from the other end's log `client`; an error names what is missing.
pub(super) fn story(
    trace: &Trace,
    client: Option<&Trace>,
    allowance: Allowance,
) -> Result<Story, String> {
    let is_server = trace.vantage == Vantage::Server;
    let (mut sendings, losses) = sendings(trace)?;
    if sendings.is_empty() {
        let is_browsers = trace.header.format.as_deref().is_some_and(|it| FORMATS.contains(&it));
        let lacks = if is_browsers {
            "no entry has a response over HTTP/2 or HTTP/3 with its `connection`, times and size"
        } else {
            "no STREAM frames of responses logged"
        };
        return Err(lacks.to_owned());
    }
    let rtt_us = rtt_us(trace);
    // In a client's log, data that arrives within a round trip of a request was in flight.
    let grace_us = if is_server { allowance.think_us } else { allowance.think_us + rtt_us };
    let gap_us = 3 * rtt_us.max(grace_us);
    let idle = idle(&sendings, gap_us);
    let has_kinds = has_kinds(trace, &sendings);
    // At one instant, new knowledge precedes sending; sending keeps its order.
    let mut events: Vec<(u64, Event)> = Vec::new();
    for (place, transfer) in trace.timeline.transfers.iter().enumerate() {
        let stream = StreamId(transfer.stream);
        // Removed, so that only one of the two forms of its packets stays in memory.
        let Some(sent) = sendings.remove(&transfer.stream) else { continue };
        let mime = trace.details.get(place).and_then(|it| it.content_type.as_deref());
        let resource = Resource {
            kind: mime.map_or(Kind::Other, Kind::of_mime),
            body_bytes: transfer.body_bytes,
            ..Resource::default()
        };
        let first_us = sent.first().map_or(u64::MAX, |it| it.time_us);
        let asked_us = transfer.requested_us.min(first_us);
        let what = What::of(&Call::Open(stream, resource));
        events.push((0, Event { time_us: asked_us, what }));
        let idle_us = last_idle_us(&idle, asked_us, first_us, gap_us).unwrap_or_default();
        let ready_us = asked_us.saturating_add(grace_us).max(idle_us).min(first_us);
        let written = trace.written.as_ref().and_then(|it| it.get(&transfer.stream));
        let ready_us =
            written.and_then(|it| it.first()).map_or(ready_us, |first| first.0.max(idle_us));
        let inferred = events_of(&sent, stream, ready_us.min(first_us), rtt_us.max(grace_us));
        events.extend(match written {
            Some(written) => while_written(stream, inferred, written),
            None => inferred,
        });
        events.extend(doubts(&sent, stream, &losses, gap_us));
    }
    events.extend(header_signals(trace, client).into_iter().map(|event| (0, event)));
    events.sort_by_key(|(place, event)| (event.time_us, *place, event.what.rank()));
    let events = events.into_iter().map(|(_, event)| event).collect();
    Ok(Story {
        events,
        basis: basis(trace, rtt_us, allowance),
        is_exact: false,
        has_urgencies_only: trace.header.format.as_deref().is_some_and(|it| FORMATS.contains(&it)),
        has_kinds,
    })
}

/// The assumptions of the story.
fn basis(trace: &Trace, rtt_us: u64, allowance: Allowance) -> String {
    let is_server = trace.vantage == Vantage::Server;
    let side = if is_server { "server" } else { "client" };
    let round_trip = if is_server {
        String::new()
    } else {
        format!(" and a round trip of {} ms", rtt_us / 1000)
    };
    let written = if trace.written.is_none() {
        ""
    } else {
        "; where the log says when the application wrote its bytes, while it had bytes to send"
    };
    format!(
        "the {side}'s log; a response is taken as ready {} ms{round_trip} after its request, and not while it pauses{written}",
        allowance.think_us / 1000
    )
}

/// Whether the log has the kind of each response that was sent.
fn has_kinds(trace: &Trace, sendings: &BTreeMap<u64, Sending>) -> bool {
    trace.timeline.transfers.iter().enumerate().all(|(place, transfer)| {
        let details = trace.details.get(place);
        !sendings.contains_key(&transfer.stream)
            || details.is_some_and(|it| it.content_type.is_some())
    })
}

/// The first transmissions of one stream, in order.
type Sending = Vec<Sent>;

#[derive(Debug, Clone, Copy)]
struct Sent {
    time_us: u64,
    bytes: u64,
    /// The rest of a packet that another frame began.
    fills_up: bool,
    /// Another stream filled up its packet: this one had no more data then.
    runs_dry: bool,
    /// Its rank among the first transmissions of all streams, from 1.
    place: u64,
}

/// The stream's packets, and its ready times from `ready_us` on, up to a pause longer than `lapse_us`. Each has a rank
/// among events of the same time: twice the packet's rank, plus one for an event after the packet.
fn events_of(
    packets: &[Sent],
    stream: StreamId,
    ready_us: u64,
    lapse_us: u64,
) -> Vec<(u64, Event)> {
    let mut events = vec![(0, Event::ready(stream, ready_us, true))];
    let (mut sum, mut before_us, mut before) = (0_u64, ready_us, 0);
    for sent in packets {
        if sum >= BEGUN_BYTES && sent.time_us.saturating_sub(before_us) > lapse_us {
            events.push((before + 1, Event::ready(stream, before_us, false)));
            events.push((0, Event::ready(stream, sent.time_us, true)));
        }
        let what = if sent.fills_up {
            What::ToppedUp(stream, sent.bytes)
        } else {
            What::Sent(stream, sent.bytes)
        };
        events.push((2 * sent.place, Event { time_us: sent.time_us, what }));
        sum = sum.saturating_add(sent.bytes);
        if sent.runs_dry && sum >= BEGUN_BYTES {
            let what = What::Doubtful(stream);
            events.push((2 * sent.place + 1, Event { time_us: sent.time_us, what }));
        }
        (before_us, before) = (sent.time_us, 2 * sent.place);
    }
    events.push((before + 1, Event { time_us: before_us, what: What::Closed(stream) }));
    events
}

/// The losses from which on its rest may have been in lost packets: no more remained than was lost since it last sent,
/// and the rest arrived within `soon_us` of the loss, like a retransmission.
fn doubts(packets: &[Sent], stream: StreamId, losses: &[Loss], soon_us: u64) -> Vec<(u64, Event)> {
    let all = packets.iter().fold(0_u64, |sum, it| sum.saturating_add(it.bytes));
    let (mut left, mut before) = (all, 0);
    let mut doubts = Vec::new();
    for sent in packets {
        let since = losses.partition_point(|it| it.after < before);
        let until = losses.partition_point(|it| it.after < sent.place);
        let mut lost = 0_u64;
        for loss in &losses[since..until] {
            if all - left < BEGUN_BYTES || sent.time_us.saturating_sub(loss.time_us) > soon_us {
                continue;
            }
            lost = lost.saturating_add(loss.bytes);
            if lost >= left {
                let what = What::Doubtful(stream);
                doubts.push((2 * loss.after + 1, Event { time_us: loss.time_us, what }));
                break;
            }
        }
        left = left.saturating_sub(sent.bytes);
        before = sent.place;
    }
    doubts
}

/// The first transmissions of each response. In a client's log, packets are put in the order of sending by their numbers;
/// each gets the time of the latest arrival so far.
///
/// Also returns what the client did not get.
fn sendings(trace: &Trace) -> Result<(BTreeMap<u64, Sending>, Vec<Loss>), String> {
    let mut sendings: BTreeMap<u64, Sending> = BTreeMap::new();
    let mut farthest: BTreeMap<u64, u64> = BTreeMap::new();
    for transfer in &trace.timeline.transfers {
        sendings.entry(transfer.stream).or_default();
    }
    let mut gaps = gaps(trace).peekable();
    let mut lost: Vec<Loss> = Vec::new();
    let (mut now_us, mut place, mut last_packet, mut last_stream) = (0, 0, None, None);
    for (frame, packet) in in_order_of_sending(trace)? {
        while let Some((_, bytes)) = gaps.next_if(|gap| Some(gap.0) <= packet) {
            lost.push(Loss { time_us: now_us, after: place, bytes });
        }
        now_us = now_us.max(frame.time_us);
        let Some(sending) = sendings.get_mut(&frame.stream) else { continue };
        let farthest = farthest.entry(frame.stream).or_default();
        let end = frame.offset.saturating_add(frame.bytes);
        if end > *farthest {
            let since = sending.last().map_or(0, |it| it.place);
            let from = lost.partition_point(|it| it.after < since);
            account(&mut lost[from..], frame.offset.saturating_sub(*farthest));
            place += 1;
            // The stream with data comes first; a stream that fills up the rest of its packet was not preferred to it.
            let fills_up = packet.is_some() && packet == last_packet;
            last_packet = packet;
            let bytes = end - *farthest;
            sending.push(Sent { time_us: now_us, bytes, fills_up, runs_dry: false, place });
            *farthest = end;
            if let Some(first) = last_stream.replace(frame.stream)
                && fills_up
                && first != frame.stream
                && let Some(sent) = sendings.get_mut(&first).and_then(|it| it.last_mut())
            {
                sent.runs_dry = true;
            }
        }
    }
    sendings.retain(|_, sending| !sending.is_empty());
    Ok((sendings, lost))
}

/// Frames, each with the number of its packet.
type Frames<'a> = Box<dyn Iterator<Item = (StreamFrame, Option<u64>)> + 'a>;

/// The frames in the order in which the server sent them.
fn in_order_of_sending(trace: &Trace) -> Result<Frames<'_>, String> {
    let frames = trace.arrivals.iter();
    if trace.vantage == Vantage::Server {
        return Ok(Box::new(frames));
    }
    let mut known = None;
    // A frame that arrived on another connection has no packet here: it keeps its place of arrival.
    let mut frames: Vec<(StreamFrame, Option<u64>)> = frames
        .map(|(frame, number)| {
            known = number.or(known);
            (frame, known)
        })
        .collect();
    if frames.iter().any(|(_, number)| number.is_none()) {
        return Err("a client's log without packet numbers does not show the server's send order"
            .to_owned());
    }
    frames.sort_by_key(|it| it.1);
    Ok(Box::new(frames.into_iter()))
}

/// The intervals longer than `gap_us` in which nothing was sent.
fn idle(sendings: &BTreeMap<u64, Sending>, gap_us: u64) -> Vec<(u64, u64)> {
    let mut times: Vec<u64> = sendings.values().flatten().map(|packet| packet.time_us).collect();
    times.sort_unstable();
    times
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > gap_us)
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

/// When the server was last idle although this response had been requested and not begun: just after the packet that ended
/// the idle time, which was not this response's.
fn last_idle_us(idle: &[(u64, u64)], asked_us: u64, first_us: u64, gap_us: u64) -> Option<u64> {
    let ends_before = idle.partition_point(|gap| gap.1 <= first_us);
    let gap = idle[..ends_before].last()?;
    (gap.1.saturating_sub(gap.0.max(asked_us)) > gap_us).then_some(gap.1.saturating_add(1))
}

/// The longest measured round trip in the log: the limit of data in flight, queues included.
fn rtt_us(trace: &Trace) -> u64 {
    // Before the first measurement, stacks log a guess as their smoothed value.
    let longest = trace.recovery.as_ref().map(|it| it.longest_rtt);
    let milliseconds = longest.and_then(|it| it.latest_ms.or(it.smoothed_ms));
    milliseconds.map_or(RTT_US, |it| to_u64(it.clamp(0.0, 60_000.0) * 1000.0))
}

/// The priority signals, at the time when the server could know them: from its own log, otherwise from its client's.
pub(super) fn header_signals(trace: &Trace, client: Option<&Trace>) -> Vec<Event> {
    let mut spoken: Vec<(u64, &PrioritySignal)> =
        trace.signals.iter().map(|signal| (signal.time_us, signal)).collect();
    let is_silent = trace.signals.iter().all(|it| matches!(it.how, SignalKind::Response));
    if is_silent && let Some(client) = client {
        spoken
            .extend(client.signals.iter().map(|signal| (on_server(trace, client, signal), signal)));
    }
    let mut known: BTreeMap<u64, Priority> = BTreeMap::new();
    let mut updated: Vec<u64> = Vec::new();
    let mut events = Vec::new();
    spoken.sort_by_key(|it| it.0);
    for (time_us, signal) in spoken {
        // A malformed field is ignored (RFC 8941, section 4.2).
        let said = Priority::parse(signal.value.as_bytes()).unwrap_or_default();
        let placed = match signal.how {
            SignalKind::PushUpdate => continue,
            // An update overrides the header, even if that arrives later (RFC 9218, section 7).
            SignalKind::Request if updated.contains(&signal.element) => continue,
            // A response changes only the members that it names (section 8); elsewhere, a missing one means the default.
            SignalKind::Response => {
                known.get(&signal.element).copied().unwrap_or_default().overridden_by(said)
            }
            SignalKind::Update => {
                updated.push(signal.element);
                said
            }
            SignalKind::Request | SignalKind::Applied => said,
        };
        known.insert(signal.element, placed);
        let stream = StreamId(signal.element);
        let urgency = placed.urgency_or_default();
        let incremental = placed.incremental_or_default();
        let signal = Signal::Extensible { stream, urgency, incremental };
        let what = What::of(&Call::Signal(signal));
        events.push(Event { time_us, what });
    }
    events
}

/// When the server got a client's signal: the arrival of the client's request shows the difference of the clocks.
fn on_server(trace: &Trace, client: &Trace, signal: &PrioritySignal) -> u64 {
    if signal.how == SignalKind::Request
        && let Some(asked_us) = requested_us(trace, signal.element)
    {
        return asked_us;
    }
    let shift_us = client.timeline.transfers.iter().find_map(|transfer| {
        let asked_us = requested_us(trace, transfer.stream)?;
        Some(i128::from(asked_us) - i128::from(transfer.requested_us))
    });
    u64::try_from(i128::from(signal.time_us) + shift_us.unwrap_or_default()).unwrap_or_default()
}

fn requested_us(trace: &Trace, stream: u64) -> Option<u64> {
    let transfer = trace.timeline.transfers.iter().find(|it| it.stream == stream)?;
    Some(transfer.requested_us)
}
