//! Names and fields of the two output schemas.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::Target;
use super::anonymise::is_listed;
use crate::reader::moment::rfc_3339;
use crate::reader::raw::{Facts, PART_BEGINS_US};
use crate::reader::tolerant::Number;

pub(super) fn header(target: Target, facts: &Facts) -> Value {
    let mut vantage = Map::from_iter([("type".to_owned(), json!(facts.vantage.name()))]);
    if let Some(name) = &facts.said.stack.name {
        vantage.insert("name".to_owned(), json!(name));
    }
    let mut common = Map::new();
    if let Some(id) = &facts.connection {
        let key = if target == Target::V03 { "ODCID" } else { "group_id" };
        common.insert(key.to_owned(), json!(id));
    }
    let title = facts.said.title.as_deref().unwrap_or("converted");
    let mut header = match target {
        Target::Current => {
            let mut reference = json!({"clock_type": "monotonic", "epoch": "unknown"});
            let logged = facts.said.start.clone().filter(|start| start.contains('T'));
            if let Some(start) = logged.or_else(|| facts.said.started_ms.map(rfc_3339)) {
                reference["wall_clock_time"] = json!(start);
            }
            common.insert("reference_time".to_owned(), reference);
            json!({
                "file_schema": target.format(),
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "trace": {
                    "title": title,
                    "vantage_point": vantage,
                    "common_fields": common,
                    "event_schemas": [
                        "urn:ietf:params:qlog:events:quic-12",
                        "urn:ietf:params:qlog:events:http3-12",
                    ],
                },
            })
        }
        Target::V03 => {
            common.insert("time_format".to_owned(), json!("relative"));
            let started_ms = facts.said.started_ms.unwrap_or_default();
            common.insert("reference_time".to_owned(), json!(started_ms));
            json!({
                "qlog_version": target.format(),
                "qlog_format": "JSON-SEQ",
                "title": title,
                "trace": {"title": title, "vantage_point": vantage, "common_fields": common},
            })
        }
    };
    if let Some(version) = &facts.said.stack.version {
        header["trace"]["code_version"] = json!(version);
    }
    if let Some(begins_us) = facts.said.part_begins_us {
        header["trace"][PART_BEGINS_US] = json!(begins_us);
    }
    header
}

/// Scales the round-trip times of an event of metrics.
pub(super) fn scale_rtts(data: &mut Value, scale: f64) {
    scale_numbers(data, &["smoothed_rtt", "latest_rtt", "min_rtt", "rtt_variance"], scale);
}

/// Scales the delays in a packet's ACK frames.
pub(super) fn scale_ack_delays(data: &mut Value, scale: f64) {
    let frames = data.get_mut("frames").and_then(Value::as_array_mut);
    frames.into_iter().flatten().for_each(|it| scale_numbers(it, &["ack_delay"], scale));
}

fn scale_numbers(object: &mut Value, keys: &[&str], scale: f64) {
    if scale.to_bits() == 1_f64.to_bits() {
        return;
    }
    for key in keys {
        if let Some(number) = object.get_mut(key)
            && let Some(Number(logged)) = Number::deserialize(&*number).ok()
        {
            // To the nanosecond, so that a factor adds no digits.
            *number = json!((logged * scale * 1e6).round() / 1e6);
        }
    }
}

/// An event of any generation in the target's terms. Unknown events stay unchanged.
pub(super) fn event(
    target: Target,
    name: &str,
    trigger: Option<&str>,
    mut data: Value,
) -> (String, Value) {
    let (category, event) = name.rsplit_once(':').unwrap_or(("", name));
    let event = event.to_ascii_lowercase();
    if event == "stream_new" {
        return legacy_stream(target, trigger, &data);
    }
    let event = match &*event {
        event if is_listed(METRICS, event) => "metrics_updated",
        "data_moved" => "stream_data_moved",
        "spin_bit_update" => "spin_bit_updated",
        other => other,
    };
    normalise(&mut data, event);
    (named(target, &category.to_ascii_lowercase(), event), fields(target, event, data))
}

fn named(target: Target, category: &str, event: &str) -> String {
    let is_http = matches!(category, "http" | "h3" | "http3");
    match (target, category, event) {
        (Target::Current, _, "metrics_updated") => "quic:recovery_metrics_updated".to_owned(),
        (Target::Current, "recovery", "parameters_set") => {
            "quic:recovery_parameters_set".to_owned()
        }
        (Target::Current, _, _) if is_http => format!("http3:{event}"),
        (Target::Current, "transport" | "recovery" | "connectivity" | "security" | "quic", _) => {
            format!("quic:{event}")
        }
        (Target::V03, _, "metrics_updated") => "recovery:metrics_updated".to_owned(),
        (Target::V03, _, "recovery_parameters_set") => "recovery:parameters_set".to_owned(),
        (Target::V03, _, "stream_data_moved") => "transport:data_moved".to_owned(),
        (Target::V03, _, _) if is_http => format!("http:{event}"),
        (Target::V03, "quic", _) => format!("{}:{event}", old_category(event)),
        (_, "", _) => event.to_owned(),
        _ => format!("{category}:{event}"),
    }
}

/// Events of metrics in older drafts, and in the newest.
const METRICS: &str = "\
    metric_update metrics_update cwnd_update rtt_update bytes_in_flight_update recovery_metrics_updated";
/// Events of draft-02's categories.
const RECOVERY: &str = "\
    packet_lost congestion_state_updated loss_timer_updated marked_for_retransmit timer_updated";
const CONNECTIVITY: &str = "\
    connection_started connection_closed connection_state_updated spin_bit_updated server_listening \
    connection_id_updated";

/// The categories that draft-02 used for what is now `quic:`.
fn old_category(event: &str) -> &'static str {
    match event {
        "key_updated" | "key_discarded" => "security",
        _ if is_listed(RECOVERY, event) => "recovery",
        _ if is_listed(CONNECTIVITY, event) => "connectivity",
        _ => "transport",
    }
}

/// Normalises numbers that drafts before 02 wrote as strings, and names that have changed.
fn normalise(data: &mut Value, event: &str) {
    if let Value::Object(body) = data {
        rename(body, "cwnd", "congestion_window");
        rename(body, "byte_length", "length");
        if let Some(Value::Object(header)) = body.get_mut("header") {
            numbers(header, "packet_number");
            for gone in ["scil", "dcil", "payload_length"] {
                header.remove(gone);
            }
        }
        let is_lost = event == "packet_lost";
        let kind = body.remove("packet_type");
        if let Some(kind) = kind.or_else(|| is_lost.then(|| body.remove("type"))?) {
            put(body, "header", "packet_type", kind);
        }
        if let Some(number) = body.remove("packet_number") {
            let number = whole(&number).map_or(number, Value::from);
            put(body, "header", "packet_number", number);
        }
        let size = body.get_mut("header").and_then(Value::as_object_mut);
        if let Some(size) = size.and_then(|header| header.remove("packet_size")) {
            put(body, "raw", "length", size);
        }
        numbers(body, "stream_id offset length");
        for frame in body.get_mut("frames").and_then(Value::as_array_mut).into_iter().flatten() {
            normalise_frame(frame);
        }
        // quinn has the size of a packet there.
        let length = body.get("header").and_then(|header| header.get("length")).cloned();
        if let Some(length) = length.filter(|_| body.get("raw").is_none()) {
            put(body, "raw", "length", length);
        }
    }
}

fn normalise_frame(frame: &mut Value) {
    let Value::Object(frame) = frame else { return };
    let kind = frame.get("frame_type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if is_listed("stream max_stream_data stream_data_blocked reset_stream stop_sending", &kind) {
        rename(frame, "id", "stream_id");
    }
    // OpenSSL's `length` counts the frame's head only.
    if let Some(length) = frame.remove("payload_length") {
        frame.insert("length".to_owned(), length);
    }
    numbers(
        frame,
        "stream_id offset length maximum sequence_number retire_prior_to ack_delay raw_error_code",
    );
    let ranges = frame.get_mut("acked_ranges").and_then(Value::as_array_mut);
    for bound in ranges.into_iter().flatten().filter_map(Value::as_array_mut).flatten() {
        if let Some(number) = whole(bound) {
            *bound = json!(number);
        }
    }
}

/// Events that state which side acted: `owner` in the older schema, `initiator` in today's.
const WITH_A_SIDE: [&str; 4] =
    ["parameters_set", "parameters_restored", "stream_type_set", "connection_closed"];

/// Where the two schemas differ.
fn fields(target: Target, event: &str, mut data: Value) -> Value {
    if let Some(frames) = data.get_mut("frames").and_then(Value::as_array_mut) {
        for frame in frames.iter_mut().filter_map(Value::as_object_mut) {
            match target {
                Target::Current => length_into_raw(frame),
                Target::V03 => length_out_of_raw(frame),
            }
        }
    }
    let Value::Object(body) = &mut data else { return data };
    if WITH_A_SIDE.contains(&event) {
        match target {
            Target::Current => rename(body, "owner", "initiator"),
            Target::V03 => rename(body, "initiator", "owner"),
        }
    }
    match (target, event) {
        (Target::Current, "stream_type_set") => rename(body, "new", "stream_type"),
        (Target::V03, "stream_type_set") => rename(body, "stream_type", "new"),
        (Target::Current, "stream_data_moved" | "datagram_data_moved") => {
            if let Some(length) = body.remove("length") {
                body.entry("raw").or_insert_with(|| json!({"length": length}));
            }
        }
        (Target::V03, "stream_data_moved") => {
            if let Some(length) = body.get("raw").and_then(|raw| raw.get("length")).cloned() {
                body.entry("length").or_insert(length);
            }
        }
        (Target::V03, "frame_created" | "frame_parsed") => {
            let raw = body.get("raw").or_else(|| body.get("frame")?.get("raw"));
            let length =
                raw.and_then(|raw| raw.get("payload_length").or_else(|| raw.get("length")));
            if let Some(length) = length.cloned() {
                body.entry("length").or_insert(length);
            }
        }
        _ => {}
    }
    data
}

fn length_into_raw(frame: &mut Map<String, Value>) {
    if frame.get("frame_type").and_then(Value::as_str) == Some("new_connection_id") {
        rename(frame, "length", "connection_id_length");
        rename(frame, "reset_token", "stateless_reset_token");
        return;
    }
    if let Some(length) = frame.remove("length") {
        frame.entry("raw").or_insert_with(|| json!({"payload_length": length}));
    }
}

fn length_out_of_raw(frame: &mut Map<String, Value>) {
    let raw = frame.get("raw");
    let length = raw.and_then(|raw| raw.get("payload_length").or_else(|| raw.get("length")));
    let is_stream = frame.get("frame_type").and_then(Value::as_str) == Some("stream");
    if let Some(length) = length.cloned() {
        frame.entry("length").or_insert(length);
    }
    if is_stream {
        frame.entry("offset").or_insert_with(|| json!(0));
        frame.entry("fin").or_insert(Value::Bool(false));
    }
}

/// Turns STREAM frames, which are events in qlog 0.1, into packets.
fn legacy_stream(target: Target, trigger: Option<&str>, data: &Value) -> (String, Value) {
    let event = if trigger == Some("PACKET_RX") { "packet_received" } else { "packet_sent" };
    let [packet, stream, offset, length, fin] =
        ["packet_nr", "stream_id", "offset", "length", "final_frame"]
            .map(|key| data.get(key).and_then(whole).unwrap_or(0));
    let body = json!({
        // It marks a packet of which the log shows only this frame.
        "packet_nr": packet,
        "header": {"packet_type": "1RTT", "packet_number": packet},
        "frames": [{
            "frame_type": "stream",
            "stream_id": stream,
            "offset": offset,
            "length": length,
            "fin": fin != 0,
        }],
    });
    (named(target, "transport", event), fields(target, event, body))
}

/// Sets a member of an object in an object.
fn put(body: &mut Map<String, Value>, object: &str, key: &str, value: Value) {
    if let Value::Object(object) = body.entry(object).or_insert_with(|| json!({})) {
        object.insert(key.to_owned(), value);
    }
}

fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if !object.contains_key(to)
        && let Some(value) = object.remove(from)
    {
        object.insert(to.to_owned(), value);
    }
}

fn numbers(object: &mut Map<String, Value>, keys: &str) {
    for key in keys.split(' ') {
        if let Some(value) = object.get_mut(key)
            && let Value::String(text) = value
            && let Ok(number) = text.parse::<u64>()
        {
            *value = json!(number);
        }
    }
}

/// A whole number, also one in a string.
pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
