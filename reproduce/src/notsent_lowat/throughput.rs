//! How much of the link a download fills, by the size of the send buffer.

use super::blog::{BUFFERS_BYTES, LOWAT_BYTES, SCHEME};
use super::{BITS_PER_S, CONTROLS, RTT_MS};
use crate::bench::Bench;
use crate::downloads::{Download, Downloaded, Downloads, network};
use crate::{ReproduceError, Row};
use corpus::size;
use schedulers::Kind;
use server::{CongestionControl, Options};
use simulator::link::Queue;

const TABLE: &str = "How much of the link a download fills";

/// A quarter of a minute at the link's rate.
const BYTES: u64 = 10_000_000;
const QUEUE: Queue = Queue::Bytes(1_000_000);

/// A link is full if a download leaves less than a twentieth of it: slow start takes some of that.
const FULL_PERCENT: f64 = 95.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Bytes that have not been sent: what `tcp_notsent_lowat` limits.
    Unsent,
    /// Unacknowledged ones, too: TCP's whole buffer. The receiver's credit stands for it.
    Unacknowledged,
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for holds in [Holds::Unsent, Holds::Unacknowledged] {
        for control in CONTROLS {
            let buffers = BUFFERS_BYTES.iter().copied();
            let buffers: Vec<u64> =
                buffers.filter(|it| holds == Holds::Unsent || *it > 0).collect();
            let downloads = buffers.iter().map(|bytes| download(holds, control, *bytes));
            let loads = bench.downloads(&downloads.collect::<Result<Vec<_>, _>>()?)?;
            let rows_of = buffers.iter().zip(&loads);
            rows.extend(rows_of.map(|(bytes, load)| row(holds, control, *bytes, load)));
        }
    }
    Ok(rows)
}

fn download(
    holds: Holds,
    congestion_control: CongestionControl,
    bytes: u64,
) -> Result<Downloads, ReproduceError> {
    let mut options = Options { congestion_control, ..Options::new(crate::scheme(SCHEME)?) };
    let network = network("bloated", BITS_PER_S, RTT_MS, QUEUE);
    let requests = vec![Download::new(0.0, BYTES, Kind::Other)];
    if holds == Holds::Unsent {
        options.send_buffer_bytes = bytes;
        return Ok(Downloads::new(options, network, requests));
    }
    Ok(Downloads { receive_bytes: bytes, ..Downloads::new(options, network, requests) })
}

fn row(holds: Holds, control: CongestionControl, bytes: u64, load: &Downloaded) -> Row {
    let (name, buffer) = (control.name(), size::text(bytes));
    let (id, what) = match holds {
        Holds::Unsent => ("filled", "unsent bytes"),
        Holds::Unacknowledged => ("filled-unacknowledged", "unsent and unacknowledged bytes"),
    };
    let metric = format!(
        "share of the link that a download fills, {name}, a buffer of {buffer} of {what}, in percent"
    );
    let row = Row::shown(format!("{id}-{name}-{buffer}"), metric, percent(load)).in_table(TABLE);
    let row = match (holds, bytes) {
        (Holds::Unsent, LOWAT_BYTES) => row.at_least(FULL_PERCENT).note(
            "\"The connections are kept fully-utilized\": the source's words have no number; the limit is ours.",
        ),
        (Holds::Unacknowledged, LOWAT_BYTES) => row
            .model(LOWAT_BYTES as f64 / super::BDP_BYTES * 100.0)
            .below(FULL_PERCENT)
            .note("\"Too small of a buffer will prevent the server from being able to max-out the connection\": no number."),
        _ => row,
    };
    row.under(control)
}

/// The share that a download has of the bytes that the link could carry until it was complete.
fn percent(load: &Downloaded) -> Option<f64> {
    let complete_ms = load.complete_ms[0]?;
    let arrived = load.sent.iter().filter(|it| it.arrived_ms.is_some_and(|at| at <= complete_ms));
    let bytes: u64 = arrived.map(|it| it.bytes).sum();
    Some(bytes as f64 * 8000.0 / BITS_PER_S / complete_ms * 100.0)
}
