//! Converts the frames of a netlog's packets, and its transport parameters, to qlog's terms.

use serde_json::{Map, Value, json};

/// A frame, from the middle of its event's name (`_STREAM`, `_RST_STREAM`).
pub(super) fn frame(kind: &str, mut params: Map<String, Value>) -> Value {
    let kind = kind.trim_start_matches('_').to_ascii_lowercase();
    let of_connection = params.get("stream_id").is_none_or(|it| it.as_u64().is_none());
    let kind = match (&*kind, of_connection) {
        ("ack", _) => return ack_frame(&params),
        ("rst_stream", _) => "reset_stream",
        ("message", _) => "datagram",
        ("window_update", true) => "max_data",
        ("window_update", false) => "max_stream_data",
        ("blocked", true) => "data_blocked",
        ("blocked", false) => "stream_data_blocked",
        (other, _) => other,
    };
    if of_connection {
        // -1.
        params.remove("stream_id");
    }
    for (from, to) in [
        ("data_length", "length"),
        ("message_length", "length"),
        ("num_padding_bytes", "length"),
        ("byte_offset", "maximum"),
        ("stream_count", "maximum"),
        ("ietf_error_code", "error_code"),
        ("quic_error", "error_code"),
        ("quic_wire_error", "error_code"),
        ("close_type", "error_space"),
        ("details", "reason"),
    ] {
        if let Some(value) = params.remove(from) {
            params.insert(to.to_owned(), value);
        }
    }
    // The contents of TLS messages.
    params.remove("bytes");
    params.insert("frame_type".to_owned(), json!(kind));
    Value::Object(params)
}

/// Removes repeated frames: Chromium logs the frames of an Initial packet again, with the padding, when it fills the datagram
/// up. They are the last of those that wait for their packet.
pub(super) fn without_repeated(waiting: &mut Vec<Value>, initial: &[Value]) {
    let Some((last, others)) = waiting.split_last() else { return };
    if last["frame_type"] != "padding" {
        return;
    }
    let first = others.len() - if others.ends_with(initial) { initial.len() } else { 0 };
    waiting.truncate(first);
}

/// `parameters_set`, from a string such as `[Server max_idle_timeout 30000 initial_max_data 786432]`.
pub(super) fn parameters(owner: &str, params: &Map<String, Value>) -> Value {
    let text = params.get("quic_transport_parameters").and_then(Value::as_str).unwrap_or_default();
    let mut body = Map::from_iter([("owner".to_owned(), json!(owner))]);
    let words: Vec<&str> = text.split([' ', '[', ']']).filter(|it| !it.is_empty()).collect();
    for pair in words.windows(2) {
        let (name, value) = (pair[0], pair[1]);
        if name.ends_with("_connection_id") {
            body.insert(name.to_owned(), json!(value));
        } else if name.contains('_')
            && let Ok(number) = value.parse::<u64>()
        {
            body.insert(name.to_owned(), json!(number));
        }
    }
    Value::Object(body)
}

/// An ACK frame: all numbers from the smallest to the largest, without the missing ones.
fn ack_frame(params: &Map<String, Value>) -> Value {
    let [smallest, largest] = ["smallest_observed", "largest_observed"]
        .map(|key| params.get(key).and_then(Value::as_u64));
    let missing = params.get("missing_packets").and_then(Value::as_array);
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    if let (Some(mut from), Some(last)) = (smallest, largest) {
        let mut missing: Vec<u64> =
            missing.into_iter().flatten().filter_map(Value::as_u64).collect();
        missing.sort_unstable();
        for gap in missing.into_iter().filter(|gap| *gap <= last) {
            if gap > from {
                ranges.push([from, gap - 1]);
            }
            from = from.max(gap.saturating_add(1));
        }
        if from <= last {
            ranges.push([from, last]);
        }
    }
    json!({"frame_type": "ack", "acked_ranges": ranges})
}
