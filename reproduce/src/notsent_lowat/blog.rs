//! The article's page, before and after.

use super::{BDP_BYTES, BITS_PER_S, CONTROLS, RTT_MS, images_last_ms};
use crate::bench::{Bench, Case, Sample, Times};
use crate::downloads::network;
use crate::model::Path;
use crate::row::ratio;
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use corpus::size;
use schedulers::Kind;
use server::CongestionControl;
use simulator::link::Queue;

const TABLE: &str = "The article's page";
const GAINS: &str = "Before and after";

pub(super) const SCHEME: &str = "dfifo";

/// The article's `tcp_notsent_lowat`.
pub(super) const LOWAT_BYTES: u64 = 16 << 10;
/// A TCP send buffer that grew.
const GROWN_BYTES: u64 = 5_000_000;

const BUFFERS_BYTES: [u64; 4] = [0, LOWAT_BYTES, 1_000_000, GROWN_BYTES];

/// Names and bytes of the link's queue: a bandwidth-delay product, and a bloated one.
const QUEUES: [(&str, u64); 2] = [("shallow", 31_250), ("bloated", 1_000_000)];

/// The document, two style sheets and a script come before the 60 images.
const IMAGES: usize = 60;
const FIRST_IMAGE: usize = 4;
/// A third of the images can be seen without scrolling.
const VISIBLE_IMAGES: usize = 20;
const FIRST_FONT: usize = FIRST_IMAGE + IMAGES;

pub(super) fn sketch() -> Sketch {
    let mut sketch = Sketch::new("blog", 30 * KB)
        .item("/theme.css", Kind::Css, 20 * KB, Found::Head)
        .item("/plugins.css", Kind::Css, 20 * KB, Found::Head)
        .script("/jquery.js", 30 * KB, Found::Head);
    for n in 1..=IMAGES {
        sketch = sketch.item(&format!("/{n}.jpg"), Kind::Image, 100 * KB, Found::Head);
    }
    let sketch = sketch.item("/text.woff2", Kind::Font, 30 * KB, Found::Applied(1));
    sketch.item("/bold.woff2", Kind::Font, 30 * KB, Found::Applied(2))
}

/// The time at which text is drawn: everything but the images is there.
fn first_render_ms(complete_ms: &[f64]) -> f64 {
    let needed = complete_ms[..FIRST_IMAGE].iter().chain(&complete_ms[FIRST_FONT..]);
    needed.copied().fold(0.0, f64::max)
}

/// The time at which every visible part is drawn.
fn visually_complete_ms(complete_ms: &[f64]) -> f64 {
    let visible = &complete_ms[..FIRST_IMAGE + VISIBLE_IMAGES];
    visible.iter().copied().fold(first_render_ms(complete_ms), f64::max)
}

/// The time from the request for the first font, which its style sheet makes, until the font is there.
fn font_ms(complete_ms: &[f64]) -> f64 {
    complete_ms[FIRST_FONT] - complete_ms[1]
}

/// A measured quantity: its name, its words, and its time in a load.
struct Measure {
    id: &'static str,
    what: &'static str,
    of: fn(&[f64]) -> f64,
    /// How many times faster the article's page was after the change.
    published_gain: Option<f64>,
    /// Seconds in the article, after and before.
    published_s: Option<[f64; 2]>,
}

const MEASURES: [Measure; 3] = [
    Measure {
        id: "first-render",
        what: "first render",
        of: first_render_ms,
        published_gain: Some(5.6),
        published_s: Some([1.8, 10.2]),
    },
    Measure {
        id: "visually-complete",
        what: "visually complete",
        of: visually_complete_ms,
        published_gain: Some(2.3),
        published_s: Some([4.5, 10.7]),
    },
    Measure {
        id: "font",
        what: "a font that a style sheet names, from its request until it is there",
        of: font_ms,
        published_gain: None,
        published_s: None,
    },
];

/// A setting of the server and the link, and its loads.
struct Cell {
    control: CongestionControl,
    queue: &'static str,
    buffer_bytes: u64,
    sample: Sample,
}

impl Cell {
    fn id(&self, measure: &Measure) -> String {
        let buffer = size::text(self.buffer_bytes);
        format!("{}-{}-{}-{buffer}", measure.id, self.control.name(), self.queue)
    }

    fn median_ms(&self, measure: &Measure) -> f64 {
        self.sample.median_ms(|times: &Times| {
            let after_start: Vec<f64> =
                times.complete_ms.iter().map(|at| at - times.start_ms).collect();
            (measure.of)(&after_start)
        })
    }

    fn model_ms(&self, measure: &Measure) -> f64 {
        let path = Path { bits_per_s: BITS_PER_S, rtt_ms: RTT_MS };
        (measure.of)(&images_last_ms(&sketch(), path, BDP_BYTES, self.buffer_bytes))
    }
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let cells = cells(bench)?;
    let times = MEASURES.iter().flat_map(|it| cells.iter().map(move |cell| time_row(cell, it)));
    let gains =
        MEASURES.iter().flat_map(|it| QUEUES.map(|(queue, _)| gain_rows(&cells, it, queue)));
    Ok(times.chain(gains.flatten()).collect())
}

fn cells(bench: &Bench) -> Result<Vec<Cell>, ReproduceError> {
    let page = sketch().page();
    let mut cells = Vec::new();
    let mut cases = Vec::new();
    for control in CONTROLS {
        for (queue, queue_bytes) in QUEUES {
            for buffer_bytes in BUFFERS_BYTES {
                let network = network(queue, BITS_PER_S, RTT_MS, Queue::Bytes(queue_bytes));
                cases.push(Case {
                    scheme: SCHEME,
                    congestion_control: control,
                    pacing: true,
                    send_buffer_bytes: buffer_bytes,
                    ..Case::new(page.clone(), network, 10)
                });
                cells.push(Cell { control, queue, buffer_bytes, sample: Sample(Vec::new()) });
            }
        }
    }
    for (cell, sample) in cells.iter_mut().zip(bench.measure(&cases)?) {
        cell.sample = sample;
    }
    Ok(cells)
}

fn time_row(cell: &Cell, measure: &Measure) -> Row {
    let metric = format!(
        "{}, {}, {} queue, buffer {}, in ms",
        measure.what,
        cell.control.name(),
        cell.queue,
        size::text(cell.buffer_bytes)
    );
    let row = Row::shown(cell.id(measure), metric, Some(cell.median_ms(measure)))
        .in_table(TABLE)
        .model(cell.model_ms(measure));
    let published_s = match (measure.published_s, cell.control, cell.buffer_bytes) {
        (Some([after, _]), CongestionControl::Bbr2, LOWAT_BYTES) => after,
        (Some([_, before]), CongestionControl::Bbr2, GROWN_BYTES) => before,
        _ => return row,
    };
    row.published(published_s * 1e3).note(SIZES)
}

const SIZES: &str =
    "The article gives neither the page's sizes nor the round trip, so only the gains are judged.";

const SHARES: &str = "The ratio of all that is committed to all that can be seen, which the article does not give: with a buffer of \
     5 MB nothing is drawn until 5.2 MB are there; without one, 2.2 MB are enough.";

/// The 5 MB buffer's time divided by the times of the small buffers, under BBR.
fn gain_rows(cells: &[Cell], measure: &Measure, queue: &str) -> [Row; 2] {
    let before = bbr2_ms(cells, measure, queue, GROWN_BYTES);
    [0, LOWAT_BYTES].map(|buffer_bytes| {
        let after = bbr2_ms(cells, measure, queue, buffer_bytes);
        let buffer = size::text(buffer_bytes);
        let gain = ratio(before.map(|it| it.0), after.map(|it| it.0));
        let id = format!("gain-{}-{queue}-{buffer}", measure.id);
        let metric = format!(
            "{}: time with a buffer of 5 MB divided by that with {buffer}, bbr2, {queue} queue",
            measure.what
        );
        let row = Row::shown(id, metric, gain).in_table(GAINS);
        let model = ratio(before.map(|it| it.1), after.map(|it| it.1));
        let row = model.into_iter().fold(row, Row::model);
        match measure.published_gain {
            Some(published) => row.published(published).at_least(published).because(SHARES),
            None => row,
        }
    })
}

/// Ours and the model's under BBR.
fn bbr2_ms(
    cells: &[Cell],
    measure: &Measure,
    queue: &str,
    buffer_bytes: u64,
) -> Option<(f64, f64)> {
    let wanted = (CongestionControl::Bbr2, queue, buffer_bytes);
    let found = cells.iter().find(|it| (it.control, it.queue, it.buffer_bytes) == wanted);
    found.map(|it| (it.median_ms(measure), it.model_ms(measure)))
}
