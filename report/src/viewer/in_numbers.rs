//! A connection's packets and acknowledgements in numbers: two tables and some facts, without a script.

use minijinja::{Value, context};

use figures::number_texts::bytes_text;
use qlog_tools::distribution::Distribution;
use qlog_tools::packetization::{Packetization, PacketsFilled};
use qlog_tools::summary::Traffic;

/// Kinds of frames in the table: the most frequent ones.
const KINDS: usize = 20;

/// Frames of one kind: the numbers sent and received, and their data.
#[derive(Default)]
struct Kind<'a> {
    name: &'a str,
    counts: [u64; 2],
    data_bytes: [u64; 2],
}

/// For the template; `None` if there is nothing to show. `whose` is the side that they belong to: `the server`.
pub(super) fn in_numbers(traffic: &Traffic, whose: &str) -> Option<Value> {
    let (acks, pacing) = (traffic.acknowledgements.as_ref(), traffic.pacing.as_ref());
    let packets = &traffic.packetization;
    let [sent, received] = [&packets.sent, &packets.received].map(|it| it.as_ref());
    let spreads = [
        ("from one ACK frame to the next, ms", acks.and_then(|it| it.intervals_ms.as_ref())),
        ("an ACK frame was held back, ms", acks.and_then(|it| it.delays_ms.as_ref())),
        ("packets that an ACK frame acknowledges first", acks.and_then(|it| it.packets.as_ref())),
        ("ranges of an ACK frame", acks.and_then(|it| it.ranges.as_ref())),
        ("from one packet sent to the next, ms", pacing.and_then(|it| it.gaps_ms.as_ref())),
        ("packets of a burst", pacing.and_then(|it| it.burst_packets.as_ref())),
        ("bytes of a burst", pacing.and_then(|it| it.burst_bytes.as_ref())),
        ("bytes of a packet sent", sent.and_then(|it| it.lengths.as_ref())),
        ("bytes of a packet received", received.and_then(|it| it.lengths.as_ref())),
    ];
    let spreads = spreads.into_iter().filter_map(|(name, it)| Some(spread(name, it?)));
    let mut facts = facts(packets);
    if let Some(ecn) = acks.and_then(|it| it.ecn) {
        let (ect0, ect1, ce) = (ecn.ect0, ecn.ect1, ecn.ce);
        facts.push(format!(
            "ECN, by the last ACK frame with counts: {ect0} packets with ECT(0), {ect1} with ECT(1), {ce} with CE"
        ));
    }
    let kinds = kinds(packets).into_iter().map(|Kind { name, counts, data_bytes }| {
        let data = data_bytes.map(|it| if it > 0 { bytes_text(it) } else { String::new() });
        context! { name, counts, data }
    });
    let (spreads, kinds): (Vec<Value>, Vec<Value>) = (spreads.collect(), kinds.collect());
    (!facts.is_empty()).then(|| context! { whose, facts, spreads, kinds })
}

fn spread(name: &str, values: &Distribution) -> Value {
    let highest = values.bars.iter().map(|it| it.count).max().unwrap_or_default();
    let mut from = None;
    let bars = values.bars.iter().map(|bar| {
        let above = from.replace(bar.up_to).map_or_else(String::new, |it| format!("above {it}, "));
        let height = 100.0 * bar.count as f64 / highest.max(1) as f64;
        context! { height => format!("{height:.0}"), title => format!("{above}up to {}: {}", bar.up_to, bar.count) }
    });
    let numbers = [values.least, values.median, values.p95, values.most].map(number);
    context! { name, count => values.count, numbers, bars => bars.collect::<Vec<Value>>() }
}

fn facts(packets: &Packetization) -> Vec<String> {
    let mut facts = Vec::new();
    for (way, filled) in [("sent", &packets.sent), ("received", &packets.received)] {
        let Some(it) = filled else { continue };
        facts.push(format!(
            "{} packets {way} in {} datagrams ({}), {}{}",
            it.packets,
            it.datagrams,
            it.datagrams_basis.name(),
            bytes_text(it.bytes),
            overhead(it)
        ));
    }
    if let Some(share) = packets.http_overhead_share {
        facts.push(format!(
            "HTTP/3: {:.2} % of the stream bytes do not belong to bodies",
            100.0 * share
        ));
    }
    if let Some(bytes) = packets.largest_acknowledged_bytes {
        facts.push(format!("the largest packet that was acknowledged has {bytes} bytes"));
    }
    facts
}

fn overhead(it: &PacketsFilled) -> String {
    let padding = it
        .padding_bytes
        .map_or_else(String::new, |it| format!(", {} of it padding", bytes_text(it)));
    it.overhead_share.map_or_else(String::new, |share| {
        format!(": {:.1} % is neither stream data nor datagrams{padding}", 100.0 * share)
    })
}

fn kinds(packets: &Packetization) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for (way, filled) in [&packets.sent, &packets.received].into_iter().enumerate() {
        for sum in filled.iter().flat_map(|it| &it.frames) {
            let place = kinds.iter().position(|it| it.name == sum.kind).unwrap_or_else(|| {
                kinds.push(Kind { name: &sum.kind, ..Kind::default() });
                kinds.len() - 1
            });
            kinds[place].counts[way] = sum.count;
            kinds[place].data_bytes[way] = sum.data_bytes;
        }
    }
    kinds.sort_by_key(|it| std::cmp::Reverse(it.counts[0] + it.counts[1]));
    kinds.truncate(KINDS);
    kinds
}

/// With three digits that count.
fn number(value: f64) -> String {
    match value {
        _ if value.fract() == 0.0 || value >= 100.0 => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
