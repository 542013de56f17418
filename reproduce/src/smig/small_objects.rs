//! How long small objects take beside a large download on one connection: under a FIFO, and under schemes, which the paper
//! could not choose. Its migrations are in `moved.rs` and `sizes.rs`.

use super::{
    BDP_BYTES, BITS_PER_S, CONTROLS, DEFAULT_BUFFER_BYTES, KB, LARGE_BUFFER_BYTES, MB, RTT_MS,
    Server, large, link,
};
use crate::bench::Bench;
use crate::downloads::{Download, Downloaded};
use crate::row::ratio;
use crate::{ReproduceError, Row};
use figures::{Line, Lines};
use schedulers::Kind;
use server::CongestionControl::{self, Bbr2, Cubic, Reno};

const CUTS: &str = "The cut against a FIFO";
const EVERY: &str = "Every scheme on one connection";
const SIZES: &str = "Sizes of objects and of the download, by a scheme";

/// "Each downloading 25 small objects", one a second.
const OBJECTS: u32 = 25;
const OBJECT_BYTES: u64 = 10 * KB;
const DOWNLOAD_BYTES: u64 = 50 * MB;

/// The scheme that replaces the paper's migration: it knows which response is most urgent, and nothing else.
pub(super) const SCHEME: &str = "dfifo";
/// The paper's server shares fairly.
pub(super) const FAIR: &str = "rr";

pub(super) const BUFFERS: [(&str, u64); 3] =
    [("0", 0), ("1Mi", DEFAULT_BUFFER_BYTES), ("4Mi", LARGE_BUFFER_BYTES)];

#[derive(Clone)]
pub(super) struct Cell {
    pub(super) server: Server,
    pub(super) object_bytes: u64,
    pub(super) download_bytes: u64,
}

impl Cell {
    pub(super) fn new(scheme: &str, control: CongestionControl, buffer_bytes: u64) -> Self {
        let server = Server::new(scheme, control, buffer_bytes);
        Self { server, object_bytes: OBJECT_BYTES, download_bytes: DOWNLOAD_BYTES }
    }

    /// The objects are requested during the download: one per second, or more often beside a small download.
    pub(super) fn requests(&self) -> Vec<Download> {
        let lasts_ms = self.download_bytes as f64 * 8000.0 / BITS_PER_S;
        let every_ms = (lasts_ms / f64::from(OBJECTS + 5)).min(1000.0);
        let mut requests = vec![Download { is_background: true, ..large(self.download_bytes) }];
        for object in 1..=OBJECTS {
            let at_ms = f64::from(object) * every_ms;
            requests.push(Download::new(at_ms, self.object_bytes, Kind::Js));
        }
        requests
    }

    /// The mean time from an object's request until the object is complete.
    pub(super) fn mean_ms(&self, downloaded: &Downloaded) -> Option<f64> {
        let times = self.times_ms(downloaded)?;
        Some(times.iter().sum::<f64>() / times.len() as f64)
    }

    pub(super) fn longest_ms(&self, downloaded: &Downloaded) -> Option<f64> {
        self.times_ms(downloaded)?.into_iter().reduce(f64::max)
    }

    fn times_ms(&self, downloaded: &Downloaded) -> Option<Vec<f64>> {
        let objects = self.requests().into_iter().zip(&downloaded.complete_ms).skip(1);
        objects.map(|(object, complete)| Some((*complete)? - object.at_ms)).collect()
    }

    /// The queue is empty and the buffer full.
    fn model_ms(&self) -> f64 {
        let bytes = (self.object_bytes + self.server.buffer_bytes) as f64;
        RTT_MS + bytes * 8000.0 / BITS_PER_S
    }
}

fn measured(bench: &Bench, cells: &[Cell]) -> Result<Vec<Option<f64>>, ReproduceError> {
    let downloads =
        cells.iter().map(|it| it.server.downloads(link(it.server.control, RTT_MS), it.requests()));
    let loads = bench.downloads(&downloads.collect::<Result<Vec<_>, _>>()?)?;
    Ok(cells.iter().zip(&loads).map(|(cell, load)| cell.mean_ms(load)).collect())
}

/// The eleven schemes of Marx et al. 2019, and RFC 9218.
pub(super) const SCHEMES: [&str; 12] = [
    "rr",
    "wrr",
    "fifo",
    "dfifo",
    "firefox",
    "p+",
    "s+",
    "spdyrr",
    "bucket",
    "bucket-html",
    "zeroweight",
    "rfc9218",
];

pub(super) fn measure(bench: &Bench) -> Result<(Vec<Row>, Lines), ReproduceError> {
    let mut rows = cut_rows(bench)?;
    let (every, figure) = every_scheme(bench)?;
    rows.extend(every);
    rows.extend(size_rows(bench)?);
    Ok((rows, figure))
}

/// The paper's FIFO, with the largest cut that is published against it, in percent.
pub(super) struct Fifo {
    pub(super) control: CongestionControl,
    pub(super) buffer: &'static str,
    pub(super) buffer_bytes: u64,
    pub(super) published: f64,
}

impl Fifo {
    const fn new(control: CongestionControl, place: usize, published: f64) -> Self {
        let (buffer, buffer_bytes) = BUFFERS[place];
        Self { control, buffer, buffer_bytes, published }
    }
}

pub(super) const FIFOS: [Fifo; 6] = [
    Fifo::new(Bbr2, 1, 90.0),
    Fifo::new(Bbr2, 2, 93.0),
    Fifo::new(Cubic, 1, 90.0),
    Fifo::new(Cubic, 2, 93.0),
    Fifo::new(Reno, 1, 90.0),
    Fifo::new(Reno, 2, 93.0),
];

/// The least that ours must cut from each of [`FIFOS`], in percent.
const LEAST: [f64; 6] = [90.0, 95.0, 80.0, 95.0, 80.0, 95.0];

pub(super) fn cut_percent(time_ms: Option<f64>, fifo_ms: Option<f64>) -> Option<f64> {
    ratio(time_ms, fifo_ms).map(|it| (1.0 - it) * 100.0)
}

fn cut_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (Fifo { control, buffer, buffer_bytes, published }, least) in FIFOS.into_iter().zip(LEAST) {
        let cells = [Cell::new(FAIR, control, buffer_bytes), Cell::new(SCHEME, control, 0)];
        let times = measured(bench, &cells)?;
        let name = control.name();
        let id = format!("{name}-{buffer}");
        let whats = [format!("FIFO of {buffer}"), SCHEME.to_owned()];
        for ((cell, time_ms), what) in cells.iter().zip(&times).zip(whats) {
            let id = format!("objects-{id}-{}", cell.server.scheme);
            let metric = format!("an object of 10 KB beside 50 MB, {what}, {name}, mean in ms");
            let row = Row::shown(id, metric, *time_ms).in_table(CUTS).model(cell.model_ms());
            rows.push(row.under(control));
        }
        let cut = cut_percent(times[1], times[0]);
        let metric = format!(
            "cut by {SCHEME} on one connection against a FIFO of {buffer}, {name}, in percent"
        );
        rows.push(
            Row::shown(format!("cut-{id}"), metric, cut)
                .in_table(CUTS)
                .published(published)
                .model((1.0 - cells[1].model_ms() / cells[0].model_ms()) * 100.0)
                .required()
                .at_least(least)
                .note("Published: the best migration.")
                .under(control),
        );
    }
    Ok(rows)
}

/// The schemes that do not lie on one another.
const DRAWN: [&str; 3] = [FAIR, SCHEME, "rfc9218"];

/// Every scheme with every buffer under bbr2, some of them as lines, and the schemes under the other congestion controls.
fn every_scheme(bench: &Bench) -> Result<(Vec<Row>, Lines), ReproduceError> {
    let mut cells = Vec::new();
    for control in CONTROLS {
        let schemes = if control == Bbr2 { &SCHEMES[..] } else { &DRAWN[..] };
        for scheme in schemes {
            cells.extend(BUFFERS.map(|(_, bytes)| Cell::new(scheme, control, bytes)));
        }
    }
    let times = measured(bench, &cells)?;
    let names = BUFFERS.iter().map(|it| it.0).cycle();
    let rows = cells.iter().zip(&times).zip(names).map(|((cell, time_ms), buffer)| {
        let Server { scheme, control, .. } = &cell.server;
        let under = if *control == Bbr2 { String::new() } else { format!("{}-", control.name()) };
        let id = format!("every-{under}{}-{buffer}", scheme.replace('+', "-plus"));
        let metric = format!(
            "an object of 10 KB beside 50 MB, {scheme}, buffer {buffer}, {}, mean in ms",
            control.name()
        );
        Row::shown(id, metric, *time_ms).in_table(EVERY).under(*control)
    });
    let mut lines = Vec::new();
    let under_bbr2 = cells.chunks(BUFFERS.len()).take(SCHEMES.len());
    for (cells, times) in under_bbr2.zip(times.chunks(BUFFERS.len())) {
        let label = cells[0].server.scheme.clone();
        if DRAWN.contains(&&*label) {
            let points = cells.iter().zip(times).filter_map(|(cell, time_ms)| {
                Some((cell.server.buffer_bytes as f64 / 1e6, (*time_ms)? / 1e3))
            });
            lines.push(Line { label, points: points.collect() });
        }
    }
    let figure = Lines {
        title: "Objects of 10 KB beside a download of 50 MB".to_owned(),
        across: "bytes committed below the scheduler (MB)".to_owned(),
        up: "time of an object (s)".to_owned(),
        lines,
        levels: vec![("alone".to_owned(), Cell::new(SCHEME, Bbr2, 0).model_ms() / 1e3)],
    };
    Ok((rows.collect(), figure))
}

/// The sizes of Figures 8 and 9 by a scheme instead of a migration: with a FIFO of 4 MiB; sizes in KB and MB.
fn size_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let sizes = [(1, 50), (10, 50), (50, 50), (100, 50), (10, 10), (10, 5), (10, 1)];
    let mut rows = Vec::new();
    for size in sizes {
        let (object_kb, download_mb) = size;
        let cells = [(FAIR, LARGE_BUFFER_BYTES), (SCHEME, 0)].map(|(scheme, buffer_bytes)| Cell {
            object_bytes: object_kb * KB,
            download_bytes: download_mb * MB,
            ..Cell::new(scheme, Bbr2, buffer_bytes)
        });
        let times = measured(bench, &cells)?;
        let cut = cut_percent(times[1], times[0]);
        let metric = format!(
            "cut by {SCHEME} against a FIFO of 4Mi, objects of {object_kb} KB beside {download_mb} MB, bbr2, in percent"
        );
        let row =
            Row::shown(format!("size-{object_kb}k-{download_mb}m"), metric, cut).in_table(SIZES);
        rows.push(match size {
            (1, 50) => row.published(95.0),
            (10, 1) => row.published(88.0).note(format!(
                "The buffer of 4 MiB holds the whole download; the bandwidth-delay product is {BDP_BYTES:.0} bytes."
            )),
            _ => row,
        });
    }
    Ok(rows)
}
