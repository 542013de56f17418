//! The rate of a path, as far as packets show that they had to wait for one another on it. Without that, the sender sent no more, and the path
//! may carry more than was seen.

use std::collections::BTreeMap;

use super::measures::{PathBasis, round_trips};
use super::queue::reports_delays;
use crate::distribution::place;
use crate::link_facts::arrivals;
use crate::packet::{Packet, PacketEvent, Space};
use crate::saturating_cast::to_u64;
use crate::trace::{Trace, Vantage};

/// The most steps from one packet to the next over which a rate is measured.
const WINDOW: usize = 31;
/// The fewest: a burst at the beginning of a connection has about as many.
const SHORTEST: usize = 8;
/// The granularity of clocks.
const CLOCK_US: u64 = 1000;
/// The least time over which the rate is measured that was seen: long enough for coarse clocks.
const INTERVAL_US: u64 = 20_000;
/// A wait counts from this part of the least round trip on, because packets that wait for nothing do not take equally long.
const PART_OF_ARRIVALS: u64 = 8;
/// The same if acknowledgements show it, whose times also vary with the way back and with the receiver.
const PART_OF_ACKNOWLEDGEMENTS: u64 = 4;

/// Rates in bit/s, and their source.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PathRate {
    /// The path's rate; `None`: the logs do not show that packets waited for one another on it.
    pub(super) path: Option<f64>,
    /// Nine of ten intervals of some 20 ms had no higher one.
    pub(super) seen: Option<f64>,
    pub(super) basis: Option<PathBasis>,
}

impl PathRate {
    /// `log` is the receiver's or, without one, the sender's.
    pub(super) fn of(log: &Trace, sender: &Trace) -> Self {
        let is_receivers = log.vantage != Vantage::Server;
        let seen = is_receivers.then(|| at_the_busiest(arrivals(log))).flatten();
        let least_rtt_us = round_trips(sender).into_iter().map(|it| to_u64(it.1 * 1000.0)).min();
        let queued_us = |part: u64| signed(least_rtt_us.unwrap_or_default() / part + CLOCK_US);
        if seen.is_some() {
            let path = when_queued(&arrived(sender, log), queued_us(PART_OF_ARRIVALS));
            return Self { path, seen, basis: Some(PathBasis::Arrivals) };
        }
        let all = acknowledged(sender);
        let came: Vec<(u64, u64)> =
            all.iter().filter_map(|it| Some((u64::try_from(it.came_us).ok()?, it.bytes))).collect();
        // A slow receiver looks like a queue.
        let all = if reports_delays(sender) { all } else { Vec::new() };
        let path = when_queued(&all, queued_us(PART_OF_ACKNOWLEDGEMENTS));
        let seen = at_the_busiest(came);
        Self { path, seen, basis: seen.map(|_| PathBasis::Acknowledgements) }
    }
}

/// A packet that reached the other end, or all that an acknowledgement reports with it. Times are in microseconds, each on the clock of its
/// log.
#[derive(Debug, Clone, Copy)]
struct Passed {
    sent_us: i64,
    came_us: i64,
    bytes: u64,
}

fn of_data(trace: &Trace, event: PacketEvent) -> impl Iterator<Item = &Packet> {
    trace.packets_of(event).filter(|it| it.space == Space::Application)
}

/// The time and the bytes of the packets that were sent, by number.
fn sent(sender: &Trace) -> BTreeMap<u64, (u64, u64)> {
    let sent = of_data(sender, PacketEvent::Sent);
    sent.filter_map(|it| Some((it.number?, (it.time_us, it.bytes.into())))).collect()
}

/// The sender's packets in the order of their arrival. Without packets in its log, there are none.
fn arrived(sender: &Trace, receiver: &Trace) -> Vec<Passed> {
    let sent = sent(sender);
    let came = of_data(receiver, PacketEvent::Received);
    came.filter_map(|it| {
        let &(sent_us, bytes) = sent.get(&it.number?)?;
        Some(Passed { sent_us: signed(sent_us), came_us: signed(it.time_us), bytes })
    })
    .collect()
}

/// The packets that were acknowledged, without the delays of the acknowledgements. Each acknowledgement of a packet above all earlier ones
/// is a measurement: others are for packets that came before.
fn acknowledged(sender: &Trace) -> Vec<Passed> {
    let sent = sent(sender);
    let acks = sender.recovery_events.acks.iter().filter(|it| it.is_newest);
    let delays_us: BTreeMap<u64, u64> =
        acks.map(|it| (it.time_us, to_u64(it.delay_ms.unwrap_or_default() * 1000.0))).collect();
    let came: Vec<&Packet> = of_data(sender, PacketEvent::Acknowledged).collect();
    let (mut passed, mut bytes) = (Vec::new(), 0);
    for group in came.chunk_by(|one, other| one.time_us == other.time_us) {
        let time_us = group[0].time_us;
        let known = group.iter().filter_map(|it| Some((it.number?, *sent.get(&it.number?)?)));
        bytes += known.clone().map(|it| it.1.1).sum::<u64>();
        let newest = known.max_by_key(|it| it.0);
        if let (Some((_, (sent_us, _))), Some(delay_us)) = (newest, delays_us.get(&time_us)) {
            let came_us = signed(time_us) - signed(*delay_us);
            passed.push(Passed { sent_us: signed(sent_us), came_us, bytes });
            bytes = 0;
        }
    }
    passed
}

/// The rate that a tenth of the intervals exceeded; each is as short as its packets allow, but long enough. Of times and bytes.
fn at_the_busiest(mut came: Vec<(u64, u64)>) -> Option<f64> {
    came.sort_unstable();
    let (mut rates, mut last, mut bytes) = (Vec::new(), 0, 0);
    for (first, &(from_us, _)) in came.iter().enumerate() {
        while last + 1 < came.len() && (last <= first || came[last].0 - from_us < INTERVAL_US) {
            last += 1;
            bytes += came[last].1;
        }
        let us = came[last].0.saturating_sub(from_us);
        if us >= INTERVAL_US {
            rates.push(bytes as f64 * 8e6 / us as f64);
        }
        bytes = bytes.saturating_sub(came.get(first + 1).map_or(0, |it| it.1));
    }
    rates.sort_by(f64::total_cmp);
    rates.get(place(rates.len(), 90)).copied()
}

fn signed(us: u64) -> i64 {
    i64::try_from(us).unwrap_or(i64::MAX / 4)
}

/// The usual rate of consecutive packets each of which, as fast as the fastest, could have come at least `queued_us` before the preceding one:
/// so it had to wait.
fn when_queued(passed: &[Passed], queued_us: i64) -> Option<f64> {
    let least_us = passed.iter().map(|it| it.came_us - it.sent_us).min()?;
    let mut runs: Vec<Vec<(i64, u64)>> = vec![Vec::new()];
    for pair in passed.windows(2) {
        let [before, next] = [pair[0], pair[1]];
        if next.sent_us + least_us + queued_us <= before.came_us {
            runs.last_mut()?.push((next.came_us - before.came_us, next.bytes));
        } else if runs.last().is_some_and(|it| !it.is_empty()) {
            runs.push(Vec::new());
        }
    }
    let longest = runs.iter().map(Vec::len).max()?;
    if longest < SHORTEST {
        return None;
    }
    let windows = runs.iter().flat_map(|it| it.windows(longest.min(WINDOW)));
    let sums = windows
        .map(|steps| steps.iter().fold((0, 0), |(us, bytes), step| (us + step.0, bytes + step.1)));
    let timed = sums.filter(|(us, _)| *us > 0);
    let mut rates: Vec<f64> = timed.map(|(us, bytes)| bytes as f64 * 8e6 / us as f64).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(place(rates.len(), 50)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends' logs of packets of 1250 bytes: when each was sent, and when it came.
    fn logs(times_us: impl Iterator<Item = (u64, u64)>) -> [Trace; 2] {
        let packet = |event, number, time_us| Packet {
            time_us,
            event,
            space: Space::Application,
            number: Some(number),
            bytes: 1250,
            is_ack_eliciting: true,
            is_mtu_probe: false,
        };
        let (mut sent, mut came) = (Vec::new(), Vec::new());
        for (number, (sent_us, came_us)) in (0..).zip(times_us) {
            sent.push(packet(PacketEvent::Sent, number, sent_us));
            came.push(packet(PacketEvent::Received, number, came_us));
        }
        let log = |vantage, packets: Vec<Packet>| Trace {
            vantage,
            packets: Some(packets.into_iter().collect()),
            ..Trace::default()
        };
        [log(Vantage::Client, came), log(Vantage::Server, sent)]
    }

    /// The rates of the path and at the busiest, in Mbit/s.
    fn rates([client, server]: &[Trace; 2]) -> [Option<f64>; 2] {
        let PathRate { path, seen, .. } = PathRate::of(client, server);
        [path, seen].map(|it| it.map(|it| (it / 1e5).round() / 10.0))
    }

    #[test]
    fn a_queue_shows_the_rate_of_a_path() {
        // Twice as fast as the path, which takes a millisecond for each.
        let full = logs((0..100).map(|it| (it * 500, 20_000 + it * 1000)));
        assert_eq!(rates(&full), [Some(10.0), Some(10.0)]);
        let receiver = [full[0].clone(), full[0].clone()];
        assert_eq!(rates(&receiver), [None, Some(10.0)], "a client's log alone does not show it");
    }

    #[test]
    fn a_sender_that_never_fills_the_path_does_not_show_its_rate() {
        // A packet every 5 ms, and each takes as long as the others, give or take a clock's millisecond.
        let apart = logs((0..100).map(|it| (it * 5000, 20_000 + it * 5000 + it % 2 * 900)));
        assert_eq!(rates(&apart), [None, Some(2.0)]);
        // A window of six packets for each round trip of 50 ms.
        let windows = logs((0..96).map(|it| (it / 6 * 50_000, 20_000 + it / 6 * 50_000 + it % 6)));
        assert_eq!(rates(&windows), [None, Some(1.2)]);
    }
}
