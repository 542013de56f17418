//! Bytes of packets over time: sent, acknowledged, lost, and the limits of the windows.

use std::collections::BTreeMap;

use crate::packet::{PacketEvent, Space};
use crate::trace::Trace;

/// The names of [`curves`], in their order.
pub const CURVES: [&str; 5] = [
    "sent",
    "acknowledged",
    "lost",
    "allowed by the congestion window",
    "allowed by the connection's flow control",
];

/// Cumulative bytes of packets, and the limits of the windows, in the order of [`CURVES`]: time on the log's clock, and bytes;
/// empty if not logged. The log must have been read with [`qlog_tools::trace::Detail::Full`].
pub fn curves(trace: &Trace) -> [Vec<(u64, u64)>; CURVES.len()] {
    let [sent, acknowledged, lost] = packet_sums(trace);
    if sent.is_empty() {
        // Neither is a limit.
        return Default::default();
    }
    let fresh = fresh(trace);
    let mut window = Vec::new();
    let (mut window_bytes, mut in_flight_bytes) = (None, None);
    for sample in trace.samples() {
        window_bytes = sample.congestion_window_bytes.or(window_bytes);
        in_flight_bytes = sample.bytes_in_flight.or(in_flight_bytes);
        if let (Some(window_bytes), Some(in_flight)) = (window_bytes, in_flight_bytes) {
            let sent_bytes = at(&sent, sample.time_us);
            let edge = sent_bytes.saturating_add(window_bytes).saturating_sub(in_flight);
            window.push((sample.time_us, edge));
        }
    }
    // Packets have more bytes than their streams. Only the distance to the limit is exact, and so the place where both meet.
    let limits = trace.flow_control.as_ref().map_or(&[][..], |it| &it.connection);
    let mut times_us: Vec<u64> = sent.iter().chain(limits).map(|point| point.0).collect();
    times_us.sort_unstable();
    let mut limit = Vec::with_capacity(times_us.len());
    for time_us in times_us {
        let known = limits.partition_point(|it| it.0 <= time_us);
        if let Some((_, limit_bytes)) = limits[..known].last() {
            let left_bytes = limit_bytes.saturating_sub(at(&fresh, time_us));
            limit.push((time_us, at(&sent, time_us).saturating_add(left_bytes)));
        }
    }
    [sent, acknowledged, lost, window, limit]
}

/// Sent, acknowledged and lost bytes.
fn packet_sums(trace: &Trace) -> [Vec<(u64, u64)>; 3] {
    let [mut sent, mut acknowledged, mut lost] = [const { Vec::new() }; 3];
    let mut under_way: BTreeMap<(Space, u64), u32> = BTreeMap::new();
    for packet in trace.packets() {
        let known = packet.number.map(|it| (packet.space, it));
        let sent_bytes = known.and_then(|it| under_way.get(&it)).copied();
        let known_bytes = sent_bytes.unwrap_or(packet.bytes);
        match packet.event {
            PacketEvent::Sent => {
                add(&mut sent, packet.time_us, packet.bytes);
                under_way.extend(known.map(|it| (it, packet.bytes)));
            }
            PacketEvent::Acknowledged => {
                add(&mut acknowledged, packet.time_us, known_bytes);
                known.and_then(|it| under_way.remove(&it));
            }
            PacketEvent::Lost => add(&mut lost, packet.time_us, known_bytes),
            PacketEvent::Received => {}
        }
    }
    [sent, acknowledged, lost].map(|sums| {
        // Packets without sizes: quiche counts lost packets, and others log no sizes.
        let is_sized = sums.last().is_some_and(|(_, bytes)| *bytes > 0);
        if is_sized { sums } else { Vec::new() }
    })
}

fn add(sums: &mut Vec<(u64, u64)>, time_us: u64, bytes: u32) {
    let sum = sums.last().map_or(0, |it| it.1).saturating_add(bytes.into());
    sums.push((time_us, sum));
}

/// The stream bytes that count for the connection's flow control, over time.
pub(crate) fn fresh(trace: &Trace) -> Vec<(u64, u64)> {
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

fn at(sums: &[(u64, u64)], time_us: u64) -> u64 {
    let place = sums.partition_point(|it| it.0 <= time_us);
    place.checked_sub(1).map_or(0, |it| sums[it].1)
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
            is_ack_eliciting: false,
            is_mtu_probe: false,
        };
        let packets = [
            packet(1, PacketEvent::Sent, Some(1), 1200),
            packet(2, PacketEvent::Sent, Some(2), 800),
            packet(5, PacketEvent::Acknowledged, Some(2), 0),
            packet(6, PacketEvent::Lost, Some(1), 0),
            // quiche counts the lost bytes without naming packets.
            packet(7, PacketEvent::Lost, None, 500),
        ];
        let trace = Trace { packets: Some(packets.into_iter().collect()), ..Trace::default() };
        let [sent, acknowledged, lost] = packet_sums(&trace);
        assert_eq!(sent, [(1, 1200), (2, 2000)]);
        assert_eq!(acknowledged, [(5, 800)]);
        assert_eq!(lost, [(6, 1200), (7, 1700)]);
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
                is_ack_eliciting: false,
                is_mtu_probe: false,
            };
            let packets = [
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
            let packets = Some(packets.into_iter().collect());
            Trace { packets, recovery: Some([window].into_iter().collect()), ..Trace::default() }
        };
        let names = |trace: Trace| {
            let shown = CURVES.into_iter().zip(curves(&trace));
            shown.filter(|it| !it.1.is_empty()).map(|it| it.0).collect::<Vec<_>>()
        };
        assert_eq!(names(log(1200)), ["sent", "acknowledged", "allowed by the congestion window"]);
        assert_eq!(names(log(0)), [""; 0]);
    }
}
