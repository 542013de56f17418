//! The article's page, before and after: as a page that its times imply, and as a page of our own with no such fit.

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

pub(super) const SCHEME: &str = "dfifo";

pub(super) const LOWAT_BYTES: u64 = 16 << 10;
/// A TCP send buffer that grew.
const GROWN_BYTES: u64 = 5_000_000;

pub(super) const BUFFERS_BYTES: [u64; 4] = [0, LOWAT_BYTES, 1_000_000, GROWN_BYTES];

/// Names and bytes of the link's queue: a bandwidth-delay product, and a bloated one.
const QUEUES: [(&str, u64); 2] = [("shallow", 31_250), ("bloated", 1_000_000)];

const TOLERANCE: f64 = 0.1;

pub(super) struct Article {
    prefix: &'static str,
    pub(super) sketch: Sketch,
    first: Vec<usize>,
    visible: Vec<usize>,
    tables: [&'static str; 2],
    measures: &'static [Measure],
    /// How often each case is loaded, if not as often as the others: times differ by some milliseconds.
    runs: Option<usize>,
    /// Whether its sizes are those that the article's times imply. Then its values judge it to both sides; of the other page, only
    /// the gains are judged, to one side, as they were before the sizes were found.
    is_fitted: bool,
    note: &'static str,
}

pub(super) fn articles() -> [Article; 2] {
    [fitted(), own()]
}

/// At 5 Mbit/s the article's 1.8, 4.5 and 10.2 s are 1.1, 2.8 and 6.4 MB: those that the first render needs, those that are
/// visible, and those that were committed before. So style sheets and scripts have a megabyte, fonts and 16 visible images 1.7 MB,
/// and 42 images further down 3.8 MB. The last style sheet and script are requested once another script has run, and the fonts,
/// which draw text half a second after everything else, once that script has run, too: only then is the page laid out.
fn fitted() -> Article {
    let sketch = Sketch::new("blog-fitted", 60_000)
        .item("/theme.css", Kind::Css, 150_000, Found::Head)
        .script("/jquery.js", 400_000, Found::Head);
    let sketch = images(sketch, 16 + 42, 90_000)
        .item("/late.css", Kind::Css, 150_000, Found::End(2))
        .script("/late.js", 180_000, Found::End(2));
    let late = sketch.items.len() - 2;
    let first = vec![0, 1, 2, late, late + 1];
    let sketch = ["/text.woff2", "/bold.woff2", "/icons.woff2"]
        .into_iter()
        .fold(sketch, |it, path| it.item(path, Kind::Font, 90_000, Found::End(late + 1)));
    let visible = (0..3 + 16).chain(late..late + 5).collect();
    Article {
        prefix: "fitted-",
        sketch,
        first,
        visible,
        tables: ["The article's page, by the sizes that its times imply", "Before and after"],
        measures: &MEASURES[..2],
        runs: Some(3),
        is_fitted: true,
        note: FITTED,
    }
}

const FITTED: &str =
    "The page is made to fit the article's times, since the article gives no sizes.";

/// The document, two style sheets and a script come before 60 images, a third of which can be seen without scrolling. Only the
/// style sheets name the fonts.
fn own() -> Article {
    let sketch = Sketch::new("blog", 30 * KB)
        .item("/theme.css", Kind::Css, 20 * KB, Found::Head)
        .item("/plugins.css", Kind::Css, 20 * KB, Found::Head)
        .script("/jquery.js", 30 * KB, Found::Head);
    let sketch = images(sketch, 60, 100 * KB)
        .item("/text.woff2", Kind::Font, 30 * KB, Found::Applied(1))
        .item("/bold.woff2", Kind::Font, 30 * KB, Found::Applied(2));
    Article {
        prefix: "",
        sketch,
        first: vec![0, 1, 2, 3, OWN_FONT, OWN_FONT + 1],
        visible: (0..4 + 20).chain([OWN_FONT, OWN_FONT + 1]).collect(),
        tables: ["A page of our own", "Before and after on a page of our own"],
        measures: &MEASURES,
        runs: None,
        is_fitted: false,
        note: "The article's value is not of this page: its sizes are ours.",
    }
}

const OWN_FONT: usize = 64;

fn images(sketch: Sketch, count: usize, bytes: u64) -> Sketch {
    (1..=count).fold(sketch, |it, n| it.item(&format!("/{n}.jpg"), Kind::Image, bytes, Found::Head))
}

fn last_ms(complete_ms: &[f64], of: &[usize]) -> f64 {
    of.iter().map(|it| complete_ms[*it]).fold(0.0, f64::max)
}

struct Measure {
    id: &'static str,
    what: &'static str,
    of: fn(&Article, &[f64]) -> f64,
    /// How many times faster the article's page was after the change.
    published_gain: Option<f64>,
    /// Seconds in the article, after and before.
    published_s: Option<[f64; 2]>,
}

const MEASURES: [Measure; 3] = [
    Measure {
        id: "first-render",
        what: "first render",
        of: |page, complete_ms| last_ms(complete_ms, &page.first),
        published_gain: Some(5.6),
        published_s: Some([1.8, 10.2]),
    },
    Measure {
        id: "visually-complete",
        what: "visually complete",
        of: |page, complete_ms| last_ms(complete_ms, &page.visible),
        published_gain: Some(2.3),
        published_s: Some([4.5, 10.7]),
    },
    Measure {
        id: "font",
        what: "a font that a style sheet names, from its request until it is there",
        of: |_, complete_ms| complete_ms[OWN_FONT] - complete_ms[1],
        published_gain: None,
        published_s: None,
    },
];

/// A setting of the server and the link, and its loads.
struct Cell<'a> {
    article: &'a Article,
    control: CongestionControl,
    queue: &'static str,
    buffer_bytes: u64,
    sample: Sample,
}

impl Cell<'_> {
    fn id(&self, measure: &Measure) -> String {
        let (prefix, buffer) = (self.article.prefix, size::text(self.buffer_bytes));
        format!("{prefix}{}-{}-{}-{buffer}", measure.id, self.control.name(), self.queue)
    }

    fn median_ms(&self, measure: &Measure) -> f64 {
        self.sample.median_ms(|times: &Times| {
            let after_start: Vec<f64> =
                times.complete_ms.iter().map(|at| at - times.start_ms).collect();
            (measure.of)(self.article, &after_start)
        })
    }

    fn model_ms(&self, measure: &Measure) -> f64 {
        let path = Path { bits_per_s: BITS_PER_S, rtt_ms: RTT_MS };
        let sketch = &self.article.sketch;
        let complete_ms = images_last_ms(sketch, path, BDP_BYTES, self.buffer_bytes);
        (measure.of)(self.article, &complete_ms)
    }
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for article in &articles() {
        let cells = cells(bench, article)?;
        for measure in article.measures {
            rows.extend(cells.iter().map(|cell| time_row(cell, measure)));
        }
        for measure in article.measures {
            for (queue, _) in QUEUES {
                rows.extend(gain_rows(&cells, article, measure, queue));
            }
        }
    }
    Ok(rows)
}

fn cells<'a>(bench: &Bench, article: &'a Article) -> Result<Vec<Cell<'a>>, ReproduceError> {
    let page = article.sketch.page();
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
                    runs: article.runs,
                    ..Case::new(page.clone(), network, 10)
                });
                cells.push(Cell {
                    article,
                    control,
                    queue,
                    buffer_bytes,
                    sample: Sample(Vec::new()),
                });
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
        .in_table(cell.article.tables[0])
        .model(cell.model_ms(measure));
    let published_s = match (measure.published_s, cell.control, cell.buffer_bytes) {
        (Some([after, _]), CongestionControl::Bbr2, LOWAT_BYTES) => after,
        (Some([_, before]), CongestionControl::Bbr2, GROWN_BYTES) => before,
        _ => return row.under(cell.control),
    };
    let row = row.published(published_s * 1e3).note(cell.article.note);
    if cell.article.is_fitted { row.within_share(TOLERANCE) } else { row }
}

const SHARES: &str = "The ratio of all that is committed to all that can be seen, which the article does not give: with a buffer of \
     5 MB nothing is drawn until 5.2 MB are there; without one, 2.2 MB are enough.";

/// The 5 MB buffer's time divided by the times of the small buffers, under BBR.
fn gain_rows(cells: &[Cell], article: &Article, measure: &Measure, queue: &str) -> [Row; 2] {
    let before = bbr2_ms(cells, measure, queue, GROWN_BYTES);
    [0, LOWAT_BYTES].map(|buffer_bytes| {
        let after = bbr2_ms(cells, measure, queue, buffer_bytes);
        let buffer = size::text(buffer_bytes);
        let gain = ratio(before.map(|it| it.0), after.map(|it| it.0));
        let id = format!("{}gain-{}-{queue}-{buffer}", article.prefix, measure.id);
        let metric = format!(
            "{}: time with a buffer of 5 MB divided by that with {buffer}, bbr2, {queue} queue",
            measure.what
        );
        let row = Row::shown(id, metric, gain).in_table(article.tables[1]);
        let model = ratio(before.map(|it| it.1), after.map(|it| it.1));
        let row = model.into_iter().fold(row, Row::model);
        match measure.published_gain {
            Some(published) if article.is_fitted => {
                row.published(published).within_share(TOLERANCE).note(article.note)
            }
            Some(published) => row.published(published).at_least(published).because(SHARES),
            None => row,
        }
    })
}

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
