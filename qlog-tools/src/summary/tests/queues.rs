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
