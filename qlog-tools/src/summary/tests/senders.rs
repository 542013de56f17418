//! Senders: uploads, idle connections, congestion marks, and delays of acknowledgements.

use super::*;

/// Rounds whose last ACK frames report one more packet with CE each, and whose window then shrinks.
#[test]
fn congestion_marks_cut_the_window_and_no_loss() {
    let mut log = Log::server();
    let mut window = 20_000;
    for round in 0..8_u32 {
        let (at_ms, first) = (f64::from(round) * 50.0, log.next);
        (0..window / 1240).for_each(|it| log.packet(at_ms, (first + it) * 1200));
        log.metrics(at_ms, window, window / 1240 * 1240, 50.0);
        let marked = round.saturating_sub(3);
        let last = log.next - 1;
        log.came(
            at_ms + 50.0,
            &format!(
                r#"{{"frame_type":"ack","ack_delay":1.0,"ect0":9,"ce":{marked},"acked_ranges":[[{first},{last}]]}}"#
            ),
        );
        window = if marked > 0 { window * 7 / 10 } else { window };
        log.metrics(at_ms + 50.0, window, 0, 50.0);
    }
    assert_cause(&log, Cause::CongestionMarks, "congestion marks cut the window 4 times");
    let summary = log.told();
    assert_eq!((summary.recovery.mark_cuts, summary.recovery.window_cuts), (4, 0));
    let losses = summary.sentences.iter().find(|it| it.about == "losses").unwrap();
    let expected = "No packet was declared lost (congestion marks cut the window 4 times).";
    assert_eq!(losses.text, expected);
}

/// A path without a queue; in every second round the client holds its acknowledgement back.
#[test]
fn an_acknowledgement_that_was_held_back_shows_no_queue() {
    let log = |held_ms: f64| {
        let mut log = Log::server();
        let mut at_ms = 0.0;
        for round in 0..12 {
            let (first, is_held) = (log.next, round % 2 == 1);
            (first..first + 2).for_each(|it| log.packet(at_ms, it * 1200));
            let full = r#"{"congestion_window":2480,"bytes_in_flight":2480}"#;
            log.event(at_ms, "recovery:metrics_updated", full);
            let (rtt_ms, delay_ms) = if is_held { (35.0, held_ms) } else { (10.0, 0.0) };
            at_ms += rtt_ms;
            let last = first + 1;
            log.came(
                at_ms,
                &format!(
                    r#"{{"frame_type":"ack","ack_delay":{delay_ms:?},"acked_ranges":[[{first},{last}]]}}"#
                ),
            );
            log.metrics(at_ms, 2480, 0, rtt_ms);
        }
        log
    };
    assert_cause(&log(0.0), Cause::Queue, "instead of 10.0 ms, without delays of acknowledgements");
    assert_cause(&log(25.0), Cause::CongestionWindow, "it had 2480 bytes all the time");
    // It announced 25 ms at most: the rest was not its delay.
    assert_cause(&log(40.0), Cause::CongestionWindow, "it had 2480 bytes all the time");
}

#[test]
fn control_streams_are_no_work() {
    let mut log = Log::of("server");
    log.metrics(0.0, 99_000, 0, 20.0);
    for (number, stream) in [(0, 3), (1, 7), (2, 11)] {
        let frame =
            format!(r#"{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":18}}"#);
        log.carries(1.0, "packet_sent", number, &frame);
    }
    log.came(200.0, r#"{"frame_type":"ping"}"#);
    let summary = log.told();
    assert_eq!(summary.held, None);
    let expected = "The sender had nothing to send: the log has no request, response or upload.";
    assert_eq!(summary.sentences[0].text, expected);
}

/// The client sends 24 kB in rounds of two packets with a window of two, and the server's answer is short.
fn upload() -> [Log; 2] {
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    let mut server = Log::of("server");
    server.event(10.0, "http:frame_parsed", REQUEST);
    for round in 0..10_u32 {
        let at_ms = f64::from(round) * 50.0;
        let first = client.next;
        client.metrics(at_ms, 2480, 0, 50.0);
        for number in first..first + 2 {
            // The first of the sixth round comes after the second.
            let late_ms = if number == 10 { 30.0 } else { 0.0 };
            server.data(at_ms + 20.0 + late_ms, "packet_received", number, number * 1200);
            client.packet(at_ms, number * 1200);
        }
        client.metrics(at_ms, 2480, 2480, 50.0);
        client.ack(at_ms + 50.0, first, first + 1);
    }
    client.metrics(500.0, 2480, 0, 50.0);
    server.data(520.0, "packet_sent", 0, 0);
    client.data(540.0, "packet_received", 990, 0);
    [client, server]
}

#[test]
fn the_sender_of_an_upload_is_the_client() {
    let logs = upload().map(|it| it.trace());
    let summary = Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None);
    let held = summary.held.as_ref().expect("a cause");
    assert_eq!(
        (summary.is_upload, held.cause, held.stream),
        (true, Cause::CongestionWindow, Some(0))
    );
    let text = |about| &*summary.sentences.iter().find(|it| it.about == about).expect(about).text;
    let cause = "The congestion window held the uploading client back for 100.0 % of the 450.0 ms";
    assert!(text("cause").starts_with(cause), "{}", text("cause"));
    assert!(text("goodput").starts_with("Uploads went at 0.43 Mbit/s"), "{}", text("goodput"));
    let timer = "The client's probe timer never expired (inferred from packets: not logged).";
    assert_eq!(text("probe_timeouts"), timer);
    let waited =
        "The longest wait behind a hole took 30.0 ms: bytes of stream 0 (/a) from 13200 on";
    assert!(text("longest_wait").starts_with(waited), "{}", text("longest_wait"));
}

#[test]
fn a_servers_log_does_not_show_what_held_an_upload_back() {
    let server = upload()[1].trace();
    let summary = Summary::of(&Ends { log: &server, server: None }, None);
    assert_eq!((summary.held.is_some(), summary.flow), (false, None));
    let expected = "What held the sender back is not known: most stream bytes were uploads, and only the log of the client";
    let cause = &summary.sentences[0].text;
    assert!(cause.starts_with(expected), "{cause}");
}
