//! How connections and responses end.

use super::*;

/// A client's log of two requests, each with 2400 bytes; the first response is complete, the second has half of them.
fn two_responses() -> Log {
    let mut log = Log::of("client");
    for (stream, path) in [(0, "/a"), (4, "/b")] {
        let request = REQUEST.replace(":0,", &format!(":{stream},")).replace("/a", path);
        log.event(0.0, "http:frame_created", &request);
        let frame = format!(
            r#"{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":40,"fin":true}}"#
        );
        log.carries(0.0, "packet_sent", stream, &frame);
    }
    for (number, stream, offset, fin) in [(0, 0, 0, false), (1, 0, 1200, true), (2, 4, 0, false)] {
        let frame = format!(
            r#"{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"length":1200,"fin":{fin}}}"#
        );
        log.carries(20.0 + f64::from(offset) / 1200.0, "packet_received", number, &frame);
    }
    log
}

fn finish(log: &mut Log) {
    let frame = r#"{"frame_type":"stream","stream_id":4,"offset":1200,"length":1200,"fin":true}"#;
    log.carries(30.0, "packet_received", 3, frame);
}

fn close(log: &mut Log, event: &str, rest: &str) {
    log.carries(40.0, event, 9, &format!(r#"{{"frame_type":"connection_close",{rest}}}"#));
}

fn ending(log: &Log) -> Option<String> {
    log.told().sentences.into_iter().find(|it| it.about == "ending").map(|it| it.text)
}

#[test]
fn nothing_is_said_of_an_end_in_order() {
    let mut log = two_responses();
    finish(&mut log);
    assert_eq!(ending(&log), None);
    for rest in [
        r#""error_space":"application","error_code":256"#,
        r#""error_space":"transport","error_code":0"#,
        "",
    ] {
        let mut log = two_responses();
        finish(&mut log);
        close(
            &mut log,
            "packet_sent",
            &format!(r#"{rest}{}"reason":"bye""#, if rest.is_empty() { "" } else { "," }),
        );
        assert_eq!(ending(&log), None, "{rest}");
    }
    let mut idle = two_responses();
    finish(&mut idle);
    idle.event(900.0, "quic:connection_closed", r#"{"owner":"local","trigger":"idle_timeout"}"#);
    assert_eq!(ending(&idle), None, "no response was open");
}

#[test]
fn who_closed_the_connection_and_which_response_did_not_finish_is_said() {
    let mut log = two_responses();
    assert_eq!(
        ending(&log).as_deref(),
        Some(
            "The log does not show how the connection ended; 1 of 2 responses did not finish by the end of the log: stream 4 (/b)."
        )
    );
    close(
        &mut log,
        "packet_received",
        r#""error_space":"transport","error_code":3,"reason":"too much""#,
    );
    let expected = "The server closed the connection at 40.0 ms with the transport's error FLOW_CONTROL_ERROR (0x3) (\"too much\"); \
                    1 of 2 responses did not finish: stream 4 (/b).";
    assert_eq!(ending(&log).as_deref(), Some(expected));
    let summary = log.told();
    let close = summary.ending.close.as_ref().expect("a close");
    assert_eq!((close.by, close.error.code, close.time_ms), (Some(Vantage::Server), Some(3), 40.0));
    assert_eq!((summary.ending.responses, summary.ending.unfinished), (2, Some(vec![4])));
}

#[test]
fn an_end_that_only_an_event_tells_is_said_with_its_kind() {
    let told = |data: &str| {
        let mut log = two_responses();
        log.event(900.0, "quic:connection_closed", data);
        ending(&log).expect("a sentence")
    };
    let idle = told(r#"{"owner":"local","trigger":"idle_timeout"}"#);
    assert!(idle.starts_with("An idle timeout ended the connection at 900.0 ms; 1 of 2"), "{idle}");
    let reset = told(r#"{"owner":"remote","trigger":"stateless_reset"}"#);
    assert!(
        reset.starts_with("A stateless reset by the server ended the connection at 900.0 ms"),
        "{reset}"
    );
    let named = told(r#"{"owner":"local","application_code":"h3_internal_error","reason":"x"}"#);
    let expected = "The client closed the connection at 900.0 ms with the application's error H3_INTERNAL_ERROR (\"x\")";
    assert!(named.starts_with(expected), "{named}");
    let numbered = told(r#"{"initiator":"remote","connection_error":"unknown","error_code":296}"#);
    assert!(numbered.contains("CRYPTO_ERROR, TLS alert 40 (0x128)"), "{numbered}");
}

#[test]
fn streams_that_were_given_up_are_said_once_by_end_and_error() {
    let mut log = two_responses();
    finish(&mut log);
    let frame = |kind: &str, stream: u64, code: u64| {
        format!(r#"{{"frame_type":"{kind}","stream_id":{stream},"error_code":{code}}}"#)
    };
    log.carries(31.0, "packet_sent", 10, &frame("stop_sending", 0, 256));
    assert_eq!(ending(&log), None, "without an error nothing is given up");
    log.carries(32.0, "packet_sent", 11, &frame("stop_sending", 4, 268));
    // The answer of RFC 9000, section 3.5, is not another end.
    log.carries(33.0, "packet_received", 12, &frame("reset_stream", 4, 268));
    log.carries(34.0, "packet_received", 13, &frame("reset_stream", 8, 258));
    let expected = "The log does not show how the connection ended; the client cancelled stream 4 (/b) with the application's error \
                    H3_REQUEST_CANCELLED (0x10c); the server reset stream 8 with the application's error H3_INTERNAL_ERROR (0x102).";
    assert_eq!(ending(&log).as_deref(), Some(expected));
    // A response that was given up is not named again.
    let text = ending(&Log { text: log.text.replace(",\"fin\":true}", "}"), next: 0 });
    assert_eq!(text.as_deref(), Some(expected), "without ends of streams");
    let open = log
        .text
        .replace(r#""offset":1200,"length":1200,"fin":true"#, r#""offset":1200,"length":100"#);
    let text = ending(&Log { text: open, next: 0 }).expect("a sentence");
    let expected = "(0x102); 2 of 2 responses did not finish by the end of the log: stream 0 (/a).";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_log_without_ends_of_streams_blames_no_response() {
    let mut log = Log::server();
    log.packet(10.0, 0);
    assert_eq!((ending(&log), log.told().ending.unfinished), (None, None));
}

#[test]
fn with_both_logs_the_close_is_on_the_clients_clock() {
    let mut server = Log::of("server");
    server.came(100.0, r#"{"frame_type":"ping"}"#);
    server.event(100.0, "http:frame_parsed", REQUEST);
    server.data(100.0, "packet_sent", 0, 0);
    server.carries(
        140.0,
        "packet_sent",
        1,
        r#"{"frame_type":"connection_close","error_space":"transport","error_code":1}"#,
    );
    let mut client = two_responses();
    client.text = client.text.replace("\"packet_number\":900", "\"packet_number\":1");
    let logs = [client.trace(), server.trace()];
    let told = Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None)
        .ending
        .close
        .expect("a close");
    let shift_ms = crate::clock_shift::shift_us(&logs[0], &logs[1]) as f64 / 1000.0;
    assert_eq!((told.by, told.time_ms), (Some(Vantage::Server), 140.0 + shift_ms));
}

#[test]
fn no_version_in_common_is_said() {
    let mut log = Log::of("client");
    let initial = r#"{"header":{"packet_type":"initial","packet_number":0},"raw":{"length":1200},"frames":[{"frame_type":"crypto","offset":0,"length":300}]}"#;
    log.event(0.0, "transport:packet_sent", initial);
    log.event(20.0, "quic:connection_closed", r#"{"owner":"local","trigger":"version_mismatch"}"#);
    let expected =
        "The ends had no version of QUIC in common, which ended the connection at 20.0 ms.";
    assert_eq!(ending(&log).as_deref(), Some(expected));
    let waits = log.told().sentences.into_iter().find(|it| it.about == "longest_wait").unwrap();
    assert_eq!(waits.text, "No byte waited behind a hole: no packet carried a STREAM frame.");
}
