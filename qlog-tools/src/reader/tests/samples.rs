//! The logs of other stacks, from the fixtures.

use super::*;
use crate::metrics::Completions;

/// All traces of a sample; `None` if there are no samples.
fn traces(name: &str, detail: Detail) -> Option<Vec<Trace>> {
    let path = fixtures::path("qlog-samples")?.join(name);
    Some(read_file_traces(&path, ReadOptions { detail, vantage: None }).unwrap())
}

fn sample(name: &str) -> Option<Trace> {
    traces(name, Detail::Frames).map(largest)
}

/// Pair, ending, distinct bytes at the client and at the server.
const PAIRS: [(&str, &str, u64, u64); 8] = [
    ("aio_noloss", "qlog", 500_147, 500_147),
    ("aio_reorder_prio", "qlog", 1_000_182, 1_000_182),
    ("qg_noloss", "sqlog", 500_730, 500_730),
    ("qg_loss", "sqlog", 960_865, 960_865),
    ("qg_reorder_prio", "sqlog", 1_000_870, 1_000_870),
    ("ngtcp2_loss", "sqlog", 1_000_249, 1_000_249),
    ("quiche_loss", "sqlog", 1_001_737, 1_001_738),
    ("quiche_noloss", "sqlog", 1_001_052, 1_001_078),
];

#[test]
fn both_ends_of_each_pair_tell_of_the_same_bytes_and_connection() {
    for (pair, ending, client_bytes, server_bytes) in PAIRS {
        let read = |end| sample(&format!("generated/{pair}_{end}.{ending}.gz"));
        let (Some(client), Some(server)) = (read("client"), read("server")) else { return };
        assert_eq!((client.vantage, server.vantage), (Vantage::Client, Vantage::Server), "{pair}");
        assert_eq!(client.unique_stream_bytes(), client_bytes, "{pair}");
        assert_eq!(server.unique_stream_bytes(), server_bytes, "{pair}");
        assert_eq!(client.timeline.unique_stream_bytes(), client_bytes, "{pair}");
        assert_eq!(client.timeline.transfers.len(), 10, "{pair}");
        assert_eq!(server.timeline.transfers.len(), 10, "{pair}");
        assert!(client.connection.is_some() && client.connection == server.connection, "{pair}");
        assert_eq!((client.counts.unknown_events, server.counts.unknown_events), (0, 0), "{pair}");
        for asked in &client.timeline.transfers {
            let is_same = |it: &&crate::timeline::Transfer| it.stream == asked.stream;
            let answered = server.timeline.transfers.iter().find(is_same).unwrap();
            assert_eq!(asked.url, answered.url, "{pair}");
            assert_eq!(asked.stream_bytes, answered.stream_bytes, "{pair} {}", asked.stream);
        }
    }
}

/// A server's log alone says whether bytes were lost or sent in vain, by acknowledgements; both logs, by what arrived.
#[test]
fn a_servers_log_alone_gives_the_causes_of_both_within_two_percent_of_the_bytes() {
    for (pair, ending, bytes, _) in PAIRS {
        let read = |end| traces(&format!("generated/{pair}_{end}.{ending}.gz"), Detail::Arrivals);
        let (Some(client), Some(server)) = (read("client"), read("server")) else { return };
        let mut ends = [largest(client), largest(server)];
        crate::causes::settle(&mut ends);
        let [both, alone] = ends.map(|end| {
            let streams = end.streams.iter();
            let sent_again =
                streams.map(|it| (it.retransmitted_bytes, it.duplicate_bytes.unwrap_or_default()));
            sent_again.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
        });
        let differ = both.0.abs_diff(alone.0) + both.1.abs_diff(alone.1);
        assert!(50 * differ <= bytes, "{pair}: {both:?} with both, {alone:?} alone");
    }
}

#[test]
fn the_stacks_are_recognised_and_losses_counted() {
    for (name, stack, lost) in [
        ("qg_loss_server.sqlog", "quic-go", 27),
        ("ngtcp2_loss_server.sqlog", "ngtcp2", 37),
        ("aio_noloss_server.qlog", "aioquic", 25),
        ("quiche_loss_server.sqlog", "quiche", 22),
        ("quinn_loss_server.sqlog", "quinn", 17),
    ] {
        let traces = traces(&format!("generated/{name}.gz"), Detail::Summary);
        let Some(traces) = traces else { return };
        assert!(
            traces.iter().all(|trace| trace.header.stack.name.as_deref() == Some(stack)),
            "{name}"
        );
        let sum: u64 = traces.iter().map(|trace| trace.counts.packets_lost).sum();
        assert_eq!(sum, lost, "{name}");
    }
}

#[test]
fn a_cut_off_record_is_reported() {
    let Some(trace) = sample("generated/ngtcp2_loss_server.sqlog.gz") else { return };
    assert_eq!(trace.counts.bad_records, 1);
    let repair = trace.repairs.iter().find(|repair| repair.what.contains("ends early"));
    assert_eq!(repair.map(|repair| repair.first_record), Some(trace.counts.records));
    assert_eq!(trace.incomplete(), None);
}

#[test]
fn a_log_without_frames_says_so() {
    for end in ["client", "server"] {
        let name = format!("generated/quinn_loss_{end}.sqlog.gz");
        let Some(traces) = traces(&name, Detail::Full) else { return };
        for trace in &traces {
            assert_eq!((trace.vantage, trace.timeline.transfers.len()), (Vantage::Unknown, 0));
            assert_eq!(crate::views::missing(trace)[0], "no STREAM frames logged");
            assert!(trace.samples().iter().all(|it| it.smoothed_rtt_ms.is_none_or(|ms| ms > 40.0)));
        }
    }
}

#[test]
fn old_generations_are_read() {
    let bytes = |name: &str| {
        let traces = traces(&format!("third-party/{name}.gz"), Detail::Frames)?;
        let of = |trace: &Trace| {
            (
                trace.vantage,
                trace.counts.events,
                trace.unique_stream_bytes(),
                trace.counts.unknown_events,
            )
        };
        Some(traces.iter().map(of).collect::<Vec<_>>())
    };
    let Some(double) = bytes("draft-01_doublevantage_100ms.qlog") else { return };
    assert_eq!(double.len(), 2);
    assert_eq!((double[0].0, double[0].1), (Vantage::Client, 2797));
    assert_eq!((double[1].0, double[1].1), (Vantage::Server, 3940));
    assert_eq!(double[0].2, double[1].2);
    let two = bytes("draft-02_ngtcp2-29-dsb.qlog").unwrap();
    assert_eq!(two.iter().map(|it| it.1).collect::<Vec<_>>(), [5, 20]);
    for name in [
        "draft-01_parallel_10_50KB_f5.qlog",
        "multi_stream.qlog",
        "ngtcp2_multistreams_server_10ploss.qlog.js",
    ] {
        let traces = bytes(name).unwrap();
        assert!(traces[0].2 > 0, "{name}: {traces:?}");
        assert_eq!(traces[0].3, 0, "{name}");
    }
    for name in ["qlog_trace_ref.txt", "qlog_trace_ecn_ref.txt"] {
        let traces = bytes(name).unwrap();
        assert_eq!(traces[0].0, Vantage::Server, "{name}");
    }
}

#[test]
fn what_is_added_up_while_reading_is_what_the_frames_say() {
    for (pair, ending, ..) in PAIRS {
        for end in ["client", "server"] {
            let name = format!("generated/{pair}_{end}.{ending}.gz");
            let Some(frames) = sample(&name) else { return };
            let summary = traces(&name, Detail::Summary).map(largest).unwrap();
            assert!(summary.timeline.frames.is_empty());
            assert_eq!(summary.timeline.transfers, frames.timeline.transfers);
            for transfer in &frames.timeline.transfers {
                let only = |it: &crate::timeline::Transfer| it.stream == transfer.stream;
                let exact = Completions::new(&frames.timeline, only);
                let streamed = Completions::of_trace(&summary, only);
                assert_eq!(exact, streamed, "{name} {}", transfer.stream);
            }
        }
    }
}
