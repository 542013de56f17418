//! The completed resources of a set, from which its metrics are computed.

use crate::timeline::{Delivery, Timeline, Transfer};
use crate::trace::{StreamSummary, Trace};

/// The resources of a set, all of them complete. There is at least one, and at least one byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    resources: Vec<Completion>,
    bytes: u128,
}

/// One resource that completed. Times count from t0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Bytes of its body.
    pub bytes: u64,
    /// When all of it was there.
    pub complete_us: u64,
    /// The sum over its body bytes of the time each was readable.
    progressive_byte_us: u128,
}

/// Why a set of resources has no metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasured {
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

impl Completions {
    /// The transfers that `belongs` selects.
    pub fn new(
        timeline: &Timeline,
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<Self, Unmeasured> {
        let start_us = timeline.start_us().ok_or(Unmeasured::EmptySet)?;
        let deliveries = timeline.deliveries();
        let transfers = timeline.transfers.iter().zip(&deliveries);
        transfers
            .filter(|(transfer, _)| belongs(transfer))
            .map(|(transfer, delivery)| Completion::new(transfer, delivery, start_us))
            .collect::<Result<Vec<_>, _>>()
            .and_then(Self::from_resources)
    }

    /// The same from what was added up while a log was read, so that no frame need be kept.
    pub fn of_trace(
        trace: &Trace,
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<Self, Unmeasured> {
        let start_us = trace.timeline.start_us().ok_or(Unmeasured::EmptySet)?;
        let transfers = trace.timeline.transfers.iter().filter(|&transfer| belongs(transfer));
        transfers
            .map(|it| Completion::streamed(it, trace.stream(it.stream), start_us))
            .collect::<Result<Vec<_>, _>>()
            .and_then(Self::from_resources)
    }

    fn from_resources(resources: Vec<Completion>) -> Result<Self, Unmeasured> {
        let bytes: u128 = resources.iter().map(|it| u128::from(it.bytes)).sum();
        match (resources.is_empty(), bytes) {
            (true, _) => Err(Unmeasured::EmptySet),
            (false, 0) => Err(Unmeasured::NoBytes),
            _ => Ok(Self { resources, bytes }),
        }
    }

    /// The mean of a time over all body bytes, in milliseconds.
    pub(super) fn mean_ms_by_bytes(&self, time_us: fn(&Completion) -> u64) -> f64 {
        self.per_byte_ms(|it| u128::from(it.bytes) * u128::from(time_us(it)))
    }

    /// The mean over all body bytes of the time at which each was readable, in milliseconds.
    pub(super) fn progressive_mean_ms(&self) -> f64 {
        self.per_byte_ms(|it| it.progressive_byte_us)
    }

    /// The mean time to completion, in milliseconds.
    pub(super) fn mean_ms_by_resource(&self) -> f64 {
        let sum_us: u128 = self.resources.iter().map(|it| u128::from(it.complete_us)).sum();
        sum_us as f64 / self.resources.len() as f64 / 1000.0
    }

    /// The time of the last completion, in milliseconds.
    pub(super) fn last_ms(&self) -> f64 {
        let last_us = self.resources.iter().map(|it| it.complete_us).max();
        last_us.unwrap_or_default() as f64 / 1000.0
    }

    fn per_byte_ms(&self, byte_us: impl Fn(&Completion) -> u128) -> f64 {
        let sum: u128 = self.resources.iter().map(byte_us).sum();
        sum as f64 / self.bytes as f64 / 1000.0
    }
}

impl Completion {
    fn new(transfer: &Transfer, delivery: &Delivery, start_us: u64) -> Result<Self, Unmeasured> {
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
    ) -> Result<Self, Unmeasured> {
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

fn unfinished(transfer: &Transfer, readable_bytes: u64) -> Unmeasured {
    Unmeasured::Unfinished {
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
    use crate::metrics::{CurvePoint, METRICS, completed_share, find};
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

    fn everything(timeline: &Timeline) -> Result<Completions, Unmeasured> {
        Completions::new(timeline, |_| true)
    }

    fn ms(set: &Completions, metric: &str) -> f64 {
        find(metric).unwrap().of(set)
    }

    #[test]
    fn the_index_weighs_completions_by_bytes() {
        // t0 = 1000 ms. A: 300 bytes, complete 250 ms after t0. B: 100 bytes, complete at 410 ms.
        let page = page(
            &[(0, 1000, 300), (4, 1100, 100)],
            &[(1050, 0, 0, 110), (1150, 4, 0, 60), (1250, 0, 110, 200), (1410, 4, 60, 50)],
        );
        let set = everything(&page).unwrap();
        // 300/400 * 250 + 100/400 * 410
        assert_eq!(ms(&set, "byte_index"), 290.0);
        // 300/400 * 300 + 100/400 * 500
        assert_eq!(ms(&set, "byte_index_sampled"), 350.0);
        // (100 * 50 + 200 * 250 + 50 * 150 + 50 * 410) / 400
        assert_eq!(ms(&set, "byte_index_progressive"), 207.5);
        // (250 + 410) / 2
        assert_eq!(ms(&set, "object_index"), 330.0);
        assert_eq!(ms(&set, "critical_ms"), 410.0);
        // Stream 4 alone, still from the page's t0.
        let alone = Completions::new(&page, |transfer| transfer.stream == 4).unwrap();
        assert_eq!(ms(&alone, "byte_index"), 410.0);
    }

    #[test]
    fn a_completion_on_the_sample_is_seen_by_that_sample() {
        let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
        assert_eq!(ms(&everything(&page).unwrap(), "byte_index_sampled"), 200.0);
    }

    #[test]
    fn an_empty_set_has_no_index() {
        assert_eq!(everything(&Timeline::default()).unwrap_err(), Unmeasured::EmptySet);
        let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
        assert_eq!(Completions::new(&page, |_| false).unwrap_err(), Unmeasured::EmptySet);
    }

    #[test]
    fn an_empty_body_weighs_nothing() {
        let both = page(&[(0, 0, 90), (4, 0, 0)], &[(200, 0, 0, 100), (700, 4, 0, 10)]);
        assert_eq!(ms(&everything(&both).unwrap(), "byte_index"), 200.0);
        let none = page(&[(0, 0, 0)], &[(200, 0, 0, 10)]);
        assert_eq!(everything(&none).unwrap_err(), Unmeasured::NoBytes);
    }

    #[test]
    fn an_unfinished_transfer_gives_a_reason_and_no_number() {
        let page = page(&[(0, 0, 90), (4, 0, 90)], &[(200, 0, 0, 100), (300, 4, 0, 50)]);
        let reason = everything(&page).unwrap_err();
        assert_eq!(
            reason.to_string(),
            "/4 (stream 4) did not finish: 50 of 100 stream bytes readable"
        );
        assert!(Completions::new(&page, |transfer| transfer.stream == 0).is_ok());
    }

    #[test]
    fn a_hole_holds_back_progressive_bytes() {
        let page = page(&[(0, 0, 90)], &[(100, 0, 0, 10), (200, 0, 50, 50), (300, 0, 10, 40)]);
        assert_eq!(ms(&everything(&page).unwrap(), "byte_index_progressive"), 300.0);
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
            let set = everything(&page).unwrap();
            let [complete, sampled, progressive] =
                ["byte_index", "byte_index_sampled", "byte_index_progressive"].map(|it| ms(&set, it));
            prop_assert!(progressive <= complete && complete <= sampled);
            prop_assert!(sampled < complete + 100.0);
            let area = area_above(&completed_share(&page, |_| true));
            prop_assert!((area - complete).abs() < 1e-6, "{area} {complete}");
        }

        #[test]
        fn an_earlier_arrival_never_raises_an_index(page in finished_page(), which in any::<prop::sample::Index>(), earlier_us in 0u64..60_000) {
            let before = everything(&page).unwrap();
            let mut sooner = page.clone();
            let frame = which.index(sooner.frames.len());
            sooner.frames[frame].time_us -= earlier_us;
            sooner.frames.sort_by_key(|frame| frame.time_us);
            let after = everything(&sooner).unwrap();
            for metric in &METRICS {
                prop_assert!(metric.of(&after) <= metric.of(&before), "{}", metric.name);
            }
        }
    }
}
