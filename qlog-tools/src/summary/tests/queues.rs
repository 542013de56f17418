//! Queues on the path, slow receivers, and flow control that is not logged.

use super::*;

/// Ten rounds of two packets each, in which each round trip is longer than the last by 20 ms, and no ACK frame reports its delay.
fn slower_and_slower() -> Log {
    let mut log = Log::server();
    rounds(&mut log, 10, |round| 20.0 + 20.0 * f64::from(round), |_, _, _| {});
    Log { text: log.text.replace(r#""ack_delay":1.0,"#, ""), next: 0 }
}

/// The log of the client, to which packets take this long.
fn client(way_ms: impl Fn(u32) -> f64) -> Log {
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    let mut at_ms = 0.0;
    for round in 0..10_u32 {
        for number in [2 * round, 2 * round + 1].map(u64::from) {
            client.data(at_ms + way_ms(round), "packet_received", number, number * 1200);
        }
        at_ms += 20.0 + 20.0 * f64::from(round);
    }
    client
}

#[test]
fn without_reported_delays_a_slow_receiver_is_not_told_from_a_queue() {
    let log = slower_and_slower();
    let words = "round trips took 200.0 ms at the 95th percentile instead of 20.0 ms, and whether packets waited in a queue, or acknowledgements at \
                 the receiver, is not known: no ACK frame reports its delay";
    assert_cause(&log, Cause::CongestionWindow, words);
    let goodput = log.told().sentences.into_iter().find(|it| it.about == "goodput").unwrap();
    let why =
        "what the path allowed is not known: no ACK frame reports for how long it was held back.";
    assert!(goodput.text.ends_with(why), "{}", goodput.text);
}

#[test]
fn arrivals_tell_a_slow_receiver_from_a_queue() {
    let server = slower_and_slower().trace();
    let told = |client: &Log| {
        let client = client.trace();
        let summary = Summary::of(&Ends { log: &client, server: Some(&server) }, None);
        (summary.held.expect("a cause").cause, summary.sentences[0].text.clone())
    };
    let (cause, text) = told(&client(|round| 10.0 + 20.0 * f64::from(round)));
    assert_eq!(cause, Cause::Queue);
    assert!(text.contains(", and packets waited on their way, as their arrivals show;"), "{text}");
    let (cause, text) = told(&client(|_| 10.0));
    assert_eq!(cause, Cause::CongestionWindow);
    let why = "because acknowledgements came late: arrivals show that packets did not;";
    assert!(text.contains(why), "{text}");
    // Whatever was reported.
    let mut log = Log::server();
    rounds(&mut log, 10, |round| 20.0 + 20.0 * f64::from(round), |_, _, _| {});
    let (client, server) = (client(|_| 10.0).trace(), log.trace());
    let summary = Summary::of(&Ends { log: &client, server: Some(&server) }, None);
    assert_eq!(summary.held.map(|it| it.cause), Some(Cause::CongestionWindow));
}

#[test]
fn a_receiver_that_reports_longer_delays_than_it_announced_may_be_the_cause() {
    let log = |delay_ms: u32| {
        let mut log = Log::server();
        let mut at_ms = 0.0;
        for round in 0..12_u32 {
            let (first, held_ms) = (log.next, if round % 2 == 1 { delay_ms } else { 0 });
            (first..first + 2).for_each(|it| log.packet(at_ms, it * 1200));
            let full = r#"{"congestion_window":2480,"bytes_in_flight":2480}"#;
            log.event(at_ms, "recovery:metrics_updated", full);
            let rtt_ms = if round % 2 == 1 { 80.0 } else { 20.0 };
            at_ms += rtt_ms;
            let ranges = format!(r#""acked_ranges":[[{first},{}]]"#, first + 1);
            log.came(at_ms, &format!(r#"{{"frame_type":"ack","ack_delay":{held_ms},{ranges}}}"#));
            log.metrics(at_ms, 2480, 0, rtt_ms + f64::from(round) / 1000.0);
        }
        log.event(0.0, "transport:connection_state_updated", r#"{"new":"handshake_confirmed"}"#);
        log
    };
    let why = "is not known: ACK frames report longer delays than it announced";
    assert_cause(&log(60), Cause::CongestionWindow, why);
    assert_cause(&log(20), Cause::Queue, ", without delays of acknowledgements;");
}

/// A response in pieces, and an open congestion window.
fn pieces(log: &mut Log) {
    log.metrics(0.0, 99_000, 0, 20.0);
    for (place, at_ms) in (0..).zip([0.0, 100.0, 700.0, 1600.0]) {
        log.packet(at_ms, place * 1200);
    }
    log.metrics(1601.0, 99_000, 0, 20.0);
}

#[test]
fn without_limits_of_flow_control_a_pause_has_no_known_cause() {
    let mut log = Log::of("server");
    log.event(0.0, "http:frame_parsed", REQUEST);
    pieces(&mut log);
    let summary = log.told();
    let why = "What held the sender back is not known: the log has no limits of flow control, and";
    assert!(summary.sentences[0].text.starts_with(why), "{}", summary.sentences[0].text);
    let mut log = Log::server();
    pieces(&mut log);
    assert_cause(&log, Cause::Application, "The application");
}

#[test]
fn what_was_sent_before_a_log_counts_for_flow_control() {
    let mut log = Log::of("server");
    log.next = 40;
    log.begin(1 << 30, 1 << 30);
    pieces(&mut log);
    let first = log.told().sentences.remove(0).text;
    let why = "it does not show how much of the flow control's limit was used";
    assert!(first.contains(why), "{first}");
}

#[test]
fn bytes_behind_a_hole_at_the_end_of_a_log_still_wait() {
    let mut log = Log::of("client");
    log.event(0.0, "http:frame_created", REQUEST);
    log.data(20.0, "packet_received", 0, 0);
    log.data(21.0, "packet_received", 2, 2400);
    let text = |log: &Log| log.told().sentences.into_iter().find(|it| it.about == "longest_wait");
    let expected = "No byte that had waited behind a hole was freed; bytes of 1 stream still waited for earlier ones when the log ended.";
    assert_eq!(text(&log).map(|it| it.text).as_deref(), Some(expected));
    log.data(30.0, "packet_received", 3, 1200);
    let filled = text(&log).unwrap().text;
    assert!(filled.ends_with("arrived at 21.0 ms and waited for earlier ones."), "{filled}");
}

#[test]
fn a_longer_path_after_a_migration_is_no_queue() {
    let log = |is_migration: bool| {
        let mut log = Log::server();
        let mut at_ms = 0.0;
        for round in 0..12_u32 {
            let first = log.next;
            (first..first + 2).for_each(|it| log.packet(at_ms, it * 1200));
            let full = r#"{"congestion_window":2480,"bytes_in_flight":2480}"#;
            log.event(at_ms, "recovery:metrics_updated", full);
            let rtt_ms = if round < 5 { 20.0 } else { 80.0 };
            at_ms += rtt_ms;
            if round == 4 && is_migration {
                let challenge = r#"{"frame_type":"path_challenge"}"#;
                log.carries(at_ms - 1.0, "packet_sent", 700, challenge);
                log.came(at_ms, r#"{"frame_type":"path_response"}"#);
            }
            log.ack(at_ms, first, first + 1);
            log.metrics(at_ms, 2480, 0, rtt_ms + f64::from(round) / 1000.0);
        }
        log
    };
    assert_cause(&log(true), Cause::CongestionWindow, "it had 2480 bytes all the time");
    assert_cause(&log(false), Cause::Queue, "at the 95th percentile instead of 20.0 ms");
    let sentences = log(true).told().sentences;
    let trips = sentences.into_iter().find(|it| it.about == "round_trips").expect("measured");
    assert!(trips.text.contains("; the path changed at 100.0 ms; "), "{}", trips.text);
}

#[test]
fn datagrams_alone_do_not_show_what_the_application_had() {
    let mut log = Log::of("server");
    log.begin(1 << 30, 1 << 30);
    log.text = log.text.replace("http:frame_parsed", "x:y");
    log.metrics(0.0, 99_000, 0, 20.0);
    let datagram = r#"{"frame_type":"datagram","length":1000}"#;
    (0..20_u32).for_each(|it| log.carries(f64::from(it) * 5.0, "packet_sent", it.into(), datagram));
    let summary = log.told();
    let expected = "What held the sender back is not known: the sender sent only datagrams, and the log does not show when its application gave \
                    them.";
    assert_eq!(summary.sentences[0].text, expected);
    let idle = Log { text: log.text.replace(datagram, r#"{"frame_type":"ping"}"#), next: 0 }.told();
    let expected = "The sender had nothing to send: the log has no request, response or upload.";
    assert_eq!(idle.sentences[0].text, expected);
}

#[test]
fn windows_of_several_paths_are_not_taken_for_one() {
    let mut log = Log::server();
    rounds(&mut log, 8, |_| 50.0, |_, _, _| {});
    let other = r#"{"header":{"packet_type":"1RTT","packet_number":0,"path_id":1},"frames":[{"frame_type":"ping"}]}"#;
    log.event(401.0, "transport:packet_sent", other);
    let first = log.told().sentences.remove(0).text;
    assert!(
        first.contains("not known: the connection has several paths at the same time"),
        "{first}"
    );
}
