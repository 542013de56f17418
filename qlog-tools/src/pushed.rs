//! Bytes that arrived by server push, and how many of them were useless.

use crate::timeline::Timeline;

/// The unidirectional streams that an HTTP/3 server opens: control and QPACK.
const OWN_STREAMS: [u64; 3] = [3, 7, 11];

/// Stream bytes that arrived by push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PushedBytes {
    /// Bytes of resources that were used.
    pub used: u64,
    /// Bytes of other resources: not needed, or rejected while in transit.
    pub wasted: u64,
}

impl PushedBytes {
    /// Counts the bytes of a client's timeline; `is_used` returns whether the pushed response of a URL was used.
    pub fn of(timeline: &Timeline, is_used: impl Fn(&str) -> bool) -> Self {
        let used = timeline.transfers.iter().filter(|it| is_push(it.stream) && is_used(&it.url));
        let used: Vec<u64> = used.map(|it| it.stream).collect();
        let mut bytes = Self::default();
        for frame in timeline.frames.iter().filter(|frame| is_push(frame.stream)) {
            if used.contains(&frame.stream) {
                bytes.used += frame.bytes;
            } else {
                bytes.wasted += frame.bytes;
            }
        }
        bytes
    }

    /// The rate at which the wasted bytes take as long as the round trip that pushes save, in bit/s: on slower links
    /// they cost more than they gain. `None` if nothing was wasted, or nothing used.
    pub fn break_even_bits_per_s(self, round_trip_ms: f64) -> Option<f64> {
        let judged = self.used > 0 && self.wasted > 0 && round_trip_ms > 0.0;
        judged.then(|| self.wasted as f64 * 8.0 / (round_trip_ms / 1000.0))
    }
}

fn is_push(stream: u64) -> bool {
    stream % 4 == 3 && !OWN_STREAMS.contains(&stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::StreamFrame;
    use crate::timeline::Transfer;

    #[test]
    fn bytes_of_pushes_that_nobody_used_are_wasted() {
        let transfer =
            |stream, url: &str| Transfer { stream, url: url.into(), ..Transfer::default() };
        let frame = |stream, bytes| StreamFrame { stream, bytes, ..StreamFrame::default() };
        let timeline = Timeline {
            transfers: vec![transfer(0, "/"), transfer(15, "/a.js"), transfer(19, "/b.js")],
            frames: vec![frame(0, 900), frame(3, 20), frame(15, 100), frame(19, 60), frame(23, 40)],
            ..Timeline::default()
        };
        let bytes = PushedBytes::of(&timeline, |url| url == "/a.js");
        assert_eq!(bytes, PushedBytes { used: 100, wasted: 100 });
        assert_eq!(bytes.break_even_bits_per_s(100.0), Some(8000.0));
        assert_eq!(PushedBytes { used: 0, wasted: 1 }.break_even_bits_per_s(100.0), None);
    }
}
