//! The order in which a client delivers data: the effect of head-of-line blocking on the same arrivals.

use http3::StreamId;
use qlog_tools::assembly::{DeliveryStep, StreamFrame};
use qlog_tools::timeline::Timeline;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The earlier bytes for which an arrived byte waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryOrder {
    /// All earlier bytes of its own stream, as in QUIC.
    #[default]
    Stream,
    /// All bytes that were first sent before it, on any stream, as in TCP (the paper's section 5.2).
    Connection,
}

/// The same arrivals, delivered in the order of first transmission, `runs`: each byte is delivered when all
/// bytes before it have arrived. Frames of streams that are not in `runs` are unchanged.
pub(crate) fn in_order_of_transmission(timeline: Timeline, runs: &[(StreamId, u64)]) -> Timeline {
    let deliveries = timeline.deliveries();
    let steps: BTreeMap<u64, &[DeliveryStep]> =
        deliveries.iter().map(|it| (it.stream, it.steps.as_slice())).collect();
    let mut frames: Vec<StreamFrame> =
        timeline.frames.iter().filter(|it| !steps.contains_key(&it.stream)).copied().collect();
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut time_us = 0;
    'all: for &(stream, bytes) in runs {
        let Some(steps) = steps.get(&stream.0) else { continue };
        let end = ends.entry(stream.0).or_default();
        let until = *end + bytes;
        while *end < until {
            let place = steps.partition_point(|it| it.readable_bytes <= *end);
            let Some(step) = steps.get(place) else { break 'all };
            time_us = time_us.max(step.time_us);
            let piece = step.readable_bytes.min(until) - *end;
            frames.push(StreamFrame { time_us, stream: stream.0, offset: *end, bytes: piece });
            *end += piece;
        }
    }
    frames.sort_by_key(|it| it.time_us);
    Timeline { frames, ..timeline }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::timeline::Transfer;

    #[test]
    fn what_arrives_before_bytes_that_were_sent_earlier_waits_for_them() {
        let frame = |time_us, stream, offset, bytes| StreamFrame { time_us, stream, offset, bytes };
        let transfer = |stream| Transfer { stream, stream_bytes: Some(20), ..Transfer::default() };
        let timeline = Timeline {
            transfers: vec![transfer(0), transfer(4)],
            frames: vec![frame(1, 0, 0, 10), frame(3, 4, 0, 20), frame(5, 0, 10, 10)],
            ..Timeline::default()
        };
        let runs = [(StreamId(0), 20), (StreamId(4), 20)];
        let ordered = in_order_of_transmission(timeline, &runs);
        assert_eq!(ordered.frames, [frame(1, 0, 0, 10), frame(5, 0, 10, 10), frame(5, 4, 0, 20)]);
    }
}
