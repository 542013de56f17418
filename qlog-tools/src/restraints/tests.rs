use std::fmt::Write as _;

use super::*;
use crate::reader::{ReadOptions, read_traces};
use crate::trace::Detail;
use crate::trace::Vantage;
use crate::views::{CLIENTS, NO_SENT};
use proptest::prelude::*;

/// A server's log: times in ms, names of events, bodies.
fn trace(events: &[(f64, &str, &str)]) -> Trace {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}"#;
    let mut log = header.to_owned();
    for (time, name, body) in events {
        write!(log, "\n{{\"time\":{time},\"name\":\"{name}\",\"data\":{body}}}").unwrap();
    }
    let options = ReadOptions { detail: Detail::Full, vantage: None };
    read_traces("log", log.as_bytes(), options).unwrap().remove(0)
}

const SENT: &str = "transport:packet_sent";
const CAME: &str = "transport:packet_received";
const METRICS: &str = "recovery:metrics_updated";
const PARAMETERS: &str = "transport:parameters_set";
const REQUEST: &str = r#"{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"}]}}"#;
const HEADERS: &str = "http:frame_parsed";

/// A packet of 1200 bytes of stream 0.
fn packet(number: u64, offset: u64) -> String {
    format!(
        r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1240}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1200}}]}}"#
    )
}

/// A packet that arrived, with this frame.
fn came(frame: &str) -> String {
    format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":9}},"frames":[{frame}]}}"#)
}

fn metrics(window: u64, in_flight: u64) -> String {
    format!(r#"{{"congestion_window":{window},"bytes_in_flight":{in_flight},"smoothed_rtt":20.0}}"#)
}

fn remote(limits: &str) -> String {
    format!(r#"{{"owner":"remote",{limits}}}"#)
}

/// `10-20 pacing, ..` in ms.
fn shown(restraints: &Restraints) -> String {
    let ms = |us: u64| us as f64 / 1000.0;
    let span = |it: &Span| format!("{}-{} {}", ms(it.from_us), ms(it.to_us), it.by.name());
    restraints.spans.iter().map(span).collect::<Vec<_>>().join(", ")
}

fn plain(trace: &Trace) -> String {
    shown(&Restraints::of(trace, Evidence::Plain).unwrap())
}

#[test]
fn the_window_holds_a_response_back_until_an_acknowledgement_comes() {
    let initial = r#"{"header":{"packet_type":"initial","packet_number":0},"raw":{"length":100}}"#;
    let trace = trace(&[
        (0.0, SENT, initial),
        (20.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (30.0, HEADERS, REQUEST),
        (30.5, SENT, &packet(1, 0)),
        (30.6, SENT, &packet(2, 1200)),
        (30.6, METRICS, &metrics(3000, 2480)),
        (50.0, METRICS, &metrics(6000, 1240)),
        (50.1, SENT, &packet(3, 2400)),
        (50.1, METRICS, &metrics(6000, 2480)),
        (70.0, METRICS, &metrics(6000, 0)),
    ]);
    assert_eq!(
        plain(&trace),
        "0-20 handshake, 20-30 application, 30-30.6 nothing, 30.6-50 congestion_window, 50-50.1 nothing, \
         50.1-70 application"
    );
}

#[test]
fn the_connection_waits_for_max_data() {
    let max_data = came(r#"{"frame_type":"max_data","maximum":10000}"#);
    let trace = trace(&[
        (0.0, PARAMETERS, &remote(r#""initial_max_data":2400"#)),
        (0.0, METRICS, &metrics(20_000, 0)),
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, SENT, &packet(1, 0)),
        (0.0, SENT, &packet(2, 1200)),
        (40.0, CAME, &max_data),
        (40.0, SENT, &packet(3, 2400)),
        (41.0, METRICS, &metrics(20_000, 0)),
    ]);
    assert_eq!(plain(&trace), "0-40 connection_flow_control, 40-41 application");
}

#[test]
fn a_stream_waits_for_max_stream_data_and_the_rest_of_a_connection_does_not() {
    let max_stream_data =
        came(r#"{"frame_type":"max_stream_data","stream_id":"0","maximum":"10000"}"#);
    let limits = r#""initial_max_data":90000,"initial_max_stream_data_bidi_local":2000"#;
    let trace = trace(&[
        (0.0, PARAMETERS, &remote(limits)),
        (0.0, METRICS, &metrics(20_000, 0)),
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, SENT, &packet(1, 0)),
        (30.0, CAME, &max_stream_data),
        (30.0, SENT, &packet(2, 1200)),
        (31.0, METRICS, &metrics(20_000, 0)),
    ]);
    assert_eq!(plain(&trace), "0-30 stream_flow_control, 30-31 application");
}

/// A window of ten packets in 20 ms: a packet takes 2 ms. After the third, there is a pause of 50
/// ms.
fn paced(written: &str) -> Trace {
    trace(&[
        (0.0, METRICS, &metrics(12_400, 0)),
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, "transport:data_moved", written),
        (0.0, SENT, &packet(1, 0)),
        (3.0, SENT, &packet(2, 1200)),
        (6.0, SENT, &packet(3, 2400)),
        (56.0, SENT, &packet(4, 3600)),
        (57.0, METRICS, &metrics(12_400, 0)),
    ])
}

#[test]
fn a_short_pause_is_pacing_and_a_long_one_the_applications() {
    let unwritten = r#"{"stream_id":0,"from":"application","to":"transport"}"#;
    assert_eq!(plain(&paced(unwritten)), "0-6 pacing, 6-57 application");
}

#[test]
fn a_long_pause_with_written_bytes_is_the_schedulers() {
    let written =
        r#"{"stream_id":0,"from":"application","to":"transport","offset":0,"length":4800}"#;
    assert_eq!(plain(&paced(written)), "0-6 pacing, 6-56 scheduler, 56-57 application");
}

#[test]
fn packets_at_a_fixed_interval_are_paced_however_wide_the_window_is() {
    let mut events = vec![
        (0.0, METRICS, metrics(1_000_000, 0)),
        (0.0, CAME, came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST.to_owned()),
    ];
    for place in 0..5_u32 {
        let at = f64::from(place) * 10.0;
        events.push((at, SENT, packet(place.into(), u64::from(place) * 1200)));
    }
    let events: Vec<(f64, &str, &str)> = events.iter().map(|it| (it.0, it.1, &*it.2)).collect();
    // A single pause is not yet a rhythm.
    assert_eq!(plain(&trace(&events)), "0-10 application, 10-40 pacing");
}

#[test]
fn lost_bytes_wait_for_the_window_too() {
    let lost = r#"{"header":{"packet_type":"1RTT","packet_number":1}}"#;
    let trace = trace(&[
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, METRICS, &metrics(2480, 0)),
        (0.0, SENT, &packet(1, 0)),
        (0.0, SENT, &packet(2, 1200)),
        (0.0, METRICS, &metrics(2480, 2480)),
        (20.0, "recovery:packet_lost", lost),
        (20.0, METRICS, &metrics(1240, 1240)),
        (30.0, METRICS, &metrics(1240, 0)),
        (30.0, SENT, &packet(3, 0)),
        (50.0, METRICS, &metrics(1240, 0)),
    ]);
    assert_eq!(plain(&trace), "0-20 application, 20-30 congestion_window, 30-50 application");
}

/// A way that lets nothing through from 20 ms on, for 800 ms: then all is sent, or more waits.
#[test]
fn a_sender_in_a_blackhole_waits_for_acknowledgements() {
    let more = packet(5, 2400);
    let whole = [
        (0.0, CAME, came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST.to_owned()),
        (0.0, METRICS, metrics(2480, 0)),
        (0.0, SENT, packet(1, 0)),
        (0.0, SENT, packet(2, 1200)),
        (0.0, METRICS, metrics(2480, 2480)),
        (20.0, CAME, came(r#"{"frame_type":"ping"}"#)),
        (200.0, SENT, packet(3, 0)),
        (500.0, SENT, packet(4, 0)),
        (820.0, CAME, came(r#"{"frame_type":"ack","acked_ranges":[[4,4]]}"#)),
        (820.0, METRICS, metrics(2480, 0)),
    ];
    let whole: Vec<(f64, &str, &str)> = whole.iter().map(|it| (it.0, it.1, &*it.2)).collect();
    let with_more = [&whole[..], &[(820.0, SENT, &*more)]].concat();
    assert_eq!(plain(&trace(&whole)), "0-40 application, 40-820 acknowledgements");
    assert_eq!(plain(&trace(&with_more)), "0-40 congestion_window, 40-820 acknowledgements");
}

/// A packet of this type and size with a frame.
fn sized(kind: &str, number: u64, bytes: u64, frame: &str) -> String {
    format!(
        r#"{{"header":{{"packet_type":"{kind}","packet_number":{number}}},"raw":{{"length":{bytes}}},"frames":[{frame}]}}"#
    )
}

const CRYPTO: &str = r#"{"frame_type":"crypto"}"#;

#[test]
fn until_the_address_is_validated_three_times_the_bytes_may_go() {
    let initial = sized("initial", 0, 1200, CRYPTO);
    let hello = sized("initial", 0, 1120, CRYPTO);
    let finished = sized("handshake", 0, 100, CRYPTO);
    let early = |sent: u64| {
        let mut events = vec![
            (0.0, METRICS, metrics(99_000, 0)),
            (0.0, CAME, initial.clone()),
            (0.0, HEADERS, REQUEST.to_owned()),
            (0.0, SENT, hello.clone()),
        ];
        events.extend((0..sent).map(|it| (0.0, SENT, packet(it, it * 1200))));
        events.push((60.0, CAME, finished.clone()));
        events.push((60.0, CAME, came(r#"{"frame_type":"ping"}"#)));
        events.push((60.0, SENT, packet(sent, sent * 1200)));
        events.push((61.0, METRICS, metrics(99_000, 0)));
        let events: Vec<(f64, &str, &str)> = events.iter().map(|it| (it.0, it.1, &*it.2)).collect();
        plain(&trace(&events))
    };
    assert_eq!(early(2), "0-60 address_validation, 60-61 application");
    // There was room for one more packet, so something else held it back; and who sends more has validated the address otherwise.
    assert_eq!(early(1), "0-61 application");
    assert_eq!(early(3), "0-61 application");
}

#[test]
fn a_large_certificate_waits_for_the_validation_and_a_small_one_does_not() {
    let told = |first: u64, answer: &str, more: &str| {
        let initial = sized("initial", 0, 1200, CRYPTO);
        let mut events = vec![(0.0, CAME, initial)];
        events.extend((0..first).map(|it| (0.0, SENT, sized("handshake", it, 1200, CRYPTO))));
        events.push((40.0, CAME, answer.to_owned()));
        events.push((40.0, SENT, more.to_owned()));
        events.push((80.0, CAME, came(r#"{"frame_type":"ping"}"#)));
        let events: Vec<(f64, &str, &str)> = events.iter().map(|it| (it.0, it.1, &*it.2)).collect();
        plain(&trace(&events))
    };
    let ack = r#"{"frame_type":"ack","acked_ranges":[[0,0]]}"#;
    let rest = sized("handshake", 3, 1200, CRYPTO);
    let waits = told(3, &sized("initial", 1, 1200, ack), &rest);
    assert_eq!(waits, "0-40 address_validation, 40-80 handshake");
    assert_eq!(told(2, &sized("initial", 1, 1200, ack), &rest), "0-80 handshake");
    let acknowledges = sized("handshake", 3, 1200, ack);
    assert_eq!(told(3, &sized("handshake", 0, 100, CRYPTO), &acknowledges), "0-80 handshake");
}

/// The client's address changes at 100 ms: until its path is validated at 160 ms, its small packets let small ones go.
#[test]
fn after_a_change_of_the_address_the_limit_holds_again() {
    let sent = |number: u64, bytes: u64, offset: u64, length: u64| {
        let frame = format!(
            r#"{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":{length}}}"#
        );
        sized("1RTT", number, bytes, &frame)
    };
    let arrived = |number: u64, frame: &str| sized("1RTT", number, 50, frame);
    let ping = r#"{"frame_type":"ping"}"#;
    let events = [
        (0.0, CAME, arrived(0, ping)),
        (0.0, HEADERS, REQUEST.to_owned()),
        (0.0, METRICS, metrics(99_000, 0)),
        (0.0, SENT, sent(0, 1240, 0, 1200)),
        (100.0, CAME, arrived(1, ping)),
        (100.0, SENT, sized("1RTT", 1, 1200, r#"{"frame_type":"path_challenge"}"#)),
        (110.0, CAME, arrived(2, ping)),
        (110.0, SENT, sent(2, 150, 1200, 110)),
        (130.0, CAME, arrived(3, ping)),
        (130.0, SENT, sent(3, 150, 1310, 110)),
        (160.0, CAME, arrived(4, r#"{"frame_type":"path_response"}"#)),
        (160.0, SENT, sent(4, 1240, 1420, 1200)),
    ];
    let events: Vec<(f64, &str, &str)> = events.iter().map(|it| (it.0, it.1, &*it.2)).collect();
    assert_eq!(plain(&trace(&events)), "0-110 application, 110-160 address_validation");
}

#[test]
fn what_the_server_logged_is_taken_unless_it_is_asked_otherwise() {
    let trace = trace(&[
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (1.0, "utmost:restraint", r#"{"by":"application"}"#),
        (4.0, "utmost:restraint", r#"{"by":"nothing"}"#),
        (5.0, SENT, &packet(1, 0)),
    ]);
    let all = Restraints::of(&trace, Evidence::All).unwrap();
    assert_eq!(shown(&all), "0-1 handshake, 1-4 application, 4-5 nothing");
    assert_eq!((all.basis, &all.assumed[..]), (Basis::Logged, &[][..]));
    let computed = Restraints::of(&trace, Evidence::Calls).unwrap();
    assert_eq!(computed.basis, Basis::Computed);
    // The response counts as requested when its first bytes were sent.
    assert_eq!(shown(&computed), "0-5 application");
    assert_eq!(all.totals_ms()[0], (Restraint::Handshake, 1.0));
}

#[test]
fn the_schedulers_calls_say_which_responses_have_bytes() {
    let call = |op: &str| format!(r#"{{"op":"{op}","stream":0}}"#);
    let trace = trace(&[
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, METRICS, &metrics(99_000, 0)),
        (0.0, "utmost:scheduler", &call("ready")),
        (0.0, SENT, &packet(1, 0)),
        (0.0, "utmost:scheduler", &call("blocked")),
        (3.0, "utmost:scheduler", &call("ready")),
        (3.0, SENT, &packet(2, 1200)),
    ]);
    let shown = |evidence| shown(&Restraints::of(&trace, evidence).unwrap());
    assert_eq!(shown(Evidence::Calls), "0-3 application");
    assert_eq!(shown(Evidence::Plain), "0-3 application");
}

#[test]
fn a_clients_log_does_not_tell_and_the_lacks_of_a_servers_are_said() {
    let client = Trace { vantage: Vantage::Client, ..Trace::default() };
    assert_eq!(Restraints::of(&client, Evidence::All), Err(CLIENTS));
    let nothing = Trace { vantage: Vantage::Server, ..Trace::default() };
    assert_eq!(Restraints::of(&nothing, Evidence::All), Err(NO_SENT));
    let bare = trace(&[(0.0, SENT, r#"{"raw":{"length":1200}}"#)]);
    let assumed = Restraints::of(&bare, Evidence::All).unwrap().assumed;
    assert_eq!(assumed, [NO_FRAMES, NO_WINDOW, NO_HANDSHAKE, NOT_WRITTEN]);
}

#[test]
fn without_bytes_in_flight_packets_say_them() {
    let acknowledged = came(r#"{"frame_type":"ack","acked_ranges":[[1,1]]}"#);
    let window = r#"{"congestion_window":1300}"#;
    let trace = trace(&[
        (0.0, METRICS, window),
        (0.0, CAME, &came(r#"{"frame_type":"ping"}"#)),
        (0.0, HEADERS, REQUEST),
        (0.0, SENT, &packet(1, 0)),
        (20.0, CAME, &acknowledged),
        (20.0, SENT, &packet(2, 1200)),
        (21.0, METRICS, window),
    ]);
    assert_eq!(plain(&trace), "0-20 congestion_window, 20-21 application");
    assert!(Restraints::of(&trace, Evidence::Plain).unwrap().assumed.contains(&NO_FLIGHT));
}

proptest! {
    #[test]
    fn spans_follow_one_another_from_the_first_packet_to_the_last_event(
        events in prop::collection::vec((0_u32..300, 0_u8..6, 0_u64..9), 1..60),
    ) {
        let mut events = events;
        events.sort_unstable();
        let mut lines: Vec<(f64, &str, String)> = vec![(0.0, SENT, packet(0, 0))];
        for (place, &(at, kind, value)) in (1_u64..).zip(&events) {
            let (name, body) = match kind {
                0 => (METRICS, metrics(value * 1240, (9 - value) * 1000)),
                1 => (CAME, came(&format!(r#"{{"frame_type":"max_data","maximum":{}}}"#, value * 3000))),
                2 => (HEADERS, REQUEST.to_owned()),
                3 => ("recovery:packet_lost", format!(r#"{{"header":{{"packet_number":{value}}}}}"#)),
                _ => (SENT, packet(place, value * 1200)),
            };
            lines.push((f64::from(at) / 4.0, name, body));
        }
        let lines: Vec<(f64, &str, &str)> = lines.iter().map(|it| (it.0, it.1, &*it.2)).collect();
        let trace = trace(&lines);
        let restraints = Restraints::of(&trace, Evidence::All).unwrap();
        let (start_us, end_us) = bounds(&trace);
        let mut at_us = start_us;
        for span in &restraints.spans {
            prop_assert_eq!(span.from_us, at_us);
            prop_assert!(span.to_us > span.from_us);
            at_us = span.to_us;
        }
        prop_assert_eq!(at_us, end_us);
    }
}
