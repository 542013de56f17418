//! What a sender's recovery knew.

/// What the sender's recovery knew at a time; `None` where the event did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RecoverySample {
    /// When, on the log's clock.
    pub time_us: u64,
    /// The congestion window.
    pub congestion_window_bytes: Option<u64>,
    /// Bytes sent, and neither acknowledged nor lost.
    pub bytes_in_flight: Option<u64>,
    /// Absent while it is unlimited.
    pub slow_start_threshold_bytes: Option<u64>,
    /// The smoothed round-trip time.
    pub smoothed_rtt_ms: Option<f64>,
    /// The latest round-trip time.
    pub latest_rtt_ms: Option<f64>,
    /// The least round-trip time.
    pub min_rtt_ms: Option<f64>,
}

/// The longest round trips that a log measured, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LongestRtt {
    pub(crate) latest_ms: Option<f64>,
    pub(crate) smoothed_ms: Option<f64>,
}

impl LongestRtt {
    /// Takes another sample into account.
    pub(crate) fn add(&mut self, sample: &RecoverySample) {
        let longer = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        self.latest_ms = longer(self.latest_ms, sample.latest_rtt_ms);
        self.smoothed_ms = longer(self.smoothed_ms, sample.smoothed_rtt_ms);
    }
}
