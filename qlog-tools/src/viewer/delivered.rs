//! What was special about each frame, and what each made readable.

use std::collections::BTreeMap;

use super::recording::{Exactness, Frame, Mark};
use crate::assembly::Assembly;
use crate::timeline::StreamFrame;
use crate::trace::{Trace, Vantage};

/// A hole that is filled sooner was overtaken rather than lost, when packet numbers do not tell (as in qvis).
const REORDERING_US: u64 = 20_000;

/// Fills `mark`, `released_bytes` and `released_tcp_bytes` of the frames, which are `trace`'s in its order; `sender` is
/// the log of who sent them. Says what the order of one ordered stream rests on.
pub(super) fn deliver(frames: &mut [Frame], trace: &Trace, sender: Option<&Trace>) -> Exactness {
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    for (place, frame) in trace.timeline.frames.iter().enumerate() {
        let number = packet_number(trace, place);
        let stream = streams.entry(frame.stream).or_default();
        let before_bytes = stream.assembly.readable_bytes;
        frames[place].mark = stream.mark(frame, number, trace.vantage);
        stream.assembly.receive(frame);
        frames[place].released_bytes = stream.assembly.readable_bytes - before_bytes;
        stream.note(frame, number);
    }
    let sent = sender.map(|sender| Order::of(sender.timeline.frames.iter()));
    if let Some(sent) = sent.filter(|sent| sent.holds_all(&trace.timeline.frames)) {
        release_in_order(frames, &trace.timeline.frames, &sent);
        return Exactness::Exact;
    }
    release_in_order(frames, &trace.timeline.frames, &order_of_packets(trace));
    Exactness::Estimated
}

/// The number of the packet that a frame came in.
pub(super) fn packet_number(trace: &Trace, frame: usize) -> Option<u64> {
    trace.packets.get(*trace.frame_packets.get(frame)? as usize)?.number
}

#[derive(Default)]
struct Stream {
    assembly: Assembly,
    farthest: u64,
    /// Time and packet of the frame that reached farthest.
    farthest_us: u64,
    farthest_packet: Option<u64>,
}

impl Stream {
    /// What is special about a frame that comes now.
    fn mark(&self, frame: &StreamFrame, number: Option<u64>, vantage: Vantage) -> Option<Mark> {
        let end = frame.offset.saturating_add(frame.bytes);
        if frame.bytes == 0 || frame.offset >= self.farthest {
            return None;
        }
        if vantage == Vantage::Server {
            return Some(Mark::Retransmitted);
        }
        if self.assembly.fresh_parts(frame.offset, end).is_empty() {
            return Some(Mark::Duplicate);
        }
        let was_overtaken = match number.zip(self.farthest_packet) {
            Some((number, farthest)) => number < farthest,
            None => frame.time_us.saturating_sub(self.farthest_us) < REORDERING_US,
        };
        Some(if was_overtaken { Mark::Reordered } else { Mark::Retransmitted })
    }

    fn note(&mut self, frame: &StreamFrame, number: Option<u64>) {
        let end = frame.offset.saturating_add(frame.bytes);
        if end > self.farthest {
            self.farthest = end;
            self.farthest_us = frame.time_us;
            self.farthest_packet = number;
        }
    }
}

/// Where each byte was among all bytes when it was sent first: for each stream its parts, with the place of their
/// start.
struct Order {
    parts: BTreeMap<u64, Vec<Part>>,
}

/// Bytes of a stream that were first sent together.
struct Part {
    start: u64,
    end: u64,
    position: u64,
}

impl Order {
    /// Of frames in the order of sending. A hole in a stream that they leave was sent just before what follows it.
    fn of<'a>(frames: impl Iterator<Item = &'a StreamFrame>) -> Self {
        let mut parts: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        let mut position = 0;
        for frame in frames {
            let of_stream = parts.entry(frame.stream).or_default();
            let start = of_stream.last().map_or(0, |part| part.end);
            let end = frame.offset.saturating_add(frame.bytes);
            if end > start {
                of_stream.push(Part { start, end, position });
                position = (end - start).saturating_add(position);
            }
        }
        Self { parts }
    }

    /// Whether the place of every byte is known.
    fn holds_all(&self, frames: &[StreamFrame]) -> bool {
        frames.iter().filter(|frame| frame.bytes > 0).all(|frame| {
            let last = self.parts.get(&frame.stream).and_then(|parts| parts.last());
            last.is_some_and(|part| part.end >= frame.offset.saturating_add(frame.bytes))
        })
    }

    /// The places of a frame's bytes: start and length of each piece.
    fn pieces(&self, frame: &StreamFrame) -> Vec<(u64, u64)> {
        let Some(parts) = self.parts.get(&frame.stream) else { return Vec::new() };
        let frame_end = frame.offset.saturating_add(frame.bytes);
        let first = parts.partition_point(|part| part.end <= frame.offset);
        parts[first..]
            .iter()
            .take_while(|part| part.start < frame_end)
            .map(|part| {
                let start = part.start.max(frame.offset);
                (part.position.saturating_add(start - part.start), part.end.min(frame_end) - start)
            })
            .collect()
    }
}

/// The order of sending as a receiver's log lets one guess it: that of packet numbers.
fn order_of_packets(trace: &Trace) -> Order {
    let frames = &trace.timeline.frames;
    let mut order: Vec<usize> = (0..frames.len()).collect();
    order.sort_by_key(|place| (packet_number(trace, *place), *place));
    Order::of(order.into_iter().map(|place| &frames[place]))
}

/// Walks through the arrivals with one ordered stream of all bytes: what each makes readable of it.
fn release_in_order(frames: &mut [Frame], arrivals: &[StreamFrame], order: &Order) {
    let mut assembly = Assembly::default();
    for (frame, arrival) in frames.iter_mut().zip(arrivals) {
        let before_bytes = assembly.readable_bytes;
        for (offset, bytes) in order.pieces(arrival) {
            let time_us = arrival.time_us;
            assembly.receive(&StreamFrame { time_us, stream: 0, offset, bytes });
        }
        frame.released_tcp_bytes = assembly.readable_bytes - before_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Timeline;

    fn frame(stream: u64, offset: u64, bytes: u64) -> StreamFrame {
        StreamFrame { time_us: 0, stream, offset, bytes }
    }

    fn trace(frames: Vec<StreamFrame>, vantage: Vantage) -> Trace {
        Trace { timeline: Timeline { frames, ..Timeline::default() }, vantage, ..Trace::default() }
    }

    /// What each arrival made readable, over QUIC and as over TCP.
    fn released(arrivals: Vec<StreamFrame>, sent: Option<Vec<StreamFrame>>) -> Vec<(u64, u64)> {
        let mut frames: Vec<Frame> =
            arrivals.iter().map(|it| Frame { bytes: it.bytes, ..Frame::default() }).collect();
        let sender = sent.map(|sent| trace(sent, Vantage::Server));
        deliver(&mut frames, &trace(arrivals, Vantage::Client), sender.as_ref());
        frames.iter().map(|frame| (frame.released_bytes, frame.released_tcp_bytes)).collect()
    }

    #[test]
    fn a_lost_packet_of_one_stream_holds_up_all_only_as_over_tcp() {
        let sent = vec![frame(0, 0, 10), frame(4, 0, 10), frame(0, 10, 10), frame(4, 10, 10)];
        let arrivals = vec![frame(4, 0, 10), frame(0, 10, 10), frame(4, 10, 10), frame(0, 0, 10)];
        assert_eq!(released(arrivals, Some(sent)), [(10, 0), (0, 0), (10, 0), (20, 40)]);
    }

    #[test]
    fn a_retransmission_cut_otherwise_fills_both_places() {
        let sent = vec![frame(0, 0, 10), frame(4, 0, 10), frame(0, 10, 10), frame(0, 0, 20)];
        let arrivals = vec![frame(4, 0, 10), frame(0, 0, 20)];
        assert_eq!(released(arrivals, Some(sent)), [(10, 0), (20, 30)]);
    }

    #[test]
    fn without_the_senders_log_a_hole_was_sent_before_what_follows_it() {
        let arrivals = vec![frame(0, 10, 10), frame(4, 0, 10), frame(0, 0, 15)];
        assert_eq!(released(arrivals, None), [(0, 0), (10, 0), (20, 30)]);
    }
}
