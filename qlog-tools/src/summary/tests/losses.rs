//! Sentences about losses, and about the timers that notice them.

use super::*;

/// Eight rounds, in the third of which a packet is lost and the window has these sizes in turn, and then its own again.
fn cut_to(windows: &[u64]) -> Log {
    let mut log = Log::server();
    rounds(
        &mut log,
        8,
        |_| 50.0,
        |log, round, at_ms| {
            if round == 2 {
                let before = log.next - 4;
                log.lost(at_ms - 4.0, before);
                for (window, later_ms) in windows.iter().zip([1.0, 2.0, 3.0]) {
                    log.metrics(at_ms - 4.0 + later_ms, *window, 2480, 50.0);
                }
            }
        },
    );
    // The preceding packet was never acknowledged.
    log.text = log.text.replace("[[2,3]]", "[[3,3]]");
    log
}

#[test]
fn losses_kept_the_window_small() {
    let mut log = cut_to(&[2000]);
    let cut = log.text.rfind(r#""congestion_window":2000"#).expect("a cut");
    let (before, after) = log.text.split_at(cut);
    log.text = format!(
        "{before}{}",
        after.replace(r#""congestion_window":2480"#, r#""congestion_window":2000"#)
    );
    assert_cause(&log, Cause::Loss, "6.2 % of the packets were lost, and cut it once");
    let summary = log.told();
    assert_eq!((summary.recovery.lost, summary.recovery.spurious), (Some(1), Some(0)));
    assert_eq!(summary.recovery.recovery_periods, 1);
}

#[test]
fn losses_did_not_cut_a_window_that_never_changed() {
    assert_cause(&cut_to(&[]), Cause::CongestionWindow, "it had 2480 bytes all the time");
}

#[test]
fn a_cut_that_was_undone_did_not_hold_the_sender_back() {
    assert_cause(
        &cut_to(&[2000]),
        Cause::CongestionWindow,
        "each cut of it was undone, but it had to grow",
    );
    assert_cause(
        &cut_to(&[2000, 1500]),
        Cause::Loss,
        "6.2 % of the packets were lost, and cut it once (1 more cut was undone)",
    );
    let losses = "(1 recovery period, inferred; 2 cuts of the window, 1 undone)";
    let sentences = cut_to(&[2000, 1500]).told().sentences;
    assert!(sentences.iter().any(|it| it.text.contains(losses)), "{sentences:?}");
}

/// Packets 2 and 3 of a client's log are missing, with their bytes.
#[test]
fn packets_in_records_that_could_not_be_read_are_not_lost() {
    let told = |unread: &str| {
        let mut log = Log::of("client");
        log.event(0.0, "http:frame_created", REQUEST);
        for (number, at_ms) in [(0, 20.0), (1, 30.0), (4, 60.0), (5, 70.0), (6, 80.0)] {
            if number == 4 {
                log.text.push_str(unread);
            }
            log.data(at_ms, "packet_received", number, 1200 * number);
        }
        let summary = log.told();
        let losses = summary.sentences.into_iter().find(|it| it.about == "losses").unwrap();
        (summary.recovery.never_came_share, losses.text)
    };
    let lost = "At least 28.6 % of the other end's packets never arrived: their numbers and stream bytes are missing.";
    assert_eq!(told(""), (Some(2.0 / 7.0), lost.to_owned()));
    let unknown = "How many of the other end's packets never arrived is not known: 2 records of this log could not be read.";
    assert_eq!(told("\n{\"time\":x}\n{\"time\":y}"), (None, unknown.to_owned()));
}

/// The server's clock is 100 ms ahead, and it declares its first packet lost after 50 ms.
#[test]
fn all_times_of_a_pair_are_on_the_clients_clock() {
    let mut server = Log::of("server");
    server.came(100.0, r#"{"frame_type":"ping"}"#);
    server.event(100.0, "http:frame_parsed", REQUEST);
    server.metrics(100.0, 99_000, 0, 20.0);
    (0..4).for_each(|it| server.packet(100.0, it * 1200));
    server.ack(150.0, 1, 3);
    server.lost(150.0, 0);
    server.packet(150.0, 0);
    server.metrics(150.0, 99_000, 1240, 50.0);
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    for (number, at_ms, offset) in [(1, 20.0, 1200), (2, 21.0, 2400), (3, 22.0, 3600), (4, 70.0, 0)]
    {
        client.data(at_ms, "packet_received", number, offset);
    }
    let logs = [client.trace(), server.trace()];
    let told = |ends: &Ends<'_>, about: &str| {
        let sentences = Summary::of(ends, None).sentences;
        sentences.into_iter().find(|it| it.about == about).unwrap()
    };
    let both = pairs(&logs)[0];
    let losses = told(&both, "losses");
    let lost = "1 of 5 packets were declared lost (20.0 %), first at 50.0 ms (packet 0)";
    assert!(losses.text.starts_with(lost), "{}", losses.text);
    // It leads to the event in the server's log.
    let moment = losses.moment.unwrap();
    assert_eq!((moment.is_server, moment.time_ms, moment.packet), (true, 150.0, Some(0)));
    let waited = told(&both, "longest_wait").text;
    assert!(waited.contains("from 1200 on arrived at 20.0 ms"), "{waited}");
    let round_trips = told(&both, "round_trips").text;
    assert!(round_trips.contains("the longest took 50.0 ms at 50.0 ms"), "{round_trips}");
    let alone = told(&Ends { log: &logs[1], server: None }, "losses").text;
    assert!(alone.contains("first at 150.0 ms (packet 0)"), "{alone}");
}

/// As aioquic logs it: when the timer of a client expires, it declares its request lost, and then sends it again.
#[test]
fn a_packet_that_is_given_up_without_an_acknowledgement_shows_a_probe_timeout() {
    let log = |lost: u64, newest: u64| {
        let mut log = Log::of("client");
        log.metrics(0.0, 99_000, 0, 90.0);
        log.packet(0.0, 0);
        log.packet(0.0, 1200);
        log.event(100.0, "http:frame_created", REQUEST);
        log.packet(100.0, 2400);
        log.ack(135.0, 0, newest);
        log.lost(338.9, lost);
        log.packet(339.3, 2400);
        log.data(375.0, "packet_received", 10, 0);
        log
    };
    let told = |log: &Log| {
        let sentences = log.told().sentences;
        sentences.into_iter().find(|it| it.about == "probe_timeouts").unwrap()
    };
    let expired = told(&log(2, 1));
    let words = "The client's own probe timer expired once (inferred from packets: not logged), first at 339.3 ms, before the first response began.";
    assert_eq!((&*expired.text, expired.moment.unwrap().packet), (words, Some(3)));
    // A later packet was acknowledged: an ordinary loss.
    let never = "The client's own probe timer never expired (inferred from packets: not logged).";
    assert_eq!(told(&log(1, 2)).text, never);
    let mut server = Log::of("server");
    server.came(0.0, r#"{"frame_type":"ping"}"#);
    server.carries(
        374.0,
        "packet_sent",
        10,
        r#"{"frame_type":"stream","stream_id":0,"offset":0,"length":1200}"#,
    );
    let logs = [log(2, 1).trace(), server.trace()];
    let sentences = Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None).sentences;
    let of_client = "; the client's once (inferred from packets: not logged), first at 339.3 ms, before the first response began.";
    assert!(sentences.iter().any(|it| it.text.ends_with(of_client)), "{sentences:?}");
}

/// The sentence about this.
fn about(summary: Summary, what: &str) -> String {
    summary.sentences.into_iter().find(|it| it.about == what).unwrap().text
}

#[test]
fn a_lost_packet_of_the_handshake_is_called_one_and_marks_no_packet_of_data() {
    let mut log = Log::server();
    let packet = |number: u64| {
        format!(
            r#"{{"header":{{"packet_type":"handshake","packet_number":{number}}},"frames":[{{"frame_type":"crypto"}}]}}"#
        )
    };
    log.event(5.0, "transport:packet_sent", &packet(1));
    log.event(30.0, "recovery:packet_lost", &packet(1));
    (0..3).for_each(|it| log.packet(31.0, 1200 * it));
    log.ack(60.0, 1, 2);
    log.lost(60.0, 0);
    let summary = log.told();
    assert_eq!((summary.recovery.lost, summary.recovery.lost_in_handshake), (Some(2), 1));
    let losses = summary.sentences.iter().find(|it| it.about == "losses").unwrap();
    let expected = "2 of 4 packets were declared lost (50.0 %), 1 of them in the handshake, first at 30.0 ms (Handshake packet 1)";
    assert!(losses.text.starts_with(expected), "{}", losses.text);
    assert_eq!(losses.moment.unwrap().packet, None);
}

/// PING and PADDING in more bytes than any packet before; or the log says so.
#[test]
fn a_lost_probe_of_the_paths_mtu_does_not_show_congestion() {
    let ping = r#"{"frame_type":"ping"},{"frame_type":"padding"}"#;
    let told = |bytes: u32, said: &str| {
        let mut log = Log::server();
        log.metrics(0.0, 20_000, 0, 20.0);
        log.packet(0.0, 0);
        let probe = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":1}},"raw":{{"length":{bytes}}},"frames":[{ping}]{said}}}"#
        );
        log.event(1.0, "transport:packet_sent", &probe);
        log.next = 2;
        log.packet(2.0, 1200);
        log.ack(30.0, 2, 2);
        log.lost(31.0, 1);
        // For other reasons.
        log.metrics(32.0, 15_000, 0, 20.0);
        let summary = log.told();
        let recovered = summary.recovery;
        let figures =
            (recovered.lost_mtu_probes, recovered.recovery_periods, recovered.window_cuts);
        (figures, about(summary, "losses"))
    };
    let (figures, text) = told(1400, "");
    assert_eq!(figures, (1, 0, 0));
    let expected = "1 of 3 packets were declared lost (33.3 %), all of them probing the path's MTU, which does not show \
                    congestion (RFC 9000, section 14.4), first at 31.0 ms (packet 1)";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(told(1240, r#","is_mtu_probe_packet":true"#).0, (1, 0, 0));
    assert_eq!(told(1240, "").0, (0, 1, 1), "as large as others");
}

#[test]
fn a_packet_that_the_clients_log_has_had_arrived_whatever_was_acknowledged() {
    let mut server = Log::of("server");
    server.came(0.0, r#"{"frame_type":"ping"}"#);
    server.event(0.0, "http:frame_parsed", REQUEST);
    (0..4).for_each(|it| server.packet(0.0, 1200 * it));
    server.ack(50.0, 1, 3);
    server.lost(50.0, 0);
    server.packet(50.0, 0);
    let alone = server.told();
    assert_eq!((alone.recovery.spurious, alone.recovery.in_vain_bytes), (Some(0), Some(0)));
    assert!(
        about(alone, "losses").contains("; none of them was acknowledged by the end of the log")
    );
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    (0..4).for_each(|it| client.data(20.0, "packet_received", it, 1200 * it));
    client.data(70.0, "packet_received", 4, 0);
    let mut logs = [client.trace(), server.trace()];
    let both = Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None);
    let recovered = both.recovery;
    assert_eq!(
        (recovered.spurious, recovered.in_vain_bytes, recovered.sent_again_bytes),
        (Some(1), Some(1200), 0)
    );
    assert!(about(both, "losses").contains("; 1 of them had arrived anyway"));
    // The table of streams agrees, at both ends.
    crate::causes::settle(&mut logs);
    let told = logs.map(|it| (it.streams[0].retransmitted_bytes, it.streams[0].duplicate_bytes));
    assert_eq!(told, [(0, Some(1200)); 2]);
}

/// A server's handshake: round trips of 40 ms, and a packet that goes again after a silence of more than a timeout.
#[test]
fn a_packet_of_the_handshake_that_goes_again_after_a_silence_shows_a_probe_timeout() {
    let told = |metrics: bool, again_ms: f64| {
        let mut log = Log::of("server");
        let mut packet = |time_ms: f64, event: &str, kind: &str, number: u64, frame: &str| {
            let data = format!(
                r#"{{"header":{{"packet_type":"{kind}","packet_number":{number}}},"frames":[{frame}]}}"#
            );
            log.event(time_ms, &format!("transport:{event}"), &data);
            if metrics && event == "packet_received" {
                let sample = r#"{"smoothed_rtt":40,"latest_rtt":40,"rtt_variance":15}"#;
                log.event(time_ms, "recovery:metrics_updated", sample);
            }
        };
        let (crypto, ack) =
            (r#"{"frame_type":"crypto"}"#, r#"{"frame_type":"ack","acked_ranges":[[0,0]]}"#);
        packet(0.0, "packet_received", "initial", 0, crypto);
        packet(2.0, "packet_sent", "initial", 0, crypto);
        packet(2.0, "packet_sent", "handshake", 0, crypto);
        packet(2.0, "packet_sent", "handshake", 1, crypto);
        packet(42.0, "packet_received", "initial", 1, ack);
        packet(42.0, "packet_received", "handshake", 0, ack);
        packet(again_ms, "packet_sent", "handshake", 2, crypto);
        about(log.told(), "probe_timeouts")
    };
    let expired = "The server's probe timer expired once (inferred from packets: not logged), first at 120.0 ms.";
    assert_eq!(told(true, 120.0), expired);
    assert_eq!(told(false, 120.0), expired, "packets alone tell the round trip");
    let never = "The server's probe timer never expired (inferred from packets: not logged).";
    assert_eq!(told(true, 60.0), never);
}

/// As in netlogs, whose times of arrivals are whole milliseconds.
#[test]
fn a_packet_that_was_acknowledged_before_it_is_logged_as_sent_waits_for_nothing() {
    let mut log = Log::of("client");
    log.event(0.0, "http:frame_created", REQUEST);
    log.packet(0.0, 0);
    log.ack(1.0, 0, 0);
    log.ack(1.05, 1, 1);
    log.packet(1.1, 1200);
    // A new request after a pause.
    log.packet(400.0, 2400);
    let never = "The client's own probe timer never expired (inferred from packets: not logged).";
    assert_eq!(about(log.told(), "probe_timeouts"), never);
}

#[test]
fn the_window_decides_whether_congestion_was_persistent() {
    let told = |window: u64| {
        let mut log = Log::server();
        log.metrics(0.0, 20_000, 0, 20.0);
        (0..4_u64).for_each(|it| log.packet(it as f64 * 150.0, it * 1200));
        log.ack(500.0, 3, 3);
        (0..3).for_each(|it| log.lost(500.0, it));
        log.metrics(500.0, window, 0, 20.0);
        let summary = log.told();
        (summary.recovery.persistent_congestion, about(summary, "losses"))
    };
    let (times, text) = told(2480);
    assert!(times == 1 && text.contains("persistent congestion once, inferred"), "{text}");
    assert_eq!(told(14_000).0, 0, "a window that is not the least");
}

#[test]
fn a_cut_that_metrics_show_later_is_one() {
    let mut log = Log::server();
    log.metrics(0.0, 20_000, 0, 20.0);
    (0..5).for_each(|it| log.packet(0.0, 1200 * it));
    log.ack(40.0, 1, 4);
    log.lost(40.0, 0);
    log.metrics(75.0, 14_000, 0, 20.0);
    // Nothing was lost since.
    log.metrics(110.0, 9000, 0, 20.0);
    assert_eq!(log.told().recovery.window_cuts, 1);
}

#[test]
fn a_loss_that_is_logged_twice_in_a_row_is_one() {
    let mut log = Log::server();
    (0..4).for_each(|it| log.packet(0.0, 1200 * it));
    log.ack(40.0, 2, 3);
    (0..2).for_each(|_| log.lost(40.0, 0));
    log.lost(40.0, 1);
    let counted = r#"{"cf_lost_packets":{"total":2,"delta":2}}"#;
    (0..2).for_each(|_| log.event(41.0, "recovery:metrics_updated", counted));
    assert_eq!(log.told().recovery.lost, Some(2));
    let by_metrics = log.text.replace("recovery:packet_lost", "x:y");
    let log = Log { text: by_metrics, next: 0 };
    assert_eq!(log.told().recovery.lost, Some(2));
}

/// Four packets arrive, and then nothing, although the server's probe timer expires twice.
#[test]
fn all_packets_after_the_path_died_never_arrived() {
    let told = |last: &str| {
        let mut server = Log::server();
        server.metrics(0.0, 99_000, 0, 20.0);
        (0..8).for_each(|it| server.packet(0.0, it * 1200));
        server.ack(20.0, 0, 3);
        server.metrics(20.0, 99_000, 4960, 20.0);
        server.packet(300.0, 9600);
        server.packet(900.0, 10_800);
        let mut client = Log::of("client");
        client.event(0.0, "http:frame_created", REQUEST);
        (0..4).for_each(|it| client.data(10.0, "packet_received", it, 1200 * it));
        // The packets that the server's log has.
        client.carries(0.0, "packet_sent", 900, r#"{"frame_type":"ping"}"#);
        client.carries(11.0, "packet_sent", 908, last);
        let logs = [client.trace(), server.trace()];
        let summary = Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None);
        let losses = summary.sentences.into_iter().find(|it| it.about == "losses").unwrap();
        (summary.recovery.never_came, losses.text)
    };
    let lost = "No packet was declared lost; 6 of 10 1-RTT packets never arrived (60.0 %).";
    assert_eq!(told(r#"{"frame_type":"ping"}"#), (Some([6, 10]), lost.to_owned()));
    // The client has gone before the probes, which it does not log therefore; but the first packets would have come before that.
    let lost =
        "No packet was declared lost; 4 of 8 1-RTT packets never arrived (50.0 %).".to_owned();
    assert_eq!(told(r#"{"frame_type":"connection_close"}"#), (Some([4, 8]), lost));
}

/// The timer expires twice, and its probes repeat the Initial and the Handshake packet.
#[test]
fn probes_in_two_spaces_are_of_one_timer() {
    let mut log = Log::server();
    for (at_ms, number) in [(0.0, 0), (1000.0, 1), (3000.0, 2)] {
        for (after_ms, kind) in [(0.0, "initial"), (0.1, "handshake")] {
            let packet = format!(
                r#"{{"header":{{"packet_type":"{kind}","packet_number":{number}}},"raw":{{"length":1200}},"frames":[{{"frame_type":"crypto","offset":0,"length":300}}]}}"#
            );
            log.event(at_ms + after_ms, "transport:packet_sent", &packet);
        }
    }
    assert_eq!(log.told().recovery.probe_timeouts, 2);
}
