//! Packet captures, as tshark dissects and decrypts them: its JSON (`-T json --no-duplicate-keys`) as events of qlog.
//!
//! Datagrams, packets and frames become events; frames keep what figures and metrics need. The side that sent a connection's first
//! packet is its client. HTTP/3 is not read from captures.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::header::Header;
use super::reading::Reading;
use super::{ENDS_EARLY, ReadError, ReadOptions, Sink, Unread};
use crate::limits::STREAMS;
use crate::trace::{Container, Trace, UNDECRYPTED, Vantage};

/// The default unit of an end's acknowledgement delays, in microseconds (RFC 9000, section 18.2).
const ACK_DELAY_US: u64 = 8;

/// Reads all connections in what tshark prints about a capture: a list of datagrams with the layers `frame`, `ip` or `ipv6`, `udp`
/// and `quic`. There is at least one. Without a side in the options they are logs from the network.
pub fn read_tshark(
    file: &str,
    input: impl Read,
    options: ReadOptions,
) -> Result<Vec<Trace>, ReadError> {
    let mut capture = Capture {
        is_servers: options.vantage == Some(Vantage::Server),
        first_ms: None,
        connections: BTreeMap::new(),
        reading: Reading::new(file, options),
    };
    capture.reading.begin(&Header::of_trace(
        br#"{"qlog_version":"capture"}"#,
        br#"{"vantage_point":{"type":"network","flow":"client"}}"#,
    ));
    let mut json = serde_json::Deserializer::from_reader(input);
    if json.deserialize_seq(&mut capture).is_err() {
        capture.reading.repair(ENDS_EARLY);
    }
    capture.reading.let_in_all();
    let records = capture.reading.records;
    if capture.reading.has_too_much_text() {
        return Err(Unread::TooMuchText.of(file));
    }
    let traces = capture.reading.finish(Container::Contained).filter(|_| records > 0);
    traces.ok_or_else(|| Unread::NoQuic.of(file))
}

struct Capture {
    /// Whether the events are the server's, that is, it receives what clients send.
    is_servers: bool,
    /// When the first datagram passed, in ms since 1970.
    first_ms: Option<f64>,
    /// By tshark's number: the client's address, and the connection ID that it chose for the server.
    connections: BTreeMap<String, (String, String)>,
    reading: Reading,
}

impl<'de> Visitor<'de> for &mut Capture {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of datagrams")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut datagrams: A) -> Result<(), A::Error> {
        while let Some(datagram) = datagrams.next_element::<Value>()? {
            self.datagram(&datagram["_source"]["layers"]);
            if self.reading.is_full() {
                while datagrams.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(())
    }
}

impl Capture {
    fn datagram(&mut self, layers: &Value) -> Option<()> {
        let now_ms = layers["frame"]["frame.time_epoch"].as_str()?.parse::<f64>().ok()? * 1000.0;
        let time_ms = now_ms - *self.first_ms.get_or_insert(now_ms);
        let address = layers["ip"]["ip.src"].as_str().or(layers["ipv6"]["ipv6.src"].as_str());
        let from = format!("{} {}", address?, layers["udp"]["udp.srcport"].as_str()?);
        let packets = each(&layers["quic"]);
        let number = text(packets.first()?, "quic.connection.number").unwrap_or_default();
        let id = text(packets.first()?, "quic.dcid").unwrap_or_default().replace(':', "");
        if self.connections.len() >= STREAMS {
            return None;
        }
        let known = self.connections.entry(number.to_owned()).or_insert((from.clone(), id));
        let is_sent = (known.0 == from) != self.is_servers;
        let id = known.1.clone();
        let way = if is_sent { "sent" } else { "received" };
        let mut records = vec![(format!("transport:datagrams_{way}"), json!({"count": 1}))];
        let packets = || packets.iter().filter(|it| !is_padding(it));
        records.extend(packets().map(|it| (format!("transport:packet_{way}"), packet(it))));
        for (name, data) in records {
            let record = json!({"time": time_ms, "name": name, "group_id": id, "data": data});
            self.reading.contained_event(record.to_string().as_bytes());
        }
        let hidden = packets().filter(|it| is_hidden(it)).count();
        (0..hidden).for_each(|_| self.reading.leave_out_of(&id, UNDECRYPTED));
        Some(())
    }
}

/// One value, or all values of a list; empty if missing.
fn each(value: &Value) -> &[Value] {
    match value {
        Value::Array(all) => all,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

/// A field of a packet or frame, or of a part of it.
fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    let fields = value.as_object()?;
    let own = fields.get(name).and_then(Value::as_str);
    own.or_else(|| fields.values().find_map(|it| it.get(name)?.as_str()))
}

fn number(value: &Value, name: &str) -> Option<u64> {
    whole(text(value, name)?)
}

fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Whether these are zeros behind the last packet of a datagram, which tshark takes for one more (RFC 9000, section 17.3.1).
fn is_padding(packet: &Value) -> bool {
    text(packet, "quic.header_form") == Some("0")
        && matches!(text(packet, "quic.fixed_bit"), Some("0" | "False"))
}

/// Whether a packet is not decrypted, so that its number is not, either.
fn is_hidden(packet: &Value) -> bool {
    let has = |name| text(packet, name).is_some();
    packet["quic.frame"].is_null() && (has("quic.payload") || has("quic.protected_payload"))
}

fn packet(packet: &Value) -> Value {
    let kind = match number(packet, "quic.long.packet_type") {
        Some(0) => "initial",
        Some(1) => "0RTT",
        Some(2) => "handshake",
        Some(3) => "retry",
        _ => "1RTT",
    };
    let id = |name| text(packet, name).map(|it| it.replace(':', ""));
    let header = json!({
        "packet_type": kind,
        "packet_number": number(packet, "quic.packet_number").filter(|_| !is_hidden(packet)),
        "dcid": id("quic.dcid"),
        "scid": id("quic.scid"),
    });
    let frames: Vec<Value> = each(&packet["quic.frame"]).iter().map(frame).collect();
    let length = number(packet, "quic.packet_length");
    json!({"header": header, "raw": {"length": length}, "frames": frames})
}

/// A frame in the words of qlog, by its type (RFC 9000, section 19; RFC 9221).
fn frame(frame: &Value) -> Value {
    let value = |name| number(frame, name);
    let kind = value("quic.frame_type").unwrap_or(u64::MAX);
    match kind {
        0x00 => json!({"frame_type": "padding", "length": value("quic.padding_length")}),
        0x01 => json!({"frame_type": "ping"}),
        0x02 | 0x03 => ack(frame),
        0x04 => {
            let code = value("quic.rsts.application_error_code");
            json!({"frame_type": "reset_stream", "stream_id": value("quic.rsts.stream_id"), "error_code": code})
        }
        0x05 => {
            let code = value("quic.ss.application_error_code");
            json!({"frame_type": "stop_sending", "stream_id": value("quic.ss.stream_id"), "error_code": code})
        }
        0x06 => {
            json!({"frame_type": "crypto", "offset": value("quic.crypto.offset"), "length": value("quic.crypto.length")})
        }
        0x08..=0x0f => stream(frame, kind),
        0x10 => json!({"frame_type": "max_data", "maximum": value("quic.md.maximum_data")}),
        0x11 => {
            let maximum = value("quic.msd.maximum_stream_data");
            json!({"frame_type": "max_stream_data", "stream_id": value("quic.msd.stream_id"), "maximum": maximum})
        }
        0x1c | 0x1d => {
            let (space, code) = match kind {
                0x1c => ("transport", value("quic.cc.error_code")),
                _ => ("application", value("quic.cc.error_code.app")),
            };
            let reason = text(frame, "quic.cc.reason_phrase");
            json!({"frame_type": "connection_close", "error_space": space, "error_code": code, "reason": reason})
        }
        0x1e => json!({"frame_type": "handshake_done"}),
        0x30 | 0x31 => json!({"frame_type": "datagram", "length": value("quic.dg.length")}),
        _ => json!({"frame_type": format!("type_{kind}")}),
    }
}

/// A STREAM frame. The lowest bit of its type shows whether the stream ends with it. Without a length, it takes the rest of the
/// packet.
fn stream(frame: &Value, kind: u64) -> Value {
    let data = text(frame, "quic.stream_data").map(|it| it.len().div_ceil(3) as u64);
    json!({
        "frame_type": "stream",
        "stream_id": number(frame, "quic.stream.stream_id"),
        "offset": number(frame, "quic.stream.offset").unwrap_or_default(),
        "length": number(frame, "quic.stream.length").or(data),
        "fin": kind & 1 == 1,
    })
}

/// Its ranges from the largest number downwards (RFC 9000, section 19.3.1).
fn ack(frame: &Value) -> Value {
    let all = |name| each(&frame[name]).iter().filter_map(Value::as_str).filter_map(whole);
    let largest = number(frame, "quic.ack.largest_acknowledged").unwrap_or_default();
    let first = number(frame, "quic.ack.first_ack_range").unwrap_or_default();
    let mut least = largest.saturating_sub(first);
    let mut ranges = vec![[least, largest]];
    for (gap, range) in all("quic.ack.gap").zip(all("quic.ack.ack_range")) {
        let Some(last) = least.checked_sub(gap.saturating_add(2)) else { break };
        least = last.saturating_sub(range);
        ranges.push([least, last]);
    }
    let delay = number(frame, "quic.ack.ack_delay").unwrap_or_default();
    let ecn = ["quic.ack.ect0_count", "quic.ack.ect1_count", "quic.ack.ecn_ce_count"];
    let [ect0, ect1, ce] = ecn.map(|it| number(frame, it));
    json!({
        "frame_type": "ack",
        "acked_ranges": ranges,
        "ack_delay": delay.saturating_mul(ACK_DELAY_US) as f64 / 1000.0,
        "ect0": ect0,
        "ect1": ect1,
        "ce": ce,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketEvent;
    use crate::trace::Detail;

    /// A client's request, and the server's answer in a datagram with two packets, as tshark 4.0 prints them.
    const CAPTURE: &str = r#"[
{"_source":{"layers":{"frame":{"frame.time_epoch":"1000.000"},"ip":{"ip.src":"10.0.0.1"},"udp":{"udp.srcport":"5000"},"quic":{
 "QUIC Connection information":{"quic.connection.number":"0"},"quic.packet_length":"100","quic.dcid":"aa:bb",
 "quic.short":{"quic.packet_number":"7"},"quic.frame":{"quic.frame_type":"11","quic.stream.stream_id":"0","quic.stream.length":"20"}}}}},
{"_source":{"layers":{"frame":{"frame.time_epoch":"1000.0305"},"ip":{"ip.src":"10.0.0.2"},"udp":{"udp.srcport":"443"},"quic":[
 {"QUIC Connection information":{"quic.connection.number":"0"},"quic.packet_length":"60","quic.long.packet_type":"2","quic.packet_number":"1",
  "quic.frame":{"quic.frame_type":"2","quic.ack.largest_acknowledged":"9","quic.ack.ack_delay":"250","quic.ack.first_ack_range":"1",
   "quic.ack.gap":["0","1"],"quic.ack.ack_range":["2","0"]}},
 {"quic.packet_length":"1200","quic.short":{"quic.packet_number":"3"},"quic.frame":[{"quic.frame_type":"2","quic.ack.largest_acknowledged":"7",
   "quic.ack.ack_delay":"0","quic.ack.first_ack_range":"0"},
  {"quic.frame_type":"0x0d","quic.stream.stream_id":"0","quic.stream.offset":"0","quic.stream_data":"01:02:03"}]}]}}}
]"#;

    const OTHER_CONNECTION: &str = r#"{"_source":{"layers":{"frame":{"frame.time_epoch":"999.000"},"ip":{"ip.src":"10.0.0.1"},"udp":{"udp.srcport":"5001"},"quic":{
 "QUIC Connection information":{"quic.connection.number":"1"},"quic.packet_length":"100","quic.dcid":"cc:dd",
 "quic.short":{"quic.packet_number":"0"},"quic.frame":{"quic.frame_type":"11","quic.stream.stream_id":"0","quic.stream.length":"20"}}}}}"#;

    fn read(json: &str, vantage: Option<Vantage>) -> Result<Trace, ReadError> {
        let options = ReadOptions { detail: Detail::Full, vantage };
        read_tshark("a.pcapng", json.as_bytes(), options).map(|mut it| it.remove(0))
    }

    #[test]
    fn packets_and_frames_of_a_capture_are_those_of_a_log() {
        let trace = read(CAPTURE, Some(Vantage::Client)).expect("a capture");
        let counts = &trace.counts;
        assert_eq!((counts.packets_sent, counts.packets_received, counts.bad_records), (1, 2, 0));
        assert_eq!(trace.connection.as_deref(), Some("aabb"));
        let frames = &trace.timeline.frames;
        let [frame] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!((frame.time_us, frame.stream, frame.offset, frame.bytes), (30_500, 0, 0, 3));
        let acks = &trace.recovery_events.acks;
        assert_eq!((acks.len(), acks[0].delay_ms), (1, Some(0.0)), "only 1-RTT packets count");
        assert_eq!((trace.filled[0].datagrams, trace.filled[1].datagrams), (1, 1));
    }

    #[test]
    fn the_ranges_of_an_ack_frame_go_down_from_the_largest() {
        let value: Value = serde_json::from_str(CAPTURE).expect("JSON");
        let found = frame(&value[1]["_source"]["layers"]["quic"][0]["quic.frame"]);
        assert_eq!(found["acked_ranges"], json!([[8, 9], [4, 6], [1, 1]]));
        assert_eq!(found["ack_delay"], json!(2.0));
    }

    #[test]
    fn ends_of_a_capture_have_their_codes() {
        let close = json!({"quic.frame_type": "29", "quic.cc.error_code.app": "258", "quic.cc.reason_phrase": "no"});
        let expected = json!({"frame_type": "connection_close", "error_space": "application", "error_code": 258, "reason": "no"});
        assert_eq!(frame(&close), expected);
        let reset = json!({"quic.frame_type": "4", "quic.rsts.stream_id": "8", "quic.rsts.application_error_code": "268"});
        let expected = json!({"frame_type": "reset_stream", "stream_id": 8, "error_code": 268});
        assert_eq!(frame(&reset), expected);
    }

    #[test]
    fn a_capture_at_the_server_has_the_directions_of_its_log() {
        let trace = read(CAPTURE, Some(Vantage::Server)).expect("a capture");
        assert_eq!((trace.counts.packets_sent, trace.counts.packets_received), (2, 1));
        let between = read(CAPTURE, None).expect("a capture");
        assert_eq!(between.vantage, Vantage::Network);
        assert_eq!(between.unique_stream_bytes(), 3);
    }

    #[test]
    fn a_packet_that_was_captured_in_two_places_counts_once() {
        let again = CAPTURE.trim_matches(['[', ']', '\n']).replace("\"1000.0", "\"1000.01");
        let both = format!("[{},{again}]", CAPTURE.trim_matches(['[', ']', '\n']));
        let trace = read(&both, Some(Vantage::Client)).expect("a capture");
        assert_eq!((trace.counts.packets_sent, trace.counts.packets_received), (1, 2));
        assert_eq!((trace.unique_stream_bytes(), trace.streams[0].duplicate_bytes), (3, Some(0)));
        let repair = trace.repairs.iter().find(|it| it.what.contains("captured again"));
        assert_eq!(repair.map(|it| it.count), Some(3), "{:?}", trace.repairs);
    }

    #[test]
    fn what_is_not_decrypted_has_no_number_and_zeros_behind_a_packet_are_none() {
        let hidden = r#"{"quic.packet_length":"2898","quic.short":{"quic.header_form":"0","quic.fixed_bit":"1",
            "quic.packet_number":"90000","quic.protected_payload":"aa:bb"}},"#;
        let zeros = r#"{"quic.packet_length":"300","quic.short":{"quic.header_form":"0","quic.fixed_bit":"0",
            "quic.packet_number":"35969503","quic.protected_payload":"00:00"}},"#;
        let last = r#"{"quic.packet_length":"1200""#;
        let json = CAPTURE.replace(last, &format!("{hidden}{zeros}{last}"));
        let trace = read(&json, Some(Vantage::Client)).expect("a capture");
        assert_eq!((trace.counts.packets_sent, trace.counts.packets_received), (1, 3));
        assert_eq!(trace.undecrypted_packets(), 1, "{:?}", trace.repairs);
        assert!(trace.incomplete().is_some_and(|it| it.contains("cannot decrypt")));
        // Another connection of the capture, from the same address.
        let two = json.replacen("[\n", &format!("[\n{OTHER_CONNECTION},\n"), 1);
        let options = ReadOptions { detail: Detail::Full, vantage: Some(Vantage::Client) };
        let traces = read_tshark("a.pcapng", two.as_bytes(), options).expect("a capture");
        let hidden = traces.iter().map(|it| (it.undecrypted_packets(), it.incomplete().is_some()));
        assert_eq!(hidden.collect::<Vec<_>>(), [(0, false), (1, true)]);
        let numbers: Vec<_> = trace.packets_of(PacketEvent::Received).map(|it| it.number).collect();
        assert_eq!(numbers, [Some(1), None, Some(3)]);
    }

    #[test]
    fn a_capture_that_breaks_off_or_has_no_quic_is_said_to() {
        let cut = read(&CAPTURE[..CAPTURE.len() - 30], None).expect("its first datagram");
        assert!(cut.repairs.iter().any(|it| it.what == ENDS_EARLY), "{:?}", cut.repairs);
        let error = read("[]", None).expect_err("nothing").to_string();
        let expected = "a.pcapng: no packet of QUIC in it: without a connection's handshake tshark takes its packets for other UDP; \
                        start the capture before the client";
        assert_eq!(error, expected);
        assert!(read("nonsense", None).is_err());
    }
}
