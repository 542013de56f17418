//! What a log says that matters to its sender, by time.

use crate::packet::{PacketEvent, Space};
use crate::trace::Trace;
use schedulers::{Call, StreamId};

/// Something that changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// The handshake was complete.
    Established,
    /// Bytes of a stream went, up to this offset.
    Frame { stream: u64, end: u64, bytes: u64 },
    /// A packet went of which only the size is known.
    Packet { bytes: u64 },
    /// `in_flight_bytes`, where the log does not say it.
    InFlight { bytes: u64 },
    /// The congestion window, the bytes in flight and the round-trip time, as far as an event says them.
    Sample { place: usize },
    /// The connection's limit.
    Limit { bytes: u64 },
    /// A stream's limit.
    StreamLimit { stream: u64, bytes: u64 },
    /// The application wrote up to this offset.
    Written { stream: u64, end: u64 },
    /// A request came.
    Requested { stream: u64 },
    /// The scheduler was told that a stream has bytes, or none.
    Ready { stream: u64, is_ready: bool },
    /// Bytes were charged to a stream.
    Charged { stream: u64, bytes: u64 },
    /// Lost bytes wait to be sent again.
    Lost,
    /// They were sent again.
    Repaired,
}

/// All moments of the same time together, in order.
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
        while let Some((_, moment)) = all.next_if(|it| it.0 == time_us) {
            together.push(moment);
        }
        Some((time_us, together))
    })
}

fn sent(trace: &Trace) -> Vec<(u64, Moment)> {
    let frames = &trace.timeline.frames;
    if frames.is_empty() {
        let sent = trace.packets_of(PacketEvent::Sent);
        let packet = |bytes: u32| Moment::Packet { bytes: bytes.into() };
        return sent.map(|it| (it.time_us, packet(it.bytes))).collect();
    }
    let frame = |it: &crate::assembly::StreamFrame| {
        let end = it.offset.saturating_add(it.bytes);
        (it.time_us, Moment::Frame { stream: it.stream, end, bytes: it.bytes })
    };
    frames.iter().map(frame).collect()
}

/// Bytes that were sent again waited since packets were last declared lost.
fn repairs(trace: &Trace) -> Vec<(u64, Moment)> {
    let lost = trace.packets_of(PacketEvent::Lost);
    let lost_us: Vec<u64> = lost.map(|it| it.time_us).collect();
    let mut farthest = std::collections::BTreeMap::<u64, u64>::new();
    let mut repairs = Vec::new();
    for frame in &trace.timeline.frames {
        let farthest = farthest.entry(frame.stream).or_default();
        let end = frame.offset.saturating_add(frame.bytes);
        if end <= *farthest && frame.bytes > 0 {
            let place = lost_us.partition_point(|it| *it <= frame.time_us);
            if let Some(&since_us) = place.checked_sub(1).and_then(|it| lost_us.get(it)) {
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
    if trace.samples().iter().all(|it| it.bytes_in_flight.is_none()) {
        all.extend(in_flight(trace));
    }
    all
}

/// What was sent and neither acknowledged nor declared lost. Without a number a packet is not counted.
fn in_flight(trace: &Trace) -> Vec<(u64, Moment)> {
    let of_frames = trace.packets.iter().flat_map(|it| &it.of_frames);
    let mut with_data: Vec<usize> = of_frames.map(|it| *it as usize).collect();
    with_data.dedup();
    let mut with_data = with_data.into_iter().peekable();
    let mut outstanding = std::collections::BTreeMap::<u64, u32>::new();
    let (mut sum, mut all) = (0_u64, Vec::new());
    let packets = trace.packets().iter().enumerate();
    for (place, packet) in packets.filter(|it| it.1.space == Space::Application) {
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
    let moment = |call: &Call| match *call {
        Call::SetReady(StreamId(stream), is_ready) => Some(Moment::Ready { stream, is_ready }),
        Call::Close(StreamId(stream)) => Some(Moment::Ready { stream, is_ready: false }),
        Call::Sent(StreamId(stream), bytes) => Some(Moment::Charged { stream, bytes }),
        Call::Start { .. } | Call::Open(..) | Call::Signal(_) | Call::Pick(_) => None,
    };
    let calls = trace.scheduler_calls().iter();
    calls.filter_map(|it| Some((it.time_us, moment(it.call.as_ref().ok()?)?))).collect()
}
