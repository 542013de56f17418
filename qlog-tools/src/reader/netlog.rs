//! Chromium's netlog (`--log-net-log`): its QUIC sessions as events of qlog.
//!
//! A netlog is one JSON document of all that the browser's network did. Its events have numbers that its `constants` name. A
//! packet's frames are events of their own: those of a received packet follow its header, those of a sent packet come before it.
//! Times are whole milliseconds.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::header::Header;
use crate::limits;

/// More frames than a packet has room for.
const PACKET_FRAMES: usize = 2000;

/// The translation of one document.
pub(super) struct Netlog {
    /// The names of events, of those that matter.
    names: BTreeMap<u64, String>,
    version: String,
    /// The wall clock at tick 0, in ms since 1970.
    offset_ms: f64,
    /// The tick of the first event, in ms: time 0 of the records.
    first_ms: Option<f64>,
    sessions: BTreeMap<u64, Session>,
}

/// A connection.
#[derive(Default)]
struct Session {
    /// The connection ID that the client chose.
    id: String,
    /// A received packet whose frames are still coming: when, and its body.
    received: Option<(f64, Value)>,
    /// Frames whose packet has not been sent yet.
    frames: Vec<Value>,
    /// As HTTP/3 streams have their compressed headers.
    header_bytes: BTreeMap<u64, u64>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: u64,
    source: Source,
    time: String,
    #[serde(default)]
    params: Map<String, Value>,
}

#[derive(Deserialize)]
struct Source {
    id: u64,
}

impl Netlog {
    /// The netlog that begins with this JSON; `None` if it is something else.
    pub(super) fn of(outer: &[u8]) -> Option<Self> {
        let outer: Value = serde_json::from_slice(outer).ok()?;
        let constants = outer.get("constants")?;
        let names = constants.get("logEventTypes")?.as_object()?.iter();
        let matters = |name: &str| name.starts_with("QUIC_SESSION") || name.starts_with("HTTP3_");
        let names = names.filter(|(name, _)| matters(name));
        let names = names.filter_map(|(name, number)| Some((number.as_u64()?, name.clone())));
        let offset = constants.get("timeTickOffset");
        let offset_ms = offset.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()));
        let version = constants.get("clientInfo").and_then(|it| it.get("version")?.as_str());
        Some(Self {
            names: names.collect(),
            version: version.unwrap_or_default().to_owned(),
            offset_ms: offset_ms.unwrap_or_default(),
            first_ms: None,
            sessions: BTreeMap::new(),
        })
    }

    /// As a qlog's.
    pub(super) fn header(&self) -> Header {
        let mut trace = json!({"vantage_point": {"type": "client", "name": "chromium"}});
        if !self.version.is_empty() {
            trace["code_version"] = json!(self.version);
        }
        if let Some(first_ms) = self.first_ms.filter(|_| self.offset_ms > 0.0) {
            trace["common_fields"] = json!({"reference_time": self.offset_ms + first_ms});
        }
        Header::of_trace(br#"{"qlog_version":"netlog"}"#, trace.to_string().as_bytes())
    }

    /// The records of qlog that an event completes; `None` if it cannot be read.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let event: Event = serde_json::from_slice(bytes).ok()?;
        let tick_ms: f64 = event.time.parse().ok()?;
        let time_ms = (tick_ms - *self.first_ms.get_or_insert(tick_ms)).max(0.0);
        let Some(name) = self.names.get(&event.kind) else { return Some(Vec::new()) };
        let has_room = self.sessions.len() < limits::TRACES;
        if !has_room && !self.sessions.contains_key(&event.source.id) {
            return None;
        }
        let session = self.sessions.entry(event.source.id).or_default();
        Some(session.event(time_ms, name, &event.params))
    }

    /// The records that are left at the end.
    pub(super) fn rest(&mut self) -> Vec<Vec<u8>> {
        self.sessions.values_mut().filter_map(Session::flush).collect()
    }
}

impl Session {
    fn event(&mut self, time_ms: f64, name: &str, params: &Map<String, Value>) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let number = |key: &str| params.get(key).cloned().unwrap_or(Value::Null);
        if let Some(frame) = received_frame(name, params) {
            if let Some((_, packet)) = &mut self.received {
                add(&mut packet["frames"], frame);
            }
            return records;
        }
        if name == "QUIC_SESSION_STREAM_FRAME_SENT" {
            if self.frames.len() < PACKET_FRAMES {
                self.frames.push(stream_frame(params));
            }
            return records;
        }
        match name {
            "QUIC_SESSION" => {
                if let Some(id) = params.get("connection_id").and_then(Value::as_str) {
                    id.clone_into(&mut self.id);
                }
            }
            "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED" => {
                records.extend(self.flush());
                let kind = params.get("long_header_type").and_then(Value::as_str);
                let header = json!({"packet_type": packet_type(kind), "packet_number": number("packet_number")});
                self.received = Some((time_ms, json!({"header": header, "frames": []})));
            }
            "QUIC_SESSION_PACKET_SENT" => {
                records.extend(self.flush());
                let kind = params.get("encryption_level").and_then(Value::as_str);
                let header = json!({"packet_type": packet_type(kind), "packet_number": number("packet_number")});
                let frames = std::mem::take(&mut self.frames);
                let body =
                    json!({"header": header, "raw": {"length": number("size")}, "frames": frames});
                records.push(self.record(time_ms, "quic:packet_sent", &body));
            }
            "QUIC_SESSION_PACKET_LOST" => {
                let header =
                    json!({"packet_type": "1RTT", "packet_number": number("packet_number")});
                records.push(self.record(time_ms, "quic:packet_lost", &json!({"header": header})));
            }
            _ => records.extend(self.http3(time_ms, name, params)),
        }
        records
    }

    /// The received packet, once all its frames have come.
    fn flush(&mut self) -> Option<Vec<u8>> {
        let (time_ms, packet) = self.received.take()?;
        Some(self.record(time_ms, "quic:packet_received", &packet))
    }

    fn http3(&mut self, time_ms: f64, name: &str, params: &Map<String, Value>) -> Option<Vec<u8>> {
        let stream = params.get("stream_id").and_then(Value::as_u64);
        let (event, body) = match (name, stream) {
            ("HTTP3_HEADERS_RECEIVED", Some(stream)) => {
                let bytes = params.get("compressed_headers_length").and_then(Value::as_u64)?;
                if self.header_bytes.len() < limits::STREAMS {
                    self.header_bytes.insert(stream, bytes);
                }
                return None;
            }
            ("HTTP3_HEADERS_SENT", Some(stream)) => ("frame_created", headers(stream, params)),
            ("HTTP3_HEADERS_DECODED", Some(stream)) => {
                let mut body = headers(stream, params);
                if let Some(bytes) = self.header_bytes.remove(&stream) {
                    // With the frame's type and length.
                    body["length"] = json!(bytes + if bytes < 64 { 2 } else { 3 });
                }
                ("frame_parsed", body)
            }
            ("HTTP3_DATA_FRAME_RECEIVED", Some(stream)) => {
                let bytes = params.get("payload_length")?;
                let frame = json!({"frame_type": "data"});
                ("frame_parsed", json!({"stream_id": stream, "length": bytes, "frame": frame}))
            }
            ("HTTP3_PRIORITY_UPDATE_SENT", _) => {
                let mut frame = params.clone();
                frame.insert("frame_type".to_owned(), json!("priority_update"));
                ("frame_created", json!({"stream_id": 2, "frame": frame}))
            }
            (_, Some(stream)) => {
                let kinds = [
                    ("_CONTROL_", "control"),
                    ("_QPACK_ENCODER_", "qpack_encode"),
                    ("_QPACK_DECODER_", "qpack_decode"),
                ];
                let is_made = name.ends_with("_STREAM_CREATED");
                let (_, kind) = kinds.iter().find(|(part, _)| is_made && name.contains(part))?;
                ("stream_type_set", json!({"stream_id": stream, "stream_type": kind}))
            }
            _ => return None,
        };
        Some(self.record(time_ms, &format!("http3:{event}"), &body))
    }

    fn record(&self, time_ms: f64, name: &str, data: &Value) -> Vec<u8> {
        let mut record = json!({"time": time_ms, "name": name, "data": data});
        if !self.id.is_empty() {
            record["group_id"] = json!(self.id);
        }
        record.to_string().into_bytes()
    }
}

fn add(frames: &mut Value, frame: Value) {
    if let Value::Array(frames) = frames
        && frames.len() < PACKET_FRAMES
    {
        frames.push(frame);
    }
}

/// The frame that an event says a received packet has.
fn received_frame(name: &str, params: &Map<String, Value>) -> Option<Value> {
    match name {
        "QUIC_SESSION_STREAM_FRAME_RECEIVED" => Some(stream_frame(params)),
        "QUIC_SESSION_ACK_FRAME_RECEIVED" => Some(ack_frame(params)),
        _ => None,
    }
}

fn stream_frame(params: &Map<String, Value>) -> Value {
    let mut frame = params.clone();
    frame.insert("frame_type".to_owned(), json!("stream"));
    Value::Object(frame)
}

/// All numbers from the smallest to the largest, without those that are missing.
fn ack_frame(params: &Map<String, Value>) -> Value {
    let number = |key: &str| params.get(key).and_then(Value::as_u64);
    let missing = params.get("missing_packets").and_then(Value::as_array);
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    if let (Some(mut from), Some(last)) = (number("smallest_observed"), number("largest_observed"))
    {
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

/// From the type of a long header, or a level of encryption.
fn packet_type(kind: Option<&str>) -> &'static str {
    match kind.unwrap_or_default().trim_start_matches("ENCRYPTION_") {
        "INITIAL" => "initial",
        "HANDSHAKE" => "handshake",
        "ZERO_RTT" | "ZERO_RTT_PROTECTED" => "0RTT",
        _ => "1RTT",
    }
}

fn headers(stream: u64, params: &Map<String, Value>) -> Value {
    let fields = params.get("headers").and_then(Value::as_array).into_iter().flatten();
    let fields = fields.filter_map(Value::as_str).filter_map(|line| {
        // A pseudo-header field's name begins with a colon.
        let end = line.get(1..)?.find(": ")? + 1;
        Some(json!({"name": &line[..end], "value": &line[end + 2..]}))
    });
    let frame = json!({"frame_type": "headers", "headers": fields.collect::<Vec<Value>>()});
    json!({"stream_id": stream, "frame": frame})
}

#[cfg(test)]
mod tests {
    use crate::reader::read;
    use crate::trace::{Container, SignalKind, Vantage};

    /// As Chromium writes it, with numbers of its own for the events.
    const NETLOG: &str = r#"{"constants":{"clientInfo":{"name":"Chromium","version":"156.0"},"logEventTypes":{"SOCKET_BYTES_SENT":9,"QUIC_SESSION":1,"QUIC_SESSION_PACKET_SENT":2,"QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED":3,"QUIC_SESSION_STREAM_FRAME_RECEIVED":4,"QUIC_SESSION_STREAM_FRAME_SENT":5,"HTTP3_HEADERS_SENT":6,"HTTP3_HEADERS_DECODED":7,"HTTP3_DATA_FRAME_RECEIVED":8,"HTTP3_PRIORITY_UPDATE_SENT":10,"HTTP3_LOCAL_CONTROL_STREAM_CREATED":11,"QUIC_SESSION_ACK_FRAME_RECEIVED":12},"timeTickOffset":1795612684941},
"events": [
{"params":{"connection_id":"2C26","host":"a.test"},"phase":1,"source":{"id":7,"start_time":"41025027","type":13},"time":"41025027","type":1},
{"phase":0,"source":{"id":8,"start_time":"41025027","type":1},"time":"41025027","type":9},
{"params":{"stream_id":2},"phase":0,"source":{"id":7,"type":13},"time":"41025028","type":11},
{"params":{"prioritized_element_id":0,"priority_field_value":"u=0, i"},"phase":0,"source":{"id":7,"type":13},"time":"41025030","type":10},
{"params":{"headers":[":method: GET",":authority: a.test",":scheme: https",":path: /x: y"],"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025030","type":6},
{"params":{"fin":true,"length":40,"offset":0,"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025030","type":5},
{"params":{"encryption_level":"ENCRYPTION_FORWARD_SECURE","packet_number":5,"size":90},"phase":0,"source":{"id":7,"type":13},"time":"41025031","type":2},
{"params":{"header_format":"IETF_QUIC_SHORT_HEADER_PACKET","packet_number":9},"phase":0,"source":{"id":7,"type":13},"time":"41025056","type":3},
{"params":{"largest_observed":5,"missing_packets":[3],"smallest_observed":1},"phase":0,"source":{"id":7,"type":13},"time":"41025056","type":12},
{"params":{"fin":false,"length":50,"offset":0,"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025056","type":4},
{"params":{"fin":true,"length":53,"offset":50,"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025056","type":4},
{"params":{"headers":[":status: 200","content-length: 100"],"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025057","type":7},
{"params":{"payload_length":100,"stream_id":0},"phase":0,"source":{"id":7,"type":13},"time":"41025057","type":8}
]}"#;

    #[test]
    fn a_netlogs_session_is_a_clients_log() {
        let trace = read("net.json", NETLOG.as_bytes()).unwrap();
        assert_eq!((trace.container, trace.vantage), (Container::Contained, Vantage::Client));
        assert_eq!(trace.stack.to_string(), "chromium 156.0");
        assert_eq!(
            (trace.format.as_deref(), trace.connection.as_deref()),
            (Some("netlog"), Some("2c26"))
        );
        let transfer = &trace.timeline.transfers[0];
        assert_eq!((&*transfer.url, transfer.requested_us), ("https://a.test/x: y", 3000));
        assert_eq!((transfer.body_bytes, transfer.stream_bytes), (Some(100), Some(103)));
        assert_eq!((trace.streams[0].bytes, trace.streams[0].complete_us), (103, Some(29_000)));
        assert_eq!((trace.counts.packets_sent, trace.counts.packets_received), (1, 1));
        let signal = &trace.signals[0];
        assert_eq!((signal.how, &*signal.value), (SignalKind::Update, "u=0, i"));
        assert_eq!(trace.incomplete(), None);
    }

    #[test]
    fn a_netlog_that_ends_early_has_the_packet_that_was_coming() {
        let cut = &NETLOG[..NETLOG.find(r#"{"params":{"headers":[":status"#).unwrap()];
        let trace = read("net.json", cut.as_bytes()).unwrap();
        assert_eq!(trace.streams[0].bytes, 103);
        assert!(trace.repairs.iter().any(|it| it.what.contains("ends early")));
    }
}
