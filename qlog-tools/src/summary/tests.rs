mod endings;
mod losses;
mod parts;
mod queues;
mod senders;
mod unknown;

use std::fmt::Write as _;

use super::*;
use crate::pairing::pairs;
use crate::reader::{ReadOptions, read_file_traces, read_traces};
use crate::trace::{Detail, Trace};

/// A request for `/a`, on stream 0.
const REQUEST: &str = r#"{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"}]}}"#;

/// The log of one side, written line by line.
struct Log {
    text: String,
    next: u64,
}

impl Log {
    fn of(side: &str) -> Self {
        let text = format!(
            r#"{{"qlog_version":"0.3","trace":{{"vantage_point":{{"type":"{side}"}},"common_fields":{{"ODCID":"aa"}}}}}}"#
        );
        Self { text, next: 0 }
    }

    fn event(&mut self, time_ms: f64, name: &str, data: &str) {
        write!(self.text, "\n{{\"time\":{time_ms},\"name\":\"{name}\",\"data\":{data}}}").unwrap();
    }

    /// A packet of 1200 bytes of stream 0.
    fn packet(&mut self, time_ms: f64, offset: u64) {
        self.data(time_ms, "packet_sent", self.next, offset);
        self.next += 1;
    }

    fn data(&mut self, time_ms: f64, event: &str, number: u64, offset: u64) {
        let frame =
            format!(r#"{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1200}}"#);
        self.carries(time_ms, event, number, &frame);
    }

    fn carries(&mut self, time_ms: f64, event: &str, number: u64, frame: &str) {
        let data = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1240}},"frames":[{frame}]}}"#
        );
        self.event(time_ms, &format!("transport:{event}"), &data);
    }

    fn came(&mut self, time_ms: f64, frame: &str) {
        self.carries(time_ms, "packet_received", 900 + self.next, frame);
    }

    /// An ACK frame, delayed by a millisecond.
    fn ack(&mut self, time_ms: f64, first: u64, last: u64) {
        let ranges = format!(r#""acked_ranges":[[{first},{last}]]"#);
        self.came(time_ms, &format!(r#"{{"frame_type":"ack","ack_delay":1.0,{ranges}}}"#));
    }

    fn lost(&mut self, time_ms: f64, number: u64) {
        let data = format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}"#);
        self.event(time_ms, "recovery:packet_lost", &data);
    }

    fn metrics(&mut self, time_ms: f64, window: u64, in_flight: u64, rtt_ms: f64) {
        let data = format!(
            r#"{{"congestion_window":{window},"bytes_in_flight":{in_flight},"smoothed_rtt":{rtt_ms},"latest_rtt":{rtt_ms}}}"#
        );
        self.event(time_ms, "recovery:metrics_updated", &data);
    }

    /// The client's windows for the connection and for streams, and its request.
    fn begin(&mut self, connection: u64, stream: u64) {
        let limits = format!(
            r#"{{"owner":"remote","max_ack_delay":25,"initial_max_data":{connection},"initial_max_stream_data_bidi_local":{stream}}}"#
        );
        self.event(0.0, "transport:parameters_set", &limits);
        self.came(0.0, r#"{"frame_type":"ping"}"#);
        self.event(0.0, "http:frame_parsed", REQUEST);
    }

    /// A server's log with a request at 0 and wide windows.
    fn server() -> Self {
        let mut log = Self::of("server");
        log.begin(1 << 30, 1 << 30);
        log
    }

    fn trace(&self) -> Trace {
        let options = ReadOptions { detail: Detail::Full, vantage: None };
        read_traces("log", self.text.as_bytes(), options).unwrap().remove(0)
    }

    fn told(&self) -> Summary {
        let trace = self.trace();
        Summary::of(&Ends { log: &trace, server: None }, None)
    }
}

/// Rounds of two packets each, in which a window of two is full from one acknowledgement to the next.
fn rounds(
    log: &mut Log,
    count: u32,
    rtt_ms: impl Fn(u32) -> f64,
    before_ack: impl Fn(&mut Log, u32, f64),
) {
    let mut at_ms = 0.0;
    for round in 0..count {
        let first = log.next;
        let rtt_ms = rtt_ms(round);
        log.packet(at_ms, first * 1200);
        log.packet(at_ms, first * 1200 + 1200);
        log.metrics(at_ms, 2480, 2480, rtt_ms);
        at_ms += rtt_ms;
        before_ack(log, round, at_ms);
        log.ack(at_ms, first, first + 1);
        log.metrics(at_ms, 2480, 0, rtt_ms + f64::from(round) / 1000.0);
    }
}

#[track_caller]
fn assert_cause(log: &Log, cause: Cause, words: &str) {
    let summary = log.told();
    let told = summary.held.as_ref().map(|it| it.cause);
    let first = &summary.sentences[0].text;
    assert!(told == Some(cause) && first.contains(words), "{told:?}: {first}");
}

#[test]
fn a_server_took_its_time() {
    let mut log = Log::server();
    log.metrics(0.0, 99_000, 0, 20.0);
    log.packet(400.0, 0);
    log.metrics(410.0, 99_000, 0, 20.0);
    assert_cause(
        &log,
        Cause::ThinkTime,
        "held the sender back for 100.0 % of the 400.0 ms in which it had work; longest 400.0 ms at a time, from 0.0 ms on, stream 0 (/a)",
    );
}

#[test]
fn the_application_wrote_bit_by_bit() {
    let mut log = Log::server();
    log.metrics(0.0, 99_000, 0, 20.0);
    for (place, at_ms) in (0..).zip([0.0, 50.0, 450.0, 550.0]) {
        log.packet(at_ms, place * 1200);
    }
    log.metrics(551.0, 99_000, 0, 20.0);
    assert_cause(
        &log,
        Cause::Application,
        "longest 450.0 ms at a time, from 0.0 ms on, stream 0 (/a)",
    );
}

#[test]
fn the_client_gave_little_credit_for_the_connection() {
    let mut log = Log::of("server");
    log.begin(2400, 1 << 30);
    log.metrics(0.0, 99_000, 0, 20.0);
    for round in 0..3_u64 {
        let at_ms = round as f64 * 40.0;
        log.packet(at_ms, round * 2400);
        log.packet(at_ms, round * 2400 + 1200);
        let limit = 4800 + round * 2400;
        log.came(at_ms + 40.0, &format!(r#"{{"frame_type":"max_data","maximum":{limit}}}"#));
    }
    log.packet(120.0, 7200);
    log.metrics(121.0, 99_000, 0, 20.0);
    assert_cause(&log, Cause::ConnectionFlowControl, "it let at most 2400 bytes be in flight");
}

#[test]
fn the_client_gave_little_credit_for_its_streams() {
    let mut log = Log::of("server");
    log.begin(1 << 30, 2000);
    log.metrics(0.0, 99_000, 0, 20.0);
    log.packet(0.0, 0);
    log.came(60.0, r#"{"frame_type":"max_stream_data","stream_id":0,"maximum":3200}"#);
    log.packet(60.0, 1200);
    log.metrics(61.0, 99_000, 0, 20.0);
    assert_cause(&log, Cause::StreamFlowControl, "each began with 2000 bytes");
}

#[test]
fn the_window_was_full() {
    let mut log = Log::server();
    rounds(&mut log, 8, |_| 50.0, |_, _, _| {});
    assert_cause(&log, Cause::CongestionWindow, "it had 2480 bytes all the time");
}

#[test]
fn packets_went_at_a_pace() {
    let mut log = Log::server();
    log.metrics(0.0, 999_000, 0, 20.0);
    (0..9_u32).for_each(|it| log.packet(f64::from(it) * 10.0, u64::from(it) * 1200));
    log.metrics(81.0, 999_000, 0, 20.0);
    assert_cause(&log, Cause::Pacing, "Pacing, while windows were open, held the sender back");
}

/// As quiche logs it: its metrics count what was lost, and say of no packet that it was.
#[test]
fn losses_that_cut_nothing_are_not_why_the_window_was_full() {
    let mut log = Log::server();
    rounds(&mut log, 8, |_| 50.0, |_, _, _| {});
    let counted = r#"{"congestion_window":2480,"cf_lost_packets":{"total":2,"delta":2},"cf_lost_bytes":{"total":2400,"delta":2400}}"#;
    log.event(400.0, "recovery:metrics_updated", counted);
    assert_cause(&log, Cause::CongestionWindow, "it had 2480 bytes all the time");
    assert_eq!(log.told().recovery.lost, Some(2));
}

#[test]
fn losses_among_packets_that_are_not_logged_have_no_share() {
    let mut log = Log::server();
    log.lost(10.0, 3);
    log.lost(20.0, 4);
    let summary = log.told();
    assert_eq!((summary.recovery.lost, summary.recovery.lost_share), (Some(2), None));
    let losses = summary.sentences.iter().find(|it| it.about == "losses").unwrap();
    let expected = "2 packets were declared lost, and those that were sent are not logged, first at 10.0 ms (packet 3)";
    assert!(losses.text.starts_with(expected), "{}", losses.text);
}

/// A run in which the style sheet is complete at this time, and the picture after it.
fn run(name: &str, sheet_ms: f64) -> Trace {
    let mut log = Log::of("client");
    for (stream, path) in [(0, "/style.css"), (4, "/hero.jpg")] {
        let request = format!(
            r#"{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"{path}"}}]}}}}"#
        );
        log.event(0.0, "http:frame_created", &request);
    }
    for (number, stream, at_ms) in [(1, 0, sheet_ms), (2, 4, 100.0)] {
        let frame = format!(
            r#"{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":1200,"fin":true}}"#
        );
        log.carries(at_ms, "packet_received", number, &frame);
    }
    let mut trace = log.trace();
    trace.timeline.name = name.to_owned();
    trace
}

#[test]
fn what_moved_is_said_with_its_direction() {
    let runs = [run("before", 60.0), run("after", 20.0)];
    let told = |order: [usize; 2]| {
        let traces = order.map(|it| &runs[it]);
        let summaries = traces.map(|it| Summary::of(&Ends { log: it, server: None }, None));
        moved(traces, [&summaries[0], &summaries[1]]).remove(0)
    };
    let [forth, back] = [[0, 1], [1, 0]].map(told);
    assert!(
        forth.contains("/style.css, which is complete 40.0 ms earlier and adds -20.0 ms"),
        "{forth}"
    );
    assert!(
        back.contains("/style.css, which is complete 40.0 ms later and adds +20.0 ms"),
        "{back}"
    );
}

#[test]
fn packets_that_were_overtaken_counted_as_lost() {
    let mut log = Log::server();
    rounds(
        &mut log,
        8,
        |_| 50.0,
        |log, round, at_ms| {
            if round > 3 {
                log.lost(at_ms, log.next - 2);
            }
        },
    );
    assert_cause(&log, Cause::Reordering, "4 of 4 packets declared lost had arrived");
}

#[test]
fn a_queue_without_end_grew() {
    let mut log = Log::server();
    rounds(&mut log, 10, |round| 20.0 + 20.0 * f64::from(round), |_, _, _| {});
    assert_cause(&log, Cause::Queue, "instead of 20.0 ms");
}

/// A path that lets nothing through for a second; the stack does not log that its probe timer expired.
#[test]
fn nothing_came_back_for_a_while() {
    let mut log = Log::server();
    rounds(&mut log, 3, |_| 20.0, |_, _, _| {});
    log.packet(60.0, 7200);
    log.packet(60.0, 8400);
    log.metrics(60.0, 2480, 2480, 20.0);
    log.packet(150.0, 7200);
    log.packet(330.0, 7200);
    log.ack(1060.0, 6, 9);
    log.metrics(1060.0, 2480, 0, 20.0);
    log.packet(1060.0, 9600);
    assert_cause(&log, Cause::ProbeTimeout, "until the probe timer expired");
    let sentence = &log.told().sentences;
    let timeouts = sentence.iter().find(|it| it.about == "probe_timeouts").unwrap();
    let expected = "The server's probe timer expired twice (inferred from packets: not logged), first at 150.0 ms.";
    assert_eq!((&*timeouts.text, timeouts.moment.unwrap().packet), (expected, Some(8)));
}

#[test]
fn what_the_stack_logs_of_its_timers_is_taken() {
    use crate::loss_recovery::Basis::Logged;
    let mut log = Log::server();
    log.metrics(0.0, 99_000, 0, 20.0);
    log.packet(0.0, 0);
    let timer = r#"{"event_type":"expired","timer_type":"pto","packet_number_space":"initial"}"#;
    log.event(90.0, "recovery:loss_timer_updated", timer);
    log.event(90.0, "recovery:metrics_updated", r#"{"pto_count":1}"#);
    log.event(200.0, "recovery:metrics_updated", r#"{"pto_count":0}"#);
    log.event(200.0, "recovery:congestion_state_updated", r#"{"new":"recovery"}"#);
    let recovery = log.told().recovery;
    assert_eq!((recovery.probe_timeouts, recovery.timeouts_basis), (1, Some(Logged)));
    assert_eq!((recovery.recovery_periods, recovery.periods_basis), (1, Some(Logged)));
}

#[test]
fn a_cut_that_is_taken_back_is_undone_and_a_long_loss_of_all_is_persistent_congestion() {
    let mut log = Log::server();
    log.metrics(0.0, 20_000, 0, 20.0);
    (0..4_u64).for_each(|it| log.packet(it as f64 * 150.0, it * 1200));
    log.ack(500.0, 3, 3);
    (0..3).for_each(|it| log.lost(500.0, it));
    log.metrics(500.0, 2_480, 0, 20.0);
    log.metrics(520.0, 20_000, 0, 20.0);
    let recovery = log.told().recovery;
    assert_eq!((recovery.window_cuts, recovery.cuts_undone), (1, 1));
    // Three timeouts are 3 * (20 + 4 * 10 + 25) ms, and the lost packets were sent over 300 ms.
    assert_eq!(recovery.persistent_congestion, 1);
}

#[test]
fn the_client_says_how_long_it_held_acknowledgements_back_and_how_long_bytes_waited() {
    let mut client = Log::of("client");
    client.event(0.0, "http:frame_created", REQUEST);
    for (number, at_ms, offset) in [(0, 20.0, 0), (2, 30.0, 2400), (3, 40.0, 3600), (1, 70.0, 1200)]
    {
        client.data(at_ms, "packet_received", number, offset);
    }
    let mut server = Log::server();
    rounds(&mut server, 3, |_| 20.0, |_, _, _| {});
    let logs = [client.trace(), server.trace()];
    let pairs = pairs(&logs);
    let summary = Summary::of(&pairs[0], None);
    let longest = LongestWait { stream: 0, offset: 2400, arrived_ms: 30.0, wait_ms: 40.0 };
    assert_eq!(summary.longest_wait, Some(longest));
    let delay = summary.ack_delay.unwrap();
    assert_eq!(
        (delay.median_ms, delay.longest_ms, summary.announced_ack_delay_ms),
        (1.0, 1.0, Some(25.0))
    );
    let alone = Summary::of(&Ends { log: &logs[0], server: None }, None);
    assert!(
        alone.sentences[0]
            .text
            .starts_with("What held the sender back is not known: a client's log")
    );
    assert_eq!(alone.longest_wait, Some(longest));
}

#[test]
fn frames_too_long_for_any_path_give_no_goodput() {
    let told = |length: u64| {
        let mut log = Log::of("client");
        log.event(0.0, "http:frame_created", REQUEST);
        let frame =
            format!(r#"{{"frame_type":"stream","stream_id":0,"offset":0,"length":{length}}}"#);
        log.carries(20.0, "packet_received", 1, &frame);
        let summary = log.told();
        let goodput = summary.sentences.into_iter().find(|it| it.about == "goodput").unwrap();
        (summary.flow.map(|it| it.goodput_bits_per_s), goodput.text)
    };
    let possible = "Responses arrived at 1.00 Mbit/s while some were open, what the path allowed is not known.";
    assert_eq!(told(2500), (Some(1_000_000.0), possible.to_owned()));
    let impossible = "The rate of responses is not known: the lengths of their frames would make it more than 10 Tbit/s, which no path carries.";
    assert_eq!(told(1 << 50), (None, impossible.to_owned()));
}

#[test]
fn an_acknowledgement_that_is_sent_again_was_not_held_back_for_so_long() {
    let mut log = Log::server();
    log.packet(0.0, 0);
    log.packet(0.0, 1200);
    log.ack(20.0, 0, 1);
    log.came(900.0, r#"{"frame_type":"ack","ack_delay":880.0,"acked_ranges":[[0,1]]}"#);
    let delay = log.told().ack_delay.expect("one");
    assert_eq!((delay.p95_ms, delay.longest_ms), (1.0, 1.0));
}

/// A sample's server log as read by an independent script: packets sent, declared lost, wrongly declared lost if known,
/// milliseconds of round trips and of delays of ACK frames that acknowledge the highest packet so far (minimum, 95th percentile,
/// longest; 95th percentile, longest).
struct Sample {
    name: &'static str,
    packets: (u64, u64, Option<u64>),
    round_trips_ms: [f64; 3],
    ack_delays_ms: [f64; 2],
}

#[test]
fn the_numbers_of_other_stacks_are_those_of_another_reader() {
    let samples = [
        ("aio_noloss_server.qlog", (420, 25, Some(21)), [32.057, 46.087, 53.243], [1.576, 3.768]),
        (
            "aio_reorder_prio_server.qlog",
            (877, 38, Some(38)),
            [51.791, 63.010, 89.665],
            [3.464, 15.28],
        ),
        ("ngtcp2_loss_server.sqlog", (793, 37, Some(17)), [52.0, 92.0, 126.0], [8.0, 11.0]),
        ("qg_loss_server.sqlog", (803, 27, Some(0)), [51.240, 153.524, 155.804], [0.08, 25.352]),
        ("qg_noloss_server.sqlog", (438, 20, Some(3)), [31.044, 81.968, 84.578], [0.168, 19.424]),
        (
            "qg_reorder_prio_server.sqlog",
            (779, 5, Some(2)),
            [51.535, 61.589, 73.549],
            [1.344, 5.936],
        ),
        ("quiche_loss_server.sqlog", (982, 22, None), [50.790, 57.273, 65.160], [0.152, 0.664]),
        ("quiche_noloss_server.sqlog", (1021, 123, None), [30.911, 78.906, 85.149], [0.128, 0.432]),
    ]
    .map(|(name, packets, round_trips_ms, ack_delays_ms)| Sample {
        name,
        packets,
        round_trips_ms,
        ack_delays_ms,
    });
    for Sample { name, packets, round_trips_ms, ack_delays_ms } in samples {
        let Some(folder) = fixtures::path("qlog-samples/generated") else { return };
        let options = ReadOptions { detail: Detail::Full, vantage: None };
        let trace =
            read_file_traces(&folder.join(format!("{name}.gz")), options).unwrap().remove(0);
        let summary = Summary::of(&Ends { log: &trace, server: None }, None);
        let (round_trips, delays) = (summary.round_trips.unwrap(), summary.ack_delay.unwrap());
        let told_packets =
            (summary.packets_sent, summary.recovery.lost.unwrap(), summary.recovery.spurious);
        assert_eq!(told_packets, packets, "{name}");
        let told = [
            round_trips.least_ms,
            round_trips.p95_ms,
            round_trips.longest_ms,
            delays.p95_ms,
            delays.longest_ms,
        ];
        let expected = [&round_trips_ms[..], &ack_delays_ms[..]].concat();
        let is_near = told.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 0.001);
        assert!(is_near, "{name}: {told:?}");
        // None of them had to wait for its probe timer.
        assert_eq!(summary.probe_timeouts(), Some(0), "{name}");
    }
}
