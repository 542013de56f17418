//! The bytes that still arrive after a download ends before its last byte: Table 2 and Figure 11, against a FIFO that takes
//! nothing back.

use super::moved::moved;
use super::small_objects::{BUFFERS, FAIR, SCHEME};
use super::tail::TAIL_RTT_MS;
use super::{
    BITS_PER_S, CONTROLS, DEFAULT_BUFFER_BYTES, KB, MB, Place, Server, TOLERANCE, large, link,
};
use crate::bench::Bench;
use crate::downloads::{Download, Downloaded, Downloads, network};
use crate::{ReproduceError, Row};
use lab::StreamMigration;
use lab::network::Network;
use schedulers::Kind;
use server::CongestionControl;
use simulator::link::Queue;

const TABLE_2: &str = "Bytes after a download ends, in three ways (Table 2)";
const FIGURE_11: &str = "Bytes after a cancel on lte, without and with migration (Figure 11)";
const CUTS: &str = "Bytes after a cancel against a measured FIFO";
const MOVED: &str = "Bytes after the cancel of a download that has moved";

/// One end in each download: after 10 s, 12 s, and 14 s.
const ENDS: u32 = 3;

/// "150 KB" over a connection that is closed, "2.5 MB" over HTTP/2, in KB.
const CLOSED_KB: f64 = 150.0;
const CANCELLED_KB: f64 = 2500.0;
/// The path that these imply: 100 KB are in flight, so 50 KB are in the queue, and the buffer holds the rest.
const FITTED_QUEUE: Queue = Queue::Bytes(50_000);
const FITTED_BUFFER: (&str, u64) = ("2350k", 2_350_000);
const FITTED: &str = "The paper says neither the queue nor the buffer: 50 KB and 2.35 MB are made to fit its two numbers.";

/// "Migration helps cut the tail bytes by 90%" behind the large buffer, "still 53%" behind the default one.
const FIGURE_11_PERCENT: [f64; 2] = [53.0, 90.0];

/// How a download ends before its last byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Over HTTP/1.1: its connection is closed, and carries nothing else.
    ConnectionClosed,
    /// Over HTTP/2 and TCP: the server gives no more bytes of it to the buffer, but the bytes in the buffer still arrive. Here
    /// an urgent request replaces the cancel: its response arrives right after those bytes.
    Committed,
    /// The browser closes the connection, which carries objects, too.
    BrowserClosed,
    /// Over QUIC: the stream is reset.
    Reset,
}

#[derive(Clone)]
struct Tails {
    end: End,
    server: Server,
    network: Network,
    migration: StreamMigration,
    ends: u32,
}

impl Tails {
    fn new(end: End, control: CongestionControl, buffer_bytes: u64, network: Network) -> Self {
        let scheme = if end == End::Committed { SCHEME } else { FAIR };
        let server = Server::new(scheme, control, buffer_bytes);
        Self { end, server, network, migration: StreamMigration::None, ends: ENDS }
    }

    fn moved(self) -> Self {
        Self { migration: StreamMigration::ServerWhole, ..self }
    }

    /// The bytes that the link still brings, headers of packets included: their mean in KB.
    fn mean_kb(&self, bench: &Bench) -> Result<f64, ReproduceError> {
        let ends_ms: Vec<f64> =
            (0..self.ends).map(|it| 10_000.0 + 2000.0 * f64::from(it)).collect();
        let downloads = ends_ms.iter().map(|end_ms| self.downloads(*end_ms));
        let loads = bench.downloads(&downloads.collect::<Result<Vec<_>, _>>()?)?;
        let tails_kb = ends_ms.iter().zip(&loads).map(|(end_ms, load)| {
            let last_ms = match self.end {
                End::Committed => load.complete_ms[1].unwrap_or(f64::NAN),
                End::ConnectionClosed | End::BrowserClosed | End::Reset => f64::INFINITY,
            };
            arrived_kb(load, *end_ms, last_ms)
        });
        Ok(tails_kb.sum::<f64>() / f64::from(self.ends))
    }

    fn downloads(&self, end_ms: f64) -> Result<Downloads, ReproduceError> {
        let mut requests = vec![large(50 * MB)];
        let mut close_ms = None;
        match self.end {
            End::ConnectionClosed => close_ms = Some(end_ms),
            End::Committed => {
                requests[0].is_background = true;
                requests.push(Download::new(end_ms, KB, Kind::Js));
            }
            End::BrowserClosed => {
                close_ms = Some(end_ms);
                let objects = (1..25).map(|second| f64::from(second) * 1000.0);
                requests.extend(objects.map(|at_ms| Download::new(at_ms, 10 * KB, Kind::Js)));
            }
            End::Reset => requests[0].cancel_ms = Some(end_ms),
        }
        let downloads = self.server.downloads(self.network.clone(), requests)?;
        let downloads = Downloads { close_ms, ..downloads };
        Ok(moved(downloads, self.migration, true))
    }
}

fn arrived_kb(load: &Downloaded, from_ms: f64, last_ms: f64) -> f64 {
    let arrived = load.sent.iter().filter_map(|it| Some((it.arrived_ms?, it.bytes)));
    let late = arrived.filter(|(at_ms, _)| *at_ms > from_ms && *at_ms <= last_ms);
    late.map(|(_, bytes)| bytes as f64).sum::<f64>() / KB as f64
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for of in [moved_rows, cut_rows, table_2, figure_11] {
        for control in CONTROLS {
            rows.extend(of(bench, control)?);
        }
    }
    Ok(rows)
}

/// One cancel of a download that stays, and of one that has moved, over QUIC: no FIFO.
fn moved_rows(bench: &Bench, control: CongestionControl) -> Result<Vec<Row>, ReproduceError> {
    let link = link(control, TAIL_RTT_MS);
    let stays = Tails { ends: 1, ..Tails::new(End::Reset, control, DEFAULT_BUFFER_BYTES, link) };
    let tails = [("stays", "stays", stays.clone()), ("migsw", "has moved", stays.moved())];
    let rows = tails.map(|(id, what, tails)| {
        let name = control.name();
        let metric =
            format!("KB that come after the cancel of a download that {what}, FIFO of 1Mi, {name}");
        let ours = tails.mean_kb(bench)?;
        let row = Row::shown(format!("tail-{id}-{name}-1Mi"), metric, Some(ours)).in_table(MOVED);
        Ok(row.under(control))
    });
    rows.into_iter().collect()
}

/// The tail of a reset stream against that of a FIFO, on one connection.
fn cut_rows(bench: &Bench, control: CongestionControl) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (buffer, buffer_bytes) in &BUFFERS[1..] {
        let link = link(control, TAIL_RTT_MS);
        let fifo = Tails::new(End::Committed, control, *buffer_bytes, link.clone());
        let reset = Tails::new(End::Reset, control, *buffer_bytes, link);
        let (fifo_kb, reset_kb) = (fifo.mean_kb(bench)?, reset.mean_kb(bench)?);
        let name = control.name();
        let metric = format!("KB that a FIFO of {buffer} sends after the cancel, {name}");
        let row = Row::shown(format!("tail-fifo-{name}-{buffer}"), metric, Some(fifo_kb));
        rows.push(row.in_table(CUTS).under(control));
        let metric =
            format!("the same less what a reset stream sends, {name}, buffer {buffer}, in percent");
        let cut = (1.0 - reset_kb / fifo_kb) * 100.0;
        let row = Row::shown(format!("tail-cut-measured-{name}-{buffer}"), metric, Some(cut));
        let row = row.in_table(CUTS).published((1.0 - CLOSED_KB / CANCELLED_KB) * 100.0);
        rows.push(
            row.within_share(TOLERANCE)
                .note("Published: Table 2, 150 KB of 2.5 MB.")
                .under(control),
        );
    }
    Ok(rows)
}

/// A line of Table 2, and of the buffers that it can stand for.
struct Scenario {
    id: &'static str,
    end: End,
    what: &'static str,
    buffer: &'static str,
    buffer_bytes: u64,
    published_kb: f64,
    /// Whether the paper's number judges it.
    is_judged: bool,
}

impl Scenario {
    const fn fitted(id: &'static str, end: End, what: &'static str, published_kb: f64) -> Self {
        let (buffer, buffer_bytes) = FITTED_BUFFER;
        Self { id, end, what, buffer, buffer_bytes, published_kb, is_judged: true }
    }

    const fn cancelled(id: &'static str, place: usize) -> Self {
        let fitted = Self::fitted(id, End::Committed, CANCELLED, CANCELLED_KB);
        let (buffer, buffer_bytes) = BUFFERS[place];
        Self { buffer, buffer_bytes, is_judged: false, ..fitted }
    }
}

const CANCELLED: &str = "the cancel of a response (HTTP/2)";

const SCENARIOS: [Scenario; 5] = [
    Scenario::fitted(
        "http1",
        End::ConnectionClosed,
        "the cancel of a response whose connection is closed (HTTP/1.1)",
        CLOSED_KB,
    ),
    Scenario::fitted("http2", End::Committed, CANCELLED, CANCELLED_KB),
    Scenario::cancelled("http2-1mi", 1),
    Scenario::cancelled("http2-4mi", 2),
    Scenario::fitted("closed", End::BrowserClosed, "the browser is closed (HTTP/2)", CLOSED_KB),
];

fn table_2(bench: &Bench, control: CongestionControl) -> Result<Vec<Row>, ReproduceError> {
    let name = control.name();
    let path = network("table 2", BITS_PER_S, TAIL_RTT_MS, FITTED_QUEUE);
    let mut rows = Vec::new();
    for Scenario { id, end, what, buffer, buffer_bytes, published_kb, is_judged } in SCENARIOS {
        let tails = Tails::new(end, control, buffer_bytes, path.clone());
        let metric =
            format!("KB that come after {what}, 10 Mbit/s, 80 ms, FIFO of {buffer}, {name}");
        let row = Row::shown(format!("table2-{id}-{name}"), metric, Some(tails.mean_kb(bench)?));
        let row = row.in_table(TABLE_2).published(published_kb);
        let row = if is_judged { row.within_share(TOLERANCE) } else { row };
        rows.push(row.note(FITTED).under(control));
    }
    Ok(rows)
}

fn figure_11(bench: &Bench, control: CongestionControl) -> Result<Vec<Row>, ReproduceError> {
    let name = control.name();
    let mut rows = Vec::new();
    for ((buffer, buffer_bytes), published) in BUFFERS[1..].iter().zip(FIGURE_11_PERCENT) {
        let path = Place::Lte.network(control)?;
        let stays = Tails::new(End::Committed, control, *buffer_bytes, path.clone());
        let moved = Tails::new(End::Reset, control, *buffer_bytes, path).moved();
        let [stays_kb, moved_kb] = [stays.mean_kb(bench)?, moved.mean_kb(bench)?];
        for (id, what, kb) in [("stays", "stays", stays_kb), ("migsw", "has moved", moved_kb)] {
            let metric = format!(
                "KB that come after the cancel of a download that {what}, lte, FIFO of {buffer}, {name}"
            );
            let row = Row::shown(format!("figure11-{id}-{name}-{buffer}"), metric, Some(kb));
            rows.push(row.in_table(FIGURE_11).under(control));
        }
        let metric =
            format!("cut of these bytes by MigSW, lte, FIFO of {buffer}, {name}, in percent");
        let cut = (1.0 - moved_kb / stays_kb) * 100.0;
        let row = Row::shown(format!("figure11-cut-{name}-{buffer}"), metric, Some(cut));
        let row = row.in_table(FIGURE_11).published(published).within_share(TOLERANCE);
        rows.push(row.because(AUTOTUNED).under(control));
    }
    Ok(rows)
}

const AUTOTUNED: &str = "Our FIFO is always full. TCP's default buffer grows with its window, up to 1 MB with its own records, and \
     held about as much as the path, as the paper's own 53 % says.";
