//! Peculiarities of single stacks, in small logs of our own.

use std::fmt::Write as _;

use super::*;
use crate::causes::settle;
use crate::packet::PacketEvent;
use crate::pairing::is_same_connection;

/// A log of this side: times in ms, `sent` or `received`, bodies.
fn log(side: &str, packets: &[(u64, &str, &str)]) -> Trace {
    let mut log =
        format!(r#"{{"qlog_version":"0.3","trace":{{"vantage_point":{{"type":"{side}"}}}}}}"#);
    for (time, event, body) in packets {
        let name =
            if event.contains(':') { (*event).to_owned() } else { format!("quic:packet_{event}") };
        write!(log, "\n{{\"time\":{time},\"name\":\"{name}\",\"data\":{body}}}").unwrap();
    }
    let options = ReadOptions { detail: Detail::Events, vantage: None };
    read_traces("log", log.as_bytes(), options).unwrap().remove(0)
}

fn stream(number: u64, stream: u64, offset: u64, length: u64) -> String {
    format!(
        r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"length":{length}}}]}}"#
    )
}

fn ack(ranges: &str) -> String {
    format!(
        r#"{{"header":{{"packet_type":"1RTT"}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}"#
    )
}

fn initial(number: u64, destination: &str, frames: &str) -> String {
    format!(
        r#"{{"header":{{"packet_type":"initial","packet_number":{number},"dcid":"{destination}"}},"frames":[{frames}]}}"#
    )
}

const CRYPTO: &str = r#"{"frame_type":"crypto","offset":0,"length":300}"#;
const ACK_AND_CRYPTO: &str =
    r#"{"frame_type":"ack","acked_ranges":[[0,0]]},{"frame_type":"crypto"}"#;

/// Packets 0 to 6 with 10 bytes of stream 0 each; 5 does not arrive.
fn with_acks(acks: &[&str]) -> Trace {
    let sent: Vec<String> = (0..7).map(|it| stream(it, 0, it * 10, 10)).collect();
    let acks: Vec<String> = acks.iter().map(|it| ack(it)).collect();
    let mut packets: Vec<(u64, &str, &str)> = sent.iter().map(|it| (1, "sent", &**it)).collect();
    packets.extend(acks.iter().map(|it| (20, "received", &**it)));
    log("server", &packets)
}

fn acknowledged(trace: &Trace) -> Vec<u64> {
    let packets = trace.packets_of(PacketEvent::Acknowledged);
    let mut numbers: Vec<u64> = packets.filter_map(|it| it.number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_lost_packet_at_the_exclusive_end_of_a_range_was_not_acknowledged() {
    // 0 to 4 and 6 arrived: noq's [0,5] and [6,7].
    for acks in [&["[[6,7],[0,5]]"][..], &["[[0,5]]", "[[6,7],[0,5]]"], &["[[0,3]]", "[[0,7]]"]] {
        let trace = with_acks(acks);
        let expected: &[u64] = if acks.len() == 2 && acks[1] == "[[0,7]]" {
            &[0, 1, 2, 3, 4, 5, 6]
        } else {
            &[0, 1, 2, 3, 4, 6]
        };
        assert_eq!(acknowledged(&trace), expected, "{acks:?}");
        let packets = trace.packets.as_ref().unwrap();
        let number = |it: &u32| packets.all[usize::try_from(*it).unwrap()].number.unwrap();
        let places: Vec<u64> = packets.of_frames.iter().map(number).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6], "each frame keeps its packet");
    }
    // The event is unambiguous.
    let trace = with_acks(&["[[6,7],[0,5]]"]);
    let frames: Vec<_> = trace.events.as_ref().unwrap().list.frames().collect();
    let ranges = crate::event_list::FrameContent::Ack(vec![(6, 6), (0, 4)]);
    assert_eq!(frames.last(), Some(&ranges));
}

#[test]
fn inclusive_ranges_stay_as_they_are() {
    assert_eq!(acknowledged(&with_acks(&["[[6,6],[0,4]]"])), [0, 1, 2, 3, 4, 6]);
    assert_eq!(acknowledged(&with_acks(&["[[6],[0,4]]"])), [0, 1, 2, 3, 4, 6]);
    assert_eq!(acknowledged(&with_acks(&["[[0,4]]"])), [0, 1, 2, 3, 4]);
}

#[test]
fn a_retransmission_in_two_frames_is_as_lost_as_its_packet() {
    // Packet 0 is lost; its 20 bytes are sent again in 1, which arrives, and in 2, which is lost, and its second half in 3.
    // Then all of 1 is sent again, needlessly.
    let sent = [
        stream(0, 0, 0, 20),
        stream(1, 0, 0, 10),
        stream(2, 0, 10, 10),
        stream(3, 0, 10, 10),
        stream(4, 0, 0, 10),
    ];
    let mut packets: Vec<(u64, &str, &str)> = sent.iter().map(|it| (1, "sent", &**it)).collect();
    let acks = ack("[[1,1],[3,4]]");
    packets.push((30, "received", &acks));
    let mut traces = [log("server", &packets)];
    settle(&mut traces);
    let stream = &traces[0].streams[0];
    assert_eq!((stream.retransmitted_bytes, stream.duplicate_bytes), (30, Some(10)));
    let marks = crate::causes::frame_causes(&traces[0], None)
        .map(|it| (it.causes.retransmitted_bytes, it.causes.duplicate_bytes));
    assert_eq!(marks.collect::<Vec<_>>(), [(0, 0), (10, 0), (10, 0), (10, 0), (0, 10)]);
}

#[test]
fn the_side_that_sends_the_first_initial_packet_is_the_client_whatever_the_log_says() {
    let (first, answer) = (initial(0, "aa01", CRYPTO), initial(0, "bb02", ACK_AND_CRYPTO));
    let data = stream(1, 0, 0, 70);
    let ends = [("sent", "received", Vantage::Client), ("received", "sent", Vantage::Server)];
    for (own, other, side) in ends {
        for said in ["server", "client", "unknown"] {
            let trace = log(said, &[(0, own, &first), (5, other, &answer), (9, "received", &data)]);
            assert_eq!(trace.vantage, side, "{said}");
            let is_told = trace.repairs.iter().any(|it| it.what.contains("first Initial packet"));
            assert_eq!(is_told, said != side.name(), "{said}");
        }
    }
    // A server that logs only what it sends begins with an acknowledgement.
    let sends_only = log("server", &[(5, "sent", &answer)]);
    assert_eq!(sends_only.vantage, Vantage::Server);
    // A client's log without its sent packets, whose server's first packet was overtaken.
    let receives_only = log("client", &[(5, "received", &initial(1, "bb02", CRYPTO))]);
    assert_eq!(receives_only.vantage, Vantage::Client);
}

#[test]
fn after_a_retry_both_ends_are_known_by_the_original_connection_id() {
    let parameters = r#"{"owner":"local","original_destination_connection_id":"AA01"}"#;
    let first = initial(0, "aa01", CRYPTO);
    let again = initial(1, "cc03", CRYPTO);
    let client = log("client", &[(0, "sent", &first), (9, "sent", &again)]);
    // The server's log begins after the Retry.
    let server = log("server", &[(3, "received", &again)]);
    let with_parameters = log("server", &[(3, "quic:parameters_set", parameters)]);
    assert_eq!(client.connection.as_deref(), Some("aa01"));
    assert!(is_same_connection(&client, &server) && is_same_connection(&client, &with_parameters));
    let other = log("server", &[(3, "received", &initial(0, "dd04", CRYPTO))]);
    assert!(!is_same_connection(&client, &other));
    // None of the client's packets after the Retry, but the Retry, or the server's parameters.
    let retry = r#"{"header":{"packet_type":"retry","scid":"CC03","dcid":"01"}}"#;
    let remote = r#"{"owner":"remote","original_destination_connection_id":"aa01","retry_source_connection_id":"CC03"}"#;
    for (event, body) in [("received", retry), ("quic:parameters_set", remote)] {
        let client = log("client", &[(0, "sent", &first), (9, event, body)]);
        assert_eq!(client.connection.as_deref(), Some("aa01"));
        assert!(is_same_connection(&client, &server), "{event}");
        assert!(!is_same_connection(&client, &other), "{event}");
    }
}

#[test]
fn openssl_has_the_bytes_of_a_frame_in_its_payload_length() {
    let frame = r#"{"header":{"packet_type":"1RTT","packet_number":0},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"payload_length":1200,"explicit_length":true,"length":4}]}"#;
    assert_eq!(log("client", &[(0, "received", frame)]).unique_stream_bytes(), 1200);
}

#[test]
fn uploads_count_in_the_other_direction() {
    let (up, again, down) = (stream(1, 0, 0, 600), stream(2, 0, 0, 600), stream(1, 0, 0, 40));
    let one_way = stream(3, 2, 0, 30);
    for (side, own, other) in [("client", "sent", "received"), ("server", "received", "sent")] {
        let trace =
            log(side, &[(0, own, &up), (1, own, &again), (2, own, &one_way), (3, other, &down)]);
        assert_eq!((trace.unique_stream_bytes(), trace.request_bytes), (40, 630), "{side}");
        let said = "670 distinct stream bytes (40 from the server, 630 from the client)";
        assert_eq!(trace.stream_bytes_in_words(), said);
    }
}

#[test]
fn an_archive_that_is_cut_anywhere_is_not_complete() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&sequence(CLIENT)).unwrap();
    let zstd = zstd::encode_all(&sequence(CLIENT)[..], 1).unwrap();
    for packed in [gzip.finish().unwrap(), zstd] {
        for end in 1..packed.len() {
            let read = read("a.gz", &packed[..end]);
            let is_said = read.as_ref().map_or(true, |trace| trace.incomplete().is_some());
            assert!(is_said, "{end} of {}", packed.len());
        }
        assert_eq!(read("a.gz", &packed[..]).unwrap().incomplete(), None);
    }
}

/// mvfst's log of a server in 2020 with these columns.
fn mvfst(columns: &str) -> String {
    let events = [
        r#"["100","TRANSPORT","PACKET_RECEIVED","DEFAULT",{"frames":[{"frame_type":"stream","stream_id":"0","offset":"0","length":"40","fin":true}],"header":{"packet_number":1,"packet_size":80},"packet_type":"1RTT"}]"#,
        r#"["1000","TRANSPORT","PACKET_SENT","DEFAULT",{"frames":[{"frame_type":"stream","stream_id":"0","offset":"0","length":"1000","fin":true}],"header":{"packet_number":0,"packet_size":1040},"packet_type":"1RTT"}]"#,
        r#"["1100","METRIC_UPDATE","CONGESTION_METRIC_UPDATE","DEFAULT",{"bytes_in_flight":1040,"current_cwnd":12000,"congestion_event":"x","state":"","recovery_state":""}]"#,
        r#"["1200","RECOVERY","METRIC_UPDATE","DEFAULT",{"latest_rtt":41000,"min_rtt":40000,"smoothed_rtt":40500,"ack_delay":0}]"#,
        r#"["1300","LOSS","PACKETS_LOST","DEFAULT",{"largest_lost_packet_num":18,"lost_bytes":9000,"lost_packets":8}]"#,
        r#"["1400","loss","packets_lost","DEFAULT",{"largest_lost_packet_num":19,"lost_bytes":1040,"lost_packets":1}]"#,
    ];
    let head = r#"{"qlog_version":"draft-00","title":"mvfst qlog","traces":[{"vantage_point":{"type":"server"},"configuration":{"time_offset":0,"time_units":"us"},"event_fields":"#;
    format!(r#"{head}[{columns}],"events":[{}]}}]}}"#, events.join(","))
}

#[test]
fn mvfsts_columns_windows_and_losses_are_read_in_either_case() {
    for columns in [
        r#""relative_time","CATEGORY","EVENT_TYPE","TRIGGER","DATA""#,
        r#""relative_time","category","event_type","trigger","data""#,
    ] {
        let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
        let trace = read_traces("log", mvfst(columns).as_bytes(), options).unwrap().remove(0);
        assert_eq!(trace.header.stack.name.as_deref(), Some("mvfst"));
        assert_eq!((trace.counts.events, trace.counts.unknown_events), (6, 0), "{columns}");
        assert_eq!((trace.unique_stream_bytes(), trace.counts.packets_lost), (1000, 9));
        let window = trace.samples()[0];
        assert_eq!(
            (window.time_us, window.congestion_window_bytes, window.bytes_in_flight),
            (1100, Some(12_000), Some(1040))
        );
        assert_eq!(trace.samples()[1].smoothed_rtt_ms, Some(40.5));
    }
}

/// Two paths that number their own packets, named as drafts name them; and one that goes on after a migration.
#[test]
fn packets_of_two_paths_with_the_same_number_are_two() {
    let packet = |number: u64, in_header: &str, beside: &str| {
        format!(
            r#"{{"time":1,"name":"quic:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}{in_header}}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{},"length":10}}]}}{beside}}}"#,
            number * 20 + if in_header.is_empty() && beside.is_empty() { 0 } else { 10 }
        )
    };
    let header = r#"{"file_schema":"x","trace":{"vantage_point":{"type":"server"}}}"#;
    for (in_header, beside) in
        [(r#","path_id":1"#, ""), ("", r#","path":"1""#), ("", r#","path":1"#)]
    {
        let twice = packet(2, "", "");
        let lines = [1, 2].map(|it| [packet(it, "", ""), packet(it, in_header, beside)]).concat();
        let log = format!("{header}\n{}\n{twice}\n{twice}\n", lines.join("\n"));
        let trace = read_ok(log.as_bytes());
        assert_eq!((trace.counts.packets_sent, trace.unique_stream_bytes()), (5, 40), "{log}");
        let count =
            |what: &str| trace.repairs.iter().find(|it| it.what.contains(what)).map(|it| it.count);
        assert_eq!((count("twice"), count("multipath")), (Some(1), Some(2)), "{:?}", trace.repairs);
        assert!(trace.incomplete().is_some());
        let migrated = [packet(1, "", ""), packet(2, in_header, beside)].join("\n");
        let trace = read_ok(format!("{header}\n{migrated}\n").as_bytes());
        assert_eq!((trace.counts.packets_sent, trace.incomplete()), (2, None));
    }
}
