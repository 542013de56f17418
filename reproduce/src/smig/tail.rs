//! The bytes that still arrive after the client cancels a download over QUIC, which no TCP could do: a reset takes unsent bytes
//! back. The paper's tails are in `cancels.rs`.

use super::small_objects::{BUFFERS, FAIR};
use super::{CONTROLS, KB, MB, Server, large, link};
use crate::bench::{Bench, PACKET_BYTES};
use crate::downloads::{Download, Downloaded, Downloads};
use crate::{ReproduceError, Row};

const TABLE: &str = "Bytes after a cancel";

/// "~80ms RTT".
pub(super) const TAIL_RTT_MS: f64 = 80.0;
/// The client cancels after 10 s, 11 s, and so on, one cancel in each download.
const CANCELS: u32 = 10;
const FIRST_CANCEL_MS: f64 = 10_000.0;
const NEXT_CANCEL_MS: f64 = 1000.0;

/// After a cancel over HTTP/2, and after the browser was closed, in the paper's Table 2.
const HTTP2_BYTES: f64 = 2.5e6;

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut servers = Vec::new();
    for control in CONTROLS {
        servers.extend(BUFFERS.map(|(name, bytes)| (name, Server::new(FAIR, control, bytes))));
    }
    let mut downloads = Vec::new();
    for (_, server) in &servers {
        for cancel_ms in cancels_ms() {
            downloads.push(cancelled(server, cancel_ms)?);
        }
    }
    let loads = bench.downloads(&downloads)?;
    let loads = servers.iter().zip(loads.chunks(CANCELS as usize));
    Ok(loads.flat_map(|((buffer, server), it)| tail_rows(buffer, server, it)).collect())
}

fn cancels_ms() -> impl Iterator<Item = f64> {
    (0..CANCELS).map(|it| FIRST_CANCEL_MS + f64::from(it) * NEXT_CANCEL_MS)
}

fn cancelled(server: &Server, cancel_ms: f64) -> Result<Downloads, ReproduceError> {
    let download = Download { cancel_ms: Some(cancel_ms), ..large(50 * MB) };
    let downloads = server.downloads(link(server.control, TAIL_RTT_MS), vec![download])?;
    Ok(Downloads { logs_window: true, ..downloads })
}

/// The tail; how many times it is at most the window and two packets; and how much less it is than the tail of a FIFO,
/// which would also send its buffer.
fn tail_rows(buffer: &str, server: &Server, loads: &[Downloaded]) -> Vec<Row> {
    let control = server.control.name();
    let (mut tails, mut windows) = (Vec::new(), Vec::new());
    for (load, at_ms) in loads.iter().zip(cancels_ms()) {
        tails.push(load.tail.map_or(f64::NAN, |it| it.tail_bytes as f64));
        windows.push(load.window_bytes(at_ms).unwrap_or(f64::NAN));
    }
    let [tail_bytes, window_bytes] =
        [&tails, &windows].map(|it| it.iter().sum::<f64>() / it.len() as f64);
    let held = tails.iter().zip(&windows);
    let held = held.filter(|(tail, window)| **tail <= **window + 2.0 * PACKET_BYTES as f64).count();
    let [tail_kb, window_kb, published_kb] =
        [tail_bytes, window_bytes, HTTP2_BYTES].map(|it| it / KB as f64);
    let metric = format!(
        "bytes after the cancel of a download at 10 Mbit/s and 80 ms, {control}, buffer {buffer}, mean in KB"
    );
    let tail = Row::shown(format!("tail-{control}-{buffer}"), metric, Some(tail_kb))
        .in_table(TABLE)
        .published(published_kb)
        .note(format!("The window at that moment is {window_kb:.0} KB on average."))
        .under(server.control);
    let metric = format!(
        "cancels of {CANCELS} after which at most the window at that moment and two packets come, {control}, buffer {buffer}"
    );
    let held = Row::shown(format!("tail-held-{control}-{buffer}"), metric, Some(held as f64))
        .in_table(TABLE)
        .required()
        .at_least(f64::from(CANCELS))
        .because("What was in flight when the window was reduced still comes.")
        .under(server.control);
    if server.buffer_bytes == 0 {
        return vec![tail, held];
    }
    let fifo_bytes = server.buffer_bytes as f64 + window_bytes;
    let metric = format!(
        "bytes that a FIFO of {buffer} would send after the cancel and ours does not, {control}, in percent"
    );
    let cut = (1.0 - tail_bytes / fifo_bytes) * 100.0;
    let cut = Row::shown(format!("tail-cut-{control}-{buffer}"), metric, Some(cut))
        .in_table(TABLE)
        .published(90.0)
        .note(COMPUTED)
        .at_least(90.0)
        .because("The tail is what was in flight. Of 1 MiB and a window, a tenth is little more than the bandwidth-delay product of 100 KB, and what waits in the queue comes, too.")
        .under(server.control);
    vec![tail, held, cut]
}

const COMPUTED: &str =
    "The FIFO's tail is computed here: its buffer and the window. `tail-cut-measured` measures it.";
