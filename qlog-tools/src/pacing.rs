//! When a sender's packets were sent and acknowledged, as distributions.

use serde::Serialize;

use crate::distribution::Distribution;
use crate::link_facts::is_within;
use crate::packet::{PacketEvent, Space};
use crate::trace::{Ack, Trace};

/// Packets sent at most this long after the preceding one belong to one burst: no pacer waits so briefly.
const BURST_US: u64 = 100;

/// How a sender's ack-eliciting packets were spread over the time in which it had data to send.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Pacing {
    /// From one packet to the next, in milliseconds.
    pub gaps_ms: Option<Distribution>,
    /// Packets per burst: packets sent at most 0.1 ms after the preceding one.
    pub burst_packets: Option<Distribution>,
    /// Bytes per burst, if logged.
    pub burst_bytes: Option<Distribution>,
}

/// The ACK frames for a sender's 1-RTT packets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Acknowledgements {
    /// The number of frames.
    pub frames: u64,
    /// From one to the next, in milliseconds.
    pub intervals_ms: Option<Distribution>,
    /// The delays that the other end reports, in milliseconds.
    pub delays_ms: Option<Distribution>,
    /// The number of packets that each acknowledged for the first time.
    pub packets: Option<Distribution>,
    /// The number of ranges in each: more than one shows holes.
    pub ranges: Option<Distribution>,
    /// The number of packets with each ECN mark, from the last frame with counts.
    pub ecn: Option<EcnCounts>,
}

/// Packets by their ECN mark on arrival (RFC 9000, section 13.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// Congestion experienced.
    pub ce: u64,
}

impl Pacing {
    /// The pacing of a sender that had data to send in these intervals, which are in order and disjoint.
    pub(crate) fn of(sender: &Trace, working: &[(u64, u64)]) -> Self {
        let sent = sender.packets_of(PacketEvent::Sent);
        let sent = sent.filter(|it| it.space == Space::Application && it.is_ack_eliciting);
        let (mut gaps_ms, mut bursts) = (Vec::new(), Vec::<(u64, u64)>::new());
        let mut before_us = None;
        for packet in sent.filter(|it| is_within(working, it.time_us, it.time_us)) {
            let gap_us = before_us.map(|it| packet.time_us.saturating_sub(it));
            let is_next = before_us.is_some_and(|it| is_within(working, it, packet.time_us));
            if let Some(gap_us) = gap_us.filter(|_| is_next) {
                gaps_ms.push(gap_us as f64 / 1000.0);
            }
            match bursts.last_mut() {
                Some(burst) if gap_us.is_some_and(|it| it <= BURST_US) => {
                    burst.0 += 1;
                    burst.1 += u64::from(packet.bytes);
                }
                _ => bursts.push((1, packet.bytes.into())),
            }
            before_us = Some(packet.time_us);
        }
        let burst_bytes = bursts.iter().map(|it| it.1 as f64).filter(|it| *it > 0.0);
        Self {
            gaps_ms: Distribution::of(gaps_ms),
            burst_bytes: Distribution::of(burst_bytes.collect()),
            burst_packets: Distribution::of(bursts.iter().map(|it| it.0 as f64).collect()),
        }
    }
}

impl Acknowledgements {
    /// `None`: no ACK frame arrived.
    pub(crate) fn of(sender: &Trace) -> Option<Self> {
        let acks = &sender.recovery_events.acks;
        let each = |value: fn(&Ack) -> Option<f64>| {
            Distribution::of(acks.iter().filter_map(value).collect())
        };
        let intervals_ms =
            acks.windows(2).map(|it| it[1].time_us.saturating_sub(it[0].time_us) as f64 / 1000.0);
        let ecn = sender.recovery_events.ecn;
        (!acks.is_empty()).then(|| Self {
            frames: acks.len() as u64,
            intervals_ms: Distribution::of(intervals_ms.collect()),
            delays_ms: each(|it| it.delay_ms),
            packets: each(|it| Some(it.fresh as f64)),
            ranges: each(|it| Some(it.ranges as f64)),
            ecn: ecn.map(|[ect0, ect1, ce]| EcnCounts { ect0, ect1, ce }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    #[test]
    fn packets_within_a_tenth_of_a_millisecond_are_a_burst_and_idle_time_is_no_gap() {
        let packet = |time_us| Packet {
            time_us,
            event: PacketEvent::Sent,
            space: Space::Application,
            number: None,
            bytes: 1200,
            is_ack_eliciting: true,
            is_mtu_probe: false,
        };
        let times_us = [1000, 1050, 1100, 3000, 3100, 9000, 9900];
        let packets = times_us.map(packet).into_iter().collect();
        let sender = Trace { packets: Some(packets), ..Trace::default() };
        let pacing = Pacing::of(&sender, &[(500, 4000), (8000, 9500)]);
        let of = |it: Option<Distribution>| it.map(|it| (it.count, it.least, it.most));
        assert_eq!(of(pacing.gaps_ms), Some((4, 0.05, 1.9)), "not that from 3.1 to 9 ms");
        assert_eq!(of(pacing.burst_packets), Some((3, 1.0, 3.0)));
        assert_eq!(of(pacing.burst_bytes), Some((3, 1200.0, 3600.0)));
    }

    #[test]
    fn each_frame_says_its_delay_its_ranges_and_what_it_acknowledges_anew() {
        let ack = |time_us, delay_ms, ranges, fresh| Ack {
            time_us,
            delay_ms,
            ranges,
            fresh,
            is_newest: true,
            samples_before: 0,
        };
        let mut sender = Trace::default();
        assert_eq!(Acknowledgements::of(&sender), None);
        let events = &mut sender.recovery_events;
        events.acks = vec![ack(0, Some(2.0), 1, 2), ack(7000, None, 3, 0)];
        events.ecn = Some([5, 0, 1]);
        let found = Acknowledgements::of(&sender).expect("two");
        let of = |it: Option<Distribution>| it.map(|it| (it.count, it.least, it.most));
        assert_eq!((found.frames, of(found.intervals_ms)), (2, Some((1, 7.0, 7.0))));
        assert_eq!(of(found.delays_ms), Some((1, 2.0, 2.0)));
        assert_eq!(
            (of(found.packets), of(found.ranges)),
            (Some((2, 0.0, 2.0)), Some((2, 1.0, 3.0)))
        );
        assert_eq!(found.ecn, Some(EcnCounts { ect0: 5, ect1: 0, ce: 1 }));
    }
}
