//! What was special about each frame, and what each made readable.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{Frame, Mark};
use crate::causes::marks;
use crate::head_of_line::{Arrivals, HeadOfLine};
use crate::trace::{PacketEvent, Space, Trace, Vantage};

/// Fills `mark`, `released_bytes` and `released_tcp_bytes` of the frames, which are `trace`'s in its order; `sender` is
/// the sender's log. Whether the order of one ordered stream is known, from that log.
pub(super) fn deliver(frames: &mut [Frame], trace: &Trace, sender: Option<&Trace>) -> bool {
    if trace.vantage == Vantage::Server {
        mark_sent_again(frames, trace);
    } else {
        for (frame, (mark, _)) in frames.iter_mut().zip(marks(trace, sender)) {
            frame.mark = mark;
        }
    }
    let sent = sender.map(|sender| &sender.arrivals);
    let hol = HeadOfLine::new(Arrivals::of(trace, sent));
    for piece in hol.pieces() {
        let released = &mut frames[piece.delivered].released_bytes;
        *released = released.saturating_add(piece.bytes);
        let released = &mut frames[piece.delivered_in_one_order].released_tcp_bytes;
        *released = released.saturating_add(piece.bytes);
    }
    hol.is_exact
}

/// When a sender sent bytes again that had not arrived, by its own log.
pub(super) fn sent_again_us(trace: &Trace) -> Vec<u64> {
    let marked = marks_of_sent(trace).into_iter().zip(&trace.timeline.frames);
    let again = marked.filter(|(mark, _)| *mark == Some(Mark::Retransmitted));
    again.map(|(_, sent)| sent.time_us).collect()
}

/// What is special about each frame that a sender's log has.
pub(crate) fn marks_of_sent(trace: &Trace) -> Vec<Option<Mark>> {
    let mut frames = vec![Frame::default(); trace.timeline.frames.len()];
    mark_sent_again(&mut frames, trace);
    frames.into_iter().map(|it| it.mark).collect()
}

/// In the sender's log, bytes that are sent again are a duplicate if their earlier packet was acknowledged: they had
/// arrived, so the retransmission was spurious. Otherwise they are retransmitted.
fn mark_sent_again(frames: &mut [Frame], trace: &Trace) {
    let acknowledged: BTreeSet<(Space, u64)> = trace
        .packets
        .iter()
        .filter(|packet| packet.event == PacketEvent::Acknowledged)
        .filter_map(|packet| Some((packet.space, packet.number?)))
        .collect();
    // By stream, and offset: where the frame ended that had it last, and its packet.
    let mut carriers: BTreeMap<u64, BTreeMap<u64, Carrier>> = BTreeMap::new();
    let packets = trace.frame_packets.iter().map(Some).chain(std::iter::repeat(None));
    for ((frame, arrival), packet) in
        frames.iter_mut().zip(trace.timeline.frames.iter()).zip(packets)
    {
        let end = arrival.offset.saturating_add(arrival.bytes);
        if arrival.bytes == 0 {
            continue;
        }
        let carriers = carriers.entry(arrival.stream).or_default();
        let before = carriers.range(..end).next_back().filter(|(_, it)| it.end > arrival.offset);
        frame.mark = before.map(|(_, before)| match before.packet {
            Some(packet) if acknowledged.contains(&packet) => Mark::Duplicate,
            _ => Mark::Retransmitted,
        });
        let packet = packet.and_then(|&place| trace.packets.get(usize::try_from(place).ok()?));
        let packet = packet.and_then(|packet| Some((packet.space, packet.number?)));
        let farthest = carriers.get(&arrival.offset).map_or(end, |it| it.end.max(end));
        carriers.insert(arrival.offset, Carrier { end: farthest, packet });
    }
}

/// Where a frame ended, and its packet, when that is known.
struct Carrier {
    end: u64,
    packet: Option<(Space, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::StreamFrame;

    fn frame(stream: u64, offset: u64, bytes: u64) -> StreamFrame {
        StreamFrame { time_us: 0, stream, offset, bytes }
    }

    fn trace(frames: &[StreamFrame], vantage: Vantage) -> Trace {
        Trace { arrivals: frames.iter().collect(), vantage, ..Trace::default() }
    }

    /// What each arrival made readable, over QUIC and as over TCP.
    fn released(arrivals: &[StreamFrame], sent: Option<Vec<StreamFrame>>) -> Vec<(u64, u64)> {
        let mut frames: Vec<Frame> =
            arrivals.iter().map(|it| Frame { bytes: it.bytes, ..Frame::default() }).collect();
        let sender = sent.map(|sent| trace(&sent, Vantage::Server));
        deliver(&mut frames, &trace(arrivals, Vantage::Client), sender.as_ref());
        frames.iter().map(|frame| (frame.released_bytes, frame.released_tcp_bytes)).collect()
    }

    #[test]
    fn a_lost_packet_of_one_stream_holds_up_all_only_as_over_tcp() {
        let sent = vec![frame(0, 0, 10), frame(4, 0, 10), frame(0, 10, 10), frame(4, 10, 10)];
        let arrivals = vec![frame(4, 0, 10), frame(0, 10, 10), frame(4, 10, 10), frame(0, 0, 10)];
        assert_eq!(released(&arrivals, Some(sent)), [(10, 0), (0, 0), (10, 0), (20, 40)]);
    }

    #[test]
    fn a_retransmission_cut_otherwise_fills_both_places() {
        let sent = vec![frame(0, 0, 10), frame(4, 0, 10), frame(0, 10, 10), frame(0, 0, 20)];
        let arrivals = vec![frame(4, 0, 10), frame(0, 0, 20)];
        assert_eq!(released(&arrivals, Some(sent)), [(10, 0), (20, 30)]);
    }

    #[test]
    fn without_the_senders_log_a_hole_was_sent_before_what_follows_it() {
        let arrivals = vec![frame(0, 10, 10), frame(4, 0, 10), frame(0, 0, 15)];
        assert_eq!(released(&arrivals, None), [(0, 0), (10, 0), (20, 30)]);
    }
}
