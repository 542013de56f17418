//! Logs of one side of a connection that tell the same: copies, and parts of one log.

use std::collections::{BTreeMap, BTreeSet};

use crate::packet::{PacketEvent, Space};
use crate::trace::{Trace, Vantage};

/// Times in two copies differ by no more, apart from their clocks: they were rounded.
const ROUNDED_US: i64 = 2;

/// How two logs have the same packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    /// All of the second one's: it tells nothing new.
    All,
    /// Some: both are parts of one log.
    Some,
}

/// The packets of a log.
struct Packets {
    /// Time and size of each.
    of: BTreeMap<(bool, Space, u64), (i64, u32)>,
    /// Packet, stream, offset and bytes of each STREAM frame.
    frames: BTreeSet<(u64, u64, u64, u64)>,
}

impl Packets {
    fn of(trace: &Trace) -> Self {
        let mut of = BTreeMap::new();
        for event in [PacketEvent::Sent, PacketEvent::Received] {
            for packet in trace.packets_of(event) {
                let time_us = i64::try_from(packet.time_us).unwrap_or(i64::MAX);
                let key = packet.number.map(|it| (event == PacketEvent::Sent, packet.space, it));
                of.extend(key.map(|it| (it, (time_us, packet.bytes))));
            }
        }
        let frames = trace
            .arrivals
            .iter()
            .filter_map(|(frame, packet)| Some((packet?, frame.stream, frame.offset, frame.bytes)));
        Self { of, frames: frames.collect() }
    }
}

/// The packets that the logs of one side have in common, if the logs agree in them: their times differ by the clocks alone, and they have
/// the same stream bytes. Two runs of a simulation may have the same IDs, sizes and numbers.
pub(crate) fn common(one: &Trace, other: &Trace) -> Option<Common> {
    if one.vantage != other.vantage {
        return None;
    }
    // The same file again; without numbers of packets, nothing else shows that.
    if !one.file.is_empty() && (&one.file, one.number) == (&other.file, other.number) {
        let is_same = one.counts == other.counts
            && one.arrivals == other.arrivals
            && one.timeline.transfers == other.timeline.transfers;
        return is_same.then_some(Common::All);
    }
    let sends = one.vantage == Vantage::Server;
    let [one, other] = [one, other].map(Packets::of);
    let in_both: Vec<_> =
        other.of.iter().filter_map(|(key, it)| Some((key, *it, *one.of.get(key)?))).collect();
    let shifts_us = in_both.iter().map(|(_, it, first)| it.0.saturating_sub(first.0));
    let (least_us, most_us) = (shifts_us.clone().min()?, shifts_us.max()?);
    let agrees = most_us.saturating_sub(least_us) <= ROUNDED_US
        && in_both.iter().all(|(_, it, first)| it.1 == first.1);
    let of_data = in_both.iter().filter(|it| (it.0.0, it.0.1) == (sends, Space::Application));
    let numbers: BTreeSet<u64> = of_data.map(|(key, ..)| key.2).collect();
    let is_common = |it: &&(u64, u64, u64, u64)| numbers.contains(&it.0);
    let frames = [&one, &other].map(|it| it.frames.iter().filter(is_common));
    let [first, second] = frames;
    if !agrees || !first.eq(second) {
        return None;
    }
    Some(if in_both.len() == other.of.len() { Common::All } else { Common::Some })
}
