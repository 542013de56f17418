//! By migration, how the sizes of objects and of the download matter: Figures 8 and 9, and the paper's statements about LTE.

use super::moved::moved;
use super::small_objects::{Cell, FAIR, cut_percent};
use super::{CONTROLS, KB, LARGE_BUFFER_BYTES, MB, Place, TOLERANCE};
use crate::bench::Bench;
use crate::{ReproduceError, Row};
use lab::StreamMigration;
use server::CongestionControl;

const FIGURE_8: &str = "The cut by MigSW by the size of objects (Figure 8)";
const FIGURE_9: &str = "The cut by MigSW by the size of the download (Figure 9)";
const LTE: &str = "What the paper says of lte";

/// KB of objects beside 50 MB, and MB of the download beside 10 KB; the paper has a number for the first of each. 10 KB beside
/// 50 MB are a row of Figure 5.
const OBJECTS_KB: [u64; 3] = [1, 50, 100];
const DOWNLOADS_MB: [u64; 3] = [1, 5, 10];
/// "For 1KB small files, SMig reduces their download time by 95%."
const SMALLEST_OBJECT_PERCENT: f64 = 95.0;
/// "Even when simultaneously fetching a mid-sized file of 1MB", by 88 %.
const SMALLEST_DOWNLOAD_PERCENT: f64 = 88.0;
/// "Over cellular network, up to 99%": of the smallest objects.
const LTE_PERCENT: f64 = 99.0;
/// "Downloading a 10MB file over HTTP/2 can block small objects for more than 5 seconds."
const BLOCKED_MS: f64 = 5000.0;
/// The paper's large buffer has 4 MB by default, and 8 MB at most.
const LARGE_BUFFERS: [(&str, u64); 2] = [("4Mi", LARGE_BUFFER_BYTES), ("8Mi", 8 << 20)];

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for control in CONTROLS {
        for object_kb in OBJECTS_KB {
            let of = Beside { place: Place::Wired, control, object_kb, download_mb: 50 };
            let row = of.row(bench, &format!("figure8-{}-{object_kb}k", control.name()))?;
            let is_published = object_kb == OBJECTS_KB[0];
            let row = judged(row, is_published.then_some(SMALLEST_OBJECT_PERCENT));
            rows.push(row.in_table(FIGURE_8).under(control));
        }
    }
    for control in CONTROLS {
        for download_mb in DOWNLOADS_MB {
            let of = Beside { place: Place::Wired, control, object_kb: 10, download_mb };
            let row = of.row(bench, &format!("figure9-{}-{download_mb}m", control.name()))?;
            let is_published = download_mb == DOWNLOADS_MB[0];
            let row = judged(row, is_published.then_some(SMALLEST_DOWNLOAD_PERCENT));
            rows.push(row.in_table(FIGURE_9).under(control));
        }
    }
    for control in CONTROLS {
        let of = Beside { place: Place::Lte, control, object_kb: 1, download_mb: 50 };
        let row = of.row(bench, &format!("lte-smallest-{}", control.name()))?;
        rows.push(
            judged(row, Some(LTE_PERCENT)).in_table(LTE).note("\"Up to 99%\".").under(control),
        );
        rows.extend(blocked_rows(bench, control)?);
    }
    Ok(rows)
}

fn judged(row: Row, published: Option<f64>) -> Row {
    match published {
        Some(it) => row.published(it).within_share(TOLERANCE),
        None => row,
    }
}

/// Objects beside a download, behind the large buffer, and the same once the download has moved.
struct Beside {
    place: Place,
    control: CongestionControl,
    object_kb: u64,
    download_mb: u64,
}

impl Beside {
    fn row(&self, bench: &Bench, id: &str) -> Result<Row, ReproduceError> {
        let Self { place, control, object_kb, download_mb } = *self;
        let cell = Cell {
            object_bytes: object_kb * KB,
            download_bytes: download_mb * MB,
            ..Cell::new(FAIR, control, LARGE_BUFFER_BYTES)
        };
        let stays = cell.server.downloads(place.network(control)?, cell.requests())?;
        let moves = moved(stays.clone(), StreamMigration::ServerWhole, true);
        let loads = bench.downloads(&[stays, moves])?;
        let cut = cut_percent(cell.mean_ms(&loads[1]), cell.mean_ms(&loads[0]));
        let metric = format!(
            "cut by MigSW against a FIFO of 4Mi, objects of {object_kb} KB beside {download_mb} MB, {}{}, in percent",
            control.name(),
            place.words()
        );
        Ok(Row::shown(id, metric, cut))
    }
}

/// How long the unluckiest object waits beside 10 MB. A full buffer of 4 MiB takes 2.8 s, so only the largest can block for 5 s.
fn blocked_rows(bench: &Bench, control: CongestionControl) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (buffer, buffer_bytes) in LARGE_BUFFERS {
        let cell = Cell { download_bytes: 10 * MB, ..Cell::new(FAIR, control, buffer_bytes) };
        let stays = cell.server.downloads(Place::Lte.network(control)?, cell.requests())?;
        let longest_ms = cell.longest_ms(&bench.downloads(&[stays])?[0]);
        let name = control.name();
        let metric = format!(
            "the longest that an object of 10 KB takes beside 10 MB, FIFO of {buffer}, {name}, lte, in ms"
        );
        let row = Row::shown(format!("lte-blocked-{name}-{buffer}"), metric, longest_ms);
        let row = row.in_table(LTE).published(BLOCKED_MS);
        rows.push(match buffer {
            "8Mi" => row
                .at_least(BLOCKED_MS)
                .note("\"For more than 5 seconds\": the source's words have no upper limit.")
                .under(control),
            _ => row.note("4 MiB take 2.8 s at most.").under(control),
        });
    }
    Ok(rows)
}
