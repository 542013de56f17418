//! Derives facts about a link from a client's log.

use crate::assembly::StreamFrame;
use crate::packet::{PacketEvent, Space};
use crate::trace::{StreamRole, StreamSummary, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A link, as far as its client's log shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkFacts {
    /// The minimum round trip in milliseconds: of an acknowledgement, or from a request to the first byte of its response.
    pub round_trip_ms: f64,
    /// The longest round trip minus the minimum, in milliseconds: the time in queues.
    pub queued_ms: f64,
    /// Bits of UDP payload per second that arrived while the link was busy.
    pub rate: f64,
    /// The share of the server's packets that were lost, according to the log; `None` if it does not show that.
    pub loss: Option<f64>,
}

/// The most packets of a window over which a rate is measured.
const WINDOW: usize = 32;

/// The bytes of a packet besides its STREAM frame's, if the log has only frames: header, tag and frame header.
const OVERHEAD_BYTES: u64 = 35;

impl LinkFacts {
    /// Derives the facts from a log with all details ([`crate::trace::Detail::Full`]). `None`: too little arrived.
    pub fn of(trace: &Trace) -> Option<Self> {
        let (round_trip_ms, longest_ms) = round_trips_ms(trace)?;
        Some(Self {
            round_trip_ms,
            queued_ms: longest_ms - round_trip_ms,
            rate: rate(&arrivals(trace), &busy(trace))?,
            loss: loss(trace),
        })
    }
}

/// The minimum and the longest round trip.
fn round_trips_ms(trace: &Trace) -> Option<(f64, f64)> {
    let measured = trace.samples().iter().filter_map(|it| it.latest_rtt_ms);
    let answered = trace.timeline.transfers.iter().filter_map(|transfer| {
        let first_us = trace.stream(transfer.stream)?.first_us;
        Some(first_us.checked_sub(transfer.requested_us)? as f64 / 1000.0)
    });
    let least = least_above_0(measured.clone()).or_else(|| least_above_0(answered))?;
    Some((least, measured.fold(least, f64::max)))
}

fn least_above_0(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.filter(|it| *it > 0.0).min_by(f64::total_cmp)
}

/// The time in microseconds and the size of each datagram that arrived after the handshake, from a log with all details.
pub fn arrivals(trace: &Trace) -> Vec<(u64, u64)> {
    let came = trace.packets_of(PacketEvent::Received);
    let sized = came.filter(|it| it.space == Space::Application && it.bytes > 0);
    let packets: Vec<(u64, u64)> = sized.map(|it| (it.time_us, it.bytes.into())).collect();
    if !packets.is_empty() {
        return packets;
    }
    trace.timeline.frames.iter().map(|it| (it.time_us, it.bytes + OVERHEAD_BYTES)).collect()
}

/// The intervals in which a response was in progress, in order and disjoint.
pub(crate) fn busy(trace: &Trace) -> Vec<(u64, u64)> {
    let is_response =
        |it: &&StreamSummary| matches!(it.role, StreamRole::Request | StreamRole::Push);
    let each = trace.streams.iter().filter(is_response);
    joined(each.map(|it| (it.first_us, it.complete_us.unwrap_or(it.last_us))).collect())
}

/// The union of intervals: in order and disjoint.
pub(crate) fn joined(mut each: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    // A log's clock may step back.
    each.retain(|it| it.0 < it.1);
    each.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from_us, to_us) in each {
        match joined.last_mut() {
            Some((_, end_us)) if from_us <= *end_us => *end_us = to_us.max(*end_us),
            _ => joined.push((from_us, to_us)),
        }
    }
    joined
}

/// Whether one of these ordered, disjoint intervals contains this one.
pub(crate) fn is_within(times: &[(u64, u64)], from_us: u64, to_us: u64) -> bool {
    let place = times.partition_point(|it| it.0 <= from_us);
    place.checked_sub(1).is_some_and(|last| to_us <= times[last].1)
}

/// The rate that nine of ten windows do not exceed: a busy link makes all windows alike, and an idle one makes some slower. Only time
/// with a response in progress counts, because between short responses a link waits for the next request. If there is no such time, all
/// time counts.
pub(crate) fn rate(arrivals: &[(u64, u64)], busy: &[(u64, u64)]) -> Option<f64> {
    let (mut all, mut within) = (Vec::new(), Vec::new());
    for pair in arrivals.windows(2) {
        let [(from_us, _), (to_us, bytes)] = [pair[0], pair[1]];
        let step = (to_us.saturating_sub(from_us), bytes);
        all.push(step);
        if is_within(busy, from_us, to_us) {
            within.push(step);
        }
    }
    let steps: Vec<(u64, u64)> = if within.is_empty() { all } else { within };
    let length = WINDOW.min((steps.len() + 1) / 4).max(2) - 1;
    let sums = steps.windows(length).map(|window| {
        window.iter().fold((0, 0), |(us, bytes), step| (us + step.0, bytes + step.1))
    });
    let timed = sums.filter(|(us, _)| *us > 0);
    let mut rates: Vec<f64> = timed.map(|(us, bytes)| bytes as f64 * 8e6 / us as f64).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() * 9 / 10).or(rates.last()).copied()
}

/// The share of the server's packets that never came, as far as a client's log shows it. `None`: a packet has no number, records could not be
/// read, or numbers are missing and the log has no STREAM frames.
///
/// A missing number was not necessarily lost, because senders skip some on purpose (RFC 9000, section 21.4), one or several at a time. So it
/// counts only if stream bytes are missing with it.
fn loss(trace: &Trace) -> Option<f64> {
    let numbers = received_numbers(trace)?;
    let mut missing = Missing::between(&numbers);
    if numbers.is_empty() || missing.gaps.is_empty() {
        return (!numbers.is_empty()).then_some(0.0);
    }
    let mut frames: Vec<(u64, StreamFrame)> =
        trace.arrivals.iter().filter_map(|(frame, packet)| Some((packet?, frame))).collect();
    frames.sort_by_key(|(packet, frame)| (*packet, frame.stream, frame.offset));
    let largest = frames.iter().map(|it| it.1.bytes).max().filter(|it| *it > 0)?;
    // The highest offset of each stream, and its packet.
    let mut ends: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (packet, frame) in frames {
        let (end, before) = *ends.entry(frame.stream).or_insert((frame.offset, packet));
        if frame.offset > end {
            missing.had(before, packet, (frame.offset - end).div_ceil(largest));
        }
        let end_here = frame.offset.saturating_add(frame.bytes);
        if end_here >= end {
            ends.insert(frame.stream, (end_here, packet));
        }
    }
    Some(missing.lost as f64 / missing.lost.saturating_add(numbers.len() as u64) as f64)
}

/// The numbers of the 1-RTT packets that a log received. `None`: a packet has no number, or records could not be read. Each of these
/// could be a packet that seems to be missing.
pub(crate) fn received_numbers(trace: &Trace) -> Option<BTreeSet<u64>> {
    if trace.unread_records() > 0 {
        return None;
    }
    let received = trace.packets_of(PacketEvent::Received);
    received.filter(|it| it.space == Space::Application).map(|it| it.number).collect()
}

/// Packet numbers that never arrived.
struct Missing {
    /// Runs of them: by the number before the run, the number after it, and how many of its packets are not known to have had missing
    /// data.
    gaps: BTreeMap<u64, (u64, u64)>,
    lost: u64,
}

impl Missing {
    fn between(numbers: &BTreeSet<u64>) -> Self {
        let mut missing = Self { gaps: BTreeMap::new(), lost: 0 };
        for (&before, &after) in numbers.iter().zip(numbers.iter().skip(1)) {
            let count = after - before - 1;
            if count > 0 {
                missing.gaps.insert(before, (after, count));
            }
        }
        missing
    }

    /// Records that this number of packets between two others had missing stream bytes.
    fn had(&mut self, from: u64, until: u64, mut packets: u64) {
        while packets > 0
            && let Some((&before, &(after, count))) = self.gaps.range(from..).next()
            && after <= until
        {
            self.lost = self.lost.saturating_add(count.min(packets));
            if count > packets {
                self.gaps.insert(before, (after, count - packets));
                return;
            }
            packets -= count;
            self.gaps.remove(&before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::trace::{RecoverySample, StreamSummary};

    fn came(number: u64, time_us: u64) -> Packet {
        Packet {
            time_us,
            event: PacketEvent::Received,
            space: Space::Application,
            number: Some(number),
            bytes: 1250,
            is_ack_eliciting: false,
            is_mtu_probe: false,
        }
    }

    #[test]
    fn a_busy_link_shows_its_rate_and_an_idle_moment_does_not_count() {
        // 1250 bytes per millisecond are 10 Mbit/s.
        let first = (0..100).map(|it| came(it, it * 1000));
        let later = (0..100).map(|it| came(100 + it, 500_000 + it * 1000));
        let sample =
            |latest| RecoverySample { latest_rtt_ms: Some(latest), ..RecoverySample::default() };
        let trace = Trace {
            packets: Some(first.chain(later).collect()),
            recovery: Some([sample(50.0), sample(80.0), sample(40.0)].into_iter().collect()),
            ..Trace::default()
        };
        let facts = LinkFacts::of(&trace).expect("enough");
        let expected =
            LinkFacts { round_trip_ms: 40.0, queued_ms: 40.0, rate: 10_000_000.0, loss: Some(0.0) };
        assert_eq!(facts, expected);
    }

    #[test]
    fn the_time_between_short_responses_does_not_count() {
        // Forty responses of four packets, each 1250 bytes a millisecond, one every 60 ms.
        let packets = (0..160).map(|it| came(it, it / 4 * 60_000 + it % 4 * 1000));
        let stream = |it: u64| StreamSummary {
            stream: 4 * it,
            role: StreamRole::Request,
            first_us: it * 60_000,
            complete_us: Some(it * 60_000 + 3000),
            ..StreamSummary::default()
        };
        let sample = RecoverySample { latest_rtt_ms: Some(50.0), ..RecoverySample::default() };
        let trace = Trace {
            packets: Some(packets.collect()),
            streams: (0..40).map(stream).collect(),
            recovery: Some([sample].into_iter().collect()),
            ..Trace::default()
        };
        let rate = LinkFacts::of(&trace).expect("enough").rate;
        assert!((rate - 10_000_000.0).abs() < 1.0, "{rate}");
        let without_streams = Trace { streams: Vec::new(), ..trace };
        assert!(LinkFacts::of(&without_streams).expect("enough").rate < 1_000_000.0);
    }

    /// The arrivals of a stream whose packet N had its N-th hundred bytes, except for the skipped number 4.
    fn with_numbers(numbers: &[u64]) -> Trace {
        let mut trace = Trace::default();
        for &number in numbers {
            let offset = 100 * if number > 4 { number - 1 } else { number };
            let frame = StreamFrame { time_us: number, stream: 0, offset, bytes: 100 };
            trace.arrivals.push(frame, Some(number));
        }
        trace.packets = Some(numbers.iter().map(|it| came(*it, *it)).collect());
        trace
    }

    #[test]
    fn numbers_that_never_came_are_losses_where_bytes_are_missing_with_them() {
        assert_eq!(loss(&with_numbers(&[0, 1, 2, 3, 5, 6])), Some(0.0), "4 was skipped");
        assert_eq!(loss(&with_numbers(&[0, 1, 3, 5, 6, 8, 9])), Some(2.0 / 9.0), "2 and 7");
        assert_eq!(loss(&with_numbers(&[0, 1, 2, 3, 5, 8])), Some(2.0 / 8.0), "6 and 7");
        // 3, 4 and 5 were skipped: all bytes came.
        let mut skipped = with_numbers(&[0, 1, 2, 3, 5, 6]);
        let numbers = [0, 1, 2, 6, 7, 8];
        let frames = skipped.arrivals.iter().zip(numbers).map(|((frame, _), it)| (frame, Some(it)));
        skipped.arrivals = frames.collect();
        skipped.packets = Some(numbers.iter().map(|it| came(*it, *it)).collect());
        assert_eq!(loss(&skipped), Some(0.0), "several in a row");
        assert_eq!(loss(&Trace::default()), None);
        let without_frames = Trace {
            arrivals: crate::packed_frames::PackedFrames::default(),
            ..with_numbers(&[0, 2])
        };
        assert_eq!(loss(&without_frames), None, "1 may have been skipped");
        let mut unknown = with_numbers(&[0, 1, 2, 3, 5, 8]);
        let packets = [0, 1, 2, 3, 5, 8].map(|it| came(it, it)).into_iter();
        let packets = packets.chain([Packet { number: None, ..came(0, 9) }]);
        unknown.packets = Some(packets.collect());
        assert_eq!((loss(&unknown), received_numbers(&unknown)), (None, None), "it may be 6 or 7");
    }
}
