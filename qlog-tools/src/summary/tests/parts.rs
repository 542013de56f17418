//! Logs that show only a part of their connection.

use super::*;

/// A server's log from its packet 40 on, in which the client's packets begin with 940.
fn late() -> Log {
    let mut log = Log::of("server");
    log.next = 40;
    rounds(&mut log, 8, |_| 50.0, |_, _, _| {});
    log
}

fn text(summary: &Summary, about: &str) -> String {
    summary
        .sentences
        .iter()
        .find(|it| it.about == about)
        .map_or(String::new(), |it| it.text.clone())
}

#[test]
fn a_log_without_its_beginning_tells_of_the_rest_only() {
    let summary = late().told();
    let cause = text(&summary, "cause");
    assert!(cause.starts_with("The congestion window held the sender back"), "{cause}");
    assert_eq!(text(&summary, "losses"), "No packet was declared lost in this part of a log.");
    let timer = "The server's probe timer never expired in this part of a log (inferred from packets: not logged).";
    assert_eq!(text(&summary, "probe_timeouts"), timer);
    let repairs = text(&summary, "repairs");
    assert!(repairs.contains("the log begins after its connection did"), "{repairs}");
    // What the response had before is not known.
    assert_eq!(summary.ending.unfinished, None);
    let whole =
        Log { text: late().text.replace("\"packet_number\":40}", "\"packet_number\":0}"), next: 0 };
    assert_eq!(text(&whole.told(), "losses"), "No packet was declared lost.");
}

#[test]
fn a_window_that_no_loss_cut_in_a_part_of_a_log_may_have_been_cut_before() {
    let mut log = late();
    log.metrics(401.0, 2500, 0, 50.0);
    let detail = "in which it had work: no loss cut it in this part of a log; longest";
    assert_cause(&log, Cause::CongestionWindow, detail);
}

/// Packets before the beginning of a client's log, or after its end, were not lost.
#[test]
fn packets_beyond_a_clients_log_are_not_lost_ones() {
    let ping = r#"{"frame_type":"ping"}"#;
    let mut server = Log::server();
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    client.carries(0.0, "packet_sent", 900, ping);
    for number in 0..9_u32 {
        let at_ms = f64::from(number) * 10.0;
        server.packet(at_ms, u64::from(number) * 1200);
        client.data(at_ms + 5.0, "packet_received", number.into(), u64::from(number) * 1200);
    }
    client.carries(90.0, "packet_sent", 909, ping);
    // The server received packets 900 and 909.
    server.ack(95.0, 0, 8);
    let never_came = |client: &str| {
        let client = Log { text: client.to_owned(), next: 0 };
        let logs = [client.trace(), server.trace()];
        Summary::of(&Ends { log: &logs[0], server: Some(&logs[1]) }, None).recovery.never_came
    };
    assert_eq!(never_came(&client.text), Some([0, 9]));
    let lines: Vec<&str> = client.text.lines().collect();
    let without_beginning = [&lines[..1], &lines[6..]].concat().join("\n");
    let without_end = lines[..lines.len() - 4].join("\n");
    assert_eq!([&without_beginning, &without_end].map(|it| never_came(it)), [None, None]);
}
