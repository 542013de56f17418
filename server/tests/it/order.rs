//! The wire follows the scheduler: the log's scheduler calls against its packets.

use crate::simulation::{self, Client, Link, Requests, options, read_log};
use schedulers::{CallReader, SCHEMES, Scheduler, Value as Logged, find_scheme};
use serde_json::Value;
use server::{CongestionControl, Options, Pace, SignalUse};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A page: a document, what its head needs, and images, some of which the server takes time for.
const PAGE: Requests<'static> = &[
    (0, "/60000/html#u=0, i"),
    (30, "/20000/css#u=0"),
    (30, "/45000/js#u=1"),
    (35, "/90000/png#u=5, i"),
    (35, "/30000/png#u=5, i"),
    (35, "/30000/png/40#u=4, i"),
    (80, "/7000/css/15#u=0"),
    (81, "/50000/js"),
    (82, "/25000/png/5/90#u=5"),
    (120, "/1/png"),
    (121, "/33333/png#i"),
    (150, "/12000/html#u=2"),
];

/// 8 Mbit/s: a page of 400 kB takes long enough for every later request to find others in progress.
const LINK: Link = Link { bits_per_second: 8e6, ..Link::CABLE };

/// The entries of a log that concern the order.
#[derive(Debug)]
enum Entry {
    /// A call of the scheduler.
    Call(Value),
    /// A STREAM frame of a response: stream, offset, bytes, time in ms.
    Frame(u64, u64, u64, f64),
}

fn run(options: Options, link: Link) -> Vec<Entry> {
    run_requests(options, link, PAGE)
}

fn run_requests(options: Options, link: Link, requests: Requests<'_>) -> Vec<Entry> {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { qlog_dir: Some(folder.path().to_owned()), ..options };
    let client = Client::with_id(8);
    let seen = simulation::run(options, link, client, requests, Duration::from_secs(60));
    assert_eq!(seen.peer.order().len(), requests.len(), "everything completes; {:?}", seen.peer);
    read_log(folder.path()).iter().flat_map(entries).collect()
}

fn entries(record: &Value) -> Vec<Entry> {
    match record["name"].as_str() {
        Some("utmost:scheduler") if record["data"]["op"] != "started" => {
            vec![Entry::Call(record["data"].clone())]
        }
        Some("quic:packet_sent") => {
            let frames = record["data"]["frames"].as_array().cloned().unwrap_or_default();
            let frames = frames.iter().filter(|it| it["frame_type"] == "stream");
            let frames =
                frames.filter(|it| it["stream_id"].as_u64().is_some_and(|id| id.is_multiple_of(4)));
            frames.map(|it| frame(it, record["time"].as_f64().expect("a time"))).collect()
        }
        _ => Vec::new(),
    }
}

fn frame(frame: &Value, time_ms: f64) -> Entry {
    let number =
        |it: &Value| it.as_u64().unwrap_or_else(|| panic!("a number is missing in {frame}"));
    let bytes = number(&frame["raw"]["payload_length"]);
    Entry::Frame(number(&frame["stream_id"]), number(&frame["offset"]), bytes, time_ms)
}

/// Consecutive entries of one stream, joined: the stream, and its bytes.
fn joined(runs: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (stream, bytes) in runs.filter(|(_, bytes)| *bytes > 0) {
        match joined.last_mut() {
            Some((last, sofar)) if *last == stream => *sofar += bytes,
            _ => joined.push((stream, bytes)),
        }
    }
    joined
}

fn shown(runs: &[(u64, u64)]) -> String {
    runs.iter().map(|(stream, bytes)| format!("{stream}:{bytes}")).collect::<Vec<_>>().join(",")
}

/// The scheduler's charges.
fn charged(log: &[Entry]) -> Vec<(u64, u64)> {
    joined(log.iter().filter_map(|entry| match entry {
        Entry::Call(call) if call["op"] == "sent" => {
            Some((stream_of(call), call["bytes"].as_u64().expect("bytes")))
        }
        _ => None,
    }))
}

/// The new bytes of each STREAM frame: what it carries beyond the highest offset sent so far.
fn first_transmissions(log: &[Entry]) -> Vec<(u64, u64, f64)> {
    let mut highest: BTreeMap<u64, u64> = BTreeMap::new();
    let mut sent = Vec::new();
    for entry in log {
        if let Entry::Frame(stream, offset, bytes, time_ms) = *entry {
            let highest = highest.entry(stream).or_default();
            assert!(offset <= *highest, "stream {stream} skips from {highest} to {offset}");
            let new = (offset + bytes).saturating_sub(*highest);
            *highest += new;
            if new > 0 {
                sent.push((stream, new, time_ms));
            }
        }
    }
    sent
}

fn on_the_wire(log: &[Entry]) -> Vec<(u64, u64)> {
    joined(first_transmissions(log).into_iter().map(|(stream, bytes, _)| (stream, bytes)))
}

fn stream_of(call: &Value) -> u64 {
    call["stream"].as_u64().expect("a stream")
}

/// Makes a logged call of the scheduler again.
fn replay(scheduler: &mut Scheduler, logged: &Value) {
    let mut reader = CallReader::default();
    give(&mut reader, logged);
    reader.finish().expect("a known call").expect("a whole call").make(scheduler);
}

fn give(reader: &mut CallReader, object: &Value) {
    for (name, value) in object.as_object().expect("an object") {
        match value {
            Value::Bool(flag) => reader.field(name, Logged::Flag(*flag)),
            Value::Number(number) => {
                reader.field(name, Logged::Number(number.as_u64().expect("not negative")));
            }
            Value::String(text) => reader.field(name, Logged::Text(text.into())),
            Value::Object(_) => give(reader, value),
            Value::Null | Value::Array(_) => {}
        }
    }
}

fn assert_picks_replay(name: &str, log: &[Entry]) {
    let mut scheduler = Scheduler::new(&find_scheme(name).expect("a scheme"));
    let mut logged = Vec::new();
    let mut replayed = Vec::new();
    for entry in log {
        let Entry::Call(call) = entry else { continue };
        if call["op"] == "picked" {
            logged.push((stream_of(call), 1));
            replayed.push((scheduler.pick().map_or(u64::MAX, |it| it.0), 1));
        }
        replay(&mut scheduler, call);
    }
    assert!(logged.len() > 250, "{name}: {} picks", logged.len());
    assert_eq!(shown(&joined(logged.into_iter())), shown(&joined(replayed.into_iter())), "{name}");
    assert_eq!(scheduler.pick(), None, "{name}: nothing is left");
}

fn assert_wire_is_charged(name: &str, log: &[Entry]) {
    let charged = charged(log);
    let body_bytes: u64 = PAGE
        .iter()
        .map(|(_, path)| {
            path[1..].split('/').next().expect("a size").parse::<u64>().expect("a size")
        })
        .sum();
    assert!(charged.iter().map(|(_, bytes)| bytes).sum::<u64>() > body_bytes, "{name}");
    assert_eq!(shown(&on_the_wire(log)), shown(&charged), "{name}");
}

/// Bytes of streams in a full packet, at most.
const PACKET_BYTES: u64 = 1350;

/// The same where datagrams fit the path.
const FITTED_PACKET_BYTES: u64 = 1452;

/// After a stream became ready and is the pick: bytes of others before its first. A staged packet is one packet's
/// bytes, although an ACK that arrives in between may push its last few into the next, beside the late stream's.
fn assert_late_binding(name: &str, log: &[Entry], packet_bytes: u64) {
    let mut scheduler = Scheduler::new(&find_scheme(name).expect("a scheme"));
    let mut waiting: BTreeMap<u64, u64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut highest: BTreeMap<u64, u64> = BTreeMap::new();
    let mut overtakers = 0;
    for entry in log {
        match entry {
            Entry::Call(call) => {
                let stream = stream_of(call);
                replay(&mut scheduler, call);
                let pick = scheduler.pick().map(|it| it.0);
                if call["op"] == "ready" && seen.insert(stream) && pick == Some(stream) {
                    waiting.insert(stream, 0);
                    overtakers += 1;
                }
                // Another arrival, or a new step of a placement, may take the pick from it.
                waiting.retain(|it, _| call["op"] == "sent" || pick == Some(*it));
            }
            Entry::Frame(stream, offset, bytes, _) => {
                let highest = highest.entry(*stream).or_default();
                let new_bytes = (offset + bytes).saturating_sub(*highest);
                *highest = (*highest).max(offset + bytes);
                waiting.remove(stream);
                for (late, before) in &mut waiting {
                    *before += new_bytes;
                    assert!(
                        *before <= packet_bytes,
                        "{name}: {before} bytes of others before stream {late}"
                    );
                }
            }
        }
    }
    assert!(overtakers > 0, "{name}: no stream came first when it came");
}

#[test]
fn every_pick_of_every_scheme_is_what_a_fresh_scheduler_says() {
    for scheme in SCHEMES.iter() {
        for signals in [SignalUse::Ignore, SignalUse::Obey, SignalUse::Override] {
            let log = run(Options { signals, ..options(&scheme.name) }, LINK);
            assert_picks_replay(&scheme.name, &log);
        }
    }
}

#[test]
fn the_bytes_on_the_wire_are_those_charged_in_their_order() {
    for scheme in SCHEMES.iter() {
        let log = run(options(&scheme.name), LINK);
        assert_wire_is_charged(&scheme.name, &log);
        assert_late_binding(&scheme.name, &log, PACKET_BYTES);
    }
}

#[test]
fn a_send_buffer_keeps_the_order_in_which_bytes_were_charged() {
    for scheme in SCHEMES.iter() {
        let log = run(Options { send_buffer_bytes: 14_000, ..options(&scheme.name) }, LINK);
        assert_picks_replay(&scheme.name, &log);
        assert_wire_is_charged(&scheme.name, &log);
    }
}

#[test]
fn loss_adds_retransmissions_and_changes_no_order() {
    for scheme in SCHEMES.iter() {
        let log = run(options(&scheme.name), Link { lose_each: 23, ..LINK });
        assert_picks_replay(&scheme.name, &log);
        assert_wire_is_charged(&scheme.name, &log);
        assert_late_binding(&scheme.name, &log, PACKET_BYTES);
        let frames: u64 =
            log.iter().map(|it| if let Entry::Frame(.., bytes, _) = it { *bytes } else { 0 }).sum();
        let new: u64 = on_the_wire(&log).iter().map(|(_, bytes)| bytes).sum();
        assert!(frames > new, "{}: something was sent again", scheme.name);
    }
}

/// Bytes of the response on stream 0 that are sent after the one on stream 4 is first ready, and before its first
/// byte.
fn bytes_before_the_late_stream(log: &[Entry]) -> u64 {
    let is_ready = |entry: &&Entry| matches!(entry, Entry::Call(call) if call["op"] == "ready" && stream_of(call) == 4);
    let ready = log.iter().position(|it| is_ready(&it)).expect("the late response is ready");
    let frames = log[ready..].iter().filter_map(|entry| match entry {
        Entry::Frame(stream, _, bytes, _) => Some((*stream, *bytes)),
        Entry::Call(_) => None,
    });
    frames.take_while(|(stream, _)| *stream != 4).map(|(_, bytes)| bytes).sum()
}

/// A style sheet is requested while an image fills a link of 5 Mbit/s.
#[test]
fn at_most_the_send_buffer_and_two_packets_leave_before_a_late_urgent_response() {
    let requests = [(0, "/4000000/png#u=5"), (1500, "/10000/css#u=0")];
    let link = Link { bits_per_second: 5e6, queue_bytes: 1_000_000, ..Link::CABLE };
    for congestion_control in
        [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno]
    {
        for send_buffer_bytes in [0, 16_384, 1_000_000] {
            let options = Options { congestion_control, send_buffer_bytes, ..options("dfifo") };
            let before_bytes =
                bytes_before_the_late_stream(&run_requests(options, link, &requests));
            let limits = send_buffer_bytes.saturating_sub(2 * PACKET_BYTES)
                ..=send_buffer_bytes + 2 * PACKET_BYTES;
            let name = congestion_control.name();
            assert!(
                limits.contains(&before_bytes),
                "{name}, {send_buffer_bytes}: {before_bytes} bytes of the image go first"
            );
        }
    }
}

/// The most packets' worth that the scheme picks before one of them is sent.
fn longest_run(log: &[Entry]) -> usize {
    let is_pick = |entry: &Entry| matches!(entry, Entry::Call(call) if call["op"] == "picked");
    let between_frames = log.split(|entry| matches!(entry, Entry::Frame(..)));
    between_frames.map(|calls| calls.iter().filter(|it| is_pick(it)).count()).max().unwrap_or(0)
}

/// A style sheet and a script are requested while images fill a link, and images while the window is open.
const OVERTAKEN: Requests<'static> = &[
    (0, "/2000000/png#u=5"),
    (1, "/500000/png#u=5, i"),
    (1, "/500000/png#u=5, i"),
    (3, "/100000/css#u=0"),
    (4, "/20000/js#u=1"),
    (50, "/200000/png#u=5"),
    (50, "/200000/png#u=5"),
];

#[test]
fn what_goes_at_once_on_a_fast_path_is_offered_at_once_and_in_the_same_order() {
    let fast = Link { bits_per_second: 1e10, one_way_ms: 0.1, queue_bytes: 5_000_000, ..LINK };
    let (turns, one_by_one) = (["rr", "p+", "rfc9218"], ["fifo", "dfifo", "spdy"]);
    let schemes = turns.map(|it| (it, true)).into_iter().chain(one_by_one.map(|it| (it, false)));
    for (name, takes_turns) in schemes {
        let options = options(name).over_networks();
        let log = run_requests(options, fast, OVERTAKEN);
        assert_picks_replay(name, &log);
        assert_wire_is_charged(name, &log);
        assert_late_binding(name, &log, FITTED_PACKET_BYTES);
        let run = longest_run(&log);
        assert_eq!(run > 20, !takes_turns, "{name}: {run} packets");
    }
}

#[test]
fn on_a_path_that_is_paced_each_packet_is_picked_right_before_it_goes() {
    let link = Link { bits_per_second: 1e8, ..LINK };
    let log = run_requests(options("rfc9218").over_networks(), link, OVERTAKEN);
    assert_late_binding("rfc9218", &log, FITTED_PACKET_BYTES);
    assert_eq!(longest_run(&log), 1);
}

/// The paper's pace: ticks of 10 ms, one packet of at most 1400 stream bytes at each; where responses are
/// under way and ready, no tick is left out.
#[test]
fn a_paced_server_sends_one_packet_of_1400_bytes_at_each_tick() {
    for scheme in SCHEMES.iter() {
        let log = run(options(&scheme.name).paced(Pace::PAPER), Link::CABLE);
        assert_picks_replay(&scheme.name, &log);
        assert_wire_is_charged(&scheme.name, &log);
        let packets = first_transmissions(&log);
        let start_ms = packets[0].2;
        let mut last_slot = None;
        for (place, (stream, bytes, time_ms)) in packets.iter().enumerate() {
            let slot = (time_ms - start_ms) / 10.0;
            assert!(
                (slot - slot.round()).abs() < 0.01,
                "{}: packet {place} at slot {slot}",
                scheme.name
            );
            assert!(*bytes <= 1400, "{}: {bytes} bytes of stream {stream}", scheme.name);
            assert!(
                last_slot.is_none_or(|it| slot.round() > it),
                "{}: two packets at slot {slot}",
                scheme.name
            );
            // From the 20th packet on nothing but the pace holds the server back.
            let gap = last_slot.map_or(1.0, |it: f64| slot.round() - it);
            assert!(place < 20 || gap < 1.5, "{}: {gap} slots before packet {place}", scheme.name);
            last_slot = Some(slot.round());
        }
        assert!(packets.len() < 400_000 / 1400 + 40, "{}: {} packets", scheme.name, packets.len());
    }
}
