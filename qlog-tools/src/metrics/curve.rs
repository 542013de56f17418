//! Progress over time: the share of bytes in fully downloaded resources.

use std::collections::BTreeSet;

use super::Completions;
use crate::timeline::{Timeline, Transfer};
use crate::trace::Trace;

/// A corner of a progress curve: from `time_ms` after t0 on, `share` (0 to 1) is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Milliseconds since the first request.
    pub time_ms: f64,
    /// Share of the set's body bytes in fully downloaded resources.
    pub share: f64,
}

/// Progress over time as a staircase from (0, 0) on: the area above the curve is the `ByteIndex`
/// (the paper's Figure 11). Unfinished transfers have weight but never arrive. Empty if the set is
/// empty or has no bytes.
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
            time_ms: time_us as f64 / 1000.0,
            share: done_bytes as f64 / all_bytes as f64,
        };
        match curve.last_mut() {
            Some(last) if last.time_ms >= point.time_ms => *last = point,
            _ => curve.push(point),
        }
    }
    curve
}

/// The same over the responses of a log that finished: the area above it is the `ByteIndex` of [`Completions::of_finished`].
pub fn finished_share(trace: &Trace) -> Vec<CurvePoint> {
    let Ok((_, unfinished)) = Completions::of_finished(trace, |_| true) else { return Vec::new() };
    let unfinished: BTreeSet<u64> = unfinished.into_iter().map(|it| it.stream).collect();
    completed_share(&trace.timeline, |it| !unfinished.contains(&it.stream))
}
