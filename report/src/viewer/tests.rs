//! The page as a browser gets it. `tests/browser` tests its behaviour there.

use super::*;
use proptest::prelude::*;
use qlog_tools::causes::{Causes, Mark};
use qlog_tools::lint::{Allowance, Rules, lint};
use qlog_tools::reader::{ReadOptions, read_traces};
use qlog_tools::trace::Detail;

const LOG: &str = r#"
{"file_schema":"x","title":"</script><script>alert(1)</script>","trace":{"vantage_point":{"type":"client"}}}
{"time":10,"name":"http3:frame_created","data":{"stream_id":0,"length":9,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":authority","value":"a.test"},{"name":":scheme","value":"https"},{"name":":path","value":"/x?</script><img src=x onerror=alert(1)>"},{"name":"priority","value":"u=1, i"}]}}}
{"time":50,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":100}}]}}
{"time":60,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":3},"frames":[{"frame_type":"stream","stream_id":0,"offset":200,"fin":true,"raw":{"payload_length":100}}]}}
{"time":61,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":2},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]}}
{"time":70,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]}}
{"time":75,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000,"smoothed_rtt":40.0}}
"#;

fn recording() -> Recording {
    let options = ReadOptions { detail: Detail::Events, ..ReadOptions::default() };
    let traces = read_traces("/logs/a.sqlog", LOG.trim().as_bytes(), options).unwrap();
    Recording::of(&traces[0], None)
}

#[test]
fn a_log_becomes_what_the_page_shows() {
    let recording = recording();
    // Its first event, on the log's clock, is where the figures begin.
    assert_eq!(
        (&*recording.name, recording.start_us, recording.duration_us),
        ("a.sqlog", 10_000, 65_000)
    );
    let stream = &recording.streams[0];
    assert_eq!((stream.id, &*stream.priority, stream.role), (0, "u=1, i", Role::Request));
    assert_eq!(
        (stream.requested_us, stream.first_us, stream.complete_us),
        (Some(0), Some(40_000), Some(51_000))
    );
    let frames: Vec<_> =
        recording.frames.iter().map(|it| (it.time_us, it.mark, it.released_bytes)).collect();
    assert_eq!(
        frames,
        [
            (40_000, None, 100),
            (50_000, None, 0),
            (51_000, Some(Mark::Reordered), 200),
            (60_000, Some(Mark::Duplicate), 0),
        ]
    );
    assert_eq!(recording.series.len(), 2);
    assert!(recording.order_is_estimated && recording.no_stacks.is_none());
}

#[test]
fn of_a_frame_that_comes_partly_again_only_the_new_bytes_count_as_sent_again() {
    // Packet 4 fills the hole from 100 to 200, and repeats the bytes from 50 to 100.
    let hole = r#""packet_number":2},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]"#;
    let partly = r#""packet_number":4},"frames":[{"frame_type":"stream","stream_id":0,"offset":50,"raw":{"payload_length":150}}]"#;
    let log = LOG.replace(hole, partly);
    let lines: Vec<&str> = log.lines().filter(|it| !it.contains("\"time\":70")).collect();
    let causes = Recording::of(&trace(&lines.join("\n")), None).streams[0].causes;
    let expected = Causes { retransmitted_bytes: 100, duplicate_bytes: 50, ..Causes::default() };
    assert_eq!(causes, expected);
}

/// The log of a server that sends all its bytes twice.
const SERVER: &str = r#"
{"file_schema":"x","trace":{"vantage_point":{"type":"server"}}}
{"time":100,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[]}}
{"time":101,"name":"quic:connection_state_updated","data":{"new":"handshake_confirmed"}}
{"time":110,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":100}}]}}
{"time":111,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":2},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]}}
{"time":120,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":1}}}
{"time":121,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":2}}}
{"time":122,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":3},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":100}}]}}
{"time":123,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]}}
{"time":124,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":2},"frames":[{"frame_type":"ack","acked_ranges":[[2,4]]}]}}
{"time":125,"name":"quic:recovery_metrics_updated","data":{"congestion_window":6000}}
"#;

/// The client's log: its clock starts with its first packet.
const CLIENT: &str = r#"
{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}
{"time":0,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[]}}
{"time":1,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000}}
{"time":20,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":100}}]}}
{"time":60,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"raw":{"payload_length":100}}]}}
"#;

fn trace(log: &str) -> qlog_tools::trace::Trace {
    let options = ReadOptions { detail: Detail::Events, ..ReadOptions::default() };
    read_traces("/logs/a.sqlog", log.trim().as_bytes(), options).unwrap().remove(0)
}

#[test]
fn window_and_losses_are_the_senders_and_arrivals_the_receivers() {
    let (client, server) = (trace(CLIENT), trace(SERVER));
    let both = Recording::of(&client, Some(&server));
    // Both directions took at least 5 ms: the server's clock is 95 ms ahead.
    let window = &both.series[0];
    assert_eq!((window.name, &*window.points), ("congestion window", &[(30_000, 6000)][..]));
    assert_eq!(
        (&*both.series_of, &*both.losses_of, &*both.shown_of),
        ("the server", "the server", "the client")
    );
    let event =
        |name: &str| both.events.iter().find(|it| it.name == name).unwrap().times_us.clone();
    assert_eq!(event("packet lost"), [25_000, 26_000]);
    assert_eq!(event("server's quic:connection_state_updated"), [6_000]);
    assert_eq!(both.sent, [(15_000, 100), (16_000, 200), (27_000, 300), (28_000, 400)]);
    assert!(
        both.facts.contains(&"the server: 4 packets sent, 2 received, 2 declared lost".to_owned()),
        "{:?}",
        both.facts
    );
    assert_eq!(both.frames.iter().map(|it| it.time_us).collect::<Vec<_>>(), [20_000, 60_000]);
    let quiet = SERVER.replace("packet_lost", "packet_lost_unknown");
    let quiet = Recording::of(&client, Some(&trace(&quiet)));
    let again = quiet.events.iter().find(|it| it.name == SENT_AGAIN).unwrap();
    // Only the first bytes: the bytes of the second packet had arrived.
    assert_eq!(again.times_us, [27_000]);
    let alone = Recording::of(&client, None);
    assert_eq!((alone.series[0].points[0].1, &*alone.series_of), (12_000, "the client"));
    // The server's own log shows what held it back, but not the sizes of its packets.
    assert_eq!(both.band.as_ref().map(|it| it.series.len()), Some(0));
    assert!(alone.band.is_none() && alone.no_band.is_some());
}

#[test]
fn the_events_of_both_ends_are_there_with_their_own_clocks() {
    let both = Recording::of(&trace(CLIENT), Some(&trace(SERVER)));
    let logs: Vec<_> = both
        .logs
        .iter()
        .map(|it| (&*it.whose, it.events, it.packets, it.to_own_clock_us))
        .collect();
    // The figure begins with the client's first packet, at 0; the server's clock is 95 ms ahead.
    assert_eq!(logs, [("the client", 4, 3, 0), ("the server", 10, 8, 95_000)]);
}

#[test]
fn what_lint_finds_in_a_servers_log_is_there_on_the_figures_clock() {
    let log = include_str!("../../../tests/cli/data/first-come.qlog");
    let recording = Recording::of(&trace(log), None);
    let first = &recording.findings.list[0];
    assert_eq!((first.stream, first.expected_stream), (0, 4));
    assert!(first.time_us < recording.duration_us, "{first:?}");
    let verdict = &recording.findings.verdict;
    assert!(verdict.starts_with("lint: ") && verdict.contains(" packets broke the order ("));
    // A client's log does not show the order of sending.
    assert_eq!(Recording::of(&trace(CLIENT), None).findings.verdict, "");
}

#[test]
fn a_round_trip_that_was_assumed_and_not_measured_is_not_drawn() {
    let metrics = r#""congestion_window":12000,"smoothed_rtt":40.0"#;
    let assumed = r#""congestion_window":9000,"smoothed_rtt":333.0,"min_rtt":333.0}}
{"time":76,"name":"quic:recovery_metrics_updated","data":{"latest_rtt":40.5,"smoothed_rtt":41.0"#;
    let recording = Recording::of(&trace(&LOG.replace(metrics, assumed)), None);
    let points = |name: &str| {
        let series = recording.series.iter().find(|it| it.name == name);
        series.map(|it| it.points.clone()).unwrap_or_default()
    };
    assert_eq!(points("congestion window"), [(65_000, 9000)]);
    assert_eq!(points("smoothed RTT"), [(66_000, 41_000)]);
    assert_eq!((points("latest RTT"), points("least RTT")), (vec![(66_000, 40_500)], vec![]));
}

#[test]
fn what_a_server_sends_again_after_its_packet_arrived_is_spurious() {
    let marks: Vec<_> =
        Recording::of(&trace(SERVER), None).frames.iter().map(|it| it.mark).collect();
    // The packet of the first bytes was never acknowledged; the next one was.
    assert_eq!(marks, [None, None, Some(Mark::Retransmitted), Some(Mark::Duplicate)]);
}

#[test]
fn of_frames_without_lengths_no_figure_is_made() {
    let bare = LOG.replace(r#""raw":{"payload_length":100}"#, r#""fin":false"#);
    let recording = Recording::of(&trace(&bare.replace(r#""fin":true,"#, "")), None);
    assert_eq!((recording.frames.len(), recording.streams.len()), (0, 0));
    let reason = "no lengths of STREAM frames logged: which bytes they carried cannot be told";
    assert_eq!(recording.no_frames, reason);
    assert_eq!(recording.no_stacks.as_deref(), Some(reason));
    assert_eq!((&recording.metrics, recording.no_metrics.as_deref()), (&None, Some(reason)));
    let pictures = crate::pictures::pictures(&recording);
    assert_eq!(pictures.iter().map(|it| it.0).collect::<Vec<_>>(), ["congestion"]);
}

#[test]
fn an_unnamed_program_is_called_so_with_its_version() {
    let log = LOG.replace(r#"{"file_schema":"x","#, r#"{"file_schema":"x","code_version":"<b>","#);
    let facts = Recording::of(&trace(&log), None).facts;
    assert!(
        facts[1].starts_with("client's log by an unnamed program of version <b>,"),
        "{facts:?}"
    );
}

#[test]
fn losses_that_are_not_logged_are_not_zero() {
    let quiet = SERVER.replace("packet_lost", "packet_lost_unknown");
    let facts = Recording::of(&trace(&quiet), None).facts;
    let packets = "the server: 4 packets sent, 2 received, losses not logged";
    assert!(facts.contains(&packets.to_owned()), "{facts:?}");
}

#[test]
fn no_name_of_a_log_is_longer_than_its_bound() {
    let long = "x".repeat(90_000);
    let log =
        LOG.replace("u=1, i", &long).replace("/x?", &format!("/{long}?")).replace("a.test", &long);
    let recording = Recording::of(&trace(&log), None);
    let stream = &recording.streams[0];
    let characters = |text: &str| text.chars().count();
    assert!(characters(&stream.url) <= 1000 && characters(&stream.priority) <= 120, "{stream:?}");
    assert!(recording.facts.iter().all(|it| characters(it) <= 1000));
    let page =
        |recording| report(&Report { recordings: vec![recording], ..Report::default() }).len();
    // The page of the same log with short names is hardly shorter.
    assert!(page(recording) < page(self::recording()) + 10_000);
}

#[test]
fn nothing_from_a_log_becomes_markup() {
    let html = report(&Report {
        title: "<b>".to_owned(),
        recordings: vec![recording()],
        ..Report::default()
    });
    assert!(!html.contains("<b>") && !html.contains("<img") && !html.contains("alert(1)</script>"));
    // The data, the scripts, and nothing else.
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn the_page_begins_with_sentences_that_lead_to_their_moments_and_has_its_title_once() {
    let both = Recording::of(&trace(CLIENT), Some(&trace(SERVER)));
    let lost = both.answer.iter().find(|it| it.text.contains("were declared lost")).unwrap();
    // On the client's clock: the server's is 95 ms ahead.
    assert!(lost.text.starts_with("2 of 4 packets were declared lost (50.0 %), first at 25.0 ms"));
    assert_eq!(lost.time_us, Some(25_000));
    let title = "client and server".to_owned();
    let html = report(&Report { title, recordings: vec![both], ..Report::default() });
    let (above, below) = html.split_once("<footer>").unwrap();
    let head = above.split_once("<body>").unwrap().1;
    assert_eq!(head.matches("client and server").count(), 1);
    assert!(head.contains(r##"<a href="#at=25000" data-time="25000">"##));
    assert!(below.contains("server&#x27;s log by") && !head.contains("server&#x27;s log by"));
}

#[test]
fn a_clients_log_alone_guesses_what_was_retransmitted() {
    let told = |server: Option<&qlog_tools::trace::Trace>| {
        let causes = Recording::of(&trace(CLIENT), server).causes;
        causes[&Mark::Retransmitted].clone()
    };
    let guess = "a guess: an earlier packet with these bytes was lost, because this one has a higher number than the packets after the hole";
    assert_eq!(told(None), guess);
    let shown = "an earlier packet with these bytes never arrived, as the server's log shows";
    assert_eq!(told(Some(&trace(SERVER))), shown);
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let html = report(&Report { recordings: vec![recording()], ..Report::default() });
    assert!(html.contains("default-src 'none'"));
    for forbidden in
        ["@import", "<link", "<iframe", "fetch(", "XMLHttpRequest", "import(", "<script src"]
    {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn each_figure_of_a_log_is_a_picture_too() {
    let pictures = crate::pictures::pictures(&recording());
    let names: Vec<&str> = pictures.iter().map(|it| it.0).collect();
    assert_eq!(
        names,
        ["multiplexing", "waterfall", "head-of-line-blocking", "byte-index", "congestion"]
    );
    for (name, svg) in pictures {
        assert!(svg.starts_with("<svg") && !svg.contains("<img"), "{name}: {svg}");
    }
    assert_eq!(crate::pictures::pictures(&Recording::default()).len(), 0);
}

proptest! {
    /// Any damage to a good log gives a page and a judgement, or an error, never a panic.
    #[test]
    fn damaged_logs_never_panic(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12), digits in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut bytes = LOG.trim().as_bytes().to_vec();
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // Larger numbers: one digit becomes many.
        for at in digits {
            let at = at.index(bytes.len());
            if bytes[at].is_ascii_digit() {
                bytes.splice(at..at, *b"9999999");
            }
        }
        let options = ReadOptions { detail: Detail::Events, ..ReadOptions::default() };
        let scheme = schedulers::find_scheme("rr").unwrap();
        for trace in read_traces("test", &bytes[..], options).unwrap_or_default() {
            for rules in [Rules::Rfc9218, Rules::Scheme(&scheme)] {
                let _ = lint(&trace, Some(&trace), &rules, Allowance::default());
            }
            let recording = Recording::of(&trace, Some(&trace));
            prop_assert!(crate::pictures::pictures(&recording).len() <= 6);
            let page = report(&Report { recordings: vec![recording], ..Report::default() });
            prop_assert!(page.contains("id=\"data\""));
        }
    }
}
