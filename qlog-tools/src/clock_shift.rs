//! The difference between the clocks of a connection's two logs.

use crate::packet::{PacketEvent, Space};
use crate::trace::Trace;

/// The shift from times of the sender's log to the receiver's clock. It assumes that the minimum delay is the same in both
/// directions, like NTP. Without packet numbers on both sides it uses wall clocks, and without these it assumes that the first
/// requests are simultaneous.
pub fn shift_us(receiver: &Trace, sender: &Trace) -> i64 {
    if let (Some(down_us), Some(up_us)) = least_delays_us(receiver, sender) {
        return down_us.saturating_sub(up_us) / 2;
    }
    if let (Some(here_ms), Some(there_ms)) = (receiver.header.started_ms, sender.header.started_ms)
    {
        #[expect(clippy::cast_possible_truncation, reason = "dates; a cast saturates")]
        return ((there_ms - here_ms) * 1000.0).round() as i64;
    }
    start_us(receiver).saturating_sub(start_us(sender))
}

/// The minimum delays from the sender to the receiver and back, each between two clocks: only their sum is a real duration.
pub(crate) fn least_delays_us(receiver: &Trace, sender: &Trace) -> (Option<i64>, Option<i64>) {
    (least_us(sender, receiver), least_us(receiver, sender))
}

fn start_us(trace: &Trace) -> i64 {
    let start_us = trace.timeline.start_us().unwrap_or_default();
    i64::try_from(start_us).unwrap_or(i64::MAX)
}

/// The minimum difference between a packet's sending and its arrival, each on its own clock.
fn least_us(from: &Trace, to: &Trace) -> Option<i64> {
    delays_us(from, to).into_iter().min()
}

/// The maximum.
pub(crate) fn slowest_us(from: &Trace, to: &Trace) -> Option<i64> {
    delays_us(from, to).into_iter().max()
}

/// How long packets were on their way, between two clocks: only differences of these are real durations.
pub(crate) fn delays_us(from: &Trace, to: &Trace) -> Vec<i64> {
    let mut sent = times(from, PacketEvent::Sent);
    sent.sort_unstable();
    sent.dedup_by_key(|it| it.0);
    let differences = times(to, PacketEvent::Received).into_iter().filter_map(|(packet, at_us)| {
        let place = sent.binary_search_by_key(&packet, |it| it.0).ok()?;
        at_us.checked_sub(sent[place].1)
    });
    differences.collect()
}

fn times(trace: &Trace, event: PacketEvent) -> Vec<((Space, u64), i64)> {
    trace
        .packets_of(event)
        .filter_map(|it| Some(((it.space, it.number?), i64::try_from(it.time_us).ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    fn log(packets: &[(PacketEvent, u64, u64)]) -> Trace {
        let packet = |&(event, number, time_us): &(PacketEvent, u64, u64)| Packet {
            time_us,
            event,
            space: Space::Application,
            number: Some(number),
            bytes: 0,
            is_ack_eliciting: false,
            is_mtu_probe: false,
        };
        Trace { packets: Some(packets.iter().map(packet).collect()), ..Trace::default() }
    }

    #[test]
    fn clocks_are_set_by_the_least_delays_of_both_directions() {
        use PacketEvent::{Received, Sent};
        // The server's clock is 1000 behind; packets take 50, or more in a queue.
        let client = log(&[(Sent, 1, 2000), (Received, 7, 2150), (Received, 8, 2390)]);
        let server = log(&[(Received, 1, 1050), (Sent, 7, 1100), (Sent, 8, 1200)]);
        assert_eq!(shift_us(&client, &server), 1000);
    }

    #[test]
    fn without_common_packets_wall_clocks_count() {
        let mut ends = [log(&[]), log(&[])];
        (ends[0].header.started_ms, ends[1].header.started_ms) = (Some(1.79e12), Some(1.79e12));
        ends[1]
            .timeline
            .transfers
            .push(crate::timeline::Transfer { requested_us: 10_000, ..Default::default() });
        assert_eq!(shift_us(&ends[0], &ends[1]), 0);
        ends[1].header.started_ms = Some(1.79e12 + 2.5);
        assert_eq!(shift_us(&ends[0], &ends[1]), 2500);
    }

    #[test]
    fn without_packet_numbers_the_first_requests_are_one_moment() {
        let with_request = |requested_us| {
            let mut trace = Trace::default();
            let transfer = crate::timeline::Transfer { requested_us, ..Default::default() };
            trace.timeline.transfers.push(transfer);
            trace
        };
        assert_eq!(shift_us(&with_request(500), &with_request(800)), -300);
    }
}
