//! Why bytes of a stream arrived late or twice: lost and retransmitted, retransmitted needlessly, or overtaken in transit.
//!
//! A client's log alone only permits a guess: data that fills a hole counts as retransmitted if its packet has a higher number
//! than the data after the hole. The server's log shows which packets had each byte before. If one of them arrives later, the byte
//! was overtaken, not lost, although a retransmission brought it.

use std::collections::BTreeMap;

use crate::assembly::{Assembly, StreamFrame};
use crate::number_ranges::NumberRanges;
use crate::packed_frames::PackedFrames;
use crate::pairing::other_end;
use crate::trace::{Trace, Vantage};
use serde::Serialize;

/// A hole that is filled sooner than this counts as reordering, not loss, if packet numbers do not decide (as in qvis).
const REORDERING_US: u64 = 20_000;

/// The classification of a frame. The numbers are the same as on the report's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Mark {
    /// Its bytes had been sent before, and lost.
    #[serde(rename = "1")]
    Retransmitted = 1,
    /// Its bytes had already arrived.
    #[serde(rename = "2")]
    Duplicate = 2,
    /// Later bytes overtook it.
    #[serde(rename = "4")]
    Reordered = 4,
}

impl Mark {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retransmitted => "retransmitted",
            Self::Duplicate => "duplicate",
            Self::Reordered => "reordered",
        }
    }
}

/// Bytes of one stream, by the cause of their late or repeated arrival.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Causes {
    /// Bytes that were lost, and arrived when they were retransmitted.
    #[serde(rename = "retransmitted")]
    pub retransmitted_bytes: u64,
    /// Bytes that had already arrived: they were retransmitted needlessly.
    #[serde(rename = "duplicate")]
    pub duplicate_bytes: u64,
    /// Bytes that others had overtaken.
    #[serde(rename = "reordered")]
    pub reordered_bytes: u64,
}

impl Causes {
    /// Adds the counts of further bytes.
    pub fn add(&mut self, more: Self) {
        let sums = [
            (&mut self.retransmitted_bytes, more.retransmitted_bytes),
            (&mut self.duplicate_bytes, more.duplicate_bytes),
            (&mut self.reordered_bytes, more.reordered_bytes),
        ];
        for (sum, bytes) in sums {
            *sum = sum.saturating_add(bytes);
        }
    }
}

/// The classification of a frame in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCauses {
    /// In a word: what it repaired, otherwise what it repeated.
    pub mark: Option<Mark>,
    /// The number of its bytes that had not arrived, or been sent, before.
    pub new_bytes: u64,
    /// Its bytes by cause.
    pub causes: Causes,
}

/// Replaces the guesses for each client's log by facts, if its server's log is among `traces`. In servers' logs, distinguishes
/// lost bytes from needless retransmissions, for which acknowledgements are necessary. All logs must have been read with
/// [`crate::trace::Detail::Arrivals`] or more.
pub fn settle(traces: &mut [Trace]) {
    let known: Vec<Option<BTreeMap<u64, Causes>>> =
        traces.iter().map(|trace| settled(traces, trace)).collect();
    for (trace, causes) in traces.iter_mut().zip(known) {
        let Some(causes) = causes else { continue };
        trace.has_exact_causes = trace.vantage == Vantage::Client;
        for stream in &mut trace.streams {
            let causes = causes.get(&stream.stream).copied().unwrap_or_default();
            stream.retransmitted_bytes = causes.retransmitted_bytes;
            stream.duplicate_bytes = Some(causes.duplicate_bytes);
            stream.reordered_bytes = causes.reordered_bytes;
        }
    }
}

/// The certain facts about a log's streams, if any.
fn settled(traces: &[Trace], trace: &Trace) -> Option<BTreeMap<u64, Causes>> {
    match trace.vantage {
        Vantage::Server => {
            let client = other_end(traces, trace, Vantage::Client);
            let received = client.and_then(Trace::received).filter(|it| !it.is_empty());
            let is_told = received.is_some() || trace.acknowledged().is_some();
            is_told.then(|| by_stream(trace, client))
        }
        Vantage::Client => {
            other_end(traces, trace, Vantage::Server).map(|server| by_stream(trace, Some(server)))
        }
        Vantage::Network | Vantage::Unknown => None,
    }
}

fn by_stream(trace: &Trace, other: Option<&Trace>) -> BTreeMap<u64, Causes> {
    let mut sums: BTreeMap<u64, Causes> = BTreeMap::new();
    for ((frame, _), it) in trace.arrivals.iter().zip(frame_causes(trace, other)) {
        sums.entry(frame.stream).or_default().add(it.causes);
    }
    sums
}

/// The classification of each frame of a log, in order; `other` is the log of the other end, if there is one.
pub fn frame_causes<'a>(
    trace: &'a Trace,
    other: Option<&Trace>,
) -> Box<dyn Iterator<Item = FrameCauses> + 'a> {
    match trace.vantage {
        Vantage::Server => Box::new(sent_again(trace, other.and_then(Trace::received).cloned())),
        _ => Box::new(arrived(trace, other)),
    }
}

/// The classification of each frame in a sender's log, byte by byte, because a retransmission may be divided differently.
/// `received` are the packets in the client's log.
fn sent_again(
    sender: &Trace,
    received: Option<NumberRanges>,
) -> impl Iterator<Item = FrameCauses> + '_ {
    let mut streams: BTreeMap<u64, [Assembly; 2]> = BTreeMap::new();
    let has_arrived = move |number| {
        let mut known = sender.acknowledged().into_iter().chain(&received);
        known.any(|it| it.has(number))
    };
    sender.arrivals.iter().map(move |(frame, packet)| {
        let [sent, arrived] = streams.entry(frame.stream).or_default();
        // In a packet that was acknowledged after all, or is in the client's log: they had arrived, and the retransmission was needless. The
        // others were lost.
        let duplicate_bytes = bytes_had(arrived, &frame);
        let retransmitted_bytes = bytes_had(sent, &frame) - duplicate_bytes;
        sent.receive(&frame);
        if packet.is_some_and(&has_arrived) {
            arrived.receive(&frame);
        }
        let mark = match (retransmitted_bytes, duplicate_bytes) {
            (1.., _) => Some(Mark::Retransmitted),
            (_, 1..) => Some(Mark::Duplicate),
            _ => None,
        };
        let causes = Causes { retransmitted_bytes, duplicate_bytes, reordered_bytes: 0 };
        FrameCauses { mark, new_bytes: frame.bytes - retransmitted_bytes - duplicate_bytes, causes }
    })
}

/// Bytes of the frame that the stream already had.
fn bytes_had(assembly: &Assembly, frame: &StreamFrame) -> u64 {
    let fresh = assembly.fresh_parts(frame.offset, frame.offset.saturating_add(frame.bytes));
    frame.bytes - fresh.iter().map(|(low, high)| high - low).sum::<u64>()
}

/// The classification of each arrived frame in a client's log; `server` is the log of the other end, if there is one.
fn arrived<'a>(
    client: &'a Trace,
    server: Option<&Trace>,
) -> impl Iterator<Item = FrameCauses> + use<'a> {
    let first = server.map(|server| FirstSent::of(&server.arrivals));
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    client.arrivals.iter().map(move |(frame, packet)| {
        let stream = streams.entry(frame.stream).or_default();
        let before = first
            .as_ref()
            .and_then(|it| it.sent_before(&frame, stream, packet?, client.received()));
        let mark = stream.mark(&frame, packet, before.as_ref().map(|it| it.lost_bytes > 0));
        let new_bytes = stream.receive(&frame, packet);
        let mut causes = Causes { duplicate_bytes: frame.bytes - new_bytes, ..Causes::default() };
        match (mark, before) {
            (Some(Mark::Retransmitted), Some(SentBefore { lost_bytes, late_bytes })) => {
                causes.retransmitted_bytes = lost_bytes;
                causes.reordered_bytes = late_bytes;
            }
            (Some(Mark::Retransmitted), None) => causes.retransmitted_bytes = new_bytes,
            (Some(Mark::Reordered), _) => causes.reordered_bytes = new_bytes,
            (Some(Mark::Duplicate) | None, _) => {}
        }
        FrameCauses { mark, new_bytes, causes }
    })
}

/// The packet that had each byte first, by stream and offset.
#[derive(Default)]
struct FirstSent {
    streams: BTreeMap<u64, BTreeMap<u64, (u64, u64)>>,
}

impl FirstSent {
    fn of(sent: &PackedFrames) -> Self {
        let mut assemblies: BTreeMap<u64, Assembly> = BTreeMap::new();
        let mut first = Self::default();
        for (frame, packet) in sent.iter() {
            let Some(packet) = packet else { continue };
            let assembly = assemblies.entry(frame.stream).or_default();
            let end = frame.offset.saturating_add(frame.bytes);
            let parts = assembly.fresh_parts(frame.offset, end);
            assembly.receive(&frame);
            let stream = first.streams.entry(frame.stream).or_default();
            stream.extend(parts.into_iter().map(|(start, end)| (start, (end, packet))));
        }
        first
    }

    /// The new bytes of the frame in `packet` that an earlier packet contained; `None` if the server's log has none of them.
    fn sent_before(
        &self,
        frame: &StreamFrame,
        stream: &Stream,
        packet: u64,
        received: Option<&NumberRanges>,
    ) -> Option<SentBefore> {
        let sent = self.streams.get(&frame.stream)?;
        let mut before = SentBefore::default();
        let mut is_known = false;
        let end = frame.offset.saturating_add(frame.bytes);
        for (low, high) in stream.assembly.fresh_parts(frame.offset, end) {
            let overlapping = sent.range(..high).rev().take_while(|(_, part)| part.0 > low);
            for (&start, &(stop, first)) in overlapping {
                is_known = true;
                if first < packet {
                    let is_late = received.is_some_and(|it| it.has(first));
                    let sum = if is_late { &mut before.late_bytes } else { &mut before.lost_bytes };
                    *sum += stop.min(high) - start.max(low);
                }
            }
        }
        is_known.then_some(before)
    }
}

/// Bytes that an earlier packet contained.
#[derive(Default)]
struct SentBefore {
    /// In a packet that never arrived.
    lost_bytes: u64,
    /// In a packet that arrives later.
    late_bytes: u64,
}

/// Time and packet of the frame with the highest end offset.
#[derive(Default)]
struct Stream {
    assembly: Assembly,
    farthest: u64,
    /// Time and packet of the frame that reached farthest.
    farthest_us: u64,
    farthest_packet: Option<u64>,
}

impl Stream {
    /// The classification of a frame that arrives now.
    fn mark(
        &self,
        frame: &StreamFrame,
        number: Option<u64>,
        was_lost: Option<bool>,
    ) -> Option<Mark> {
        let end = frame.offset.saturating_add(frame.bytes);
        if frame.bytes == 0 {
            return None;
        }
        if self.assembly.fresh_parts(frame.offset, end).is_empty() {
            return Some(Mark::Duplicate);
        }
        let is_behind = frame.offset < self.farthest;
        match was_lost {
            Some(true) => return Some(Mark::Retransmitted),
            Some(false) => return is_behind.then_some(Mark::Reordered),
            None if !is_behind => return None,
            None => {}
        }
        let was_overtaken = match number.zip(self.farthest_packet) {
            Some((number, farthest)) => number < farthest,
            None => frame.time_us.saturating_sub(self.farthest_us) < REORDERING_US,
        };
        Some(if was_overtaken { Mark::Reordered } else { Mark::Retransmitted })
    }

    /// Adds it; returns the number of its new bytes.
    fn receive(&mut self, frame: &StreamFrame, number: Option<u64>) -> u64 {
        let before = self.assembly.unique_bytes;
        self.assembly.receive(frame);
        let end = frame.offset.saturating_add(frame.bytes);
        if end > self.farthest {
            self.farthest = end;
            self.farthest_us = frame.time_us;
            self.farthest_packet = number;
        }
        self.assembly.unique_bytes.saturating_sub(before).min(frame.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::PacketLog;

    /// Frames of stream 0, 10 bytes each, as (packet, offset).
    fn log(vantage: Vantage, frames: &[(u64, u64)]) -> Trace {
        let frame = |&(packet, offset): &(u64, u64)| {
            (StreamFrame { time_us: packet * 100_000, stream: 0, offset, bytes: 10 }, Some(packet))
        };
        let streams = vec![crate::trace::StreamSummary::default()];
        let connection = Some("aa".to_owned());
        let arrivals = frames.iter().map(frame).collect();
        Trace { vantage, connection, streams, arrivals, ..Trace::default() }
    }

    #[test]
    fn with_both_logs_the_causes_are_those_of_the_server() {
        use Mark::{Duplicate, Reordered, Retransmitted};
        // Packet 2 is lost, and its retransmission in packet 5 is overtaken by packet 6. Packet 3 arrives late, and again in
        // 7. Packet 8 is the last and lost: packet 9 has its bytes.
        let sent = [(1, 0), (2, 10), (3, 20), (4, 30), (5, 10), (6, 40), (7, 20), (8, 50), (9, 50)];
        let came = [(1, 0), (4, 30), (3, 20), (6, 40), (5, 10), (7, 20), (9, 50)];
        let (client, server) = (log(Vantage::Client, &came), log(Vantage::Server, &sent));
        let marks = |server| -> Vec<Option<Mark>> {
            frame_causes(&client, server).map(|it| it.mark).collect()
        };
        let guessed = [None, None, Some(Reordered), None, Some(Reordered), Some(Duplicate), None];
        assert_eq!(marks(None), guessed);
        let known = [
            None,
            None,
            Some(Reordered),
            None,
            Some(Retransmitted),
            Some(Duplicate),
            Some(Retransmitted),
        ];
        assert_eq!(marks(Some(&server)), known);
        let mut traces = [client.clone(), server];
        settle(&mut traces);
        let stream = &traces[0].streams[0];
        let bytes = (stream.retransmitted_bytes, stream.duplicate_bytes, stream.reordered_bytes);
        assert_eq!((bytes, traces[0].has_exact_causes), ((20, Some(10), 10), true));
        assert!(!traces[1].has_exact_causes);
    }

    #[test]
    fn bytes_that_a_needless_retransmission_overtook_were_not_lost() {
        // Packet 2 is late: the needless packet 4 overtakes it. Packet 3 is lost, and packet 5 repairs it.
        let sent = [(1, 0), (2, 10), (3, 20), (4, 10), (5, 20), (6, 30)];
        let came = [(1, 0), (6, 30), (4, 10), (2, 10), (5, 20)];
        let mut arrived = NumberRanges::default();
        for (packet, _) in came {
            arrived.add(packet, packet);
        }
        let (mut client, mut server) = (log(Vantage::Client, &came), log(Vantage::Server, &sent));
        client.packets = Some(PacketLog { received: arrived.clone(), ..PacketLog::default() });
        server.packets = Some(PacketLog { acknowledged: Some(arrived), ..PacketLog::default() });
        let mut traces = [client, server];
        settle(&mut traces);
        let causes = traces.map(|it| {
            let stream = &it.streams[0];
            (stream.retransmitted_bytes, stream.duplicate_bytes, stream.reordered_bytes)
        });
        assert_eq!(causes, [(10, Some(10), 10), (10, Some(10), 0)]);
    }
}
