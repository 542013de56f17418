//! Events that are not in the order of their times, and packets that are logged twice.

use super::*;

/// The client's log with its events in another order: each is displaced by at most `most`.
fn displaced(most: usize) -> String {
    let mut lines: Vec<&str> = CLIENT.trim().lines().collect();
    let header = lines.remove(0);
    for piece in lines.chunks_mut(most + 1) {
        piece.reverse();
    }
    format!("{header}\n{}\n", lines.join("\n"))
}

#[test]
fn events_are_read_in_the_order_of_their_times() {
    let expected = read_ok(&sequence(CLIENT));
    for most in [1, 3, 12] {
        let trace = read_ok(displaced(most).as_bytes());
        assert_eq!(trace.timeline, expected.timeline, "{most}");
        assert_eq!(trace.streams[0].reordered_bytes, expected.streams[0].reordered_bytes);
        let [repair] = &trace.repairs[..] else { panic!("{:?}", trace.repairs) };
        assert!(repair.what.ends_with("in the order of their times"), "{}", repair.what);
        // In each piece, all but its latest event.
        assert_eq!(repair.count, 13 - 13_u64.div_ceil(most as u64 + 1), "{most}");
        assert_eq!((repair.first_record, trace.incomplete()), (3, None));
    }
}

#[test]
fn events_that_count_from_the_one_before_are_in_the_logs_order() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"},"common_fields":{"time_format":"delta"}}}"#;
    let event = |time| {
        format!(
            r#"{{"time":{time},"name":"quic:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":0,"offset":0,"length":{time}}}]}}}}"#
        )
    };
    let log = [header.to_owned(), event(5), event(3), event(1)].join("\n");
    let trace = read_ok(log.as_bytes());
    let times_us: Vec<u64> = trace.timeline.frames.iter().map(|it| it.time_us).collect();
    assert_eq!(times_us, [5_000, 8_000, 9_000]);
    assert!(!trace.repairs.iter().any(|it| it.what.contains("earlier")), "{:?}", trace.repairs);
}

#[test]
fn a_packet_logged_twice_counts_once_and_steps_back_are_reported() {
    let packet = r#"{"time":5,"name":"quic:packet_received","data":{"header":{"packet_number":7},"frames":[{"frame_type":"stream","stream_id":0,"length":9}]}}"#;
    let earlier = packet.replace("\"time\":5", "\"time\":4").replace(":7", ":8");
    let log = format!("{packet}\n{packet}\n{earlier}\n");
    let trace = read_ok(log.as_bytes());
    assert_eq!((trace.counts.events, trace.counts.packets_received), (3, 2));
    let at = |what: &str| {
        let repair = trace.repairs.iter().find(|it| it.what.contains(what));
        repair.map(|it| (it.count, it.first_record))
    };
    assert_eq!((at("twice"), at("earlier")), (Some((1, 2)), Some((1, 3))));
    assert_eq!(trace.timeline.frames.iter().map(|it| it.time_us).collect::<Vec<_>>(), [4000, 5000]);
}

#[test]
fn a_file_is_read_like_a_pipe_wherever_its_disorder_is() {
    let mut lines: Vec<&str> = CLIENT.trim().lines().collect();
    let last = lines.len() - 1;
    lines.swap(last - 1, last);
    let head = r#"{"qlog_version":"draft-01","vantage_point":{"type":"client"},"event_fields":["time","category","event","data"]"#;
    let array = |time: u64| {
        format!(
            r#"[{time},"transport","packet_received",{{"frames":[{{"frame_type":"stream","stream_id":0,"offset":{time},"length":1}}]}}]"#
        )
    };
    let arrays = [1, 2, 3].map(array);
    let of_lines = format!("{head}}}\n{}\n", arrays.join("\n"));
    let document = format!(r#"{{"traces":[{head},"events":[{}]}}]}}"#, arrays.join(","));
    let others = [of_lines, document];
    let all = [CLIENT.trim().to_owned(), displaced(3), lines.join("\n")].into_iter().chain(others);
    for log in all {
        assert_a_file_is_read_like_a_pipe(&log);
    }
}

#[test]
fn a_log_that_is_joined_to_itself_counts_once() {
    let expected = read_ok(&sequence(CLIENT));
    let lines: Vec<&str> = CLIENT.trim().lines().collect();
    let (header, events) = (lines[0], &lines[1..]);
    let twice = [CLIENT.trim(), CLIENT.trim()].join("\n");
    let without_header = [CLIENT.trim(), &events.join("\n")].join("\n");
    let [first, last] = [&events[..9], &events[5..]].map(|it| it.join("\n"));
    let overlapping = [header, &first, &last].join("\n");
    let with_headers = [header, &first, header, &last].join("\n");
    let (count, line) = (events.len() as u64, lines.len() as u64);
    for (log, expected_repair) in [
        (twice, (count, line + 2)),
        (without_header, (count, line + 1)),
        (overlapping, (4, 11)),
        (with_headers, (4, 12)),
    ] {
        let trace = read_ok(log.as_bytes());
        assert_eq!(trace.timeline, expected.timeline, "{log}");
        assert_eq!(trace.counts.by_name, expected.counts.by_name, "{log}");
        assert_eq!(trace.streams[0].duplicate_bytes, expected.streams[0].duplicate_bytes);
        let [repair] = &trace.repairs[..] else { panic!("{:?}", trace.repairs) };
        assert_eq!((repair.count, repair.first_record), expected_repair, "{log}");
        assert!(repair.what.ends_with("they were read once") && !repair.leaves_out);
        assert_a_file_is_read_like_a_pipe(&log);
    }
}

#[test]
fn the_same_header_before_other_events_begins_another_log() {
    let later = CLIENT.trim().replace("\"time\":", "\"time\":1");
    let log = [CLIENT.trim(), &later].join("\n");
    let traces = read_traces("log", log.as_bytes(), ReadOptions::default()).unwrap();
    assert_eq!(traces.len(), 2);
    assert!(traces.iter().all(|it| it.repairs.is_empty()), "{:?}", traces[1].repairs);
    assert_a_file_is_read_like_a_pipe(&log);
}

/// A file is read as logged until it proves to be in disorder, a pipe by time from the start.
pub(in crate::reader) fn assert_a_file_is_read_like_a_pipe(log: &str) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(log.as_bytes()).unwrap();
    let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
    let traces = read_file_traces(file.path(), options).unwrap();
    let name = file.path().display().to_string();
    let piped = read_traces(&name, log.as_bytes(), options).unwrap();
    assert_eq!(format!("{traces:?}"), format!("{piped:?}"), "{log}");
}
