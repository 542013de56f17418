//! Chromium's netlog (`--log-net-log`): its QUIC sessions as events of qlog.
//!
//! A netlog is one JSON document of all the browser's network activity. Its events have numbers that its `constants` name. A
//! packet's frames are events of their own: the frames of a received packet follow its header, the frames of a sent packet
//! precede it. Times are whole milliseconds, but packets also have the microsecond at which they were sent or declared lost. Session
//! events without a qlog equivalent keep the netlog's name.

mod frames;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::header::Header;
use super::tolerant::{Number, Whole};
use crate::limits;
use frames::{frame, parameters, without_repeated};

/// The name of the format.
pub(super) const NETLOG: &str = "netlog";
/// More frames than fit into a packet.
const PACKET_FRAMES: usize = 2000;

/// The translation of one document.
pub(super) struct Netlog {
    /// The names of relevant events.
    names: BTreeMap<u64, String>,
    /// The type of sources that are QUIC sessions, if the document states it.
    session_type: Option<u64>,
    version: String,
    /// The wall clock at tick 0, in ms since 1970.
    offset_ms: f64,
    /// The tick of the first event, in ms: time 0 of the records.
    first_ms: Option<f64>,
    sessions: BTreeMap<i64, Session>,
}

/// A connection.
#[derive(Default)]
struct Session {
    /// The connection ID that the client chose.
    id: String,
    /// The size of the last datagram, until its first packet takes it.
    datagram_bytes: Option<Value>,
    /// A received packet that is still waiting for frames: its time and its body.
    received: Option<(f64, Value)>,
    /// The records that arrived after it.
    after: Vec<Vec<u8>>,
    /// Frames whose packet has not been sent yet.
    frames: Vec<Value>,
    /// When its last event was.
    last_ms: f64,
    /// The frames of the last Initial packet: Chromium logs them again when it pads the datagram.
    initial_frames: Vec<Value>,
    /// The types of sent packets other than 1-RTT packets; Chromium numbers packets of all types together.
    early: BTreeMap<u64, &'static str>,
    /// The lengths of compressed headers of HTTP/3 streams.
    header_bytes: BTreeMap<u64, u64>,
}

/// An event. Its contents are parsed only if its type is relevant.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a RawValue,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Source {
    id: i64,
    #[serde(rename = "type")]
    kind: Option<u64>,
}

fn read<'a, T: Deserialize<'a>>(json: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(json?.get()).ok()
}

impl Netlog {
    /// The netlog with this JSON at its beginning; `None` if it is something else.
    pub(super) fn of(outer: &[u8]) -> Option<Self> {
        let outer: Value = serde_json::from_slice(outer).ok()?;
        let constants = outer.get("constants")?;
        let names = constants.get("logEventTypes")?.as_object()?.iter();
        let names = names.filter(|(name, _)| matters(name));
        let names = names.filter_map(|(name, number)| Some((number.as_u64()?, name.clone())));
        let offset = constants.get("timeTickOffset");
        let offset_ms = offset.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()));
        let version = constants.get("clientInfo").and_then(|it| it.get("version")?.as_str());
        let types = constants.get("logSourceType");
        Some(Self {
            names: names.collect(),
            session_type: types.and_then(|it| it.get("QUIC_SESSION")?.as_u64()),
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
        let file = json!({"qlog_version": NETLOG});
        Header::of_trace(file.to_string().as_bytes(), trace.to_string().as_bytes())
    }

    /// The qlog records that an event completes; `None` if it cannot be read.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let event: Event<'_> = serde_json::from_slice(bytes).ok()?;
        let tick_ms = read::<Number>(event.time).map(|it| it.0);
        if let Some(tick_ms) = tick_ms {
            self.first_ms.get_or_insert(tick_ms);
        }
        let name = read(Some(event.kind)).and_then(|it: Whole| self.names.get(&it.0));
        let Some(name) = name else { return Some(Vec::new()) };
        let source: Source = read(event.source)?;
        if self.session_type.is_some_and(|kind| source.kind != Some(kind)) {
            return Some(Vec::new());
        }
        let params = event.params.map_or(Some(Map::new()), |it| read(Some(it)))?;
        let time_ms = (happened_ms(tick_ms?, &params) - self.first_ms?).max(0.0);
        let has_room = self.sessions.len() < limits::TRACES;
        if !has_room && !self.sessions.contains_key(&source.id) {
            return None;
        }
        let session = self.sessions.entry(source.id).or_default();
        Some(session.event(time_ms, name, params))
    }

    pub(super) fn rest(&mut self) -> Vec<Vec<u8>> {
        self.sessions.values_mut().flat_map(Session::end).collect()
    }
}

/// When what an event says happened, as a tick. Chromium can log a packet long after it was sent, and says when that was.
fn happened_ms(logged_ms: f64, params: &Map<String, Value>) -> f64 {
    let exact = ["sent_time_us", "detection_time_us"].into_iter().find_map(|it| params.get(it));
    let exact_ms = exact.and_then(|it| Some(Number::deserialize(it).ok()?.0 / 1000.0));
    // A tick is the last whole millisecond.
    exact_ms.filter(|it| (0.0..logged_ms + 1.0).contains(it)).unwrap_or(logged_ms)
}

/// Whether events of this name may concern a connection.
fn matters(name: &str) -> bool {
    let is_of_session = name.starts_with("QUIC_SESSION") || name.starts_with("HTTP3_");
    is_of_session && !name.starts_with("QUIC_SESSION_POOL_") && name != "QUIC_SESSION_CREATED"
}

impl Session {
    /// The records that are complete now.
    fn event(&mut self, time_ms: f64, name: &str, params: Map<String, Value>) -> Vec<Vec<u8>> {
        self.last_ms = time_ms;
        let mut records = Vec::new();
        if name == "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED" {
            records = self.flush();
            self.received = Some((time_ms, self.received_packet(&params)));
        } else if let Some(record) = self.record_of(time_ms, name, params) {
            self.after.push(record);
        }
        // Frames of a received packet may follow other events.
        if self.received.is_none() || self.after.len() > PACKET_FRAMES {
            records.extend(self.flush());
        }
        records
    }

    /// The record for an event, unless the event is part of another one.
    fn record_of(
        &mut self,
        time_ms: f64,
        name: &str,
        params: Map<String, Value>,
    ) -> Option<Vec<u8>> {
        let kind = name.strip_prefix("QUIC_SESSION").unwrap_or(name);
        if let Some(kind) = kind.strip_suffix("_FRAME_SENT") {
            add(&mut self.frames, frame(kind, params));
            return None;
        }
        if let (Some(kind), Some((_, packet))) =
            (kind.strip_suffix("_FRAME_RECEIVED"), &mut self.received)
        {
            if let Value::Array(frames) = &mut packet["frames"] {
                add(frames, frame(kind, params));
            }
            return None;
        }
        let (event, body) = match kind {
            "" => {
                if let Some(id) = params.get("connection_id").and_then(Value::as_str) {
                    id.clone_into(&mut self.id);
                }
                return None;
            }
            "_PACKET_RECEIVED" => {
                self.datagram_bytes = params.get("size").cloned();
                return None;
            }
            // It confirms the header that came before.
            "_PACKET_AUTHENTICATED" => return None,
            "_STREAM_FRAME_COALESCED" => {
                self.frames.pop();
                self.frames.push(frame("_STREAM", params));
                return None;
            }
            "_COALESCED_PACKET_SENT" => {
                without_repeated(&mut self.frames, &self.initial_frames);
                return None;
            }
            "_PACKET_SENT" => ("quic:packet_sent", self.sent_packet(&params)),
            "_PACKET_LOST" => ("quic:packet_lost", self.lost_packet(&params)),
            "_TRANSPORT_PARAMETERS_SENT" => ("quic:parameters_set", parameters("local", &params)),
            "_TRANSPORT_PARAMETERS_RECEIVED" => {
                ("quic:parameters_set", parameters("remote", &params))
            }
            "_CLOSED" => ("quic:connection_closed", closed(params)),
            _ => return self.http3(time_ms, name, params),
        };
        Some(self.record(time_ms, event, &body))
    }

    /// The received packet, once all its frames have arrived, and the records after it.
    fn flush(&mut self) -> Vec<Vec<u8>> {
        let received = self.received.take();
        let packet =
            received.map(|(time_ms, it)| self.record(time_ms, "quic:packet_received", &it));
        packet.into_iter().chain(std::mem::take(&mut self.after)).collect()
    }

    /// The rest at the end. A frame whose packet is not in the log becomes a separate event.
    fn end(&mut self) -> Vec<Vec<u8>> {
        let mut records = self.flush();
        for frame in std::mem::take(&mut self.frames) {
            let name = frame["frame_type"].as_str().unwrap_or_default();
            records.push(self.record(self.last_ms, &format!("netlog:{name}_frame_sent"), &frame));
        }
        records
    }

    /// A received packet; the first one of a datagram gets its size.
    fn received_packet(&mut self, params: &Map<String, Value>) -> Value {
        let kind = packet_type(params.get("long_header_type"));
        let header = json!({"packet_type": kind, "packet_number": params.get("packet_number")});
        let raw = json!({"length": self.datagram_bytes.take()});
        json!({"header": header, "raw": raw, "frames": []})
    }

    fn sent_packet(&mut self, params: &Map<String, Value>) -> Value {
        let kind = packet_type(params.get("encryption_level"));
        let number = params.get("packet_number");
        if let Some(number) = number.and_then(Value::as_u64)
            && kind != ONE_RTT
            && self.early.len() < PACKET_FRAMES
        {
            self.early.insert(number, kind);
        }
        let frames = std::mem::take(&mut self.frames);
        if kind == INITIAL {
            self.initial_frames.clone_from(&frames);
        }
        let header = json!({"packet_type": kind, "packet_number": number});
        json!({"header": header, "raw": {"length": params.get("size")}, "frames": frames})
    }

    fn lost_packet(&self, params: &Map<String, Value>) -> Value {
        let number = params.get("packet_number");
        let early = number.and_then(Value::as_u64).and_then(|it| self.early.get(&it));
        let kind = early.copied().unwrap_or(ONE_RTT);
        json!({"header": {"packet_type": kind, "packet_number": number}})
    }

    fn http3(&mut self, time_ms: f64, name: &str, params: Map<String, Value>) -> Option<Vec<u8>> {
        let stream = params.get("stream_id").and_then(Value::as_u64);
        let (event, body) = match (name, stream) {
            ("HTTP3_HEADERS_RECEIVED", Some(stream)) => {
                let bytes = params.get("compressed_headers_length").and_then(Value::as_u64)?;
                if self.header_bytes.len() < limits::STREAMS {
                    self.header_bytes.insert(stream, bytes);
                }
                return None;
            }
            ("HTTP3_HEADERS_SENT", Some(stream)) => ("frame_created", headers(stream, &params)),
            ("HTTP3_HEADERS_DECODED", Some(stream)) => {
                let mut body = headers(stream, &params);
                if let Some(bytes) = self.header_bytes.remove(&stream) {
                    // With the frame's type and length.
                    body["length"] = json!(bytes + if bytes < 64 { 2 } else { 3 });
                }
                ("frame_parsed", body)
            }
            ("HTTP3_DATA_FRAME_RECEIVED", Some(stream)) => ("frame_parsed", data(stream, &params)),
            ("HTTP3_DATA_SENT", Some(stream)) => ("frame_created", data(stream, &params)),
            ("HTTP3_PRIORITY_UPDATE_SENT", _) => {
                let mut frame = params;
                frame.insert("frame_type".to_owned(), json!("priority_update"));
                ("frame_created", json!({"stream_id": 2, "frame": frame}))
            }
            (_, Some(stream)) if name.ends_with("_STREAM_CREATED") => {
                let kinds = [
                    ("_CONTROL_", "control"),
                    ("_QPACK_ENCODER_", "qpack_encode"),
                    ("_QPACK_DECODER_", "qpack_decode"),
                ];
                let (_, kind) = kinds.iter().find(|(part, _)| name.contains(part))?;
                ("stream_type_set", json!({"stream_id": stream, "stream_type": kind}))
            }
            _ => {
                let own = format!("netlog:{}", name.to_ascii_lowercase());
                return Some(self.record(time_ms, &own, &Value::Object(params)));
            }
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

fn add(frames: &mut Vec<Value>, frame: Value) {
    if frames.len() < PACKET_FRAMES {
        frames.push(frame);
    }
}

const INITIAL: &str = "initial";
const ONE_RTT: &str = "1RTT";

/// The packet type from a long header's type, or from an encryption level.
fn packet_type(kind: Option<&Value>) -> &'static str {
    let kind = kind.and_then(Value::as_str).unwrap_or_default();
    match kind.trim_start_matches("ENCRYPTION_") {
        "INITIAL" => INITIAL,
        "HANDSHAKE" => "handshake",
        "ZERO_RTT" | "ZERO_RTT_PROTECTED" => "0RTT",
        _ => ONE_RTT,
    }
}

/// Chromium has its own codes, other than on the wire; some say what the end was.
fn closed(mut params: Map<String, Value>) -> Value {
    let is_remote = params.get("from_peer").and_then(Value::as_bool);
    let owner = is_remote.map(|it| if it { "remote" } else { "local" });
    let trigger = match params.get("quic_error").and_then(Value::as_u64) {
        Some(19) => Some("stateless_reset"),
        Some(25) => Some("idle_timeout"),
        Some(67) => Some("handshake_timeout"),
        _ => None,
    };
    let reason = params.get("details").cloned();
    let said = [
        ("owner", owner.map(Value::from)),
        ("trigger", trigger.map(Value::from)),
        ("reason", reason),
    ];
    params.extend(said.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(params)
}

fn data(stream: u64, params: &Map<String, Value>) -> Value {
    let bytes = params.get("payload_length");
    json!({"stream_id": stream, "length": bytes, "frame": {"frame_type": "data"}})
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
mod tests;
