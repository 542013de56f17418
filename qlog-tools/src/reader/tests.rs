//! Whole logs through the reader: small ones written here, and sample files if available.

mod limits;
pub(super) mod order;
mod samples;
mod stacks;

use std::io::Write as _;

use super::*;
use crate::metrics::Completions;
use crate::timeline::Transfer;
use proptest::prelude::*;
use schedulers::{Call, Kind, Resource, StreamId};

/// A client's log: two responses, one retransmission, one hole.
const CLIENT: &str = r#"
{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"JSON-SEQ","title":"t","trace":{"title":"run 1","vantage_point":{"type":"client"},"common_fields":{"reference_time":{"clock_type":"monotonic","epoch":"unknown","wall_clock_time":"2026-11-21T01:56:06Z"}},"event_schemas":[]}}
{"time":10.0,"name":"http3:frame_created","data":{"stream_id":0,"length":30,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":scheme","value":"https"},{"name":":authority","value":"a.test"},{"name":":path","value":"/"}]}}}
{"time":10.1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"fin":true,"raw":{"payload_length":30}}]}}
{"time":60.0,"name":"quic:packet_received","data":{"frames":[{"frame_type":"ack","acked_ranges":[[1,1]]},{"frame_type":"stream","stream_id":3,"offset":0,"raw":{"payload_length":24}},{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":70}}]}}
{"time":60.1,"name":"http3:frame_parsed","data":{"stream_id":0,"length":20,"frame":{"frame_type":"headers","headers":[{"name":":status","value":"200"},{"name":"content-type","value":"text/html"}]}}}
{"time":60.2,"name":"http3:frame_created","data":{"stream_id":4,"length":30,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a.css"},{"name":"priority","value":"u=1"}]}}}
{"time":70.0,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":120,"fin":true,"raw":{"payload_length":3}}]}}
{"time":80.0,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":70}}]}}
{"time":110.0,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":70,"raw":{"payload_length":50}}]}}
{"time":110.1,"name":"http3:frame_parsed","data":{"stream_id":0,"length":100,"frame":{"frame_type":"data"}}}
{"time":160.0,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":4,"offset":0,"fin":true,"raw":{"payload_length":72}}]}}
{"time":160.1,"name":"http3:frame_parsed","data":{"stream_id":4,"length":20,"frame":{"frame_type":"headers","headers":[{"name":":status","value":"200"},{"name":"content-length","value":"50"}]}}}
{"time":160.2,"name":"http3:frame_parsed","data":{"stream_id":4,"length":50,"frame":{"frame_type":"data"}}}
{"time":170.0,"name":"quic:connection_closed","data":{}}
"#;

fn sequence(lines: &str) -> Vec<u8> {
    lines.trim().lines().flat_map(|line| format!("\x1e{line}\n").into_bytes()).collect()
}

fn read_ok(bytes: &[u8]) -> Trace {
    read("test", bytes).unwrap()
}

#[test]
fn a_clients_log_becomes_a_timeline() {
    let trace = read_ok(&sequence(CLIENT));
    assert_eq!(trace.vantage, Vantage::Client);
    assert_eq!(trace.header.start.as_deref(), Some("2026-11-21T01:56:06Z"));
    assert_eq!(trace.header.title.as_deref(), Some("run 1"));
    let expected = [
        Transfer {
            stream: 0,
            url: "https://a.test/".to_owned(),
            requested_us: 10_000,
            body_offset: 23,
            body_bytes: Some(100),
            stream_bytes: Some(123),
            cancel: None,
        },
        Transfer {
            stream: 4,
            url: "/a.css".to_owned(),
            requested_us: 60_200,
            body_offset: 22,
            body_bytes: Some(50),
            stream_bytes: Some(72),
            cancel: None,
        },
    ];
    assert_eq!(trace.timeline.transfers, expected);
    assert_eq!(trace.timeline.frames.len(), 6);
    assert_eq!(trace.timeline.unique_stream_bytes(), 24 + 123 + 72);
    // (100 * (110 - 10) + 50 * (160 - 10)) / 150
    let all = Completions::new(&trace.timeline, |_| true).unwrap();
    let index_ms = all.byte_index_ms();
    assert!((index_ms - 350.0 / 3.0).abs() < 1e-9, "{index_ms}");
    assert_eq!(trace.details[0].content_type.as_deref(), Some("text/html"));
    assert_eq!(trace.details[1].priority.as_deref(), Some("u=1"));
    assert_eq!(trace.repairs, []);
    let counts = &trace.counts;
    assert_eq!((counts.records, counts.events, counts.unknown_events), (14, 13, 0));
    assert_eq!((counts.packets_sent, counts.packets_received), (1, 5));
}

#[test]
fn the_container_is_known_by_its_content() {
    let plain = sequence(CLIENT);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let zstd = zstd::encode_all(&plain[..], 1).unwrap();
    let expected = read_ok(&plain);
    for bytes in [gzip.finish().unwrap(), zstd, CLIENT.as_bytes().to_vec()] {
        assert_eq!(read_ok(&bytes).timeline, expected.timeline);
    }
}

#[test]
fn a_truncated_log_keeps_what_came_before() {
    let plain = sequence(CLIENT);
    let trace = read_ok(&plain[..plain.len() - 300]);
    assert_eq!(trace.counts.bad_records, 1);
    assert_eq!(trace.repairs[0].first_record, trace.counts.records);
    assert_eq!(trace.timeline.transfers[0].stream_bytes, Some(123));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(&plain).unwrap();
    let packed = gzip.finish().unwrap();
    let trace = read_ok(&packed[..packed.len() - 400]);
    assert!(
        trace.repairs.iter().any(|repair| repair.what.contains("ends early")),
        "{:?}",
        trace.repairs
    );
    assert_eq!(trace.timeline.transfers[0].stream_bytes, Some(123));
}

#[test]
fn impossible_frames_are_counted_and_left_out() {
    let log = "{\"file_schema\":\"x\"}\n{\"time\":1,\"name\":\"quic:packet_sent\",\"data\":{\"frames\":[{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":4611686018427387903,\"length\":1},{\"frame_type\":\"stream\",\"offset\":0,\"length\":1},{\"frame_type\":\"ping\"}]}}\n";
    let trace = read_ok(log.as_bytes());
    let repair = trace.repairs.iter().find(|repair| repair.what.starts_with("STREAM frames"));
    assert_eq!((trace.counts.stream_frames, repair.map(|repair| repair.count)), (0, Some(2)));
}

#[test]
fn bad_records_and_times_are_counted_and_left_out() {
    let log = "{\"file_schema\":\"x\"}\nnonsense\n{\"time\":-1,\"name\":\"quic:packet_sent\",\"data\":{}}\n\
               {\"time\":1,\"name\":\"quic:packet_sent\",\"data\":{\"frames\":7}}\n{\"time\":1,\"name\":\"x:y\"}\n[]\n";
    let trace = read_ok(log.as_bytes());
    assert_eq!((trace.counts.records, trace.counts.events), (6, 1));
    assert_eq!((trace.counts.bad_records, trace.counts.unknown_events), (4, 1));
    assert_eq!(trace.counts.by_name["x:y"], 1);
}

#[test]
fn a_file_that_is_not_a_qlog_is_an_error_that_says_so() {
    let error = |bytes: &[u8]| read("f", bytes).unwrap_err().to_string();
    assert_eq!(
        error(b"hello\nworld\n"),
        "f: not a qlog: none of its 2 records is a header or an event; it begins with `hello`; \
         the formats are JSON, JSON-SEQ and NDJSON, also in gzip or zstd"
    );
    let empty = "f: the file is empty: nothing was logged, or its writer did not get to close it";
    assert_eq!((&*error(b""), &*error(b" \n")), (empty, empty));
    assert!(error(b"\x00\xffa").contains("it begins with the bytes 00 ff 61"));
    assert!(error(b"\xff\xfe{\x00").contains("UTF-16"));
    assert!(error(b"\x1f\x8b").contains("gzip") && error(b"\x28\xb5\x2f\xfd").contains("zstd"));
    assert!(error(br#"{"qlog_version":"0.3","traces":[]}"#).contains("no event in \"traces\""));
    assert!(
        read_file(Path::new("/nonexistent")).unwrap_err().to_string().starts_with("/nonexistent: ")
    );
}

#[test]
fn a_server_log_gives_the_frames_it_sent() {
    let log = r#"
{"time":1,"name":"http3:frame_parsed","data":{"stream_id":"0","length":30,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/"}]}}}
{"time":1,"name":"http3:frame_created","data":{"stream_id":0,"length":9,"frame":{"frame_type":"headers","headers":[{"name":":status","value":"200"}]}}}
{"time":1,"name":"http3:frame_created","data":{"stream_id":0,"frame":{"frame_type":"data","raw":{"length":12}}}}
{"time":2,"name":"quic:packet_sent","data":{"frames":[{"frame_type":"stream","stream_id":0,"raw":{"length":21},"fin":true}]}}
{"time":2,"name":"utmost:scheduler","data":{"op":"opened","stream":0,"resource":{"kind":"html"}}}
{"time":2,"name":"utmost:scheduler","data":{"op":"picked","stream":0}}
{"time":2,"name":"utmost:scheduler","data":{"op":"sent","stream":0,"bytes":21}}
{"time":2,"name":"utmost:scheduler","data":{"op":"dance","stream":0}}
{"time":2,"name":"other:scheduler","data":{}}
"#;
    let trace = read_ok(log.trim().as_bytes());
    assert_eq!(trace.vantage, Vantage::Server);
    let transfer = &trace.timeline.transfers[0];
    assert_eq!(
        (transfer.body_offset, transfer.body_bytes, transfer.stream_bytes),
        (11, Some(10), Some(21))
    );
    let calls: Vec<Call> =
        trace.scheduler_calls().iter().map(|it| it.call.clone().unwrap()).collect();
    let stream = StreamId(0);
    let html = Resource { kind: Kind::Html, ..Resource::default() };
    assert_eq!(calls, [Call::Open(stream, html), Call::Pick(Some(stream)), Call::Sent(stream, 21)]);
    assert_eq!((trace.counts.bad_records, trace.counts.unknown_events), (1, 1));
}

#[test]
fn a_milestone_can_be_logged_before_it_is_reached() {
    let log = r#"
{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}
{"time":5,"name":"utmost:milestone","data":{"milestone":"first_render"}}
{"time":5,"name":"utmost:milestone","data":{"milestone":"region","weight":30,"of":40}}
{"time":6,"name":"utmost:milestone","data":{"milestone":"load","after_us":2500}}
{"time":7,"name":"utmost:milestone","data":{"milestone":"dance"}}
"#;
    let trace = read_ok(log.trim().as_bytes());
    let render = &trace.timeline.renders[0];
    assert_eq!((render.first_render_us, render.load_us), (Some(5000), Some(8500)));
    assert_eq!((render.hero_render_us, render.mean_region_ms(0)), (None, None));
    assert_eq!(trace.counts.unknown_events, 0);
}

#[test]
fn a_pushed_response_is_requested_when_it_is_promised() {
    let log = r#"
{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}
{"time":5,"name":"http3:frame_parsed","data":{"stream_id":0,"length":9,"frame":{"frame_type":"push_promise","push_id":0,"headers":[{"name":":method","value":"GET"},{"name":":path","value":"/p.css"}]}}}
{"time":6,"name":"http3:stream_type_set","data":{"stream_id":15,"stream_type":"push","associated_push_id":0}}
{"time":7,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":15,"offset":0,"raw":{"length":20},"fin":true},{"frame_type":"stream","stream_id":7,"offset":0,"raw":{"length":20}}]}}
"#;
    let trace = read_ok(log.trim().as_bytes());
    let [document, pushed] = &trace.timeline.transfers[..] else { panic!("{:?}", trace.timeline) };
    assert_eq!((document.stream, &*document.url), (0, "stream 0"));
    assert_eq!((pushed.stream, &*pushed.url, pushed.requested_us), (15, "/p.css", 5_000));
    assert!(!trace.details[0].pushed && trace.details[1].pushed);
}

#[test]
fn a_push_that_did_not_finish_is_left_out_of_the_metrics() {
    let log = r#"
{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}
{"time":5,"name":"http3:frame_parsed","data":{"stream_id":0,"length":9,"frame":{"frame_type":"push_promise","push_id":0,"headers":[{"name":":method","value":"GET"},{"name":":path","value":"/p.css"}]}}}
{"time":6,"name":"http3:stream_type_set","data":{"stream_id":15,"stream_type":"push","associated_push_id":0}}
{"time":7,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":15,"offset":0,"raw":{"length":20}}]}}
{"time":8,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"length":40},"fin":true}]}}
"#;
    let trace = read_ok(log.trim().as_bytes());
    let left_out: Vec<&str> = trace.unfinished_pushes().map(|it| &*it.url).collect();
    assert_eq!(left_out, ["/p.css"]);
    let all = Completions::of_trace(&trace, |_| true).map(|it| it.byte_index_ms());
    assert_eq!(all, Ok(3.0));
    let of_push = Completions::of_trace(&trace, |it| it.stream == 15);
    assert_eq!(of_push, Err(crate::metrics::Unmeasured::EmptySet));
}

proptest! {
    /// Any damage to a good log gives a trace or an error, never a panic.
    #[test]
    fn damaged_logs_never_panic(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20), end in any::<prop::sample::Index>()) {
        let mut bytes = sequence(CLIENT);
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        if let Ok(trace) = read("test", &bytes[..]) {
            let _ = Completions::new(&trace.timeline, |_| true);
        }
    }
}

/// The client's log as one document with all events inside.
fn contained() -> Vec<u8> {
    let mut lines = CLIENT.trim().lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let events: Vec<serde_json::Value> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut trace = header["trace"].clone();
    trace["events"] = events.into();
    let document = serde_json::json!({"qlog_version": "0.3", "traces": [trace]});
    serde_json::to_vec_pretty(&document).unwrap()
}

#[test]
fn a_contained_log_is_the_same_as_a_sequence() {
    let (sequence, contained) = (read_ok(&sequence(CLIENT)), read_ok(&contained()));
    assert_eq!(contained.header.container, Container::Contained);
    assert_eq!(contained.timeline, sequence.timeline);
    assert_eq!(contained.details, sequence.details);
    assert_eq!(contained.vantage, Vantage::Client);
}

#[test]
fn a_contained_log_that_ends_early_keeps_what_came_before() {
    let bytes = contained();
    let trace = read_ok(&bytes[..bytes.len() * 9 / 10]);
    assert_eq!(trace.repairs[0].what, ENDS_EARLY);
    assert_eq!(trace.timeline.transfers[0].stream_bytes, Some(123));
}

#[test]
fn a_vantage_from_outside_counts_where_the_log_names_none() {
    let options = ReadOptions { vantage: Some(Vantage::Server), ..ReadOptions::default() };
    let read = |said: &str| {
        let log = CLIENT.replace(r#""type":"client""#, &format!(r#""type":"{said}""#));
        let trace = read_traces("t", &sequence(&log)[..], options).unwrap().remove(0);
        let is_guessed = trace.repairs.iter().any(|it| it.what.contains("vantage point"));
        (trace.vantage, trace.timeline.frames.len(), is_guessed)
    };
    assert_eq!(read("client"), (Vantage::Client, 6, false));
    assert_eq!(read("unknown"), (Vantage::Server, 1, false));
    assert_eq!(read("network"), (Vantage::Server, 1, false));
}

#[test]
fn connections_with_ids_of_their_own_are_traces_of_their_own() {
    let packet = |group: &str, stream: u64| {
        format!(
            "{{\"time\":1,\"name\":\"transport:packet_received\",\"data\":{{\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":{stream},\"offset\":0,\"length\":9}}]}},\"group_id\":\"{group}\"}}\n"
        )
    };
    let log = format!(
        "{{\"qlog_version\":\"0.3\",\"trace\":{{\"vantage_point\":{{\"type\":\"client\"}}}}}}\n{}{}{}",
        packet("a1", 0),
        packet("b2", 4),
        packet("a1", 8)
    );
    let traces = read_traces("t", log.as_bytes(), ReadOptions::default()).unwrap();
    let of = |trace: &Trace| (trace.connection.clone().unwrap(), trace.streams.len());
    assert_eq!(
        traces.iter().map(of).collect::<Vec<_>>(),
        [("a1".to_owned(), 2), ("b2".to_owned(), 1)]
    );
}

#[test]
fn a_parameter_that_is_not_a_connection_id_leaves_the_first_packets_destination() {
    let log = r#"{"qlog_format":"JSON-SEQ","qlog_version":"0.4","trace":{"description":"id=SERVER-60","vantage_point":{"type":"server"}}}
{"time":0.1,"name":"quic:parameters_set","data":{"original_destination_connection_id":"None"}}
{"time":0.2,"name":"quic:packet_received","data":{"header":{"packet_type":"initial","packet_number":0,"dcid":"b5e5"}}}
"#;
    let trace = read_ok(log.as_bytes());
    assert_eq!(trace.connection.as_deref(), Some("b5e5"));
    assert_eq!(trace.header.stack.name.as_deref(), Some("tquic"));
}

/// A response of 100 bytes without FIN, of which a log has `stream_bytes`.
fn without_fin(stream_bytes: u64) -> Trace {
    let frame = |event: &str, frame: &str| {
        format!("{{\"time\":1,\"name\":\"http3:{event}\",\"data\":{{\"stream_id\":0,{frame}}}}}\n")
    };
    let headers = |fields: &str| {
        format!("\"length\":9,\"frame\":{{\"frame_type\":\"headers\",\"headers\":[{fields}]}}")
    };
    let data = "\"length\":100,\"frame\":{\"frame_type\":\"data\"}";
    let packet = format!(
        "{{\"time\":2,\"name\":\"quic:packet_received\",\"data\":{{\"header\":{{\"packet_number\":7}},\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":0,\"length\":{stream_bytes}}}]}}}}\n"
    );
    let log = [
        "{\"qlog_version\":\"0.4\",\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n"
            .to_owned(),
        frame("frame_created", &headers("{\"name\":\":path\",\"value\":\"/a\"}")),
        frame(
            "frame_parsed",
            &headers(
                "{\"name\":\":status\",\"value\":\"200\"},{\"name\":\"content-length\",\"value\":\"100\"}",
            ),
        ),
        frame("frame_parsed", data),
        packet,
    ];
    read_ok(log.concat().as_bytes())
}

#[test]
fn a_response_without_fin_has_ended_only_when_its_bytes_are_there() {
    let index = |trace: &Trace| {
        let views = crate::views::views(trace);
        views.into_iter().find(|it| it.name == "index").and_then(|it| it.reason)
    };
    let whole = without_fin(114);
    assert_eq!(whole.timeline.transfers[0].stream_bytes, Some(114));
    assert_eq!(index(&whole), None);
    let begun = without_fin(60);
    assert_eq!(begun.timeline.transfers[0].stream_bytes, None);
    assert!(index(&begun).is_some(), "the DATA frame is logged when it begins");
}

#[test]
fn full_detail_has_packets_acknowledgements_and_recovery() {
    let log = r#"
{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"raw":{"length":100},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":60}]}}
{"time":2,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":2},"frames":[{"frame_type":"stream","stream_id":0,"offset":60,"length":60,"fin":true}]}}
{"time":3,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"ack","acked_ranges":[[2]]}]}}
{"time":4,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":1}}}
{"time":4,"name":"recovery:metrics_updated","data":{"congestion_window":12000,"smoothed_rtt":20.5,"ssthresh":18446744073709551615}}
{"time":5,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":3},"frames":[{"frame_type":"ping"},{"frame_type":"stream","stream_id":0,"offset":0,"length":60}]}}
{"time":6,"name":"http3:frame_parsed","data":{"stream_id":2,"frame":{"frame_type":"priority_update","stream_id":0,"priority_field_value":"u=1"}}}
"#;
    let options = ReadOptions { detail: Detail::Full, vantage: None };
    let trace = read_traces("t", log.trim().as_bytes(), options).unwrap().remove(0);
    let packets: Vec<String> =
        trace.packets().iter().map(|it| format!("{:?} {}", it.event, it.number.unwrap())).collect();
    assert_eq!(packets, ["Sent 1", "Sent 2", "Received 1", "Acknowledged 2", "Lost 1", "Sent 3"]);
    assert_eq!(trace.packets.as_ref().unwrap().of_frames, [0, 1, 5]);
    assert_eq!(trace.streams[0].retransmitted_bytes, 60);
    assert_eq!(trace.samples()[0].congestion_window_bytes, Some(12_000));
    assert_eq!(trace.samples()[0].slow_start_threshold_bytes, None);
    assert_eq!((trace.signals[0].element, &*trace.signals[0].value), (0, "u=1"));
}

#[test]
fn a_frame_behind_an_acknowledgement_belongs_to_its_own_packet() {
    let log = r#"{"time":1,"name":"quic:packet_received","data":{"header":{"packet_number":9},"frames":[{"frame_type":"ack","acked_ranges":[[1,3]]},{"frame_type":"stream","stream_id":0,"length":9}]}}"#;
    let options = ReadOptions { detail: Detail::Full, vantage: Some(Vantage::Client) };
    let trace = read_traces("t", log.as_bytes(), options).unwrap().remove(0);
    let place = usize::try_from(trace.packets.as_ref().unwrap().of_frames[0]).unwrap();
    assert_eq!((trace.packets().len(), trace.packets()[place].number), (4, Some(9)));
}

proptest! {
    /// Any damage to a contained log gives traces or an error, never a panic.
    #[test]
    fn damaged_documents_never_panic(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20), end in any::<prop::sample::Index>()) {
        let mut bytes = contained();
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        let options = ReadOptions { detail: Detail::Full, vantage: None };
        if let Ok(traces) = read_traces("test", &bytes[..], options) {
            for trace in traces {
                let exact = Completions::new(&trace.timeline, |_| true);
                prop_assert_eq!(exact, Completions::of_trace(&trace, |_| true));
            }
        }
    }

    /// Garbage, deep nesting and odd strings neither panic nor take long.
    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(prop::sample::select(b"\x1e\n {}[]\",:\\0e9truenlvsaf\xff\0".to_vec()), 0..400)) {
        let _ = read_traces("test", &bytes[..], ReadOptions::default());
    }
}

/// A client's log with `events` after its header.
fn clients_log(events: &[String]) -> String {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
    format!("{header}\n{}\n", events.join("\n"))
}

#[test]
fn what_is_left_out_is_said_and_a_log_that_ends_early_has_nothing_left_out() {
    let packet = r#"{"time":1,"name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":5}]}}"#;
    let incomplete = |events: &[&str]| {
        let events: Vec<String> = events.iter().map(|it| (*it).to_owned()).collect();
        read("a", clients_log(&events).as_bytes()).unwrap().incomplete()
    };
    assert_eq!(incomplete(&[packet]), None);
    let late = packet.replace(r#""time":1"#, r#""time":-1"#);
    let said = "a: only part of it was read: events whose time is negative or not a number were left out (at record 3)";
    assert_eq!(incomplete(&[packet, &late]).as_deref(), Some(said));
    let bad = packet.replace(r#""frames":["#, r#""frames":[7,"#);
    let said = "a: only part of it was read: events whose body could not be read were left out (2 times, first at record 2)";
    assert_eq!(incomplete(&[&bad, &bad]).as_deref(), Some(said));
    assert_eq!(incomplete(&[packet, &packet[..40]]), None, "the program was stopped");
    assert!(incomplete(&[&packet[..40], packet]).is_some());
}

#[test]
fn a_servers_log_says_when_its_application_wrote_what() {
    let log = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}
{"time":1,"name":"quic:stream_data_moved","data":{"stream_id":4,"offset":0,"from":"application","to":"transport","raw":{"length":23}}}
{"time":2,"name":"quic:stream_data_moved","data":{"stream_id":0,"offset":0,"from":"transport","to":"application","raw":{"length":9}}}
{"time":3,"name":"transport:data_moved","data":{"stream_id":4,"offset":23,"from":"application","length":77}}
"#;
    let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
    let trace = read_traces("a", log.as_bytes(), options).unwrap().remove(0);
    assert_eq!(trace.written, Some([(4, vec![(1000, 23), (3000, 100)])].into()));
}

#[test]
fn what_no_connection_has_is_said_of_each_in_the_file() {
    let event = |group: &str, time: i32| {
        format!(
            r#"{{"time":{time},"group_id":"{group}","name":"transport:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":0,"offset":0,"length":5}}]}}}}"#
        )
    };
    let log = clients_log(&[event("aa", 1), event("bb", 2), "nonsense".to_owned()]);
    let traces = read_traces("a", log.as_bytes(), ReadOptions::default()).unwrap();
    let said: Vec<String> = traces.iter().filter_map(Trace::incomplete).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|it| it.ends_with("were left out (at record 4)")), "{said:?}");
}

/// Streams of HTTP/2 have odd numbers, and all their bytes are the body's.
#[test]
fn a_load_over_tcp_is_a_timeline_like_any_other() {
    let log = clients_log(&[
        r#"{"time":1,"name":"http2:frame_created","data":{"stream_id":3,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"},{"name":"priority","value":"u=1"}]}}}"#.to_owned(),
        r#"{"time":5,"name":"http2:frame_parsed","data":{"stream_id":3,"frame":{"frame_type":"headers","headers":[{"name":":status","value":"200"}]}}}"#.to_owned(),
        r#"{"time":6,"name":"http2:frame_parsed","data":{"stream_id":3,"offset":0,"length":7,"fin":false,"frame":{"frame_type":"data"}}}"#.to_owned(),
        r#"{"time":9,"name":"http2:frame_parsed","data":{"stream_id":3,"offset":7,"length":3,"fin":true,"frame":{"frame_type":"data"}}}"#.to_owned(),
    ]);
    let trace = read_ok(log.as_bytes());
    let transfer = &trace.timeline.transfers[0];
    assert_eq!((transfer.stream, &*transfer.url, transfer.requested_us), (3, "/a", 1000));
    assert_eq!((transfer.body_offset, transfer.stream_bytes), (0, Some(10)));
    let delivery = &trace.timeline.deliveries()[0];
    assert_eq!((delivery.readable_at_us(6), delivery.complete_us), (Some(6000), Some(9000)));
    assert_eq!(trace.details[0].priority.as_deref(), Some("u=1"));
    assert_eq!(trace.streams[0].role, crate::trace::StreamRole::Request);
    assert_eq!(trace.repairs, []);
    assert!(crate::views::why_not(&trace, "hol").is_some_and(|it| it.contains("in order")));
}
