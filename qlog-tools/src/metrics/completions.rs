//! The completed resources of a set, from which its metrics are computed.

use std::collections::BTreeSet;

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
    /// When it was complete.
    pub complete_us: u64,
    /// The sum over its body bytes of the time when each became readable.
    pub(super) progressive_byte_us: u128,
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
        /// Its number of readable bytes.
        readable_bytes: u64,
        /// Its length, if known.
        stream_bytes: Option<u64>,
    },
}

impl Completions {
    /// The transfers that `belongs` selects.
    pub fn new(
        timeline: &Timeline,
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<Self, Unmeasured> {
        Self::of_deliveries(timeline, &timeline.deliveries(), belongs)
    }

    /// The same with the deliveries of the timeline's transfers, which take time to find.
    pub fn of_deliveries(
        timeline: &Timeline,
        deliveries: &[Delivery],
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<Self, Unmeasured> {
        let start_us = timeline.start_us().ok_or(Unmeasured::EmptySet)?;
        let transfers = timeline.transfers.iter().zip(deliveries);
        transfers
            .filter(|(transfer, _)| belongs(transfer))
            .map(|(transfer, delivery)| Completion::new(transfer, delivery, start_us))
            .collect::<Result<Vec<_>, _>>()
            .and_then(Self::from_resources)
    }

    /// The same from sums made while a log was read, so that no frames need to be stored. Excludes unfinished pushes: the
    /// client refused them, or the server abandoned them.
    pub fn of_trace(
        trace: &Trace,
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<Self, Unmeasured> {
        let start_us = trace.timeline.start_us().ok_or(Unmeasured::EmptySet)?;
        let unfinished: BTreeSet<u64> = trace.unfinished_pushes().map(|it| it.stream).collect();
        let transfers = trace.timeline.transfers.iter();
        let resources: Result<Vec<Completion>, Unmeasured> = transfers
            .filter(|it| belongs(it) && !unfinished.contains(&it.stream))
            .map(|it| Completion::streamed(it, trace.stream(it.stream), start_us))
            .collect();
        Self::from_resources(resources?)
    }

    /// The same over finished ones, with the list of unfinished ones, pushes or not. If none finished, the reason of the
    /// first.
    pub fn of_finished(
        trace: &Trace,
        belongs: impl Fn(&Transfer) -> bool,
    ) -> Result<(Self, Vec<&Transfer>), Unmeasured> {
        let start_us = trace.timeline.start_us().ok_or(Unmeasured::EmptySet)?;
        let (mut finished, mut unfinished, mut reason) = (Vec::new(), Vec::new(), None);
        for transfer in trace.timeline.transfers.iter().filter(|transfer| belongs(transfer)) {
            match Completion::streamed(transfer, trace.stream(transfer.stream), start_us) {
                Ok(completion) => finished.push(completion),
                Err(why) => {
                    reason.get_or_insert(why);
                    unfinished.push(transfer);
                }
            }
        }
        match reason.filter(|_| finished.is_empty()) {
            Some(reason) => Err(reason),
            None => Ok((Self::from_resources(finished)?, unfinished)),
        }
    }

    fn from_resources(resources: Vec<Completion>) -> Result<Self, Unmeasured> {
        let bytes: u128 = resources.iter().map(|it| u128::from(it.bytes)).sum();
        match (resources.is_empty(), bytes) {
            (true, _) => Err(Unmeasured::EmptySet),
            (false, 0) => Err(Unmeasured::NoBytes),
            _ => Ok(Self { resources, bytes }),
        }
    }

    /// The `ByteIndex` in milliseconds, the first of the metrics.
    pub fn byte_index_ms(&self) -> f64 {
        self.mean_ms_by_bytes(|it| it.complete_us)
    }

    pub(super) fn mean_ms_by_bytes(&self, time_us: fn(&Completion) -> u64) -> f64 {
        self.per_byte_ms(|it| u128::from(it.bytes) * u128::from(time_us(it)))
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

    pub(super) fn per_byte_ms(&self, byte_us: impl Fn(&Completion) -> u128) -> f64 {
        let sum: u128 = self.resources.iter().map(byte_us).sum();
        sum as f64 / self.bytes as f64 / 1000.0
    }
}

impl Completion {
    fn new(transfer: &Transfer, delivery: &Delivery, start_us: u64) -> Result<Self, Unmeasured> {
        let (complete_us, readable_bytes) = (delivery.complete_us, delivery.readable_bytes());
        Self::of(transfer, complete_us, readable_bytes, start_us, |bytes, complete_us| {
            let (mut counted, mut byte_us) = (0, 0);
            for step in &delivery.steps {
                let time_us = step.time_us.saturating_sub(start_us).min(complete_us);
                let body = step.readable_bytes.saturating_sub(transfer.body_offset).min(bytes);
                byte_us += u128::from(body - counted) * u128::from(time_us);
                counted = body;
            }
            // A body with more stated bytes than its stream is complete when the stream is.
            byte_us + u128::from(bytes - counted) * u128::from(complete_us)
        })
    }

    fn streamed(
        transfer: &Transfer,
        stream: Option<&StreamSummary>,
        start_us: u64,
    ) -> Result<Self, Unmeasured> {
        let complete_us = match (stream, transfer.stream_bytes) {
            // An empty stream without frames completes with its request.
            (None, Some(0)) => Some(transfer.requested_us),
            (stream, _) => stream.and_then(|stream| stream.complete_us),
        };
        let readable_bytes = stream.map_or(0, |stream| stream.progress.readable_bytes());
        Self::of(transfer, complete_us, readable_bytes, start_us, |bytes, complete_us| {
            let body = transfer.body_offset..transfer.body_offset.saturating_add(bytes);
            stream.map_or(0, |stream| stream.progress.byte_us(&body, start_us, complete_us))
        })
    }

    /// `progressive` returns the sum over the body's bytes of the time when each became readable, from their number and
    /// the time of completion.
    fn of(
        transfer: &Transfer,
        complete_us: Option<u64>,
        readable_bytes: u64,
        start_us: u64,
        progressive: impl FnOnce(u64, u64) -> u128,
    ) -> Result<Self, Unmeasured> {
        let Some((complete_us, bytes)) = complete_us.zip(transfer.body_bytes_or_stream()) else {
            let Transfer { stream, stream_bytes, ref url, .. } = *transfer;
            let url = url.clone();
            return Err(Unmeasured::Unfinished { stream, url, readable_bytes, stream_bytes });
        };
        let complete_us = complete_us.saturating_sub(start_us);
        Ok(Self { bytes, complete_us, progressive_byte_us: progressive(bytes, complete_us) })
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests;
