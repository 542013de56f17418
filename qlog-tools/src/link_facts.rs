//! What a client's log says about the link over which it was written.

use crate::timeline::Transfer;
use crate::trace::{Packet, PacketEvent, Space, Trace};
use std::collections::BTreeSet;

/// A link, as far as the log of its client shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkFacts {
    /// The least round trip in milliseconds: of an acknowledgement, or of a request and the first byte of its response.
    pub round_trip_ms: f64,
    /// The longest round trip less the least, in milliseconds: how long datagrams waited in queues.
    pub queued_ms: f64,
    /// Bits of UDP payload a second that came while the link was busy.
    pub rate: f64,
    /// The share of the server's packets that never came; `None`: the log does not number them.
    pub loss: Option<f64>,
}

/// Packets of a window over which a rate is measured, at most.
const WINDOW: usize = 32;

/// The bytes of a packet beside those of its STREAM frame, where the log has frames only: header, tag and frame header.
const OVERHEAD_BYTES: u64 = 35;

impl LinkFacts {
    /// Reads a log with all details ([`crate::trace::Detail::Full`]). `None`: too little came.
    pub fn of(trace: &Trace) -> Option<Self> {
        let (round_trip_ms, longest_ms) = round_trips_ms(trace)?;
        Some(Self {
            round_trip_ms,
            queued_ms: longest_ms - round_trip_ms,
            rate: rate(&arrivals(trace))?,
            loss: loss(&trace.packets),
        })
    }
}

/// The least and the longest round trip.
fn round_trips_ms(trace: &Trace) -> Option<(f64, f64)> {
    let measured = trace.recovery.iter().filter_map(|it| it.latest_rtt_ms);
    let to_first_byte = |it: &Transfer| {
        let first_us = trace.stream(it.stream)?.first_us;
        Some(first_us.checked_sub(it.requested_us)? as f64 / 1000.0)
    };
    let answered = || trace.timeline.transfers.iter().filter_map(to_first_byte);
    let is_real = |it: &f64| *it > 0.0;
    let least = measured.clone().filter(is_real).min_by(f64::total_cmp);
    let least = least.or_else(|| answered().filter(is_real).min_by(f64::total_cmp))?;
    Some((least, measured.fold(least, f64::max)))
}

/// The time in microseconds and the bytes of each datagram that came after the handshake, of a log with all details.
pub fn arrivals(trace: &Trace) -> Vec<(u64, u64)> {
    let came = trace.packets.iter().filter(|it| it.event == PacketEvent::Received);
    let sized = came.filter(|it| it.space == Space::Application && it.bytes > 0);
    let packets: Vec<(u64, u64)> = sized.map(|it| (it.time_us, it.bytes.into())).collect();
    if !packets.is_empty() {
        return packets;
    }
    trace.timeline.frames.iter().map(|it| (it.time_us, it.bytes + OVERHEAD_BYTES)).collect()
}

/// What nine of ten windows do not exceed: a busy link makes all windows alike, and an idle one makes some slower.
fn rate(arrivals: &[(u64, u64)]) -> Option<f64> {
    let length = WINDOW.min(arrivals.len() / 4).max(2);
    let of_window = |window: &[(u64, u64)]| {
        let (first_us, last_us) = (window.first()?.0, window.last()?.0);
        let bytes: u64 = window.iter().skip(1).map(|it| it.1).sum();
        (last_us > first_us).then(|| bytes as f64 * 8e6 / (last_us - first_us) as f64)
    };
    let mut rates: Vec<f64> = arrivals.windows(length).filter_map(of_window).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() * 9 / 10).or(rates.last()).copied()
}

/// The share of packet numbers below the largest that never came.
fn loss(packets: &[Packet]) -> Option<f64> {
    let came = packets.iter().filter(|it| it.event == PacketEvent::Received);
    let numbers: BTreeSet<u64> =
        came.filter(|it| it.space == Space::Application).filter_map(|it| it.number).collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    let sent = last - first + 1;
    Some(1.0 - numbers.len() as f64 / sent as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::RecoverySample;

    fn came(number: u64, time_us: u64) -> Packet {
        Packet {
            time_us,
            event: PacketEvent::Received,
            space: Space::Application,
            number: Some(number),
            bytes: 1250,
        }
    }

    #[test]
    fn a_busy_link_shows_its_rate_and_an_idle_moment_does_not_count() {
        // 1250 bytes a millisecond are 10 Mbit/s.
        let first = (0..100).map(|it| came(it, it * 1000));
        let later = (0..100).map(|it| came(100 + it, 500_000 + it * 1000));
        let sample =
            |latest| RecoverySample { latest_rtt_ms: Some(latest), ..RecoverySample::default() };
        let trace = Trace {
            packets: first.chain(later).collect(),
            recovery: vec![sample(50.0), sample(80.0), sample(40.0)],
            ..Trace::default()
        };
        let facts = LinkFacts::of(&trace).expect("enough");
        let expected =
            LinkFacts { round_trip_ms: 40.0, queued_ms: 40.0, rate: 10_000_000.0, loss: Some(0.0) };
        assert_eq!(facts, expected);
    }

    #[test]
    fn numbers_that_never_came_are_losses() {
        let packets: Vec<Packet> =
            (0..100).filter(|it| it % 10 != 5).map(|it| came(it, it * 1000)).collect();
        let lost = loss(&packets).expect("numbered");
        assert!((lost - 0.1).abs() < 1e-9, "{lost}");
    }
}
