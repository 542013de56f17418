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

/// Packets of 1000 bytes, one each 2 ms from 0: the streams in the order given.
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
    // Ready at 30 ms, then 10 packets of grace: those at 31 to 49 ms; the next is that at 51 ms.
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
fn a_response_that_was_not_there_yet_is_no_reproach() {
    // The server is idle for 300 ms before the urgent response begins: it had nothing to send.
    let mut sent = packets(&order(&[(0, 15)]));
    sent.push((400.0, 0, 15_000, 1000));
    sent.extend([(401.0, 4, 0, 1000), (402.0, 4, 1000, 1000)]);
    let log = server_log(&LOW_THEN_URGENT, &sent);
    let lint = lint(&log, None, &Rules::Rfc9218, Allowance { think_us: 10_000, packets: 0 });
    assert!(lint.violations.iter().all(|it| it.time_us < 100_000), "{lint:?}");
}

#[test]
fn a_response_that_pauses_in_the_middle_is_no_reproach() {
    let mut sent = packets(&order(&[(0, 5), (4, 10)]));
    // Stream 4 pauses for 400 ms, while the other goes on.
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
    for place in &mut log.frame_packets {
        *place -= *place % 2;
    }
    let together = lint(&log, None, &Rules::Rfc9218, allowance);
    assert_eq!((together.violations, together.packets_checked), (vec![], 40));
}
