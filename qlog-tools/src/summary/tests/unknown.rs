//! Where a log does not show the cause, the server is not blamed.

use super::*;
use schedulers::Restraint;

#[test]
fn without_a_congestion_window_a_pause_has_no_known_cause() {
    let mut log = Log::server();
    (0..9_u32).for_each(|it| log.packet(f64::from(it) * 50.0, u64::from(it) * 1200));
    let summary = log.told();
    assert_eq!(summary.held, None);
    let expected = "What held the sender back is not known: the log has no congestion window, and a sender with a full one pauses like one \
                    that has nothing to send.";
    assert_eq!(summary.sentences[0].text, expected);
}

#[test]
fn the_time_of_an_upload_is_not_the_servers() {
    let mut log = Log::of("server");
    log.begin(1 << 30, 1 << 30);
    log.metrics(0.0, 99_000, 0, 20.0);
    for place in 0..=4 {
        let (time_ms, offset) = (f64::from(place) * 100.0, place * 1200);
        let fin = if place == 4 { r#","fin":true"# } else { "" };
        log.came(
            time_ms,
            &format!(
                r#"{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1200{fin}}}"#
            ),
        );
    }
    log.packet(430.0, 0);
    log.packet(431.0, 1200);
    log.metrics(432.0, 99_000, 0, 20.0);
    let held = log.told().held.expect("a cause");
    assert_eq!((held.cause, held.held_ms, held.longest.from_ms), (Cause::ThinkTime, 30.0, 400.0));
}

#[test]
fn each_acknowledgement_of_a_new_packet_is_a_round_trip_whatever_it_measures() {
    let mut log = Log::server();
    for round in 0..10_u32 {
        let at_ms = f64::from(round) * 100.0;
        log.packet(at_ms, u64::from(round) * 1200);
        log.ack(at_ms + 50.0, u64::from(round), u64::from(round));
        log.metrics(at_ms + 50.0, 99_000, 0, if round == 9 { 90.0 } else { 50.0 });
    }
    let spread = log.told().round_trips.expect("measured");
    assert_eq!((spread.median_ms, spread.p95_ms, spread.longest_ms), (50.0, 90.0, 90.0));
    let mut trips: Vec<f64> = round_trips(&log.trace()).into_iter().map(|it| it.1).collect();
    trips.dedup_by(|one, other| one.total_cmp(other).is_eq());
    assert_eq!(trips, [50.0, 90.0]);
    assert_eq!(round_trips(&log.trace()).len(), 10);
}

#[test]
fn a_stream_that_the_server_opened_itself_was_not_asked_for() {
    let mut log = Log::server();
    log.metrics(0.0, 2400, 0, 20.0);
    let own = |offset: u32| {
        format!(r#"{{"frame_type":"stream","stream_id":15,"offset":{offset},"length":1200}}"#)
    };
    log.packet(0.0, 0);
    for round in 1..8_u32 {
        let at_ms = f64::from(round) * 50.0;
        log.metrics(at_ms - 50.0, 2400, 2400, 50.0);
        log.ack(at_ms, u64::from(round) - 1, u64::from(round) - 1);
        log.metrics(at_ms, 2400, 0, 50.0);
        log.carries(at_ms, "packet_sent", log.next, &own(round * 1200));
        log.next += 1;
        log.metrics(at_ms, 2400, 2400, 50.0);
    }
    log.packet(400.0, 1200);
    let held = log.told().held.expect("a cause");
    assert_eq!(held.by, Restraint::CongestionWindow);
}

/// Two requests at 0; the first response goes in pieces, and the second waits for its end.
fn in_turn(log: &mut Log) {
    let other = REQUEST.replace(r#""stream_id":0"#, r#""stream_id":4"#);
    log.event(0.0, "http:frame_parsed", &other);
    (0..9_u32).for_each(|it| log.packet(f64::from(it) * 50.0, u64::from(it) * 1200));
    let frame = r#"{"frame_type":"stream","stream_id":4,"offset":0,"length":1200}"#;
    log.carries(420.0, "packet_sent", log.next, frame);
}

#[test]
fn a_response_that_waits_for_its_turn_is_not_being_thought_about() {
    let mut log = Log::server();
    log.metrics(0.0, 99_000, 0, 20.0);
    in_turn(&mut log);
    let held = log.told().held.expect("a cause");
    assert_eq!((held.by, held.cause, held.stream), (Restraint::Pacing, Cause::Pacing, Some(0)));
    let mut without_window = Log::server();
    in_turn(&mut without_window);
    let summary = without_window.told();
    assert_eq!((summary.held, summary.not_held.is_some()), (None, true));
}

#[test]
fn a_server_that_sends_nothing_at_all_thinks_whatever_its_window() {
    let mut log = Log::server();
    (0..3_u32).for_each(|it| log.packet(900.0 + f64::from(it), u64::from(it) * 1200));
    let held = log.told().held.expect("a cause");
    assert_eq!((held.cause, held.held_ms, held.phases.len()), (Cause::ThinkTime, 900.0, 0));
}

#[test]
fn with_records_that_could_not_be_read_rates_are_least_ones_and_waits_unknown() {
    let mut log = Log::of("client");
    log.event(0.0, "http:frame_created", REQUEST);
    log.data(20.0, "packet_received", 1, 0);
    log.text.push_str("\n{\"time\":x}");
    log.data(40.0, "packet_received", 3, 2400);
    let sentences = log.told().sentences;
    let text = |about| &*sentences.iter().find(|it| it.about == about).expect(about).text;
    let goodput = "Responses arrived at 0.48 Mbit/s or more while some were open, what the path allowed is not known: 1 record of the log could not be read.";
    assert_eq!(text("goodput"), goodput);
    let waits =
        "How long bytes waited behind holes is not known: 1 record of the log could not be read.";
    assert_eq!(text("longest_wait"), waits);
}
