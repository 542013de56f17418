//! The paper's migrations: the large download moves to another connection, and small objects stay. Figures 4 to 7.

use super::small_objects::{Cell, FAIR, FIFOS, cut_percent};
use super::{CONTROLS, DEFAULT_BUFFER_BYTES, LARGE_BUFFER_BYTES, Place, TOLERANCE};
use crate::bench::Bench;
use crate::downloads::Downloads;
use crate::row::ratio;
use crate::{ReproduceError, Row};
use lab::StreamMigration;
use server::CongestionControl::{self, Bbr2, Cubic, Reno};
use server::Options;

const CUTS: &str = "The cut by migration against a FIFO (Figures 4 and 5)";
const LTE_CUTS: &str = "The cut by migration against a FIFO, on lte (Figures 6 and 7)";

/// The paper's migrations, in its order.
pub(super) const MIGRATIONS: [StreamMigration; 3] =
    [StreamMigration::ServerWhole, StreamMigration::ServerPart, StreamMigration::ClientPart];

/// The same downloads with this migration, to an idle or a new connection.
pub(super) fn moved(downloads: Downloads, migration: StreamMigration, to_idle: bool) -> Downloads {
    let options = Options { migration: migration.policy(), ..downloads.options };
    let migrating = migration.migrating(to_idle).unwrap_or_default();
    Downloads { options, migrating, ..downloads }
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (fifo, least) in FIFOS.into_iter().zip(LEAST) {
        let cuts = Cuts { place: Place::Wired, control: fifo.control, buffer: fifo.buffer };
        let published = Some(fifo.published);
        rows.extend(cuts.rows(bench, fifo.buffer_bytes, published, Some(least))?);
    }
    for control in CONTROLS {
        let buffers = [
            ("1Mi", DEFAULT_BUFFER_BYTES, None),
            ("4Mi", LARGE_BUFFER_BYTES, Some(LTE_LARGE_PERCENT)),
        ];
        for (buffer, buffer_bytes, published) in buffers {
            let cuts = Cuts { place: Place::Lte, control, buffer };
            rows.extend(cuts.rows(bench, buffer_bytes, published, None)?);
        }
    }
    Ok(rows)
}

/// Figure 7: "up to 93% and 92%, respectively". Of Figure 6 the paper gives no number.
const LTE_LARGE_PERCENT: f64 = 92.0;

/// The share that each migration must cut at least from each of [`FIFOS`], in percent, and the best of them.
const LEAST: [[f64; 3]; 6] = [
    [90.0, 88.0, 84.0],
    [95.0, 95.0, 87.0],
    [80.0, 80.0, 80.0],
    [95.0, 95.0, 87.0],
    [80.0, 80.0, 80.0],
    [95.0, 95.0, 87.0],
];

struct Cuts {
    place: Place,
    control: CongestionControl,
    buffer: &'static str,
}

impl Cuts {
    fn rows(
        &self,
        bench: &Bench,
        buffer_bytes: u64,
        published: Option<f64>,
        least: Option<[f64; 3]>,
    ) -> Result<Vec<Row>, ReproduceError> {
        let cell = Cell::new(FAIR, self.control, buffer_bytes);
        let stays = cell.server.downloads(self.place.network(self.control)?, cell.requests())?;
        let each = MIGRATIONS.map(|it| moved(stays.clone(), it, true));
        let loads = bench.downloads(&[&[stays], &each[..]].concat())?;
        let times: Vec<_> = loads.iter().map(|it| cell.mean_ms(it)).collect();
        let mut rows = Vec::new();
        if self.place == Place::Lte {
            rows.push(self.time("FIFO", times[0]));
        }
        let mut cuts: Vec<f64> = Vec::new();
        for (place, (migration, time_ms)) in MIGRATIONS.iter().zip(&times[1..]).enumerate() {
            let cut = cut_percent(*time_ms, times[0]);
            rows.push(self.time(migration.name(), *time_ms));
            rows.push(self.cut(migration.name(), cut, least.map(|it| it[place])));
            cuts.extend(cut);
        }
        rows.extend(self.best(cuts.into_iter().reduce(f64::max), published));
        if buffer_bytes == LARGE_BUFFER_BYTES {
            rows.push(self.client_is_worst(&times));
        }
        Ok(rows)
    }

    fn row(&self, id: &str, what: &str, unit: &str, ours: Option<f64>) -> Row {
        let (control, buffer) = (self.control.name(), self.buffer);
        let id = format!("{}{id}-{control}-{buffer}", self.place.prefix());
        let metric = format!("{what}FIFO of {buffer}, {control}{}, {unit}", self.place.words());
        let table = if self.place == Place::Lte { LTE_CUTS } else { CUTS };
        Row::shown(id, metric, ours).in_table(table)
    }

    fn time(&self, name: &str, time_ms: Option<f64>) -> Row {
        let what = match name {
            "FIFO" => "an object of 10 KB beside 50 MB, ".to_owned(),
            moved => format!("an object of 10 KB beside 50 MB, {moved}, "),
        };
        self.row(&format!("objects-{name}"), &what, "mean in ms", time_ms).under(self.control)
    }

    fn cut(&self, name: &str, cut: Option<f64>, least: Option<f64>) -> Row {
        let what = format!("cut by {name} against a ");
        let row = self.row(&format!("cut-{name}"), &what, "in percent", cut).required();
        let row = least.into_iter().fold(row, Row::at_least);
        row.because(reason(self.control)).under(self.control)
    }

    /// The largest cut: at least the published one, and near it to both sides.
    fn best(&self, best: Option<f64>, published: Option<f64>) -> Vec<Row> {
        let [least, near] = ["cut-best", "cut-best-near"]
            .map(|id| self.row(id, "cut by the best migration against a ", "in percent", best));
        let Some(published) = published else {
            let row = least.note("\"Qualitatively similar\": the paper gives no number.");
            return vec![row.under(self.control)];
        };
        let near = near.published(published).within_share(TOLERANCE);
        let least = least.published(published).at_least(published);
        let least = least.note("\"By up to\" so much.").because(reason(self.control));
        vec![least.under(self.control), near.under(self.control)]
    }

    /// "We observe `MigCP` leads to worse performance than other migration schemes do", behind large buffers.
    fn client_is_worst(&self, times: &[Option<f64>]) -> Row {
        let others = times[1].zip(times[2]).map(|(one, other)| one.max(other));
        let what =
            "time of an object by MigCP divided by that by the slower one of MigSW and MigSP, ";
        self.row("migcp-is-worst", what, "as a ratio", ratio(times[3], others))
            .above(1.0)
            .note(
                "\"MigCP leads to worse performance than other migration schemes do\": no number.",
            )
            .under(self.control)
    }
}

fn reason(control: CongestionControl) -> &'static str {
    match control {
        Bbr2 => {
            "The source has carried nothing but objects, so bbr2 knows it as slow, and spreads an object over half a \
             round trip. RFC 9002, 7.7 allows a burst after idle time; the transport does not make it: it forgets that \
             it was idle before it asks (quiche 0.30, gcongestion/bbr2.rs, is_in_recovery)."
        }
        Cubic => {
            "The destination's cubic keeps the drop-tail queue of two bandwidth-delay products full. Objects wait in it, \
             and lose packets, which a connection with so little in flight notices only by a timeout."
        }
        Reno => {
            "The destination's reno fills the drop-tail queue of two bandwidth-delay products before it reduces its \
             window. Objects wait in that queue."
        }
    }
}
