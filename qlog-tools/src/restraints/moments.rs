//! The moments of a log that matter for its sender, by time.

use super::validation::{Unvalidated, unvalidated};
use crate::assembly::StreamFrame;
use crate::packet::{PacketEvent, Space};
use crate::trace::{SchedulerCall, Trace};
use schedulers::{Call, StreamId};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// The handshake was complete.
    Established,
    /// The limit of an address that is not validated holds a packet of this space back, or none.
    Unvalidated(Option<Space>),
    Frame(StreamFrame),
    /// A packet was sent of which only the size in bytes is known.
    Packet(u64),
    /// The bytes in flight, if the log does not state them.
    InFlight(u64),
    /// The congestion window, the bytes in flight and the round-trip time, as far as an event states
    /// them: the sample's place.
    Sample(usize),
    /// The connection's limit in bytes.
    Limit(u64),
    /// A stream's limit in bytes.
    StreamLimit(u64, u64),
    /// The application wrote a stream up to this offset.
    Written(u64, u64),
    /// A stream was requested.
    Requested(u64),
    /// The scheduler learned that a stream has bytes, or none.
    Ready(u64, bool),
    /// Bytes were charged to a stream.
    Charged(u64, u64),
    /// Lost bytes wait for retransmission.
    Lost,
    /// They were sent again.
    Repaired,
}

/// All moments, grouped by time, in order.
pub(super) fn moments(
    trace: &Trace,
    has_calls: bool,
) -> impl Iterator<Item = (u64, Vec<Moment>)> + use<> {
    let frames = trace.timeline.frames.iter();
    let mut all: Vec<(u64, Moment)> = frames.map(|it| (it.time_us, Moment::Frame(*it))).collect();
    if all.is_empty() {
        let packets = trace.packets_of(PacketEvent::Sent);
        all.extend(packets.map(|it| (it.time_us, Moment::Packet(it.bytes.into()))));
    }
    all.extend(trace.handshake_us().map(|at| (at, Moment::Established)));
    for Unvalidated { from_us, to_us, space } in unvalidated(trace) {
        all.push((from_us, Moment::Unvalidated(Some(space))));
        all.push((to_us, Moment::Unvalidated(None)));
    }
    all.extend(repairs(trace));
    let samples = trace.samples().iter().enumerate();
    all.extend(samples.map(|(place, it)| (it.time_us, Moment::Sample(place))));
    if trace.samples().iter().all(|sample| sample.bytes_in_flight.is_none()) {
        all.extend(in_flight(trace));
    }
    if let Some(flow_control) = &trace.flow_control {
        all.extend(flow_control.connection.iter().map(|&(at, bytes)| (at, Moment::Limit(bytes))));
        for (&stream, limits) in &flow_control.streams {
            all.extend(limits.iter().map(|&(at, bytes)| (at, Moment::StreamLimit(stream, bytes))));
        }
    }
    if has_calls {
        all.extend(calls(trace));
    } else {
        let transfers = trace.timeline.transfers.iter();
        all.extend(transfers.map(|it| (it.requested_us, Moment::Requested(it.stream))));
        for (&stream, written) in trace.written.iter().flatten() {
            all.extend(written.iter().map(|&(at, end)| (at, Moment::Written(stream, end))));
        }
    }
    all.sort_by_key(|it| it.0);
    let mut all = all.into_iter().peekable();
    std::iter::from_fn(move || {
        let (time_us, first) = all.next()?;
        let mut together = vec![first];
        while let Some((_, moment)) = all.next_if(|(other_us, _)| *other_us == time_us) {
            together.push(moment);
        }
        Some((time_us, together))
    })
}

/// Retransmitted bytes had waited since packets were last declared lost.
fn repairs(trace: &Trace) -> Vec<(u64, Moment)> {
    let lost = trace.packets_of(PacketEvent::Lost);
    let lost_us: Vec<u64> = lost.map(|it| it.time_us).collect();
    let mut farthest = std::collections::BTreeMap::<u64, u64>::new();
    let mut repairs = Vec::new();
    for frame in &trace.timeline.frames {
        let farthest = farthest.entry(frame.stream).or_default();
        let end = frame.offset.saturating_add(frame.bytes);
        if end <= *farthest && frame.bytes > 0 {
            let before = lost_us.partition_point(|it| *it <= frame.time_us);
            if let Some(&since_us) = lost_us[..before].last() {
                repairs.push((since_us, Moment::Lost));
                repairs.push((frame.time_us, Moment::Repaired));
            }
        }
        *farthest = end.max(*farthest);
    }
    repairs
}

/// Bytes that were sent and neither acknowledged nor declared lost. Packets without a number do not
/// count.
fn in_flight(trace: &Trace) -> Vec<(u64, Moment)> {
    let of_frames = trace.packets.iter().flat_map(|it| &it.of_frames);
    let mut with_data: Vec<usize> = of_frames.map(|it| *it as usize).collect();
    with_data.dedup();
    // Packets of uploads are not known by their frames.
    let knows_data = !with_data.is_empty();
    let mut with_data = with_data.into_iter().peekable();
    let mut outstanding = std::collections::BTreeMap::<u64, u32>::new();
    let (mut sum, mut all) = (0_u64, Vec::new());
    for (place, packet) in trace.packets().iter().enumerate() {
        if packet.space != Space::Application {
            continue;
        }
        while with_data.next_if(|it| *it < place).is_some() {}
        let Some(number) = packet.number else { continue };
        match packet.event {
            PacketEvent::Sent
                if with_data.peek() == Some(&place) || !knows_data && packet.is_ack_eliciting =>
            {
                outstanding.insert(number, packet.bytes);
                sum += u64::from(packet.bytes);
            }
            PacketEvent::Acknowledged | PacketEvent::Lost => {
                sum -= outstanding.remove(&number).map_or(0, u64::from);
            }
            PacketEvent::Sent | PacketEvent::Received => continue,
        }
        all.push((packet.time_us, Moment::InFlight(sum)));
    }
    all
}

fn calls(trace: &Trace) -> impl Iterator<Item = (u64, Moment)> {
    trace.scheduler_calls().iter().filter_map(|SchedulerCall { time_us, call }| {
        let moment = match *call.as_ref().ok()? {
            Call::SetReady(StreamId(stream), is_ready) => Moment::Ready(stream, is_ready),
            Call::Close(StreamId(stream)) => Moment::Ready(stream, false),
            Call::Sent(StreamId(stream), bytes) => Moment::Charged(stream, bytes),
            Call::Start { .. } | Call::Open(..) | Call::Signal(_) | Call::Pick(_) => return None,
        };
        Some((*time_us, moment))
    })
}
