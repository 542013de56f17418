//! A style sheet of 1 KB behind 435 KB of images in a send buffer: how "Rules of Thumb for HTTP/2 Push" explains the
//! page `artofliving` (its straw man, 3G).

use super::blog::{LOWAT_BYTES, SCHEME};
use super::{CONTROLS, images_last_ms};
use crate::bench::{Bench, Case, Times};
use crate::downloads::network;
use crate::model::Path;
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use corpus::size;
use schedulers::Kind;
use simulator::link::Queue;

const TABLE: &str = "artofliving: 1 KB of CSS behind 435 KB";

/// The source's 3G, as it measured it.
const BITS_PER_S: f64 = 1.36e6;
const RTT_MS: f64 = 209.0;
/// "75KB cwnd".
const WINDOW_BYTES: f64 = 75_000.0;
/// The window of 75 KB, less a bandwidth-delay product of 35.5 KB, waits in the link's queue.
const QUEUE: Queue = Queue::Bytes(40_000);
const WINDOW_PACKETS: usize = 55;

/// What the source saw in the send buffer.
const SEEN_BYTES: u64 = 435_000;

const BUFFERS_BYTES: [u64; 3] = [0, LOWAT_BYTES, SEEN_BYTES];

/// The source's times: with 435 KB committed, and where the style sheet was early.
const LATE_MS: f64 = 3000.0;
const EARLY_MS: f64 = 500.0;
/// Ours beside the source's.
const TOLERANCE: f64 = 0.15;

const CSS: usize = 1;

pub(super) fn sketch() -> Sketch {
    let sketch =
        Sketch::new("artofliving", 20 * KB).item("/late.css", Kind::Css, KB, Found::End(0));
    (1..=25).fold(sketch, |it, n| it.item(&format!("/{n}.jpg"), Kind::Image, 30 * KB, Found::Head))
}

/// The time from the style sheet's request, which the document's last byte makes, until the style sheet is there.
fn css_ms(complete_ms: &[f64]) -> f64 {
    complete_ms[CSS] - complete_ms[0]
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let page = sketch().page();
    let cells: Vec<_> =
        CONTROLS.into_iter().flat_map(|it| BUFFERS_BYTES.map(|of| (it, of))).collect();
    let cases = cells.iter().map(|&(congestion_control, send_buffer_bytes)| Case {
        scheme: SCHEME,
        congestion_control,
        pacing: true,
        send_buffer_bytes,
        ..Case::new(page.clone(), network("3g", BITS_PER_S, RTT_MS, QUEUE), WINDOW_PACKETS)
    });
    let samples = bench.measure(&cases.collect::<Vec<_>>())?;
    let rows = cells.iter().zip(&samples).map(|((control, bytes), sample)| {
        let ours = sample.median_ms(|it: &Times| css_ms(&it.complete_ms));
        let (control, buffer) = (control.name(), size::text(*bytes));
        let metric = format!(
            "1 KB of CSS from its request until it is there, {control}, buffer {buffer}, in ms"
        );
        let row = Row::shown(format!("artofliving-{control}-{buffer}"), metric, Some(ours));
        let row = row.in_table(TABLE).model(model_ms(*bytes));
        match *bytes {
            0 => row.published(EARLY_MS).at_most(EARLY_MS).because(WINDOW),
            SEEN_BYTES => row.published(LATE_MS).within_share(TOLERANCE),
            _ => row,
        }
    });
    Ok(rows.collect())
}

const WINDOW: &str = "The model's window stays at 75 KB, which alone takes 0.54 s; cubic's grows from there until packets are lost.";

fn model_ms(buffer_bytes: u64) -> f64 {
    let path = Path { bits_per_s: BITS_PER_S, rtt_ms: RTT_MS };
    css_ms(&images_last_ms(&sketch(), path, WINDOW_BYTES, buffer_bytes))
}
