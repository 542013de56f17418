//! Small netlogs through the reader.

use crate::reader::read;
use crate::trace::{Container, SignalKind, Vantage};

/// As Chromium writes it, with arbitrary numbers for the events.
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
    assert_eq!((trace.header.container, trace.vantage), (Container::Contained, Vantage::Client));
    assert_eq!(trace.header.stack.to_string(), "chromium 156.0");
    assert_eq!(
        (trace.header.format.as_deref(), trace.connection.as_deref()),
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

/// Events of session 7 in Chromium's form, by name.
fn netlog(events: &[(&str, &str)]) -> String {
    let mut names: Vec<&str> = events.iter().map(|it| it.0).collect();
    names.sort_unstable();
    names.dedup();
    let number = |name: &str| names.iter().position(|it| *it == name).unwrap_or_default();
    let types: Vec<String> =
        names.iter().map(|name| format!(r#""{name}":{}"#, number(name))).collect();
    let events = events.iter().map(|(name, params)| {
        format!(
            r#"{{"params":{params},"source":{{"id":7,"type":13}},"time":"5","type":{}}}"#,
            number(name)
        )
    });
    let events: Vec<String> = events.collect();
    format!(
        r#"{{"constants":{{"logSourceType":{{"QUIC_SESSION":13}},"logEventTypes":{{{},"CERT_VERIFIER_TASK":900}}}},"events":[{},{{"source":{{"id":-9,"type":27}},"time":[],"type":900}}]}}"#,
        types.join(","),
        events.join(",")
    )
}

/// A session with one of each.
fn session() -> String {
    netlog(&[
        ("QUIC_SESSION", r#"{"connection_id":"2c26"}"#),
        (
            "QUIC_SESSION_TRANSPORT_PARAMETERS_RECEIVED",
            r#"{"quic_transport_parameters":"[Server original_destination_connection_id 2c26 initial_max_data 786432]"}"#,
        ),
        (
            "QUIC_SESSION_CRYPTO_FRAME_SENT",
            r#"{"data_length":65,"encryption_level":"ENCRYPTION_INITIAL","offset":0}"#,
        ),
        (
            "QUIC_SESSION_PACKET_SENT",
            r#"{"encryption_level":"ENCRYPTION_INITIAL","packet_number":1,"size":996}"#,
        ),
        ("QUIC_SESSION_PACKET_RECEIVED", r#"{"size":1232}"#),
        ("QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED", r#"{"packet_number":9}"#),
        ("QUIC_SESSION_STOP_SENDING_FRAME_RECEIVED", r#"{"ietf_error_code":256,"stream_id":24}"#),
        (
            "QUIC_SESSION_ACK_FRAME_SENT",
            r#"{"largest_observed":9,"missing_packets":[],"smallest_observed":8}"#,
        ),
        ("QUIC_SESSION_WINDOW_UPDATE_FRAME_SENT", r#"{"byte_offset":15728640,"stream_id":-1}"#),
        (
            "QUIC_SESSION_RST_STREAM_FRAME_SENT",
            r#"{"ietf_error_code":268,"offset":379,"stream_id":8}"#,
        ),
        (
            "QUIC_SESSION_PACKET_SENT",
            r#"{"encryption_level":"ENCRYPTION_FORWARD_SECURE","packet_number":2,"size":50}"#,
        ),
        // From the packet that arrived before the one that was sent.
        (
            "QUIC_SESSION_STREAM_FRAME_RECEIVED",
            r#"{"fin":false,"length":50,"offset":0,"stream_id":0}"#,
        ),
        ("QUIC_SESSION_KEY_UPDATE", r#"{"reason":"kRemote"}"#),
        ("QUIC_SESSION_CLOSED", r#"{"quic_error":25,"from_peer":true}"#),
    ])
}

#[test]
fn a_netlogs_file_is_read_like_a_pipe() {
    crate::reader::tests::order::assert_a_file_is_read_like_a_pipe(&session());
}

#[test]
fn all_that_a_session_says_is_read_or_counted() {
    use crate::event_list::{FrameContent, RowAbout};
    let log = session();
    let options =
        crate::reader::ReadOptions { detail: crate::trace::Detail::Events, vantage: None };
    let trace = crate::reader::read_traces("net.json", log.as_bytes(), options).unwrap().remove(0);
    assert_eq!(trace.incomplete(), None);
    let events = &trace.events.as_ref().unwrap().list;
    let other = |kind: &str, stream, value| {
        let kind = events.kinds.iter().position(|it| it == kind).unwrap();
        FrameContent::Other { kind, stream, value: Some(value) }
    };
    let frames: Vec<_> = events.frames().collect();
    let expected = [
        other("crypto", None, 0),
        other("stop_sending", Some(24), 256),
        FrameContent::Stream { id: 0, offset: 0, bytes: 50, ends: false },
        FrameContent::Ack(vec![(8, 9)]),
        other("max_data", None, 15_728_640),
        other("reset_stream", Some(8), 379),
    ];
    assert_eq!(frames, expected);
    let sizes: Vec<u32> = events
        .rows
        .iter()
        .filter_map(|it| match it.about {
            RowAbout::Packet { bytes, .. } => Some(bytes),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [996, 1232, 50]);
    let closed = trace.closings.event.as_ref().expect("it was closed");
    assert_eq!((closed.how, closed.is_own), (crate::closing::How::IdleTimeout, Some(false)));
    let given_up = &trace.closings.streams[&8];
    assert_eq!((given_up.is_own, given_up.error.code), (true, Some(268)));
    assert_eq!(trace.flow_control.unwrap().connection, [(0, 786_432)]);
    let names = &trace.counts.by_name;
    assert_eq!((names["quic:connection_closed"], names["netlog:quic_session_key_update"]), (1, 1));
    assert_eq!(trace.counts.unknown_events, 1);
}

#[test]
fn a_frame_whose_packet_the_log_does_not_have_is_counted() {
    let log = netlog(&[
        ("QUIC_SESSION", r#"{"connection_id":"2c26"}"#),
        (
            "QUIC_SESSION_PACKET_SENT",
            r#"{"encryption_level":"ENCRYPTION_FORWARD_SECURE","packet_number":1,"size":50}"#,
        ),
        ("QUIC_SESSION_CONNECTION_CLOSE_FRAME_SENT", r#"{"quic_error":25,"details":"net error"}"#),
    ]);
    let counts = read("net.json", log.as_bytes()).unwrap().counts;
    assert_eq!((counts.packets_sent, counts.unknown_events), (1, 1));
    assert_eq!(counts.by_name["netlog:connection_close_frame_sent"], 1);
}

#[test]
fn what_chromium_logs_again_to_fill_a_datagram_up_is_not_sent_again() {
    let crypto = |offset: u64| format!(r#"{{"data_length":65,"offset":{offset}}}"#);
    let (first, second) = (crypto(0), crypto(65));
    let packet = |number: u64| {
        format!(
            r#"{{"encryption_level":"ENCRYPTION_INITIAL","packet_number":{number},"size":900}}"#
        )
    };
    let (one, two) = (packet(1), packet(2));
    let log = netlog(&[
        ("QUIC_SESSION_CRYPTO_FRAME_SENT", &first),
        ("QUIC_SESSION_PACKET_SENT", &one),
        ("QUIC_SESSION_CRYPTO_FRAME_SENT", &second),
        ("QUIC_SESSION_CRYPTO_FRAME_SENT", &first),
        ("QUIC_SESSION_PADDING_FRAME_SENT", r#"{"num_padding_bytes":234}"#),
        ("QUIC_SESSION_COALESCED_PACKET_SENT", "{}"),
        ("QUIC_SESSION_PACKET_SENT", &two),
    ]);
    let trace = read("net.json", log.as_bytes()).unwrap();
    assert_eq!((trace.counts.packets_sent, trace.counts.packet_frames), (2, 2));
}

#[test]
fn a_packet_was_sent_when_it_says_and_not_when_it_was_logged() {
    let sent = r#"{"params":{"encryption_level":"ENCRYPTION_FORWARD_SECURE","packet_number":5,"#;
    let times_us = |said: &str| {
        let log = NETLOG
            .replace(sent, &format!("{sent}{said}"))
            .replace(r#""time":"41025031","type":2"#, r#""time":"41025070","type":2"#);
        let options =
            crate::reader::ReadOptions { detail: crate::trace::Detail::Full, vantage: None };
        let traces = crate::reader::read_traces("net.json", log.as_bytes(), options).unwrap();
        assert!(!traces[0].repairs.iter().any(|it| it.what.contains("earlier")));
        let packets = traces[0].packets().iter();
        packets.map(|it| (it.event.name(), it.time_us)).collect::<Vec<_>>()
    };
    let received = ("received", 29_000);
    let acknowledged = ["acknowledged"; 4].map(|it| (it, 29_000));
    let in_order = |sent_us| [&[("sent", sent_us), received][..], &acknowledged].concat();
    let late = |sent_us| [&[received][..], &acknowledged, &[("sent", sent_us)]].concat();
    assert_eq!(times_us(r#""sent_time_us":41025031250,"#), in_order(4250));
    assert_eq!(times_us(""), late(43_000));
    // Neither after it was logged, nor on another clock.
    for wrong in ["41025071250", "-5", "\"x\"", "1795612684941000"] {
        assert_eq!(times_us(&format!(r#""sent_time_us":{wrong},"#)), late(43_000), "{wrong}");
    }
}
