//! Small cases with visible numbers, the plain rule byte by byte, and the logs of other stacks.

use super::*;
use crate::assembly::StreamFrame;
use crate::reader::{Detail, ReadOptions, Trace, read_file_traces};
use proptest::prelude::*;

/// (milliseconds, stream, offset, bytes).
fn frames(list: &[(u64, u64, u64, u64)]) -> Vec<StreamFrame> {
    let frame = |&(time_ms, stream, offset, bytes): &(u64, u64, u64, u64)| StreamFrame {
        time_us: time_ms * 1000,
        stream,
        offset,
        bytes,
    };
    list.iter().map(frame).collect()
}

fn of(arrived: &[(u64, u64, u64, u64)], sent: Option<&[(u64, u64, u64, u64)]>) -> HeadOfLine {
    let packed = |list| frames(list).iter().collect::<PackedFrames>();
    let (arrived, sent) = (packed(arrived), sent.map(packed));
    HeadOfLine::new(Arrivals { frames: &arrived, sent: sent.as_ref(), received: None })
}

/// Two streams in turn, 100 bytes per frame; the first frame of stream 4 is lost and arrives last.
const IN_TURN: [(u64, u64, u64, u64); 4] =
    [(0, 0, 0, 100), (1, 4, 0, 100), (2, 0, 100, 100), (3, 4, 100, 100)];
const IN_TURN_ARRIVED: [(u64, u64, u64, u64); 4] =
    [(10, 0, 0, 100), (12, 0, 100, 100), (13, 4, 100, 100), (30, 4, 0, 100)];

#[test]
fn streams_in_turn_wait_for_each_other_in_one_order_only() {
    let hol = of(&IN_TURN_ARRIVED, Some(&IN_TURN));
    // Stream 4's second frame waits 17 ms for its first.
    assert_eq!(hol.intra.bytes_ms, 1700.0);
    // In one order, stream 0's second frame waits 18 ms for the lost one.
    assert_eq!(hol.inter.bytes_ms, 1800.0);
    assert_eq!((hol.inter.delayed_share, hol.inter.p95_ms), (0.25, 18.0));
    assert_eq!(hol.largest_stack, Stack { frames: 2, bytes: 200 });
    assert_eq!(hol.largest_stack_in_one_order, Stack { frames: 3, bytes: 300 });
    let gains: Vec<f64> = hol.streams.iter().map(|stream| stream.completion_gain_ms).collect();
    assert_eq!(gains, [18.0, 0.0]);
}

#[test]
fn a_stream_after_the_other_waits_for_itself() {
    let sent = [(0, 0, 0, 100), (1, 0, 100, 100), (2, 0, 200, 100), (3, 4, 0, 100)];
    let arrived = [(10, 0, 0, 100), (12, 0, 200, 100), (30, 0, 100, 100), (31, 4, 0, 100)];
    let hol = of(&arrived, Some(&sent));
    assert_eq!((hol.intra.bytes_ms, hol.inter.bytes_ms), (1800.0, 0.0));
}

#[test]
fn without_the_senders_log_a_hole_filler_is_placed_after_its_predecessor() {
    let arrived =
        [(10, 4, 0, 100), (11, 0, 0, 100), (12, 0, 100, 100), (13, 4, 200, 100), (30, 4, 100, 100)];
    let hol = of(&arrived, None);
    assert!(!hol.is_exact);
    assert_eq!(hol.intra.bytes_ms, 1700.0);
    // Both frames of stream 0 are assumed to have been sent after the lost one: 19 + 18 ms.
    assert_eq!(hol.inter.bytes_ms, 3700.0);
}

#[test]
fn packet_numbers_tell_what_was_overtaken() {
    let arrived = frames(&[(10, 0, 0, 100), (11, 4, 0, 100), (12, 0, 100, 100)]);
    let arrived = arrived.into_iter().zip([Some(1), Some(3), Some(2)]).collect();
    let hol = HeadOfLine::new(Arrivals { frames: &arrived, sent: None, received: None });
    assert_eq!((hol.intra.bytes_ms, hol.inter.bytes_ms), (0.0, 100.0));
}

#[test]
fn a_packet_that_did_not_come_had_what_fills_the_hole() {
    // Packets 1 to 5 in turn; packet 4, with the second frame of stream 4, is lost, and arrives again in packet 7.
    let arrived = frames(&[
        (10, 0, 0, 100),
        (11, 4, 0, 100),
        (12, 0, 100, 100),
        (14, 0, 200, 100),
        (15, 4, 200, 100),
        (30, 4, 100, 100),
    ]);
    let numbers = [1, 2, 3, 5, 6, 7];
    let packed: PackedFrames = arrived.into_iter().zip(numbers.map(Some)).collect();
    let mut received = NumberRanges::default();
    for number in numbers {
        received.add(number, number);
    }
    let inter = |received| {
        let hol = HeadOfLine::new(Arrivals { frames: &packed, sent: None, received });
        (hol.intra.bytes_ms, hol.inter.bytes_ms)
    };
    // In one order, the frames of packets 5 and 6 wait for packet 4; the frame of packet 6 also waits in its stream.
    assert_eq!(inter(Some(&received)), (1500.0, 1600.0));
    // Right after packet 2: the frame of packet 3 is assumed to wait, too.
    assert_eq!(inter(None), (1500.0, 1600.0 + 1800.0));
}

#[test]
fn a_senders_log_that_lacks_what_arrived_is_not_believed() {
    let whole = of(&IN_TURN_ARRIVED, None);
    let cut = of(&IN_TURN_ARRIVED, Some(&IN_TURN[..3]));
    assert_eq!((cut.is_exact, cut.inter), (false, whole.inter));
}

#[test]
fn without_arrivals_nothing_is_blocked() {
    assert_eq!(of(&[], Some(&IN_TURN)).intra, Blocking::default());
}

/// For each byte of each stream the first frame that has it.
fn first_frames(frames: &[StreamFrame]) -> BTreeMap<u64, Vec<Option<usize>>> {
    let mut first: BTreeMap<u64, Vec<Option<usize>>> = BTreeMap::new();
    for (place, frame) in frames.iter().enumerate() {
        let bytes = first.entry(frame.stream).or_default();
        let (start, end) = (frame.offset as usize, (frame.offset + frame.bytes) as usize);
        bytes.resize(bytes.len().max(end), None);
        for byte in &mut bytes[start..end] {
            byte.get_or_insert(place);
        }
    }
    first
}

/// The place of a byte in the order of transmission.
type Standing = (u64, u64, u64, usize);

/// Byte by byte: (intra, inter) in byte microseconds.
fn plain_rule(arrived: &[StreamFrame], sent: &[StreamFrame]) -> (u128, u128) {
    let order = first_frames(sent);
    let time = |place: usize| arrived[place].time_us;
    // The place of a byte in the order, and the arrivals that brought and delivered it.
    let mut bytes: Vec<(Standing, usize, usize)> = Vec::new();
    for (stream, arrivals) in first_frames(arrived) {
        let order = order.get(&stream).map_or(&[][..], Vec::as_slice);
        let mut latest = 0;
        for (byte, place) in arrivals.iter().enumerate() {
            let Some(place) = *place else { continue };
            latest = latest.max(place);
            let key = match order.get(byte).copied().flatten() {
                Some(sent) => (sent as u64, 0, stream, byte),
                None => (u64::MAX, place as u64, stream, byte),
            };
            bytes.push((key, place, latest));
        }
    }
    bytes.sort_unstable();
    let (mut intra, mut inter, mut latest) = (0, 0, 0);
    for (_, place, delivered) in bytes {
        latest = latest.max(place);
        intra += u128::from(time(delivered) - time(place));
        inter += u128::from(time(latest.max(delivered)) - time(delivered));
    }
    (intra, inter)
}

fn assert_plain(name: &str, arrived: &[StreamFrame], sent: &[StreamFrame]) {
    let hol = HeadOfLine::new(Arrivals {
        frames: &arrived.iter().collect(),
        sent: Some(&sent.iter().collect()),
        received: None,
    });
    assert!(hol.is_exact, "{name}");
    let (intra, inter) = plain_rule(arrived, sent);
    assert_eq!(hol.intra.bytes_ms, intra as f64 / 1000.0, "{name}");
    assert_eq!(hol.inter.bytes_ms, inter as f64 / 1000.0, "{name}");
}

proptest! {
    #[test]
    fn the_plain_rule_agrees(sent in prop::collection::vec((0u64..3, 0u64..20, 0u64..8), 0..30), picks in prop::collection::vec((any::<prop::sample::Index>(), 0u64..5), 0..30)) {
        let sent: Vec<(u64, u64, u64, u64)> = sent.into_iter().map(|(stream, offset, bytes)| (0, stream, offset, bytes)).collect();
        let mut now = 0;
        let arrived: Vec<(u64, u64, u64, u64)> = picks
            .iter()
            .filter(|_| !sent.is_empty())
            .map(|(index, later)| {
                now += later;
                let (_, stream, offset, bytes) = sent[index.index(sent.len())];
                (now, stream, offset, bytes)
            })
            .collect();
        assert_plain("generated", &frames(&arrived), &frames(&sent));
    }
}

fn sample(name: &str) -> Option<Trace> {
    let path = fixtures::path("qlog-samples/generated")?.join(name);
    let options = ReadOptions { detail: Detail::Frames, vantage: None };
    Some(read_file_traces(&path, options).unwrap().remove(0))
}

#[test]
fn the_samples_agree_with_the_plain_rule_and_show_the_papers_contrast() {
    let pairs = [
        ("aio_noloss", "qlog"),
        ("aio_reorder_prio", "qlog"),
        ("qg_noloss", "sqlog"),
        ("qg_loss", "sqlog"),
        ("qg_reorder_prio", "sqlog"),
        ("ngtcp2_loss", "sqlog"),
        ("quiche_loss", "sqlog"),
        ("quiche_noloss", "sqlog"),
    ];
    let mut share = BTreeMap::new();
    for (pair, ending) in pairs {
        let read = |end| sample(&format!("{pair}_{end}.{ending}.gz"));
        let (Some(client), Some(server)) = (read("client"), read("server")) else { return };
        let (arrived, sent) = (&client.timeline.frames, &server.timeline.frames);
        assert_plain(pair, arrived, sent);
        let sent = Some(&server.arrivals);
        let hol = HeadOfLine::new(Arrivals::of(&client, sent));
        share.insert(pair, hol.inter.mean_ms / (hol.intra.mean_ms + hol.inter.mean_ms));
    }
    // Streams in turn profit from independent streams; sequential streams block themselves.
    assert!(share["aio_reorder_prio"] > 0.9 && share["aio_noloss"] > 0.9, "{share:?}");
    assert!(share["quiche_loss"] < 0.1 && share["ngtcp2_loss"] < 0.1, "{share:?}");
}

/// The error of the estimated effect of one order, in percent of the exact value: without and with the numbers of lost
/// packets.
fn errors(pair: &str, ending: &str) -> Option<[f64; 2]> {
    let [client, server] =
        ["client", "server"].map(|end| sample(&format!("{pair}_{end}.{ending}.gz")));
    let (client, server) = (client?, server?);
    let exact = HeadOfLine::new(Arrivals::of(&client, Some(&server.arrivals))).inter.bytes_ms;
    let with = Arrivals::of(&client, None);
    let without = Arrivals { received: None, ..with };
    Some([without, with].map(|it| 100.0 * (HeadOfLine::new(it).inter.bytes_ms / exact - 1.0)))
}

#[test]
fn the_numbers_of_lost_packets_narrow_the_estimate() {
    for (pair, ending) in [
        ("aio_noloss", "qlog"),
        ("aio_reorder_prio", "qlog"),
        ("qg_noloss", "sqlog"),
        ("qg_loss", "sqlog"),
        ("qg_reorder_prio", "sqlog"),
        ("ngtcp2_loss", "sqlog"),
        ("quiche_loss", "sqlog"),
    ] {
        let Some([without, with]) = errors(pair, ending) else { return };
        println!("{pair}: {without:+.1} % without, {with:+.1} % with");
        assert!(
            with.abs() <= without.abs() + 0.1,
            "{pair}: {without:+.1} % without, {with:+.1} % with"
        );
    }
}
