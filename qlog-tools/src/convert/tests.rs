//! Converted logs can be read again, by us and by the crate `qlog`.

use std::collections::BTreeSet;

use super::*;
use crate::reader::{ReadOptions, read, read_traces};
use crate::trace::Detail;
use qlog::reader::{Event, QlogSeqReader};
use serde_json::json;

/// Draft 01: arrays, numbers as text, old names.
const OLD: &str = r#"{"qlog_version":"draft-01","traces":[{"vantage_point":{"type":"client","name":"aioquic"},
"common_fields":{"ODCID":"aabbccdd00112233","reference_time":"5"},"event_fields":["relative_time","category","event_type","data"],
"events":[
["10","http","frame_created",{"stream_id":"0","frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/secret/a.css?x=1"},{"name":"cookie","value":"me"}]},"byte_length":"20"}],
["11","transport","packet_sent",{"packet_type":"1RTT","header":{"packet_number":"1","packet_size":60,"dcid":"aabbccdd00112233"},"frames":[{"frame_type":"stream","id":"0","offset":"0","length":"20","fin":true}]}],
["20","recovery","metric_update",{"cwnd":12000,"bytes_in_flight":60}],
["30","transport","packet_received",{"packet_type":"1RTT","header":{"packet_number":"1","packet_size":1280},"frames":[{"frame_type":"ack","ack_delay":"0","acked_ranges":[["1","1"]]},{"frame_type":"stream","id":"0","offset":"0","length":"1000"},{"frame_type":"stream","id":"4","offset":"0","length":"50"}]}],
["40","transport","packet_received",{"packet_type":"1RTT","header":{"packet_number":"2","packet_size":280},"frames":[{"frame_type":"stream","id":"0","offset":"1000","length":"200","fin":true}]}]
]}]}"#;

fn converted(conversion: &Conversion) -> String {
    let mut output = Vec::new();
    convert("old", OLD.as_bytes(), &mut output, conversion).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn both_schemas_tell_the_same_of_the_streams() {
    let before = read("old", OLD.as_bytes()).unwrap();
    for target in [Target::Current, Target::V03] {
        let text = converted(&Conversion { target, ..Conversion::default() });
        let after = read("old", text.as_bytes()).unwrap();
        assert_eq!(after.timeline, before.timeline, "{text}");
        assert_eq!((after.vantage, &after.connection), (before.vantage, &before.connection));
        assert_eq!((after.counts.bad_records, after.counts.unknown_events), (0, 0));
    }
}

#[test]
fn the_current_schema_is_read_typed_by_the_crate_qlog() {
    let text = converted(&Conversion::default());
    let reader = std::io::Cursor::new(text.into_bytes());
    let events: Vec<Event> = QlogSeqReader::new(Box::new(reader)).unwrap().collect();
    let typed = events.iter().filter(|event| matches!(event, Event::Qlog(_))).count();
    assert_eq!((events.len(), typed), (5, 5), "{events:#?}");
}

#[test]
fn the_older_schema_has_what_qvis_asks_for() {
    let text = converted(&Conversion { target: Target::V03, ..Conversion::default() });
    let mut records = text.trim_start_matches('\x1e').split('\x1e');
    let header: Value = serde_json::from_str(records.next().unwrap()).unwrap();
    assert_eq!(
        (&header["qlog_version"], &header["qlog_format"]),
        (&json!("0.3"), &json!("JSON-SEQ"))
    );
    let names: Vec<Value> = records
        .map(|record| serde_json::from_str::<Value>(record).unwrap()["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "http:frame_created",
            "transport:packet_sent",
            "recovery:metrics_updated",
            "transport:packet_received",
            "transport:packet_received"
        ]
    );
    assert!(text.contains(r#""length":1000"#), "{text}");
}

/// Each event of a log of today's names as one of the older schema, and back.
#[test]
fn each_schema_has_its_own_names_for_whose_doing_an_event_is_and_for_parameters() {
    let events = [
        r#"{"time":0.5,"name":"quic:recovery_parameters_set","data":{"reordering_threshold":3}}"#,
        r#"{"time":1.0,"name":"quic:parameters_set","data":{"initiator":"remote","initial_max_data":9}}"#,
        r#"{"time":2.0,"name":"http3:stream_type_set","data":{"initiator":"local","stream_id":2,"stream_type":"control"}}"#,
        r#"{"time":3.0,"name":"quic:connection_closed","data":{"initiator":"remote"}}"#,
    ];
    let header = r#"{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}"#;
    let log = format!("{header}\n{}\n", events.join("\n"));
    let v03 = Conversion { target: Target::V03, ..Conversion::default() };
    let (_, older) = converted_log(&log, v03);
    let parsed = |it: &String| serde_json::from_str::<Value>(it).unwrap();
    let named = |it: &Value| (it["name"].as_str().unwrap().to_owned(), it["data"].clone());
    let expected = [
        ("recovery:parameters_set", json!({"reordering_threshold": 3})),
        ("transport:parameters_set", json!({"owner": "remote", "initial_max_data": 9})),
        ("http:stream_type_set", json!({"owner": "local", "stream_id": 2, "new": "control"})),
        ("connectivity:connection_closed", json!({"owner": "remote"})),
    ];
    let expected = expected.map(|(name, data)| (name.to_owned(), data));
    assert_eq!(older.iter().map(|it| named(&parsed(it))).collect::<Vec<_>>(), expected);
    let log = format!("{header}\n{}\n", older.join("\n"));
    let (_, again) = converted_log(&log, Conversion::default());
    let before: Vec<Value> = events.iter().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(again.iter().map(parsed).collect::<Vec<_>>(), before);
}

#[test]
fn a_packet_keeps_its_size_wherever_the_log_has_it() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}"#;
    let quinn = r#"{"time":1.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0,"length":138}}}"#;
    for target in [Target::Current, Target::V03] {
        let conversion = Conversion { target, ..Conversion::default() };
        let (_, events) = converted_log(&format!("{header}\n{quinn}\n"), conversion);
        let event: Value = serde_json::from_str(&events[0]).unwrap();
        assert_eq!(event["data"]["raw"]["length"], 138, "{event}");
    }
}

fn part(log: &str, cut: Cut) -> String {
    let part = Part::survey("old", log.as_bytes(), 0, cut).unwrap();
    let mut output = Vec::new();
    let conversion = Conversion { part: Some(part), ..Conversion::default() };
    convert("old", log.as_bytes(), &mut output, &conversion).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn time_and_streams_cut_events_and_frames() {
    let text = part(OLD, Cut { time_us: Some(11_000..40_000), ..Cut::default() });
    // The packets at 11 and 30 ms, the metrics at 20 ms; and the request at 10 ms.
    assert_eq!(text.matches("\"time\"").count(), 4);
    let text = part(OLD, Cut { streams: Some(BTreeSet::from([4])), ..Cut::default() });
    let trace = read("cut", text.as_bytes()).unwrap();
    assert_eq!(trace.unique_stream_bytes(), 50);
    assert!(!text.contains("secret"));
}

#[test]
fn a_cut_keeps_the_requests_of_the_streams_in_it_and_of_no_others() {
    let text = part(OLD, Cut { time_us: Some(25_000..50_000), ..Cut::default() });
    let trace = read("cut", text.as_bytes()).unwrap();
    let urls: Vec<&str> = trace.timeline.transfers.iter().map(|it| &*it.url).collect();
    assert_eq!(urls, ["/secret/a.css?x=1", "stream 4"]);
    // At 10 ms, before the part.
    assert_eq!(trace.timeline.transfers[0].requested_us, 25_000);
    let text = part(OLD, Cut { time_us: Some(15_000..25_000), ..Cut::default() });
    assert!(!text.contains("secret"), "nothing of its stream is in the cut: {text}");
}

#[test]
fn a_cut_keeps_what_was_said_of_a_pushs_priority_and_promise() {
    let events = [
        r#"{"time":1,"name":"http:frame_parsed","data":{"stream_id":0,"frame":{"frame_type":"push_promise","push_id":3,"headers":[{"name":":method","value":"GET"},{"name":":path","value":"/pushed.css"}]}}}"#,
        r#"{"time":1,"name":"http:frame_parsed","data":{"stream_id":0,"frame":{"frame_type":"push_promise","push_id":4,"headers":[{"name":":method","value":"GET"},{"name":":path","value":"/other.css"}]}}}"#,
        r#"{"time":2,"name":"http:stream_type_set","data":{"stream_id":15,"stream_type":"push","associated_push_id":3}}"#,
        r#"{"time":3,"name":"http:frame_created","data":{"stream_id":2,"frame":{"frame_type":"priority_update","stream_id":8,"priority_field_value":"u=1"}}}"#,
        r#"{"time":9,"name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":15,"offset":0,"length":9,"fin":true},{"frame_type":"stream","stream_id":8,"offset":0,"length":9}]}}"#,
    ];
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
    let log = format!("{header}\n{}", events.join("\n"));
    let text = part(&log, Cut { time_us: Some(5_000..10_000), ..Cut::default() });
    assert!(text.contains("/pushed.css") && !text.contains("/other.css"), "{text}");
    let of_streams = |streams| Cut { streams: Some(BTreeSet::from(streams)), ..Cut::default() };
    let text = part(&log, of_streams([15]));
    assert!(text.contains("/pushed.css") && !text.contains("u=1"), "{text}");
    let trace = read("cut", part(&log, of_streams([8])).as_bytes()).unwrap();
    assert_eq!((trace.signals[0].element, &*trace.signals[0].value), (8, "u=1"));
}

#[test]
fn a_part_begins_where_it_was_cut_and_a_part_of_a_part_with_the_later_one() {
    let begins = |log: &str, from_us| {
        let text = part(log, Cut { time_us: Some(from_us..50_000), ..Cut::default() });
        let begins_us = read("cut", text.as_bytes()).unwrap().header.part_begins_us;
        (text, begins_us)
    };
    let (text, begins_us) = begins(OLD, 25_000);
    assert_eq!(begins_us, Some(25_000));
    assert_eq!(begins(&text, 0).1, Some(25_000));
    assert_eq!(begins(&text, 30_000).1, Some(30_000));
    assert_eq!(begins(OLD, 0).1, None);
}

#[test]
fn a_part_has_only_the_losses_of_its_packets() {
    let sent = |time, number, stream| {
        format!(
            r#"{{"time":{time},"name":"quic:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":9}}]}}}}"#
        )
    };
    let lost = |number| {
        format!(
            r#"{{"time":9,"name":"quic:packet_lost","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}}}"#
        )
    };
    let metrics = r#"{"time":9,"name":"quic:recovery_metrics_updated","data":{"cf_lost_packets":{"total":2,"delta":2},"congestion_window":7}}"#;
    let header = r#"{"file_schema":"x","trace":{"vantage_point":{"type":"server"}}}"#;
    let lines =
        [header.to_owned(), sent(1, 1, 0), sent(5, 2, 4), lost(1), lost(2), metrics.to_owned()];
    let log = lines.join(
        "
",
    );
    let told = |cut: Cut| {
        let text = part(&log, cut);
        let counts = read("cut", text.as_bytes()).unwrap().counts;
        (counts.packets_sent, counts.packets_lost, text.contains("cf_lost_packets"))
    };
    assert_eq!(told(Cut::default()), (2, 2, true));
    let of_4 = Cut { streams: Some(BTreeSet::from([4])), ..Cut::default() };
    assert_eq!(told(of_4), (1, 1, false));
    assert_eq!(told(Cut { time_us: Some(4_000..10_000), ..Cut::default() }), (1, 1, true));
}

/// As quinn writes it: round-trip times in seconds under qlog 0.3; mvfst's are in microseconds.
#[test]
fn round_trip_times_are_the_same_in_each_schema() {
    let quinn = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"quinn server","trace":{"vantage_point":{"type":"server"}}}
{"time":1,"name":"recovery:metrics_updated","data":{"latest_rtt":0.0522,"smoothed_rtt":0.06,"min_rtt":0.05}}
"#;
    let mvfst = r#"{"qlog_version":"draft-00","traces":[{"vantage_point":{"type":"server","name":"mvfst"},"event_fields":["relative_time","CATEGORY","EVENT_TYPE","TRIGGER","DATA"],"events":[
["1","METRIC_UPDATE","METRIC_UPDATE","x",{"latest_rtt":52200,"smoothed_rtt":60000,"min_rtt":50000}]]}]}"#;
    for log in [quinn, mvfst] {
        for target in [Target::Current, Target::V03] {
            let mut output = Vec::new();
            let conversion = Conversion { target, ..Conversion::default() };
            convert("a", log.as_bytes(), &mut output, &conversion).unwrap();
            let options = ReadOptions { detail: Detail::Full, vantage: None };
            let traces = read_traces("a", &output[..], options).unwrap();
            let sample = traces[0].samples()[0];
            let rtts_ms = [sample.latest_rtt_ms, sample.smoothed_rtt_ms, sample.min_rtt_ms];
            for (rtt_ms, expected) in rtts_ms.into_iter().zip([52.2, 60.0, 50.0]) {
                let rtt_ms = rtt_ms.unwrap();
                assert!((rtt_ms - expected).abs() < 1e-6, "{rtt_ms} {target:?} {log}");
            }
        }
    }
}

/// qlog 0.1 has STREAM frames, and no packets.
#[test]
fn frames_without_packets_do_not_become_packets_that_were_counted() {
    let log = r#"{"qlog_version":"0.1","connections":[{"vantagepoint":"SERVER","fields":["time","category","type","trigger","data"],"events":[
[1,"TRANSPORT","STREAM_NEW","PACKET_TX",{"packet_nr":7,"stream_id":0,"offset":0,"length":9,"final_frame":1}],
[2,"RECOVERY","PACKET_LOST","UNKNOWN",{"packet_nr":7}]]}]}"#;
    let before = read("old", log.as_bytes()).unwrap();
    for target in [Target::Current, Target::V03] {
        let (header, events) = converted_log(log, Conversion { target, ..Conversion::default() });
        let text = format!("{header}\n{}\n", events.join("\n"));
        let after = read("old", text.as_bytes()).unwrap();
        assert_eq!((after.counts.packets_sent, after.counts.packets_lost), (0, 1), "{text}");
        assert_eq!(after.counts.packets_sent, before.counts.packets_sent);
        assert_eq!(after.timeline, before.timeline);
    }
}

/// Two connections in one file, and one event of neither.
const GROUPS: &str = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}
{"time":5,"group_id":"AA","name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":10}]}}
{"time":6,"group_id":"bb","name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":20}]}}
{"time":7,"name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":30}]}}
{"time":8,"group_id":"AA","name":"transport:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":10,"length":1}]}}"#;

#[test]
fn traces_are_numbered_as_the_reader_numbers_them() {
    let traces = read_traces("groups", GROUPS.as_bytes(), ReadOptions::default()).unwrap();
    let numbers: Vec<_> = traces.iter().map(|it| (it.label(), it.unique_stream_bytes())).collect();
    let label = |number: usize| format!("groups #{number}");
    assert_eq!(numbers, [(label(1), 11), (label(2), 20), (label(3), 30)]);
    for (place, trace) in traces.iter().enumerate() {
        let conversion = Conversion { trace: place, ..Conversion::default() };
        let mut output = Vec::new();
        let done = convert("groups", GROUPS.as_bytes(), &mut output, &conversion).unwrap();
        assert_eq!(done.traces, 3);
        let converted = read_traces("one", &output[..], ReadOptions::default()).unwrap();
        assert_eq!((converted.len(), converted[0].number), (1, None));
        assert_eq!(converted[0].timeline.frames, trace.timeline.frames);
        assert_eq!(converted[0].connection, trace.connection);
    }
}

#[test]
fn commas_that_the_reader_forgives_are_forgiven_here_too() {
    let with_commas = OLD.replace("\"fin\":true}]}]", "\"fin\":true},]}]");
    assert_ne!(with_commas, OLD);
    let done = convert("old", with_commas.as_bytes(), Vec::new(), &Conversion::default()).unwrap();
    assert_eq!((done.events, done.bad_records), (5, 0));
}

#[test]
fn a_log_that_ends_early_is_said_to() {
    let cut_off = &OLD[..OLD.len() - 200];
    let done = convert("old", cut_off.as_bytes(), Vec::new(), &Conversion::default()).unwrap();
    assert!(done.broken_off.unwrap().contains("ends early"));
}

#[test]
fn an_anonymous_log_names_nobody_and_measures_the_same() {
    let text = converted(&Conversion { anonymise: true, ..Conversion::default() });
    for name in ["secret", "cookie\",\"value\":\"me", "aabbccdd00112233", "x=1"] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    let trace = read("anonymous", text.as_bytes()).unwrap();
    assert_eq!(trace.timeline.transfers[0].url, "/resource-1.css");
    assert_eq!(trace.timeline.frames, read("old", OLD.as_bytes()).unwrap().timeline.frames);
}

/// Whatever an event holds: only what the schema names stays.
#[test]
fn no_text_address_or_identifier_of_any_event_stays() {
    let events = [
        r#""quic:connection_started","data":{"local":{"ip_v4":"10.77.1.2","port_v4":47443},"src_ip":"10.77.3.3"}"#,
        r#""quic:parameters_set","data":{"owner":"remote","initial_source_connection_id":"deadbeef01","unknown_parameters":[{"id":5,"value":"deadbeef02"}]}"#,
        r#""quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1,"dcid":"deadbeef03","token":{"data":"deadbeef04"}},"raw":{"length":60,"data":"deadbeef05"},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":9},{"frame_type":"connection_close","reason":"secret","error_code":1}]}"#,
        r#""http3:frame_parsed","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":path","value":"/secret/deadbeef06"},{"name":"content-type","value":"text/html; name=secret"},{"name":"secret","name_bytes":"deadbeef07","value":"x"}]}}"#,
        r#""http3:priority_updated","data":{"stream_id":0,"old":"u=3","new":"u=1, i"}"#,
        r#""security:key_updated","data":{"key_type":"client_1rtt_secret","new":"deadbeef08"}"#,
        r#""quic:alpn_information","data":{"server_alpns":[{"byte_value":"deadbeef09","string_value":"secret.example"}]}"#,
        r#""quic:udp_datagrams_received","data":{"count":1,"raw":[{"length":9,"data":"deadbeef10"}]}"#,
        r#""quic:tuple_assigned","data":{"tuple_id":"10.77.7.7:44"}"#,
        r#""loglevel:debug","data":{"message":"secret 10.77.5.5","secret words":"deadbeef11"}"#,
        r#""vendor:secret","data":{"secret.example":4}"#,
    ];
    let header = r#"{"file_schema":"x","title":"secret","trace":{"vantage_point":{"type":"server","name":"the secret server"}}}"#;
    let events = events.map(|it| format!(r#"{{"time":1,"name":{it}}}"#)).join("\n");
    let conversion = Conversion { anonymise: true, ..Conversion::default() };
    let (header, events) = converted_log(&format!("{header}\n{events}\n"), conversion);
    let text = format!("{header}\n{}\n", events.join("\n"));
    let hidden = text.replace("client_1rtt_secret", "");
    for name in ["secret", "deadbeef", "10.77", "47443"] {
        assert!(!hidden.contains(name), "{name} in {text}");
    }
    for kept in [r#""new":"u=1, i""#, r#""value":"text/html""#, r#""initiator":"remote""#] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let trace = read("anonymous", text.as_bytes()).unwrap();
    assert_eq!((trace.counts.events, trace.counts.unknown_events), (11, 1), "{text}");
    assert_eq!((trace.unique_stream_bytes(), trace.details.len()), (9, 1));
}

#[test]
fn a_trace_that_is_not_there_is_an_error() {
    let wanted = Conversion { trace: 1, ..Conversion::default() };
    let error = convert("old", OLD.as_bytes(), Vec::new(), &wanted).unwrap_err();
    assert_eq!(error.to_string(), "old: has no trace 2, only 1; `utmost qlog check` numbers them");
}

/// As aioquic writes it: times since 1970, the side after the events.
const SINCE_1970: &str = r#"{"qlog_format":"JSON","qlog_version":"0.3","traces":[{"common_fields":{"ODCID":"b783d94a7a141aa7"},"code_version":"1.2.3","events":[
{"data":{"frames":[]},"name":"transport:packet_received","time":1795225776600.838},
{"data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":9,"fin":true}]},"name":"transport:packet_sent","time":1795225776601.9644}],
"vantage_point":{"name":"aioquic","type":"server"}}]}"#;

fn converted_log(log: &str, conversion: Conversion) -> (Value, Vec<String>) {
    let ending = facts_at_end("a", log.as_bytes(), 0).unwrap();
    let mut output = Vec::new();
    convert("a", log.as_bytes(), &mut output, &Conversion { ending, ..conversion }).unwrap();
    let text = String::from_utf8(output).unwrap();
    let mut records = text.split('\u{1e}').filter(|it| !it.trim().is_empty());
    let header = serde_json::from_str(records.next().unwrap()).unwrap();
    (header, records.map(|it| it.trim().to_owned()).collect())
}

#[test]
fn a_converted_log_keeps_its_side_its_epoch_its_version_and_all_digits() {
    let (header, events) = converted_log(SINCE_1970, Conversion::default());
    let trace = &header["trace"];
    assert_eq!(trace["vantage_point"], json!({"type": "server", "name": "aioquic"}));
    assert_eq!(trace["code_version"], "1.2.3");
    let wall_clock = &trace["common_fields"]["reference_time"]["wall_clock_time"];
    assert_eq!(wall_clock, "2026-11-21T01:49:36.600838Z");
    assert!(events[1].starts_with(r#"{"time":1.1264"#), "{}", events[1]);
    let v03 = Conversion { target: Target::V03, ..Conversion::default() };
    let (header, _) = converted_log(SINCE_1970, v03);
    let common = &header["trace"]["common_fields"];
    assert_eq!(common["reference_time"], 1_795_225_776_600.838);
    assert_eq!(
        (&common["time_format"], &common["ODCID"]),
        (&json!("relative"), &json!("b783d94a7a141aa7"))
    );
    let fine = OLD_FINE.replace("TIME", "0.160148");
    let (_, events) = converted_log(&fine, Conversion::default());
    assert!(events[0].starts_with(r#"{"time":0.160148,"#), "{}", events[0]);
}

const OLD_FINE: &str = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"unknown"},"common_fields":{"reference_time":{"clock_type":"monotonic","epoch":"unknown","wall_clock_time":"2026-11-21T01:48:45.990298488Z"}}}}
{"time":TIME,"name":"transport:packet_sent","data":{"frames":[]}}
"#;

#[test]
fn the_side_can_be_named_and_the_wall_clock_is_kept() {
    let log = OLD_FINE.replace("TIME", "1");
    let vantage = Some(crate::trace::Vantage::Client);
    let (header, _) =
        converted_log(&log, Conversion { vantage, target: Target::V03, ..Conversion::default() });
    assert_eq!(header["trace"]["vantage_point"]["type"], "client");
    let started = header["trace"]["common_fields"]["reference_time"].as_f64().unwrap();
    assert!((started - 1_795_225_725_990.298).abs() < 0.01, "{started}");
    let (header, _) = converted_log(&log, Conversion { vantage, ..Conversion::default() });
    let wall_clock = &header["trace"]["common_fields"]["reference_time"]["wall_clock_time"];
    assert_eq!(wall_clock, "2026-11-21T01:48:45.990298488Z");
}
