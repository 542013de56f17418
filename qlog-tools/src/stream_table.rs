//! The streams of a log as a table: the waterfall in numbers.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::trace::{StreamRole, Trace};

/// One stream's row. Times are in microseconds on the log's clock, and in milliseconds in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StreamRow {
    /// Its ID.
    #[serde(rename = "id")]
    pub stream: u64,
    /// Its purpose.
    pub role: StreamRole,
    /// The URL requested on it, if logged.
    pub url: Option<String>,
    /// Its latest priority.
    pub priority: Option<String>,
    /// The response's status.
    pub status: Option<u16>,
    /// When it was asked for.
    #[serde(rename = "requested_ms", serialize_with = "in_ms")]
    pub requested_us: Option<u64>,
    /// Its first frame.
    #[serde(rename = "first_ms", serialize_with = "in_ms")]
    pub first_us: Option<u64>,
    /// Its last frame with new bytes.
    #[serde(rename = "last_ms", serialize_with = "in_ms")]
    pub last_us: Option<u64>,
    /// When all its bytes were readable.
    #[serde(rename = "complete_ms", serialize_with = "in_ms")]
    pub complete_us: Option<u64>,
    /// Distinct bytes.
    pub bytes: u64,
    /// Bytes of the body, when known.
    pub body_bytes: Option<u64>,
    /// STREAM frames.
    pub frames: u64,
    /// Bytes that were lost and retransmitted.
    pub retransmitted_bytes: u64,
    /// Bytes that were retransmitted needlessly; `None` in a sender's log without acknowledgements.
    pub duplicate_bytes: Option<u64>,
    /// Bytes that others had overtaken.
    pub reordered_bytes: u64,
}

impl StreamRow {
    /// Whether it carries a response, not HTTP/3's own streams.
    pub fn is_of_page(&self) -> bool {
        matches!(self.role, StreamRole::Request | StreamRole::Push)
    }
}

/// Streams with frames, and requests without any, by ID.
pub fn stream_rows(trace: &Trace) -> Vec<StreamRow> {
    let with_frames = trace.streams.iter().map(|it| StreamRow {
        role: it.role,
        first_us: Some(it.first_us),
        last_us: Some(it.last_us),
        complete_us: it.complete_us,
        bytes: it.bytes,
        frames: it.frames,
        retransmitted_bytes: it.retransmitted_bytes,
        duplicate_bytes: it.duplicate_bytes,
        reordered_bytes: it.reordered_bytes,
        stream: it.stream,
        ..StreamRow::default()
    });
    let mut rows: BTreeMap<u64, StreamRow> = with_frames.map(|row| (row.stream, row)).collect();
    for (transfer, details) in trace.timeline.transfers.iter().zip(&trace.details) {
        let (stream, role) = (transfer.stream, StreamRole::Request);
        let requested = StreamRow { stream, role, ..StreamRow::default() };
        let row = rows.entry(stream).or_insert(requested);
        row.requested_us = Some(transfer.requested_us);
        row.body_bytes = transfer.body_bytes;
        row.status = details.status;
        row.url = (!transfer.is_nameless()).then(|| transfer.url.clone());
        row.priority.clone_from(&details.priority);
    }
    // The latest statement of a priority counts.
    for signal in trace.signals.iter().filter(|signal| signal.is_of_stream()) {
        if let Some(row) = rows.get_mut(&signal.element) {
            row.priority = Some(signal.value.clone());
        }
    }
    rows.into_values().collect()
}

#[expect(clippy::ref_option, reason = "serde's form")]
fn in_ms<S: Serializer>(time_us: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    time_us.map(|it| it as f64 / 1000.0).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{PrioritySignal, SignalKind, StreamSummary};

    #[test]
    fn what_is_said_of_a_push_is_not_said_of_the_stream_with_its_number() {
        let signal = |how, value: &str| PrioritySignal {
            time_us: 1,
            element: 4,
            how,
            value: value.to_owned(),
        };
        let trace = Trace {
            streams: vec![StreamSummary { stream: 4, ..StreamSummary::default() }],
            signals: vec![signal(SignalKind::Update, "u=1"), signal(SignalKind::PushUpdate, "u=6")],
            ..Trace::default()
        };
        assert_eq!(stream_rows(&trace)[0].priority.as_deref(), Some("u=1"));
    }

    #[test]
    fn times_are_milliseconds_in_json() {
        let row = StreamRow { requested_us: Some(1500), ..StreamRow::default() };
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!((&json["requested_ms"], &json["first_ms"]), (&1.5.into(), &().into()));
    }
}
