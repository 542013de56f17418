//! The `ByteIndex`: how long the bytes of a page were missing, on average. Lower is better.
//!
//! The index is the area above the curve of download progress (Bocchi et al. 2016; Marx et al.
//! 2019, section 4.2). The paper's progress counts a resource's bytes when the *whole* resource is
//! there, and looks every 100 ms. All three forms here share t0, the first request, and the
//! weights, body bytes as on the wire.

mod progress;

use crate::timeline::{Delivery, Timeline, Transfer};
use crate::trace::{StreamSummary, Trace};
pub(crate) use progress::Progress;

/// How often the paper looks at the progress, in microseconds.
pub const SAMPLE_US: u64 = 100_000;

/// The indices of one set of resources, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteIndex {
    /// Integral of the share of bytes not yet in fully downloaded resources: the sum over
    /// resources of (bytes / all bytes) times its time to completion.
    pub complete_ms: f64,
    /// The same as the paper samples it: each completion is noticed at the next multiple of 100 ms.
    pub sampled_ms: f64,
    /// Integral of the share of bytes not yet readable, whether or not their resource is complete.
    pub progressive_ms: f64,
    /// `ObjectIndex`: the mean time to completion, each resource counting the same.
    pub object_ms: f64,
}

/// Why a set of resources has no index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoIndex {
    /// No transfer belongs to the set.
    #[error("the set of resources is empty")]
    EmptySet,
    /// All bodies of the set are empty, so no share can be formed.
    #[error("the resources of the set have no body bytes")]
    NoBytes,
    /// A transfer of the set did not finish.
    #[error("{url} (stream {stream}) did not finish: {readable_bytes} of {} stream bytes readable",
        .stream_bytes.map_or_else(|| "an unknown number of".to_owned(), |bytes| bytes.to_string()))]
    Unfinished {
        /// Its stream.
        stream: u64,
        /// Its URL.
        url: String,
        /// How far it came.
        readable_bytes: u64,
        /// How far it had to go, if that is known.
        stream_bytes: Option<u64>,
    },
}

/// The indices of the transfers that `belongs` selects, or why there are none.
pub fn byte_index(
    timeline: &Timeline,
    belongs: impl Fn(&Transfer) -> bool,
) -> Result<ByteIndex, NoIndex> {
    let start_us = timeline.start_us().ok_or(NoIndex::EmptySet)?;
    let deliveries = timeline.deliveries();
    let mut parts = Vec::new();
    for (transfer, delivery) in timeline.transfers.iter().zip(&deliveries) {
        if belongs(transfer) {
            parts.push(Part::new(transfer, delivery, start_us)?);
        }
    }
    combine(&parts)
}

/// The same from what was added up while a log was read, so that no frame need be kept.
pub fn byte_index_of_trace(
    trace: &Trace,
    belongs: impl Fn(&Transfer) -> bool,
) -> Result<ByteIndex, NoIndex> {
    let start_us = trace.timeline.start_us().ok_or(NoIndex::EmptySet)?;
    let mut parts = Vec::new();
    for transfer in trace.timeline.transfers.iter().filter(|&transfer| belongs(transfer)) {
        let place = trace.streams.binary_search_by_key(&transfer.stream, |stream| stream.stream);
        let stream = place.ok().map(|place| &trace.streams[place]);
        parts.push(Part::streamed(transfer, stream, start_us)?);
    }
    combine(&parts)
}

fn combine(parts: &[Part]) -> Result<ByteIndex, NoIndex> {
    if parts.is_empty() {
        return Err(NoIndex::EmptySet);
    }
    let bytes: u128 = parts.iter().map(|part| u128::from(part.bytes)).sum();
    if bytes == 0 {
        return Err(NoIndex::NoBytes);
    }
    let weighted = |time_us: fn(&Part) -> u64| {
        let byte_us: u128 =
            parts.iter().map(|part| u128::from(part.bytes) * u128::from(time_us(part))).sum();
        milliseconds(byte_us as f64 / bytes as f64)
    };
    Ok(ByteIndex {
        complete_ms: weighted(|part| part.complete_us),
        sampled_ms: weighted(|part| part.complete_us.div_ceil(SAMPLE_US) * SAMPLE_US),
        progressive_ms: milliseconds(
            parts.iter().map(|part| part.progressive_byte_us).sum::<u128>() as f64 / bytes as f64,
        ),
        object_ms: milliseconds(
            parts.iter().map(|part| u128::from(part.complete_us)).sum::<u128>() as f64
                / parts.len() as f64,
        ),
    })
}

/// How many times lower than the baseline's the index is: 2 is twice as fast. `None` when an
/// index is missing or zero.
pub fn speedup(baseline_ms: Option<f64>, index_ms: Option<f64>) -> Option<f64> {
    baseline_ms
        .zip(index_ms)
        .filter(|&(_, index_ms)| index_ms > 0.0)
        .map(|(base, index)| base / index)
}

/// A corner of a progress curve: from `time_ms` after t0 on, `share` (0 to 1) is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Milliseconds since the first request.
    pub time_ms: f64,
    /// Share of the set's body bytes that are in fully downloaded resources.
    pub share: f64,
}

/// Progress over time as a staircase, from (0, 0) on: the curve whose area above is
/// `complete_ms` (the paper's Figure 11). Unfinished transfers weigh but never arrive. Empty
/// when the set is empty or has no bytes.
pub fn completed_share(
    timeline: &Timeline,
    belongs: impl Fn(&Transfer) -> bool,
) -> Vec<CurvePoint> {
    let Some(start_us) = timeline.start_us() else { return Vec::new() };
    let mut all_bytes = 0_u128;
    let mut completions = Vec::new();
    for (transfer, delivery) in timeline.transfers.iter().zip(timeline.deliveries()) {
        if !belongs(transfer) {
            continue;
        }
        let bytes = transfer.body_bytes_or_stream().unwrap_or_else(|| delivery.readable_bytes());
        all_bytes += u128::from(bytes);
        if let Some(complete_us) = delivery.complete_us.filter(|_| bytes > 0) {
            completions.push((complete_us.saturating_sub(start_us), bytes));
        }
    }
    if all_bytes == 0 {
        return Vec::new();
    }
    completions.sort_unstable();
    let mut curve = vec![CurvePoint { time_ms: 0.0, share: 0.0 }];
    let mut done_bytes = 0_u128;
    for (time_us, bytes) in completions {
        done_bytes += u128::from(bytes);
        let point = CurvePoint {
            time_ms: milliseconds(time_us as f64),
            share: done_bytes as f64 / all_bytes as f64,
        };
        match curve.last_mut() {
            Some(last) if last.time_ms >= point.time_ms => *last = point,
            _ => curve.push(point),
        }
    }
    curve
}

fn milliseconds(time_us: f64) -> f64 {
    time_us / 1000.0
}

/// What one finished transfer adds. Times count from t0.
struct Part {
    bytes: u64,
    complete_us: u64,
    /// The sum over its body bytes of the time each was readable.
    progressive_byte_us: u128,
}

impl Part {
    fn new(transfer: &Transfer, delivery: &Delivery, start_us: u64) -> Result<Self, NoIndex> {
        let complete = delivery.complete_us.zip(transfer.body_bytes_or_stream());
        let Some((complete_us, bytes)) = complete else {
            return Err(unfinished(transfer, delivery.readable_bytes()));
        };
        let complete_us = complete_us.saturating_sub(start_us);
        let mut counted = 0;
        let mut progressive_byte_us = 0;
        for step in &delivery.steps {
            let time_us = step.time_us.saturating_sub(start_us).min(complete_us);
            let body = step.readable_bytes.saturating_sub(transfer.body_offset).min(bytes);
            progressive_byte_us += u128::from(body - counted) * u128::from(time_us);
            counted = body;
        }
        // A body that claims more bytes than its stream has is there when the stream is.
        progressive_byte_us += u128::from(bytes - counted) * u128::from(complete_us);
        Ok(Self { bytes, complete_us, progressive_byte_us })
    }

    fn streamed(
        transfer: &Transfer,
        stream: Option<&StreamSummary>,
        start_us: u64,
    ) -> Result<Self, NoIndex> {
        let complete_us = match (stream, transfer.stream_bytes) {
            // An empty stream that had no frame completes with its request.
            (None, Some(0)) => Some(transfer.requested_us),
            (stream, _) => stream.and_then(|stream| stream.complete_us),
        };
        let Some((complete_us, bytes)) = complete_us.zip(transfer.body_bytes_or_stream()) else {
            let readable = stream.map_or(0, |stream| stream.progress.readable_bytes());
            return Err(unfinished(transfer, readable));
        };
        let complete_us = complete_us.saturating_sub(start_us);
        let body = transfer.body_offset..transfer.body_offset.saturating_add(bytes);
        let progressive_byte_us =
            stream.map_or(0, |stream| stream.progress.byte_us(&body, start_us, complete_us));
        Ok(Self { bytes, complete_us, progressive_byte_us })
    }
}

fn unfinished(transfer: &Transfer, readable_bytes: u64) -> NoIndex {
    NoIndex::Unfinished {
        stream: transfer.stream,
        url: transfer.url.clone(),
        readable_bytes,
        stream_bytes: transfer.stream_bytes,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::timeline::StreamFrame;
    use proptest::prelude::*;

    /// (stream, requested ms, body bytes); headers take 10 stream bytes.
    fn page(transfers: &[(u64, u64, u64)], frames: &[(u64, u64, u64, u64)]) -> Timeline {
        Timeline {
            name: "test".to_owned(),
            transfers: transfers
                .iter()
                .map(|&(stream, requested_ms, body_bytes)| Transfer {
                    stream,
                    url: format!("/{stream}"),
                    requested_us: requested_ms * 1000,
                    body_offset: 10,
                    body_bytes: Some(body_bytes),
                    stream_bytes: Some(body_bytes + 10),
                })
                .collect(),
            frames: frames
                .iter()
                .map(|&(time_ms, stream, offset, bytes)| StreamFrame {
                    time_us: time_ms * 1000,
                    stream,
                    offset,
                    bytes,
                })
                .collect(),
        }
    }

    fn everything(timeline: &Timeline) -> Result<ByteIndex, NoIndex> {
        byte_index(timeline, |_| true)
    }

    #[test]
    fn the_index_weighs_completions_by_bytes() {
        // t0 = 1000 ms. A: 300 bytes, complete 250 ms after t0. B: 100 bytes, complete at 410 ms.
        let page = page(
            &[(0, 1000, 300), (4, 1100, 100)],
            &[(1050, 0, 0, 110), (1150, 4, 0, 60), (1250, 0, 110, 200), (1410, 4, 60, 50)],
        );
        let index = everything(&page).unwrap();
        // 300/400 * 250 + 100/400 * 410
        assert_eq!(index.complete_ms, 290.0);
        // 300/400 * 300 + 100/400 * 500
        assert_eq!(index.sampled_ms, 350.0);
        // (100 * 50 + 200 * 250 + 50 * 150 + 50 * 410) / 400
        assert_eq!(index.progressive_ms, 207.5);
        // (250 + 410) / 2
        assert_eq!(index.object_ms, 330.0);
        // Stream 4 alone, still from the page's t0.
        assert_eq!(byte_index(&page, |transfer| transfer.stream == 4).unwrap().complete_ms, 410.0);
    }

    #[test]
    fn a_completion_on_the_sample_is_seen_by_that_sample() {
        let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
        assert_eq!(everything(&page).unwrap().sampled_ms, 200.0);
    }

    #[test]
    fn an_empty_set_has_no_index() {
        assert_eq!(everything(&Timeline::default()), Err(NoIndex::EmptySet));
        let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
        assert_eq!(byte_index(&page, |_| false), Err(NoIndex::EmptySet));
    }

    #[test]
    fn an_empty_body_weighs_nothing() {
        let both = page(&[(0, 0, 90), (4, 0, 0)], &[(200, 0, 0, 100), (700, 4, 0, 10)]);
        assert_eq!(everything(&both).unwrap().complete_ms, 200.0);
        let none = page(&[(0, 0, 0)], &[(200, 0, 0, 10)]);
        assert_eq!(everything(&none), Err(NoIndex::NoBytes));
    }

    #[test]
    fn an_unfinished_transfer_gives_a_reason_and_no_number() {
        let page = page(&[(0, 0, 90), (4, 0, 90)], &[(200, 0, 0, 100), (300, 4, 0, 50)]);
        let reason = everything(&page).unwrap_err();
        assert_eq!(
            reason.to_string(),
            "/4 (stream 4) did not finish: 50 of 100 stream bytes readable"
        );
        assert!(byte_index(&page, |transfer| transfer.stream == 0).is_ok());
    }

    #[test]
    fn a_hole_holds_back_progressive_bytes() {
        let page = page(&[(0, 0, 90)], &[(100, 0, 0, 10), (200, 0, 50, 50), (300, 0, 10, 40)]);
        assert_eq!(everything(&page).unwrap().progressive_ms, 300.0);
    }

    #[test]
    fn the_curve_is_a_staircase_of_completions() {
        let page = page(
            &[(0, 0, 300), (4, 0, 100), (8, 0, 100)],
            &[(50, 4, 0, 110), (250, 0, 0, 310), (250, 8, 0, 40)],
        );
        let curve: Vec<(f64, f64)> = completed_share(&page, |_| true)
            .iter()
            .map(|point| (point.time_ms, point.share))
            .collect();
        assert_eq!(curve, [(0.0, 0.0), (50.0, 0.2), (250.0, 0.8)]);
        assert!(completed_share(&page, |_| false).is_empty());
    }

    #[test]
    fn speedup_is_the_baseline_divided_by_the_index() {
        assert_eq!(speedup(Some(1500.0), Some(750.0)), Some(2.0));
        assert_eq!(speedup(None, Some(750.0)), None);
        assert_eq!(speedup(Some(1500.0), Some(0.0)), None);
    }

    /// Pages of up to five resources that all finish, their frames in any order.
    fn finished_page() -> impl Strategy<Value = Timeline> {
        prop::collection::vec((0u64..50, 1u64..400), 1..6).prop_flat_map(|resources| {
            let transfers: Vec<(u64, u64, u64)> =
                resources.iter().zip(0u64..).map(|(&(at, bytes), n)| (n * 4, at, bytes)).collect();
            let pieces: Vec<(u64, u64)> = transfers
                .iter()
                .flat_map(|&(stream, _, bytes)| {
                    (0..=(bytes + 9) / 100).map(move |piece| (stream, piece * 100))
                })
                .collect();
            (Just(transfers), Just(pieces).prop_shuffle()).prop_map(|(transfers, pieces)| {
                let frames: Vec<(u64, u64, u64, u64)> = pieces
                    .iter()
                    .zip(0u64..)
                    .map(|(&(stream, offset), n)| {
                        let end =
                            transfers.iter().find(|transfer| transfer.0 == stream).unwrap().2 + 10;
                        (60 + n * 10, stream, offset, (end - offset).min(100))
                    })
                    .collect();
                page(&transfers, &frames)
            })
        })
    }

    fn area_above(curve: &[CurvePoint]) -> f64 {
        curve
            .windows(2)
            .map(|pair| (pair[1].time_ms - pair[0].time_ms) * (1.0 - pair[0].share))
            .sum()
    }

    proptest! {
        #[test]
        fn the_three_indices_agree_as_they_must(page in finished_page()) {
            let index = everything(&page).unwrap();
            prop_assert!(index.progressive_ms <= index.complete_ms);
            prop_assert!(index.complete_ms <= index.sampled_ms);
            prop_assert!(index.sampled_ms < index.complete_ms + 100.0);
            let area = area_above(&completed_share(&page, |_| true));
            prop_assert!((area - index.complete_ms).abs() < 1e-6, "{area} {}", index.complete_ms);
        }

        #[test]
        fn an_earlier_arrival_never_raises_an_index(page in finished_page(), which in any::<prop::sample::Index>(), earlier_us in 0u64..60_000) {
            let before = everything(&page).unwrap();
            let mut sooner = page.clone();
            let frame = which.index(sooner.frames.len());
            sooner.frames[frame].time_us -= earlier_us;
            sooner.frames.sort_by_key(|frame| frame.time_us);
            let after = everything(&sooner).unwrap();
            prop_assert!(after.complete_ms <= before.complete_ms);
            prop_assert!(after.sampled_ms <= before.sampled_ms);
            prop_assert!(after.progressive_ms <= before.progressive_ms);
        }
    }
}
