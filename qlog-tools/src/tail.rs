//! The tail of a cancelled response: the bytes that still arrive, because they were in flight or below the
//! server's scheduler.

use crate::short_texts::counted;
use serde::{Deserialize, Serialize};

use crate::timeline::{Cancel, Timeline};

/// The tails of a timeline together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Responses that were cancelled.
    pub cancelled: u64,
    /// Their bytes after their cancels.
    pub tail_bytes: u64,
    /// From the first cancel to the last of these bytes.
    pub tail_ms: f64,
}

impl Tail {
    /// `None` if nothing was cancelled.
    pub fn of(timeline: &Timeline) -> Option<Self> {
        let cancels: Vec<Cancel> = timeline.transfers.iter().filter_map(|it| it.cancel).collect();
        let first_us = cancels.iter().map(|it| it.time_us).min()?;
        let last_us = cancels.iter().map(|it| it.last_us).max()?;
        Some(Self {
            cancelled: cancels.len() as u64,
            tail_bytes: cancels.iter().fold(0, |sum, it| sum.saturating_add(it.tail_bytes)),
            tail_ms: last_us.saturating_sub(first_us) as f64 / 1000.0,
        })
    }
}

impl std::fmt::Display for Tail {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cancelled, tail_bytes, tail_ms } = self;
        let cancelled = counted(*cancelled, "response");
        write!(
            formatter,
            "{cancelled} cancelled; {tail_bytes} bytes of their tail arrived within {tail_ms:.1} ms"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read;
    use crate::timeline::Cancel;

    const REQUEST: &str = r#"{"time":1,"name":"http3:frame_created","data":{"stream_id":STREAM,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/STREAM"}]}}}"#;
    const FRAME: &str = r#"{"time":TIME,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":TIME},"frames":[{"frame_type":"stream","stream_id":STREAM,"offset":OFFSET,"length":1000}]}}"#;
    const STOP: &str = r#"{"time":TIME,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":TIME},"frames":[{"frame_type":"stop_sending","stream_id":STREAM,"error_code":268}]}}"#;

    fn line(of: &str, stream: u64, time_ms: u64, offset: u64) -> String {
        let numbers = [("STREAM", stream), ("TIME", time_ms), ("OFFSET", offset)];
        let fill =
            |text: String, (name, number): (&str, u64)| text.replace(name, &number.to_string());
        numbers.into_iter().fold(of.to_owned(), fill) + "\n"
    }

    /// Two responses that alternate, a packet of 1000 bytes per millisecond.
    fn timeline(stops: &[(u64, u64)]) -> Timeline {
        let mut log = line(REQUEST, 0, 1, 0) + &line(REQUEST, 4, 1, 0);
        for time_ms in 2..12 {
            for (stream, _) in stops.iter().filter(|it| it.1 == time_ms) {
                log += &line(STOP, *stream, time_ms, 0);
            }
            log += &line(FRAME, time_ms % 2 * 4, time_ms, time_ms / 2 * 1000);
        }
        read("log", log.as_bytes()).expect("a log").timeline
    }

    #[test]
    fn a_tail_is_what_comes_of_a_cancelled_response_after_its_cancel() {
        let timeline = timeline(&[(0, 7)]);
        // Packets at 8 and 10 ms carry stream 0.
        let cancel = Cancel { time_us: 7_000, tail_bytes: 2000, last_us: 10_000 };
        let cancels: Vec<Option<Cancel>> = timeline.transfers.iter().map(|it| it.cancel).collect();
        assert_eq!(cancels, [Some(cancel), None]);
        let tail = Tail { cancelled: 1, tail_bytes: 2000, tail_ms: 3.0 };
        assert_eq!(Tail::of(&timeline), Some(tail));
        let said = "1 response cancelled; 2000 bytes of their tail arrived within 3.0 ms";
        assert_eq!(tail.to_string(), said);
    }

    #[test]
    fn tails_add_up_and_a_repeated_stop_counts_once() {
        // Packets at 6, 8 and 10 ms carry stream 0, those at 7, 9 and 11 ms stream 4; the first cancel is at 5 ms.
        let tail = Tail { cancelled: 2, tail_bytes: 6000, tail_ms: 6.0 };
        assert_eq!(Tail::of(&timeline(&[(0, 5), (4, 6), (0, 9)])), Some(tail));
        assert_eq!(Tail::of(&timeline(&[])), None);
    }
}
