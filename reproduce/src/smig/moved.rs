//! The paper's migrations: the large download moves to another connection, and small objects stay. What the large
//! download itself loses by it.

use super::small_objects::{Cell, FAIR, FIFOS, Fifo, cut_percent};
use super::{DEFAULT_BUFFER_BYTES, KB, MB, Server, large, link};
use crate::bench::Bench;
use crate::downloads::{Download, Downloads};
use crate::row::ratio;
use crate::{ReproduceError, Row};
use client::Migrating;
use migration::{Policy, SizeRule};
use server::CongestionControl::{self, Bbr2, Cubic};

const CUTS: &str = "The cut by migration against a FIFO";
const TAILS: &str = "Bytes after the cancel of a download that has moved";
const COSTS: &str = "What the large download loses by migration";

/// "All but the first 100 KB".
const FIRST_BYTES: u64 = 100 * KB;
/// Downloads above this size move.
const ABOVE_BYTES: u64 = 500 * KB;

/// A migration: the end that starts it, and the part that moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Migration {
    /// The server moves the whole response.
    ServerWhole,
    /// The server moves all but the first 100 KB.
    ServerPart,
    /// The client asks to move it after the first 100 KB.
    ClientPart,
}

impl Migration {
    const ALL: [Self; 3] = [Self::ServerWhole, Self::ServerPart, Self::ClientPart];

    /// The paper's name.
    fn name(self) -> &'static str {
        match self {
            Self::ServerWhole => "MigSW",
            Self::ServerPart => "MigSP",
            Self::ClientPart => "MigCP",
        }
    }

    fn policy(self) -> Policy {
        let size = Some(SizeRule { above_bytes: ABOVE_BYTES, beside: 0 });
        match self {
            Self::ServerWhole => Policy { size, ..Policy::default() },
            Self::ServerPart => Policy { size, after_bytes: FIRST_BYTES, ..Policy::default() },
            Self::ClientPart => Policy::default(),
        }
    }

    /// The same downloads with this migration, to an idle or a new connection.
    fn applied(self, downloads: Downloads, to_idle: bool) -> Downloads {
        let mut options = downloads.options;
        options.migration = Some(self.policy());
        let asks = self == Self::ClientPart;
        let migrating =
            Migrating { keeps_spare: to_idle, ask_after_bytes: asks.then_some(FIRST_BYTES) };
        Downloads { options, migrating, ..downloads }
    }
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    Ok([cut_rows(bench)?, cost_rows(bench)?, tail_rows(bench)?].concat())
}

/// What each migration must cut at least from each of [`FIFOS`], in percent.
const LEAST: [[f64; 3]; 4] =
    [[90.0, 88.0, 84.0], [95.0, 95.0, 87.0], [80.0, 80.0, 80.0], [95.0, 95.0, 87.0]];

fn cut_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (Fifo { control, buffer, buffer_bytes, published }, least) in FIFOS.into_iter().zip(LEAST) {
        let cell = Cell::new(FAIR, control, buffer_bytes);
        let stays = cell.server.downloads(link(control, super::RTT_MS), cell.requests())?;
        let moved = Migration::ALL.map(|it| it.applied(stays.clone(), true));
        let downloads: Vec<Downloads> = std::iter::once(stays).chain(moved).collect();
        let loads = bench.downloads(&downloads)?;
        let fifo_ms = cell.mean_ms(&loads[0]);
        let name = control.name();
        let mut cuts: Vec<f64> = Vec::new();
        for ((migration, load), least) in Migration::ALL.iter().zip(&loads[1..]).zip(least) {
            let (what, time_ms) = (migration.name(), cell.mean_ms(load));
            let id = format!("{}-{name}-{buffer}", what.to_ascii_lowercase());
            let metric = format!(
                "an object of 10 KB beside 50 MB, {what}, FIFO of {buffer}, {name}, mean in ms"
            );
            rows.push(Row::shown(format!("objects-{id}"), metric, time_ms).in_table(CUTS));
            let cut = cut_percent(time_ms, fifo_ms);
            let metric = format!("cut by {what} against a FIFO of {buffer}, {name}, in percent");
            let row = Row::shown(format!("cut-{id}"), metric, cut).in_table(CUTS).required();
            rows.push(row.at_least(least).because(reason(control)));
            cuts.extend(cut);
        }
        let best = cuts.into_iter().reduce(f64::max);
        let metric =
            format!("cut by the best migration against a FIFO of {buffer}, {name}, in percent");
        let row = Row::shown(format!("cut-best-{name}-{buffer}"), metric, best).in_table(CUTS);
        let row = row.published(published).at_least(published);
        rows.push(row.note("\"By up to\" so much.").because(reason(control)));
    }
    Ok(rows)
}

/// Why a cut falls short of its limit.
fn reason(control: CongestionControl) -> &'static str {
    match control {
        Bbr2 => {
            "The source has carried nothing but objects, so bbr2 knows it as slow, and spreads an object over half a \
             round trip. RFC 9002, 7.7 allows a burst after idle time; the transport does not make it: it forgets that \
             it was idle before it asks (quiche 0.30, gcongestion/bbr2.rs, is_in_recovery)."
        }
        Cubic | CongestionControl::Reno => {
            "The destination's cubic keeps the drop-tail queue of two bandwidth-delay products full. Objects wait in it, \
             and lose packets, which a connection with so little in flight notices only by a timeout."
        }
    }
}

/// The large download alone, moved to an idle connection (50 MB) or to a new one (10 MB).
fn cost_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let cases = [(50, true, "an idle", 1.0), (10, false, "a new", 4.0)];
    let mut rows = Vec::new();
    for (download_mb, to_idle, to, most) in cases {
        for migration in Migration::ALL {
            let server = Server::new(FAIR, Bbr2, 0);
            let stays =
                server.downloads(link(Bbr2, super::RTT_MS), vec![large(download_mb * MB)])?;
            let moved = migration.applied(stays.clone(), to_idle);
            let loads = bench.downloads(&[stays, moved])?;
            let cost = ratio(loads[1].complete_ms[0], loads[0].complete_ms[0]);
            let what = migration.name();
            let id = format!("cost-{}-{download_mb}m", what.to_ascii_lowercase());
            let metric = format!(
                "longer by {what} of {download_mb} MB to {to} connection, bbr2, in percent"
            );
            let cost = cost.map(|it| (it - 1.0) * 100.0);
            rows.push(Row::shown(id, metric, cost).in_table(COSTS).required().at_most(most));
        }
    }
    Ok(rows)
}

/// When the client cancels the download.
const CANCEL_MS: f64 = 10_000.0;

/// What the link still brings after a cancel, of a download that stays and of one that has moved: all of it with the
/// packets' headers, because the client no longer reads it.
fn tail_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for control in [Bbr2, Cubic] {
        let server = Server::new(FAIR, control, DEFAULT_BUFFER_BYTES);
        let cancelled = Download { cancel_ms: Some(CANCEL_MS), ..large(50 * MB) };
        let link = link(control, super::tail::TAIL_RTT_MS);
        let mut stays = server.downloads(link, vec![cancelled])?;
        stays.logs_window = false;
        let moved = Migration::ServerWhole.applied(stays.clone(), true);
        let loads = bench.downloads(&[stays, moved])?;
        for (load, (id, what)) in loads.iter().zip([("stays", "stays"), ("migsw", "has moved")]) {
            let late = load.sent.iter().filter(|it| it.arrived_ms.is_some_and(|at| at > CANCEL_MS));
            let bytes: u64 = late.map(|it| it.bytes).sum();
            let name = control.name();
            let metric = format!(
                "KB that come after the cancel of a download that {what}, FIFO of 1Mi, {name}"
            );
            let id = format!("tail-{id}-{name}-1Mi");
            rows.push(Row::shown(id, metric, Some(bytes as f64 / KB as f64)).in_table(TAILS));
        }
    }
    Ok(rows)
}
