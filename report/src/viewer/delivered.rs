//! Classifies each frame, and computes what it made readable.

use super::recording::{Frame, Stream};
use qlog_tools::causes::frame_causes;
use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::trace::Trace;

/// Fills `mark`, `released_bytes` and `released_tcp_bytes` of the frames, which are `trace`'s in order, and sums the causes of
/// late or repeated bytes for each stream; `sender` is the sender's log. Returns whether that log gives the order of a single
/// ordered stream.
pub(super) fn deliver(
    streams: &mut [Stream],
    frames: &mut [Frame],
    trace: &Trace,
    sender: Option<&Trace>,
) -> bool {
    for (frame, it) in frames.iter_mut().zip(frame_causes(trace, sender)) {
        frame.mark = it.mark;
        if let Some(stream) = streams.get_mut(frame.stream) {
            stream.causes.add(it.causes);
        }
    }
    let sent = sender.map(|sender| &sender.arrivals);
    let hol = HeadOfLine::new(Arrivals::of(trace, sent));
    let released = hol.released(frames.len());
    for (frame, released) in frames.iter_mut().zip(released) {
        [frame.released_bytes, frame.released_tcp_bytes] = released;
    }
    hol.is_exact
}

/// When a sender retransmitted bytes that had not arrived, by its own log.
pub(super) fn sent_again_us(trace: &Trace) -> Vec<u64> {
    let frames = trace.arrivals.iter().zip(frame_causes(trace, None));
    let again = frames.filter(|(_, it)| it.causes.retransmitted_bytes > 0);
    again.map(|((frame, _), _)| frame.time_us).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::trace::Vantage;

    fn frame(stream: u64, offset: u64, bytes: u64) -> StreamFrame {
        StreamFrame { time_us: 0, stream, offset, bytes }
    }

    fn trace(frames: &[StreamFrame], vantage: Vantage) -> Trace {
        let mut trace = Trace::default();
        (trace.arrivals, trace.vantage) = (frames.iter().collect(), vantage);
        trace
    }

    /// The bytes that each arrival made readable, over QUIC and as over TCP.
    fn released(arrivals: &[StreamFrame], sent: Option<Vec<StreamFrame>>) -> Vec<(u64, u64)> {
        let mut frames: Vec<Frame> =
            arrivals.iter().map(|it| Frame { bytes: it.bytes, ..Frame::default() }).collect();
        let sender = sent.map(|sent| trace(&sent, Vantage::Server));
        deliver(&mut [], &mut frames, &trace(arrivals, Vantage::Client), sender.as_ref());
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
