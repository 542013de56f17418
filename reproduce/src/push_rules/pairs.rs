//! The tables that compare a load without a push with one with it.

use super::pair::{ALIKE, Judge, Pair, saved_percent};
use super::published::{
    CHAIN, COLD_2G, COLD_3G, COLD_SIMULATION, CONNECTIONS, Cell, FORMULA, G2, G3, HTML_KB, TAIL,
    WARM_2G, WARM_3G,
};
use super::setup::{self, FIRST_FLIGHT_BYTES};
use crate::bench::{Bench, Case};
use crate::model::Path;
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use lab::study::statistics::spearman;

const FORMULAS: &str = "A simple example: the closed formula";
const COLD: &str = "Load times for cold connections";
const WARM: &str = "Load times for warm connections";
const TAILS: &str = "Two scripts at the end of the document";
const CHAINS: &str = "A script that writes two others";
const KINDS: &str = "Connection types";
const NATIVE: &str = "The same page on HTTP/3's own terms";

/// Tolerances around published values: a sign with a dead band of 4 points, 4 points, 10 %.
const AS_PUBLISHED: Judge = Judge {
    load: Some(0.1),
    difference: Some((4.0, 4.0)),
    load_of_model: None,
    difference_of_model: None,
};

pub(super) fn all() -> Vec<Pair> {
    [cold_simulation(), cold(), cold_fitted(), warm(), tail(), chain(), connections(), native()]
        .concat()
}

fn simple(html_kb: u64, script_kb: u64) -> Sketch {
    Sketch::new(format!("head-{html_kb}-{script_kb}"), html_kb * KB).script(
        "/1.js",
        script_kb * KB,
        Found::Head,
    )
}

const SIMPLE: [&[&str]; 2] = [&[], &["/1.js"]];

pub(super) fn simple_pair(
    id: String,
    table: &'static str,
    path: Path,
    html_kb: u64,
    script_kb: u64,
) -> Pair {
    let what = format!("HTML of {html_kb} KB, script of {script_kb} KB");
    Pair::warm(id, simple(html_kb, script_kb), path, SIMPLE).shown(table, what)
}

/// `1 - Tpush / Tnopush`, as the source writes it.
pub(super) fn formula_rows() -> Vec<Row> {
    let rows = FORMULA.iter().map(|&(network, path, html_kb, published)| {
        let [html_ms, script_ms] =
            [html_kb, 10].map(|kb| (kb * KB) as f64 * 8000.0 / path.bits_per_s);
        let none = path.rtt_ms + path.rtt_ms.max(html_ms) + script_ms;
        let push = path.rtt_ms + html_ms + script_ms;
        Row::shown(
            format!("formula-{network}-{html_kb}k"),
            format!("saved by push by the formula, {network}, HTML of {html_kb} KB, in percent"),
            Some(saved_percent([none, push])),
        )
        .in_table(FORMULAS)
        .published(published)
        .must("within 0.5 points".into(), |it| (it - published).abs() <= 0.5)
        .note("The rest is the rounding of rate and round trip that are printed.")
    });
    rows.collect()
}

/// Three round trips of DNS and TCP before QUIC's one.
const AHEAD_RTTS: f64 = 3.0;
/// A window that takes 5 and 10 KB with their headers.
const COLD_PACKETS: usize = 13;

fn cold_simulation() -> Vec<Pair> {
    let pairs = COLD_SIMULATION.iter().map(|&(network, path, html_kb, saved)| {
        let id = format!("cold-simulation-{network}-{html_kb}k");
        let pair = simple_pair(id, COLD, path, html_kb, 10).cold(COLD_PACKETS, AHEAD_RTTS);
        pair.only_saved(Some(saved))
            .judged(Judge { difference: Some((1.5, 4.0)), ..ALIKE })
            .note("\"A simple simulation in Python\"; it printed no load times.")
    });
    pairs.collect()
}

fn cold() -> Vec<Pair> {
    let judge = Judge { difference: Some((6.0, 5.0)), ..ALIKE };
    let mut pairs = Vec::new();
    for (network, path, cells) in [("3g", G3, COLD_3G), ("2g", G2, COLD_2G)] {
        pairs.extend(by_size(&format!("cold-{network}"), COLD, path, cells, |pair| {
            pair.cold(COLD_PACKETS, AHEAD_RTTS).judged(judge).note(UNSTATED)
        }));
    }
    pairs
}

/// The pairs of a script of 10 KB with a document of each of [`HTML_KB`], beside the published cells.
fn by_size(
    id: &str,
    table: &'static str,
    path: Path,
    cells: [Cell; 5],
    change: impl Fn(Pair) -> Pair,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (html_kb, cell) in HTML_KB.into_iter().zip(cells) {
        let pair = simple_pair(format!("{id}-{html_kb}k"), table, path, html_kb, 10);
        pairs.push(change(pair).published(cell));
    }
    pairs
}

const UNSTATED: &str = "The source does not print how long it took to connect, nor the rate that its link really had: rows \
     `cold-fitted` come near with other values of both.";

/// The two sets of parameters that are closest to the measurements.
fn cold_fitted() -> Vec<Pair> {
    let fitted_3g = Path { bits_per_s: 1_800_000.0, ..G3 };
    let fitted_2g = Path { bits_per_s: 120_000.0, ..G2 };
    let mut pairs = Vec::new();
    for (network, path, cells, packets, ahead_rtts) in
        [("3g", fitted_3g, COLD_3G, 25, 2.9), ("2g", fitted_2g, COLD_2G, 11, 1.5)]
    {
        pairs.extend(by_size(&format!("cold-fitted-{network}"), COLD, path, cells, |pair| {
            pair.cold(packets, ahead_rtts).judged(ALIKE)
        }));
    }
    pairs
}

pub(super) fn warm() -> Vec<Pair> {
    let disputed = Judge { difference: Some((5.0, 4.0)), ..ALIKE };
    let of_2g = by_size("warm-2g", WARM, G2, WARM_2G, |it| it.judged(AS_PUBLISHED));
    let of_3g = by_size("warm-3g", WARM, G3, WARM_3G, |it| it.judged(disputed).note(ANOMALY_3G));
    [of_2g, of_3g].concat()
}

const ANOMALY_3G: &str = "The source's times in this column cannot come from 1360 kbit/s: from 40 to 200 KB they grow by \
     15 KB a second, which is its 2G rate. Only the difference is compared.";

pub(super) fn tail() -> Vec<Pair> {
    let pairs = TAIL.iter().map(|&((html_kb, first_kb), cell)| {
        let sketch = Sketch::new(format!("tail-{html_kb}-{first_kb}"), html_kb * KB)
            .script("/1.js", first_kb * KB, Found::End(0))
            .script("/2.js", 10 * KB, Found::End(0));
        let what = format!("HTML of {html_kb} KB, 1.js of {first_kb} KB, 1.js pushed in any case");
        let pushed: [&[&str]; 2] = [&["/1.js"], &["/1.js", "/2.js"]];
        let id = format!("tail-{html_kb}k-{first_kb}k");
        let pair = Pair::warm(id, sketch, G2, pushed).shown(TAILS, what);
        pair.published(cell).judged(AS_PUBLISHED)
    });
    pairs.collect()
}

pub(super) fn chain() -> Vec<Pair> {
    let pairs = CHAIN.iter().map(|&(second_kb, cell)| {
        let sketch = Sketch::new(format!("chain-{second_kb}"), 10 * KB)
            .script("/1.js", 10 * KB, Found::End(0))
            .script("/2.js", second_kb * KB, Found::End(1))
            .script("/3.js", 10 * KB, Found::End(1));
        let what = format!("2.js of {second_kb} KB, 1.js and 2.js pushed in any case, then 3.js");
        let pushed: [&[&str]; 2] = [&["/1.js", "/2.js"], &["/1.js", "/2.js", "/3.js"]];
        let id = format!("chain-{second_kb}k");
        let pair = Pair::warm(id, sketch, G2, pushed).shown(CHAINS, what);
        pair.published(cell).judged(AS_PUBLISHED)
    });
    pairs.collect()
}

const CONNECTION_HTML_KB: [u64; 6] = [5, 10, 20, 40, 80, 160];

fn connections() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (id, _, path, _) in CONNECTIONS {
        for html_kb in CONNECTION_HTML_KB {
            let pair = simple_pair(format!("connection-{id}-{html_kb}k"), KINDS, path, html_kb, 10);
            pairs.push(pair.judged(ALIKE).only_saved(None));
        }
    }
    pairs
}

/// The bandwidth-delay product of each network, and its correlation with the gain by push.
pub(super) fn connection_rows(rows: &[Row]) -> Vec<Row> {
    let (mut products, mut pairs) = (Vec::new(), Vec::new());
    for (id, name, path, published) in CONNECTIONS {
        let product = path.bits_per_s * path.rtt_ms / 8000.0 / KB as f64;
        let metric = format!("bandwidth-delay product of {name}, in KB");
        let row = Row::shown(format!("connection-{id}-product"), metric, Some(product));
        products.push(row.in_table(KINDS).published(published).within_share(0.05));
        let saved_id = format!("connection-{id}-40k-saved");
        let saved = rows.iter().find(|it| it.id == saved_id).and_then(|it| it.ours);
        pairs.push(saved.map(|it| (product, it)));
    }
    let pairs: Option<Vec<(f64, f64)>> = pairs.into_iter().collect();
    let metric = "rank correlation of a connection's product with what push saves beside a document of 40 KB";
    let rank = Row::shown("connection-rank", metric, pairs.and_then(|it| spearman(&it)))
        .in_table(KINDS)
        .at_least(0.8)
        .note("\"We expect more relative improvement for faster connections than for slow connections, since faster \
         connections generally have a higher BDP.\"");
    products.push(rank);
    products
}

/// Initial windows in packets: the transport's default, and one into which the small page fits.
fn native() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (network, path, packets) in [("3g", G3, 10), ("3g", G3, 16), ("2g", G2, 10), ("2g", G2, 16)]
    {
        pairs.extend([5, 20, 40].map(|html_kb| {
            let id = format!("native-iw{packets}-{network}-{html_kb}k");
            simple_pair(id, NATIVE, path, html_kb, 10).cold(packets, 0.0).judged(ALIKE)
        }));
    }
    pairs.extend(early());
    pairs.extend([7, 8, 10].map(|script_kb| {
        let id = format!("native-cliff-3g-{script_kb}k");
        simple_pair(id, NATIVE, G3, 5, script_kb).cold(10, 0.0).judged(ALIKE).note(CLIFF)
    }));
    pairs
}

/// Like 2G, ten times as fast: the same bandwidth-delay product, and a round trip shorter than any timer of the transport.
const G2_QUICK: Path = Path { bits_per_s: 1_130_000.0, rtt_ms: 142.0 };

fn early() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (network, path, judge, note) in [
        ("3g", G3, ALIKE, EARLY),
        ("2g-quick", G2_QUICK, ALIKE, EARLY),
        ("2g", G2, Judge::default(), EARLY_2G),
    ] {
        for html_kb in [5, 20, 40] {
            let id = format!("native-0rtt-{network}-{html_kb}k");
            let pair = simple_pair(id, NATIVE, path, html_kb, 10).returning(16);
            let pair = pair.judged(judge).note(note);
            pairs.push(if (network, html_kb) == ("3g", 20) { unfilled(pair) } else { pair });
        }
    }
    pairs
}

/// A pair whose document leaves the window not quite full.
fn unfilled(pair: Pair) -> Pair {
    pair.judged(Judge { difference_of_model: None, ..ALIKE }).note(
        "In early data. Loads are judged, the difference is shown: without the push the rest of the document does not fill \
         the window when the first flight is acknowledged, and a window that is not full does not grow (RFC 9002, 7.8); with \
         the push it is full, and grows. The model's grows in any case.",
    )
}

/// The bytes that answer early data before the client's answer arrives.
pub(super) fn first_flight_row(bench: &Bench) -> Result<Row, ReproduceError> {
    let case = setup::case(&simple(40, 10), G3);
    let case = Case { returning: true, window_packets: 16, ..case };
    let loads = bench.loads(&[case], |_, load| {
        let frames = load.load.timeline.frames.iter().filter(|it| it.stream == 0);
        let first_us = frames.clone().map(|it| it.time_us).min().unwrap_or(0);
        let flight = frames.filter(|it| it.time_us < first_us + ROUND_TRIP_US * 3 / 4);
        Ok(flight.map(|it| it.bytes).sum::<u64>())
    })?;
    let most = loads[0].iter().copied().max().unwrap_or(0) as f64;
    let metric =
        "bytes of the document that come before the client's answer can, in early data on 3G";
    Ok(Row::shown("native-0rtt-first-flight", metric, Some(most))
        .in_table(NATIVE)
        .model(FIRST_FLIGHT_BYTES)
        .within_share_of_model(0.1)
        .note("Three times what came, less the handshake and its padding (RFC 9000, 8.1)."))
}

const ROUND_TRIP_US: u64 = 209_000;

const EARLY: &str = "In early data. Without the limit of three times what came (RFC 9000, 8.1) a push would save here what it saves on \
     a warm connection. With it the push waits for the client's answer, and with that the request for the script comes.";

const EARLY_2G: &str = "Shown: the round trip of 1420 ms is longer than the first timers of both ends, about a second as long as none \
     was measured. Both repeat what they sent, which takes the link and lifts the limit of the first flight, and the model has no \
     timers. Ten times as fast, the same page does as the model says.";

const CLIFF: &str = "Ten packets hold 12.8 KB of responses with their headers: a push just beyond loses the round trip that it \
     was to save.";
