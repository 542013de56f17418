//! The streams of a log as a table: the waterfall in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::{StreamRole, Trace};

/// One stream's row. Times are milliseconds on the log's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StreamRow {
    /// Its ID.
    #[serde(rename = "id")]
    pub stream: u64,
    /// Its purpose.
    pub role: StreamRole,
    /// What was asked for on it, if the log says that.
    pub url: Option<String>,
    /// Its priority, as it was said last.
    pub priority: Option<String>,
    /// The response's status.
    pub status: Option<u16>,
    /// When it was asked for.
    pub requested_ms: Option<f64>,
    /// Its first frame.
    pub first_ms: Option<f64>,
    /// Its last frame with new bytes.
    pub last_ms: Option<f64>,
    /// When all its bytes were readable.
    pub complete_ms: Option<f64>,
    /// Distinct bytes.
    pub bytes: u64,
    /// Bytes of the body, when known.
    pub body_bytes: Option<u64>,
    /// STREAM frames.
    pub frames: u64,
    /// Bytes that were lost and sent again.
    pub retransmitted_bytes: u64,
    /// Bytes that came again in vain; `None` in a sender's log without acknowledgements.
    pub duplicate_bytes: Option<u64>,
    /// Bytes that others had overtaken.
    pub reordered_bytes: u64,
}

impl StreamRow {
    /// Whether it carries a response, rather than HTTP/3's own needs.
    pub fn is_of_page(&self) -> bool {
        matches!(self.role, StreamRole::Request | StreamRole::Push)
    }
}

/// Streams with frames, and requests without any, by ID.
pub fn stream_rows(trace: &Trace) -> Vec<StreamRow> {
    let mut rows: BTreeMap<u64, StreamRow> = BTreeMap::new();
    for stream in &trace.streams {
        let row = StreamRow {
            role: stream.role,
            first_ms: Some(milliseconds(stream.first_us)),
            last_ms: Some(milliseconds(stream.last_us)),
            complete_ms: stream.complete_us.map(milliseconds),
            bytes: stream.bytes,
            frames: stream.frames,
            retransmitted_bytes: stream.retransmitted_bytes,
            duplicate_bytes: stream.duplicate_bytes,
            reordered_bytes: stream.reordered_bytes,
            stream: stream.stream,
            ..StreamRow::default()
        };
        rows.insert(stream.stream, row);
    }
    for (transfer, details) in trace.timeline.transfers.iter().zip(&trace.details) {
        let (stream, role) = (transfer.stream, StreamRole::Request);
        let requested = StreamRow { stream, role, ..StreamRow::default() };
        let row = rows.entry(stream).or_insert(requested);
        row.requested_ms = Some(milliseconds(transfer.requested_us));
        row.body_bytes = transfer.body_bytes;
        row.status = details.status;
        row.url = (!transfer.is_nameless()).then(|| transfer.url.clone());
        row.priority.clone_from(&details.priority);
    }
    // The last thing said about a priority is what counts.
    for signal in &trace.signals {
        if let Some(row) = rows.get_mut(&signal.element) {
            row.priority = Some(signal.value.clone());
        }
    }
    rows.into_values().collect()
}

fn milliseconds(time_us: u64) -> f64 {
    time_us as f64 / 1000.0
}
