//! Intervals in which the peer was silent: the sender then waits for acknowledgements that do not arrive.

use std::collections::BTreeMap;

use schedulers::Restraint;

use super::{SENDING_US, Span, push};
use crate::link_facts::joined;
use crate::loss_recovery::{MAX_ACK_DELAY_MS, RTT_MS};
use crate::packet::{Packet, PacketEvent, Space};
use crate::saturating_cast::to_u64;
use crate::trace::Trace;

/// An interval without a packet from the peer.
#[derive(Debug, Clone, Copy)]
struct Silence {
    from_us: u64,
    to_us: u64,
    /// Whether bytes were retransmitted in it, or a handshake packet was sent so late that only a timer can be the cause: then
    /// some data had not been acknowledged, even if nothing new was to be sent.
    is_probed: bool,
}

/// The spans. Spans of the congestion window, and of applications without further data, become silences if nothing arrived
/// that could have freed the window.
pub(super) fn with_silences(spans: Vec<Span>, trace: &Trace) -> Vec<Span> {
    let silences = silences(trace);
    let mut split = Vec::with_capacity(spans.len());
    for span in spans {
        let mut at_us = span.from_us;
        let first = silences.partition_point(|it| it.to_us <= span.from_us);
        let within = silences[first..].iter().take_while(|it| it.from_us < span.to_us);
        for silence in within {
            let is_meant = match span.by {
                Restraint::CongestionWindow => true,
                Restraint::Application | Restraint::Handshake => silence.is_probed,
                _ => false,
            };
            if !is_meant {
                continue;
            }
            let (from_us, to_us) = (silence.from_us.max(at_us), silence.to_us.min(span.to_us));
            push(&mut split, Span { from_us: at_us, to_us: from_us, ..span });
            push(&mut split, Span { from_us, to_us, by: Restraint::Acknowledgements });
            at_us = to_us;
        }
        push(&mut split, Span { from_us: at_us, ..span });
    }
    split
}

/// The spans, in which an application without further data waits for acknowledgements until its last retransmission. Only a whole log
/// shows that, so a server cannot log it.
pub(crate) fn with_repairs(spans: &[Span], trace: &Trace) -> Vec<Span> {
    let (repairs_us, unsent) = (sent_again_us(trace), unsent(trace));
    let mut split = Vec::with_capacity(spans.len());
    for &span in spans {
        let place = unsent.partition_point(|it| it.1 <= span.from_us);
        let more_us = unsent.get(place).map_or(span.to_us, |it| it.0.min(span.to_us));
        let repairs = repairs_us.partition_point(|it| *it <= more_us + SENDING_US);
        let repaired_us = repairs_us[..repairs].last().map_or(0, |it| *it.min(&more_us));
        let waits = span.by == Restraint::Application && repaired_us > span.from_us;
        let to_us = if waits { repaired_us } else { span.from_us };
        push(&mut split, Span { from_us: span.from_us, to_us, by: Restraint::Acknowledgements });
        push(&mut split, Span { from_us: to_us, ..span });
    }
    split
}

/// Intervals from a round trip after an arrival until the next one, if longer than a probe timeout. Until a variance is known,
/// that is three round trips and the acknowledgement delay (RFC 9002, sections 5.3 and 6.2.1). Without an ack-eliciting packet
/// in flight, no arrival is expected.
fn silences(trace: &Trace) -> Vec<Silence> {
    let end_us = super::bounds(trace).1;
    let probes_us = sent_again_us(trace);
    let of_handshake = trace
        .packets_of(PacketEvent::Sent)
        .filter(|packet| packet.is_ack_eliciting && packet.space != Space::Application);
    let of_handshake_us: Vec<u64> = of_handshake.map(|it| it.time_us).collect();
    let mut samples = trace.samples().iter().peekable();
    let (mut rtt_ms, mut silences) = (RTT_MS, Vec::new());
    for (last_us, to_us) in quiet_times(trace, end_us) {
        while let Some(sample) = samples.next_if(|sample| sample.time_us <= last_us) {
            rtt_ms = sample.smoothed_rtt_ms.unwrap_or(rtt_ms);
        }
        let due_us = last_us.saturating_add(us(3.0 * rtt_ms + MAX_ACK_DELAY_MS));
        if to_us > due_us {
            let is_probed = has_between(&probes_us, last_us, to_us)
                || has_between(&of_handshake_us, due_us, to_us);
            let from_us = last_us.saturating_add(us(rtt_ms));
            silences.push(Silence { from_us, to_us, is_probed });
        }
    }
    silences
}

/// From each arrival to the next; after an arrival that left nothing unacknowledged, from the next ack-eliciting packet.
fn quiet_times(trace: &Trace, end_us: u64) -> Vec<(u64, u64)> {
    let asks = |it: &Packet| it.is_ack_eliciting && it.space == Space::Application;
    let has_frames = trace.packets_of(PacketEvent::Sent).any(asks);
    let (mut sent, mut acknowledged) = (None, None);
    let (mut began_us, mut came_us, mut times) = (None, 0, Vec::new());
    for packet in trace.packets() {
        match packet.event {
            PacketEvent::Received => {
                if let Some(from_us) = began_us.replace(packet.time_us) {
                    times.push((from_us, packet.time_us));
                }
                came_us = packet.time_us;
            }
            PacketEvent::Sent if asks(packet) => {
                if has_frames && sent <= acknowledged && began_us == Some(came_us) {
                    began_us = Some(packet.time_us);
                }
                sent = sent.max(packet.number);
            }
            PacketEvent::Acknowledged if packet.space == Space::Application => {
                acknowledged = acknowledged.max(packet.number);
            }
            _ => {}
        }
    }
    times.extend(began_us.map(|from_us| (from_us, end_us)));
    times
}

/// Whether one of the ascending `times_us` is after `from_us` and before `to_us`.
fn has_between(times_us: &[u64], from_us: u64, to_us: u64) -> bool {
    let next = times_us.partition_point(|it| *it <= from_us);
    times_us.get(next).is_some_and(|it| *it < to_us)
}

fn us(ms: f64) -> u64 {
    to_u64((ms * 1000.0).round())
}

/// When some response was requested and had new bytes to come.
fn unsent(trace: &Trace) -> Vec<(u64, u64)> {
    let streams = trace.timeline.transfers.iter();
    joined(
        streams
            .filter_map(|it| Some((it.requested_us, trace.stream(it.stream)?.last_us)))
            .collect(),
    )
}

fn sent_again_us(trace: &Trace) -> Vec<u64> {
    let mut farthest = BTreeMap::<u64, u64>::new();
    let frames = trace.timeline.frames.iter().filter(|it| it.bytes > 0);
    let again = frames.filter(|frame| {
        let farthest = farthest.entry(frame.stream).or_default();
        let is_again = frame.offset < *farthest;
        *farthest = frame.offset.saturating_add(frame.bytes).max(*farthest);
        is_again
    });
    again.map(|it| it.time_us).collect()
}
