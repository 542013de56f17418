//! A style sheet of 1 KB beside 435 KB in a send buffer: how "Rules of Thumb for HTTP/2 Push" explains the page
//! `artofliving`. Requested at the beginning, it arrived "in under 500ms"; requested once the buffer was full, it took 3
//! s.

use super::blog::{LOWAT_BYTES, SCHEME};
use super::{CONTROLS, images_last_ms};
use crate::bench::{Bench, Case, Times};
use crate::downloads::network;
use crate::model::Path;
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use corpus::size;
use schedulers::Kind;
use server::CongestionControl;
use simulator::link::Queue;

/// The source's 3G, as it measured it.
const BITS_PER_S: f64 = 1.36e6;
const RTT_MS: f64 = 209.0;
/// "75KB cwnd".
const WINDOW_BYTES: f64 = 75_000.0;
/// The window of 75 KB, less a bandwidth-delay product of 35.5 KB, waits in the link's queue.
const QUEUE: Queue = Queue::Bytes(40_000);
const WINDOW_PACKETS: usize = 55;

/// The send buffer's contents that the source saw.
const SEEN_BYTES: u64 = 435_000;

const BUFFERS_BYTES: [u64; 3] = [0, LOWAT_BYTES, SEEN_BYTES];

/// "It took 3s for each request to complete."
const LATE_MS: f64 = 3000.0;
/// "Each request completed in under 500ms."
const EARLY_MS: f64 = 500.0;
const TOLERANCE: f64 = 0.1;

const CSS: usize = 1;

schedulers::named! {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Moment {
        /// With the document's first bytes, as a preload: nothing waits in the buffer yet.
        Early = "artofliving-early",
        /// With the document's last byte: the buffer is full.
        Late = "artofliving",
    }
}

impl Moment {
    fn table(self) -> &'static str {
        match self {
            Self::Early => "artofliving: 1 KB of CSS asked for before 435 KB",
            Self::Late => "artofliving: 1 KB of CSS behind 435 KB",
        }
    }

    fn sketch(self) -> Sketch {
        let (path, found) = match self {
            Self::Early => ("/early.css", Found::Head),
            Self::Late => ("/late.css", Found::End(0)),
        };
        let sketch = Sketch::new(self.name(), 20 * KB).item(path, Kind::Css, KB, found);
        (1..=25)
            .fold(sketch, |it, n| it.item(&format!("/{n}.jpg"), Kind::Image, 30 * KB, Found::Head))
    }

    fn css_ms(self, times: &Times) -> f64 {
        let asked_ms = match self {
            Self::Early => times.request_ms[CSS],
            Self::Late => times.complete_ms[0],
        };
        times.complete_ms[CSS] - asked_ms
    }

    /// The same according to the model, for a late one.
    fn model_ms(self, buffer_bytes: u64) -> Option<f64> {
        let path = Path { bits_per_s: BITS_PER_S, rtt_ms: RTT_MS };
        let complete_ms = images_last_ms(&self.sketch(), path, WINDOW_BYTES, buffer_bytes);
        (self == Self::Late).then(|| complete_ms[CSS] - complete_ms[0])
    }
}

pub(super) fn sketches() -> [Sketch; 2] {
    Moment::ALL.map(Moment::sketch)
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for moment in Moment::ALL {
        let cells: Vec<_> =
            CONTROLS.into_iter().flat_map(|it| BUFFERS_BYTES.map(|of| (it, of))).collect();
        let page = moment.sketch().page();
        let cases = cells.iter().map(|&(congestion_control, send_buffer_bytes)| Case {
            scheme: SCHEME,
            congestion_control,
            pacing: true,
            send_buffer_bytes,
            ..Case::new(page.clone(), network("3g", BITS_PER_S, RTT_MS, QUEUE), WINDOW_PACKETS)
        });
        let samples = bench.measure(&cases.collect::<Vec<_>>())?;
        for (&(control, buffer_bytes), sample) in cells.iter().zip(&samples) {
            let ours = sample.median_ms(|it| moment.css_ms(it));
            rows.push(row(moment, control, buffer_bytes, ours));
        }
    }
    Ok(rows)
}

fn row(moment: Moment, control: CongestionControl, buffer_bytes: u64, ours: f64) -> Row {
    let (name, buffer) = (control.name(), size::text(buffer_bytes));
    let asked = match moment {
        Moment::Early => "1 KB of CSS that is asked for at the beginning",
        Moment::Late => "1 KB of CSS",
    };
    let metric =
        format!("{asked} from its request until it is there, {name}, buffer {buffer}, in ms");
    let row = Row::shown(format!("{}-{name}-{buffer}", moment.name()), metric, Some(ours));
    let row = row.in_table(moment.table());
    let row = moment.model_ms(buffer_bytes).into_iter().fold(row, Row::model);
    let row = match (moment, buffer_bytes) {
        (Moment::Early, SEEN_BYTES) => row.published(EARLY_MS).at_most(EARLY_MS).note(
            "\"Each request completed in under 500ms\": the source's words have no lower limit.",
        ),
        (Moment::Late, SEEN_BYTES) => row.published(LATE_MS).within_share(TOLERANCE),
        (Moment::Late, 0) => row.published(EARLY_MS).at_most(EARLY_MS).note(
            "As it was read at first. It is not the source's case: its requests of less than 500 ms were early ones.",
        ),
        _ => row,
    };
    row.under(control)
}
