//! Logs whose order is known.

use std::fmt::Write as _;

use super::*;
use crate::reader::read;
use crate::trace::Detail;

/// A server's log of any stack: requests (ms, stream, priority) and packets (ms, stream, offset, bytes).
fn server_log(requests: &[(f64, u64, &str)], packets: &[(f64, u64, u64, u64)]) -> Trace {
    let mut records: Vec<(f64, String)> = Vec::new();
    for (time, stream, priority) in requests {
        let field = if priority.is_empty() {
            String::new()
        } else {
            format!(r#",{{"name":"priority","value":"{priority}"}}"#)
        };
        records.push((*time, format!(
            r#"{{"time":{time},"name":"http3:frame_parsed","data":{{"stream_id":{stream},"length":9,"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"/{stream}"}}{field}]}}}}}}"#
        )));
    }
    for (number, (time, stream, offset, bytes)) in packets.iter().enumerate() {
        records.push((*time, format!(
            r#"{{"time":{time},"name":"quic:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"raw":{{"payload_length":{bytes}}}}}]}}}}"#
        )));
    }
    records.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut log = String::from(
        "{\"file_schema\":\"x\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n",
    );
    for (_, record) in records {
        writeln!(log, "{record}").unwrap();
    }
    full(&log)
}

fn full(log: &str) -> Trace {
    let options = crate::reader::ReadOptions { detail: Detail::Full, ..Default::default() };
    crate::reader::read_traces("test", log.as_bytes(), options).unwrap().remove(0)
}

/// Packets of 1000 bytes, one every 2 ms from 0: the streams in the order given.
fn packets(order: &[u64]) -> Vec<(f64, u64, u64, u64)> {
    let mut offsets = std::collections::BTreeMap::new();
    order
        .iter()
        .enumerate()
        .map(|(place, stream)| {
            let offset = offsets.entry(*stream).or_insert(0);
            *offset += 1000;
            (2.0 * place as f64 + 1.0, *stream, *offset - 1000, 1000)
        })
        .collect()
}

fn order(runs: &[(u64, usize)]) -> Vec<u64> {
    runs.iter().flat_map(|&(stream, count)| vec![stream; count]).collect()
}

const LOW_THEN_URGENT: [(f64, u64, &str); 2] = [(0.0, 0, "u=7"), (20.0, 4, "u=0")];

#[test]
fn a_first_come_server_is_flagged_from_the_end_of_what_is_forgiven() {
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 50), (4, 10)])));
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
    assert_eq!(lint.packets_checked, 60);
    // Ready at 30 ms, then 10 packets of grace: at 31 to 49 ms; the next is at 51 ms.
    assert_eq!(lint.violations.len(), 25);
    let first = &lint.violations[0];
    assert_eq!((first.time_us, first.stream, first.expected_stream), (51_000, 0, 4));
    assert!(
        first.rule.contains("stream 4 (u=0) waited while stream 0 (u=7) was sent"),
        "{first:?}"
    );
    assert_eq!(lint.inversion_bytes, 25_000);
}

#[test]
fn a_server_that_obeys_is_not() {
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 11), (4, 10), (0, 40)])));
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
    assert_eq!((lint.violations, lint.cannot_judge), (vec![], None));
}

#[test]
fn a_priority_field_that_rfc_8941_or_9218_ignores_leaves_the_default_urgency() {
    for field in ["u=1, u=9", "u=0, (", "U=1, u=0"] {
        let requests = [(0.0, 0, "u=2"), (20.0, 4, field)];
        let log = server_log(&requests, &packets(&order(&[(0, 50), (4, 10)])));
        let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
        assert_eq!((lint.violations, lint.cannot_judge), (vec![], None), "{field}");
    }
}

#[test]
fn a_response_that_was_not_ready_is_not_a_violation() {
    // The server is idle for 300 ms before the urgent response begins: it had nothing to send.
    let mut sent = packets(&order(&[(0, 15)]));
    sent.push((400.0, 0, 15_000, 1000));
    sent.extend([(401.0, 4, 0, 1000), (402.0, 4, 1000, 1000)]);
    let log = server_log(&LOW_THEN_URGENT, &sent);
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance { think_us: 10_000, packets: 0 });
    assert!(lint.violations.iter().all(|it| it.time_us < 100_000), "{lint:?}");
}

#[test]
fn a_response_that_pauses_in_the_middle_is_not_a_violation() {
    let mut sent = packets(&order(&[(0, 5), (4, 10)]));
    // Stream 4 pauses for 400 ms, while the other continues.
    sent.extend(
        (0..40_u32).map(|n| (40.0 + 10.0 * f64::from(n), 0, 5000 + 1000 * u64::from(n), 1000)),
    );
    sent.push((441.0, 4, 10_000, 1000));
    let log = server_log(&[(0.0, 0, "u=7"), (9.0, 4, "u=0")], &sent);
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
    assert_eq!(lint.violations, []);
}

#[test]
fn retransmissions_are_not_judged() {
    let mut sent = packets(&order(&[(0, 11), (4, 10)]));
    sent.extend([
        (43.0, 0, 0, 1000),
        (44.0, 0, 1000, 1000),
        (45.0, 4, 10_000, 1000),
        (46.0, 0, 11_000, 1000),
    ]);
    let lint = lint(
        &server_log(&LOW_THEN_URGENT, &sent),
        None,
        &Rules::Rfc9218,
        Allowance { packets: 1, ..Allowance::default() },
    );
    assert_eq!((lint.violations, lint.packets_checked), (vec![], 23));
}

#[test]
fn packets_of_one_millisecond_keep_their_order() {
    let sent: Vec<_> = packets(&order(&[(0, 20), (4, 10), (0, 30)]))
        .into_iter()
        .map(|(_, stream, offset, bytes)| {
            (if stream == 0 && offset < 20_000 { 1.0 } else { 60.0 }, stream, offset, bytes)
        })
        .collect();
    let allowance = Allowance { packets: 0, ..Allowance::default() };
    let lint = lint(&server_log(&LOW_THEN_URGENT, &sent), None, &Rules::Rfc9218, allowance);
    assert_eq!(lint.violations, []);
}

#[test]
fn without_priorities_there_is_nothing_to_judge_by() {
    let log = server_log(&[(0.0, 0, ""), (1.0, 4, "")], &packets(&order(&[(0, 5), (4, 5)])));
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
    assert!(lint.cannot_judge.unwrap().starts_with("no priorities"));
}

#[test]
fn a_log_without_frames_cannot_be_judged() {
    let log = read(
        "test",
        &b"{\"file_schema\":\"x\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n"[..],
    )
    .unwrap();
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance::default());
    assert_eq!(lint.cannot_judge.as_deref(), Some("no STREAM frames of responses logged"));
}

#[test]
fn a_scheme_is_held_against_its_own_scheduler() {
    let fifo = schedulers::find_scheme("fifo").unwrap();
    let requests = [(0.0, 0, ""), (1.0, 4, "")];
    let broken = |order: &[u64], scheme| {
        let log = server_log(&requests, &packets(order));
        lint(&log, None, &Rules::Scheme(scheme), Allowance { think_us: 0, packets: 2 })
            .violations
            .len()
    };
    assert_eq!(broken(&order(&[(0, 20), (4, 20)]), &fifo), 0);
    let lifo = schedulers::find_scheme("lifo").unwrap();
    assert!(broken(&order(&[(0, 20), (4, 20)]), &lifo) > 10);
}

#[test]
fn a_log_of_our_scheduler_is_judged_call_by_call() {
    let call = |time: u64, data: &str| {
        format!("{{\"time\":{time},\"name\":\"utmost:scheduler\",\"data\":{data}}}\n")
    };
    let log = |order: [u64; 4]| {
        let mut log = String::from(
            "{\"file_schema\":\"x\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n",
        );
        for stream in [0, 4] {
            log += &call(
                1,
                &format!(r#"{{"op":"opened","stream":{stream},"resource":{{"kind":"css"}}}}"#),
            );
            let urgency = 7 - stream;
            log += &call(
                1,
                &format!(
                    r#"{{"op":"signalled","stream":{stream},"signal":{{"urgency":{urgency},"incremental":false}}}}"#
                ),
            );
            log += &call(2, &format!(r#"{{"op":"ready","stream":{stream}}}"#));
        }
        for stream in order {
            log += &call(3, &format!(r#"{{"op":"picked","stream":{stream}}}"#));
            log += &call(3, &format!(r#"{{"op":"sent","stream":{stream},"bytes":1000}}"#));
        }
        full(&log)
    };
    let scheme = schedulers::find_scheme("rfc9218").unwrap();
    for rules in [Rules::Rfc9218, Rules::Scheme(&scheme)] {
        assert_eq!(lint(&log([4, 4, 4, 4]), None, &rules, Allowance::default()).violations, []);
    }
    let found = lint(&log([0, 4, 0, 4]), None, &Rules::Scheme(&scheme), Allowance::default());
    let expected: Vec<(u64, u64)> =
        found.violations.iter().map(|it| (it.stream, it.expected_stream)).collect();
    assert_eq!(expected, [(0, 4), (0, 4)]);
    assert_eq!(found.inversion_bytes, 2000);
}

#[test]
fn who_fills_up_a_packet_after_the_expected_stream_breaks_no_rule() {
    let requests = [(0.0, 0, "u=3"), (0.0, 4, "u=0")];
    let sent: Vec<_> = (0..40)
        .flat_map(|n| {
            let time = 20.0 + n as f64;
            [(time, 4, n * 99, 99), (time, 0, n * 1000, 1000)]
        })
        .collect();
    let mut log = server_log(&requests, &sent);
    let allowance = Allowance { packets: 0, ..Allowance::default() };
    let apart = lint(&log, None, &Rules::Rfc9218, allowance);
    assert_eq!((apart.violations.len(), apart.packets_checked), (39, 80));
    // The same frames, two in a packet.
    log.arrivals =
        log.arrivals.iter().map(|(frame, it)| (frame, it.map(|it| it - it % 2))).collect();
    let together = lint(&log, None, &Rules::Rfc9218, allowance);
    assert_eq!((together.violations, together.packets_checked), (vec![], 40));
}

#[test]
fn who_ran_dry_in_a_packet_that_another_filled_up_is_not_owed_the_next() {
    // Stream 4 runs dry in the packet at 40 ms, and stream 0 fills it up and continues; at 60 ms stream 4 has data
    // again.
    let mut sent: Vec<(f64, u64, u64, u64)> = vec![(20.0, 4, 0, 5000), (40.0, 4, 5000, 900)];
    sent.extend((0..15).map(|n| (40.0 + n as f64, 0, n * 1000, 1000)));
    sent.push((60.0, 4, 5900, 1000));
    let mut log = server_log(&[(0.0, 0, "u=7"), (0.0, 4, "u=0")], &sent);
    let allowance = Allowance { packets: 0, ..Allowance::default() };
    assert_eq!(lint(&log, None, &Rules::Rfc9218, allowance).violations.len(), 15);
    let lifo = schedulers::find_scheme("lifo").unwrap();
    assert!(!lint(&log, None, &Rules::Scheme(&lifo), allowance).violations.is_empty());
    // The frames at 40 ms in one packet.
    let together = |(frame, it): (_, Option<u64>)| (frame, it.map(|it| it - u64::from(it > 1)));
    log.arrivals = log.arrivals.iter().map(together).collect();
    for rules in [Rules::Rfc9218, Rules::Scheme(&lifo)] {
        assert_eq!(lint(&log, None, &rules, allowance).violations, []);
    }
}

/// A client's log with packets of 1000 bytes: number, stream and offset of each arrival, one per ms from 100 ms on.
fn client_log(requests: &[(f64, u64, &str)], came: &[(u64, u64, u64)]) -> Trace {
    let packets: Vec<_> = came
        .iter()
        .enumerate()
        .map(|(place, (_, stream, offset))| (100.0 + place as f64, *stream, *offset, 1000))
        .collect();
    let mut trace = server_log(requests, &packets);
    trace.vantage = crate::trace::Vantage::Client;
    trace.recovery.get_or_insert_default().longest_rtt.latest_ms = Some(5.0);
    let packets = trace.packets.get_or_insert_default();
    packets.received = crate::number_ranges::NumberRanges::default();
    for (number, ..) in came {
        packets.received.add(*number, *number);
    }
    let numbered = trace.arrivals.iter().zip(came);
    trace.arrivals = numbered.map(|((frame, _), (number, ..))| (frame, Some(*number))).collect();
    trace
}

#[test]
fn what_may_have_been_in_lost_packets_is_not_owed() {
    // Stream 4 is sent except for its last packet; then 0 continues, and the end of 4 arrives late.
    let came = |lost: u64| -> Vec<(u64, u64, u64)> {
        let urgent = (0..5).map(|n| (n, 4, n * 1000));
        let other = (0..12).map(|n| (5 + lost + n, 0, n * 1000));
        urgent.chain(other).chain([(17 + lost, 4, 5000)]).collect()
    };
    let requests = [(0.0, 0, "u=7"), (0.0, 4, "u=0")];
    let allowance = Allowance { packets: 0, ..Allowance::default() };
    let flagged = |lost| {
        let log = client_log(&requests, &came(lost));
        lint(&log, None, &Rules::Rfc9218, allowance).violations.len()
    };
    assert_eq!((flagged(0), flagged(1)), (12, 0));
}

#[test]
fn a_loss_excuses_only_what_was_lost() {
    // Stream 4 still has ten packets to send when one is lost.
    let urgent = (0..5).map(|n| (n, 4, n * 1000));
    let other = (0..12).map(|n| (6 + n, 0, n * 1000));
    let late = (0..10).map(|n| (18 + n, 4, 5000 + n * 1000));
    let came: Vec<_> = urgent.chain(other).chain(late).collect();
    let log = client_log(&[(0.0, 0, "u=7"), (0.0, 4, "u=0")], &came);
    let allowance = Allowance { packets: 0, ..Allowance::default() };
    assert_eq!(lint(&log, None, &Rules::Rfc9218, allowance).violations.len(), 12);
}

#[test]
fn a_scheme_that_knows_the_page_is_not_held_against_a_log_that_does_not() {
    let requests = [(0.0, 0, ""), (1.0, 4, "")];
    let log = server_log(&requests, &packets(&order(&[(0, 20), (4, 20)])));
    let lacks = |name| {
        let scheme = schedulers::find_scheme(name).unwrap();
        lint(&log, None, &Rules::Scheme(&scheme), Allowance::default()).cannot_judge
    };
    let bucket = lacks("bucket").unwrap();
    assert!(bucket.contains("is it above the fold") && bucket.contains("give the log"), "{bucket}");
    // Only the content type matters, which this log does not have either.
    assert!(lacks("wrr").unwrap().contains("(its content type)"));
    for by_arrival in ["fifo", "lifo", "rr"] {
        assert_eq!(lacks(by_arrival), None);
    }
    // If the client signalled how to place each response, the page does not matter.
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 11), (4, 10)])));
    let rfc9218 = schedulers::find_scheme("rfc9218").unwrap();
    let lint = lint(&log, None, &Rules::Scheme(&rfc9218), Allowance::default());
    assert_eq!((lint.cannot_judge, lint.violations), (None, vec![]));
}

/// A log of our scheduler under the named schemes, at the given times: two responses, one of which is always picked.
fn named_log(schemes: &[&str], in_group: bool, picked: u64) -> Trace {
    let mut log = String::from(
        "{\"file_schema\":\"x\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n",
    );
    for (time, scheme) in schemes.iter().enumerate() {
        writeln!(log, r#"{{"time":{time},"name":"utmost:scheme","data":{{"name":"{scheme}","in_group":{in_group}}}}}"#).unwrap();
        let mut call = |data: String| {
            writeln!(log, r#"{{"time":{time},"name":"utmost:scheduler","data":{data}}}"#).unwrap();
        };
        for stream in [0, 4] {
            call(format!(r#"{{"op":"opened","stream":{stream},"resource":{{"kind":"css"}}}}"#));
            call(format!(r#"{{"op":"ready","stream":{stream}}}"#));
        }
        call(format!(r#"{{"op":"picked","stream":{picked}}}"#));
        call(format!(r#"{{"op":"sent","stream":{picked},"bytes":1000}}"#));
    }
    full(&log)
}

#[test]
fn a_log_that_names_its_scheme_is_judged_by_it() {
    let judged = |log: &Trace| lint(log, None, &Rules::Named, Allowance::default());
    let fifo = judged(&named_log(&["fifo"], false, 0));
    assert_eq!((fifo.violations, fifo.packets_checked), (vec![], 1));
    assert_eq!(fifo.basis, "fifo, which the log names, and the server's own log of its scheduler");
    let lifo = judged(&named_log(&["lifo"], false, 0));
    assert_eq!(lifo.violations[0].rule, "lifo: stream 4 is next");
    // Each from when on it orders.
    let both = judged(&named_log(&["fifo", "lifo"], false, 0));
    assert_eq!(both.violations.iter().map(|it| it.time_us).collect::<Vec<_>>(), [1000]);
    assert!(both.basis.starts_with("fifo, then lifo, which the log names"), "{}", both.basis);
    let lacks = |log: &Trace| judged(log).cannot_judge.unwrap();
    assert!(
        lacks(&named_log(&["fifo"], true, 0)).contains("several connections are ordered as one")
    );
    assert!(lacks(&named_log(&["cpl"], false, 0)).contains("--page"));
    assert!(lacks(&named_log(&["no-such"], false, 0)).contains("no-such"));
}

#[test]
fn a_log_that_names_no_scheme_is_judged_by_rfc_9218() {
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 50), (4, 10)])));
    let judged = |rules| lint(&log, None, &rules, Allowance::default());
    assert_eq!(judged(Rules::Named), judged(Rules::Rfc9218));
    assert_eq!(judged(Rules::Named).violations.len(), 25);
}

/// A log with application writes, as (ms, stream, offset, bytes).
fn with_writes(log: &Trace, writes: &[(u64, u64, u64, u64)]) -> Trace {
    let mut log = log.clone();
    for &(ms, stream, offset, bytes) in writes {
        log.written
            .get_or_insert_default()
            .entry(stream)
            .or_default()
            .push((ms * 1000, offset + bytes));
    }
    log
}

#[test]
fn nobody_is_blamed_for_bytes_that_the_application_had_not_written() {
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 60), (4, 10)])));
    let violations =
        |log: &Trace| lint(log, None, &Rules::Rfc9218, Allowance::default()).violations.len();
    assert!(violations(&log) > 20, "{}", violations(&log));
    let late = with_writes(&log, &[(0, 0, 0, 60_000), (120, 4, 0, 10_000)]);
    assert_eq!(violations(&late), 0);
    // Its header was written early and sent at once; its body was written late.
    let log = server_log(&LOW_THEN_URGENT, &packets(&order(&[(0, 10), (4, 3), (0, 40), (4, 7)])));
    let header = with_writes(&log, &[(0, 0, 0, 60_000), (20, 4, 0, 3000), (106, 4, 3000, 7000)]);
    assert_eq!(violations(&header), 0);
    let early = with_writes(&log, &[(0, 0, 0, 60_000), (20, 4, 0, 10_000)]);
    assert!(violations(&early) > 20, "{}", violations(&early));
}

#[test]
fn of_very_many_violations_the_first_are_kept_and_all_are_counted() {
    let mut lint = Lint::default();
    let violation =
        || Violation { time_us: 0, stream: 0, expected_stream: 4, bytes: 1, rule: String::new() };
    (0..70_000).for_each(|_| lint.add(1, violation));
    assert_eq!((lint.violations.len(), lint.packets_broken), (65_536, 70_000));
    assert_eq!(lint.inversion_bytes, 70_000);
}
