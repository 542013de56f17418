//! The moments of a log that matter for its sender, by time.

use crate::packet::{PacketEvent, Space};
use crate::trace::{SchedulerCall, Trace};
use schedulers::{Call, StreamId};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// The handshake was complete.
    Established,
    /// Bytes of a stream were sent, up to this offset.
    Frame {
        stream: u64,
        end: u64,
        bytes: u64,
    },
    /// A packet was sent of which only the size is known.
    Packet {
        bytes: u64,
    },
    /// `in_flight_bytes`, if the log does not state it.
    InFlight {
        bytes: u64,
    },
    /// The congestion window, the bytes in flight and the round-trip time, as far as an event states
    /// them.
    Sample {
        place: usize,
    },
    /// The connection's limit.
    Limit {
        bytes: u64,
    },
    StreamLimit {
        stream: u64,
        bytes: u64,
    },
    /// The application wrote up to this offset.
    Written {
        stream: u64,
        end: u64,
    },
    Requested {
        stream: u64,
    },
    /// The scheduler learned that a stream has bytes, or none.
    Ready {
        stream: u64,
        is_ready: bool,
    },
    /// Bytes were charged to a stream.
    Charged {
        stream: u64,
        bytes: u64,
    },
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
    let mut all = sent(trace);
    all.extend(trace.handshake_us().map(|at| (at, Moment::Established)));
    all.extend(repairs(trace));
    all.extend(sampled(trace));
    all.extend(limits(trace));
    if has_calls {
        all.extend(calls(trace));
    } else {
        all.extend(requests(trace));
        for (&stream, written) in trace.written.iter().flatten() {
            all.extend(written.iter().map(|&(at, end)| (at, Moment::Written { stream, end })));
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

fn sent(trace: &Trace) -> Vec<(u64, Moment)> {
    let mut sent = Vec::new();
    for frame in &trace.timeline.frames {
        let end = frame.offset.saturating_add(frame.bytes);
        let moment = Moment::Frame { stream: frame.stream, end, bytes: frame.bytes };
        sent.push((frame.time_us, moment));
    }
    if sent.is_empty() {
        for packet in trace.packets_of(PacketEvent::Sent) {
            sent.push((packet.time_us, Moment::Packet { bytes: packet.bytes.into() }));
        }
    }
    sent
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

fn sampled(trace: &Trace) -> Vec<(u64, Moment)> {
    let samples = trace.samples().iter().enumerate();
    let mut all: Vec<(u64, Moment)> =
        samples.map(|(place, it)| (it.time_us, Moment::Sample { place })).collect();
    if trace.samples().iter().all(|sample| sample.bytes_in_flight.is_none()) {
        all.extend(in_flight(trace));
    }
    all
}

/// Bytes that were sent and neither acknowledged nor declared lost. Packets without a number do not
/// count.
fn in_flight(trace: &Trace) -> Vec<(u64, Moment)> {
    let of_frames = trace.packets.iter().flat_map(|it| &it.of_frames);
    let mut with_data: Vec<usize> = of_frames.map(|it| *it as usize).collect();
    with_data.dedup();
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
            PacketEvent::Sent if with_data.peek() == Some(&place) => {
                outstanding.insert(number, packet.bytes);
                sum += u64::from(packet.bytes);
            }
            PacketEvent::Acknowledged | PacketEvent::Lost => {
                sum -= outstanding.remove(&number).map_or(0, u64::from);
            }
            PacketEvent::Sent | PacketEvent::Received => continue,
        }
        all.push((packet.time_us, Moment::InFlight { bytes: sum }));
    }
    all
}

fn limits(trace: &Trace) -> Vec<(u64, Moment)> {
    let Some(flow_control) = &trace.flow_control else { return Vec::new() };
    let connection = flow_control.connection.iter();
    let mut all: Vec<(u64, Moment)> =
        connection.map(|&(at, bytes)| (at, Moment::Limit { bytes })).collect();
    for (&stream, limits) in &flow_control.streams {
        all.extend(limits.iter().map(|&(at, bytes)| (at, Moment::StreamLimit { stream, bytes })));
    }
    all
}

fn requests(trace: &Trace) -> Vec<(u64, Moment)> {
    let transfers = trace.timeline.transfers.iter();
    transfers.map(|it| (it.requested_us, Moment::Requested { stream: it.stream })).collect()
}

fn calls(trace: &Trace) -> Vec<(u64, Moment)> {
    let mut moments = Vec::new();
    for SchedulerCall { time_us, call } in trace.scheduler_calls() {
        let Ok(call) = call else { continue };
        let moment = match *call {
            Call::SetReady(StreamId(stream), is_ready) => Moment::Ready { stream, is_ready },
            Call::Close(StreamId(stream)) => Moment::Ready { stream, is_ready: false },
            Call::Sent(StreamId(stream), bytes) => Moment::Charged { stream, bytes },
            Call::Start { .. } | Call::Open(..) | Call::Signal(_) | Call::Pick(_) => continue,
        };
        moments.push((*time_us, moment));
    }
    moments
}
