//! What is written can be read again, by us and by the crate `qlog`.

use super::*;
use crate::reader::read;
use qlog::reader::{Event, QlogSeqReader};

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

#[test]
fn time_and_streams_cut_events_and_frames() {
    let cut = Conversion { time_us: Some(11_000..40_000), ..Conversion::default() };
    assert_eq!(converted(&cut).matches("\"time\"").count(), 3);
    let cut = Conversion { streams: Some(BTreeSet::from([4])), ..Conversion::default() };
    let text = converted(&cut);
    let trace = read("cut", text.as_bytes()).unwrap();
    assert_eq!(trace.unique_stream_bytes(), 50);
    assert!(!text.contains("secret"));
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

#[test]
fn a_trace_that_is_not_there_is_an_error() {
    let wanted = Conversion { trace: 1, ..Conversion::default() };
    let error = convert("old", OLD.as_bytes(), Vec::new(), &wanted).unwrap_err();
    assert_eq!(error.to_string(), "old: no trace 2 in it, only 1");
}
